// SPDX-License-Identifier: Apache-2.0
/* Modes (SM, RM, DECSET, DECRST) and what DECRQM answers about them: one row each. libvterm is told of none. */
#include "tui/term/interpreter.h"

#include "engine/base/clock.h"

#include <stddef.h>
#include <string.h>

enum {
	REPORT_UNKNOWN = 0,
	REPORT_SET = 1,
	REPORT_RESET = 2,
	PRIVATE = 1 << 16, /* numbers are 65535 at most */
};

void term_mode_init(struct term *t)
{
	bool alternate = t->modes.alternate_screen;
	memset(&t->modes, 0, sizeof t->modes);
	t->modes.alternate_screen = alternate;
	t->modes.autowrap = true;
	t->newline_mode = false;
	t->margins_mode = false;
	t->protect = false;
	t->sync_since_ms = -1;
}

/* --- setting ------------------------------------------------------------------------------ */

static void set_origin(struct term *t, int number, bool on)
{
	(void)number;
	t->modes.origin = on;
	term_state_move(t, on ? t->place.region.top : 0, on ? t->place.region.left : 0);
}

static void set_alternate(struct term *t, int number, bool on)
{
	bool is_on = t->modes.alternate_screen;
	if (number == 1049 && on) {
		term_state_save_cursor(t);
		term_state_switch_screen(t, true, true);
	} else if (on) {
		if (!is_on)
			term_state_switch_screen(t, true, false);
	} else if (is_on) {
		/* 1047 clears on the way out; on 1049 nobody can see the difference */
		if (number == 1047)
			term_state_switch_screen(t, true, true);
		term_state_switch_screen(t, false, false);
	}
	if (number == 1049 && !on)
		term_state_restore_cursor(t);
}

static void set_saved_cursor(struct term *t, int number, bool on)
{
	(void)number;
	if (on)
		term_state_save_cursor(t);
	else
		term_state_restore_cursor(t);
}

static enum term_mouse_mode mouse_mode_of(int number)
{
	switch (number) {
	case 9:
		return TERM_MOUSE_X10;
	case 1000:
		return TERM_MOUSE_CLICK;
	case 1002:
		return TERM_MOUSE_DRAG;
	default:
		return TERM_MOUSE_MOTION;
	}
}

static void set_mouse(struct term *t, int number, bool on)
{
	enum term_mouse_mode mode = mouse_mode_of(number);
	if (on)
		t->modes.mouse = mode;
	else if (t->modes.mouse == mode)
		t->modes.mouse = TERM_MOUSE_OFF;
	t->mouse_col = -1;
	t->mouse_row = -1;
	t->mouse_button = 0;
}

static bool is_mouse_set(const struct term *t, int number)
{
	return t->modes.mouse == mouse_mode_of(number);
}

/* Either way the margins start as the whole width, and the cursor stays. */
static void set_margins_mode(struct term *t, int number, bool on)
{
	(void)number;
	t->place.region.left = 0;
	t->place.region.right = t->grid->cols;
	t->margins_mode = on;
}

static void set_sync(struct term *t, int number, bool on)
{
	(void)number;
	int64_t now = clock_mono_ms();
	if (!on)
		t->sync_since_ms = -1;
	else if (!term_sync_active(t, now))
		t->sync_since_ms =
			now; /* while it is active, asking again does not make it longer */
}

static bool is_sync_set(const struct term *t, int number)
{
	(void)number;
	return term_sync_active(t, clock_mono_ms());
}

int64_t term_sync_left_ms(const struct term *t, int64_t now_mono_ms)
{
	if (t->sync_since_ms < 0)
		return 0;
	int64_t left = t->sync_since_ms + TERM_SYNC_TIMEOUT_MS - now_mono_ms;
	return left < 0 ? 0 : left > TERM_SYNC_TIMEOUT_MS ? TERM_SYNC_TIMEOUT_MS : left;
}

bool term_sync_active(const struct term *t, int64_t now_mono_ms)
{
	return term_sync_left_ms(t, now_mono_ms) > 0;
}

/* --- the table ---------------------------------------------------------------------------- */

#define FLAG(member) offsetof(struct term, member)
enum { NO_FLAG = 0 }; /* callbacks stand there */

static const struct mode_row {
	int number;
	size_t flag;                                      /* a bool of struct term */
	void (*set)(struct term *t, int number, bool on); /* NULL: sets the flag */
	bool (*is_set)(const struct term *t, int number); /* NULL: asks the flag */
} rows[] = {
	{ 4, FLAG(modes.insert), NULL, NULL },
	{ 20, FLAG(newline_mode), NULL, NULL },
	{ PRIVATE | 1, FLAG(modes.app_cursor), NULL, NULL },
	{ PRIVATE | 5, FLAG(modes.reverse_screen), NULL, NULL },
	{ PRIVATE | 6, FLAG(modes.origin), set_origin, NULL },
	{ PRIVATE | 7, FLAG(modes.autowrap), NULL, NULL },
	{ PRIVATE | 9, NO_FLAG, set_mouse, is_mouse_set },
	{ PRIVATE | 12, FLAG(cursor_look.blink), NULL, NULL },
	{ PRIVATE | 25, FLAG(cursor_look.visible), NULL, NULL },
	{ PRIVATE | 47, FLAG(modes.alternate_screen), set_alternate, NULL },
	{ PRIVATE | 69, FLAG(margins_mode), set_margins_mode, NULL },
	{ PRIVATE | 1000, NO_FLAG, set_mouse, is_mouse_set },
	{ PRIVATE | 1002, NO_FLAG, set_mouse, is_mouse_set },
	{ PRIVATE | 1003, NO_FLAG, set_mouse, is_mouse_set },
	{ PRIVATE | 1004, FLAG(modes.focus_reports), NULL, NULL },
	{ PRIVATE | 1006, FLAG(modes.mouse_sgr), NULL, NULL },
	{ PRIVATE | 1007, FLAG(modes.alternate_scroll), NULL, NULL },
	{ PRIVATE | 1047, FLAG(modes.alternate_screen), set_alternate, NULL },
	{ PRIVATE | 1048, NO_FLAG, set_saved_cursor, NULL }, /* not a state: not reported */
	{ PRIVATE | 1049, FLAG(modes.alternate_screen), set_alternate, NULL },
	{ PRIVATE | 2004, FLAG(modes.bracketed_paste), NULL, NULL },
	{ PRIVATE | 2026, NO_FLAG, set_sync, is_sync_set },
};

static const struct mode_row *find(bool is_private, int number)
{
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		if (rows[i].number == (is_private ? PRIVATE | number : number))
			return &rows[i];
	return NULL;
}

void term_mode_set(struct term *t, bool is_private, int number, bool on)
{
	const struct mode_row *row = find(is_private, number);
	if (row != NULL && row->set != NULL)
		row->set(t, number, on);
	else if (row != NULL)
		*(bool *)((char *)t + row->flag) = on;
	term_touch(t);
}

int term_mode_report(const struct term *t, bool is_private, int number)
{
	const struct mode_row *row = find(is_private, number);
	if (row == NULL || (row->is_set == NULL && row->flag == NO_FLAG))
		return REPORT_UNKNOWN;
	bool on = row->is_set != NULL ? row->is_set(t, number)
				      : *(const bool *)((const char *)t + row->flag);
	return on ? REPORT_SET : REPORT_RESET;
}
