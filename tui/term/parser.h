// SPDX-License-Identifier: Apache-2.0
/* Bytes of a program, turned into events: sequences by ECMA-48 and the states of a VT500 (as published by P. Williams),
 * text as checked UTF-8. It knows nothing of a screen, keeps a sequence or a character that is cut, and bounds
 * everything that it keeps. What is malformed becomes no event, or U+FFFD.
 *
 * Events come in the order of the bytes, during term_parser_feed(); they must not feed the same parser. What they are
 * given is theirs until they return. One thread; nothing fails: allocation aborts. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	CSI_PARAMS_MAX = 32,
	CSI_VALUE_MAX = 65535, /* larger numbers are taken as this */
	OSC_BYTES = 4 * 1024,
	OSC_CLIPBOARD_BYTES = 64 * 1024,
	DCS_BYTES = 256,
	MARKS_IN_ROW_MAX = 16, /* combining marks on one character that are looked at */
};

struct term_csi {
	int params[CSI_PARAMS_MAX]; /* -1 = not given */
	uint32_t colons;            /* bit i: param i was joined to the one before by ':' */
	int count;                  /* at least 1 */
	char leader;                /* one of < = > ? or 0 */
	char intermediate;          /* 0 if none */
	char final;
	bool bad; /* cannot be one that we know: swallow it */
};

static inline int term_csi_param(const struct term_csi *csi, int index, int missing)
{
	return index < csi->count && csi->params[index] >= 0 ? csi->params[index] : missing;
}

struct term_parser_events {
	/* Valid UTF-8 of characters that take columns, and format effectors (BS … CR) among them; n > 0. */
	void (*on_text)(const unsigned char *bytes, size_t n, void *arg);
	void (*on_mark)(uint32_t codepoint, void *arg); /* joins the character before */
	/* Other C0 controls, and all of them within a sequence. */
	void (*on_control)(unsigned char c, void *arg);
	void (*on_esc)(char intermediate, char final, void *arg);
	void (*on_csi)(const struct term_csi *csi, void *arg);
	/* kind: ']' OSC, 'P' DCS. text may be changed; it ends with NUL behind its n bytes. bell: ended by BEL, so
	 * answers end so too. */
	void (*on_string)(char kind, char *text, size_t n, bool bell, void *arg);
};

enum term_parser_state {
	PARSER_GROUND,
	PARSER_ESCAPE,
	PARSER_CSI,
	PARSER_STRING,
	PARSER_STRING_ESCAPE,
};

struct term_parser {
	const struct term_parser_events *events;
	void *arg;
	enum term_parser_state state;
	unsigned char utf8[4]; /* a character cut by the end of the input */
	int utf8_have;
	struct term_csi csi;
	bool csi_has_digits;
	char escape_intermediate;
	bool escape_bad;
	char string_kind; /* ']' OSC, 'P' DCS, '_' APC, '^' PM, 'X' SOS */
	bool string_overflow;
	char *string;
	size_t string_n;
	size_t string_capacity;
	int marks; /* combining marks since the last base character */
};

/* events is borrowed; all of them must be there. */
void term_parser_init(
	struct term_parser *f, const struct term_parser_events *events, void *arg);
void term_parser_deinit(struct term_parser *f);
void term_parser_reset(struct term_parser *f); /* forgets what is cut */
void term_parser_feed(struct term_parser *f, const unsigned char *bytes, size_t n);
