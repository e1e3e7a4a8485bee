// SPDX-License-Identifier: Apache-2.0
// Likenesses in ASCII: always one printable letter, and the ones that pictures are made of.
#include "tui/draw/ascii.h"

#include "tests/unit/unit.h"

static void likenesses(void **state)
{
	static const struct {
		uint32_t from;
		char to;
	} rows[] = { { 'a', 'a' }, { ' ', ' ' }, { '~', '~' }, { 0x2500, '-' }, { 0x2502, '|' },
		{ 0x2551, '|' }, { 0x2550, '-' }, { 0x256D, '+' }, { 0x2565, '+' },
		{ 0x2580, '"' }, { 0x2581, '_' }, { 0x2585, '=' }, { 0x2588, '#' },
		{ 0x2589, '|' }, { 0x258C, '|' }, { 0x2590, '|' }, { 0x2591, '.' },
		{ 0x2592, ':' }, { 0x2593, '#' }, { 0x2594, '"' }, { 0x2595, '|' },
		{ 0x25CF, '*' }, { 0x2026, '~' }, { 0x4F60, '?' }, { 0x07, '?' }, { 0x7F, '?' },
		{ 0, '?' }, { 0x10FFFF, '?' } };
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		assert_int_equal(draw_ascii_of(rows[i].from), rows[i].to);
	for (uint32_t c = 0; c < 0x3000; c++)
		assert_true(draw_ascii_of(c) >= 0x20 && draw_ascii_of(c) < 0x7F);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(likenesses) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
