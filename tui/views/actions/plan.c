// SPDX-License-Identifier: Apache-2.0
// Plans: what a command on several sandboxes would do, told and asked before it is done; then its progress in a note, and
// what came of it. The engine runs it (engine/fleet/bulk.h), the view "bulk" shows each one.
#include "tui/views/actions/internal.h"

#include "engine/base/clock.h"
#include "engine/base/mem.h"
#include "engine/base/settings.h"
#include "tui/session/session.h"
#include "tui/widgets/dialog.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	NAMES_SHOWN = 8,
	TYPED_ABOVE = 10, /* more than so many: their number is typed */
	LOOK_MS = 100,
	LOOK_FOR_MS = 30 * 1000,
	FINISHED_KEPT = 8,
};

static const struct {
	const char *ask, *doing, *done, *button, *lost_one, *lost_all;
	enum access_action right;
} verbs[] = {
	[FLEET_BULK_DELETE] = { "Delete", "deleting", "deleted", "&Delete",
		"Everything in it is lost.", "Everything in them is lost.", ACCESS_DELETE },
	[FLEET_BULK_SUSPEND] = { "Suspend", "suspending", "suspended", "&Suspend",
		"Its processes end; its shells close. Files on volumes stay.",
		"Their processes end; their shells close. Files on volumes stay.",
		ACCESS_SUSPEND },
	[FLEET_BULK_RESUME] = { "Resume", "resuming", "resumed", "&Resume",
		"Its pod starts again; nothing is lost.",
		"Their pods start again; nothing is lost.", ACCESS_SUSPEND },
	[FLEET_BULK_EXTEND] = { "Extend", "extending", "extended", "&Extend",
		"The end of life becomes now plus:", "The end of life becomes now plus:",
		ACCESS_EXTEND },
};
_Static_assert(sizeof verbs / sizeof *verbs == FLEET_BULK_VERB_COUNT, "words for each");

struct views_plan {
	struct views_actions *actions;
	struct views_plan *next; /* the newest first */
	struct fleet_bulk *bulk;
	enum fleet_bulk_verb verb;
	int field;      /* of the dialog: the time, or the number that is typed; -1 */
	char why[128];  /* these; "" */
	char typed[24]; /* what has to be typed; "" */
	bool is_told;   /* its end */
	struct net_loop_timer *look; /* deletions: until the rows are gone */
	int64_t look_until_ms, noted_ms;
	const struct fleet *fleet; /* whose rows they are: to compare */
};

/* ---- the engine's questions */

static bool may(void *arg, const char *uid, struct err *err)
{
	const struct views_plan *plan = arg;
	return engine_may(plan->actions->host->engine, verbs[plan->verb].right, uid, "", err);
}

static bool rows_are_current(void *arg)
{
	const struct views_plan *plan = arg;
	return !view_host_is_stale(plan->actions->host);
}

/* ---- what came of it */

static const struct fleet_bulk_item *first_failed(const struct views_plan *plan)
{
	for (size_t i = 0; i < fleet_bulk_count(plan->bulk); i++) {
		const struct fleet_bulk_item *item = fleet_bulk_at(plan->bulk, i);
		if (item->result == FLEET_BULK_FAILED)
			return item;
	}
	return NULL;
}

static void say_done(const struct views_plan *plan)
{
	struct view_host *host = plan->actions->host;
	const size_t n = fleet_bulk_count(plan->bulk),
		     ok = fleet_bulk_count_of(plan->bulk, FLEET_BULK_DONE),
		     left = fleet_bulk_count_of(plan->bulk, FLEET_BULK_CANCELLED);
	const struct fleet_bulk_item *item = fleet_bulk_at(plan->bulk, 0);
	const struct fleet_row *row =
		n == 1 ? fleet_find(engine_fleet(host->engine), item->uid) : NULL;
	char date[CLOCK_RFC3339_BYTES], age[CLOCK_AGE_BYTES];
	const char *done = verbs[plan->verb].done;
	if (left)
		view_host_notef(
			host, NOTE_WARNING, "%s %zu of %zu, then cancelled", done, ok, n);
	else if (ok && plan->verb == FLEET_BULK_EXTEND && row && row->expires_ms)
		view_host_notef(host, NOTE_OK, "%s lives until %s, for %s", item->name,
			clock_format_rfc3339(row->expires_ms * 1000000, 0, date),
			clock_format_age(row->expires_ms - clock_wall_ms(), age));
	else if (ok && n == 1)
		view_host_notef(host, NOTE_OK, "%s %s", done, item->name);
	else if (ok)
		view_host_notef(host, NOTE_OK, "%s %zu of %zu", done, ok, n);
}

static void say_failed(const struct views_plan *plan)
{
	struct view_host *host = plan->actions->host;
	const size_t failed = fleet_bulk_count_of(plan->bulk, FLEET_BULK_FAILED);
	const struct fleet_bulk_item *first = first_failed(plan);
	if (first == NULL)
		return;
	if (failed == 1)
		view_host_failf(
			host, first->err, "Not %s: %s", verbs[plan->verb].done, first->name);
	else
		view_host_failf(host, first->err, "%zu of %zu not %s; the first: %s", failed,
			fleet_bulk_count(plan->bulk), verbs[plan->verb].done, first->name);
}

/* The API server answers before they are gone. */
static void on_look(void *arg)
{
	struct views_plan *plan = arg;
	struct view_host *host = plan->actions->host;
	bool is_other = engine_fleet(host->engine) != plan->fleet;
	size_t left = is_other ? 0 : fleet_bulk_still_there(plan->bulk);
	if (left && clock_mono_ms() < plan->look_until_ms) {
		net_loop_timer_arm(plan->look, LOOK_MS);
		return;
	}
	if (left)
		view_host_notef(host, NOTE_WARNING, "%zu of %zu are still being deleted", left,
			fleet_bulk_count(plan->bulk));
	else if (!is_other) /* another namespace is looked at: nothing is known of these */
		say_done(plan);
	host_dirty(host);
}

static void say_progress(struct views_plan *plan)
{
	struct view_host *host = plan->actions->host;
	const size_t n = fleet_bulk_count(plan->bulk);
	const size_t open = fleet_bulk_count_of(plan->bulk, FLEET_BULK_WAITING) +
			    fleet_bulk_count_of(plan->bulk, FLEET_BULK_RUNNING);
	if (n == 1)
		view_host_notef(host, NOTE_INFO, "%s %s …", verbs[plan->verb].doing,
			fleet_bulk_at(plan->bulk, 0)->name);
	else if (open == n)
		view_host_notef(
			host, NOTE_INFO, "%s %zu sandboxes …", verbs[plan->verb].doing, n);
	else
		view_host_notef(host, NOTE_INFO, "%s: %zu of %zu … (:bulk shows and cancels)",
			verbs[plan->verb].doing, n - open, n);
}

static void on_change(void *arg)
{
	struct views_plan *plan = arg;
	struct view_host *host = plan->actions->host;
	host_dirty(host);
	if (!fleet_bulk_is_finished(plan->bulk)) {
		if (clock_mono_ms() - plan->noted_ms >= 250) {
			plan->noted_ms = clock_mono_ms();
			say_progress(plan);
		}
		return;
	}
	if (plan->is_told)
		return;
	plan->is_told = true;
	for (size_t i = 0; i < fleet_bulk_count(plan->bulk); i++)
		if (fleet_bulk_at(plan->bulk, i)->result == FLEET_BULK_FAILED)
			engine_refused(host->engine, fleet_bulk_at(plan->bulk, i)->err);
	bool is_going = fleet_bulk_still_there(plan->bulk) > 0;
	if (!is_going)
		say_done(plan);
	say_failed(plan);
	if (!is_going)
		return;
	plan->look_until_ms = clock_mono_ms() + LOOK_FOR_MS;
	net_loop_timer_arm(plan->look, LOOK_MS);
}

/* ---- made, run, freed */

static void plan_free(struct views_plan *plan)
{
	net_loop_timer_free(plan->look);
	fleet_bulk_free(plan->bulk);
	free(plan);
}

void views_action_plans_free(struct views_actions *actions)
{
	while (actions->plans) {
		struct views_plan *plan = actions->plans;
		actions->plans = plan->next;
		plan_free(plan);
	}
}

/* Of those that are over only a few are worth a look back. */
static void forget_old(struct views_actions *actions)
{
	size_t n = 0;
	for (struct views_plan **at = &actions->plans; *at;) {
		struct views_plan *plan = *at;
		if (fleet_bulk_is_finished(plan->bulk) && ++n > FINISHED_KEPT) {
			*at = plan->next;
			plan_free(plan);
		} else {
			at = &plan->next;
		}
	}
}

static void plan_run(struct views_plan *plan)
{
	struct views_actions *actions = plan->actions;
	forget_old(actions);
	plan->next = actions->plans;
	actions->plans = plan;
	plan->noted_ms = clock_mono_ms();
	say_progress(plan);
	fleet_bulk_start(plan->bulk);
}

/* Those that are not as they should be already; rows that may be old decide nothing. */
static size_t leave_out(
	struct view_host *host, enum fleet_bulk_verb verb, const char **uids, size_t n)
{
	const struct fleet *fleet = engine_fleet(host->engine);
	size_t kept = 0;
	if (view_host_is_stale(host) ||
		(verb != FLEET_BULK_SUSPEND && verb != FLEET_BULK_RESUME))
		return n;
	for (size_t i = 0; i < n; i++) {
		const struct fleet_row *row = fleet_find(fleet, uids[i]);
		bool is_so = row && row->state == (verb == FLEET_BULK_SUSPEND ? FLEET_SUSPENDED
									      : FLEET_READY);
		if (!is_so)
			uids[kept++] = uids[i];
	}
	return kept;
}

struct views_plan *views_action_plan_new(struct view_host *host, enum fleet_bulk_verb verb,
	const char **uids, size_t n, struct err *err)
{
	const char *first = n ? uids[0] : "";
	const bool is_suspend = verb == FLEET_BULK_SUSPEND;
	if (!n) {
		err_set(err, ERR_ARG_INVALID, "no sandbox is selected");
		return NULL;
	}
	size_t kept = leave_out(host, verb, uids, n);
	if (!kept && n == 1)
		err_set(err, ERR_CLAIM_UNCHANGED, "%s %s already",
			view_host_row_name(host, first), is_suspend ? "is suspended" : "runs");
	else if (!kept)
		err_set(err, ERR_CLAIM_UNCHANGED, "all of them %s already",
			is_suspend ? "are suspended" : "run");
	if (!kept)
		return NULL;
	struct views_plan *plan = x_calloc(1, sizeof *plan);
	const struct fleet_bulk_opts opts = {
		.verb = verb,
		.may = may,
		.rows_are_current = rows_are_current,
		.on_change = on_change,
		.arg = plan,
	};
	plan->actions = host->actions;
	plan->verb = verb;
	plan->field = -1;
	plan->fleet = engine_fleet(host->engine);
	plan->bulk = fleet_bulk_new(engine_fleet(host->engine), &opts, uids, kept, err);
	if (plan->bulk == NULL) {
		free(plan);
		return NULL;
	}
	plan->look = net_loop_timer_new(host->loop, on_look, plan);
	return plan;
}

/* ---- the question */

struct pending { /* a plan that waits for an answer */
	struct views_plan *plan;
};

static void pending_free(void *arg)
{
	struct pending *pending = arg;
	if (pending->plan)
		plan_free(pending->plan);
	free(pending);
}

static void on_answered(void *arg, struct widget_dialog *dialog, int button)
{
	struct pending *pending = arg;
	(void)dialog;
	if (button != 0)
		return;
	struct views_plan *plan = pending->plan;
	pending->plan = NULL;
	plan_run(plan);
}

static bool check_typed(void *arg, struct widget_dialog *dialog, int *field, struct err *err)
{
	const struct pending *pending = arg;
	const struct views_plan *plan = pending->plan;
	*field = plan->field;
	return strcmp(widget_dialog_field(dialog, *field), plan->typed) == 0 ||
	       err_set(err, ERR_ARG_INVALID, "type %s to go on", plan->typed);
}

struct counting {
	const struct views_plan *plan;
	size_t n;
};

static void count_session(void *arg, struct session *session)
{
	struct counting *counting = arg;
	const char *uid = session_uid(session);
	if (session_state(session) == SESSION_ENDED || uid == NULL)
		return;
	for (size_t i = 0; i < fleet_bulk_count(counting->plan->bulk); i++)
		if (strcmp(fleet_bulk_at(counting->plan->bulk, i)->uid, uid) == 0)
			counting->n++;
}

/* "20 Ready, 2 Suspended; in 3 namespaces" */
static void add_counts(struct widget_dialog *dialog, const struct fleet_bulk_plan *counts)
{
	struct str text;
	str_init(&text, 512);
	for (int state = 0; state < FLEET_STATE_COUNT; state++)
		if (counts->by_state[state])
			str_addf(&text, "%s%zu %s", text.n ? ", " : "", counts->by_state[state],
				fleet_state_name((enum fleet_state)state));
	if (counts->namespaces > 1)
		str_addf(&text, "; in %zu%s namespaces", counts->namespaces,
			counts->namespaces >= 64 ? " or more" : "");
	widget_dialog_add_text(dialog, text.p);
	str_deinit(&text);
}

static void add_what(struct widget_dialog *dialog, const struct views_plan *plan)
{
	const size_t n = fleet_bulk_count(plan->bulk);
	for (size_t i = 0; i < n && i < NAMES_SHOWN; i++)
		widget_dialog_add_textf(dialog, "  %s", fleet_bulk_at(plan->bulk, i)->name);
	if (n > NAMES_SHOWN)
		widget_dialog_add_textf(dialog, "  and %zu more", n - NAMES_SHOWN);
	if (n > 1) {
		const struct fleet_bulk_plan counts = fleet_bulk_plan_of(plan->bulk);
		add_counts(dialog, &counts);
	}
}

static void add_cost(struct widget_dialog *dialog, const struct views_plan *plan)
{
	const size_t n = fleet_bulk_count(plan->bulk);
	const int64_t rate = setting_get(SETTING_BULK_RATE);
	char age[CLOCK_AGE_BYTES];
	struct counting shells = { plan, 0 };
	widget_dialog_add_text(
		dialog, n == 1 ? verbs[plan->verb].lost_one : verbs[plan->verb].lost_all);
	if (plan->verb == FLEET_BULK_EXTEND)
		return;
	if (engine_is_production(plan->actions->host->engine))
		widget_dialog_add_textf(dialog, "Context %s is marked as production.",
			engine_context(plan->actions->host->engine));
	sessions_each(plan->actions->host->sessions, count_session, &shells);
	if (shells.n && plan->verb != FLEET_BULK_RESUME)
		widget_dialog_add_textf(dialog, "%zu shell%s of yours end%s with %s.", shells.n,
			shells.n == 1 ? "" : "s", shells.n == 1 ? "s" : "",
			n == 1 ? "it" : "them");
	if ((int64_t)n > rate)
		widget_dialog_add_textf(dialog,
			"No more than %lld a second: about %s. :bulk shows and cancels.",
			(long long)rate, clock_format_age((int64_t)n * 1000 / rate, age));
}

static bool parse_time(const char *text, int64_t *ms, struct err *err)
{
	return (clock_parse_duration(text, ms) && *ms > 0) ||
	       err_set(err, ERR_ARG_INVALID, "'%s' is no time: write 30m, 2h or 1h30m", text);
}

static bool check_time(void *arg, struct widget_dialog *dialog, int *field, struct err *err)
{
	const struct pending *pending = arg;
	int64_t ms;
	*field = pending->plan->field;
	if (!parse_time(widget_dialog_field(dialog, *field), &ms, err))
		return false;
	fleet_bulk_set_extend(pending->plan->bulk, ms);
	return true;
}

static bool is_production(const struct views_plan *plan)
{
	return engine_is_production(plan->actions->host->engine);
}

static void add_fields(struct widget_dialog *dialog, struct views_plan *plan)
{
	const size_t n = fleet_bulk_count(plan->bulk);
	if (plan->verb == FLEET_BULK_EXTEND) {
		plan->field = widget_dialog_add_field(dialog, "time", "1h");
		widget_dialog_set_check(dialog, check_time);
	} else if (plan->verb != FLEET_BULK_RESUME &&
		   (n > TYPED_ABOVE || is_production(plan))) {
		char label[64];
		snprintf(plan->typed, sizeof plan->typed, "%zu", n);
		snprintf(label, sizeof label, "type %s", plan->typed);
		plan->field = widget_dialog_add_field(dialog, label, "");
		widget_dialog_set_check(dialog, check_typed);
	}
}

void views_action_plan_ask(struct views_plan *plan_take)
{
	struct views_plan *plan = plan_take;
	struct view_host *host = plan->actions->host;
	const size_t n = fleet_bulk_count(plan->bulk);
	struct pending *pending = x_calloc(1, sizeof *pending);
	char title[64];
	pending->plan = plan;
	snprintf(title, sizeof title, "%s %zu sandbox%s?", verbs[plan->verb].ask, n,
		n == 1 ? "" : "es");
	struct widget_dialog *dialog =
		widget_dialog_new(title, on_answered, pending, pending_free);
	if (plan->why[0])
		widget_dialog_add_text(dialog, plan->why);
	add_what(dialog, plan);
	add_cost(dialog, plan);
	add_fields(dialog, plan);
	widget_dialog_add_button(dialog, verbs[plan->verb].button);
	widget_dialog_add_button(dialog, "&Cancel");
	if (plan->field < 0)
		widget_dialog_focus_button(dialog, plan->verb == FLEET_BULK_DELETE ? 1 : 0);
	host->ops->push_dialog(host, dialog);
}

void views_action_plan_run(struct views_plan *plan_take)
{
	plan_run(plan_take);
}

bool views_action_plan_set_time(struct views_plan *plan, const char *text, struct err *err)
{
	int64_t ms;
	if (!parse_time(text, &ms, err))
		return false;
	fleet_bulk_set_extend(plan->bulk, ms);
	return true;
}

void views_action_plan_free(struct views_plan *plan)
{
	plan_free(plan);
}

/* ---- looking */

struct fleet_bulk *views_actions_bulk(const struct views_actions *actions)
{
	return actions->plans ? actions->plans->bulk : NULL;
}

bool views_actions_bulk_retry(struct views_actions *actions)
{
	struct views_plan *plan = actions->plans;
	if (!plan || !fleet_bulk_retry(plan->bulk))
		return false;
	plan->is_told = false;
	say_progress(plan);
	return true;
}

void views_action_plan_say(struct views_plan *plan, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	vsnprintf(plan->why, sizeof plan->why, format, args);
	va_end(args);
}

size_t views_action_plan_count(const struct views_plan *plan)
{
	return fleet_bulk_count(plan->bulk);
}

size_t views_action_plans_open(const struct views_actions *actions)
{
	size_t n = 0;
	for (const struct views_plan *p = actions->plans; p; p = p->next) {
		size_t open = fleet_bulk_count_of(p->bulk, FLEET_BULK_WAITING) +
			      fleet_bulk_count_of(p->bulk, FLEET_BULK_RUNNING);
		n += open == 0 && !p->is_told ? 1
					      : open; /* what came of it is still to be said */
	}
	return n;
}
