# The program oltr: src/report and app, what is compiled into them, and what is installed beside it.

# ---- files that are compiled into it: the report page (style, script, dygraphs), and the
#      scripts for the completion of shells
find_path(OLTR_DYGRAPHS dygraph.min.js PATHS /usr/share/javascript/dygraphs NO_DEFAULT_PATH
    DOC "where dygraph.min.js and dygraph.min.css are (Debian: libjs-dygraphs)")
find_file(OLTR_DYGRAPHS_LICENSE copyright PATHS /usr/share/doc/libjs-dygraphs NO_DEFAULT_PATH
    DOC "the license of dygraphs")
if(NOT OLTR_DYGRAPHS OR NOT OLTR_DYGRAPHS_LICENSE)
    message(FATAL_ERROR "dygraphs is missing: run scripts/setup build, or install libjs-dygraphs, "
        "or set OLTR_DYGRAPHS and OLTR_DYGRAPHS_LICENSE")
endif()
set(page_folder ${PROJECT_SOURCE_DIR}/src/report/page)
set(assets
    page_css=${page_folder}/page.css
    page_js=${page_folder}/page.js
    charts_js=${page_folder}/charts.js
    story_js=${page_folder}/story.js
    dygraph_css=${OLTR_DYGRAPHS}/dygraph.min.css
    dygraph_js=${OLTR_DYGRAPHS}/dygraph.min.js
    dygraph_license=${OLTR_DYGRAPHS_LICENSE})
list(TRANSFORM assets REPLACE "^[a-z_]+=" "" OUTPUT_VARIABLE asset_files)
add_custom_command(OUTPUT assets.c
    COMMAND ${CMAKE_COMMAND} -DOUT=assets.c -DTEMPLATE=${page_folder}/page.html "-DFILES=${assets}"
        -P ${PROJECT_SOURCE_DIR}/cmake/embed.cmake
    DEPENDS ${asset_files} ${page_folder}/page.html cmake/embed.cmake VERBATIM)
set(completion_folder ${PROJECT_SOURCE_DIR}/packaging/completion)
set(scripts completion_bash=${completion_folder}/oltr.bash completion_zsh=${completion_folder}/_oltr)
add_custom_command(OUTPUT completion_scripts.c
    COMMAND ${CMAKE_COMMAND} -DOUT=completion_scripts.c -DHEADER=app/args/completion_scripts.h
        "-DFILES=${scripts}" -P ${PROJECT_SOURCE_DIR}/cmake/embed_text.cmake
    DEPENDS ${completion_folder}/oltr.bash ${completion_folder}/_oltr cmake/embed_text.cmake
    VERBATIM)
add_library(oltr_assets STATIC ${CMAKE_CURRENT_BINARY_DIR}/assets.c
    ${CMAKE_CURRENT_BINARY_DIR}/completion_scripts.c)
target_include_directories(oltr_assets PRIVATE ${PROJECT_SOURCE_DIR})
target_link_libraries(oltr_assets PRIVATE oltr_flags)

# ---- report, app
pkg_check_modules(JANSSON REQUIRED IMPORTED_TARGET jansson)
file(GLOB_RECURSE OLTR_APP_PARTS CONFIGURE_DEPENDS app/*.c src/report/*.c)
list(FILTER OLTR_APP_PARTS EXCLUDE REGEX "main\\.c$")
set(OLTR_APP_NEEDS oltr_assets oltr_flags ${OLTR_LAB_NEEDS} PkgConfig::JANSSON)
add_library(oltr_app_objects OBJECT ${OLTR_APP_PARTS})
target_include_directories(oltr_app_objects PUBLIC ${PROJECT_SOURCE_DIR})
target_compile_definitions(oltr_app_objects PRIVATE
    OLTR_COMPILER="${CMAKE_C_COMPILER_ID} ${CMAKE_C_COMPILER_VERSION}")
target_link_libraries(oltr_app_objects PRIVATE ${OLTR_APP_NEEDS})
add_library(oltr_app STATIC $<TARGET_OBJECTS:oltr_app_objects>)
target_include_directories(oltr_app PUBLIC ${PROJECT_SOURCE_DIR})
target_link_libraries(oltr_app PUBLIC oltr_internal ${OLTR_APP_NEEDS})
add_executable(oltr_exe app/main.c)
target_link_libraries(oltr_exe PRIVATE oltr_app)
set_target_properties(oltr_exe PROPERTIES OUTPUT_NAME oltr)

# The same program for MPI jobs.
if(OLTR_MPI)
    find_package(MPI COMPONENTS C QUIET)
endif()
if(OLTR_MPI AND MPI_C_FOUND)
    add_executable(oltr_mpi app/mpi/mpi_main.c)
    target_link_libraries(oltr_mpi PRIVATE oltr_app MPI::MPI_C)
    set_target_properties(oltr_mpi PROPERTIES OUTPUT_NAME oltr-mpi)
    install(TARGETS oltr_mpi)
endif()

# The manual pages are printed by the program: oltr(1), one for each command, oltr-experiment(5).
add_custom_command(OUTPUT man/oltr.1 COMMAND ${CMAKE_COMMAND} -E rm -rf man
    COMMAND oltr_exe help --man -o man DEPENDS oltr_exe VERBATIM)
add_custom_target(man ALL DEPENDS man/oltr.1)

# ---- install
install(TARGETS oltr_exe)
foreach(section 1 5)
    install(DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/man/ DESTINATION
        ${CMAKE_INSTALL_MANDIR}/man${section} FILES_MATCHING PATTERN "*.${section}")
endforeach()
set(OLTR_ZSH_FUNCTIONS share/zsh/site-functions CACHE STRING
    "where the completion for zsh is installed, below the prefix")
install(FILES ${completion_folder}/oltr.bash
    DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME oltr)
install(FILES ${completion_folder}/_oltr DESTINATION ${OLTR_ZSH_FUNCTIONS})
