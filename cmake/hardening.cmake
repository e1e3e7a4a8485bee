# SPDX-License-Identifier: Apache-2.0
# What makes a mistake in C less useful to whoever finds it, as one target that everything links, in every build type:
# stack protector and clash protection, locals that begin as zero, control-flow protection (CET), position independence,
# read-only relocations, and the checked C library functions (_FORTIFY_SOURCE=3, where the sanitizers do not check better).
# docs/security.md names them; `scripts/build.sh` prints nothing about them, `cmake` says which this compiler lacks.
include(CheckCSourceCompiles)

add_library(sandmux_hardening INTERFACE)

# sandmux_harden(NAME FLAG…): takes the flags if the compiler takes them without a warning.
function(sandmux_harden name)
  string(REPLACE ";" " " flags "${ARGN}")
  set(CMAKE_REQUIRED_FLAGS "-Werror ${flags}")
  check_c_source_compiles("#include <string.h>\nint main(void) { return 0; }" HARDEN_${name})
  if(HARDEN_${name})
    target_compile_options(sandmux_hardening INTERFACE ${ARGN})
  else()
    message(STATUS "hardening: this compiler has no ${flags}")
  endif()
endfunction()

sandmux_harden(STACK_PROTECTOR -fstack-protector-strong)
sandmux_harden(STACK_CLASH -fstack-clash-protection)
sandmux_harden(CONTROL_FLOW -fcf-protection=full)
if(NOT HARDEN_CONTROL_FLOW)
  sandmux_harden(BRANCH_PROTECTION -mbranch-protection=standard)
endif()
sandmux_harden(ZERO_LOCALS -ftrivial-auto-var-init=zero)
if(NOT HARDEN_ZERO_LOCALS) # clang before 16 wants to be told that it is meant
  sandmux_harden(ZERO_LOCALS_OLD -ftrivial-auto-var-init=zero
    -enable-trivial-auto-var-init-zero-knowing-it-will-be-removed-from-clang)
endif()

set(CMAKE_POSITION_INDEPENDENT_CODE ON)
target_link_options(sandmux_hardening INTERFACE
  $<$<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>:-pie> -Wl,-z,relro,-z,now,-z,noexecstack)

if(NOT SANDMUX_SANITIZE)
  # distributions may define it already, with another level; without optimisation it does nothing
  if(CMAKE_BUILD_TYPE STREQUAL "Debug")
    target_compile_options(sandmux_hardening INTERFACE -Og)
    set(optimised -Og)
  else()
    set(optimised -O2)
  endif()
  set(CMAKE_REQUIRED_FLAGS "-Werror ${optimised} -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3")
  check_c_source_compiles("#include <string.h>\nint main(void) { return 0; }" HARDEN_FORTIFY_3)
  if(HARDEN_FORTIFY_3)
    set(level 3)
  else()
    set(level 2)
  endif()
  target_compile_options(sandmux_hardening INTERFACE -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=${level})
endif()

link_libraries(sandmux_hardening)
