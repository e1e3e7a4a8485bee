# SPDX-License-Identifier: Apache-2.0
# What a change costs in the order of a list, by the number of rows. The figures mean something in a Release build only.
add_executable(order_bench order_bench.c)
target_include_directories(order_bench PRIVATE ${PROJECT_SOURCE_DIR})
target_link_libraries(order_bench PRIVATE sm_fleet sm_resource sm_base)
add_test(NAME bench_order COMMAND order_bench)
set_tests_properties(bench_order PROPERTIES LABELS bench TIMEOUT 300 RUN_SERIAL TRUE)
