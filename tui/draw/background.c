// SPDX-License-Identifier: Apache-2.0
// What a terminal says about its background, and what can be read on it.
#include "tui/draw/background.h"

#include <math.h>
#include <string.h>

enum { ANSWER_BYTES_MAX = 40, DIGITS_MAX = 4 };

static int digit_of(char c)
{
	return c >= '0' && c <= '9'   ? c - '0'
	       : c >= 'a' && c <= 'f' ? c - 'a' + 10
	       : c >= 'A' && c <= 'F' ? c - 'A' + 10
				      : -1;
}

/* One part of a colour, as eight bits; *p stands behind it. */
static bool read_part(const char **p, int max_digits, uint32_t *out)
{
	uint32_t value = 0, most = 0;
	int n = 0;
	for (int digit; n < max_digits && (digit = digit_of(**p)) >= 0; n++, ++*p) {
		value = value << 4 | (uint32_t)digit;
		most = most << 4 | 15;
	}
	*out = n ? (value * 255 + most / 2) / most : 0;
	return n > 0;
}

static bool read_color(const char *p, uint32_t *rgb)
{
	bool is_hash = *p == '#';
	uint32_t parts[3];
	if (!is_hash && strncmp(p, "rgb:", 4) != 0)
		return false;
	p += is_hash ? 1 : 4;
	for (int i = 0; i < 3; i++) {
		if (!is_hash && i > 0 && *p++ != '/')
			return false;
		if (!read_part(&p, is_hash ? 2 : DIGITS_MAX, &parts[i]))
			return false;
	}
	*rgb = parts[0] << 16 | parts[1] << 8 | parts[2];
	return *p == '\0';
}

bool draw_background_parse(struct slice answer, uint32_t *rgb)
{
	char text[ANSWER_BYTES_MAX + 1];
	if (answer.n > ANSWER_BYTES_MAX)
		return false;
	memcpy(text, answer.p, answer.n);
	text[answer.n] = '\0';
	return strlen(text) == answer.n && strncmp(text, "11;", 3) == 0 &&
	       read_color(text + 3, rgb);
}

/* Relative luminance, 0 to 1. */
static double luminance(uint32_t rgb)
{
	static const double shares[] = { 0.2126, 0.7152, 0.0722 };
	double sum = 0;
	for (int i = 0; i < 3; i++) {
		double part = (rgb >> (16 - 8 * i) & 0xFF) / 255.0;
		sum += shares[i] *
		       (part <= 0.03928 ? part / 12.92 : pow((part + 0.055) / 1.055, 2.4));
	}
	return sum;
}

double draw_contrast(uint32_t a, uint32_t b)
{
	double one = luminance(a) + 0.05, other = luminance(b) + 0.05;
	return one > other ? one / other : other / one;
}

bool draw_background_is_light(uint32_t rgb)
{
	return draw_contrast(rgb, 0x000000) > draw_contrast(rgb, 0xFFFFFF);
}
