# Turns text files into one C file of byte arrays, so that the program carries what a report needs and reads nothing at run time.
# Usage: cmake -DOUT=assets.c "-DFILES=name=path;name=path" -P embed.cmake
set(code "/* Made by cmake/embed.cmake. */\n#include \"report/page/assets.h\"\n\n")
foreach(entry IN LISTS FILES)
    string(FIND "${entry}" "=" at)
    string(SUBSTRING "${entry}" 0 ${at} name)
    math(EXPR at "${at} + 1")
    string(SUBSTRING "${entry}" ${at} -1 path)
    file(READ "${path}" text)
    string(REGEX REPLACE "\n(//|/\\*)# sourceMappingURL=[^\n]*" "" text "${text}") # the page must not ask for files it does not have
    string(HEX "${text}" hex)
    string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
    string(APPEND code "const unsigned char asset_${name}[] = {${bytes}0};\n")
endforeach()
file(WRITE "${OUT}" "${code}")
