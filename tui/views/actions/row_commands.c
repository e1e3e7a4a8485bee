// SPDX-License-Identifier: Apache-2.0
// The commands that every view with targets() has, and those of them that open a view on a row.
#include "tui/views/actions/internal.h"
#include "tui/views/actions/words.h"
#include "tui/views/edit/edit.h"

#include "engine/base/mem.h"
#include "tui/session/session.h"

#include <stdlib.h>
#include <string.h>

static bool first_target(struct view *view, const char **uid, struct err *err)
{
	const char *uids[1] = { NULL };
	size_t n = view->class->targets ? view->class->targets(view, uids, 1) : 0;
	if (!n && engine_fleet(view->host->engine))
		return err_set(err, ERR_ARG_INVALID, "no sandbox is selected");
	*uid = n ? uids[0] : NULL;
	return true;
}

struct search {
	const char *uid;
	struct session *found; /* the last one */
};

static void look_at(void *arg, struct session *session)
{
	struct search *search = arg;
	const char *uid = session_uid(session);
	if (uid && strcmp(uid, search->uid) == 0)
		search->found = session;
}

/* Of a sandbox that is no more the last screen of a shell is all that there is. */
static bool show_last_shell(struct view *view, const char *uid, struct err *err)
{
	struct search search = { .uid = uid };
	sessions_each(view->host->sessions, look_at, &search);
	if (!search.found)
		return err_set(err, ERR_SANDBOX_DELETED,
			"it is no more, and no shell of it is open here");
	char *kept = x_strdup(uid);
	struct view_args opts = { .uid = kept, .session = search.found };
	view->host->ops->open(view->host, "shell", &opts);
	free(kept);
	return true;
}

/* ---- what makes sense for the rows that are selected */

enum { LOOKED_AT = 64 };

static bool has_target_in(const struct view *view, bool (*is_so)(enum fleet_state state))
{
	const char *uids[LOOKED_AT];
	struct fleet *fleet = engine_fleet(view->host->engine);
	if (!fleet || !view->class->targets)
		return true;
	size_t n = view->class->targets(view, uids, LOOKED_AT);
	for (size_t i = 0; i < n; i++) {
		const struct fleet_row *row = fleet_find(fleet, uids[i]);
		if (row && is_so(row->state))
			return true;
	}
	return false;
}

static bool is_any(enum fleet_state state)
{
	return state != FLEET_DELETED;
}

static bool is_inside_reached(enum fleet_state state)
{
	return state == FLEET_READY || state == FLEET_DEGRADED || state == FLEET_CRASHING;
}

static bool is_asleep(enum fleet_state state)
{
	return state == FLEET_SUSPENDED || state == FLEET_SUSPENDING;
}

static bool is_awake(enum fleet_state state)
{
	return !is_asleep(state) && state != FLEET_DELETED && state != FLEET_TERMINATING &&
	       state != FLEET_EXPIRED && state != FLEET_FINISHED && state != FLEET_WARM;
}

static bool fits_any(const struct view *view)
{
	return has_target_in(view, is_any);
}

static bool fits_inside(const struct view *view)
{
	return has_target_in(view, is_inside_reached);
}

static bool fits_suspend(const struct view *view)
{
	return has_target_in(view, is_awake);
}

static bool fits_resume(const struct view *view)
{
	return has_target_in(view, is_asleep);
}

/* It is known that there are none, not even one that a filter hides. */
static bool has_no_sandbox(const struct view_host *host)
{
	const struct fleet *fleet = engine_fleet(host->engine);
	const char *namespace_ = host->ops->namespace_(host);
	if (!fleet || !fleet_is_synced(fleet) || fleet_forbidden(fleet, FLEET_CLAIMS) ||
		fleet_forbidden(fleet, FLEET_SANDBOXES))
		return false;
	for (size_t i = 0; i < fleet_count(fleet); i++) {
		const struct fleet_row *row = fleet_at(fleet, i);
		bool is_here = !*namespace_ || strcmp(row->namespace_, namespace_) == 0;
		if (is_here && row->state != FLEET_WARM && row->state != FLEET_DELETED)
			return false;
	}
	return true;
}

static bool run_shell(void *self, const char *args, struct err *err)
{
	struct view *view = self;
	const char *uid = NULL;
	if (!first_target(view, &uid, err))
		return has_no_sandbox(view->host) &&
		       views_actions_may(view, ACCESS_CREATE, err) &&
		       views_action_create_shell(view, args, err);
	const struct fleet *fleet = engine_fleet(view->host->engine);
	if (fleet && uid && !fleet_find(fleet, uid) && fleet_find_any(fleet, uid))
		return show_last_shell(view, uid, err);
	char *copy = x_strdup(args);
	const char *argv[64];
	size_t n = views_actions_split_words(copy, argv, 64);
	char *kept = uid ? x_strdup(uid) : NULL;
	struct view_args opts = { .uid = kept, .argv = n ? argv : NULL };
	view->host->ops->open(view->host, "shell", &opts);
	free(kept);
	free(copy);
	return true;
}

static bool open_on_target(
	struct view *view, const char *name, const char *path, struct err *err)
{
	const char *uid = NULL;
	if (!first_target(view, &uid, err))
		return false;
	char *kept = uid ? x_strdup(uid) : NULL;
	struct view_args opts = { .uid = kept, .path = path };
	view->host->ops->open(view->host, name, &opts);
	free(kept);
	return true;
}

static bool run_files(void *self, const char *args, struct err *err)
{
	return open_on_target(self, "files", *args ? args : NULL, err);
}

static bool run_detail(void *self, const char *args, struct err *err)
{
	(void)args;
	return open_on_target(self, "detail", NULL, err);
}

static bool run_yaml(void *self, const char *args, struct err *err)
{
	(void)args;
	return open_on_target(self, "yaml", NULL, err);
}

static bool run_logs(void *self, const char *args, struct err *err)
{
	(void)args;
	return open_on_target(self, "logs", NULL, err);
}

/* Its claim, or the Sandbox of one that has none; or the one that is named. */
static void complete_pool(void *self, const char *args,
	void (*add)(void *add_arg, const char *candidate), void *add_arg)
{
	const struct view *view = self;
	const struct fleet *fleet = engine_fleet(view->host->engine);
	(void)args;
	for (size_t i = 0; fleet && i < fleet_pool_count(fleet); i++)
		add(add_arg, fleet_pool_at(fleet, i).name);
}

static bool run_edit(void *self, const char *args, struct err *err)
{
	struct view *view = self;
	const char *uid = NULL;
	struct engine_object_id found[ENGINE_ROW_OBJECTS_MAX];
	if (!first_target(view, &uid, err))
		return false;
	size_t n = uid ? engine_row_objects(view->host->engine, uid, found) : 0;
	for (size_t i = 0; i < n; i++)
		if (!*args || strcmp(args, found[i].word) == 0)
			return views_edits_start(view->host, &found[i], err);
	return err_set(err, ERR_ARG_INVALID,
		n ? "there is no '%s' to edit" : "nothing is selected%s", n ? args : "");
}

static bool run_tree(void *self, const char *args, struct err *err)
{
	(void)args;
	return open_on_target(self, "tree", NULL, err);
}

const struct view_command views_row_commands[] = {
	{ "shell", "[PROGRAM ARG…]", "open a shell (or that program) in the sandbox",
		.run = run_shell, .has_right = true, .right = ACCESS_SHELL, .aliases = "sh",
		.fits = fits_inside },
	{ "files", "[PATH]", "its files beside yours", .run = run_files, .has_right = true,
		.right = ACCESS_FILES, .fits = fits_inside },
	{ "detail", "", "status, conditions, health, metadata, labels, events",
		.run = run_detail, .aliases = "describe", .fits = fits_any },
	{ "create", "[POOL]", "create a sandbox", .run = views_action_create, .has_right = true,
		.complete = complete_pool, .right = ACCESS_CREATE },
	{ "delete", "", "delete the sandboxes selected (asks)", .run = views_action_delete,
		.has_right = true, .right = ACCESS_DELETE, .aliases = "rm", .fits = fits_any },
	{ "suspend", "", "suspend the sandboxes selected (asks)", .run = views_action_suspend,
		.has_right = true, .right = ACCESS_SUSPEND, .fits = fits_suspend },
	{ "suspend-idle", "[TIME]", "suspend those idle for TIME (30m) or longer (asks)",
		.run = views_action_suspend_idle, .has_right = true, .right = ACCESS_SUSPEND },
	{ "resume", "", "resume the sandboxes selected", .run = views_action_resume,
		.has_right = true, .right = ACCESS_SUSPEND, .fits = fits_resume },
	{ "extend", "[TIME]", "their end of life becomes now plus TIME",
		.run = views_action_extend, .has_right = true, .right = ACCESS_EXTEND,
		.fits = fits_any },
	{ "lifetime", "[END]", "set, move or clear its end of life (asks when it gets shorter)",
		.run = views_action_lifetime, .has_right = true, .right = ACCESS_EXTEND,
		.fits = fits_any },
	{ "close-local", "", "end its shells and connections here; it lives on (asks)",
		.run = views_action_close_local, .fits = fits_any },
	{ "logs", "", "what a container of its pod has written", .run = run_logs,
		.fits = fits_any },
	{ "edit", "[claim|sandbox|pod]", "change its claim in your editor", .run = run_edit,
		.fits = fits_any },
	{ "yaml", "", "claim, Sandbox and pod as YAML", .run = run_yaml, .fits = fits_any },
	{ "tree", "", "what belongs to it and whose it is", .run = run_tree, .fits = fits_any },
};
const size_t views_n_row_commands = sizeof views_row_commands / sizeof views_row_commands[0];

bool views_actions_may(const struct view *view, enum access_action action, struct err *err)
{
	enum { TARGETS_LOOKED_AT = 64 };
	struct view_host *host = view->host;
	const char *uids[TARGETS_LOOKED_AT];
	size_t n = 0;
	if (action != ACCESS_CREATE && view->class->targets)
		n = view->class->targets(view, uids, TARGETS_LOOKED_AT);
	if (!n)
		return engine_may(host->engine, action, NULL, host->ops->namespace_(host), err);
	for (size_t i = 0; i < n; i++)
		if (engine_may(host->engine, action, uids[i], "", err))
			return true;
	return false;
}
