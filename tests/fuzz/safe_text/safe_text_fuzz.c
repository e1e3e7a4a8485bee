// SPDX-License-Identifier: Apache-2.0
/* Any bytes: the safe form is stable, counts as wcswidth() counts, and has no control character. */
#include "engine/base/safe_text.h"

#include <locale.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MAX_INPUT = 4096, MAX_OUTPUT = MAX_INPUT * 10 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static wchar_t wide[MAX_OUTPUT + 1];
	if (size > MAX_INPUT)
		return 0;
	setlocale(LC_CTYPE, "C.UTF-8");
	struct slice raw = { (const char *)data, size };
	struct str safe;
	str_init(&safe, MAX_OUTPUT);
	safe_text_add(&safe, raw, SAFE_NEWLINE_ESCAPE);
	struct slice text = { safe.p, safe.n };
	if (safe.truncated || strlen(safe.p) != safe.n || !safe_text_is_clean(text))
		abort();
	for (size_t i = 0; i < safe.n; i++)
		if ((unsigned char)safe.p[i] < 0x20 || safe.p[i] == 0x7F)
			abort();
	if (safe_text_is_clean(raw) != (safe.n == size && memcmp(safe.p, data, size) == 0))
		abort();
	size_t n = mbstowcs(wide, safe.p, MAX_OUTPUT);
	if (n == (size_t)-1 || wcswidth(wide, n) != safe_text_cols(text))
		abort();
	int cols = 0, unit_cols;
	char unit[SAFE_UNIT_BYTES];
	size_t unit_n, step;
	for (; (step = safe_text_next_raw(raw, unit, &unit_n, &unit_cols)) > 0;
		raw = (struct slice){ raw.p + step, raw.n - step })
		cols += unit_cols;
	if (cols != safe_text_cols(text))
		abort();
	char *zero_ended = malloc(size + 1);
	memcpy(zero_ended, data, size);
	zero_ended[size] = '\0';
	char *cut = safe_text_dup(zero_ended, size / 2);
	if (strlen(cut) > size / 2 || !safe_text_is_clean(slice_of(cut)))
		abort();
	free(cut);
	free(zero_ended);
	str_deinit(&safe);
	return 0;
}
