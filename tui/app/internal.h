// SPDX-License-Identifier: Apache-2.0
/* What the files of tui/app share. Nobody else includes this. */
#pragma once

#include "tui/app/app.h"
#include "tui/client/client.h"
#include "tui/workspace/workspace.h"

struct app {
	struct workspace *workspace;
	struct client *client; /* the only one; without a terminal while detached */
	struct app_opts opts;
};

/* app_commands.c: the words that mean the same in every view. self: the place of a client. */
extern const struct view_command app_commands[];
extern const size_t app_n_commands;

/* filters.c */
bool app_run_filter(void *self, const char *args, struct err *err);
void app_complete_filter(void *self, const char *args,
	void (*add)(void *add_arg, const char *candidate), void *add_arg);
