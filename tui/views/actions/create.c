// SPDX-License-Identifier: Apache-2.0
// New sandboxes: from what was wished to a create under way, and what becomes of it.
#include "tui/views/actions/internal.h"
#include "tui/views/actions/words.h"

#include "engine/base/clock.h"
#include "engine/base/json.h"
#include "engine/base/mem.h"
#include "engine/base/yaml.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	WORDS_MAX = 64,
	LISTS = 6,
	PREVIEW_BYTES_MAX = 64 << 10,
	JOIN_LOOK_MS = 50,
	JOIN_MS = 5000
};

void views_actions_creation_free(void *arg)
{
	struct views_creation *creation = arg;
	fleet_op_cancel(creation->op);
	net_loop_timer_free(creation->join);
	views_actions_wishes_deinit(&creation->wishes);
	free(creation->left);
	free(creation->namespace_);
	free(creation);
}

/* ---- what became of it */

static void on_left(void *arg, const char *name, const char *uid)
{
	struct views_creation *creation = arg;
	(void)uid;
	free(creation->left);
	creation->left = x_strdup(name);
}

static void note_made(struct views_actions *actions, const struct fleet_row *row)
{
	struct views_made *made = x_calloc(1, sizeof *made);
	made->namespace_ = x_strdup(row->namespace_);
	made->name = x_strdup(row->claim);
	snprintf(made->uid, sizeof made->uid, "%s", row->uid);
	made->next = actions->made;
	actions->made = made;
}

static void finish(struct views_creation *creation)
{
	struct views_creation **at = &creation->actions->creations;
	while (*at != creation)
		at = &(*at)->next;
	*at = creation->next;
	net_loop_defer(creation->actions->host->loop, views_actions_creation_free, creation);
}

/* Behind what the person does, where that is something else by now. */
static void open_shell(const struct views_creation *creation)
{
	struct view_host *host = creation->actions->host;
	char *words = x_strdup(creation->wishes.shell);
	const char *argv[WORDS_MAX];
	size_t n = views_actions_split_words(words, argv, WORDS_MAX);
	const struct view_args args = { .uid = creation->uid,
		.argv = n ? argv : NULL,
		.is_behind = host_input_serial(host) != creation->input_serial };
	host->ops->open(host, "shell", &args);
	x_free_secret(words);
}

/* The claim says that it is ready a moment before its Sandbox and pod are known here. */
static void on_join(void *arg)
{
	struct views_creation *creation = arg;
	struct err err;
	bool is_joined =
		engine_runtime(creation->actions->host->engine, creation->uid, &err) != NULL;
	if (!is_joined && clock_mono_ms() < creation->join_until_ms) {
		net_loop_timer_arm(creation->join, JOIN_LOOK_MS);
		return;
	}
	open_shell(creation);
	finish(creation);
}

static void begin_join(struct views_creation *creation, const char *uid)
{
	snprintf(creation->uid, sizeof creation->uid, "%s", uid);
	creation->join_until_ms = clock_mono_ms() + JOIN_MS;
	creation->join = net_loop_timer_new(creation->actions->host->loop, on_join, creation);
	net_loop_timer_arm(creation->join, 0);
}

static void on_created(
	void *arg, const struct err *err, const char *name, const struct fleet_row *row)
{
	struct views_creation *creation = arg;
	struct views_actions *actions = creation->actions;
	creation->op = NULL;
	if (err) {
		engine_refused(actions->host->engine, err);
		view_host_notef(actions->host, NOTE_WARNING, "no sandbox was created");
		creation->not_created(actions, &creation->wishes, err,
			fleet_create_part_of(err), creation->left);
	} else {
		if (creation->is_unnamed && row)
			note_made(actions, row);
		view_host_notef(actions->host, NOTE_OK, "%s is ready", name);
		if (creation->wishes.shell && row) {
			begin_join(creation, row->uid);
			return;
		}
	}
	finish(creation);
}

static void on_create_progress(void *arg, const char *stage)
{
	struct views_creation *creation = arg;
	view_host_notef(creation->actions->host, NOTE_INFO, "creating: %s", stage);
}

/* ---- from wishes to options */

struct wanted { /* what the options borrow */
	struct fleet_create_opts opts;
	char *copies[LISTS];
	const char *words[LISTS][WORDS_MAX];
	int n_lists;
	char maker[FLEET_MAKER_BYTES];
};

static void wanted_deinit(struct wanted *wanted)
{
	for (int i = 0; i < wanted->n_lists; i++)
		x_free_secret(wanted->copies[i]);
}

static const char *wish(const struct views_wishes *wishes, int field)
{
	return wishes->of[field] ? wishes->of[field] : "";
}

static const char *wish_or_none(const struct views_wishes *wishes, int field)
{
	return *wish(wishes, field) ? wishes->of[field] : NULL;
}

static const char *const *list_of(
	struct wanted *wanted, const struct views_wishes *wishes, int field)
{
	int i = wanted->n_lists++;
	wanted->copies[i] = x_strdup(wish(wishes, field));
	views_actions_split_quoted(wanted->copies[i], wanted->words[i], WORDS_MAX);
	return wanted->words[i];
}

static bool parse_time(const char *text, int64_t *ms, enum fleet_create_part about,
	enum fleet_create_part *part, struct err *err)
{
	*part = about;
	return !*text || clock_parse_duration(text, ms) ||
	       err_set(err, ERR_ARG_INVALID, "'%s' is no time: write 30m, 2h or 1h30m", text);
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

/* Which pool, and so which namespace; a template finds its own pool. */
static bool choose_pool(struct views_actions *actions, const struct views_wishes *wishes,
	struct fleet_create_opts *opts, enum fleet_create_part *part, struct err *err)
{
	struct view_host *host = actions->host;
	struct fleet *fleet = engine_fleet(host->engine);
	const char *namespace_ = host->ops->namespace_(host);
	const char *name = wish(wishes, FIELD_POOL);
	struct fleet_pool known = { .namespace_ = namespace_, .name = name };
	bool is_known = find_pool(fleet, namespace_, name, &known);
	bool finds_itself = opts->template_ != NULL || engine_policy(host->engine) != NULL;
	*part = FLEET_PART_POOL;
	opts->namespace_ = *known.namespace_ ? known.namespace_ : NULL;
	if (!*name && finds_itself)
		return true;
	opts->pool = known.name;
	return *name || is_known ||
	       err_set(err, ERR_POOL_NOT_FOUND,
		       fleet_is_listed(fleet, FLEET_POOLS)
			       ? "a sandbox needs a warm pool, and there is none"
			       : "a sandbox needs a warm pool; which there are is not known yet");
}

static bool want(struct views_actions *actions, const struct views_wishes *wishes,
	struct wanted *wanted, enum fleet_create_part *part, struct err *err)
{
	struct fleet_create_opts *opts = &wanted->opts;
	*wanted = (struct wanted){ 0 };
	opts->part = part;
	opts->name = wish_or_none(wishes, FIELD_NAME);
	opts->template_ = wish_or_none(wishes, FIELD_TEMPLATE);
	opts->shutdown_policy = wish_or_none(wishes, FIELD_SHUTDOWN_POLICY);
	opts->binding_key = wish_or_none(wishes, FIELD_BINDING_KEY);
	opts->adopt = *wish(wishes, FIELD_ADOPT) != 0;
	opts->labels = list_of(wanted, wishes, FIELD_LABELS);
	opts->annotations = list_of(wanted, wishes, FIELD_ANNOTATIONS);
	opts->env = list_of(wanted, wishes, FIELD_ENV);
	opts->volumes = list_of(wanted, wishes, FIELD_VOLUMES);
	opts->pod_labels = list_of(wanted, wishes, FIELD_POD_LABELS);
	opts->pod_annotations = list_of(wanted, wishes, FIELD_POD_ANNOTATIONS);
	opts->has_ttl = *wish(wishes, FIELD_TTL) != 0;
	if (!parse_time(wish(wishes, FIELD_LIFETIME), &opts->shutdown_after_ms,
		    FLEET_PART_LIFETIME, part, err) ||
		!parse_time(
			wish(wishes, FIELD_TTL), &opts->ttl_ms, FLEET_PART_TTL, part, err) ||
		!parse_time(wish(wishes, FIELD_TIMEOUT), &opts->ready_timeout_ms,
			FLEET_PART_TIMEOUT, part, err))
		return false;
	if (fleet_maker_make(wanted->maker))
		opts->maker = wanted->maker;
	return choose_pool(actions, wishes, opts, part, err);
}

char *views_actions_preview(struct views_actions *actions, const struct views_wishes *wishes,
	enum fleet_create_part *part, struct err *err)
{
	struct wanted wanted;
	struct str text;
	bool ok = want(actions, wishes, &wanted, part, err);
	cJSON *claim = ok ? fleet_create_preview(
				    engine_fleet(actions->host->engine), &wanted.opts, err)
			  : NULL;
	wanted_deinit(&wanted);
	if (!claim)
		return NULL;
	str_init(&text, PREVIEW_BYTES_MAX);
	yaml_format(claim, &text);
	cJSON_Delete(claim);
	char *yaml = str_take(&text);
	str_deinit(&text);
	return yaml;
}

bool views_actions_create(struct views_actions *actions, const struct views_wishes *wishes,
	views_not_created_fn *not_created, enum fleet_create_part *part, struct err *err)
{
	struct view_host *host = actions->host;
	struct wanted wanted;
	if (!want(actions, wishes, &wanted, part, err)) {
		wanted_deinit(&wanted);
		return false;
	}
	struct views_creation *creation = x_calloc(1, sizeof *creation);
	struct fleet_create_opts *opts = &wanted.opts;
	creation->actions = actions;
	creation->not_created = not_created;
	creation->input_serial = host_input_serial(host);
	creation->is_unnamed = !opts->name && !opts->binding_key;
	creation->namespace_ = x_strdup(opts->namespace_);
	views_actions_wishes_copy(&creation->wishes, wishes);
	opts->on_progress = on_create_progress;
	opts->on_left = on_left;
	opts->done = on_created;
	opts->arg = creation;
	creation->op = fleet_create_start(engine_fleet(host->engine), opts, err);
	const char *cold = fleet_create_is_cold(opts);
	wanted_deinit(&wanted);
	if (!creation->op) {
		views_actions_creation_free(creation);
		return false;
	}
	creation->next = actions->creations;
	actions->creations = creation;
	view_host_notef(
		host, NOTE_INFO, "creating a sandbox …%s%s", cold ? " " : "", cold ? cold : "");
	return true;
}
