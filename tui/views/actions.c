// SPDX-License-Identifier: Apache-2.0
// Commands on rows.
//
// A batch is one command over some uids: at most BATCH_PARALLEL operations of the engine at a time, each tried
// once. The first failure is shown whole, the others are counted.
#include "tui/views/actions_internal.h"

#include "engine/base/clock.h"
#include "engine/base/mem.h"
#include "tui/views/dialog.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TARGETS_MAX = 20000, BATCH_PARALLEL = 8, NAMES_SHOWN = 8 };

enum verb { VERB_DELETE, VERB_SUSPEND, VERB_RESUME, VERB_EXTEND };
static const struct {
	const char *ask, *doing, *done;
	enum engine_action action;
} verbs[] = {
	[VERB_DELETE] = { "Delete", "deleting", "deleted", ENGINE_DELETE },
	[VERB_SUSPEND] = { "Suspend", "suspending", "suspended", ENGINE_SUSPEND },
	[VERB_RESUME] = { "Resume", "resuming", "resumed", ENGINE_SUSPEND },
	[VERB_EXTEND] = { "Extend", "extending", "extended", ENGINE_EXTEND },
};

struct batch;
struct task {
	struct batch *batch;
	char *uid, *name;
	struct fleet_op *op;
};

struct batch {
	struct actions *actions;
	struct batch *next;
	enum verb verb;
	int64_t extend_ms;
	struct task *tasks;
	size_t n, n_started, n_running, n_ok, n_failed;
	struct err first_err;
	char *first_name;
};

static void batch_free(struct batch *batch)
{
	for (size_t i = 0; i < batch->n; i++) {
		fleet_op_cancel(batch->tasks[i].op);
		free(batch->tasks[i].uid);
		free(batch->tasks[i].name);
	}
	free(batch->tasks);
	free(batch->first_name);
	free(batch);
}

static void batch_free_arg(void *arg)
{
	batch_free(arg);
}

static void batch_unlink(struct batch *batch)
{
	struct batch **at = &batch->actions->batches;
	while (*at && *at != batch)
		at = &(*at)->next;
	if (*at)
		*at = batch->next;
}

static void batch_step(struct batch *batch);

static void batch_end(struct batch *batch)
{
	struct host *host = batch->actions->host;
	const char *done = verbs[batch->verb].done;
	if (batch->n_ok == 1 && batch->n == 1)
		host_notef(host, NOTE_OK, "%s %s", done, batch->tasks[0].name);
	else if (batch->n_ok)
		host_notef(host, NOTE_OK, "%s %zu of %zu", done, batch->n_ok, batch->n);
	if (batch->n_failed == 1)
		host_failf(host, &batch->first_err, "Not %s: %s", done, batch->first_name);
	else if (batch->n_failed)
		host_failf(host, &batch->first_err, "%zu of %zu not %s; the first: %s",
			batch->n_failed, batch->n, done, batch->first_name);
	batch_unlink(batch);
	loop_defer(host->loop, batch_free_arg, batch);
}

static void task_failed(struct task *task, const struct err *err)
{
	struct batch *batch = task->batch;
	if (batch->n_failed++ == 0) {
		err_copy(&batch->first_err, err);
		batch->first_name = x_strdup(task->name);
	}
}

static void on_task_done(void *arg, const struct err *err)
{
	struct task *task = arg;
	task->op = NULL;
	task->batch->n_running--;
	if (err) {
		task_failed(task, err);
		engine_refused(task->batch->actions->host->engine,
			verbs[task->batch->verb].action, task->uid, NULL, err);
	} else
		task->batch->n_ok++;
	batch_step(task->batch);
}

static struct fleet_op *task_start(struct task *task, struct err *err)
{
	struct batch *batch = task->batch;
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

static void batch_step(struct batch *batch)
{
	while (batch->n_running < BATCH_PARALLEL && batch->n_started < batch->n) {
		struct task *task = &batch->tasks[batch->n_started++];
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

static void batch_run(struct batch *batch)
{
	struct actions *actions = batch->actions;
	batch->next = actions->batches;
	actions->batches = batch;
	if (batch->n == 1)
		host_notef(actions->host, NOTE_INFO, "%s %s …", verbs[batch->verb].doing,
			batch->tasks[0].name);
	else
		host_notef(actions->host, NOTE_INFO, "%s %zu sandboxes …",
			verbs[batch->verb].doing, batch->n);
	batch_step(batch);
}

/* What to act on, or NULL with an error. */
static struct batch *batch_new(struct view *view, enum verb verb, struct err *err)
{
	const char **uids = x_calloc(TARGETS_MAX, sizeof *uids);
	size_t n = view->class->targets ? view->class->targets(view, uids, TARGETS_MAX) : 0;
	struct batch *batch = NULL;
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
			batch->tasks[i].name = x_strdup(host_row_name(view->host, uids[i]));
		}
	}
	free(uids);
	return batch;
}

struct pending { /* a batch that waits for an answer */
	struct batch *batch;
	int field;
};

static void pending_free(void *arg)
{
	struct pending *pending = arg;
	if (pending->batch)
		batch_free(pending->batch);
	free(pending);
}

static void on_ask_answered(void *arg, struct dialog *dialog, int button)
{
	struct pending *pending = arg;
	(void)dialog;
	if (button != 0)
		return;
	struct batch *batch = pending->batch;
	pending->batch = NULL;
	batch_run(batch);
}

static struct dialog *ask_dialog(
	struct batch *batch, dialog_done_fn *done, struct pending **pending_out)
{
	struct pending *pending = x_calloc(1, sizeof *pending);
	pending->batch = batch;
	char title[64];
	snprintf(title, sizeof title, "%s %zu sandbox%s?", verbs[batch->verb].ask, batch->n,
		batch->n == 1 ? "" : "es");
	struct dialog *dialog = dialog_new(title, done, pending, pending_free);
	for (size_t i = 0; i < batch->n && i < NAMES_SHOWN; i++)
		dialog_add_textf(dialog, "  %s", batch->tasks[i].name);
	if (batch->n > NAMES_SHOWN)
		dialog_add_textf(dialog, "  and %zu more", batch->n - NAMES_SHOWN);
	*pending_out = pending;
	return dialog;
}

bool action_delete(void *self, const char *args, struct err *err)
{
	struct view *view = self;
	(void)args;
	struct batch *batch = batch_new(view, VERB_DELETE, err);
	if (!batch)
		return false;
	struct pending *pending;
	struct dialog *dialog = ask_dialog(batch, on_ask_answered, &pending);
	dialog_add_text(dialog, "Everything in it is lost.");
	dialog_add_button(dialog, "&Delete");
	dialog_add_button(dialog, "&Cancel");
	dialog_focus_button(dialog, 1);
	view->host->ops->push_dialog(view->host, dialog);
	return true;
}

bool action_suspend(void *self, const char *args, struct err *err)
{
	struct view *view = self;
	(void)args;
	struct batch *batch = batch_new(view, VERB_SUSPEND, err);
	if (!batch)
		return false;
	struct pending *pending;
	struct dialog *dialog = ask_dialog(batch, on_ask_answered, &pending);
	dialog_add_text(dialog, "Its processes end; its shells close. Files on volumes stay.");
	dialog_add_button(dialog, "&Suspend");
	dialog_add_button(dialog, "&Cancel");
	dialog_focus_button(dialog, 0);
	view->host->ops->push_dialog(view->host, dialog);
	return true;
}

bool action_resume(void *self, const char *args, struct err *err)
{
	(void)args;
	struct batch *batch = batch_new(self, VERB_RESUME, err);
	if (!batch)
		return false;
	batch_run(batch);
	return true;
}

static void on_extend_answered(void *arg, struct dialog *dialog, int button)
{
	struct pending *pending = arg;
	if (button != 0)
		return;
	struct batch *batch = pending->batch;
	struct err err;
	int64_t ms;
	if (!clock_parse_duration(dialog_field(dialog, pending->field), &ms) || ms <= 0) {
		err_set(&err, ERR_ARG_INVALID, "'%s' is no time: write 30m, 2h or 1h30m",
			dialog_field(dialog, pending->field));
		host_failf(batch->actions->host, &err, "Not extended");
		return;
	}
	batch->extend_ms = ms;
	pending->batch = NULL;
	batch_run(batch);
}

bool action_extend(void *self, const char *args, struct err *err)
{
	struct view *view = self;
	struct batch *batch = batch_new(view, VERB_EXTEND, err);
	if (!batch)
		return false;
	if (*args) {
		if (!clock_parse_duration(args, &batch->extend_ms) || batch->extend_ms <= 0) {
			batch_free(batch);
			return err_set(err, ERR_ARG_INVALID,
				"'%s' is no time: write 30m, 2h or 1h30m", args);
		}
		batch_run(batch);
		return true;
	}
	struct pending *pending;
	struct dialog *dialog = ask_dialog(batch, on_extend_answered, &pending);
	dialog_add_text(dialog, "The end of life becomes now plus:");
	pending->field = dialog_add_field(dialog, "time", "1h");
	dialog_add_button(dialog, "&Extend");
	dialog_add_button(dialog, "&Cancel");
	view->host->ops->push_dialog(view->host, dialog);
	return true;
}

struct actions *actions_new(struct host *host)
{
	struct actions *actions = x_calloc(1, sizeof *actions);
	actions->host = host;
	return actions;
}

void actions_free(struct actions *actions)
{
	if (!actions)
		return;
	while (actions->batches) {
		struct batch *batch = actions->batches;
		actions->batches = batch->next;
		batch_free(batch);
	}
	while (actions->creations) {
		struct creation *creation = actions->creations;
		actions->creations = creation->next;
		creation_free(creation);
	}
	free(actions);
}

size_t actions_running(const struct actions *actions)
{
	size_t n = 0;
	for (const struct batch *b = actions->batches; b; b = b->next)
		n += b->n - b->n_ok - b->n_failed;
	for (const struct creation *c = actions->creations; c; c = c->next)
		n++;
	return n;
}
