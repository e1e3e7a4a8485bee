# SPDX-License-Identifier: Apache-2.0
# sandmux_room(<target> [DEPS rooms...] [LIBS libraries...])
# A room is one folder and one static library. DEPS are the rooms under it; LIBS are the
# libraries it alone may include (linked PRIVATE: a wrong include elsewhere does not link).
function(sandmux_room target)
  cmake_parse_arguments(ROOM "" "" "DEPS;LIBS" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.c)
  add_library(${target} STATIC ${sources})
  target_include_directories(${target} PUBLIC ${PROJECT_SOURCE_DIR})
  target_link_libraries(${target} PUBLIC ${ROOM_DEPS} PRIVATE ${ROOM_LIBS})
endfunction()
