// SPDX-License-Identifier: Apache-2.0
/* The one checked parser of numbers: whole text, no sign surprises, bounds enforced. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

bool num_parse_i64(const char *text, int64_t min, int64_t max, int64_t *out);
bool num_parse_u64(const char *text, uint64_t max, uint64_t *out);
/* "10", "4k", "4KiB", "256MiB", "1.5GiB": bytes. */
bool num_parse_size(const char *text, uint64_t max, uint64_t *bytes);
enum { NUM_SIZE_BYTES = 16 };
const char *num_format_size(uint64_t bytes, char out[NUM_SIZE_BYTES]); /* 1.5 MiB, 10 B */
