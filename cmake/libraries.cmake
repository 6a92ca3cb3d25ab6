# Shared and static libraries that export the public functions and hide all other names.

# A shared library that exports only the names in the file `list`, one per line, under the symbol
# version OLTR_0.1.  Released names keep their version; names of a later release get a version node
# that inherits this one.
function(oltr_shared_library name list)
    file(STRINGS ${list} names REGEX "^oltr_")
    list(JOIN names "; " names)
    set(script ${CMAKE_CURRENT_BINARY_DIR}/${name}.map)
    file(CONFIGURE OUTPUT ${script} CONTENT "OLTR_0.1 { global: @names@; local: *; };\n" @ONLY)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${list})
    add_library(${name} SHARED ${ARGN})
    target_link_options(${name} PRIVATE -Wl,--version-script=${script})
    if(NOT CMAKE_C_FLAGS MATCHES "fsanitize") # clang links the sanitizer only into programs
        target_link_options(${name} PRIVATE -Wl,-z,defs)
    endif()
    set_target_properties(${name} PROPERTIES VERSION ${PROJECT_VERSION}
        SOVERSION ${PROJECT_VERSION_MAJOR} LINKER_LANGUAGE C LINK_DEPENDS ${script})
    oltr_library_headers(${name})
endfunction()

# A static library of one object file whose internal names are local, so that they cannot clash with
# those of the program that links it or with the copies in the other library.  On i386 the helper
# functions of position-independent code are in section groups, which --force-group-allocation
# dissolves: the linker could not merge groups with local names from two libraries.  lld has no such
# option and does not need it.
function(oltr_static_library name output)
    set(object ${CMAKE_CURRENT_BINARY_DIR}/${name}.o)
    add_custom_command(OUTPUT ${object}
        COMMAND ${CMAKE_LINKER} -r $<$<BOOL:${OLTR_IS_I386}>:--force-group-allocation>
            -o ${object} ${ARGN}
        COMMAND ${CMAKE_OBJCOPY} --localize-hidden ${object}
        DEPENDS ${ARGN} COMMAND_EXPAND_LISTS VERBATIM)
    set_source_files_properties(${object} PROPERTIES EXTERNAL_OBJECT ON GENERATED ON)
    add_library(${name} STATIC ${object})
    set_target_properties(${name} PROPERTIES OUTPUT_NAME ${output} LINKER_LANGUAGE C)
    oltr_library_headers(${name})
endfunction()

function(oltr_library_headers name)
    target_include_directories(${name} INTERFACE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
        $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
endfunction()
