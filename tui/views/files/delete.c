// SPDX-License-Identifier: Apache-2.0
// Deleting.
//
//   local:    count (tree) ─ question ─ delete (tree)
//   sandbox:  is there an rm? ─ count by find, if there is one ─ question ─ rm -rf, some paths a call
//                     └ no ────────────────────────────────────── question ─ DELETE, one by one
#include "tui/views/files/delete_internal.h"

#include "engine/base/mem.h"
#include "engine/base/num.h"
#include "engine/base/path.h"
#include "tui/widgets/dialog.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	NAMES_SHOWN = 8,
	DELETE_MS = 10 * 60 * 1000,
	CALL_PATHS_MAX = 128,
	TARGETS_MAX = 1000000,
};

void views_files_delete_cancel(struct views_files_delete *job)
{
	if (!job)
		return;
	views_files_tree_cancel(job->tree);
	runtime_cancel(job->op);
	if (job->ask)
		job->ask->job = NULL;
	for (size_t i = 0; i < job->n; i++) {
		free(job->targets[i].name);
		free(job->targets[i].path);
	}
	free(job->targets);
	free(job->uid);
	free(job->dir);
	free(job->place);
	free(job);
}

static void free_later(void *arg)
{
	views_files_delete_cancel(arg);
}

const char *views_files_delete_busy(const struct views_files_delete *job, struct str *into)
{
	if (!job || !job->is_deleting)
		return NULL;
	str_addf(into, "deleting %zu entr%s of %s", job->n, job->n == 1 ? "y" : "ies",
		job->place);
	return into->p;
}

void views_files_delete_finish(struct views_files_delete *job)
{
	struct view_host *host = job->host;
	if (job->n_failed)
		view_host_failf(
			host, &job->first, "Not everything of %s is deleted", job->place);
	else if (job->is_deleting && job->n == 1)
		view_host_notef(host, NOTE_OK, "deleted %s", job->targets[0].name);
	else if (job->is_deleting)
		view_host_notef(host, NOTE_OK, "deleted %zu entries", job->n_deleted);
	job->done(job->arg, job->n_deleted);
	net_loop_defer(host->loop, free_later, job);
}

void views_files_delete_note(struct views_files_delete *job, size_t n, const struct err *err)
{
	if (!job->n_failed)
		job->first = *err;
	job->n_failed += n;
}

/* ---- deleting */

static void remote_step(struct views_files_delete *job);

static void on_local_deleted(
	void *arg, const struct err *err, const struct views_files_tree_totals *totals)
{
	struct views_files_delete *job = arg;
	(void)totals;
	job->tree = NULL;
	if (err) {
		views_files_delete_note(job, 1, err);
		job->n_deleted = job->n > 1 ? job->n - 1 : 0;
	} else {
		job->n_deleted = job->n;
	}
	views_files_delete_finish(job);
}

static void on_rest_deleted(void *arg, const struct err *err)
{
	struct views_files_delete *job = arg;
	job->op = NULL;
	/* gone already is what was wanted */
	if (err && err->code != ERR_FILE_NOT_FOUND)
		views_files_delete_note(job, 1, err);
	else
		job->n_deleted++;
	job->at++;
	remote_step(job);
}

static void on_rm_done(void *arg, const struct err *err, const struct runtime_result *result)
{
	struct views_files_delete *job = arg;
	struct err mine = { 0 };
	job->op = NULL;
	if (!err && result->exit_code != 0) {
		struct slice text = result->err_out;
		const char *end = text.n ? memchr(text.p, '\n', text.n) : NULL;
		int n = (int)(end ? end - text.p : (ptrdiff_t)text.n);
		bool is_denied = memmem(text.p, text.n, "ermission denied", 16) != NULL;
		if (n)
			err_set(&mine, is_denied ? ERR_FILE_DENIED : ERR_FILE_SERVER, "%.*s", n,
				text.p);
		else
			err_set(&mine, ERR_FILE_SERVER, "rm ended with %d", result->exit_code);
		err = &mine;
	}
	if (err)
		views_files_delete_note(job, 1, err);
	else
		job->n_deleted += job->n_in_call;
	job->at += job->n_in_call;
	remote_step(job);
}

static struct runtime_op *rm_start(
	struct views_files_delete *job, struct runtime *runtime, struct err *err)
{
	const char *argv[CALL_PATHS_MAX + 4] = { "rm", "-rf", "--" };
	char *made[CALL_PATHS_MAX];
	size_t n = 0, bytes = 0;
	while (job->at + n < job->n && n < CALL_PATHS_MAX) {
		const char *path = job->targets[job->at + n].path;
		bytes += strlen(path) + 3;
		if (n && bytes > DELETE_CALL_BYTES_MAX)
			break;
		made[n] = x_asprintf("./%s", path); /* never an option, never absolute */
		argv[3 + n] = made[n];
		n++;
	}
	argv[3 + n] = NULL;
	job->n_in_call = n;
	struct runtime_op *op = runtime_execute_start(
		runtime, argv, NULL, "/", DELETE_MS, on_rm_done, job, err);
	for (size_t i = 0; i < n; i++)
		free(made[i]);
	return op;
}

static void remote_step(struct views_files_delete *job)
{
	struct err err = { 0 };
	if (job->at >= job->n) {
		views_files_delete_finish(job);
		return;
	}
	struct runtime *runtime = engine_runtime(job->host->engine, job->uid, &err);
	if (runtime && job->has_rm)
		job->op = rm_start(job, runtime, &err);
	else if (runtime)
		job->op = runtime_delete_start(runtime, job->targets[job->at].path,
			job->targets[job->at].is_folder, DELETE_MS, on_rest_deleted, job, &err);
	if (job->op)
		return;
	views_files_delete_note(job, job->n - job->at, &err);
	views_files_delete_finish(job);
}

const char **views_files_delete_names(const struct views_files_delete *job)
{
	const char **names = x_calloc(job->n + 1, sizeof *names);
	for (size_t i = 0; i < job->n; i++)
		names[i] = job->targets[i].name;
	return names;
}

static void delete_all(struct views_files_delete *job)
{
	job->is_deleting = true;
	if (!job->is_local) {
		remote_step(job);
		return;
	}
	struct err err = { 0 };
	const char **names = views_files_delete_names(job);
	job->tree = views_files_tree_start(
		job->host->loop, job->dir, names, job->n, true, on_local_deleted, job, &err);
	free(names);
	if (!job->tree) {
		views_files_delete_note(job, job->n, &err);
		views_files_delete_finish(job);
	}
}

/* ---- the question */

static void on_answered(void *arg, struct widget_dialog *dialog, int button)
{
	struct views_ask *ask = arg;
	struct views_files_delete *job = ask->job;
	(void)dialog;
	if (!job)
		return;
	job->ask = NULL;
	ask->job = NULL;
	if (button == 0)
		delete_all(job);
	else
		views_files_delete_finish(job);
}

static void ask_free(void *arg)
{
	struct views_ask *ask = arg;
	if (ask->job)
		ask->job->ask = NULL;
	free(ask);
}

static void add_sums(const struct views_files_delete *job, struct widget_dialog *dialog)
{
	const struct views_files_tree_totals *t = &job->totals;
	char size[NUM_SIZE_BYTES];
	bool has_folder = false;
	for (size_t i = 0; i < job->n; i++)
		has_folder = has_folder || job->targets[i].is_folder;
	if (job->is_counted)
		widget_dialog_add_textf(dialog,
			"In all%s %llu file%s, %llu folder%s, %llu link%s, %s.",
			t->is_cut ? " more than" : "", (unsigned long long)t->files,
			t->files == 1 ? "" : "s", (unsigned long long)t->folders,
			t->folders == 1 ? "" : "s", (unsigned long long)t->links,
			t->links == 1 ? "" : "s", num_format_size(t->bytes, size));
	else if (has_folder)
		widget_dialog_add_text(dialog,
			"Folders go with everything in them; how much that is could not be counted.");
	if (job->is_local || job->has_rm)
		widget_dialog_add_text(
			dialog, "Links are deleted themselves, not what they point to.");
	else
		widget_dialog_add_text(dialog,
			"There is no rm in this sandbox, so its daemon deletes: where one of these is "
			"a link, what it points to is deleted and the link stays.");
	widget_dialog_add_text(dialog, "There is no way back.");
}

void views_files_delete_ask(struct views_files_delete *job)
{
	struct views_ask *held = x_calloc(1, sizeof *held);
	char title[64], size[NUM_SIZE_BYTES];
	held->job = job;
	job->ask = held;
	snprintf(title, sizeof title, "Delete %zu entr%s?", job->n, job->n == 1 ? "y" : "ies");
	struct widget_dialog *dialog = widget_dialog_new(title, on_answered, held, ask_free);
	widget_dialog_add_textf(
		dialog, "%s:%s%s", job->place, job->is_local ? "" : "/", job->dir);
	for (size_t i = 0; i < job->n && i < NAMES_SHOWN; i++) {
		const struct views_target *t = &job->targets[i];
		const char *what = t->is_link     ? "link"
				   : t->is_folder ? "folder"
				   : t->size_bytes < 0
					   ? "?"
					   : num_format_size((uint64_t)t->size_bytes, size);
		widget_dialog_add_textf(dialog, "  %s  (%s)", t->name, what);
	}
	if (job->n > NAMES_SHOWN)
		widget_dialog_add_textf(dialog, "  and %zu more", job->n - NAMES_SHOWN);
	add_sums(job, dialog);
	widget_dialog_add_button(dialog, "&Delete");
	widget_dialog_add_button(dialog, "&Cancel");
	widget_dialog_focus_button(dialog, 1);
	widget_dialog_set_owner(dialog, job->arg);     /* the view: the question goes with it */
	widget_dialog_set_serial(dialog, job->serial); /* counting took its time */
	job->host->ops->push_dialog(job->host, dialog);
}

struct views_files_delete *views_files_delete_start(struct views_files_pane *pane,
	void (*done)(void *arg, size_t n_deleted), void *arg, struct err *err)
{
	/* a runtime that cannot delete must not be sent an rm either: its / is not where its paths begin */
	if (!views_files_pane_may(pane, ENGINE_DELETE_FILES, err))
		return NULL;
	size_t n;
	struct views_files_entry **chosen = views_files_pane_chosen(pane, &n);
	if (!n || n > TARGETS_MAX) {
		if (n)
			err_set(err, ERR_ARG_INVALID, "%zu are too many at once", n);
		else
			err_set(err, ERR_ARG_INVALID, "nothing is selected to delete");
		free(chosen);
		return NULL;
	}
	struct views_files_delete *job = x_calloc(1, sizeof *job);
	job->host = pane->host;
	job->serial = host_input_serial(pane->host);
	job->is_local = pane->is_local;
	job->uid = x_strdup(pane->uid);
	job->dir = x_strdup(pane->path);
	job->place = x_strdup(views_files_pane_name(pane));
	job->targets = x_calloc(n, sizeof *job->targets);
	job->n = n;
	job->done = done;
	job->arg = arg;
	for (size_t i = 0; i < n; i++) {
		struct views_target *target = &job->targets[i];
		target->name = x_strdup(chosen[i]->name);
		target->path = views_files_pane_join(pane, chosen[i]->name);
		target->size_bytes = chosen[i]->size_bytes;
		target->is_folder = chosen[i]->kind == FILE_FOLDER;
		target->is_link =
			chosen[i]->kind >= FILE_LINK && chosen[i]->kind <= FILE_LINK_BROKEN;
	}
	free(chosen);
	if (!views_files_delete_plan(job, err)) {
		views_files_delete_cancel(job);
		return NULL;
	}
	return job;
}
