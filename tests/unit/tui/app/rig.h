// SPDX-License-Identifier: Apache-2.0
/* The application without a terminal, on an engine in direct mode towards a port where nobody listens: keys and clicks
 * are given to it, frames are composed on demand and read as text. */
#pragma once

#include "tests/unit/unit.h"

#include "engine/base/clock.h"
#include "tui/app/internal.h"
#include "tui/client/internal.h"
#include "tui/session/internal.h"
#include "tui/views/shell/shell.h"
#include "tui/workspace/internal.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct rig {
	struct net_loop *loop;
	struct engine *engine;
	struct app *app;
};

static inline struct rig rig_new(int cols, int rows)
{
	struct err err = { 0 };
	const struct engine_opts engine_opts = { .connect.rest_url = "http://127.0.0.1:1",
		.connect.grpc_address = "127.0.0.1:1" };
	struct rig rig = { 0 };
	setlocale(LC_CTYPE, "C.UTF-8");
	rig.loop = net_loop_new(&err);
	assert_non_null(rig.loop);
	rig.engine = engine_new(rig.loop, &engine_opts, &err);
	assert_non_null(rig.engine);
	const struct app_opts opts = { .engine = rig.engine, .in_fd = -1, .out_fd = -1 };
	rig.app = app_new(rig.loop, &opts, &err);
	assert_non_null(rig.app);
	draw_surface_resize(rig.app->client->surface, cols, rows);
	client_compose(rig.app->client);
	return rig;
}

static inline void rig_free(struct rig *rig)
{
	net_loop_run_once(rig->loop, 0); /* what is deferred knows the application */
	app_free(rig->app);
	engine_free(rig->engine);
	net_loop_free(rig->loop);
}

/* The frame as text, until the next call. */
static inline const char *rig_draw(struct rig *rig)
{
	static char text[64 << 10];
	struct str out;
	str_init(&out, sizeof text);
	workspace_close_pending(rig->app->workspace);
	client_compose(rig->app->client);
	draw_surface_text(rig->app->client->surface, &out);
	snprintf(text, sizeof text, "%s", out.p);
	str_deinit(&out);
	return text;
}

static inline void rig_key(struct rig *rig, const char *name)
{
	struct draw_key key;
	assert_true(draw_key_parse(name, &key));
	client_dispatch_key(rig->app->client, &key);
}

static inline void rig_type(struct rig *rig, const char *letters)
{
	for (; *letters; letters++) {
		struct draw_key key = { .codepoint = (unsigned char)*letters };
		client_dispatch_key(rig->app->client, &key);
	}
}

static inline void rig_click(struct rig *rig, int button, int row, int col)
{
	struct draw_mouse mouse = { MOUSE_PRESS, button, col, row, 0, 1 };
	client_dispatch_mouse(rig->app->client, &mouse);
	mouse.action = MOUSE_RELEASE;
	client_dispatch_mouse(rig->app->client, &mouse);
}

/* Where a text stands on the last frame. */
static inline bool rig_find(const char *frame, const char *text, int *row, int *col)
{
	const char *at = strstr(frame, text), *line = frame;
	*row = 0;
	if (!at)
		return false;
	for (const char *end; (end = strchr(line, '\n')) && end < at; line = end + 1)
		++*row;
	char *before = x_strndup(line, (size_t)(at - line));
	*col = draw_text_cols(before);
	free(before);
	return true;
}

/* As if the pause after its appearance were over. */
static inline void rig_wait_guard(struct rig *rig)
{
	rig->app->client->surprise.since_ms -= SURPRISE_GUARD_MS;
}

static inline struct views_shell *rig_shell(struct rig *rig)
{
	struct err err = { 0 };
	assert_true(app_run(rig->app, "shell", &err));
	assert_ptr_equal(workspace_focused(rig->app->workspace)->class, &view_shell);
	return shell_of(workspace_focused(rig->app->workspace));
}
