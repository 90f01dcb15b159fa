# SPDX-License-Identifier: BSD-3-Clause
#
# Writes a C file holding the text of other files, as declared in src/kernel/embedded.h:
#   cmake -DOUT=embedded.c "-DFILES=a.h|b.c" -P embed.cmake
# The texts are arrays of numbers, because ISO C promises string literals of 4095 characters only.

string(REPLACE "|" ";" files "${FILES}")
set(texts "")
set(rows "")
set(count 0)
foreach(file IN LISTS files)
    get_filename_component(name "${file}" NAME)
    file(READ "${file}" hex HEX)
    string(REGEX REPLACE "(................................)" "\\1\n" hex "${hex}")
    string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," numbers "${hex}")
    string(APPEND texts "static const unsigned char text_${count}[] = { /* ${name} */\n${numbers}0x00};\n")
    string(APPEND rows "    {\"${name}\", (const char *)text_${count}},\n")
    math(EXPR count "${count} + 1")
endforeach()
if(count EQUAL 0)
    set(rows "    {NULL, NULL},\n")
endif()

file(WRITE "${OUT}" "/* Written by scripts/embed.cmake. */\n#include \"kernel/embedded.h\"\n\n${texts}
const struct lgv_embedded lgv_embedded[] = {\n${rows}};\nconst size_t lgv_embedded_count = ${count};\n")
