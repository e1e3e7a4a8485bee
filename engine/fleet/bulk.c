// SPDX-License-Identifier: Apache-2.0
#include "engine/fleet/bulk.h"

#include "engine/base/clock.h"
#include "engine/base/json.h"
#include "engine/base/mem.h"
#include "engine/base/settings.h"
#include "engine/fleet/fleet_internal.h"
#include "engine/net/loop.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PARALLEL = 8 };

struct task {
	struct fleet_bulk *bulk;
	struct fleet_op *op;
	size_t at;
};

struct fleet_bulk {
	struct fleet_hold hold; /* first */
	struct fleet *
		fleet; /* held; NULL: it was let go when all was done and nobody looked at it any more */
	struct fleet_bulk_opts opts;
	struct fleet_bulk_item *items;
	size_t n, next, counts[FLEET_BULK_RESULT_COUNT];
	struct task tasks[PARALLEL];
	size_t n_running;
	struct net_loop_timer *pace, *told;
	int64_t paid_ms; /* monotonic: what has begun so far is paid for until then */
	bool is_started, is_cancelled;
};

static const char *const result_names[] = { "waiting", "running", "done", "unchanged", "failed",
	"cancelled" };
_Static_assert(sizeof result_names / sizeof *result_names == FLEET_BULK_RESULT_COUNT,
	"a name for each");

const char *fleet_bulk_result_name(enum fleet_bulk_result result)
{
	return result_names[result];
}

static void take_next(struct fleet_bulk *bulk);

static void tell(struct fleet_bulk *bulk)
{
	net_loop_timer_arm(bulk->told, 0);
}

static void let_go(struct fleet_bulk *bulk)
{
	struct fleet *fleet = bulk->fleet;
	bulk->fleet = NULL;
	fleet_hold_end(fleet, &bulk->hold);
}

static void on_retire(struct fleet_hold *hold)
{
	struct fleet_bulk *bulk = (struct fleet_bulk *)hold;
	if (fleet_bulk_is_finished(bulk))
		let_go(bulk);
}

static void on_told(void *arg)
{
	struct fleet_bulk *bulk = arg;
	if (bulk->opts.on_change != NULL)
		bulk->opts.on_change(bulk->opts.arg);
	if (bulk->fleet != NULL && bulk->fleet->is_retired && fleet_bulk_is_finished(bulk))
		let_go(bulk);
}

static void set_result(struct fleet_bulk *bulk, struct fleet_bulk_item *item,
	enum fleet_bulk_result result, const struct err *err)
{
	bulk->counts[item->result]--;
	bulk->counts[result]++;
	item->result = result;
	free(item->err);
	item->err = NULL;
	if (err != NULL) {
		item->err = x_calloc(1, sizeof *item->err);
		err_copy(item->err, err);
	}
	tell(bulk);
}

static void finish_item(
	struct fleet_bulk *bulk, struct fleet_bulk_item *item, const struct err *err)
{
	enum fleet_bulk_result result = err == NULL ? FLEET_BULK_DONE
					: err->code == ERR_CLAIM_UNCHANGED
						? FLEET_BULK_UNCHANGED
						: FLEET_BULK_FAILED;
	set_result(bulk, item, result, result == FLEET_BULK_FAILED ? err : NULL);
}

static void on_item_done(void *arg, const struct err *err)
{
	struct task *task = arg;
	struct fleet_bulk *bulk = task->bulk;
	task->op = NULL;
	bulk->n_running--;
	finish_item(bulk, &bulk->items[task->at], err);
	take_next(bulk);
}

/* ---- one */

static bool is_so_already(const struct fleet_bulk *bulk, const struct fleet_row *row)
{
	if (bulk->opts.rows_are_current != NULL && !bulk->opts.rows_are_current(bulk->opts.arg))
		return false;
	return (bulk->opts.verb == FLEET_BULK_SUSPEND && row->state == FLEET_SUSPENDED) ||
	       (bulk->opts.verb == FLEET_BULK_RESUME && row->state == FLEET_READY);
}

static struct fleet_op *start_op(struct fleet_bulk *bulk, struct task *task, struct err *err)
{
	const char *uid = bulk->items[task->at].uid;
	const struct fleet_bulk_opts *opts = &bulk->opts;
	if (opts->may != NULL && !opts->may(opts->arg, uid, err))
		return NULL;
	switch (opts->verb) {
	case FLEET_BULK_DELETE:
		return fleet_delete_with_start(
			bulk->fleet, uid, &opts->deletion, on_item_done, task, err);
	case FLEET_BULK_SUSPEND:
	case FLEET_BULK_RESUME:
		return fleet_suspend_start(bulk->fleet, uid, opts->verb == FLEET_BULK_SUSPEND,
			on_item_done, task, err);
	case FLEET_BULK_EXTEND:
		return fleet_extend_start(
			bulk->fleet, uid, opts->extend_ms, on_item_done, task, err);
	case FLEET_BULK_VERB_COUNT:
		break;
	}
	return NULL;
}

static void start_item(struct fleet_bulk *bulk, size_t at)
{
	struct fleet_bulk_item *item = &bulk->items[at];
	const struct fleet_row *row = fleet_find(bulk->fleet, item->uid);
	struct task *task = bulk->tasks;
	struct err err = { 0 };
	while (task->op != NULL)
		task++;
	if (row == NULL) {
		/* gone is what a deletion wanted */
		err_set(&err, ERR_CLAIM_NOT_FOUND, "it is gone");
		bool is_done = bulk->opts.verb == FLEET_BULK_DELETE;
		set_result(bulk, item, is_done ? FLEET_BULK_UNCHANGED : FLEET_BULK_FAILED,
			is_done ? NULL : &err);
		return;
	}
	if (is_so_already(bulk, row)) {
		set_result(bulk, item, FLEET_BULK_UNCHANGED, NULL);
		return;
	}
	*task = (struct task){ .bulk = bulk, .at = at };
	task->op = start_op(bulk, task, &err);
	if (task->op == NULL) {
		finish_item(bulk, item, &err);
		return;
	}
	set_result(bulk, item, FLEET_BULK_RUNNING, NULL);
	bulk->n_running++;
}

/* ---- all */

static int rate(const struct fleet_bulk *bulk)
{
	return bulk->opts.per_second > 0 ? bulk->opts.per_second
					 : (int)setting_get(SETTING_BULK_RATE);
}

/* True: one more may begin now. As a token bucket: half a second's worth may begin at once, what nobody used for longer is
 * not saved up. */
static bool may_begin(struct fleet_bulk *bulk)
{
	const int64_t now_ms = clock_mono_ms(), saved_ms = 500;
	if (bulk->paid_ms < now_ms - saved_ms)
		bulk->paid_ms = now_ms - saved_ms;
	if (bulk->paid_ms + 1000 / rate(bulk) <= now_ms)
		return true;
	net_loop_timer_arm(bulk->pace, bulk->paid_ms + 1000 / rate(bulk) - now_ms);
	return false;
}

static void take_next(struct fleet_bulk *bulk)
{
	while (!bulk->is_cancelled && bulk->next < bulk->n && bulk->n_running < PARALLEL &&
		may_begin(bulk)) {
		size_t at = bulk->next++;
		if (bulk->items[at].result != FLEET_BULK_WAITING)
			continue;
		start_item(bulk, at);
		/* only what went to the server costs something */
		if (bulk->items[at].result == FLEET_BULK_RUNNING)
			bulk->paid_ms += 1000 / rate(bulk);
	}
	if (fleet_bulk_is_finished(bulk))
		tell(bulk);
}

static void on_pace(void *arg)
{
	take_next(arg);
}

void fleet_bulk_set_extend(struct fleet_bulk *bulk, int64_t extend_ms)
{
	bulk->opts.extend_ms = extend_ms;
}

void fleet_bulk_start(struct fleet_bulk *bulk)
{
	if (bulk->is_started)
		return;
	bulk->is_started = true;
	net_loop_timer_arm(bulk->pace, 0); /* no callback from in here */
}

void fleet_bulk_cancel(struct fleet_bulk *bulk)
{
	struct err err = { 0 };
	if (bulk->is_cancelled || fleet_bulk_is_finished(bulk))
		return;
	bulk->is_cancelled = bulk->is_started = true;
	err_set(&err, ERR_OP_CANCELLED, "cancelled before it began");
	for (size_t i = 0; i < bulk->n; i++)
		if (bulk->items[i].result == FLEET_BULK_WAITING)
			set_result(bulk, &bulk->items[i], FLEET_BULK_CANCELLED, &err);
	tell(bulk);
}

bool fleet_bulk_retry(struct fleet_bulk *bulk)
{
	size_t n = bulk->counts[FLEET_BULK_FAILED] + bulk->counts[FLEET_BULK_CANCELLED];
	if (!fleet_bulk_is_finished(bulk) || n == 0 || bulk->fleet == NULL)
		return false;
	for (size_t i = 0; i < bulk->n; i++)
		if (bulk->items[i].result == FLEET_BULK_FAILED ||
			bulk->items[i].result == FLEET_BULK_CANCELLED)
			set_result(bulk, &bulk->items[i], FLEET_BULK_WAITING, NULL);
	bulk->next = 0;
	bulk->is_cancelled = false;
	net_loop_timer_arm(bulk->pace, 0);
	return true;
}

/* ---- made and freed */

static char *name_of(const struct fleet_row *row)
{
	return row->claim[0] ? x_strdup(row->claim) : x_asprintf("sandbox/%s", row->sandbox);
}

static void add_item(struct fleet_bulk *bulk, const struct fleet_row *row)
{
	struct fleet_bulk_item *item = &bulk->items[bulk->n++];
	snprintf(item->uid, sizeof item->uid, "%s", row->uid);
	item->name = name_of(row);
	item->namespace_ = x_strdup(row->namespace_);
}

struct fleet_bulk *fleet_bulk_new(struct fleet *fleet, const struct fleet_bulk_opts *opts,
	const char *const *uids, size_t n, struct err *err)
{
	static const char *const words[] = { "delete", "suspend", "resume", "extend" };
	if (!fleet_op_may_write(fleet, words[opts->verb], err))
		return NULL;
	struct fleet_bulk *bulk = x_calloc(1, sizeof *bulk);
	bulk->opts = *opts;
	bulk->items = x_calloc(n + 1, sizeof *bulk->items);
	for (size_t i = 0; i < n; i++) {
		const struct fleet_row *row = fleet_find(fleet, uids[i]);
		if (row != NULL)
			add_item(bulk, row);
	}
	bulk->counts[FLEET_BULK_WAITING] = bulk->n;
	if (bulk->n == 0) {
		err_set(err, ERR_ARG_INVALID, "no sandbox is selected");
		free(bulk->items);
		free(bulk);
		return NULL;
	}
	bulk->fleet = fleet;
	bulk->hold.on_retire = on_retire;
	fleet_hold_begin(fleet, &bulk->hold);
	bulk->pace = net_loop_timer_new(fleet->loop, on_pace, bulk);
	bulk->told = net_loop_timer_new(fleet->loop, on_told, bulk);
	return bulk;
}

void fleet_bulk_free(struct fleet_bulk *bulk)
{
	if (bulk == NULL)
		return;
	for (size_t i = 0; i < PARALLEL; i++)
		fleet_op_cancel(bulk->tasks[i].op);
	for (size_t i = 0; i < bulk->n; i++) {
		free(bulk->items[i].name);
		free(bulk->items[i].namespace_);
		free(bulk->items[i].err);
	}
	net_loop_timer_free(bulk->pace);
	net_loop_timer_free(bulk->told);
	if (bulk->fleet != NULL)
		let_go(bulk);
	free(bulk->items);
	free(bulk);
}

/* ---- looking */

enum fleet_bulk_verb fleet_bulk_verb_of(const struct fleet_bulk *bulk)
{
	return bulk->opts.verb;
}

size_t fleet_bulk_count(const struct fleet_bulk *bulk)
{
	return bulk->n;
}

const struct fleet_bulk_item *fleet_bulk_at(const struct fleet_bulk *bulk, size_t i)
{
	return &bulk->items[i];
}

size_t fleet_bulk_count_of(const struct fleet_bulk *bulk, enum fleet_bulk_result result)
{
	return bulk->counts[result];
}

bool fleet_bulk_is_finished(const struct fleet_bulk *bulk)
{
	return bulk->is_started && bulk->n_running == 0 &&
	       bulk->counts[FLEET_BULK_WAITING] == 0;
}

size_t fleet_bulk_still_there(const struct fleet_bulk *bulk)
{
	size_t n = 0;
	if (bulk->fleet == NULL || bulk->opts.verb != FLEET_BULK_DELETE)
		return 0;
	for (size_t i = 0; i < bulk->n; i++) {
		const struct fleet_row *row =
			bulk->items[i].result == FLEET_BULK_DONE
				? fleet_find(bulk->fleet, bulk->items[i].uid)
				: NULL;
		n += row != NULL;
	}
	return n;
}

struct fleet_bulk_plan fleet_bulk_plan_of(const struct fleet_bulk *bulk)
{
	struct fleet_bulk_plan plan = { .n = bulk->n };
	for (size_t i = 0; i < bulk->n; i++) {
		const struct fleet_row *row = fleet_find(bulk->fleet, bulk->items[i].uid);
		bool is_new = true;
		/* of many namespaces only that there are some is told */
		for (size_t j = 0; j < i && j < 64 && is_new; j++)
			is_new = strcmp(bulk->items[j].namespace_, bulk->items[i].namespace_) !=
				 0;
		plan.namespaces += is_new && i < 64;
		if (row != NULL)
			plan.by_state[row->state]++;
	}
	return plan;
}

void fleet_bulk_report(const struct fleet_bulk *bulk, struct str *out)
{
	for (size_t i = 0; i < bulk->n; i++) {
		const struct fleet_bulk_item *item = &bulk->items[i];
		cJSON *line = cJSON_CreateObject();
		cJSON_AddStringToObject(line, "name", item->name);
		cJSON_AddStringToObject(line, "namespace", item->namespace_);
		cJSON_AddStringToObject(line, "uid", item->uid);
		cJSON_AddStringToObject(line, "result", fleet_bulk_result_name(item->result));
		if (item->err != NULL) {
			cJSON_AddStringToObject(line, "code", err_name(item->err));
			cJSON_AddStringToObject(line, "message", item->err->msg);
		}
		char *text = cJSON_PrintUnformatted(line);
		str_addf(out, "%s\n", text);
		free(text);
		cJSON_Delete(line);
	}
}
