// SPDX-License-Identifier: Apache-2.0
/* Commands on rows, for every view that has targets(): shell, files, detail, delete, suspend, resume, extend; and
 * create. They ask first where something is lost, run a few at a time, and say what came of it. */
#pragma once

#include "tui/views/view.h"

struct actions; /* those under way */
struct actions *actions_new(struct host *host);
void actions_free(struct actions *actions); /* cancels them silently */
size_t actions_running(const struct actions *actions);

extern const struct command row_commands[]; /* self: the focused view */
extern const size_t n_row_commands;
/* False with *err: why that one would be refused on all rows that it is for. */
bool row_command_can(const struct view *view, const char *command, struct err *err);
