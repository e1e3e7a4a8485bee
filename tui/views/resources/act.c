// SPDX-License-Identifier: Apache-2.0
// Objects are looked up when their turn comes: one that has gone since needs nothing more. The first failure is shown
// whole, the others are counted.
#include "tui/views/resources/act.h"

#include "engine/base/err.h"
#include "engine/base/mem.h"
#include "tui/widgets/dialog.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PARALLEL = 8, NAMES_SHOWN = 8, NAME_BYTES = 32, PLAN_BYTES = 256 };

struct views_resources_task {
	struct views_resources_act *act;
	char *uid, *name;
	char *now; /* what its row said when it was asked about */
	struct engine_object_call *call;
};

struct views_resources_act {
	struct view_host *host;
	struct views_resources_act **slot; /* the view's */
	struct kinds_informer *informer;   /* kept while it is at work */
	const struct resource_kind *kind;
	const struct resource_action *action;
	char *args;
	struct views_resources_task *tasks;
	size_t n, n_started, n_running, n_ok, n_failed;
	struct err first_err;
	char *first_name;
};

static const char *word_of(const struct resource_kind *kind)
{
	return kind->word ? kind->word : kind->name;
}

void views_resources_act_cancel(struct views_resources_act *act)
{
	if (!act)
		return;
	for (size_t i = 0; i < act->n; i++) {
		engine_object_cancel(act->tasks[i].call);
		free(act->tasks[i].uid);
		free(act->tasks[i].name);
		free(act->tasks[i].now);
	}
	if (act->slot && *act->slot == act)
		*act->slot = NULL;
	engine_unwatch_kind(act->host->engine, act->informer);
	free(act->tasks);
	free(act->args);
	free(act->first_name);
	free(act);
}

void views_resources_act_format(const struct views_resources_act *act, struct str *out)
{
	str_addf(out, "%s of %zu %s is under way", act->action->name, act->n,
		word_of(act->kind));
}

/* ---- at work */

static void act_end(struct views_resources_act *act)
{
	struct view_host *host = act->host;
	if (act->n_ok)
		view_host_notef(host, NOTE_OK, "%s: done with %zu %s", act->action->name,
			act->n_ok, word_of(act->kind));
	if (act->n_failed > 1)
		view_host_failf(host, &act->first_err, "Cannot %s %s and %zu more",
			act->action->name, act->first_name, act->n_failed - 1);
	else if (act->n_failed)
		view_host_failf(host, &act->first_err, "Cannot %s %s", act->action->name,
			act->first_name);
	host_dirty(host);
	views_resources_act_cancel(act);
}

static void task_failed(struct views_resources_task *task, const struct err *err)
{
	struct views_resources_act *act = task->act;
	if (!act->n_failed++) {
		act->first_err = *err;
		act->first_name = x_strdup(task->name);
	}
}

static void go_on(struct views_resources_act *act);

static void on_done(void *arg, const struct err *err, const struct cJSON *object)
{
	struct views_resources_task *task = arg;
	struct views_resources_act *act = task->act;
	(void)object;
	task->call = NULL;
	act->n_running--;
	/* gone is as good as deleted */
	if (!err ||
		(err->code == ERR_KUBE_NOT_FOUND && strcmp(act->action->name, "delete") == 0))
		act->n_ok++;
	else
		task_failed(task, err);
	go_on(act);
}

static void go_on(struct views_resources_act *act)
{
	struct resource_source source = kinds_informer_source(act->informer);
	while (act->n_running < PARALLEL && act->n_started < act->n) {
		struct views_resources_task *task = &act->tasks[act->n_started++];
		const void *row = resource_source_find(&source, task->uid);
		struct err err = { 0 };
		if (!row)
			continue; /* it went by itself */
		task->call = engine_object_act(act->host->engine, act->kind, act->action, row,
			act->args, on_done, task, &err);
		if (task->call)
			act->n_running++;
		else
			task_failed(task, &err);
	}
	if (!act->n_running)
		act_end(act);
}

/* ---- the question */

/* What it would do to each; false with *err: not with these arguments. */
static bool plan_all(struct views_resources_act *act, struct err *err)
{
	struct resource_source source = kinds_informer_source(act->informer);
	for (size_t i = 0; act->action->plan && i < act->n; i++) {
		const void *row = resource_source_find(&source, act->tasks[i].uid);
		struct str plan;
		str_init(&plan, PLAN_BYTES);
		bool ok = !row || act->action->plan(row, act->args, &plan, err);
		free(act->tasks[i].now);
		act->tasks[i].now = plan.n ? x_strdup(plan.p) : NULL;
		str_deinit(&plan);
		if (!ok)
			return false;
	}
	return true;
}

/* What each is now, in brief: for whoever is asked what it shall be. */
static void tell_now(struct views_resources_act *act)
{
	struct resource_source source = kinds_informer_source(act->informer);
	for (size_t i = 0; i < act->n; i++) {
		const void *row = resource_source_find(&source, act->tasks[i].uid);
		const struct kinds_tree_line line = { .kind = act->kind, .row = row };
		struct str text;
		str_init(&text, PLAN_BYTES);
		kinds_tree_brief(&line, &text);
		act->tasks[i].now = text.n ? x_strdup(text.p) : NULL;
		str_deinit(&text);
	}
}

struct views_resources_question {
	struct views_resources_act *act; /* NULL: it has begun */
	struct views_resources_act **slot;
};

static void begin(struct views_resources_act *act, struct views_resources_act **slot)
{
	act->slot = slot;
	*slot = act;
	go_on(act);
}

static bool check_answer(void *arg, struct widget_dialog *dialog, int *field, struct err *err)
{
	const struct views_resources_question *question = arg;
	struct views_resources_act *act = question->act;
	*field = 0;
	free(act->args);
	act->args = x_strdup(widget_dialog_field(dialog, 0));
	return plan_all(act, err);
}

static void on_answered(void *arg, struct widget_dialog *dialog, int button)
{
	struct views_resources_question *question = arg;
	struct views_resources_act *act = question->act;
	(void)dialog;
	if (button != 0)
		return;
	question->act = NULL;
	begin(act, question->slot);
}

static void question_free(void *arg)
{
	struct views_resources_question *question = arg;
	views_resources_act_cancel(question->act);
	free(question);
}

static void add_names(struct widget_dialog *dialog, const struct views_resources_act *act)
{
	for (size_t i = 0; i < act->n && i < NAMES_SHOWN; i++)
		widget_dialog_add_textf(dialog, "  %s%s%s", act->tasks[i].name,
			act->tasks[i].now ? "   " : "",
			act->tasks[i].now ? act->tasks[i].now : "");
	if (act->n > NAMES_SHOWN)
		widget_dialog_add_textf(dialog, "  and %zu more", act->n - NAMES_SHOWN);
}

/* has_args: what it is told is known, and each says what it would become. */
static void ask(struct view *view, struct views_resources_act *act,
	struct views_resources_act **slot, bool has_args)
{
	char title[128];
	struct views_resources_question *question = x_calloc(1, sizeof *question);
	question->act = act;
	question->slot = slot;
	if (act->n == 1)
		snprintf(title, sizeof title, "%s this?", act->action->name);
	else
		snprintf(title, sizeof title, "%s %zu %s?", act->action->name, act->n,
			word_of(act->kind));
	title[0] = (char)toupper((unsigned char)title[0]);
	struct widget_dialog *dialog =
		widget_dialog_new(title, on_answered, question, question_free);
	add_names(dialog, act);
	if (!has_args) {
		widget_dialog_add_field(dialog, act->action->wanted, "");
		widget_dialog_set_check(dialog, check_answer);
	}
	if (act->action->question)
		widget_dialog_add_text(dialog, act->action->question);
	widget_dialog_add_button(dialog, has_args ? "&Yes" : "&OK");
	widget_dialog_add_button(dialog, "&Cancel");
	if (has_args)
		widget_dialog_focus_button(dialog, 1);
	widget_dialog_set_owner(dialog, view);
	view->host->ops->push_dialog(view->host, dialog);
}

/* ---- from outside */

/* The action that a line names, and what it is told. */
static const struct resource_action *read_line(
	const struct resource_kind *kind, const char *line, const char **args, struct err *err)
{
	char name[NAME_BYTES];
	size_t n = strcspn(line, " ");
	snprintf(name, sizeof name, "%.*s", (int)(n < NAME_BYTES ? n : NAME_BYTES), line);
	*args = line + n + strspn(line + n, " ");
	const struct resource_action *action = resource_find_action(kind, name);
	if (!action)
		err_set(err, ERR_OP_UNSUPPORTED, "there is no %s of %s", name, kind->name);
	return action;
}

bool views_resources_act_can(const struct view_host *host, const struct resource_kind *kind,
	const char *line, const void *row, struct err *err)
{
	const char *args;
	const struct resource_action *action = read_line(kind, line, &args, err);
	if (!action)
		return false;
	bool has_any = kind->namespace_column != RESOURCE_NONE;
	const char *namespace_ = !has_any ? ""
				 : row ? kind->columns[kind->namespace_column].value(row).text
				       : host->ops->namespace_(host);
	/* a right in one namespace is enough where none is chosen */
	if (has_any && !*namespace_ && !engine_is_read_only(host->engine))
		return true;
	return engine_object_may(host->engine, kind, action, namespace_, err);
}

static struct views_resources_act *act_new(struct view_host *host,
	struct kinds_informer *informer, const struct resource_action *action, const char *args,
	const char *const *uids, size_t n)
{
	const struct resource_kind *kind = kinds_informer_kind(informer);
	struct views_resources_act *act = x_calloc(1, sizeof *act);
	*act = (struct views_resources_act){ .host = host,
		.informer = engine_watch_again(host->engine, informer),
		.kind = kind,
		.action = action,
		.args = x_strdup(args),
		.n = n };
	act->tasks = x_calloc(n, sizeof *act->tasks);
	struct resource_source source = kinds_informer_source(informer);
	const struct resource_column *name = &kind->columns[kind->name_column];
	for (size_t i = 0; i < n; i++) {
		const void *row = resource_source_find(&source, uids[i]);
		act->tasks[i].act = act;
		act->tasks[i].uid = x_strdup(uids[i]);
		act->tasks[i].name = x_strdup(row ? name->value(row).text : uids[i]);
	}
	return act;
}

bool views_resources_act_start(struct view *view, struct views_resources_act **slot,
	struct kinds_informer *informer, const char *line, const char *const *uids, size_t n,
	struct err *err)
{
	const char *args;
	const struct resource_action *action =
		read_line(kinds_informer_kind(informer), line, &args, err);
	if (!action)
		return false;
	if (*slot)
		return err_set(err, ERR_OP_BUSY, "%s is under way", (*slot)->action->name);
	if (!n)
		return err_set(err, ERR_ARG_INVALID, "nothing is selected");
	bool has_args = !action->args || *args;
	struct views_resources_act *act = act_new(view->host, informer, action, args, uids, n);
	if (has_args && !plan_all(act, err)) {
		views_resources_act_cancel(act);
		return false;
	}
	if (!has_args)
		tell_now(act);
	if (action->question || !has_args)
		ask(view, act, slot, has_args);
	else
		begin(act, slot);
	return true;
}
