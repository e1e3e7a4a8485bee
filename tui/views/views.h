// SPDX-License-Identifier: Apache-2.0
/* The views, one row each: commands, the application and the help page find them here by the name of their class, so
 * that a view is a folder and a row. */
#pragma once

#include "tui/view/view.h"

struct views_row {
	const struct view_class *class;
	enum view_key_scope scope; /* whose keys it has at first */
};
extern const struct views_row views_rows[];
extern const size_t views_n_rows;

/* By name; NULL: there is no such view. */
const struct view_class *views_find(const char *name);

extern const struct view_class view_sandboxes, view_detail, view_files, view_shell, view_log,
	view_copies, view_help, view_resources, view_resource, view_yaml, view_bulk, view_logs,
	view_contexts, view_tree;
