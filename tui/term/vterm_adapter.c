// SPDX-License-Identifier: Apache-2.0
/* The only file that includes vterm.h or prints a sequence into libvterm (tests/lint/lint.py sees to it). The contract
 * is in the header. */
#include "tui/term/vterm_adapter.h"

#include "engine/base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <vterm.h>

struct keys {
	char bytes[16];
	size_t n;
};

struct term_vterm {
	VTerm *vt;
	VTermState *state;
	struct term_vterm_callbacks callbacks;
	void *arg;
	int cols;
	int rows;
	/* what libvterm was told last; it cannot be asked for these in a cheap way */
	struct term_grid_rect told_region;
	bool told_app_cursor;
	bool told_app_keypad;

	/* While it is set nothing is passed on: a reset erases, and term_vterm_check() asks. What came is counted. */
	bool muted;
	int muted_changes;
	struct term_grid_rect muted_scroll; /* the last */
	int glyphs;
	VTermPos glyph_at;
	struct keys keys;
};

/* --- what libvterm says ------------------------------------------------------------------- */

static struct term_grid_rect rect_of(VTermRect r)
{
	return (struct term_grid_rect){ r.start_row, r.end_row, r.start_col, r.end_col };
}

static int on_scrollrect(VTermRect rect, int downward, int rightward, void *user)
{
	struct term_vterm *v = user;
	if (!v->muted) {
		v->callbacks.on_scroll(rect_of(rect), downward, rightward, v->arg);
		return 1;
	}
	v->muted_changes++;
	v->muted_scroll = rect_of(rect);
	return 1;
}

static int on_erase(VTermRect rect, int selective, void *user)
{
	struct term_vterm *v = user;
	if (v->muted)
		v->muted_changes++;
	else
		v->callbacks.on_erase(rect_of(rect), selective != 0, v->arg);
	return 1;
}

static int on_putglyph(VTermGlyphInfo *info, VTermPos pos, void *user)
{
	struct term_vterm *v = user;
	(void)info;
	v->glyphs++;
	v->glyph_at = pos;
	return 1;
}

static int on_setlineinfo(
	int row, const VTermLineInfo *info, const VTermLineInfo *old, void *user)
{
	(void)row;
	(void)info;
	(void)old;
	(void)user;
	return 0; /* no double-width or double-height lines */
}

static const VTermStateCallbacks state_callbacks = {
	.putglyph = on_putglyph,
	.scrollrect = on_scrollrect,
	.erase = on_erase,
	.setlineinfo = on_setlineinfo,
};

/* Only encoded keys come out here: no query gets in. */
static void on_output(const char *bytes, size_t n, void *user)
{
	struct term_vterm *v = user;
	if (!v->muted) {
		v->callbacks.on_output(bytes, n, v->arg);
	} else if (n <= sizeof v->keys.bytes - v->keys.n) {
		memcpy(v->keys.bytes + v->keys.n, bytes, n);
		v->keys.n += n;
	}
}

/* --- what libvterm is told ---------------------------------------------------------------- */

static void print(struct term_vterm *v, const char *text)
{
	vterm_input_write(v->vt, text, strlen(text));
}

static void tell_cursor(struct term_vterm *v, int row, int col)
{
	VTermPos pos;
	char text[32];
	vterm_state_get_cursorpos(v->state, &pos);
	if (pos.row == row && pos.col == col)
		return;
	snprintf(text, sizeof text, "\x1b[%d;%dH", row + 1, col + 1);
	print(v, text);
}

static bool is_same_region(struct term_grid_rect a, struct term_grid_rect b)
{
	return a.top == b.top && a.bottom == b.bottom && a.left == b.left && a.right == b.right;
}

/* Moves libvterm's cursor, so it comes before tell_cursor(). */
static void tell_region(struct term_vterm *v, struct term_grid_rect region)
{
	char text[64];
	if (is_same_region(region, v->told_region))
		return;
	snprintf(text, sizeof text, "\x1b[%d;%dr\x1b[%d;%ds", region.top + 1, region.bottom,
		region.left + 1, region.right);
	print(v, text);
	v->told_region = region;
}

static void tell_keys(struct term_vterm *v, bool app_cursor, bool app_keypad)
{
	if (app_cursor != v->told_app_cursor)
		print(v, app_cursor ? "\x1b[?1h" : "\x1b[?1l");
	if (app_keypad != v->told_app_keypad)
		print(v, app_keypad ? "\x1b=" : "\x1b>");
	v->told_app_cursor = app_cursor;
	v->told_app_keypad = app_keypad;
}

static struct term_grid_rect whole(const struct term_vterm *v)
{
	return (struct term_grid_rect){ 0, v->rows, 0, v->cols };
}

/* --- life --------------------------------------------------------------------------------- */

static void reset(struct term_vterm *v)
{
	v->muted = true;
	vterm_state_reset(v->state, 1);
	/* side margins always count for it: without them ours are the whole width */
	print(v, "\x1b[?69h");
	v->muted = false;
	v->told_region = whole(v);
	v->told_app_cursor = false;
	v->told_app_keypad = false;
}

struct term_vterm *term_vterm_new(
	int cols, int rows, const struct term_vterm_callbacks *callbacks, void *arg)
{
	struct term_vterm *v = x_calloc(1, sizeof *v);
	v->callbacks = *callbacks;
	v->arg = arg;
	v->cols = cols;
	v->rows = rows;
	/* Made as high as a screen can get, and then shrunk: 0.3.3 never enlarges what it keeps for each line when the
	 * state layer stands alone (on_resize() compares the new height with itself), and would write behind it. */
	v->vt = vterm_new(TERM_ROWS_MAX, cols);
	vterm_set_utf8(v->vt, 1);
	vterm_output_set_callback(v->vt, on_output, v);
	v->state = vterm_obtain_state(v->vt);
	vterm_state_set_callbacks(v->state, &state_callbacks, v);
	reset(v);
	vterm_set_size(v->vt, rows, cols);
	return v;
}

void term_vterm_free(struct term_vterm *v)
{
	if (v == NULL)
		return;
	vterm_free(v->vt);
	free(v);
}

void term_vterm_resize(struct term_vterm *v, int cols, int rows)
{
	/* libvterm would keep a region that reaches outside; a whole one it remembers as "up to the end" */
	tell_region(v, whole(v));
	vterm_set_size(v->vt, rows, cols);
	v->cols = cols;
	v->rows = rows;
	v->told_region = whole(v);
}

void term_vterm_reset(struct term_vterm *v)
{
	reset(v);
}

/* --- operations --------------------------------------------------------------------------- */

static const struct {
	const char *begin;
	const char *end;   /* after the count; NULL: there is none */
	bool is_in_region; /* looks at region and margins */
} ops[] = {
	[TERM_VTERM_TAB_FORWARD] = { "\x1b[", "I", false },
	[TERM_VTERM_TAB_BACK] = { "\x1b[", "Z", false },
	[TERM_VTERM_TAB_SET] = { "\x1bH", NULL, false },
	[TERM_VTERM_TAB_CLEAR] = { "\x1b[", "g", false },
	[TERM_VTERM_INDEX] = { "\x1b"
			       "D",
		NULL, true },
	[TERM_VTERM_NEXT_LINE] = { "\x1b"
				   "E",
		NULL, true },
	[TERM_VTERM_REVERSE_INDEX] = { "\x1bM", NULL, true },
	[TERM_VTERM_INSERT_LINES] = { "\x1b[", "L", true },
	[TERM_VTERM_DELETE_LINES] = { "\x1b[", "M", true },
	[TERM_VTERM_SCROLL_UP] = { "\x1b[", "S", true },
	[TERM_VTERM_SCROLL_DOWN] = { "\x1b[", "T", true },
	[TERM_VTERM_INSERT_COLUMNS] = { "\x1b[", "'}", true },
	[TERM_VTERM_DELETE_COLUMNS] = { "\x1b[", "'~", true },
	[TERM_VTERM_ERASE_DISPLAY] = { "\x1b[", "J", false },
	[TERM_VTERM_ERASE_DISPLAY_SELECTIVE] = { "\x1b[?", "J", false },
	[TERM_VTERM_ERASE_LINE] = { "\x1b[", "K", false },
	[TERM_VTERM_ERASE_LINE_SELECTIVE] = { "\x1b[?", "K", false },
};
_Static_assert(sizeof ops / sizeof ops[0] == TERM_VTERM_OP_COUNT, "one row each");

static int inside(int value, int end)
{
	return value < 0 ? 0 : value >= end ? end - 1 : value;
}

void term_vterm_run(
	struct term_vterm *v, struct term_place *place, enum term_vterm_op op, int count)
{
	char text[32];
	VTermPos pos;
	if (ops[op].is_in_region)
		tell_region(v, place->region);
	tell_cursor(v, place->row, place->col);
	if (ops[op].end != NULL) {
		snprintf(text, sizeof text, "%s%d%s", ops[op].begin, count, ops[op].end);
		print(v, text);
	} else {
		print(v, ops[op].begin);
	}
	vterm_state_get_cursorpos(v->state, &pos);
	place->row = inside(pos.row, v->rows);
	place->col = inside(pos.col, v->cols);
}

/* --- keys --------------------------------------------------------------------------------- */

static VTermKey vterm_key_of(enum term_key key)
{
	static const VTermKey named[] = {
		[TERM_KEY_UP] = VTERM_KEY_UP,
		[TERM_KEY_DOWN] = VTERM_KEY_DOWN,
		[TERM_KEY_LEFT] = VTERM_KEY_LEFT,
		[TERM_KEY_RIGHT] = VTERM_KEY_RIGHT,
		[TERM_KEY_INSERT] = VTERM_KEY_INS,
		[TERM_KEY_DELETE] = VTERM_KEY_DEL,
		[TERM_KEY_HOME] = VTERM_KEY_HOME,
		[TERM_KEY_END] = VTERM_KEY_END,
		[TERM_KEY_PAGE_UP] = VTERM_KEY_PAGEUP,
		[TERM_KEY_PAGE_DOWN] = VTERM_KEY_PAGEDOWN,
		[TERM_KEY_KP_MULTIPLY] = VTERM_KEY_KP_MULT,
		[TERM_KEY_KP_PLUS] = VTERM_KEY_KP_PLUS,
		[TERM_KEY_KP_COMMA] = VTERM_KEY_KP_COMMA,
		[TERM_KEY_KP_MINUS] = VTERM_KEY_KP_MINUS,
		[TERM_KEY_KP_PERIOD] = VTERM_KEY_KP_PERIOD,
		[TERM_KEY_KP_DIVIDE] = VTERM_KEY_KP_DIVIDE,
		[TERM_KEY_KP_ENTER] = VTERM_KEY_KP_ENTER,
		[TERM_KEY_KP_EQUAL] = VTERM_KEY_KP_EQUAL,
	};
	if (key >= TERM_KEY_KP_0 && key <= TERM_KEY_KP_9)
		return (VTermKey)(VTERM_KEY_KP_0 + (int)(key - TERM_KEY_KP_0));
	if (key >= TERM_KEY_F1 && key <= TERM_KEY_F24)
		return (VTermKey)VTERM_KEY_FUNCTION(1 + (int)(key - TERM_KEY_F1));
	return (size_t)key < sizeof named / sizeof named[0] ? named[key] : VTERM_KEY_NONE;
}

_Static_assert((int)TERM_MOD_SHIFT == (int)VTERM_MOD_SHIFT &&
		       (int)TERM_MOD_ALT == (int)VTERM_MOD_ALT &&
		       (int)TERM_MOD_CTRL == (int)VTERM_MOD_CTRL,
	"the modifier bits are the same");

void term_vterm_key(struct term_vterm *v, enum term_key key, unsigned mods, bool app_cursor,
	bool app_keypad)
{
	tell_keys(v, app_cursor, app_keypad);
	vterm_keyboard_key(v->vt, vterm_key_of(key), (VTermModifier)mods);
}

/* --- comparing ---------------------------------------------------------------------------- */

/* The places where libvterm's cursor can go. */
static struct term_grid_rect reach(struct term_vterm *v)
{
	VTermPos first;
	VTermPos last;
	print(v, "\x1b[1;1H");
	vterm_state_get_cursorpos(v->state, &first);
	print(v, "\x1b[9999;9999H");
	vterm_state_get_cursorpos(v->state, &last);
	return (struct term_grid_rect){ first.row, last.row + 1, first.col, last.col + 1 };
}

/* What it would scroll. */
static struct term_grid_rect region_of(struct term_vterm *v)
{
	v->muted_scroll = (struct term_grid_rect){ 0 };
	print(v, "\x1b[S");
	return v->muted_scroll;
}

static bool key_is(struct term_vterm *v, VTermKey key, const char *expected)
{
	v->keys.n = 0;
	vterm_keyboard_key(v->vt, key, VTERM_MOD_NONE);
	return v->keys.n == strlen(expected) && memcmp(v->keys.bytes, expected, v->keys.n) == 0;
}

static bool is_plain_pen(const struct term_vterm *v)
{
	static const VTermAttr flags[] = { VTERM_ATTR_BOLD, VTERM_ATTR_ITALIC, VTERM_ATTR_BLINK,
		VTERM_ATTR_REVERSE, VTERM_ATTR_STRIKE };
	VTermValue value;
	for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++)
		if (!vterm_state_get_penattr(v->state, flags[i], &value) || value.boolean)
			return false;
	return vterm_state_get_penattr(v->state, VTERM_ATTR_UNDERLINE, &value) &&
	       value.number == 0 &&
	       vterm_state_get_penattr(v->state, VTERM_ATTR_FOREGROUND, &value) &&
	       VTERM_COLOR_IS_DEFAULT_FG(&value.color) &&
	       vterm_state_get_penattr(v->state, VTERM_ATTR_BACKGROUND, &value) &&
	       VTERM_COLOR_IS_DEFAULT_BG(&value.color);
}

/* A character where the cursor stands: after a pending wrap it would come to the next line, in insert mode
 * others would move. */
static bool takes_text_at(struct term_vterm *v, VTermPos at)
{
	v->muted_changes = 0;
	print(v, "x");
	v->glyphs--;
	return v->muted_changes == 0 && v->glyph_at.row == at.row && v->glyph_at.col == at.col;
}

/* Origin mode keeps the cursor within a region, and margins need their mode: neither is seen while the region is the
 * whole screen. On a screen of one row and column there is nothing to see. */
static const char *find_hidden_mode(struct term_vterm *v)
{
	struct term_grid_rect smaller = { v->rows > 1, v->rows, v->cols > 1, v->cols };
	tell_region(v, smaller);
	if (!is_same_region(region_of(v), smaller))
		return "region and margins: libvterm does not take them";
	if (!is_same_region(reach(v), whole(v)))
		return "origin mode: libvterm has one";
	return NULL;
}

static const char *find_difference(
	struct term_vterm *v, const struct term_place *place, VTermPos cursor)
{
	VTermPos pos;
	if (v->glyphs != 0)
		return "text: libvterm was given some";
	if (!takes_text_at(v, cursor))
		return "pending wrap or insert mode: libvterm has one";
	if (!is_plain_pen(v))
		return "pen: libvterm has one";
	if (!is_same_region(reach(v), whole(v)))
		return "size or origin mode: libvterm's cursor goes elsewhere than to the corners";
	if (!is_same_region(region_of(v), v->told_region))
		return "region and margins: libvterm's are not those it was told";
	const char *hidden = find_hidden_mode(v);
	if (hidden != NULL)
		return hidden;
	if (!key_is(v, VTERM_KEY_UP, v->told_app_cursor ? "\x1bOA" : "\x1b[A"))
		return "DECCKM: libvterm's is not what it was told";
	if (!key_is(v, (VTermKey)VTERM_KEY_KP_0, v->told_app_keypad ? "\x1bOp" : "0"))
		return "DECKPAM: libvterm's is not what it was told";
	/* what the next operation would see */
	tell_region(v, place->region);
	if (!is_same_region(region_of(v), place->region))
		return "region and margins: libvterm does not take ours";
	tell_cursor(v, place->row, place->col);
	vterm_state_get_cursorpos(v->state, &pos);
	if (pos.row != place->row || pos.col != place->col)
		return "cursor: libvterm does not take ours";
	return NULL;
}

const char *term_vterm_check(struct term_vterm *v, const struct term_place *place)
{
	struct term_grid_rect told = v->told_region;
	VTermPos cursor;
	vterm_state_get_cursorpos(v->state, &cursor);
	v->muted = true;
	const char *difference = find_difference(v, place, cursor);
	/* as before, so that looking hides no missing call */
	tell_region(v, told);
	tell_cursor(v, cursor.row, cursor.col);
	v->muted = false;
	return difference;
}
