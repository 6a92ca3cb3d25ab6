# Builds with AddressSanitizer, by clang.
#
# Python and Redis are built without it.  To load a module of such a build they are started with the
# runtime of the sanitizer as a library, before all others (LD_PRELOAD).  A process may have one
# runtime only, so every program of the build uses the library as well.  That of ThreadSanitizer
# crashes at start (clang 14): such a build has no tests with Python and Redis.
#
#   OLTR_ASAN_LIBRARY    the path of the runtime; empty in all other builds
set(OLTR_ASAN_LIBRARY)
if(CMAKE_C_FLAGS MATCHES "-fsanitize=address")
    if(NOT CMAKE_C_COMPILER_ID STREQUAL Clang)
        message(FATAL_ERROR "AddressSanitizer needs clang here: cmake --preset asan")
    endif()
    execute_process(COMMAND ${CMAKE_C_COMPILER}
        -print-file-name=libclang_rt.asan-${CMAKE_SYSTEM_PROCESSOR}.so
        OUTPUT_VARIABLE OLTR_ASAN_LIBRARY OUTPUT_STRIP_TRAILING_WHITESPACE)
    cmake_path(GET OLTR_ASAN_LIBRARY PARENT_PATH folder)
    if(NOT folder)
        message(FATAL_ERROR "${OLTR_ASAN_LIBRARY} is missing: run scripts/setup test")
    endif()
    add_link_options(-shared-libasan -Wl,-rpath,${folder})
endif()
