// SPDX-License-Identifier: Apache-2.0
/* What the files of the commands on rows share: actions.c batches over rows, create.c new sandboxes, row_commands.c the
 * table and the commands that open views. */
#pragma once

#include "tui/views/actions.h"

struct batch;

enum { FIELD_NAME, FIELD_POOL, FIELD_LABELS, FIELD_LIFETIME, CREATE_FIELDS };

struct creation {
	struct actions *actions;
	struct creation *next;
	struct fleet_op *op;
	char *namespace_;            /* "" or NULL: not known */
	char *wishes[CREATE_FIELDS]; /* as the form was filled in */
	char *left;                  /* the claim that stays although it failed; NULL: none */
};

struct actions {
	struct host *host;
	struct batch *batches;
	struct creation *creations;
};

/* actions.c */
bool action_delete(void *self, const char *args, struct err *err);
bool action_suspend(void *self, const char *args, struct err *err);
bool action_resume(void *self, const char *args, struct err *err);
bool action_extend(void *self, const char *args, struct err *err);

/* create.c */
bool action_create(void *self, const char *args, struct err *err);
void creation_free(void *creation);
