// SPDX-License-Identifier: Apache-2.0
#include "local/daemon/quote.h"

#include "local/daemon/utf8.h"

#include <stdio.h>
#include <string.h>

struct escape {
	char c;
	const char *text;
};

/* The text that stands for code, or NULL; the last row is empty. */
static const char *escape_of(const struct escape *rows, uint32_t code)
{
	for (; rows->text != NULL; rows++)
		if ((uint32_t)(unsigned char)rows->c == code)
			return rows->text;
	return NULL;
}

static void add_json_char(struct str *out, uint32_t code, const char *raw, size_t n)
{
	static const struct escape rows[] = { { '"', "\\\"" }, { '\\', "\\\\" },
		{ '\n', "\\n" }, { '\r', "\\r" }, { '\t', "\\t" }, { '\b', "\\b" },
		{ '\f', "\\f" }, { 0, NULL } };
	const char *text = escape_of(rows, code);
	if (text != NULL)
		str_add(out, text);
	else if (code < 0x20 || code == '<' || code == '>' || code == '&' || code == 0x2028 ||
		 code == 0x2029)
		str_addf(out, "\\u%04x", code);
	else
		str_add_bytes(out, raw, n);
}

void daemon_quote_html(struct str *out, const char *text)
{
	static const struct escape rows[] = { { '&', "&amp;" }, { '<', "&lt;" },
		{ '>', "&gt;" }, { '"', "&#34;" }, { '\'', "&#39;" }, { 0, NULL } };
	for (; *text; text++) {
		const char *escaped = escape_of(rows, (unsigned char)*text);
		if (escaped != NULL)
			str_add(out, escaped);
		else
			str_add_char(out, *text);
	}
}

void daemon_quote_json(struct str *out, struct slice text)
{
	str_add_char(out, '"');
	while (text.n > 0) {
		uint32_t code;
		size_t n = daemon_utf8_next((const unsigned char *)text.p, text.n, &code);
		if (n > 0)
			add_json_char(out, code, text.p, n);
		else
			str_add(out, "\\ufffd");
		n = n ? n : 1;
		text.p += n;
		text.n -= n;
	}
	str_add_char(out, '"');
}

void daemon_quote_plain(struct str *out, struct slice text)
{
	static const char named[] = "\a\b\f\n\r\t\v";
	static const char letters[] = "abfnrtv";
	str_add_char(out, '"');
	while (text.n > 0) {
		uint32_t code;
		size_t n = daemon_utf8_next((const unsigned char *)text.p, text.n, &code);
		const char *is_named = n == 1 && code ? strchr(named, (int)code) : NULL;
		if (n == 0)
			str_addf(out, "\\x%02x", (unsigned char)*text.p);
		else if (code == '"' || code == '\\')
			str_addf(out, "\\%c", (int)code);
		else if (is_named != NULL)
			str_addf(out, "\\%c", letters[is_named - named]);
		else if (code < 0x20 || code == 0x7f)
			str_addf(out, "\\x%02x", code);
		else if (code >= 0x80 && code < 0xa0)
			str_addf(out, "\\u%04x", code);
		else
			str_add_bytes(out, text.p, n);
		n = n ? n : 1;
		text.p += n;
		text.n -= n;
	}
	str_add_char(out, '"');
}

const char *daemon_quote_errno(int errnum)
{
	static _Thread_local char text[128];
	const char *known = strerrordesc_np(errnum);
	if (known == NULL)
		snprintf(text, sizeof text, "errno %d", errnum);
	else
		snprintf(text, sizeof text, "%s", known);
	/* "Is a directory", but not "RPC …" or "I/O error" */
	bool is_word = text[0] >= 'A' && text[0] <= 'Z' && text[1] >= 'a' && text[1] <= 'z';
	if (is_word)
		text[0] = (char)(text[0] - 'A' + 'a');
	return text;
}
