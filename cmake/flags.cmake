# SPDX-License-Identifier: Apache-2.0
# Warnings and sanitizers, for every target of the project.
set(warnings
  -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wformat=2 -Wundef -Wvla
  -Wwrite-strings -Wcast-qual -Wimplicit-fallthrough -Wconversion)
if(SANDMUX_WERROR)
  list(APPEND warnings -Werror)
endif()
add_compile_options(${warnings} -fno-common)
add_compile_definitions(_GNU_SOURCE SANDMUX_VERSION="${PROJECT_VERSION}")

if(SANDMUX_SANITIZE)
  add_compile_options(-fsanitize=address,undefined -fno-sanitize-recover=undefined
    -fno-omit-frame-pointer)
  add_link_options(-fsanitize=address,undefined)
endif()
if(SANDMUX_COVERAGE)
  add_compile_options(--coverage)
  add_link_options(--coverage)
endif()
if(SANDMUX_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()
