// SPDX-License-Identifier: Apache-2.0
/* The only way for foreign text to the screen, to a log line or to stderr.
 * Everything unsafe becomes visible ASCII, so that the result can neither move the cursor, nor
 * change direction, nor hide: C0 and DEL as ^X, C1 as <U+0085>, invalid UTF-8 as \xNN, bidi controls,
 * zero-width tricks and unassigned code points as <U+202E>. The column count is that of width.h; a cluster of
 * which wcwidth(), which ncurses obeys, is of another opinion is replaced.
 * setlocale(LC_CTYPE, "") with a UTF-8 locale must have been called by the program. */
#pragma once

#include "engine/base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum safe_newline {
	SAFE_NEWLINE_ESCAPE, /* shown as ^J: one line stays one line */
	SAFE_NEWLINE_KEEP,
};

void safe_text_add(struct str *out, struct slice text, enum safe_newline newline);
/* Convenience: a new string, free(). At most max_bytes of output; cut text ends with "…". */
char *safe_text_dup(const char *text, size_t max_bytes);
/* Columns of text that has already been made safe. */
int safe_text_cols(struct slice safe);
/* Walks safe text by clusters (base + combining marks): returns the bytes of the next cluster and its
 * columns (1 or 2; 0 never), 0 at the end. */
size_t safe_text_next(struct slice safe, int *cols);
/* Same walk for raw foreign bytes: *out gets the safe form of the next unit (≤ SAFE_UNIT_BYTES). */
enum { SAFE_UNIT_BYTES = 40 };
size_t safe_text_next_raw(
	struct slice raw, char out[SAFE_UNIT_BYTES], size_t *out_n, int *cols);
/* Bytes of the code point at the start of text, 0 if there is none or it is not UTF-8. */
size_t safe_text_decode(struct slice text, int32_t *c);
/* In place: what looks like a token, a key or a password in base64 (20 and more of its characters in a row, or what
 * follows "Bearer " or "token") becomes asterisks. For the words of programs that handle secrets. */
void safe_text_redact(char *text);
bool safe_text_is_clean(struct slice text); /* nothing would be changed */
