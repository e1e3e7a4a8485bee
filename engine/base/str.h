// SPDX-License-Identifier: Apache-2.0
/* Text being built, with a maximum given at init, and bytes being read (struct slice).
 * A str is always NUL-terminated. When an append would pass the maximum, the str keeps what fits,
 * sets truncated, and appends nothing more: check once at the end. Not for bytes in flight: those
 * are evbuffers. */
#pragma once

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

struct slice {
	const char *p; /* borrowed; not NUL-terminated */
	size_t n;
};

static inline struct slice slice_of(const char *text)
{
	return (struct slice){ text, text ? strlen(text) : 0 };
}

static inline bool slice_equals(struct slice a, const char *text)
{
	return a.n == strlen(text) && memcmp(a.p, text, a.n) == 0;
}

struct str {
	char *p; /* never NULL after init */
	size_t n;
	size_t capacity;
	size_t max_bytes; /* without the NUL */
	bool truncated;
};

void str_init(struct str *s, size_t max_bytes);
void str_deinit(struct str *s); /* safe on a zeroed struct */
void str_clear(struct str *s);
void str_add(struct str *s, const char *text);
void str_add_bytes(struct str *s, const void *bytes, size_t n);
void str_add_char(struct str *s, char c);
void str_addf(struct str *s, const char *format, ...) __attribute__((format(printf, 2, 3)));
void str_vaddf(struct str *s, const char *format, va_list args)
	__attribute__((format(printf, 2, 0)));
/* Hands the text over (free it with free()) and leaves s empty and usable. */
char *str_take(struct str *s);
