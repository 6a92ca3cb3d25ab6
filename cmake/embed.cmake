# Writes text files into one C file as byte arrays, so that the program contains what a report page
# needs and reads no file for it at run time.
#
# Usage: cmake -DOUT=assets.c "-DFILES=name=path;name=path" -P embed.cmake
set(code "/* Written by cmake/embed.cmake. */\n#include \"report/page/assets.h\"\n\n")
foreach(entry IN LISTS FILES)
    string(FIND "${entry}" "=" at)
    string(SUBSTRING "${entry}" 0 ${at} name)
    math(EXPR at "${at} + 1")
    string(SUBSTRING "${entry}" ${at} -1 path)
    file(READ "${path}" text)
    # A source map would make the browser ask for a file that the page does not have.
    string(REGEX REPLACE "\n(//|/\\*)# sourceMappingURL=[^\n]*" "" text "${text}")
    string(HEX "${text}" hex)
    string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
    string(APPEND code "const unsigned char asset_${name}[] = {${bytes}0};\n")
endforeach()
file(WRITE "${OUT}" "${code}")
