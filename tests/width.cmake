# SPDX-License-Identifier: BSD-3-Clause
#
# Runs the programs of -DPROBES (separated by |) and compares what they print: it must be the same text.
string(REPLACE "|" ";" probes "${PROBES}")
foreach(probe IN LISTS probes)
    execute_process(COMMAND ${probe} OUTPUT_VARIABLE printed RESULT_VARIABLE code)
    if(NOT code EQUAL 0 OR printed STREQUAL "")
        message(FATAL_ERROR "${probe} failed: ${code}")
    endif()
    if(DEFINED first AND NOT printed STREQUAL first)
        message(FATAL_ERROR "${probe} prints other bits:\n${printed}\n${first}")
    endif()
    set(first "${printed}")
endforeach()
