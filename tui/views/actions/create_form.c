// SPDX-License-Identifier: Apache-2.0
// The form of a new sandbox: what can be filled in, which pools there are while it is open, and what would be sent.
#include "tui/views/actions/internal.h"

#include "engine/base/mem.h"
#include "tui/widgets/dialog.h"

#include <stdlib.h>
#include <string.h>

enum { POOLS_SHOWN = 5, POOLS_SHOWN_FULL = 2, LOOK_MS = 250 };
enum { BUTTON_CREATE, BUTTON_FOLD, BUTTON_PREVIEW };

static const struct {
	const char *label;
	enum fleet_create_part part;
} fields[CREATE_FIELDS] = {
	[FIELD_NAME] = { "name (empty: generated)", FLEET_PART_NAME },
	[FIELD_POOL] = { "warm pool", FLEET_PART_POOL },
	[FIELD_LABELS] = { "labels (k=v k=v)", FLEET_PART_LABELS },
	[FIELD_LIFETIME] = { "lifetime (30m; empty: none)", FLEET_PART_LIFETIME },
	[FIELD_TEMPLATE] = { "template (finds a pool)", FLEET_PART_NONE },
	[FIELD_ANNOTATIONS] = { "annotations (k=v k=\"v w\")", FLEET_PART_ANNOTATIONS },
	[FIELD_ENV] = { "env ([CONTAINER:]K=V)", FLEET_PART_ENV },
	[FIELD_VOLUMES] = { "volumes (NAME:SIZE[:CLASS])", FLEET_PART_VOLUMES },
	[FIELD_TTL] = { "deleted after its end (5m)", FLEET_PART_TTL },
	[FIELD_SHUTDOWN_POLICY] = { "at its end (Delete, Retain)", FLEET_PART_SHUTDOWN_POLICY },
	[FIELD_BINDING_KEY] = { "binding key", FLEET_PART_BINDING_KEY },
	[FIELD_POD_LABELS] = { "pod labels (k=v k=v)", FLEET_PART_POD_LABELS },
	[FIELD_POD_ANNOTATIONS] = { "pod annotations (k=v)", FLEET_PART_POD_ANNOTATIONS },
	[FIELD_TIMEOUT] = { "ready within (3m)", FLEET_PART_TIMEOUT },
	[FIELD_ADOPT] = { "take over a claim of that name", FLEET_PART_NONE },
};

static bool is_any_folded(const struct views_wishes *wishes)
{
	for (int i = FIELDS_ALWAYS; i < CREATE_FIELDS; i++)
		if (wishes->of[i] && *wishes->of[i])
			return true;
	return false;
}

/* ---- the form that is open */

struct views_form {
	struct views_actions *actions;
	struct widget_dialog *dialog;
	struct views_wishes wishes; /* of the fields that are folded away */
	bool is_whole;
	char *told;   /* what the text says of the pools */
	char *before; /* what it says above them: what went wrong; NULL */
	struct net_loop_timer *look;
};

static void form_free(void *arg)
{
	struct views_form *form = arg;
	net_loop_timer_free(form->look);
	views_actions_wishes_deinit(&form->wishes);
	free(form->told);
	free(form->before);
	free(form);
}

static views_not_created_fn push_form;

static int fields_shown(const struct views_form *form)
{
	return form->is_whole ? CREATE_FIELDS : FIELDS_ALWAYS;
}

static void read_fields(
	const struct views_form *form, struct widget_dialog *dialog, struct views_wishes *out)
{
	views_actions_wishes_copy(out, &form->wishes);
	for (int i = 0; i < fields_shown(form); i++) {
		const char *text = i == FIELD_ADOPT
					   ? (widget_dialog_switch(dialog, i) ? "on" : "")
					   : widget_dialog_field(dialog, i);
		x_free_secret(out->of[i]);
		out->of[i] = x_strdup(text);
	}
}

static int field_of(enum fleet_create_part part)
{
	for (int i = 0; i < CREATE_FIELDS; i++)
		if (part != FLEET_PART_NONE && fields[i].part == part)
			return i;
	return FIELD_NAME;
}

/* ---- the pools */

static bool is_here(const struct fleet_pool *pool, const char *namespace_)
{
	return !*namespace_ || strcmp(pool->namespace_, namespace_) == 0;
}

/* One line each, told apart by line ends; first: the name of the first. */
static char *pools_text(const struct views_form *form, const char **first)
{
	struct view_host *host = form->actions->host;
	struct fleet *fleet = engine_fleet(host->engine);
	const char *namespace_ = host->ops->namespace_(host);
	const struct err *failure = fleet_failure(fleet, FLEET_POOLS);
	size_t most = form->is_whole ? POOLS_SHOWN_FULL : POOLS_SHOWN, n = 0;
	struct str text;
	str_init(&text, 4096);
	*first = "";
	for (size_t i = 0; i < fleet_pool_count(fleet); i++) {
		struct fleet_pool pool = fleet_pool_at(fleet, i);
		if (!is_here(&pool, namespace_))
			continue;
		if (n == 0)
			*first = pool.name;
		if (n++ < most)
			str_addf(&text, "pool %s: %d of %d ready, template %s%s\n", pool.name,
				pool.ready, pool.desired, pool.template_,
				pool.is_template_missing ? ", which is missing" : "");
	}
	if (n > most)
		str_addf(&text, "and %zu more pools (:pools)\n", n - most);
	if (fleet_forbidden(fleet, FLEET_POOLS))
		str_add(&text,
			"The warm pools may not be listed here: type the name of one.\n");
	else if (!fleet_is_listed(fleet, FLEET_POOLS))
		str_addf(&text, "The warm pools have not been read yet%s%s.\n",
			failure ? ": " : "", failure ? failure->msg : "");
	else if (n == 0)
		str_add(&text, "There is no warm pool here.\n");
	char *all = str_take(&text);
	str_deinit(&text);
	return all;
}

static void add_lines(struct widget_dialog *dialog, const char *text)
{
	while (text && *text) {
		size_t n = strcspn(text, "\n");
		widget_dialog_add_textf(dialog, "%.*s", (int)n, text);
		text += n + (text[n] != 0);
	}
}

/* Pools come, go and fill while it is open. */
static void on_look(void *arg)
{
	struct views_form *form = arg;
	const char *first;
	char *now = pools_text(form, &first);
	net_loop_timer_arm(form->look, LOOK_MS);
	if (form->told && strcmp(now, form->told) == 0) {
		free(now);
		return;
	}
	widget_dialog_clear_text(form->dialog);
	add_lines(form->dialog, form->before);
	add_lines(form->dialog, now);
	bool is_free = !*widget_dialog_field(form->dialog, FIELD_POOL) &&
		       (!form->is_whole || !*widget_dialog_field(form->dialog, FIELD_TEMPLATE));
	if (is_free && *first && !engine_policy(form->actions->host->engine))
		widget_dialog_set_field(form->dialog, FIELD_POOL, first);
	free(form->told);
	form->told = now;
	host_dirty(form->actions->host);
}

/* ---- what would be sent */

struct views_preview {
	struct views_actions *actions;
	struct views_wishes wishes;
};

static void preview_free(void *arg)
{
	struct views_preview *preview = arg;
	views_actions_wishes_deinit(&preview->wishes);
	free(preview);
}

static void on_preview_answered(void *arg, struct widget_dialog *dialog, int button)
{
	struct views_preview *preview = arg;
	enum fleet_create_part part = FLEET_PART_NONE;
	struct err err = { 0 };
	(void)dialog;
	if (button != 0)
		push_form(preview->actions, &preview->wishes, NULL, FLEET_PART_NONE, NULL);
	else if (!views_actions_create(
			 preview->actions, &preview->wishes, push_form, &part, &err))
		push_form(preview->actions, &preview->wishes, &err, part, NULL);
}

static void push_preview(struct views_actions *actions, const struct views_wishes *wishes)
{
	enum fleet_create_part part = FLEET_PART_NONE;
	struct err err = { 0 };
	char *yaml = views_actions_preview(actions, wishes, &part, &err);
	if (!yaml) {
		push_form(actions, wishes, &err, part, NULL);
		return;
	}
	struct views_preview *preview = x_calloc(1, sizeof *preview);
	preview->actions = actions;
	views_actions_wishes_copy(&preview->wishes, wishes);
	struct widget_dialog *dialog = widget_dialog_new(
		"This would be sent", on_preview_answered, preview, preview_free);
	add_lines(dialog, yaml);
	free(yaml);
	widget_dialog_add_button(dialog, "C&reate");
	widget_dialog_add_button(dialog, "&Back");
	widget_dialog_focus_button(dialog, 1);
	actions->host->ops->push_dialog(actions->host, dialog);
}

/* ---- the form */

static bool try_to(void *arg, struct widget_dialog *dialog, int *field, struct err *err)
{
	struct views_form *form = arg;
	struct views_wishes wishes = { 0 };
	enum fleet_create_part part = FLEET_PART_NONE;
	read_fields(form, dialog, &wishes);
	bool ok = views_actions_create(form->actions, &wishes, push_form, &part, err);
	views_actions_wishes_deinit(&wishes);
	*field = field_of(part);
	return ok;
}

static void push_folded(
	struct views_actions *actions, const struct views_wishes *wishes, bool is_whole);

static void on_form_answered(void *arg, struct widget_dialog *dialog, int button)
{
	struct views_form *form = arg;
	struct views_wishes wishes = { 0 };
	if (button != BUTTON_FOLD && button != BUTTON_PREVIEW)
		return;
	read_fields(form, dialog, &wishes);
	if (button == BUTTON_FOLD)
		push_folded(form->actions, &wishes, !form->is_whole);
	else
		push_preview(form->actions, &wishes);
	views_actions_wishes_deinit(&wishes);
}

static void add_fields(struct views_form *form)
{
	for (int i = 0; i < fields_shown(form); i++) {
		const char *value = form->wishes.of[i] ? form->wishes.of[i] : "";
		if (i == FIELD_ADOPT)
			widget_dialog_add_switch(form->dialog, fields[i].label, *value != 0);
		else
			widget_dialog_add_field(form->dialog, fields[i].label, value);
	}
}

static struct views_form *form_new(struct views_actions *actions, const char *title,
	const struct views_wishes *wishes, bool is_whole)
{
	struct views_form *form = x_calloc(1, sizeof *form);
	form->actions = actions;
	form->is_whole = is_whole;
	views_actions_wishes_copy(&form->wishes, wishes);
	form->dialog = widget_dialog_new(title, on_form_answered, form, form_free);
	form->look = net_loop_timer_new(actions->host->loop, on_look, form);
	add_fields(form);
	widget_dialog_add_button(form->dialog, "C&reate");
	widget_dialog_add_button(form->dialog, is_whole ? "&Fewer fields" : "&More fields");
	widget_dialog_add_button(form->dialog, "&Preview");
	widget_dialog_add_button(form->dialog, "&Cancel");
	widget_dialog_set_check(form->dialog, try_to);
	return form;
}

static void push_folded(
	struct views_actions *actions, const struct views_wishes *wishes, bool is_whole)
{
	struct views_form *form = form_new(actions,
		wishes && wishes->shell ? "New sandbox, and a shell in it" : "New sandbox",
		wishes, is_whole);
	on_look(form);
	actions->host->ops->push_dialog(actions->host, form->dialog);
}

static char *why_not(const struct err *err, const char *left)
{
	const char *hint = err_hint(err);
	bool has_hint = hint && *hint;
	return x_asprintf("%s%s%s%s%s%s(%s)\n", left ? "The claim " : "", left ? left : "",
		left ? " was made and stays; it can be deleted in the list.\n" : "",
		has_hint ? "Next: " : "", has_hint ? hint : "", has_hint ? ". " : "",
		err_name(err));
}

static void push_form(struct views_actions *actions, const struct views_wishes *wishes,
	const struct err *err, enum fleet_create_part part, const char *left)
{
	int field = field_of(part);
	bool is_whole = (wishes && is_any_folded(wishes)) || field >= FIELDS_ALWAYS;
	if (!err) {
		push_folded(actions, wishes, is_whole);
		return;
	}
	struct views_form *form = form_new(actions, "Not created", wishes, is_whole);
	form->before = why_not(err, left);
	widget_dialog_set_error(form->dialog, true);
	on_look(form);
	widget_dialog_set_field_error(form->dialog, field, err->msg);
	actions->host->ops->push_dialog(actions->host, form->dialog);
}

bool views_action_create(void *self, const char *args, struct err *err)
{
	struct view *view = self;
	struct views_actions *actions = view->host->actions;
	enum fleet_create_part part;
	if (*args) {
		struct views_wishes wishes = { .of = { [FIELD_POOL] = x_strdup(args) } };
		bool ok = views_actions_create(actions, &wishes, push_form, &part, err);
		views_actions_wishes_deinit(&wishes);
		return ok;
	}
	push_form(actions, NULL, NULL, FLEET_PART_NONE, NULL);
	return true;
}

static size_t pools_here(const struct views_actions *actions)
{
	const struct view_host *host = actions->host;
	const struct fleet *fleet = engine_fleet(host->engine);
	const char *namespace_ = host->ops->namespace_(host);
	size_t n = 0;
	for (size_t i = 0; i < fleet_pool_count(fleet); i++) {
		struct fleet_pool pool = fleet_pool_at(fleet, i);
		n += is_here(&pool, namespace_);
	}
	return n;
}

/* Which pool needs no question; also where there is none, since that is an answer too. */
static bool is_pool_clear(const struct views_actions *actions)
{
	const struct view_host *host = actions->host;
	const struct fleet *fleet = engine_fleet(host->engine);
	size_t n = pools_here(actions);
	return n == 1 || engine_policy(host->engine) ||
	       (n == 0 && fleet_is_listed(fleet, FLEET_POOLS));
}

bool views_action_create_shell(struct view *view, const char *program, struct err *err)
{
	struct views_actions *actions = view->host->actions;
	enum fleet_create_part part;
	bool ok = true;
	struct views_wishes wishes = { .shell = x_strdup(program) };
	if (is_pool_clear(actions))
		ok = views_actions_create(actions, &wishes, push_form, &part, err);
	else
		push_form(actions, &wishes, NULL, FLEET_PART_NONE, NULL);
	views_actions_wishes_deinit(&wishes);
	return ok;
}
