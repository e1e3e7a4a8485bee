// SPDX-License-Identifier: Apache-2.0
/* Control strings. Known: titles (OSC 0, 2), the directory (7), questions for two colours (10, 11), clipboard
 * writes (52), shell marks (133), and DECRQSS. Hyperlinks (8), other colours, images and everything else is swallowed;
 * nothing here ever sends back text that the program chose. */
#include "tui/term/interpreter.h"

#include "engine/base/digest.h"
#include "engine/base/mem.h"
#include "engine/base/safe_text.h"

#include <stdlib.h>
#include <string.h>

static void take_title(struct term *t, char *title)
{
	bool same = strcmp(title, t->title) == 0;
	free(t->title);
	t->title = title;
	if (!same && t->callbacks.on_title != NULL)
		t->callbacks.on_title(title, t->arg);
}

static void set_title(struct term *t, const char *text)
{
	take_title(t, safe_text_dup(text, TERM_TITLE_BYTES));
}

/* The title stack: editors save the title, set their own, and put the old one back. */
void term_string_push_title(struct term *t)
{
	if (t->title_count == TERM_TITLES_MAX) {
		free(t->titles[0]);
		t->title_count--;
		memmove(t->titles, t->titles + 1, (size_t)t->title_count * sizeof *t->titles);
	}
	t->titles[t->title_count++] = x_strdup(t->title);
}

void term_string_pop_title(struct term *t)
{
	if (t->title_count > 0)
		take_title(t, t->titles[--t->title_count]);
}

/* OSC 10 and 11: "?" asks for the colour of text and background, and for the next one with each ';'. The answer is the
 * theme's, whatever a program has set. */
static void report_colors(struct term *t, int number, const char *text, bool bell)
{
	for (; number <= 11; number++) {
		size_t n = strcspn(text, ";");
		uint32_t c = number == 10 ? t->text_color : t->background_color;
		if (n == 1 && text[0] == '?' && t->has_colors)
			term_replyf(t, "\x1b]%d;rgb:%02x%02x/%02x%02x/%02x%02x%s", number,
				c >> 16, c >> 16, c >> 8 & 0xff, c >> 8 & 0xff, c & 0xff,
				c & 0xff, bell ? "\a" : "\x1b\\");
		if (text[n] == '\0')
			return;
		text += n + 1;
	}
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

/* file://host/path, percent-encoded. The host is not looked at: it is the sandbox. */
static void set_cwd(struct term *t, char *url)
{
	static const char scheme[] = "file://";
	if (strncmp(url, scheme, sizeof scheme - 1) != 0)
		return;
	char *from = strchr(url + sizeof scheme - 1, '/');
	if (from == NULL)
		return;
	char *path = from;
	char *to = path;
	while (*from != '\0') {
		int high = from[0] == '%' ? hex_digit(from[1]) : -1;
		int low = high >= 0 ? hex_digit(from[2]) : -1;
		if (low >= 0 && (high | low) != 0) {
			*to++ = (char)(high << 4 | low);
			from += 3;
		} else {
			*to++ = *from++;
		}
	}
	*to = '\0';
	free(t->cwd);
	t->cwd = safe_text_dup(path, OSC_BYTES);
}

static void write_clipboard(struct term *t, char *text, size_t n)
{
	char *data = memchr(text, ';', n);
	if (data == NULL || t->callbacks.on_clipboard_write == NULL)
		return;
	data++;
	size_t data_n = n - (size_t)(data - text);
	if (data_n == 0 || data[0] == '?')
		return; /* a read: never answered */
	size_t bytes_n;
	char *bytes = digest_base64_decode((struct slice){ data, data_n }, &bytes_n);
	/* a sequence that was kept cannot hold more than is promised */
	_Static_assert(OSC_CLIPBOARD_BYTES / 4 * 3 <= TERM_CLIPBOARD_BYTES, "base64: 4 for 3");
	if (bytes != NULL)
		t->callbacks.on_clipboard_write(bytes, bytes_n, t->arg);
	free(bytes);
}

/* 133;A prompt, B command line, C output, D[;status] end. Other letters and options are ignored. */
static void set_mark(struct term *t, const char *text)
{
	char kind = text[0];
	if (kind < 'A' || kind > 'D' || (text[1] != '\0' && text[1] != ';'))
		return;
	grid_row(t->grid, t->place.row)->marks |= (uint8_t)(1u << (kind - 'A'));
	int status = -1;
	if (kind == 'D' && text[1] == ';' && text[2] >= '0' && text[2] <= '9') {
		status = 0;
		for (const char *p = text + 2; *p >= '0' && *p <= '9' && status < 1000; p++)
			status = status * 10 + (*p - '0');
	}
	if (t->callbacks.on_mark != NULL)
		t->callbacks.on_mark(kind, status, t->arg);
}

static void handle_osc(struct term *t, char *text, size_t n, bool bell)
{
	size_t digits = strspn(text, "0123456789");
	if (digits == 0 || digits > 4)
		return;
	int number = 0;
	for (size_t i = 0; i < digits; i++)
		number = number * 10 + (text[i] - '0');
	if (text[digits] != ';' && text[digits] != '\0')
		return;
	char *rest = text + digits + (text[digits] == ';' ? 1 : 0);
	switch (number) {
	case 0:
	case 2:
		set_title(t, rest);
		break;
	case 7:
		set_cwd(t, rest);
		break;
	case 10:
	case 11:
		report_colors(t, number, rest, bell);
		break;
	case 52:
		write_clipboard(t, rest, n - (size_t)(rest - text));
		break;
	case 133:
		set_mark(t, rest);
		break;
	default:
		break;
	}
}

/* DECRQSS: the answer is made of our own state, never of the question. */
static void report_setting(struct term *t, const char *what)
{
	char style[160];
	int shape = t->cursor_look.shape == TERM_CURSOR_BLOCK       ? 2
		    : t->cursor_look.shape == TERM_CURSOR_UNDERLINE ? 4
								    : 6;
	if (strcmp(what, "m") == 0) {
		term_sgr_format(&t->pen, style, sizeof style);
		term_replyf(t, "\x1bP1$r%sm\x1b\\", style);
	} else if (strcmp(what, "r") == 0) {
		term_replyf(t, "\x1bP1$r%d;%dr\x1b\\", t->place.region.top + 1,
			t->place.region.bottom);
	} else if (strcmp(what, "s") == 0) {
		term_replyf(t, "\x1bP1$r%d;%ds\x1b\\", t->place.region.left + 1,
			t->place.region.right);
	} else if (strcmp(what, " q") == 0) {
		term_replyf(t, "\x1bP1$r%d q\x1b\\", t->cursor_look.blink ? shape - 1 : shape);
	} else if (strcmp(what, "\"q") == 0) {
		term_replyf(t, "\x1bP1$r%d\"q\x1b\\", t->protect ? 1 : 0);
	} else {
		term_replyf(t, "\x1bP0$r\x1b\\");
	}
}

void term_string_handle(struct term *t, char kind, char *text, size_t n, bool bell)
{
	if (memchr(text, '\0', n) != NULL)
		return;
	if (kind == ']')
		handle_osc(t, text, n, bell);
	else if (kind == 'P' && strncmp(text, "$q", 2) == 0)
		report_setting(t, text + 2);
}
