# SPDX-License-Identifier: Apache-2.0
# Key to frame on a loop with and without priorities. The figures mean something in a Release build only.
add_executable(loop_bench loop_bench.c)
target_include_directories(loop_bench PRIVATE ${PROJECT_SOURCE_DIR})
target_link_libraries(loop_bench PRIVATE sm_term sm_net)
add_test(NAME bench_loop COMMAND loop_bench)
set_tests_properties(bench_loop PROPERTIES LABELS bench TIMEOUT 120 RUN_SERIAL TRUE)
