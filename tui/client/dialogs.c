// SPDX-License-Identifier: Apache-2.0
// Questions that a person asked for: the last one has the keyboard.
#include "tui/client/internal.h"

void client_dialogs_push(struct client *client, struct widget_dialog *dialog)
{
	client_drag_end(client, false);
	client->is_prefix = false;
	if (client->n_dialogs ==
		DIALOGS_MAX) { /* so many questions: the newest is taken as cancelled */
		widget_dialog_answer(dialog);
		widget_dialog_free(dialog);
		return;
	}
	client->dialogs[client->n_dialogs++] = dialog;
	client_dirty(client);
}

void client_dialogs_pop(struct client *client)
{
	struct widget_dialog *dialog = client->dialogs[--client->n_dialogs];
	client_dirty(client);
	widget_dialog_answer(dialog); /* may push others */
	widget_dialog_free(dialog);
}

void client_dialogs_drop(struct client *client, const void *owner)
{
	size_t kept = 0;
	for (size_t i = 0; i < client->n_dialogs; i++)
		if (widget_dialog_owner(client->dialogs[i]) == owner)
			widget_dialog_free(client->dialogs[i]);
		else
			client->dialogs[kept++] = client->dialogs[i];
	client->n_dialogs = kept;
}
