# SPDX-License-Identifier: Apache-2.0
# sandmux_unit(<name> <source> ROOMS rooms... [LIBS libraries...]): one cmocka program, label unit.
function(sandmux_unit name source)
  cmake_parse_arguments(UNIT "" "" "ROOMS;LIBS" ${ARGN})
  add_executable(${name} ${source})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(${name} PRIVATE ${UNIT_ROOMS} ${UNIT_LIBS} dep::cmocka)
  add_test(NAME ${name} COMMAND ${name} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  set_tests_properties(${name} PROPERTIES LABELS unit TIMEOUT 120
    ENVIRONMENT "UBSAN_OPTIONS=print_stacktrace=1")
endfunction()

# sandmux_python(<name> <script> <label>): one program of Python cases, run against the built tree.
function(sandmux_python name script label)
  add_test(NAME ${name} COMMAND python3 ${script} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  set_tests_properties(${name} PROPERTIES LABELS ${label} TIMEOUT 600
    ENVIRONMENT "SANDMUX_BIN=${CMAKE_BINARY_DIR}/bin/sandmux;PYTHONPATH=${PROJECT_SOURCE_DIR}/tests")
endfunction()

# sandmux_fuzz(<name> <source> <corpus> ROOMS rooms...): with SANDMUX_FUZZ a libFuzzer program,
# otherwise the same entry point replayed over its corpus (tests/fuzz/replay.c), label fuzz.
function(sandmux_fuzz name source corpus)
  cmake_parse_arguments(FUZZ "" "" "ROOMS;LIBS" ${ARGN})
  if(SANDMUX_FUZZ)
    add_executable(${name} ${source})
    target_compile_options(${name} PRIVATE -fsanitize=fuzzer)
    target_link_options(${name} PRIVATE -fsanitize=fuzzer)
    add_test(NAME ${name} COMMAND ${PROJECT_SOURCE_DIR}/tests/fuzz/run.sh $<TARGET_FILE:${name}> ${corpus})
  else()
    add_executable(${name} ${source} ${PROJECT_SOURCE_DIR}/tests/fuzz/replay.c)
    add_test(NAME ${name} COMMAND ${name} ${corpus})
  endif()
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(${name} PRIVATE ${FUZZ_ROOMS} ${FUZZ_LIBS})
  set_tests_properties(${name} PROPERTIES LABELS fuzz TIMEOUT 300)
endfunction()
