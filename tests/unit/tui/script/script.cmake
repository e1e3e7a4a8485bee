# SPDX-License-Identifier: Apache-2.0
# sandmux_box(<program>): it can start the daemon of a sandbox (box_process.h).
function(sandmux_box program)
  if(NOT TARGET script_box)
    add_executable(script_box ${PROJECT_SOURCE_DIR}/tests/unit/tui/script/box.c)
    target_link_libraries(script_box PRIVATE sm_daemon)
  endif()
  target_compile_definitions(${program} PRIVATE STAGE_BOX="$<TARGET_FILE:script_box>")
  add_dependencies(${program} script_box)
endfunction()

# sandmux_scripts(<room> groups...): a test for the scripts of this folder whose names begin with a group, by one program.
function(sandmux_scripts room)
  set(here ${PROJECT_SOURCE_DIR}/tests/unit)
  set(program ${room}_script_test)
  add_executable(${program} ${here}/tui/script/script.c ${here}/engine/net/tls_server.c)
  target_include_directories(${program} PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(${program} PRIVATE sm_app dep::event dep::event_openssl dep::openssl dep::cmocka)
  target_link_options(${program} PRIVATE -Wl,--wrap=engine_link_of)
  sandmux_box(${program})
  foreach(group ${ARGN})
    add_test(NAME ${room}_script_${group} COMMAND ${program} ${CMAKE_CURRENT_SOURCE_DIR}/scripts ${group}
      WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
    set_tests_properties(${room}_script_${group} PROPERTIES LABELS unit TIMEOUT 120
      ENVIRONMENT "UBSAN_OPTIONS=print_stacktrace=1")
  endforeach()
endfunction()
