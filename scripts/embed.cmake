# SPDX-License-Identifier: BSD-3-Clause
#
# Writes a C file holding the text of other files, as declared in src/base/embedded.h:
#   cmake -DOUT=embedded.c "-DFILES=a.h|b.c" -P embed.cmake
# or, with -DHEADER=, -DTYPE= and -DNAME=, as another header declares it.
# The texts are arrays of numbers, because ISO C promises string literals of 4095 characters only.

string(REPLACE "|" ";" files "${FILES}")
if(NOT DEFINED NAME)
    set(HEADER base/embedded.h)
    set(TYPE lgv_embedded)
    set(NAME lgv_embedded)
endif()
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

file(WRITE "${OUT}" "/* Written by scripts/embed.cmake. */\n#include \"${HEADER}\"\n\n${texts}
const struct ${TYPE} ${NAME}[] = {\n${rows}};\nconst size_t ${NAME}_count = ${count};\n")
