// SPDX-License-Identifier: Apache-2.0
/* The part named "file" of a multipart/form-data body (RFC 7578, RFC 2046 section 5.1), as bytes
 * arrive. */
#pragma once

#include "engine/base/str.h"

#include <stdbool.h>
#include <stddef.h>

struct daemon_multipart;

enum daemon_multipart_state {
	MULTIPART_MORE,
	MULTIPART_DONE, /* the file part is over; what follows does not matter */
	MULTIPART_BAD,
};

/* NULL if the body is not such a form (and then it is the file itself), or if it is one and broken
 * (*error is set, static text). content_type may be NULL. */
struct daemon_multipart *daemon_multipart_new(const char *content_type, const char **error);
void daemon_multipart_free(struct daemon_multipart *form);
/* Takes up to n bytes; *content is file content among them (valid until the next call). */
size_t daemon_multipart_feed(
	struct daemon_multipart *form, const char *bytes, size_t n, struct slice *content);
enum daemon_multipart_state daemon_multipart_state(const struct daemon_multipart *form);
bool daemon_multipart_has_file(const struct daemon_multipart *form);
const char *daemon_multipart_error(const struct daemon_multipart *form);
const char *daemon_multipart_finish(
	struct daemon_multipart *form); /* the body is over: what is wrong with it */
