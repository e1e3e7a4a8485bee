// SPDX-License-Identifier: Apache-2.0
// The form of a new sandbox, and the creations under way.
#include "tui/views/actions/internal.h"
#include "tui/views/actions/words.h"

#include "engine/base/clock.h"
#include "engine/base/mem.h"
#include "tui/widgets/dialog.h"

#include <stdlib.h>
#include <string.h>

void views_actions_creation_free(void *arg)
{
	struct views_creation *creation = arg;
	fleet_op_cancel(creation->op);
	for (int i = 0; i < CREATE_FIELDS; i++)
		free(creation->wishes[i]);
	free(creation->left);
	free(creation->namespace_);
	free(creation);
}

static struct widget_dialog *form(struct views_actions *actions, const char *title,
	const char *const wishes[CREATE_FIELDS]);

/* The field that an error is about. */
static int field_of(const struct err *err)
{
	switch (err->code) {
	case ERR_POOL_NOT_FOUND:
	case ERR_TEMPLATE_NOT_FOUND:
		return FIELD_POOL;
	default:
		break;
	}
	if (strstr(err->msg, "label") || strstr(err->msg, "KEY=VALUE"))
		return FIELD_LABELS;
	if (strstr(err->msg, "pool"))
		return FIELD_POOL;
	return strstr(err->msg, "lifetime") || strstr(err->msg, "is no time") ? FIELD_LIFETIME
									      : FIELD_NAME;
}

/* The form again, as it was filled in, with what is wrong at its field. */
static void fail(struct views_creation *creation, const struct err *err)
{
	struct views_actions *actions = creation->actions;
	struct widget_dialog *dialog =
		form(actions, "Not created", (const char *const *)creation->wishes);
	widget_dialog_set_error(dialog, true);
	if (creation->left)
		widget_dialog_add_textf(dialog,
			"The claim %s was made and stays; it can be deleted in the list.",
			creation->left);
	const char *hint = err_hint(err);
	bool has_hint = hint && *hint;
	widget_dialog_add_textf(dialog, "%s%s%s(%s)", has_hint ? "Next: " : "",
		has_hint ? hint : "", has_hint ? ". " : "", err_name(err));
	widget_dialog_set_field_error(dialog, field_of(err), err->msg);
	view_host_notef(actions->host, NOTE_WARNING, "no sandbox was created");
	actions->host->ops->push_dialog(actions->host, dialog);
}

static void on_left(void *arg, const char *name, const char *uid)
{
	struct views_creation *creation = arg;
	(void)uid;
	free(creation->left);
	creation->left = x_strdup(name);
}

static void on_created(
	void *arg, const struct err *err, const char *name, const struct fleet_row *row)
{
	struct views_creation *creation = arg;
	struct views_actions *actions = creation->actions;
	(void)row;
	creation->op = NULL;
	if (err)
		engine_refused(actions->host->engine, err);
	if (err)
		fail(creation, err);
	else
		view_host_notef(actions->host, NOTE_OK, "%s is ready", name);
	struct views_creation **at = &actions->creations;
	while (*at != creation)
		at = &(*at)->next;
	*at = creation->next;
	net_loop_defer(actions->host->loop, views_actions_creation_free, creation);
}

static void on_create_progress(void *arg, const char *stage)
{
	struct views_creation *creation = arg;
	view_host_notef(creation->actions->host, NOTE_INFO, "creating: %s", stage);
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

static bool create(struct views_actions *actions, const char *name, const char *pool,
	const char *labels, const char *lifetime, struct err *err)
{
	struct view_host *host = actions->host;
	struct fleet_create_opts opts = { 0 };
	const char *namespace_ = host->ops->namespace_(host);
	if (*lifetime && !clock_parse_duration(lifetime, &opts.shutdown_after_ms))
		return err_set(err, ERR_ARG_INVALID, "'%s' is no time: write 30m, 2h or 1h30m",
			lifetime);
	struct fleet_pool known = { .namespace_ = namespace_, .name = pool };
	bool is_known = find_pool(engine_fleet(host->engine), namespace_, pool, &known);
	if (!*pool && !is_known)
		return err_set(err, ERR_POOL_NOT_FOUND,
			fleet_is_listed(engine_fleet(host->engine), FLEET_POOLS)
				? "a sandbox needs a warm pool, and there is none"
				: "a sandbox needs a warm pool; which there are is not known yet");
	char *copy = x_strdup(labels);
	const char *words[64];
	views_actions_split_words(copy, words, 64);
	struct views_creation *creation = x_calloc(1, sizeof *creation);
	creation->actions = actions;
	creation->namespace_ = x_strdup(known.namespace_);
	creation->wishes[FIELD_NAME] = x_strdup(name);
	creation->wishes[FIELD_POOL] = x_strdup(pool);
	creation->wishes[FIELD_LABELS] = x_strdup(labels);
	creation->wishes[FIELD_LIFETIME] = x_strdup(lifetime);
	opts.namespace_ = *known.namespace_ ? known.namespace_ : NULL;
	opts.name = *name ? name : NULL;
	opts.pool = known.name;
	opts.labels = words;
	opts.on_progress = on_create_progress;
	opts.on_left = on_left;
	opts.done = on_created;
	opts.arg = creation;
	creation->op = fleet_create_start(engine_fleet(host->engine), &opts, err);
	free(copy);
	if (!creation->op) {
		views_actions_creation_free(creation);
		return false;
	}
	creation->next = actions->creations;
	actions->creations = creation;
	view_host_notef(host, NOTE_INFO, "creating a sandbox …");
	return true;
}

static bool try_to(void *arg, struct widget_dialog *dialog, int *field, struct err *err)
{
	if (create(arg, widget_dialog_field(dialog, FIELD_NAME),
		    widget_dialog_field(dialog, FIELD_POOL),
		    widget_dialog_field(dialog, FIELD_LABELS),
		    widget_dialog_field(dialog, FIELD_LIFETIME), err))
		return true;
	*field = field_of(err);
	return false;
}

/* What is known of the pools, and the first of them. */
static const char *add_pools(struct widget_dialog *dialog, struct view_host *host)
{
	struct fleet *fleet = engine_fleet(host->engine);
	const char *namespace_ = host->ops->namespace_(host);
	const struct err *failure = fleet_failure(fleet, FLEET_POOLS);
	const char *first = "";
	for (size_t i = 0; i < fleet_pool_count(fleet); i++) {
		struct fleet_pool pool = fleet_pool_at(fleet, i);
		if (*namespace_ && strcmp(pool.namespace_, namespace_) != 0)
			continue;
		if (!*first)
			first = pool.name;
		widget_dialog_add_textf(dialog, "pool %s: %d of %d ready%s", pool.name,
			pool.ready, pool.desired,
			pool.is_template_missing ? ", its template is missing" : "");
	}
	if (fleet_forbidden(fleet, FLEET_POOLS))
		widget_dialog_add_text(
			dialog, "The warm pools may not be listed here: type the name of one.");
	else if (!fleet_is_listed(fleet, FLEET_POOLS))
		widget_dialog_add_textf(dialog, "The warm pools have not been read yet%s%s.",
			failure ? ": " : "", failure ? failure->msg : "");
	else if (!*first)
		widget_dialog_add_text(dialog, "There is no warm pool here.");
	return first;
}

static struct widget_dialog *form(struct views_actions *actions, const char *title,
	const char *const wishes[CREATE_FIELDS])
{
	static const char *const labels[CREATE_FIELDS] = { "name (empty: generated)",
		"warm pool", "labels (k=v k=v)", "lifetime (30m; empty: none)" };
	struct widget_dialog *dialog = widget_dialog_new(title, NULL, actions, NULL);
	const char *first = add_pools(dialog, actions->host);
	for (int i = 0; i < CREATE_FIELDS; i++)
		widget_dialog_add_field(dialog, labels[i],
			wishes            ? wishes[i]
			: i == FIELD_POOL ? first
					  : "");
	widget_dialog_add_button(dialog, "C&reate");
	widget_dialog_add_button(dialog, "&Cancel");
	widget_dialog_set_check(dialog, try_to);
	return dialog;
}

bool views_action_create(void *self, const char *args, struct err *err)
{
	struct view *view = self;
	struct view_host *host = view->host;
	if (*args)
		return create(host->actions, "", args, "", "", err);
	host->ops->push_dialog(host, form(host->actions, "New sandbox", NULL));
	return true;
}
