// SPDX-License-Identifier: Apache-2.0
#include "engine/base/width.h"

#include <stddef.h>

static const struct {
	uint32_t first, last;
	int width;
} ranges[] = {
#include "engine/base/width_table.inc"
};

enum { RANGES = sizeof ranges / sizeof ranges[0] };

int width_of(uint32_t c)
{
	if (c < 0x300)
		return (c >= 0x20 && c < 0x7f) || c >= 0xa0 ? 1 : WIDTH_HIDDEN;
	/* most of what is ever asked: ideographs, syllables; line drawing */
	if ((c >= 0x4e00 && c < 0xa000) || (c >= 0xac00 && c < 0xd7a4))
		return 2;
	if (c >= 0x2500 && c < 0x25fd)
		return 1;
	size_t low = 0, high = RANGES;
	while (low < high) {
		size_t middle = (low + high) / 2;
		if (c > ranges[middle].last)
			low = middle + 1;
		else
			high = middle;
	}
	return low < RANGES && c >= ranges[low].first ? ranges[low].width : 1;
}
