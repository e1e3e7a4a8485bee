// SPDX-License-Identifier: Apache-2.0
/* What the files of the commands on rows share: actions.c and plan.c commands on several rows, create.c new sandboxes, views_row_commands.c the
 * table and the commands that open views. */
#pragma once

#include "tui/views/actions/actions.h"

struct views_plan;

enum { FIELD_NAME, FIELD_POOL, FIELD_LABELS, FIELD_LIFETIME, CREATE_FIELDS };

struct views_creation {
	struct views_actions *actions;
	struct views_creation *next;
	struct fleet_op *op;
	char *namespace_;            /* "" or NULL: not known */
	char *wishes[CREATE_FIELDS]; /* as the form was filled in */
	char *left;                  /* the claim that stays although it failed; NULL: none */
};

struct views_actions {
	struct view_host *host;
	struct views_plan *plans; /* the newest first */
	struct views_creation *creations;
};

/* actions.c */
bool views_action_delete(void *self, const char *args, struct err *err);
bool views_action_suspend(void *self, const char *args, struct err *err);
bool views_action_resume(void *self, const char *args, struct err *err);
bool views_action_extend(void *self, const char *args, struct err *err);

/* plan.c: what a command on several rows would do. Each is freed, asked about or run. */
struct views_plan *views_action_plan_new(struct view_host *host, enum fleet_bulk_verb verb,
	const char **uids, size_t n, struct err *err); /* uids: is reordered */
void views_action_plan_free(struct views_plan *plan);
bool views_action_plan_set_time(struct views_plan *plan, const char *text, struct err *err);
size_t views_action_plan_count(const struct views_plan *plan);
void views_action_plan_ask(struct views_plan *plan_take);
void views_action_plan_run(struct views_plan *plan_take);
void views_action_plans_free(struct views_actions *actions);
size_t views_action_plans_open(
	const struct views_actions *actions); /* sandboxes not done yet */

/* create.c */
bool views_action_create(void *self, const char *args, struct err *err);
void views_actions_creation_free(void *creation);
