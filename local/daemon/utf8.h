// SPDX-License-Identifier: Apache-2.0
/* UTF-8 as RFC 3629 has it: no overlong forms, no surrogates, nothing above U+10FFFF. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Length of the valid sequence at p (1…4), 0 if there is none; *code gets the code point. n ≥ 1. */
size_t daemon_utf8_next(const unsigned char *p, size_t n, uint32_t *code);
bool daemon_utf8_is_valid(const unsigned char *p, size_t n);
