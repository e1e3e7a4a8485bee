// SPDX-License-Identifier: Apache-2.0
/* The ways sandboxd writes foreign text: a JSON string (HTML-safe, bad UTF-8 as U+FFFD), a quoted
 * string in an error, and errno in lower case ("no such file or directory"). */
#pragma once

#include "engine/base/str.h"

void daemon_quote_json(struct str *out, struct slice text); /* with the quotes */
void daemon_quote_plain(
	struct str *out, struct slice text); /* "…" with \x, \u and \" escapes */
void daemon_quote_html(struct str *out, const char *text); /* text between tags or in quotes */
/* Valid until the next call of this thread. */
const char *daemon_quote_errno(int errnum);
