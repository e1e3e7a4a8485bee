// SPDX-License-Identifier: Apache-2.0
/* What the files of the commands on rows share: actions.c and plan.c commands on several rows, create.c new sandboxes,
 * create_wishes.c and create_form.c what a person fills in for one, views_row_commands.c the table and the commands that open views. */
#pragma once

#include "tui/views/actions/actions.h"

struct views_plan;

/* The fields of a new sandbox, in order: the first ones are always shown, the others on request. */
enum {
	FIELD_NAME,
	FIELD_POOL,
	FIELD_LABELS,
	FIELD_LIFETIME,
	FIELD_TEMPLATE,
	FIELD_ANNOTATIONS,
	FIELD_ENV,
	FIELD_VOLUMES,
	FIELD_TTL,
	FIELD_SHUTDOWN_POLICY,
	FIELD_BINDING_KEY,
	FIELD_POD_LABELS,
	FIELD_POD_ANNOTATIONS,
	FIELD_TIMEOUT,
	FIELD_ADOPT, /* a switch: "" or "on" */
	CREATE_FIELDS,
	FIELDS_ALWAYS = FIELD_TEMPLATE,
};
struct views_wishes { /* as they were typed; NULL: empty */
	char *of[CREATE_FIELDS];
	char *shell; /* what is started in it when it is ready, "" = a login shell; NULL: nothing */
};

struct views_creation {
	struct views_actions *actions;
	struct views_creation *next;
	struct fleet_op *op;
	char *namespace_; /* "" or NULL: not known */
	struct views_wishes wishes;
	uint64_t input_serial;       /* of the person, when it was asked for */
	struct net_loop_timer *join; /* it is ready: until its pod is known here too; NULL */
	int64_t join_until_ms;
	char uid[FLEET_UID_BYTES];
	bool is_unnamed; /* by anybody: neither a name nor a binding key */
	void (*not_created)(struct views_actions *actions, const struct views_wishes *wishes,
		const struct err *err, enum fleet_create_part part, const char *left);
	char *left; /* the claim that stays although it failed; NULL: none */
};

struct views_made { /* here, without a name: for the setting auto-cleanup */
	struct views_made *next;
	char *namespace_, *name;
	char uid[FLEET_UID_BYTES];
};

struct views_actions {
	struct views_made *made;
	struct views_life *lives; /* changes under way */
	struct view_host *host;
	struct views_plan *plans; /* the newest first */
	struct views_creation *creations;
};

/* actions.c */
bool views_action_delete(void *self, const char *args, struct err *err);
bool views_action_suspend(void *self, const char *args, struct err *err);
bool views_action_resume(void *self, const char *args, struct err *err);
bool views_action_extend(void *self, const char *args, struct err *err);
bool views_action_suspend_idle(void *self, const char *args, struct err *err);

/* plan.c: what a command on several rows would do. Each is freed, asked about or run. */
struct views_plan *views_action_plan_new(struct view_host *host, enum fleet_bulk_verb verb,
	const char **uids, size_t n, struct err *err); /* uids: is reordered */
void views_action_plan_free(struct views_plan *plan);
bool views_action_plan_set_time(struct views_plan *plan, const char *text, struct err *err);
/* A line of the question: why these. */
void views_action_plan_say(struct views_plan *plan, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
size_t views_action_plan_count(const struct views_plan *plan);
void views_action_plan_ask(struct views_plan *plan_take);
void views_action_plan_run(struct views_plan *plan_take);
void views_action_plans_free(struct views_actions *actions);
size_t views_action_plans_open(
	const struct views_actions *actions); /* sandboxes not done yet */

/* create.c */
void views_actions_creation_free(void *creation);
/* Begins it. False with *err and *part: what is wrong with which wish. not_created: nothing came of it, later. */
typedef void views_not_created_fn(struct views_actions *actions,
	const struct views_wishes *wishes, const struct err *err, enum fleet_create_part part,
	const char *left);
bool views_actions_create(struct views_actions *actions, const struct views_wishes *wishes,
	views_not_created_fn *not_created, enum fleet_create_part *part, struct err *err);
/* What would be sent, as YAML; free(). NULL with *err and *part. */
char *views_actions_preview(struct views_actions *actions, const struct views_wishes *wishes,
	enum fleet_create_part *part, struct err *err);

/* create_wishes.c */
void views_actions_wishes_copy(struct views_wishes *to, const struct views_wishes *from);
void views_actions_wishes_deinit(struct views_wishes *wishes);

/* lifetime.c */
struct views_life;
void views_action_lives_free(struct views_actions *actions);
bool views_action_lifetime(void *self, const char *args, struct err *err);
bool views_action_close_local(void *self, const char *args, struct err *err);

/* create_form.c: the form, or with args (a pool) none. */
bool views_action_create(void *self, const char *args, struct err *err);
/* A new one of the only pool, or the form where there are several; and when it is ready that program in it, "" = a login
 * shell. */
bool views_action_create_shell(struct view *view, const char *program, struct err *err);
