// SPDX-License-Identifier: Apache-2.0
// Questions and failures: what was asked for gets the keyboard of the latest client, everything else is a surprise.
#include "tui/workspace/internal.h"

#include "engine/base/map.h"

void workspace_push_dialog(struct workspace *workspace, struct widget_dialog *dialog)
{
	struct workspace_client *latest = workspace->latest;
	uint64_t serial = widget_dialog_serial(dialog);
	bool is_awaited = latest && serial && serial == workspace->input_serial &&
			  latest->ops->is_awaited(latest);
	if (latest && (workspace->n_handling || is_awaited))
		latest->ops->push_dialog(latest, dialog);
	else
		workspace_surprise_push(workspace, dialog);
}

void workspace_drop_dialogs(struct workspace *workspace, const void *owner)
{
	struct workspace_client *client;
	DL_FOREACH(workspace->clients, client)
		client->ops->drop_dialogs(client, owner);
	workspace_surprise_drop(workspace, owner);
}

void workspace_fail(struct workspace *workspace, const char *what, const struct err *err)
{
	struct widget_dialog *dialog = widget_dialog_new(what, NULL, NULL, NULL);
	widget_dialog_set_error(dialog, true);
	widget_dialog_add_text(dialog, err->msg);
	const char *hint = err_hint(err);
	if (hint && *hint)
		widget_dialog_add_textf(dialog, "Next: %s.", hint);
	widget_dialog_add_textf(dialog, "(%s)", err_name(err));
	widget_dialog_add_button(dialog, "&OK");
	workspace_push_dialog(workspace, dialog);
}
