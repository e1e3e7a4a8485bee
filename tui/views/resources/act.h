// SPDX-License-Identifier: Apache-2.0
/* An action of a kind on some of its objects: asked about first, then some at a time, each tried once. */
#pragma once

#include "tui/view/view.h"

struct views_resources_act;

/* Asks what the action is to be told and has not been, says what it would do to each, asks if it has a question, and begins.
 * informer: has the rows of the uids, which are copied. *slot is the view's: the action under way, NULL while there is none.
 * False with *err: one is under way already, nothing is selected, or it cannot be done with these arguments. */
bool views_resources_act_start(struct view *view, struct views_resources_act **slot,
	struct kinds_informer *informer, const char *line, const char *const *uids, size_t n,
	struct err *err);
void views_resources_act_cancel(struct views_resources_act *act); /* frees; NULL is fine */
/* "delete of 3 persistentvolumeclaims is under way" */
void views_resources_act_format(const struct views_resources_act *act, struct str *out);
/* False with *err: an action of that name would be refused now. row: one of those it would be done to; NULL: none yet. */
bool views_resources_act_can(const struct view_host *host, const struct resource_kind *kind,
	const char *line, const void *row, struct err *err);
