// SPDX-License-Identifier: Apache-2.0
/* What the files of the commands on rows share: actions.c batches over rows, create.c new sandboxes, views_row_commands.c the
 * table and the commands that open views. */
#pragma once

#include "tui/views/actions/actions.h"

struct views_batch;

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
	struct views_batch *batches;
	struct views_creation *creations;
};

/* actions.c */
bool views_action_delete(void *self, const char *args, struct err *err);
bool views_action_suspend(void *self, const char *args, struct err *err);
bool views_action_resume(void *self, const char *args, struct err *err);
bool views_action_extend(void *self, const char *args, struct err *err);

/* create.c */
bool views_action_create(void *self, const char *args, struct err *err);
void views_actions_creation_free(void *creation);
