# SPDX-License-Identifier: BSD-3-Clause
#
# tests/{unit,order,structure,law,repeat,cli,bad}_NAME.c   cmocka programs
# tests/{unit,cli,bad}_NAME.sh                             scripts: LGV is the program, SRC the source folder
# tests/fuzz_NAME.c                                        fuzz targets, run over tests/corpus/NAME as regression tests;
#                                                          with LGV_FUZZ=ON by libFuzzer (scripts/fuzz), from there on
# A file that appears here is a test: nothing is listed by hand.

pkg_check_modules(CMOCKA REQUIRED IMPORTED_TARGET cmocka)
set(LGV_TEST_CACHE ${CMAKE_BINARY_DIR}/test-cache CACHE PATH "where tests keep the kernels they compile")
set(test_cache ${LGV_TEST_CACHE})
set(test_kinds unit order structure law repeat cli bad)
# With sanitizers: those that test-sanitize runs.  The others are built when asked for by name.
set(heavy_kinds "")
if(LGV_SANITIZE)
    set(heavy_kinds order structure law repeat)
endif()

foreach(kind IN LISTS test_kinds)
    file(GLOB programs CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/${kind}_*.c)
    foreach(source IN LISTS programs)
        get_filename_component(name ${source} NAME_WE)
        add_executable(${name} ${source})
        target_include_directories(${name} PRIVATE ${CMAKE_SOURCE_DIR}/src ${CMAKE_SOURCE_DIR}/tests)
        target_link_libraries(${name} PRIVATE lgv_static PkgConfig::CMOCKA)
        set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
        if(kind IN_LIST heavy_kinds)
            set_target_properties(${name} PROPERTIES EXCLUDE_FROM_ALL TRUE)
        endif()
        add_test(NAME ${name} COMMAND ${name} WORKING_DIRECTORY ${CMAKE_BINARY_DIR})
        set_tests_properties(${name} PROPERTIES LABELS ${kind} TIMEOUT 3600
            ENVIRONMENT "XDG_CACHE_HOME=${test_cache};LGV=${CMAKE_BINARY_DIR}/lgv;SRC=${CMAKE_SOURCE_DIR}")
    endforeach()
endforeach()

foreach(kind unit cli bad)
    file(GLOB scripts CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/${kind}_*.sh)
    foreach(source IN LISTS scripts)
        get_filename_component(name ${source} NAME_WE)
        if(TARGET ${name})
            message(FATAL_ERROR "tests/${name}.c and tests/${name}.sh: two tests of one name")
        endif()
        add_test(NAME ${name} COMMAND bash ${source} WORKING_DIRECTORY ${CMAKE_BINARY_DIR})
        set_tests_properties(${name} PROPERTIES LABELS ${kind} TIMEOUT 3600
            ENVIRONMENT "XDG_CACHE_HOME=${test_cache}/${name};LGV=${CMAKE_BINARY_DIR}/lgv;SRC=${CMAKE_SOURCE_DIR}")
    endforeach()
endforeach()

file(GLOB fuzz_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/fuzz_*.c)
list(REMOVE_ITEM fuzz_sources ${CMAKE_SOURCE_DIR}/tests/fuzz_main.c)
foreach(source IN LISTS fuzz_sources)
    get_filename_component(name ${source} NAME_WE)
    string(REPLACE "fuzz_" "" subject ${name})
    add_executable(${name} ${source})
    target_include_directories(${name} PRIVATE ${CMAKE_SOURCE_DIR}/src ${CMAKE_SOURCE_DIR}/tests)
    target_link_libraries(${name} PRIVATE lgv_static PkgConfig::CMOCKA)
    set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
    set(arguments "")
    if(LGV_FUZZ)
        target_link_options(${name} PRIVATE -fsanitize=fuzzer)
        set(arguments -runs=0)
    else()
        target_sources(${name} PRIVATE ${CMAKE_SOURCE_DIR}/tests/fuzz_main.c)
    endif()
    foreach(folder ${subject} ${name})
        if(IS_DIRECTORY ${CMAKE_SOURCE_DIR}/tests/corpus/${folder})
            list(APPEND arguments ${CMAKE_SOURCE_DIR}/tests/corpus/${folder})
        endif()
    endforeach()
    add_test(NAME ${name} COMMAND ${name} ${arguments} WORKING_DIRECTORY ${CMAKE_BINARY_DIR})
    set_tests_properties(${name} PROPERTIES LABELS fuzz TIMEOUT 3600 ENVIRONMENT "XDG_CACHE_HOME=${test_cache}")
endforeach()

# The programs with calls that fail, and with moments that do not depend on the machine: tests/fault.c.
set(faulty_programs lgv_fault)
add_executable(lgv_fault ${cli_sources} ${CMAKE_SOURCE_DIR}/tests/fault.c)
if(MPI_C_FOUND)
    list(APPEND faulty_programs lgv_mpi_fault)
    add_executable(lgv_mpi_fault ${mpi_sources} ${CMAKE_SOURCE_DIR}/tests/fault.c)
    target_link_libraries(lgv_mpi_fault PRIVATE MPI::MPI_C)
endif()
foreach(program IN LISTS faulty_programs)
    target_include_directories(${program} PRIVATE ${CMAKE_SOURCE_DIR}/src)
    target_link_libraries(${program} PRIVATE lgv_static)
    target_link_options(${program} PRIVATE -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=posix_memalign
        -Wl,--wrap=write,--wrap=fsync,--wrap=rename
        -Wl,--wrap=lgv_seconds,--wrap=lgv_meter_progress,--wrap=lgv_stop_on_signals)
    set_target_properties(${program} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
endforeach()

# Examples in C are programs that check themselves.
add_executable(callbacks ${CMAKE_SOURCE_DIR}/examples/callbacks/callbacks.c)
target_link_libraries(callbacks PRIVATE lgv_static)
set_target_properties(callbacks PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
add_test(NAME cli_callbacks COMMAND callbacks ${CMAKE_SOURCE_DIR}/examples/synchrotron/synchrotron.yaml)
set_tests_properties(cli_callbacks PROPERTIES LABELS cli TIMEOUT 3600 ENVIRONMENT "XDG_CACHE_HOME=${test_cache}")

# The bits of a lane must not depend on the number of lanes: one program at several widths, with the flags of kernels.
set(probes "")
foreach(width 4 8 16)
    add_executable(width_probe_${width} ${CMAKE_SOURCE_DIR}/tests/width_probe.c)
    target_compile_definitions(width_probe_${width} PRIVATE LANES=${width})
    target_compile_options(width_probe_${width} PRIVATE -O3 -march=native -fno-math-errno -fno-trapping-math)
    if(CMAKE_C_COMPILER_ID STREQUAL "GNU")
        target_compile_options(width_probe_${width} PRIVATE -ffp-contract=off)
    endif()
    target_link_libraries(width_probe_${width} PRIVATE m)
    set_target_properties(width_probe_${width} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
    if("repeat" IN_LIST heavy_kinds)
        set_target_properties(width_probe_${width} PROPERTIES EXCLUDE_FROM_ALL TRUE)
    endif()
    list(APPEND probes $<TARGET_FILE:width_probe_${width}>)
endforeach()
string(REPLACE ";" "|" probes "${probes}")
add_test(NAME repeat_width COMMAND ${CMAKE_COMMAND} "-DPROBES=${probes}" -P ${CMAKE_SOURCE_DIR}/tests/width.cmake)
set_tests_properties(repeat_width PROPERTIES LABELS repeat)

# The Python package against the library built here, with a Python that has NumPy and pytest.  A library with sanitizers
# cannot be loaded into it.
if(NOT LGV_SANITIZE AND NOT LGV_FUZZ)
    foreach(candidate "$ENV{PYTHON}" python3 /usr/bin/python3)
        if(candidate AND NOT LGV_PYTHON)
            execute_process(COMMAND ${candidate} -c "import numpy, pytest" RESULT_VARIABLE missing
                OUTPUT_QUIET ERROR_QUIET)
            if(missing EQUAL 0)
                set(LGV_PYTHON ${candidate} CACHE STRING "Python with NumPy and pytest")
            endif()
        endif()
    endforeach()
    if(LGV_PYTHON)
        add_test(NAME python COMMAND ${LGV_PYTHON} -m pytest -q -p no:cacheprovider --doctest-modules
            --doctest-ignore-import-errors lagrangevin tests WORKING_DIRECTORY ${CMAKE_SOURCE_DIR}/python)
        set(environment XDG_CACHE_HOME=${test_cache}/python LGV=${CMAKE_BINARY_DIR}/lgv PYTHONDONTWRITEBYTECODE=1
            LGV_LIBRARY=$<TARGET_FILE:lgv_shared>)
        set_tests_properties(python PROPERTIES LABELS python TIMEOUT 3600 ENVIRONMENT "${environment}")
    else()
        message(STATUS "no Python with NumPy and pytest: the Python package is not tested")
    endif()
endif()
