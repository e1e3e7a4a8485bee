# SPDX-License-Identifier: Apache-2.0
# Benches of single rooms: one file each.
include(${CMAKE_CURRENT_LIST_DIR}/term.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/loop.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/order.cmake)
