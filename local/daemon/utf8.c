// SPDX-License-Identifier: Apache-2.0
#include "local/daemon/utf8.h"

size_t daemon_utf8_next(const unsigned char *p, size_t n, uint32_t *code)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	if (p[0] < 0x80) {
		*code = p[0];
		return 1;
	}
	size_t length = p[0] >= 0xf0 ? 4 : p[0] >= 0xe0 ? 3 : 2;
	if (p[0] < 0xc2 || p[0] > 0xf4 || n < length)
		return 0;
	uint32_t value = p[0] & (0x7fu >> length);
	for (size_t i = 1; i < length; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0;
		value = value << 6 | (p[i] & 0x3fu);
	}
	if (value < least[length] || value > 0x10ffff || (value >= 0xd800 && value <= 0xdfff))
		return 0;
	*code = value;
	return length;
}

bool daemon_utf8_is_valid(const unsigned char *p, size_t n)
{
	uint32_t code;
	while (n > 0) {
		size_t length = daemon_utf8_next(p, n, &code);
		if (length == 0)
			return false;
		p += length;
		n -= length;
	}
	return true;
}
