// SPDX-License-Identifier: Apache-2.0
#include "local/daemon/quote.h"

#include "local/daemon/utf8.h"

#include <stdio.h>
#include <string.h>

static void add_json_char(struct str *out, uint32_t code, const char *raw, size_t n)
{
	switch (code) {
	case '"':
		str_add(out, "\\\"");
		return;
	case '\\':
		str_add(out, "\\\\");
		return;
	case '\n':
		str_add(out, "\\n");
		return;
	case '\r':
		str_add(out, "\\r");
		return;
	case '\t':
		str_add(out, "\\t");
		return;
	case '\b':
		str_add(out, "\\b");
		return;
	case '\f':
		str_add(out, "\\f");
		return;
	default:
		break;
	}
	if (code < 0x20 || code == '<' || code == '>' || code == '&' || code == 0x2028 ||
		code == 0x2029)
		str_addf(out, "\\u%04x", code);
	else
		str_add_bytes(out, raw, n);
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
