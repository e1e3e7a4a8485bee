// SPDX-License-Identifier: Apache-2.0
/* An application of nothing: what views ask of it is written down. The engine is real, in direct mode, towards a port
 * where nobody listens. */
#pragma once

#include "tests/unit/unit.h"

#include "engine/base/clock.h"
#include "engine/base/err.h"
#include "engine/base/mem.h"
#include "engine/engine.h"
#include "tui/view/view.h"
#include "tui/views/transfers/transfers.h"
#include "tui/views/views.h"
#include "tui/widgets/dialog.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FAKE_DIALOGS_MAX = 8, FAKE_WAIT_MS = 10000 };

struct fake {
	struct view_host host; /* first */
	struct draw_theme theme;
	struct widget_dialog *dialogs[FAKE_DIALOGS_MAX];
	size_t n_dialogs, n_dirty;
	char note[1024], failure[1024], failure_code[64], command[256];
};

static inline struct fake *fake_of(const struct view_host *host)
{
	return (struct fake *)(uintptr_t)host;
}

static void fake_dirty(struct view_host *host)
{
	fake_of(host)->n_dirty++;
}

static void fake_run(struct view_host *host, const char *command)
{
	snprintf(fake_of(host)->command, sizeof fake_of(host)->command, "%s", command);
}

static void fake_push_dialog(struct view_host *host, struct widget_dialog *dialog)
{
	struct fake *fake = fake_of(host);
	assert_true(fake->n_dialogs < FAKE_DIALOGS_MAX);
	fake->dialogs[fake->n_dialogs++] = dialog;
}

static void fake_note(struct view_host *host, enum view_note_level level, const char *text)
{
	(void)level;
	snprintf(fake_of(host)->note, sizeof fake_of(host)->note, "%s", text);
}

static void fake_fail(struct view_host *host, const char *what, const struct err *err)
{
	struct fake *fake = fake_of(host);
	snprintf(fake->failure, sizeof fake->failure, "%s", what);
	snprintf(fake->failure_code, sizeof fake->failure_code, "%s", err_name(err));
}

static const char *fake_namespace(const struct view_host *host)
{
	(void)host;
	return "";
}

static const struct view_host_ops fake_ops = {
	.dirty = fake_dirty,
	.run = fake_run,
	.push_dialog = fake_push_dialog,
	.note = fake_note,
	.fail = fake_fail,
	.namespace_ = fake_namespace,
};

static inline struct fake *fake_new(bool read_only)
{
	struct fake *fake = x_calloc(1, sizeof *fake);
	struct err err = { 0 };
	struct engine_opts opts = {
		.connect.rest_url = "http://127.0.0.1:1",
		.connect.grpc_address = "127.0.0.1:1",
		.read_only = read_only,
	};
	setlocale(LC_CTYPE, "C.UTF-8");
	fake->host.ops = &fake_ops;
	fake->host.loop = net_loop_new(&err);
	assert_non_null(fake->host.loop);
	fake->host.engine = engine_new(fake->host.loop, &opts, &err);
	assert_non_null(fake->host.engine);
	draw_theme_builtin(&fake->theme);
	fake->host.theme = &fake->theme;
	fake->host.local_dir = "/";
	views_transfers_open(&fake->host);
	return fake;
}

static inline void fake_free(struct fake *fake)
{
	while (fake->n_dialogs)
		widget_dialog_free(fake->dialogs[--fake->n_dialogs]);
	transfer_queue_free(fake->host.copies);
	engine_free(fake->host.engine);
	net_loop_free(fake->host.loop);
	free(fake);
}

/* Presses a key in the dialog on top; an answer closes it. */
static inline void fake_press(struct fake *fake, const char *name)
{
	struct draw_key key;
	assert_true(fake->n_dialogs > 0);
	assert_true(draw_key_parse(name, &key));
	struct widget_dialog *dialog = fake->dialogs[fake->n_dialogs - 1];
	if (!widget_dialog_key(dialog, &key))
		return;
	fake->n_dialogs--;
	widget_dialog_answer(dialog);
	widget_dialog_free(dialog);
}

/* Turns the loop until it is so; fails the test when it never is. */
#define FAKE_UNTIL(fake, condition)                                                            \
	do {                                                                                   \
		int64_t end_ = clock_mono_ms() + FAKE_WAIT_MS;                                 \
		while (!(condition) && clock_mono_ms() < end_)                                 \
			net_loop_run_once((fake)->host.loop, 10);                              \
		assert_true(condition);                                                        \
	} while (0)

/* What a view (or a dialog, or anything) looks like, as text; free(). */
static inline char *fake_text(struct draw_surface *surface)
{
	struct str text;
	str_init(&text, 1 << 20);
	draw_surface_text(surface, &text);
	char *taken = str_take(&text);
	str_deinit(&text);
	return taken;
}

static inline char *fake_draw(struct view *view, int cols, int rows)
{
	struct draw_surface *surface = draw_surface_new(cols, rows);
	view->class->draw(view, draw_region_whole(surface), true);
	char *text = fake_text(surface);
	draw_surface_free(surface);
	return text;
}

static inline char *fake_draw_dialog(struct fake *fake, int cols, int rows)
{
	struct draw_surface *surface = draw_surface_new(cols, rows);
	assert_true(fake->n_dialogs > 0);
	widget_dialog_draw(
		fake->dialogs[fake->n_dialogs - 1], draw_region_whole(surface), &fake->theme);
	char *text = fake_text(surface);
	draw_surface_free(surface);
	return text;
}

static inline bool fake_command(
	struct view *view, const char *name, const char *args, struct err *err)
{
	for (size_t i = 0; i < view->class->n_commands; i++)
		if (strcmp(view->class->commands[i].name, name) == 0)
			return view->class->commands[i].run(view, args, err);
	fail_msg("there is no command %s", name);
	return false;
}
