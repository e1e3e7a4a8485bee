// SPDX-License-Identifier: Apache-2.0
/* An action of a kind on some of its objects: asked about first, then some at a time, each tried once. */
#pragma once

#include "tui/view/view.h"

struct views_resources_act;

/* Asks if the action has a question, and begins. uids: copied. *slot is the view's: the action under way, NULL while there is
 * none. False with *err: one is under way already, or nothing is selected. */
bool views_resources_act_start(struct view *view, struct views_resources_act **slot,
	const struct resource_kind *kind, const char *namespace_, const char *line,
	const char *const *uids, size_t n, struct err *err);
void views_resources_act_cancel(struct views_resources_act *act); /* frees; NULL is fine */
/* "delete of 3 persistentvolumeclaims is under way" */
void views_resources_act_format(const struct views_resources_act *act, struct str *out);
/* False with *err: an action of that name would be refused now. row: one of those it would be done to; NULL: none yet. */
bool views_resources_act_can(const struct view_host *host, const struct resource_kind *kind,
	const char *line, const void *row, struct err *err);
