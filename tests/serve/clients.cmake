# serve/: the clients of other languages, the programs of examples/redis, and the pages.  What a missing package leaves out
# is "skipped in part".  npm installs into the build folder, if it is there and reaches its registry.
pkg_check_modules(HIREDIS IMPORTED_TARGET hiredis)
if(HIREDIS_FOUND)
    add_executable(talk_hiredis talk_hiredis.c)
    target_compile_definitions(talk_hiredis PRIVATE _POSIX_C_SOURCE=200809L) # getline
    target_link_libraries(talk_hiredis PRIVATE oltr_flags PkgConfig::HIREDIS PkgConfig::JANSSON)
    add_executable(example_rank_page ${PROJECT_SOURCE_DIR}/examples/redis/rank_page.c)
    target_compile_options(example_rank_page PRIVATE -Wall -Wextra -Wpedantic -Wconversion $<$<BOOL:${OLTR_WERROR}>:-Werror>)
    target_link_libraries(example_rank_page PRIVATE PkgConfig::HIREDIS)
    set(hiredis_programs "OLTR_TALK_HIREDIS=$<TARGET_FILE:talk_hiredis>;OLTR_RANK_PAGE=$<TARGET_FILE:example_rank_page>")
endif()
foreach(name clients examples pages)
    add_test(NAME serve/${name} COMMAND ${OLTR_PYTHON3} -B ${CMAKE_CURRENT_SOURCE_DIR}/${name}.py)
    set_tests_properties(serve/${name} PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 600 LABELS server ENVIRONMENT
        "OLTR_MODULE=$<TARGET_FILE:oltr_redis>;OLTR_PRELOAD=${OLTR_ASAN_LIBRARY};OLTR_SOURCE=${PROJECT_SOURCE_DIR};OLTR_NPM=${CMAKE_CURRENT_BINARY_DIR}/npm;${hiredis_programs}")
endforeach()
