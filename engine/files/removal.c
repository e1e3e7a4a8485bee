// SPDX-License-Identifier: Apache-2.0
/* Removing, planned.
 *
 *   local:    count (tree) ─ planned … ─ delete (tree)
 *   sandbox:  is there an rm? ─ count by find, if there is one ─ planned … ─ rm -rf, some paths a call
 *                     └ no ────────────────────────────────────── planned … ─ DELETE, one by one */
#include "engine/files/removal.h"

#include "engine/base/mem.h"
#include "engine/base/path.h"
#include "engine/files/count.h"
#include "engine/files/internal.h"
#include "engine/files/tree.h"

#include <string.h>

enum { PROBE_MS = 10 * 1000, REMOVE_MS = 10 * 60 * 1000 };

struct files_removal {
	struct net_loop *loop;
	struct runtime *runtime; /* NULL: local */
	char *dir;
	struct files_target *targets;
	struct files_plan plan;
	struct files_op *op;     /* counting, or a local tree that goes */
	struct runtime_op *call; /* in a sandbox */
	struct net_loop_timer *later;
	bool has_rm;
	size_t at, n_in_call; /* in a sandbox */
	struct files_result result;
	void (*planned)(void *arg, const struct err *err, const struct files_plan *plan);
	void *planned_arg;
	void (*done)(void *arg, const struct files_result *result);
	void *done_arg;
};

void files_removal_free(struct files_removal *removal)
{
	if (!removal)
		return;
	files_cancel(removal->op);
	runtime_cancel(removal->call);
	net_loop_timer_free(removal->later);
	for (size_t i = 0; i < removal->plan.n; i++) {
		free(removal->targets[i].name);
		free(removal->targets[i].path);
	}
	free(removal->targets);
	free(removal->dir);
	runtime_unref(removal->runtime);
	free(removal);
}

uint64_t files_removal_n_gone(const struct files_removal *removal)
{
	return removal->op ? files_tree_n_passed(removal->op) : removal->result.n_removed;
}

static const char **names_of(const struct files_removal *removal)
{
	const char **names = x_calloc(removal->plan.n + 1, sizeof *names);
	for (size_t i = 0; i < removal->plan.n; i++)
		names[i] = removal->targets[i].name;
	return names;
}

/* ---- the plan */

static void tell_plan(void *arg)
{
	struct files_removal *removal = arg;
	removal->planned(removal->planned_arg, NULL, &removal->plan);
}

static void on_local_counted(
	void *arg, const struct err *err, const struct files_totals *totals)
{
	struct files_removal *removal = arg;
	removal->op = NULL;
	removal->plan.totals = *totals;
	removal->plan.is_counted = !err;
	tell_plan(removal);
}

static void on_counted(
	void *arg, bool ok, const struct files_totals *totals, const bool *is_link)
{
	struct files_removal *removal = arg;
	removal->op = NULL;
	removal->plan.is_counted = ok;
	removal->plan.totals = *totals;
	for (size_t i = 0; i < removal->plan.n; i++)
		removal->targets[i].is_link = ok && is_link[i];
	tell_plan(removal);
}

static void on_probed(void *arg, const struct err *err, const struct runtime_result *result)
{
	struct files_removal *removal = arg;
	(void)result;
	removal->call = NULL;
	/* rm -f of nothing: its exit status does not matter, that it runs does */
	bool is_missing = err && (err->code == ERR_PROC_COMMAND_NOT_FOUND ||
					 err->code == ERR_OP_UNSUPPORTED ||
					 err->code == ERR_RPC_UNIMPLEMENTED);
	if (err && !is_missing) {
		removal->planned(removal->planned_arg, err, &removal->plan);
		return;
	}
	removal->has_rm = !err;
	removal->plan.follows_links = !removal->has_rm;
	if (removal->has_rm)
		removal->op = files_count_start(removal->loop, removal->runtime,
			removal->targets, removal->plan.n, on_counted, removal);
	if (!removal->op)
		tell_plan(removal);
}

static bool plan_locally(struct files_removal *removal, struct err *err)
{
	const char **names = names_of(removal);
	removal->op = files_tree_start(removal->loop, removal->dir, names, removal->plan.n,
		false, on_local_counted, removal, err);
	free(names);
	return removal->op != NULL;
}

static bool plan_remotely(struct files_removal *removal, struct err *err)
{
	static const char *const probe[] = { "rm", "-f", "--", NULL };
	struct err unable = { 0 };
	removal->call = runtime_execute_start(
		removal->runtime, probe, NULL, "/", PROBE_MS, on_probed, removal, &unable);
	if (removal->call)
		return true;
	if (unable.code != ERR_OP_UNSUPPORTED) {
		err_copy(err, &unable);
		return false;
	}
	/* only files, no processes: the daemon has to do it */
	removal->plan.follows_links = true;
	removal->later = net_loop_timer_new(removal->loop, tell_plan, removal);
	net_loop_timer_arm(removal->later, 0);
	return true;
}

static void take_targets(struct files_removal *removal, const char *dir,
	const struct files_entry *const *entries, size_t n)
{
	removal->dir = x_strdup(dir);
	removal->targets = x_calloc(n, sizeof *removal->targets);
	removal->plan.targets = removal->targets;
	removal->plan.n = n;
	for (size_t i = 0; i < n; i++) {
		const struct files_entry *entry = entries[i];
		removal->targets[i] = (struct files_target){
			.name = x_strdup(entry->name),
			.path = *dir ? path_join(dir, entry->name) : x_strdup(entry->name),
			.size_bytes = entry->size_bytes,
			.is_folder = entry->kind == FILES_FOLDER,
			.is_link =
				entry->kind >= FILES_LINK && entry->kind <= FILES_LINK_BROKEN,
		};
	}
}

struct files_removal *files_removal_plan_start(struct net_loop *loop,
	const struct files_place *place, const char *dir,
	const struct files_entry *const *entries, size_t n,
	void (*planned)(void *arg, const struct err *err, const struct files_plan *plan),
	void *arg, struct err *err)
{
	if (!n || n > FILES_TARGETS_MAX) {
		if (n)
			err_set(err, ERR_ARG_INVALID, "%zu are too many at once", n);
		else
			err_set(err, ERR_ARG_INVALID, "nothing is selected to delete");
		return NULL;
	}
	struct files_removal *removal = x_calloc(1, sizeof *removal);
	removal->loop = loop;
	removal->runtime = place->runtime ? runtime_ref(place->runtime) : NULL;
	removal->planned = planned;
	removal->planned_arg = arg;
	take_targets(removal, dir, entries, n);
	if (place->runtime ? plan_remotely(removal, err) : plan_locally(removal, err))
		return removal;
	files_removal_free(removal);
	return NULL;
}

/* ---- it goes */

static void remote_step(struct files_removal *removal);

static void note(struct files_removal *removal, size_t n, const struct err *err)
{
	if (!removal->result.n_failed)
		removal->result.first = *err;
	removal->result.n_failed += n;
}

static void tell_done(void *arg)
{
	struct files_removal *removal = arg;
	removal->done(removal->done_arg, &removal->result);
}

static void on_local_removed(
	void *arg, const struct err *err, const struct files_totals *totals)
{
	struct files_removal *removal = arg;
	size_t n = removal->plan.n;
	(void)totals;
	removal->op = NULL;
	if (err)
		note(removal, 1, err);
	removal->result.n_removed = err ? n - 1 : n;
	tell_done(removal);
}

static void on_deleted(void *arg, const struct err *err)
{
	struct files_removal *removal = arg;
	removal->call = NULL;
	/* gone already is what was wanted */
	if (err && err->code != ERR_FILE_NOT_FOUND)
		note(removal, 1, err);
	else
		removal->result.n_removed++;
	removal->at++;
	remote_step(removal);
}

/* The first line of what rm says. */
static void set_refused(struct err *err, const struct runtime_result *result)
{
	struct slice text = result->err_out;
	const char *end = text.n ? memchr(text.p, '\n', text.n) : NULL;
	int n = (int)(end ? end - text.p : (ptrdiff_t)text.n);
	bool is_denied = text.n && memmem(text.p, text.n, "ermission denied", 16) != NULL;
	if (n)
		err_set(err, is_denied ? ERR_FILE_DENIED : ERR_FILE_SERVER, "%.*s", n, text.p);
	else
		err_set(err, ERR_FILE_SERVER, "rm ended with %d", result->exit_code);
}

static void on_rm_done(void *arg, const struct err *err, const struct runtime_result *result)
{
	struct files_removal *removal = arg;
	struct err mine = { 0 };
	removal->call = NULL;
	if (!err && result->exit_code != 0) {
		set_refused(&mine, result);
		err = &mine;
	}
	if (err)
		note(removal, 1, err);
	else
		removal->result.n_removed += removal->n_in_call;
	removal->at += removal->n_in_call;
	remote_step(removal);
}

static struct runtime_op *rm_start(struct files_removal *removal, struct err *err)
{
	static const char *const words[] = { "rm", "-rf", "--", NULL };
	struct files_command command;
	size_t n = 0;
	files_command_init(&command, words);
	while (removal->at + n < removal->plan.n &&
		files_command_add(&command, removal->targets[removal->at + n].path))
		n++;
	removal->n_in_call = n;
	struct runtime_op *call = runtime_execute_start(
		removal->runtime, command.argv, NULL, "/", REMOVE_MS, on_rm_done, removal, err);
	files_command_deinit(&command);
	return call;
}

static void remote_step(struct files_removal *removal)
{
	const struct files_target *target = &removal->targets[removal->at];
	struct err err = { 0 };
	if (removal->at >= removal->plan.n) {
		tell_done(removal);
		return;
	}
	removal->call = removal->has_rm ? rm_start(removal, &err)
					: runtime_delete_start(removal->runtime, target->path,
						  target->is_folder, REMOVE_MS, on_deleted,
						  removal, &err);
	if (removal->call)
		return;
	note(removal, removal->plan.n - removal->at, &err);
	tell_done(removal);
}

static void on_first_step(void *arg)
{
	remote_step(arg);
}

void files_removal_start(struct files_removal *removal, const struct files_place *place,
	void (*done)(void *arg, const struct files_result *result), void *arg)
{
	struct err err = { 0 };
	removal->done = done;
	removal->done_arg = arg;
	net_loop_timer_free(removal->later);
	removal->later = NULL;
	if (place->runtime) {
		runtime_unref(removal->runtime);
		removal->runtime = runtime_ref(place->runtime);
		removal->later = net_loop_timer_new(removal->loop, on_first_step, removal);
		net_loop_timer_arm(removal->later, 0);
		return;
	}
	const char **names = names_of(removal);
	removal->op = files_tree_start(removal->loop, removal->dir, names, removal->plan.n,
		true, on_local_removed, removal, &err);
	free(names);
}
