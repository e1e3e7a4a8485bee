// SPDX-License-Identifier: Apache-2.0
#include "engine/base/width.h"

#include <stddef.h>

static const struct {
	uint32_t first, last;
	int width;
} ranges[] = {
#include "engine/base/width_table.inc"
};

static const uint16_t pages[] = {
#include "engine/base/width_pages.inc"
};

enum {
	RANGES = sizeof ranges / sizeof ranges[0],
	PAGE = 64,
	PAGED = 0x20000,
};

_Static_assert(
	sizeof pages / sizeof pages[0] == PAGED / PAGE + 1, "one for each, and the rest");

int width_of(uint32_t c)
{
	if (c < 0x300)
		return (c >= 0x20 && c < 0x7f) || c >= 0xa0 ? 1 : WIDTH_HIDDEN;
	/* most of what is ever asked: ideographs, syllables */
	if ((c >= 0x4e00 && c < 0xa000) || (c >= 0xac00 && c < 0xd7a4))
		return 2;
	size_t at = pages[c < PAGED ? c / PAGE : PAGED / PAGE];
	while (at < RANGES && c > ranges[at].last)
		at++;
	return at < RANGES && c >= ranges[at].first ? ranges[at].width : 1;
}
