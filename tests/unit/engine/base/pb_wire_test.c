// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/unit.h"

#include "engine/base/pb_wire.h"

#include <stdio.h>
#include <string.h>

#define BYTES(text)                                                                            \
	{                                                                                      \
		text, sizeof text - 1                                                          \
	}

/* "number:type=bytes" of each field, then "broken" if it is. */
static void messages(void **state)
{
	static const struct {
		struct slice message;
		const char *fields;
	} rows[] = {
		{ BYTES(""), "" },
		{ BYTES("\x0a\x02hi"), "1:2=hi " },
		{ BYTES("\x0a\x00"), "1:2= " },
		{ BYTES("\x08\x96\x01\x12\x01x"), "1:0= 2:2=x " },
		{ BYTES("\x09"
			"12345678"
			"\x15"
			"1234"),
			"1:1= 2:5= " },
		{ BYTES("\xf8\xff\xff\xff\x0f\x01"), "536870911:0= " }, /* the largest number */
		{ BYTES("\xf8\xff\xff\xff\x1f\x01"), "broken" },
		{ BYTES("\x00\x01"), "broken" }, /* number 0 */
		{ BYTES("\x0a"), "broken" },
		{ BYTES("\x0a\x03hi"), "broken" },
		{ BYTES("\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"), "broken" },
		{ BYTES("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"), "broken" },
		{ BYTES("\x08\x80"), "broken" },
		{ BYTES("\x09"
			"1234567"),
			"broken" },
		{ BYTES("\x15"
			"123"),
			"broken" },
		{ BYTES("\x08\x01\x0b"), "1:0= broken" }, /* a group */
		{ BYTES("\x0e"), "broken" },
	};
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct slice rest = rows[i].message;
		struct pb_wire_field field;
		char shown[128] = "";
		bool ok = false;
		while (pb_wire_next(&rest, &field, &ok)) {
			size_t n = strlen(shown);
			snprintf(shown + n, sizeof shown - n, "%u:%d=%.*s ", field.number,
				(int)field.type, (int)field.bytes.n, field.bytes.p);
		}
		strncat(shown, ok ? "" : "broken", sizeof shown - strlen(shown) - 1);
		if (strcmp(shown, rows[i].fields) != 0)
			fail_msg("row %zu: %s", i, shown);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(messages) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
