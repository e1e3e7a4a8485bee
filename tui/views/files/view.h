// SPDX-License-Identifier: Apache-2.0
/* What the files of the file browser share: files.c (drawing, mouse, drag) and commands.c. */
#pragma once

#include "tui/view/view.h"
#include "tui/views/files/delete.h"
#include "tui/views/files/pane.h"
#include "tui/widgets/edit.h"

struct views_files_ask;
#define FILES_HIDDEN_KEY "files.hidden" /* remembered from run to run */

struct views_files {
	struct view view;
	struct views_files_pane panes[2];
	int active;
	struct draw_region at; /* of the last draw */
	bool is_searching;
	struct widget_edit search;
	bool is_sweep_on; /* what the right button does to rows it passes */
	struct views_files_delete *deletion;
	struct files_op *making; /* a folder */
	int making_in;           /* a pane */
	char *made_dir, *made_name;
	struct views_files_ask *asks; /* dialogs that may outlive us */
};

static inline struct views_files_pane *files_active(const struct views_files *files)
{
	return (struct views_files_pane *)(uintptr_t)&files->panes[files->active];
}

static inline struct views_files_pane *files_other(const struct views_files *files)
{
	return (struct views_files_pane *)(uintptr_t)&files->panes[!files->active];
}

/* ---- commands.c */
enum { FILES_COMMANDS = 14 };
extern const struct view_command views_files_commands[FILES_COMMANDS];
void views_files_search_begin(struct views_files *files);
void views_files_enter(struct views_files *files);
bool views_files_can(const struct view *view, const char *command, struct err *err);
void views_files_asks_forget(struct views_files *files); /* their answers go nowhere */
