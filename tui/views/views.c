// SPDX-License-Identifier: Apache-2.0
#include "tui/views/views.h"

#include <string.h>

const struct views_row views_rows[] = {
	{ &view_sandboxes, SCOPE_LIST },
	{ &view_detail, SCOPE_DETAIL },
	{ &view_files, SCOPE_FILES },
	{ &view_shell, SCOPE_SHELL },
	{ &view_log, SCOPE_LOG },
	{ &view_copies, SCOPE_COPIES },
	{ &view_help, SCOPE_HELP },
	{ &view_resources, SCOPE_RESOURCES },
	{ &view_resource, SCOPE_RESOURCE },
	{ &view_yaml, SCOPE_YAML },
	{ &view_bulk, SCOPE_BULK },
	{ &view_logs, SCOPE_LOGS },
	{ &view_contexts, SCOPE_CONTEXTS },
	{ &view_tree, SCOPE_TREE },
};
const size_t views_n_rows = sizeof views_rows / sizeof views_rows[0];

const struct view_class *views_find(const char *name)
{
	for (size_t i = 0; i < views_n_rows; i++)
		if (strcmp(views_rows[i].class->name, name) == 0)
			return views_rows[i].class;
	return NULL;
}
