// SPDX-License-Identifier: Apache-2.0
#include "engine/fleet/sentence.h"
#include "engine/base/str.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { HEAD_SHOWN = 300, TAIL_SHOWN = 180, TEMPLATE_NAME_SHOWN = 200 };

/* Back to the beginning of a character. */
static size_t boundary(const char *text, size_t at)
{
	while (at > 0 && ((unsigned char)text[at] & 0xc0) == 0x80)
		at--;
	return at;
}

void fleet_sentence_add_message(struct fleet_sentence *s, const char *message)
{
	static const char *const said[] = { "Error seen: ", "rpc error: code = Unknown desc = ",
		"rpc error: code = NotFound desc = " };
	for (size_t i = 0; i < sizeof said / sizeof *said; i++) {
		if (strncmp(message, said[i], strlen(said[i])) == 0)
			message += strlen(said[i]);
	}
	size_t n = strlen(message);
	while (n > 0 && strchr(" \t\r\n.", message[n - 1]) != NULL)
		n--;
	if (n <= HEAD_SHOWN + TAIL_SHOWN) {
		str_add_bytes(s->out, message, n);
		return;
	}
	size_t head = boundary(message, HEAD_SHOWN), tail = boundary(message, n - TAIL_SHOWN);
	str_add_bytes(s->out, message, head);
	str_add(s->out, " … ");
	str_add_bytes(s->out, message + tail, n - tail);
}

void fleet_sentence_add_colon(struct fleet_sentence *s, const char *message)
{
	if (message == NULL || !message[0])
		return;
	str_add(s->out, ": ");
	fleet_sentence_add_message(s, message);
}

void fleet_sentence_advise(struct fleet_sentence *s, const char *format, ...)
{
	va_list args;
	str_clear(s->next);
	va_start(args, format);
	str_vaddf(s->next, format, args);
	va_end(args);
}

const char *fleet_sentence_pod(const struct fleet_sentence *s)
{
	if (s->pod != NULL)
		return s->pod->name;
	if (s->sandbox == NULL)
		return "";
	return s->sandbox->pod_name[0] ? s->sandbox->pod_name : s->sandbox->name;
}

void fleet_sentence_template(const struct fleet_sentence *s, char *out, size_t size)
{
	const char *name = s->sandbox ? s->sandbox->template_ : "";
	if (!name[0] && s->claim != NULL) {
		const struct fleet_store_pool *pool =
			fleet_store_pool(s->store, s->claim->namespace_, s->claim->pool);
		name = pool ? pool->template_ : "";
	}
	if (name[0])
		snprintf(out, size, "SandboxTemplate %.*s", TEMPLATE_NAME_SHOWN, name);
	else
		snprintf(out, size, s->claim ? "the template" : "the Sandbox's pod template");
}

bool fleet_sentence_has(const char *message, const char *words)
{
	size_t n = strlen(words);
	for (; *message; message++) {
		if (strncasecmp(message, words, n) == 0)
			return true;
	}
	return false;
}
