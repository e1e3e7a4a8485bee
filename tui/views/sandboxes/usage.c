// SPDX-License-Identifier: Apache-2.0
// What the sandboxes of the list use: asked for while it is drawn, and followed without a change of any row.
#include "tui/views/sandboxes/sandboxes.h"

#include <stdio.h>

/* Those that were asked about by name are put in their places again; all of them where all were. */
void views_sandboxes_follow_usage(struct views_list *list)
{
	struct views_sandboxes_usage *usage = &sandboxes_of(list)->usage;
	const struct engine *engine = list->view.host->engine;
	uint64_t revision = engine_usage_revision(engine),
		 lists = engine_usage_of(engine).n_lists;
	if (revision == usage->revision)
		return;
	bool is_all = lists != usage->n_lists;
	usage->revision = revision;
	usage->n_lists = lists;
	int column = resource_collection_column(list->rows);
	if (!(list->kind->columns[column].sources & FLEET_SOURCE_USAGE))
		return;
	if (is_all) {
		resource_collection_resort(list->rows);
		return;
	}
	for (size_t i = 0; i < usage->n_shown; i++) {
		const void *row = views_list_find(list, usage->shown[i]);
		if (row)
			resource_collection_update(list->rows, usage->shown[i], row);
	}
}

/* Those on the screen first. */
void views_sandboxes_look_at_usage(struct views_list *list)
{
	struct views_sandboxes_usage *usage = &sandboxes_of(list)->usage;
	const char *uids[VIEWS_SANDBOXES_LOOKED_AT];
	size_t count = resource_collection_count(list->rows);
	usage->n_shown = 0;
	for (size_t at = list->top; at < count && at < list->top + (size_t)list->rows_shown &&
				    usage->n_shown < VIEWS_SANDBOXES_LOOKED_AT;
		at++) {
		char *uid = usage->shown[usage->n_shown];
		snprintf(uid, RESOURCE_UID_BYTES, "%s", resource_collection_at(list->rows, at));
		uids[usage->n_shown++] = uid;
	}
	engine_usage_look(list->view.host->engine, uids, usage->n_shown);
}

bool views_sandboxes_is_usage_behind(struct views_list *list)
{
	return sandboxes_of(list)->usage.revision !=
	       engine_usage_revision(list->view.host->engine);
}
