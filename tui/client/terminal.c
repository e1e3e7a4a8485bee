// SPDX-License-Identifier: Apache-2.0
// The terminal of a client: taken, measured, given back, and another one taken.
#include "tui/client/internal.h"

#include "engine/base/clock.h"
#include "engine/base/settings.h"
#include "engine/base/state_store.h"
#include "tui/draw/background.h"

enum { LARGE_CELLS = 200000 };

static void on_bytes(void *arg, struct slice bytes)
{
	struct client *client = arg;
	client->last_input_ms = clock_mono_ms();
	draw_input_feed(client->input, bytes);
}

static void on_sent(void *arg)
{
	client_frame_sent(arg);
}

static void gone_deferred(void *arg)
{
	struct client *client = arg;
	client_detach(client);
	if (client->opts.on_gone)
		client->opts.on_gone(client->opts.arg);
}

static void on_gone(void *arg)
{
	struct client *client = arg;
	net_loop_defer(client->loop, gone_deferred, client);
}

void client_terminal_theme(struct client *client)
{
	const char *name = client->theme_name ? client->theme_name
			   : client->is_light ? "light"
					      : "default";
	if (!draw_theme_load(&client->theme, name, NULL))
		draw_theme_builtin(&client->theme);
	draw_theme_choose(
		&client->theme, client->screen ? draw_screen_colors(client->screen) : 1 << 24);
}

/* What the terminal says of itself is only ever taken as an answer to our question, and only for a while. */
static void on_answer(void *arg, struct slice text)
{
	struct client *client = arg;
	uint32_t rgb;
	if (!client->asked_ms || clock_mono_ms() - client->asked_ms > BACKGROUND_WAIT_MS ||
		!draw_background_parse(text, &rgb))
		return;
	client->asked_ms = 0;
	client->is_light = draw_background_is_light(rgb);
	state_store_set(client_host(client)->remembered, "background",
		client->is_light ? "light" : "dark");
	client_terminal_theme(client);
	client_dirty(client);
}

static void ask_background(struct client *client)
{
	client->asked_ms = 0;
	if (client->theme_name || !draw_screen_colors(client->screen) ||
		!draw_screen_answers(client->screen))
		return;
	client->asked_ms = clock_mono_ms();
	draw_terminal_send(client->tty, slice_of(DRAW_BACKGROUND_QUESTION));
}

static void send_mouse(struct client *client, bool on)
{
	draw_terminal_send(
		client->tty, slice_of(draw_screen_mouse_bytes(client->screen, on, false)));
	client->is_every_motion = false;
}

static bool is_ascii(const char *term)
{
	return setting_is(SETTING_GLYPHS, "ascii") ||
	       (setting_is(SETTING_GLYPHS, "auto") && draw_screen_knows_ascii_alone(term));
}

bool client_attach(struct client *client, int in_fd, int out_fd, const char *term,
	const char *colorterm, struct err *err)
{
	client_detach(client);
	const struct draw_screen_opts screen = { .term = term,
		.colorterm = colorterm,
		.no_color = client->opts.no_color,
		.is_ascii = is_ascii(term),
		.cols = 80,
		.rows = 24 };
	client->screen = draw_screen_new(&screen, err);
	if (!client->screen)
		return false;
	const struct draw_terminal_opts tty = { .in_fd = in_fd,
		.out_fd = out_fd,
		.end_bytes = draw_screen_end_bytes(client->screen),
		.on_bytes = on_bytes,
		.on_sent = on_sent,
		.on_gone = on_gone,
		.arg = client };
	client->tty = draw_terminal_open(client->loop, &tty, err);
	if (!client->tty) {
		draw_screen_free(client->screen);
		client->screen = NULL;
		return false;
	}
	const struct draw_input_callbacks callbacks = { .on_key = client_dispatch_key,
		.on_mouse = client_dispatch_mouse,
		.on_paste = client_dispatch_paste,
		.on_focus = client_dispatch_focus,
		.on_answer = on_answer,
		.arg = client };
	client->input = draw_input_new(client->loop, term, &callbacks);
	client_terminal_theme(client);
	client->is_focused = true;
	draw_terminal_send(client->tty, slice_of(draw_screen_begin_bytes(client->screen)));
	ask_background(client);
	if (client->is_mouse_on)
		send_mouse(client, true);
	client->is_every_motion = false;
	workspace_attached(&client->place, true);
	client_resized(client);
	return true;
}

void client_detach(struct client *client)
{
	if (!client->tty)
		return;
	client_drag_end(client, false);
	client->mouse_view = NULL;
	client->is_border_held = client->has_press = false;
	client_surprise_hide(client);
	workspace_attached(&client->place, false);
	client_frame_stop(client);
	draw_terminal_close(client->tty);
	draw_input_free(client->input);
	draw_screen_free(client->screen);
	client->tty = NULL;
	client->input = NULL;
	client->screen = NULL;
}

bool client_is_attached(const struct client *client)
{
	return client->tty != NULL;
}

static size_t n_cells(const struct client *client)
{
	return (size_t)draw_surface_cols(client->surface) *
	       (size_t)draw_surface_rows(client->surface);
}

void client_resized(struct client *client)
{
	int cols = 80, rows = 24;
	if (!client->tty)
		return;
	draw_terminal_size(client->tty, &cols, &rows);
	size_t old_cells = n_cells(client);
	if (cols != draw_surface_cols(client->surface) ||
		rows != draw_surface_rows(client->surface)) {
		draw_surface_resize(client->surface, cols, rows);
		client_drag_end(client, false);
	}
	draw_screen_resize(client->screen, draw_surface_cols(client->surface),
		draw_surface_rows(client->surface));
	/* sizes of panes follow the terminal at once, not only when a frame is sent: programs learn it early */
	client_compose(client);
	client_dirty(client);
	if (old_cells >= LARGE_CELLS && n_cells(client) < old_cells / 2)
		mem_trim(); /* a size that no screen has was tried: hundreds of MiB */
}

void client_terminal_take_back(struct client *client)
{
	if (!client->tty)
		return;
	draw_terminal_enter(client->tty, draw_screen_begin_bytes(client->screen));
	if (client->is_mouse_on)
		send_mouse(client, true);
	client->is_every_motion = false;
	draw_screen_repaint(client->screen);
	client_resized(client);
}

void client_repaint(struct client *client)
{
	if (client->screen)
		draw_screen_repaint(client->screen);
	client_dirty(client);
}

void client_set_mouse(struct client *client, bool on)
{
	client->is_mouse_on = on;
	client->is_every_motion = false;
	if (client->tty)
		send_mouse(client, on);
}

bool client_has_mouse(const struct client *client)
{
	return client->is_mouse_on;
}

void client_terminal_copy(struct client *client, struct slice text)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	enum { CLIP_BYTES_MAX = 75000 }; /* what terminals take in one OSC 52 */
	if (!client->tty)
		return;
	if (text.n > CLIP_BYTES_MAX) {
		view_host_notef(client_host(client), NOTE_WARNING,
			"%zu bytes are more than a terminal's clipboard takes", text.n);
		return;
	}
	struct str out;
	str_init(&out, 2 * CLIP_BYTES_MAX);
	str_add(&out, "\033]52;c;");
	for (size_t i = 0; i < text.n; i += 3) {
		unsigned a = (unsigned char)text.p[i];
		unsigned b = i + 1 < text.n ? (unsigned char)text.p[i + 1] : 0;
		unsigned c = i + 2 < text.n ? (unsigned char)text.p[i + 2] : 0;
		str_add_char(&out, digits[a >> 2]);
		str_add_char(&out, digits[(a & 3) << 4 | b >> 4]);
		str_add_char(&out, i + 1 < text.n ? digits[(b & 15) << 2 | c >> 6] : '=');
		str_add_char(&out, i + 2 < text.n ? digits[c & 63] : '=');
	}
	str_add(&out, "\a");
	draw_terminal_send(client->tty, (struct slice){ out.p, out.n });
	str_deinit(&out);
}
