# SPDX-License-Identifier: Apache-2.0
# The terminal engine beside tmux. The ratio means something in a Release build only.
add_executable(term_bench term_bench.c)
target_include_directories(term_bench PRIVATE ${PROJECT_SOURCE_DIR})
target_link_libraries(term_bench PRIVATE sm_term sm_base)
add_test(NAME bench_term_flood
  COMMAND python3 ${CMAKE_CURRENT_LIST_DIR}/flood.py $<TARGET_FILE:term_bench> --mb 5)
set_tests_properties(bench_term_flood PROPERTIES LABELS bench TIMEOUT 600 RUN_SERIAL TRUE)
