# SPDX-License-Identifier: Apache-2.0
# sandmux_room(<target> [FOLDERS folders...] [DEPS rooms...] [LIBS libraries...])
# A room is one folder (with the folders in it that FOLDERS names) and one static library. DEPS are the rooms under it; LIBS are the
# libraries it alone may include (linked PRIVATE: a wrong include elsewhere does not link).
function(sandmux_room target)
  cmake_parse_arguments(ROOM "" "" "DEPS;LIBS;FOLDERS" ${ARGN})
  set(patterns ${CMAKE_CURRENT_SOURCE_DIR}/*.c)
  foreach(folder ${ROOM_FOLDERS})
    list(APPEND patterns ${CMAKE_CURRENT_SOURCE_DIR}/${folder}/*.c)
  endforeach()
  file(GLOB sources CONFIGURE_DEPENDS ${patterns})
  add_library(${target} STATIC ${sources})
  target_include_directories(${target} PUBLIC ${PROJECT_SOURCE_DIR})
  target_link_libraries(${target} PUBLIC ${ROOM_DEPS} PRIVATE ${ROOM_LIBS})
endfunction()
