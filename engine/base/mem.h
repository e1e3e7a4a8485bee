// SPDX-License-Identifier: Apache-2.0
/* Allocation that aborts when memory is gone, and the one helper that grows an array. A size that
 * came from outside is checked against a named limit before it reaches these. */
#pragma once

#include <stddef.h>

void *x_malloc(size_t bytes); /* uninitialised; 0 bytes gives a valid pointer */
void *x_calloc(size_t count, size_t bytes);
void *x_realloc(void *old, size_t count, size_t bytes); /* checks count * bytes for overflow */
char *x_strdup(const char *text);                       /* NULL gives NULL */
char *x_strndup(const char *text, size_t n);
char *x_asprintf(const char *format, ...) __attribute__((format(printf, 1, 2)));
void x_free_secret(char *text); /* overwritten first; NULL is fine */

/* Makes room for at least need elements: array_grow(&items, &capacity, count + 1, sizeof *items). */
void array_grow(void *array_ptr, size_t *capacity, size_t need, size_t element_bytes);
/* What was freed goes back to the system, also from the middle of the heap. Slow: after something very large. */
void mem_trim(void);
