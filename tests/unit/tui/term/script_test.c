// SPDX-License-Identifier: Apache-2.0
/* Scripts (tests/unit/tui/script/play.h) of what a program writes and what its terminal is then: rows that changed, with
 * a letter a cell for its style, the cursor, modes, what was answered.
 *
 *   > feed \e[1mhi
 *   0|hi        a row of the screen; below 0: of the scrollback; "+" at its end: it goes on in the next one
 *    |bb        styles, explained where they first appear; wide cells have a "~" as their second half
 *   touched 0   the rows that say that they have changed */
#include "tests/unit/tui/script/play.h"
#include "tests/unit/tui/term/harness.h"

#include "engine/base/clock.h"

enum { ROWS_MAX = 64, STYLES_MAX = 60, PINS_MAX = 4096 };

struct stage {
	struct rig rig;
	struct str *out;
	char *rows[ROWS_MAX * 2]; /* of the last look, from -ROWS_MAX */
	char *state;
	uint64_t revision;
	struct term_style styles[STYLES_MAX];
	size_t n_styles;
	int bells, titles, clipboards;
	struct {
		struct term_marker anchor;
		int line, col;
	} pins[PINS_MAX];
	size_t n_pins;
	int64_t now_ms;
};

static char style_letter(struct stage *stage, const struct term_style *style)
{
	static const char letters[] =
		".abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
	static const struct term_style plain;
	if (memcmp(style, &plain, sizeof plain) == 0)
		return '.';
	size_t i = 0;
	while (i < stage->n_styles && memcmp(&stage->styles[i], style, sizeof *style) != 0)
		i++;
	assert_true(i + 1 < STYLES_MAX);
	if (i == stage->n_styles) {
		stage->styles[stage->n_styles++] = *style;
		str_addf(stage->out, "%c = fg %x bg %x underline %d %x attributes %x\n",
			letters[i + 1], style->fg, style->bg, style->underline,
			style->underline_color, style->attrs);
	}
	return letters[i + 1];
}

static char *row_text(struct stage *stage, int line)
{
	struct term *t = stage->rig.t;
	struct term_cell cells[TERM_COLS_MAX];
	char styles[TERM_COLS_MAX];
	int n = (int)term_row(t, line, cells, TERM_COLS_MAX), n_styles = 0;
	struct str text;
	str_init(&text, 1 << 16);
	size_t keep = 0;
	for (int i = 0; i < n; i++) {
		char cell[TERM_CELL_TEXT_BYTES];
		size_t bytes = term_cell_text(t, cells[i], cell);
		str_add_bytes(&text, cell, bytes);
		styles[i] = term_cell_width(cells[i]) == 0
				    ? '~'
				    : style_letter(stage, term_style(t, cells[i].style));
		n_styles = styles[i] == '.' ? n_styles : i + 1;
		keep = bytes > 0 && strcmp(cell, " ") != 0 ? text.n : keep;
	}
	unsigned marks = term_line_marks(t, line);
	char *whole = x_asprintf("%3d|%.*s%s", line, (int)keep, text.p,
		term_line_is_wrapped(t, line) ? "+\n" : "\n");
	if (n_styles || marks) {
		char *more = x_asprintf("%s   |%.*s%s", whole, n_styles, styles, "\n");
		free(whole);
		whole = more;
	}
	if (marks) {
		char *more = x_asprintf("%s   marks %x\n", whole, marks);
		free(whole);
		whole = more;
	}
	str_deinit(&text);
	return whole;
}

static void look_at_rows(struct stage *stage)
{
	struct term *t = stage->rig.t;
	int history = term_history_rows(t), rows = term_rows(t);
	for (int line = -ROWS_MAX; line < ROWS_MAX; line++) {
		char **last = &stage->rows[line + ROWS_MAX];
		char *is = line >= -history && line < rows ? row_text(stage, line) : NULL;
		if (is && (!*last || strcmp(*last, is) != 0))
			str_add(stage->out, is);
		free(*last);
		*last = is;
	}
	bool has_any = false;
	for (int row = 0; row < rows; row++)
		if (term_row_changed(t, row, stage->revision)) {
			str_addf(stage->out, "%s %d", has_any ? "" : "touched", row);
			has_any = true;
		}
	str_add(stage->out, has_any ? "\n" : "");
	stage->revision = term_revision(t);
}

static char *state_text(struct stage *stage)
{
	struct term *t = stage->rig.t;
	struct term_cursor cursor;
	struct term_modes m;
	term_get_cursor(t, &cursor);
	term_get_modes(t, &m);
	return x_asprintf("cursor %d,%d shape %d%s%s\n"
			  "modes mouse %d%s%s%s%s%s%s%s%s%s%s%s sync %d\n"
			  "title '%s' in '%s'\n",
		cursor.row, cursor.col, (int)cursor.shape, cursor.blink ? " blinks" : "",
		cursor.visible ? "" : " hidden", (int)m.mouse, m.mouse_sgr ? " sgr" : "",
		m.alternate_screen ? " alternate" : "", m.alternate_scroll ? " wheel" : "",
		m.app_cursor ? " cursor-keys" : "", m.app_keypad ? " keypad" : "",
		m.bracketed_paste ? " paste" : "", m.focus_reports ? " focus" : "",
		m.reverse_screen ? " reverse" : "", m.insert ? " insert" : "",
		m.autowrap ? "" : " no-wrap", m.origin ? " origin" : "",
		(int)term_sync_left_ms(t, stage->now_ms), term_title(t), term_cwd(t));
}

/* The lines of the state that are not as they were. */
static void look_at_state(struct stage *stage)
{
	char *is = state_text(stage);
	const char *last = stage->state ? stage->state : "\n\n\n";
	for (const char *line = is; *line;) {
		size_t n = strcspn(line, "\n") + 1, m = strcspn(last, "\n") + 1;
		if (n != m || strncmp(line, last, n) != 0)
			str_add_bytes(stage->out, line, n);
		line += n;
		last += m;
	}
	free(stage->state);
	stage->state = is;
}

static void add_bytes(struct str *out, const char *name, struct str *bytes)
{
	if (!bytes->n)
		return;
	str_addf(out, "%s \"", name);
	for (size_t i = 0; i < bytes->n; i++) {
		unsigned char c = (unsigned char)bytes->p[i];
		if (c < ' ' || c == 127)
			str_addf(out, "\\x%02x", c);
		else
			str_add_char(out, (char)c);
	}
	str_add(out, "\"\n");
	str_clear(bytes);
}

static void look_at_calls(struct stage *stage)
{
	struct rig *rig = &stage->rig;
	add_bytes(stage->out, "answers", &rig->output);
	if (rig->clipboards != stage->clipboards)
		add_bytes(stage->out, "clipboard", &rig->clipboard);
	if (rig->bells != stage->bells)
		str_addf(stage->out, "rings %d\n", rig->bells - stage->bells);
	if (rig->titles != stage->titles)
		str_addf(stage->out, "tells a title %d\n", rig->titles - stage->titles);
	if (rig->mark)
		str_addf(stage->out, "mark %c %d\n", rig->mark, rig->mark_status);
	rig->mark = 0;
	stage->bells = rig->bells;
	stage->titles = rig->titles;
	stage->clipboards = rig->clipboards;
}

/* ---- steps */

static size_t unescape(char *text)
{
	static const char letters[] = "ernta\\", bytes[] = "\033\r\n\t\a\\";
	size_t n = 0;
	unsigned value;
	for (const char *p = text; *p; p++) {
		const char *at = *p == '\\' && p[1] ? strchr(letters, p[1]) : NULL;
		if (*p == '\\' && p[1] == 'x' && sscanf(p + 2, "%2x", &value) == 1) {
			text[n++] = (char)value;
			p += 3;
			continue;
		}
		text[n++] = at ? bytes[at - letters] : *p;
		p += at != NULL;
	}
	text[n] = 0;
	return n;
}

/* Places of every line and column, to be asked for later. */
static void pin(struct stage *stage)
{
	struct term *t = stage->rig.t;
	stage->n_pins = 0;
	for (int line = -term_history_rows(t); line < term_rows(t); line++)
		for (int col = 0; col < term_cols(t); col++) {
			assert_true(stage->n_pins < PINS_MAX);
			stage->pins[stage->n_pins].anchor = term_marker_at(t, line, col);
			stage->pins[stage->n_pins].line = line;
			stage->pins[stage->n_pins++].col = col;
		}
}

static void tell_pins(struct stage *stage)
{
	int last = -100000;
	for (size_t i = 0; i < stage->n_pins; i++) {
		int line, col;
		bool is_there =
			term_marker_line(stage->rig.t, stage->pins[i].anchor, &line, &col);
		if (stage->pins[i].line != last)
			str_addf(stage->out, "%sfrom %d:", i ? "\n" : "", stage->pins[i].line);
		last = stage->pins[i].line;
		if (is_there)
			str_addf(stage->out, " %d,%d", line, col);
		else
			str_add(stage->out, " gone");
	}
	str_add(stage->out, "\n");
}

static void copy(struct stage *stage, const char *args)
{
	struct term_pos from, to;
	struct str text;
	assert_int_equal(
		4, sscanf(args, "%d %d %d %d", &from.line, &from.col, &to.line, &to.col));
	str_init(&text, 1 << 16);
	term_copy(stage->rig.t, from, to, strstr(args, "block") != NULL, &text);
	add_bytes(stage->out, "copied", &text);
	str_deinit(&text);
}

static void new_term(struct stage *stage, const char *args)
{
	int cols, rows, history;
	assert_int_equal(3, sscanf(args, "%d %d %d", &cols, &rows, &history));
	rig_deinit(&stage->rig);
	rig_init(&stage->rig, cols, rows, (size_t)history);
}

static void mouse(struct stage *stage, const char *args)
{
	int event, button, col, row;
	unsigned mods;
	assert_int_equal(5, sscanf(args, "%d %d %d %d %u", &event, &button, &col, &row, &mods));
	if (!term_mouse(stage->rig.t, (enum term_mouse_event)event, button, col, row, mods))
		str_add(stage->out, "not wanted\n");
}

static void take_step(struct stage *stage, const char *name, char *args)
{
	struct term *t = stage->rig.t;
	int a = 0, b = 0;
	sscanf(args, "%d %d", &a, &b);
	if (strcmp(name, "new") == 0)
		new_term(stage, args);
	else if (strcmp(name, "feed") == 0)
		term_feed(t, args, unescape(args));
	else if (strcmp(name, "split") == 0) { /* byte by byte */
		size_t n = unescape(args);
		for (size_t i = 0; i < n; i++)
			term_feed(t, args + i, 1);
	} else if (strcmp(name, "resize") == 0)
		term_resize(t, a, b);
	else if (strcmp(name, "reset") == 0)
		term_reset(t);
	else if (strcmp(name, "clear") == 0)
		term_history_clear(t);
	else if (strcmp(name, "pin") == 0)
		pin(stage);
	else if (strcmp(name, "pins") == 0)
		tell_pins(stage);
	else if (strcmp(name, "copy") == 0)
		copy(stage, args);
	else if (strcmp(name, "key") == 0)
		term_key_sym(t, (enum term_key)a, (unsigned)b);
	else if (strcmp(name, "char") == 0)
		term_key_char(t, (uint32_t)a, (unsigned)b);
	else if (strcmp(name, "mouse") == 0)
		mouse(stage, args);
	else if (strcmp(name, "focus") == 0)
		term_focus(t, a != 0);
	else if (strcmp(name, "paste") == 0)
		term_paste(t, args, unescape(args));
	else if (strcmp(name, "colors") == 0)
		term_set_colors(t, (uint32_t)a, (uint32_t)b);
	else if (strcmp(name, "pass") == 0)
		clock_set_for_tests((stage->now_ms += a) * 1000000, -1);
	else
		fail_msg("there is no step '%s'", name);
}

static void *begin(struct str *out)
{
	struct stage *stage = x_calloc(1, sizeof *stage);
	stage->out = out;
	stage->now_ms = 1000000;
	clock_set_for_tests(stage->now_ms * 1000000, -1);
	rig_init(&stage->rig, 20, 5, 4096);
	return stage;
}

static void step(void *self, const char *line, bool is_shown)
{
	struct stage *stage = self;
	char *words = x_strdup(line), *args = strchr(words, ' ');
	args = args ? args : words + strlen(words);
	if (*args)
		*args++ = 0;
	take_step(stage, words, args);
	free(words);
	if (!is_shown)
		return;
	look_at_rows(stage);
	look_at_state(stage);
	look_at_calls(stage);
}

static void end(void *self)
{
	struct stage *stage = self;
	for (size_t i = 0; i < sizeof stage->rows / sizeof stage->rows[0]; i++)
		free(stage->rows[i]);
	free(stage->state);
	rig_deinit(&stage->rig);
	clock_set_for_tests(-1, -1);
	free(stage);
}

int main(int argc, char **argv)
{
	static const struct play is = { begin, step, end, NULL };
	return play_main(&is, argc, argv);
}
