// SPDX-License-Identifier: Apache-2.0
/* What the files of the file browser share: files.c (drawing, mouse, drag) and files_commands.c. */
#pragma once

#include "tui/views/edit.h"
#include "tui/views/files_delete.h"
#include "tui/views/files_pane.h"
#include "tui/views/view.h"

struct files_ask;
struct files {
	struct view view;
	struct files_pane panes[2];
	int active;
	struct region at; /* of the last draw */
	bool is_searching;
	struct edit search;
	bool is_sweep_on; /* what the right button does to rows it passes */
	struct files_delete *deletion;
	struct runtime_op *op;  /* making a folder */
	struct files_ask *asks; /* dialogs that may outlive us */
};

static inline struct files_pane *files_active(const struct files *files)
{
	return (struct files_pane *)(uintptr_t)&files->panes[files->active];
}

static inline struct files_pane *files_other(const struct files *files)
{
	return (struct files_pane *)(uintptr_t)&files->panes[!files->active];
}

/* ---- files_commands.c */
enum { FILES_COMMANDS = 14 };
extern const struct command files_commands[FILES_COMMANDS];
void files_search_begin(struct files *files);
void files_enter(struct files *files);
bool files_can(const struct view *view, const char *command, struct err *err);
void files_asks_forget(struct files *files); /* their answers go nowhere */
