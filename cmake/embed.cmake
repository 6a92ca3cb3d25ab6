# Writes the template of a report page into one C file, so that the program reads no file for it at
# run time.  Every @name@ of TEMPLATE is replaced by the file of that name; @data@ divides the
# result into asset_page_before and asset_page_after.
#
# Usage: cmake -DOUT=assets.c -DTEMPLATE=page.html "-DFILES=name=path;name=path" -P embed.cmake
file(READ "${TEMPLATE}" page)
foreach(entry IN LISTS FILES)
    string(FIND "${entry}" "=" at)
    string(SUBSTRING "${entry}" 0 ${at} name)
    math(EXPR at "${at} + 1")
    string(SUBSTRING "${entry}" ${at} -1 path)
    file(READ "${path}" text)
    # A source map would make the browser ask for a file that the page does not have.
    string(REGEX REPLACE "\n(//|/\\*)# sourceMappingURL=[^\n]*" "" text "${text}")
    if(name MATCHES "license") # plain text inside an element
        string(REPLACE "&" "&amp;" text "${text}")
        string(REPLACE "<" "&lt;" text "${text}")
    endif()
    string(REPLACE "@${name}@" "${text}" page "${page}")
endforeach()

set(code "/* Written by cmake/embed.cmake. */\n#include \"report/page/assets.h\"\n\n")
string(FIND "${page}" "@data@" at)
string(SUBSTRING "${page}" 0 ${at} before)
math(EXPR at "${at} + 6")
string(SUBSTRING "${page}" ${at} -1 after)
foreach(part IN ITEMS before after)
    string(HEX "${${part}}" hex)
    string(REGEX REPLACE "([0-9a-f][0-9a-f])" "'\\\\x\\1'," bytes "${hex}")
    string(APPEND code "const char asset_page_${part}[] = {${bytes}0};\n")
endforeach()
file(WRITE "${OUT}" "${code}")
