// SPDX-License-Identifier: Apache-2.0
#include "engine/base/str.h"

#include "engine/base/mem.h"

#include <stdio.h>
#include <stdlib.h>

static char empty[1] = "";

void str_init(struct str *s, size_t max_bytes)
{
	*s = (struct str){ .p = empty, .max_bytes = max_bytes };
}

void str_deinit(struct str *s)
{
	if (s->capacity > 0)
		free(s->p);
	*s = (struct str){ .p = empty, .max_bytes = s->max_bytes };
}

void str_clear(struct str *s)
{
	s->n = 0;
	s->truncated = false;
	if (s->capacity > 0)
		s->p[0] = '\0';
}

void str_add_bytes(struct str *s, const void *bytes, size_t n)
{
	if (s->truncated)
		return;
	size_t room = s->max_bytes - s->n;
	if (n > room) {
		n = room;
		s->truncated = true;
	}
	if (n == 0)
		return;
	if (s->n + n + 1 > s->capacity) {
		if (s->capacity == 0)
			s->p = NULL;
		array_grow(&s->p, &s->capacity, s->n + n + 1, 1);
	}
	memcpy(s->p + s->n, bytes, n);
	s->n += n;
	s->p[s->n] = '\0';
}

void str_add(struct str *s, const char *text)
{
	str_add_bytes(s, text, strlen(text));
}

void str_add_char(struct str *s, char c)
{
	str_add_bytes(s, &c, 1);
}

void str_vaddf(struct str *s, const char *format, va_list args)
{
	char small[256];
	va_list again;
	va_copy(again, args);
	int n = vsnprintf(small, sizeof small, format, args);
	if (n >= 0 && (size_t)n < sizeof small) {
		str_add_bytes(s, small, (size_t)n);
	} else if (n >= 0) {
		char *large = x_malloc((size_t)n + 1);
		vsnprintf(large, (size_t)n + 1, format, again);
		str_add_bytes(s, large, (size_t)n);
		free(large);
	}
	va_end(again);
}

void str_addf(struct str *s, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	str_vaddf(s, format, args);
	va_end(args);
}

char *str_take(struct str *s)
{
	char *text = s->capacity > 0 ? s->p : x_strdup("");
	s->p = empty;
	s->n = s->capacity = 0;
	s->truncated = false;
	return text;
}
