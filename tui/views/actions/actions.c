// SPDX-License-Identifier: Apache-2.0
// Commands on rows: each is a plan for the rows that are marked, or for the one under the cursor.
#include "tui/views/actions/internal.h"

#include "engine/base/clock.h"
#include "engine/base/mem.h"
#include "engine/base/settings.h"

#include <stdlib.h>

enum { TARGETS_MAX = 300000 };

static struct views_plan *plan_of(void *self, enum fleet_bulk_verb verb, struct err *err)
{
	struct view *view = self;
	const char **uids = x_calloc(TARGETS_MAX, sizeof *uids);
	size_t n = view->class->targets ? view->class->targets(view, uids, TARGETS_MAX) : 0;
	struct views_plan *plan = views_action_plan_new(view->host, verb, uids, n, err);
	free(uids);
	return plan;
}

/* Of those that are no more the trace goes, unasked: nothing is lost. True: there was nothing else. */
static bool dismiss_deleted(struct view *view)
{
	struct fleet *fleet = engine_fleet(view->host->engine);
	const char **uids = x_calloc(TARGETS_MAX, sizeof *uids);
	size_t n = fleet && view->class->targets ? view->class->targets(view, uids, TARGETS_MAX)
						 : 0;
	size_t n_gone = 0;
	for (size_t i = 0; i < n; i++)
		n_gone +=
			!fleet_find(fleet, uids[i]) && fleet_tombstone_dismiss(fleet, uids[i]);
	free(uids);
	return n > 0 && n_gone == n;
}

bool views_action_delete(void *self, const char *args, struct err *err)
{
	if (dismiss_deleted(self))
		return true;
	struct views_plan *plan = plan_of(self, FLEET_BULK_DELETE, err);
	(void)args;
	if (plan)
		views_action_plan_ask(plan);
	return plan != NULL;
}

bool views_action_suspend(void *self, const char *args, struct err *err)
{
	struct views_plan *plan = plan_of(self, FLEET_BULK_SUSPEND, err);
	(void)args;
	if (plan)
		views_action_plan_ask(plan);
	return plan != NULL;
}

/* One is resumed without a question: nothing is lost. */
bool views_action_resume(void *self, const char *args, struct err *err)
{
	struct views_plan *plan = plan_of(self, FLEET_BULK_RESUME, err);
	(void)args;
	if (plan && views_action_plan_count(plan) > 1)
		views_action_plan_ask(plan);
	else if (plan)
		views_action_plan_run(plan);
	return plan != NULL;
}

bool views_action_extend(void *self, const char *args, struct err *err)
{
	struct views_plan *plan = plan_of(self, FLEET_BULK_EXTEND, err);
	if (!plan)
		return false;
	if (!*args) {
		views_action_plan_ask(plan);
		return true;
	}
	if (!views_action_plan_set_time(plan, args, err)) {
		views_action_plan_free(plan);
		return false;
	}
	views_action_plan_run(plan);
	return true;
}

/* Those that are ready, and in which nothing has been measured for that long. */
bool views_action_suspend_idle(void *self, const char *args, struct err *err)
{
	struct view *view = self;
	struct view_host *host = view->host;
	const struct fleet *fleet = engine_fleet(host->engine);
	int64_t least_ms = 30 * 60 * 1000;
	char age[CLOCK_AGE_BYTES];
	if (*args && (!clock_parse_duration(args, &least_ms) || least_ms <= 0))
		return err_set(
			err, ERR_ARG_INVALID, "'%s' is no time: write 30m, 2h or 1h30m", args);
	size_t n = 0, count = fleet ? fleet_count(fleet) : 0;
	const char **uids = x_calloc(count + 1, sizeof *uids);
	for (size_t i = 0; i < count; i++) {
		const struct fleet_row *row = fleet_at(fleet, i);
		const struct resource_value since = fleet_idle_since(row);
		if (since.is_known && clock_wall_ms() - since.number >= least_ms)
			uids[n++] = row->uid;
	}
	clock_format_age(least_ms, age);
	struct views_plan *plan = NULL;
	if (n)
		plan = views_action_plan_new(host, FLEET_BULK_SUSPEND, uids, n, err);
	else
		err_set(err, ERR_ARG_INVALID,
			"no ready sandbox is known to be idle for %s: use is measured only while "
			"sandmux looks, and where metrics.k8s.io is served",
			age);
	free(uids);
	if (!plan)
		return false;
	views_action_plan_say(
		plan, "Idle for %s or longer: hardly any CPU, no file written.", age);
	views_action_plan_ask(plan);
	return true;
}

struct views_actions *views_actions_new(struct view_host *host)
{
	struct views_actions *actions = x_calloc(1, sizeof *actions);
	actions->host = host;
	return actions;
}

size_t views_actions_to_clean_up(const struct views_actions *actions)
{
	size_t n = 0;
	if (!setting_get(SETTING_AUTO_CLEANUP))
		return 0;
	for (const struct views_made *made = actions->made; made; made = made->next)
		n++;
	return n;
}

/* The program ends: what it made without a name goes, if that was asked for. One that is gone already is gone. */
static void clean_up(struct views_actions *actions)
{
	struct fleet *fleet = engine_fleet(actions->host->engine);
	while (actions->made) {
		struct views_made *made = actions->made;
		actions->made = made->next;
		if (fleet && setting_get(SETTING_AUTO_CLEANUP))
			fleet_clean_up(fleet, made->namespace_, made->name, made->uid);
		free(made->namespace_);
		free(made->name);
		free(made);
	}
}

void views_actions_free(struct views_actions *actions)
{
	if (!actions)
		return;
	clean_up(actions);
	views_action_lives_free(actions);
	views_action_plans_free(actions);
	while (actions->creations) {
		struct views_creation *creation = actions->creations;
		actions->creations = creation->next;
		views_actions_creation_free(creation);
	}
	free(actions);
}

size_t views_actions_running(const struct views_actions *actions)
{
	size_t n = views_action_plans_open(actions);
	for (const struct views_creation *c = actions->creations; c; c = c->next)
		n++;
	return n;
}
