// SPDX-License-Identifier: Apache-2.0
/* A delimiter is "\r\n--boundary". Its only '\r' is the first byte, so a failed match begins again at the
 * byte that failed, and what was held back is a prefix of the delimiter itself. */
#include "local/daemon/multipart.h"

#include "engine/base/mem.h"

#include <stdlib.h>
#include <strings.h>

enum { MAX_BOUNDARY = 70, MAX_HEADER_BYTES = 64 << 10 };

enum daemon_stage { PREAMBLE, DELIMITER_LINE, HEADERS, SKIPPED, CONTENT, OVER, BROKEN };

struct daemon_multipart {
	char delimiter[MAX_BOUNDARY + 8];
	size_t delimiter_n, matched;
	size_t implied; /* bytes of matched that were not in the input */
	enum daemon_stage stage;
	struct str line;
	size_t header_bytes;
	bool is_file, has_file;
	const char *error;
};

static const char no_file[] = "multipart body is missing the required \"file\" part";
static const char bad_form[] = "invalid multipart body: multipart: NextPart: EOF";

/* The value of name in "type; a=b; name=\"value\"". */
static bool parameter(const char *header, const char *name, char *out, size_t out_size)
{
	const char *p = strchr(header, ';');
	while (p != NULL && *p) {
		p += strspn(p, "; \t");
		size_t name_n = strcspn(p, "=; \t");
		bool is_it = name_n == strlen(name) && strncasecmp(p, name, name_n) == 0;
		p += name_n;
		if (*p != '=')
			continue;
		p++;
		bool is_quoted = *p == '"';
		size_t n = 0;
		for (p += is_quoted; *p && (is_quoted ? *p != '"' : !strchr("; \t", *p)); p++) {
			if (is_quoted && *p == '\\' && p[1])
				p++;
			if (is_it && n + 1 < out_size)
				out[n++] = *p;
			else if (is_it)
				return false;
		}
		p += is_quoted && *p == '"';
		if (is_it) {
			out[n] = 0;
			return true;
		}
	}
	return false;
}

struct daemon_multipart *daemon_multipart_new(const char *content_type, const char **error)
{
	static const char type[] = "multipart/form-data";
	size_t type_n = sizeof type - 1;
	char boundary[MAX_BOUNDARY + 1];
	if (content_type == NULL || strncasecmp(content_type, type, type_n) != 0 ||
		(content_type[type_n] && !strchr("; \t", content_type[type_n])))
		return NULL;
	if (!parameter(content_type, "boundary", boundary, sizeof boundary) || !*boundary) {
		*error = "invalid multipart body: no multipart boundary param in Content-Type";
		return NULL;
	}
	struct daemon_multipart *form = x_calloc(1, sizeof *form);
	str_init(&form->line, MAX_HEADER_BYTES);
	struct str delimiter;
	str_init(&delimiter, sizeof form->delimiter - 1);
	str_addf(&delimiter, "\r\n--%s", boundary);
	form->delimiter_n = delimiter.n;
	memcpy(form->delimiter, delimiter.p, delimiter.n);
	str_deinit(&delimiter);
	form->matched = form->implied = 2; /* the first one may begin the body */
	return form;
}

void daemon_multipart_free(struct daemon_multipart *form)
{
	if (form == NULL)
		return;
	str_deinit(&form->line);
	free(form);
}

/* Up to the next delimiter. */
static size_t feed_text(
	struct daemon_multipart *form, const char *bytes, size_t n, struct slice *text)
{
	size_t used = 0;
	while (used < n) {
		if (form->matched == 0) {
			const char *cr = memchr(bytes + used, '\r', n - used);
			size_t plain = cr ? (size_t)(cr - (bytes + used)) : n - used;
			if (plain > 0) {
				*text = (struct slice){ bytes + used, plain };
				return used + plain;
			}
		}
		if (bytes[used] != form->delimiter[form->matched]) {
			*text = (struct slice){ form->delimiter + form->implied,
				form->matched - form->implied };
			form->matched = form->implied = 0;
			return used;
		}
		used++;
		if (++form->matched == form->delimiter_n) {
			form->matched = form->implied = 0;
			form->stage = form->stage == CONTENT ? OVER : DELIMITER_LINE;
			return used;
		}
	}
	return used;
}

static void take_line(struct daemon_multipart *form)
{
	struct str *line = &form->line;
	if (line->n > 0 && line->p[line->n - 1] == '\r')
		line->p[--line->n] = 0;
	if (form->stage == DELIMITER_LINE) {
		form->is_file = false;
		form->stage = strncmp(line->p, "--", 2) == 0 ? BROKEN : HEADERS;
		form->error = no_file;
	} else if (line->n == 0) {
		form->stage = form->is_file ? CONTENT : SKIPPED;
		form->has_file = form->is_file;
		form->matched = form->implied =
			2; /* an empty part: the delimiter follows at once */
	} else if (strncasecmp(line->p, "content-disposition:", 20) == 0) {
		char name[16];
		form->is_file = strstr(line->p, "form-data") != NULL &&
				parameter(line->p, "name", name, sizeof name) &&
				strcmp(name, "file") == 0;
	}
	str_clear(line);
}

size_t daemon_multipart_feed(
	struct daemon_multipart *form, const char *bytes, size_t n, struct slice *content)
{
	*content = (struct slice){ bytes, 0 };
	if (form->stage == OVER || form->stage == BROKEN || n == 0)
		return n;
	if (form->stage != DELIMITER_LINE && form->stage != HEADERS) {
		struct slice text = { bytes, 0 };
		bool is_content = form->stage == CONTENT;
		size_t used = feed_text(form, bytes, n, &text);
		if (is_content)
			*content = text;
		return used;
	}
	const char *end = memchr(bytes, '\n', n);
	size_t part = end ? (size_t)(end - bytes) : n;
	form->header_bytes += part + 1;
	if (form->header_bytes > MAX_HEADER_BYTES) {
		form->stage = BROKEN;
		form->error = "invalid multipart body: multipart: message too large";
		return n;
	}
	str_add_bytes(&form->line, bytes, part);
	if (end != NULL)
		take_line(form);
	else if (form->stage == DELIMITER_LINE && form->line.n >= 2 &&
		 strncmp(form->line.p, "--", 2) == 0)
		take_line(form); /* the last delimiter needs no line end */
	return part + (end != NULL);
}

enum daemon_multipart_state daemon_multipart_state(const struct daemon_multipart *form)
{
	return form->stage == OVER     ? MULTIPART_DONE
	       : form->stage == BROKEN ? MULTIPART_BAD
				       : MULTIPART_MORE;
}

bool daemon_multipart_has_file(const struct daemon_multipart *form)
{
	return form->has_file;
}

const char *daemon_multipart_error(const struct daemon_multipart *form)
{
	return form->error;
}

const char *daemon_multipart_finish(struct daemon_multipart *form)
{
	form->stage = BROKEN;
	form->error = bad_form;
	return form->error;
}
