// SPDX-License-Identifier: Apache-2.0
// The form of a new sandbox, and the creations under way.
#include "tui/views/actions_internal.h"

#include "engine/base/clock.h"
#include "engine/base/mem.h"
#include "tui/views/dialog.h"

#include <stdlib.h>
#include <string.h>

enum { FIELD_NAME, FIELD_POOL, FIELD_LABELS, FIELD_LIFETIME };

void creation_free(void *arg)
{
	struct creation *creation = arg;
	fleet_op_cancel(creation->op);
	free(creation->namespace_);
	free(creation);
}

static void on_created(
	void *arg, const struct err *err, const char *name, const struct fleet_row *row)
{
	struct creation *creation = arg;
	struct actions *actions = creation->actions;
	(void)row;
	creation->op = NULL;
	if (err)
		engine_refused(
			actions->host->engine, ENGINE_CREATE, NULL, creation->namespace_, err);
	if (err)
		host_failf(actions->host, err, "Cannot create the sandbox");
	else
		host_notef(actions->host, NOTE_OK, "%s is ready", name);
	struct creation **at = &actions->creations;
	while (*at != creation)
		at = &(*at)->next;
	*at = creation->next;
	loop_defer(actions->host->loop, creation_free, creation);
}

static void on_create_progress(void *arg, const char *stage)
{
	struct creation *creation = arg;
	host_notef(creation->actions->host, NOTE_INFO, "creating: %s", stage);
}

/* A pool by name ("" = the first) in a namespace ("" = all). False: none is known. */
static bool find_pool(
	struct fleet *fleet, const char *namespace_, const char *name, struct fleet_pool *out)
{
	for (size_t i = 0; i < fleet_pool_count(fleet); i++) {
		struct fleet_pool pool = fleet_pool_at(fleet, i);
		if ((*namespace_ && strcmp(pool.namespace_, namespace_) != 0) ||
			(*name && strcmp(pool.name, name) != 0))
			continue;
		*out = pool;
		return true;
	}
	return false;
}

static bool create(struct actions *actions, const char *name, const char *pool,
	const char *labels, const char *lifetime, struct err *err)
{
	struct host *host = actions->host;
	struct fleet_create_opts opts = { 0 };
	const char *namespace_ = host->ops->namespace_(host);
	if (*lifetime && !clock_parse_duration(lifetime, &opts.shutdown_after_ms))
		return err_set(err, ERR_ARG_INVALID, "'%s' is no time: write 30m, 2h or 1h30m",
			lifetime);
	struct fleet_pool known = { .namespace_ = namespace_, .name = pool };
	bool is_known = find_pool(engine_fleet(host->engine), namespace_, pool, &known);
	if (!*pool && !is_known)
		return err_set(err, ERR_POOL_NOT_FOUND,
			"a sandbox needs a warm pool, and none is known");
	char *copy = x_strdup(labels);
	const char *words[64];
	split_words(copy, words, 64);
	struct creation *creation = x_calloc(1, sizeof *creation);
	creation->actions = actions;
	creation->namespace_ = x_strdup(known.namespace_);
	opts.namespace_ = *known.namespace_ ? known.namespace_ : NULL;
	opts.name = *name ? name : NULL;
	opts.pool = known.name;
	opts.labels = words;
	opts.on_progress = on_create_progress;
	opts.done = on_created;
	opts.arg = creation;
	creation->op = fleet_create_start(engine_fleet(host->engine), &opts, err);
	free(copy);
	if (!creation->op) {
		creation_free(creation);
		return false;
	}
	creation->next = actions->creations;
	actions->creations = creation;
	host_notef(host, NOTE_INFO, "creating a sandbox …");
	return true;
}

static void on_create_answered(void *arg, struct dialog *dialog, int button)
{
	struct actions *actions = arg;
	struct err err;
	if (button == 0 &&
		!create(actions, dialog_field(dialog, FIELD_NAME),
			dialog_field(dialog, FIELD_POOL), dialog_field(dialog, FIELD_LABELS),
			dialog_field(dialog, FIELD_LIFETIME), &err))
		host_failf(actions->host, &err, "Cannot create the sandbox");
}

bool action_create(void *self, const char *args, struct err *err)
{
	struct view *view = self;
	struct host *host = view->host;
	struct fleet *fleet = engine_fleet(host->engine);
	if (*args)
		return create(host->actions, "", args, "", "", err);
	struct dialog *dialog =
		dialog_new("New sandbox", on_create_answered, host->actions, NULL);
	const char *namespace_ = host->ops->namespace_(host);
	const char *first = "";
	for (size_t i = 0; i < fleet_pool_count(fleet); i++) {
		struct fleet_pool pool = fleet_pool_at(fleet, i);
		if (*namespace_ && strcmp(pool.namespace_, namespace_) != 0)
			continue;
		if (!*first)
			first = pool.name;
		dialog_add_textf(dialog, "pool %s: %d of %d ready%s", pool.name, pool.ready,
			pool.desired,
			pool.is_template_missing ? ", its template is missing" : "");
	}
	if (fleet_forbidden(fleet, FLEET_POOLS))
		dialog_add_text(
			dialog, "The warm pools may not be listed here: type the name of one.");
	else if (!*first)
		dialog_add_text(dialog, "No warm pool is known here yet.");
	dialog_add_field(dialog, "name (empty: generated)", "");
	dialog_add_field(dialog, "warm pool", first);
	dialog_add_field(dialog, "labels (k=v k=v)", "");
	dialog_add_field(dialog, "lifetime (30m; empty: none)", "");
	dialog_add_button(dialog, "C&reate");
	dialog_add_button(dialog, "&Cancel");
	host->ops->push_dialog(host, dialog);
	return true;
}
