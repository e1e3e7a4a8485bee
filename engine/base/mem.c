// SPDX-License-Identifier: Apache-2.0
#include "engine/base/mem.h"

#include <malloc.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *checked(void *p)
{
	if (p == NULL) {
		fputs("sandmux: out of memory\n", stderr);
		abort();
	}
	return p;
}

void *x_malloc(size_t bytes)
{
	return checked(malloc(bytes ? bytes : 1));
}

void *x_calloc(size_t count, size_t bytes)
{
	return checked(calloc(count ? count : 1, bytes ? bytes : 1));
}

void *x_realloc(void *old, size_t count, size_t bytes)
{
	size_t total;
	if (__builtin_mul_overflow(count, bytes, &total))
		return checked(NULL);
	return checked(realloc(old, total ? total : 1));
}

char *x_strdup(const char *text)
{
	return text ? checked(strdup(text)) : NULL;
}

char *x_strndup(const char *text, size_t n)
{
	return text ? checked(strndup(text, n)) : NULL;
}

char *x_asprintf(const char *format, ...)
{
	char *text = NULL;
	va_list args;
	va_start(args, format);
	int n = vasprintf(&text, format, args);
	va_end(args);
	return checked(n < 0 ? NULL : text);
}

void x_free_secret(char *text)
{
	if (text != NULL)
		explicit_bzero(text, strlen(text));
	free(text);
}

void array_grow(void *array_ptr, size_t *capacity, size_t need, size_t element_bytes)
{
	if (need <= *capacity)
		return;
	size_t wanted = *capacity ? *capacity : 8;
	while (wanted < need)
		wanted = wanted > SIZE_MAX / 2 ? need : wanted * 2;
	void *old;
	memcpy(&old, array_ptr, sizeof old);
	void *grown = x_realloc(old, wanted, element_bytes);
	memcpy(array_ptr, &grown, sizeof grown);
	*capacity = wanted;
}

void mem_trim(void)
{
#ifdef __GLIBC__
	malloc_trim(0);
#endif
}
