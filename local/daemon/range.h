// SPDX-License-Identifier: Apache-2.0
/* Range requests (RFC 9110 section 14) with the answers that sandboxd gives. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { RANGE_MAX = 64 };

struct daemon_range {
	int64_t start, length;
};

enum daemon_range_result {
	RANGE_WHOLE,  /* send it all: no range, too many, or more bytes than the file has */
	RANGE_SOME,   /* n ranges */
	RANGE_BAD,    /* 416 "invalid range" */
	RANGE_BEYOND, /* 416 "invalid range: failed to overlap", with Content-Range */
};

/* header may be NULL. */
enum daemon_range_result daemon_range_parse(
	const char *header, int64_t size, struct daemon_range ranges[RANGE_MAX], size_t *n);
