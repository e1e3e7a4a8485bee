// SPDX-License-Identifier: Apache-2.0
// The queue of what nobody asked for. How it is shown and answered is a client's matter (tui/client/surprise.h).
#include "tui/workspace/internal.h"

#include "engine/base/map.h"

static void tell(struct workspace *workspace, enum workspace_surprise_event event)
{
	struct workspace_client *client;
	DL_FOREACH(workspace->clients, client)
		client->ops->surprise(client, event);
}

/* Room for a question: the oldest that only says something, and is not the one that is shown, goes. */
static bool drop_a_notice(struct workspace *ws)
{
	for (size_t i = 1; i < ws->n_surprises; i++) {
		if (!widget_dialog_is_notice(ws->surprises[i]))
			continue;
		widget_dialog_free(ws->surprises[i]);
		ws->n_surprises--;
		for (; i < ws->n_surprises; i++)
			ws->surprises[i] = ws->surprises[i + 1];
		return true;
	}
	return false;
}

void workspace_surprise_push(struct workspace *ws, struct widget_dialog *dialog)
{
	if (ws->n_surprises == WORKSPACE_SURPRISES_MAX &&
		!drop_a_notice(ws)) { /* so many questions: the newest is taken as cancelled */
		widget_dialog_answer(dialog);
		widget_dialog_free(dialog);
		return;
	}
	ws->surprises[ws->n_surprises++] = dialog;
	if (ws->n_surprises == 1)
		tell(ws, WORKSPACE_SURPRISE_CAME);
	workspace_dirty(ws);
}

const void *workspace_surprise_answer(struct workspace *ws)
{
	struct widget_dialog *dialog = ws->surprises[0];
	ws->n_surprises--;
	for (size_t i = 0; i < ws->n_surprises; i++)
		ws->surprises[i] = ws->surprises[i + 1];
	tell(ws, WORKSPACE_SURPRISE_ANSWERED);
	workspace_dirty(ws);
	ws->n_handling++; /* what the answer brings at once was asked for */
	widget_dialog_answer(dialog);
	ws->n_handling--;
	const void *owner = widget_dialog_owner(dialog);
	widget_dialog_free(dialog);
	return owner;
}

void workspace_surprise_drop(struct workspace *ws, const void *owner)
{
	size_t kept = 0;
	bool is_first_gone = ws->n_surprises && widget_dialog_owner(ws->surprises[0]) == owner;
	for (size_t i = 0; i < ws->n_surprises; i++)
		if (widget_dialog_owner(ws->surprises[i]) == owner)
			widget_dialog_free(ws->surprises[i]);
		else
			ws->surprises[kept++] = ws->surprises[i];
	ws->n_surprises = kept;
	if (!is_first_gone)
		return;
	tell(ws, WORKSPACE_SURPRISE_DROPPED);
	workspace_dirty(ws);
}

struct widget_dialog *workspace_surprise(const struct workspace *ws)
{
	return ws->n_surprises ? ws->surprises[0] : NULL;
}

size_t workspace_n_surprises(const struct workspace *ws)
{
	return ws->n_surprises;
}

void workspace_surprises_free(struct workspace *ws)
{
	while (ws->n_surprises)
		widget_dialog_free(ws->surprises[--ws->n_surprises]);
}
