// SPDX-License-Identifier: Apache-2.0
// Deleting what is chosen: the plan of engine/files/removal.h as a question, then what became of it.
#include "tui/views/files/delete.h"

#include "engine/base/mem.h"
#include "engine/base/num.h"
#include "tui/widgets/dialog.h"

#include <stdio.h>
#include <stdlib.h>

enum { NAMES_SHOWN = 8 };

struct views_ask { /* what the dialog holds: either side may go first */
	struct views_files_delete *job;
};

struct views_files_delete {
	uint64_t serial; /* host_input_serial() of the command */
	struct view_host *host;
	bool is_local;
	char *uid, *dir, *place;
	struct files_removal *removal;
	const struct files_plan *plan;
	struct views_ask *ask;
	bool is_deleting;
	void (*done)(void *arg, size_t n_deleted);
	void *arg;
};

void views_files_delete_cancel(struct views_files_delete *job)
{
	if (!job)
		return;
	files_removal_free(job->removal);
	if (job->ask)
		job->ask->job = NULL;
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
	size_t n = job->plan->n;
	uint64_t gone = files_removal_n_gone(job->removal);
	str_addf(into, "deleting %zu entr%s of %s", n, n == 1 ? "y" : "ies", job->place);
	if (gone)
		str_addf(into, ", %llu gone", (unsigned long long)gone);
	return into->p;
}

static void finish(struct views_files_delete *job, const struct files_result *result)
{
	struct view_host *host = job->host;
	if (result->n_failed)
		view_host_failf(
			host, &result->first, "Not everything of %s is deleted", job->place);
	else if (job->is_deleting && job->plan->n == 1)
		view_host_notef(host, NOTE_OK, "deleted %s", job->plan->targets[0].name);
	else if (job->is_deleting)
		view_host_notef(host, NOTE_OK, "deleted %zu entries", result->n_removed);
	job->done(job->arg, result->n_removed);
	net_loop_defer(host->loop, free_later, job);
}

static void on_removed(void *arg, const struct files_result *result)
{
	finish(arg, result);
}

static bool place_of(
	const struct views_files_delete *job, struct files_place *place, struct err *err)
{
	*place = (struct files_place){ 0 };
	if (!job->is_local)
		place->runtime = engine_runtime(job->host->engine, job->uid, err);
	return job->is_local || place->runtime;
}

static void delete_all(struct views_files_delete *job)
{
	struct files_result unable = { .n_failed = job->plan->n };
	struct files_place place;
	job->is_deleting = true;
	if (place_of(job, &place, &unable.first))
		files_removal_start(job->removal, &place, on_removed, job);
	else
		finish(job, &unable);
}

/* ---- the question */

static void on_answered(void *arg, struct widget_dialog *dialog, int button)
{
	static const struct files_result nothing = { 0 };
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
		finish(job, &nothing);
}

static void ask_free(void *arg)
{
	struct views_ask *ask = arg;
	if (ask->job)
		ask->job->ask = NULL;
	free(ask);
}

static void add_sums(const struct files_plan *plan, struct widget_dialog *dialog)
{
	const struct files_totals *t = &plan->totals;
	char size[NUM_SIZE_BYTES];
	bool has_folder = false;
	for (size_t i = 0; i < plan->n; i++)
		has_folder = has_folder || plan->targets[i].is_folder;
	if (plan->is_counted)
		widget_dialog_add_textf(dialog,
			"In all%s %llu file%s, %llu folder%s, %llu link%s, %s.",
			t->is_cut ? " more than" : "", (unsigned long long)t->files,
			t->files == 1 ? "" : "s", (unsigned long long)t->folders,
			t->folders == 1 ? "" : "s", (unsigned long long)t->links,
			t->links == 1 ? "" : "s", num_format_size(t->bytes, size));
	else if (has_folder)
		widget_dialog_add_text(dialog,
			"Folders go with everything in them; how much that is could not be counted.");
	if (plan->follows_links)
		widget_dialog_add_text(dialog,
			"There is no rm in this sandbox, so its daemon deletes: where one of these is "
			"a link, what it points to is deleted and the link stays.");
	else
		widget_dialog_add_text(
			dialog, "Links are deleted themselves, not what they point to.");
	widget_dialog_add_text(dialog, "There is no way back.");
}

static void ask(struct views_files_delete *job)
{
	const struct files_plan *plan = job->plan;
	struct views_ask *held = x_calloc(1, sizeof *held);
	char title[64], size[NUM_SIZE_BYTES];
	held->job = job;
	job->ask = held;
	snprintf(
		title, sizeof title, "Delete %zu entr%s?", plan->n, plan->n == 1 ? "y" : "ies");
	struct widget_dialog *dialog = widget_dialog_new(title, on_answered, held, ask_free);
	widget_dialog_add_textf(
		dialog, "%s:%s%s", job->place, job->is_local ? "" : "/", job->dir);
	for (size_t i = 0; i < plan->n && i < NAMES_SHOWN; i++) {
		const struct files_target *t = &plan->targets[i];
		const char *what = t->is_link     ? "link"
				   : t->is_folder ? "folder"
				   : t->size_bytes < 0
					   ? "?"
					   : num_format_size((uint64_t)t->size_bytes, size);
		widget_dialog_add_textf(dialog, "  %s  (%s)", t->name, what);
	}
	if (plan->n > NAMES_SHOWN)
		widget_dialog_add_textf(dialog, "  and %zu more", plan->n - NAMES_SHOWN);
	add_sums(plan, dialog);
	widget_dialog_add_button(dialog, "&Delete");
	widget_dialog_add_button(dialog, "&Cancel");
	widget_dialog_focus_button(dialog, 1);
	widget_dialog_set_owner(dialog, job->arg);     /* the view: the question goes with it */
	widget_dialog_set_serial(dialog, job->serial); /* counting took its time */
	job->host->ops->push_dialog(job->host, dialog);
}

static void on_planned(void *arg, const struct err *err, const struct files_plan *plan)
{
	struct views_files_delete *job = arg;
	job->plan = plan;
	if (err) {
		const struct files_result unable = { .n_failed = plan->n, .first = *err };
		finish(job, &unable);
	} else {
		ask(job);
	}
}

static bool plan(
	struct views_files_delete *job, const struct views_files_pane *pane, struct err *err)
{
	struct files_place place;
	size_t n;
	if (!place_of(job, &place, err))
		return false;
	struct files_entry **chosen = views_files_pane_chosen(pane, &n);
	job->removal = files_removal_plan_start(pane->host->loop, &place, job->dir,
		(const struct files_entry *const *)chosen, n, on_planned, job, err);
	free(chosen);
	return job->removal != NULL;
}

struct views_files_delete *views_files_delete_start(struct views_files_pane *pane,
	void (*done)(void *arg, size_t n_deleted), void *arg, struct err *err)
{
	/* a runtime that cannot delete must not be sent an rm either: its / is not where its paths begin */
	if (!views_files_pane_may(pane, ACCESS_DELETE_FILES, err))
		return NULL;
	struct views_files_delete *job = x_calloc(1, sizeof *job);
	job->host = pane->host;
	job->serial = host_input_serial(pane->host);
	job->is_local = pane->is_local;
	job->uid = x_strdup(pane->uid);
	job->dir = x_strdup(pane->path);
	job->place = x_strdup(views_files_pane_name(pane));
	job->done = done;
	job->arg = arg;
	if (plan(job, pane, err))
		return job;
	views_files_delete_cancel(job);
	return NULL;
}
