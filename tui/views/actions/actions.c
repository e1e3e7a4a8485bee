// SPDX-License-Identifier: Apache-2.0
// Commands on rows.
//
// A batch is one command over some uids: at most BATCH_PARALLEL operations of the engine at a time, each tried
// once. The first failure is shown whole, the others are counted.
#include "tui/views/actions/internal.h"

#include "engine/base/clock.h"
#include "engine/base/mem.h"
#include "tui/widgets/dialog.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	TARGETS_MAX = 20000,
	BATCH_PARALLEL = 8,
	NAMES_SHOWN = 8,
	LOOK_MS = 100,
	LOOK_FOR_MS = 30 * 1000,
};

enum verb { VERB_DELETE, VERB_SUSPEND, VERB_RESUME, VERB_EXTEND };
static const struct {
	const char *ask, *doing, *done;
	enum access_action action;
} verbs[] = {
	[VERB_DELETE] = { "Delete", "deleting", "deleted", ACCESS_DELETE },
	[VERB_SUSPEND] = { "Suspend", "suspending", "suspended", ACCESS_SUSPEND },
	[VERB_RESUME] = { "Resume", "resuming", "resumed", ACCESS_SUSPEND },
	[VERB_EXTEND] = { "Extend", "extending", "extended", ACCESS_EXTEND },
};

struct views_batch;
struct views_task {
	struct views_batch *batch;
	char *uid, *name;
	struct fleet_op *op;
	bool is_ok;
};

struct views_batch {
	struct views_actions *actions;
	struct views_batch *next;
	enum verb verb;
	int64_t extend_ms;
	struct views_task *tasks;
	size_t n, n_started, n_running, n_ok, n_failed;
	struct err first_err;
	char *first_name;
	struct net_loop_timer *look; /* deletions: until the rows are gone */
	int64_t look_until_ms;
	const struct fleet *fleet; /* whose rows they are: to compare */
};

static void batch_free(struct views_batch *batch)
{
	for (size_t i = 0; i < batch->n; i++) {
		fleet_op_cancel(batch->tasks[i].op);
		free(batch->tasks[i].uid);
		free(batch->tasks[i].name);
	}
	net_loop_timer_free(batch->look);
	free(batch->tasks);
	free(batch->first_name);
	free(batch);
}

static void batch_free_arg(void *arg)
{
	batch_free(arg);
}

static void batch_unlink(struct views_batch *batch)
{
	struct views_batch **at = &batch->actions->batches;
	while (*at && *at != batch)
		at = &(*at)->next;
	if (*at)
		*at = batch->next;
}

static void batch_step(struct views_batch *batch);

/* Of those that were deleted: how many are still there. The API server answers before they are gone. */
static size_t still_there(const struct views_batch *batch)
{
	const struct fleet *fleet = engine_fleet(batch->actions->host->engine);
	size_t n = 0;
	for (size_t i = 0; i < batch->n; i++)
		n += batch->tasks[i].is_ok && fleet_find(fleet, batch->tasks[i].uid) != NULL;
	return n;
}

static void say_done(const struct views_batch *batch)
{
	struct view_host *host = batch->actions->host;
	const struct fleet *fleet = engine_fleet(host->engine);
	const char *done = verbs[batch->verb].done;
	const struct fleet_row *row =
		batch->n == 1 ? fleet_find(fleet, batch->tasks[0].uid) : NULL;
	char date[CLOCK_RFC3339_BYTES], age[CLOCK_AGE_BYTES];
	if (!batch->n_ok)
		return;
	if (batch->verb == VERB_EXTEND && row && row->expires_ms)
		view_host_notef(host, NOTE_OK, "%s lives until %s, for %s",
			batch->tasks[0].name,
			clock_format_rfc3339(row->expires_ms * 1000000, 0, date),
			clock_format_age(row->expires_ms - clock_wall_ms(), age));
	else if (batch->n == 1)
		view_host_notef(host, NOTE_OK, "%s %s", done, batch->tasks[0].name);
	else
		view_host_notef(host, NOTE_OK, "%s %zu of %zu", done, batch->n_ok, batch->n);
}

static void on_look(void *arg)
{
	struct views_batch *batch = arg;
	bool is_other = engine_fleet(batch->actions->host->engine) != batch->fleet;
	size_t left = is_other ? 0 : still_there(batch);
	if (left && clock_mono_ms() < batch->look_until_ms) {
		net_loop_timer_arm(batch->look, LOOK_MS);
		return;
	}
	if (left)
		view_host_notef(batch->actions->host, NOTE_WARNING,
			"%zu of %zu are still being deleted", left, batch->n);
	else if (!is_other) /* another namespace is looked at: nothing is known of these */
		say_done(batch);
	batch_unlink(batch);
	net_loop_defer(batch->actions->host->loop, batch_free_arg, batch);
}

static void batch_end(struct views_batch *batch)
{
	struct view_host *host = batch->actions->host;
	const char *done = verbs[batch->verb].done;
	bool is_going = batch->verb == VERB_DELETE && still_there(batch) > 0;
	if (!is_going)
		say_done(batch);
	if (batch->n_failed == 1)
		view_host_failf(host, &batch->first_err, "Not %s: %s", done, batch->first_name);
	else if (batch->n_failed)
		view_host_failf(host, &batch->first_err, "%zu of %zu not %s; the first: %s",
			batch->n_failed, batch->n, done, batch->first_name);
	if (is_going) {
		batch->look = net_loop_timer_new(host->loop, on_look, batch);
		batch->look_until_ms = clock_mono_ms() + LOOK_FOR_MS;
		net_loop_timer_arm(batch->look, LOOK_MS);
		return;
	}
	batch_unlink(batch);
	net_loop_defer(host->loop, batch_free_arg, batch);
}

static void task_failed(struct views_task *task, const struct err *err)
{
	struct views_batch *batch = task->batch;
	if (batch->n_failed++ == 0) {
		err_copy(&batch->first_err, err);
		batch->first_name = x_strdup(task->name);
	}
}

static void on_task_done(void *arg, const struct err *err)
{
	struct views_task *task = arg;
	task->op = NULL;
	task->batch->n_running--;
	if (err) {
		task_failed(task, err);
		engine_refused(task->batch->actions->host->engine, err);
	} else {
		task->is_ok = true;
		task->batch->n_ok++;
	}
	batch_step(task->batch);
}

static struct fleet_op *task_start(struct views_task *task, struct err *err)
{
	struct views_batch *batch = task->batch;
	struct engine *engine = batch->actions->host->engine;
	struct fleet *fleet = engine_fleet(engine);
	if (!engine_may(engine, verbs[batch->verb].action, task->uid, "", err))
		return NULL;
	switch (batch->verb) {
	case VERB_DELETE:
		return fleet_delete_start(fleet, task->uid, on_task_done, task, err);
	case VERB_SUSPEND:
	case VERB_RESUME:
		return fleet_suspend_start(
			fleet, task->uid, batch->verb == VERB_SUSPEND, on_task_done, task, err);
	case VERB_EXTEND:
		return fleet_extend_start(
			fleet, task->uid, batch->extend_ms, on_task_done, task, err);
	}
	return NULL;
}

static void batch_step(struct views_batch *batch)
{
	while (batch->n_running < BATCH_PARALLEL && batch->n_started < batch->n) {
		struct views_task *task = &batch->tasks[batch->n_started++];
		struct err err;
		task->op = task_start(task, &err);
		if (task->op)
			batch->n_running++;
		else
			task_failed(task, &err);
	}
	if (!batch->n_running && batch->n_started == batch->n)
		batch_end(batch);
}

static void batch_run(struct views_batch *batch)
{
	struct views_actions *actions = batch->actions;
	batch->next = actions->batches;
	batch->fleet = engine_fleet(actions->host->engine);
	actions->batches = batch;
	if (batch->n == 1)
		view_host_notef(actions->host, NOTE_INFO, "%s %s …", verbs[batch->verb].doing,
			batch->tasks[0].name);
	else
		view_host_notef(actions->host, NOTE_INFO, "%s %zu sandboxes …",
			verbs[batch->verb].doing, batch->n);
	batch_step(batch);
}

/* What to act on, or NULL with an error. */
static struct views_batch *batch_new(struct view *view, enum verb verb, struct err *err)
{
	const char **uids = x_calloc(TARGETS_MAX, sizeof *uids);
	size_t n = view->class->targets ? view->class->targets(view, uids, TARGETS_MAX) : 0;
	struct views_batch *batch = NULL;
	if (!n) {
		err_set(err, ERR_ARG_INVALID, "no sandbox is selected");
	} else {
		batch = x_calloc(1, sizeof *batch);
		batch->actions = view->host->actions;
		batch->verb = verb;
		batch->tasks = x_calloc(n, sizeof *batch->tasks);
		batch->n = n;
		for (size_t i = 0; i < n; i++) {
			batch->tasks[i].batch = batch;
			batch->tasks[i].uid = x_strdup(uids[i]);
			batch->tasks[i].name =
				x_strdup(view_host_row_name(view->host, uids[i]));
		}
	}
	free(uids);
	return batch;
}

struct views_pending { /* a batch that waits for an answer */
	struct views_batch *batch;
	int field;
};

static void pending_free(void *arg)
{
	struct views_pending *pending = arg;
	if (pending->batch)
		batch_free(pending->batch);
	free(pending);
}

static void on_ask_answered(void *arg, struct widget_dialog *dialog, int button)
{
	struct views_pending *pending = arg;
	(void)dialog;
	if (button != 0)
		return;
	struct views_batch *batch = pending->batch;
	pending->batch = NULL;
	batch_run(batch);
}

static struct widget_dialog *ask_dialog(struct views_batch *batch, widget_dialog_done_fn *done,
	struct views_pending **pending_out)
{
	struct views_pending *pending = x_calloc(1, sizeof *pending);
	pending->batch = batch;
	char title[64];
	snprintf(title, sizeof title, "%s %zu sandbox%s?", verbs[batch->verb].ask, batch->n,
		batch->n == 1 ? "" : "es");
	struct widget_dialog *dialog = widget_dialog_new(title, done, pending, pending_free);
	for (size_t i = 0; i < batch->n && i < NAMES_SHOWN; i++)
		widget_dialog_add_textf(dialog, "  %s", batch->tasks[i].name);
	if (batch->n > NAMES_SHOWN)
		widget_dialog_add_textf(dialog, "  and %zu more", batch->n - NAMES_SHOWN);
	*pending_out = pending;
	return dialog;
}

/* Of those that are no more the trace goes, unasked: nothing is lost. True: there was nothing else. */
static bool dismiss_deleted(struct view *view)
{
	struct fleet *fleet = engine_fleet(view->host->engine);
	const char **uids = x_calloc(TARGETS_MAX, sizeof *uids);
	size_t n = fleet && view->class->targets ? view->class->targets(view, uids, TARGETS_MAX)
						 : 0;
	size_t n_gone = 0;
	for (size_t i = 0; i < n; i++)
		n_gone +=
			!fleet_find(fleet, uids[i]) && fleet_tombstone_dismiss(fleet, uids[i]);
	free(uids);
	return n > 0 && n_gone == n;
}

bool views_action_delete(void *self, const char *args, struct err *err)
{
	struct view *view = self;
	(void)args;
	if (dismiss_deleted(view))
		return true;
	struct views_batch *batch = batch_new(view, VERB_DELETE, err);
	if (!batch)
		return false;
	struct views_pending *pending;
	struct widget_dialog *dialog = ask_dialog(batch, on_ask_answered, &pending);
	widget_dialog_add_text(dialog, "Everything in it is lost.");
	widget_dialog_add_button(dialog, "&Delete");
	widget_dialog_add_button(dialog, "&Cancel");
	widget_dialog_focus_button(dialog, 1);
	view->host->ops->push_dialog(view->host, dialog);
	return true;
}

/* Nothing to do is said, not done: one that is as it should be is taken out. False with *err: none is left. Rows that
 * may be old decide nothing. */
static bool leave_out(
	struct views_batch *batch, enum fleet_state state, const char *is, struct err *err)
{
	struct view_host *host = batch->actions->host;
	const struct fleet *fleet = engine_fleet(host->engine);
	size_t kept = 0;
	if (view_host_is_stale(host))
		return true;
	for (size_t i = 0; i < batch->n; i++) {
		const struct fleet_row *row = fleet_find(fleet, batch->tasks[i].uid);
		if (row && row->state == state && batch->n > 1) {
			free(batch->tasks[i].uid);
			free(batch->tasks[i].name);
		} else if (row && row->state == state) {
			return err_set(err, ERR_CLAIM_UNCHANGED, "%s %s already",
				batch->tasks[i].name, is);
		} else {
			batch->tasks[kept++] = batch->tasks[i];
		}
	}
	batch->n = kept;
	return kept > 0 || err_set(err, ERR_CLAIM_UNCHANGED, "all of them %s already",
				   strcmp(is, "runs") == 0 ? "run" : "are suspended");
}

bool views_action_suspend(void *self, const char *args, struct err *err)
{
	struct view *view = self;
	(void)args;
	struct views_batch *batch = batch_new(view, VERB_SUSPEND, err);
	if (!batch)
		return false;
	if (!leave_out(batch, FLEET_SUSPENDED, "is suspended", err)) {
		batch_free(batch);
		return false;
	}
	struct views_pending *pending;
	struct widget_dialog *dialog = ask_dialog(batch, on_ask_answered, &pending);
	widget_dialog_add_text(
		dialog, "Its processes end; its shells close. Files on volumes stay.");
	widget_dialog_add_button(dialog, "&Suspend");
	widget_dialog_add_button(dialog, "&Cancel");
	widget_dialog_focus_button(dialog, 0);
	view->host->ops->push_dialog(view->host, dialog);
	return true;
}

bool views_action_resume(void *self, const char *args, struct err *err)
{
	(void)args;
	struct views_batch *batch = batch_new(self, VERB_RESUME, err);
	if (!batch)
		return false;
	if (!leave_out(batch, FLEET_READY, "runs", err)) {
		batch_free(batch);
		return false;
	}
	batch_run(batch);
	return true;
}

static bool parse_time(const char *text, int64_t *ms, struct err *err)
{
	return (clock_parse_duration(text, ms) && *ms > 0) ||
	       err_set(err, ERR_ARG_INVALID, "'%s' is no time: write 30m, 2h or 1h30m", text);
}

static bool check_time(void *arg, struct widget_dialog *dialog, int *field, struct err *err)
{
	struct views_pending *pending = arg;
	*field = pending->field;
	return parse_time(widget_dialog_field(dialog, *field), &pending->batch->extend_ms, err);
}

bool views_action_extend(void *self, const char *args, struct err *err)
{
	struct view *view = self;
	struct views_batch *batch = batch_new(view, VERB_EXTEND, err);
	if (!batch)
		return false;
	if (*args) {
		if (!parse_time(args, &batch->extend_ms, err)) {
			batch_free(batch);
			return false;
		}
		batch_run(batch);
		return true;
	}
	struct views_pending *pending;
	struct widget_dialog *dialog = ask_dialog(batch, on_ask_answered, &pending);
	widget_dialog_set_check(dialog, check_time);
	widget_dialog_add_text(dialog, "The end of life becomes now plus:");
	pending->field = widget_dialog_add_field(dialog, "time", "1h");
	widget_dialog_add_button(dialog, "&Extend");
	widget_dialog_add_button(dialog, "&Cancel");
	view->host->ops->push_dialog(view->host, dialog);
	return true;
}

struct views_actions *views_actions_new(struct view_host *host)
{
	struct views_actions *actions = x_calloc(1, sizeof *actions);
	actions->host = host;
	return actions;
}

void views_actions_free(struct views_actions *actions)
{
	if (!actions)
		return;
	while (actions->batches) {
		struct views_batch *batch = actions->batches;
		actions->batches = batch->next;
		batch_free(batch);
	}
	while (actions->creations) {
		struct views_creation *creation = actions->creations;
		actions->creations = creation->next;
		views_actions_creation_free(creation);
	}
	free(actions);
}

size_t views_actions_running(const struct views_actions *actions)
{
	size_t n = 0;
	for (const struct views_batch *b = actions->batches; b; b = b->next)
		n += b->n - b->n_ok - b->n_failed;
	for (const struct views_creation *c = actions->creations; c; c = c->next)
		n++;
	return n;
}
