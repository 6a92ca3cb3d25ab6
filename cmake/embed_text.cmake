# Writes files into one C file, as strings that a header declares, so that the program reads no file
# at run time.
#
# Usage: cmake -DOUT=mine.c -DHEADER=app/mine.h "-DFILES=name=path;name=path" -P embed_text.cmake
set(code "/* Written by cmake/embed_text.cmake. */\n#include \"${HEADER}\"\n\n")
foreach(entry IN LISTS FILES)
    string(FIND "${entry}" "=" at)
    string(SUBSTRING "${entry}" 0 ${at} name)
    math(EXPR at "${at} + 1")
    string(SUBSTRING "${entry}" ${at} -1 path)
    file(READ "${path}" hex HEX)
    string(REGEX REPLACE "([0-9a-f][0-9a-f])" "'\\\\x\\1'," bytes "${hex}")
    string(APPEND code "const char ${name}[] = {${bytes}0};\n")
endforeach()
file(WRITE "${OUT}" "${code}")
