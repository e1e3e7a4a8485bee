// SPDX-License-Identifier: Apache-2.0
// Everything about one sandbox: its row, why it is as it is, conditions, containers, daemon, labels, events.
//
//   row and events: from the store, as they are drawn
//   objects:        fetched when it opens and when the row changes, at most every FETCH_MS
//   daemon:         asked when it opens and every ASK_MS while it is looked at
#include "tui/views/detail/page.h"

#include "engine/base/clock.h"
#include "engine/base/mem.h"
#include "tui/view/view.h"
#include "tui/views/views.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	FETCH_MS = 1000,
	ASK_MS = 10 * 1000,
	ASK_TIMEOUT_MS = 5000,
	EVENTS_MAX = 100,
};

struct views_detail {
	struct view view;
	char *uid; /* NULL: the direct runtime */
	char *name;
	struct views_detail_lines objects, health, metadata;
	struct views_detail_page page;
	struct fleet_op *fetch;
	struct runtime_op *health_op, *metadata_op;
	uint64_t fetched_revision;              /* of the row */
	int64_t fetched_mono_ms, asked_mono_ms; /* 0: never */
	char asked_pod[FLEET_UID_BYTES];        /* whose daemon that was */
	bool is_gone;
};

static struct views_detail *detail_of(const struct view *view)
{
	return (struct views_detail *)(uintptr_t)view;
}

static enum view_key_scope scope(const struct view *view)
{
	(void)view;
	return SCOPE_DETAIL;
}

static const struct fleet_row *row_of(const struct views_detail *detail)
{
	struct fleet *fleet = engine_fleet(detail->view.host->engine);
	return fleet && detail->uid ? fleet_find(fleet, detail->uid) : NULL;
}

static void add_error(
	struct views_detail_lines *lines, const char *label, const struct err *err)
{
	if (err->code == ERR_OP_UNSUPPORTED) { /* nothing is wrong */
		views_detail_add(
			lines, label, ROLE_DISABLED, "– not supported by this runtime", 0);
		return;
	}
	if (err->code == ERR_PORTFWD_DENIED) {
		views_detail_addf(lines, label, ROLE_DISABLED, 0, "– %s", err->msg);
		return;
	}
	views_detail_addf(lines, label, ROLE_ERROR, 0, "%s: %s", err_name(err), err->msg);
	if (*err_hint(err))
		views_detail_add(lines, "", ROLE_DIM, err_hint(err), 0);
}

/* ---- the daemon */

static void on_health(void *arg, const struct err *err, const struct runtime_health *health)
{
	struct views_detail *detail = arg;
	char age[CLOCK_AGE_BYTES];
	detail->health_op = NULL;
	views_detail_clear(&detail->health);
	if (err) {
		engine_refused(detail->view.host->engine, err);
		add_error(&detail->health, "health", err);
	} else
		views_detail_addf(&detail->health, "health",
			strcmp(health->status, "ok") == 0 || strcmp(health->status, "OK") == 0
				? ROLE_OK
				: ROLE_TEXT,
			0, "%s, up for %s", health->status,
			clock_format_age(health->uptime_seconds * 1000, age));
	host_dirty(detail->view.host);
}

static void on_metadata(
	void *arg, const struct err *err, const struct runtime_pair *pairs, size_t n)
{
	struct views_detail *detail = arg;
	detail->metadata_op = NULL;
	views_detail_clear(&detail->metadata);
	if (err)
		add_error(&detail->metadata, "metadata", err);
	for (size_t i = 0; !err && i < n; i++)
		views_detail_add(
			&detail->metadata, pairs[i].name, ROLE_TEXT, pairs[i].value, 0);
	if (!err && !n)
		views_detail_add(&detail->metadata, "metadata", ROLE_DIM, "none", 0);
	host_dirty(detail->view.host);
}

static void ask_daemon(struct views_detail *detail)
{
	struct err err = { 0 };
	detail->asked_mono_ms = clock_mono_ms();
	if (detail->health_op || detail->metadata_op)
		return;
	struct engine *engine = detail->view.host->engine;
	struct runtime *runtime = NULL;
	if (engine_may(engine, ACCESS_FILES, detail->uid, "", &err))
		runtime = engine_runtime(engine, detail->uid, &err);
	if (runtime)
		detail->health_op =
			runtime_health_start(runtime, ASK_TIMEOUT_MS, on_health, detail, &err);
	if (!detail->health_op) {
		views_detail_clear(&detail->health);
		views_detail_clear(&detail->metadata);
		add_error(&detail->health, "health", &err);
		return;
	}
	detail->metadata_op =
		runtime_metadata_start(runtime, ASK_TIMEOUT_MS, on_metadata, detail, &err);
	if (!detail->metadata_op) {
		views_detail_clear(&detail->metadata);
		add_error(&detail->metadata, "metadata", &err);
	}
}

/* ---- the objects */

static void on_fetched(void *arg, const struct err *err, const struct fleet_detail *objects)
{
	struct views_detail *detail = arg;
	detail->fetch = NULL;
	views_detail_clear(&detail->objects);
	if (err) {
		views_detail_title(&detail->objects, "Objects");
		add_error(&detail->objects, "cannot be read", err);
	} else {
		views_detail_add_objects(&detail->objects, objects);
	}
	host_dirty(detail->view.host);
}

static void fetch(struct views_detail *detail, const struct fleet_row *row)
{
	struct fleet *fleet = engine_fleet(detail->view.host->engine);
	struct err err = { 0 };
	if (detail->fetch)
		return;
	detail->fetched_mono_ms = clock_mono_ms();
	detail->fetched_revision = row->revision;
	detail->fetch = fleet_detail_start(fleet, detail->uid, on_fetched, detail, &err);
	if (!detail->fetch) {
		views_detail_clear(&detail->objects);
		views_detail_title(&detail->objects, "Objects");
		add_error(&detail->objects, "cannot be read", &err);
	}
}

static void keep_fresh(struct views_detail *detail, const struct fleet_row *row)
{
	int64_t now = clock_mono_ms();
	bool is_due = !detail->fetched_mono_ms || now - detail->fetched_mono_ms >= FETCH_MS;
	if (row && is_due &&
		(row->revision != detail->fetched_revision || !detail->fetched_mono_ms))
		fetch(detail, row);
	bool is_direct = !engine_fleet(detail->view.host->engine);
	if (row && strcmp(row->pod_uid, detail->asked_pod) != 0) { /* another daemon */
		snprintf(detail->asked_pod, sizeof detail->asked_pod, "%s", row->pod_uid);
		detail->asked_mono_ms = 0;
	}
	if ((row || is_direct) &&
		(!detail->asked_mono_ms || now - detail->asked_mono_ms >= ASK_MS))
		ask_daemon(detail);
}

/* ---- drawing */

static void add_if(struct views_detail_lines *lines, const char *label, const char *text)
{
	if (*text)
		views_detail_add(lines, label, ROLE_TEXT, text, 0);
}

/* What a collection would tell that may not be read, or has not been. */
static void add_unless_hidden(struct views_detail_lines *lines, const struct fleet *fleet,
	enum fleet_kind kind, const char *label, const char *text)
{
	static const char *const names[FLEET_KIND_COUNT] = { "sandboxclaims", "sandboxes",
		"pods", "sandboxwarmpools", "sandboxtemplates", "events" };
	const struct err *failure = fleet_failure(fleet, kind);
	if (*text)
		views_detail_add(lines, label, ROLE_TEXT, text, 0);
	else if (fleet_forbidden(fleet, kind))
		views_detail_addf(lines, label, ROLE_DISABLED, 0, "– %s may not be read here",
			names[kind]);
	else if (!fleet_is_listed(fleet, kind))
		views_detail_addf(lines, label, ROLE_DISABLED, 0, "? %s: no answer yet%s%s",
			names[kind], failure ? ": " : "", failure ? failure->msg : "");
}

static void add_restarts(struct views_detail_lines *lines, const struct fleet *fleet,
	const struct fleet_row *row)
{
	if (row->restarts)
		views_detail_addf(lines, "restarts", ROLE_WARNING, 0, "%d", row->restarts);
	else
		add_unless_hidden(lines, fleet, FLEET_PODS, "restarts", "");
}

static void add_row(struct views_detail_lines *lines, const struct fleet *fleet,
	const struct fleet_row *row)
{
	char age[CLOCK_AGE_BYTES], date[CLOCK_RFC3339_BYTES];
	int64_t now = clock_wall_ms();
	views_detail_add(lines, "state", view_host_state_role(row->state),
		fleet_state_name(row->state), 0);
	if (*row->why)
		views_detail_add(lines, "why", ROLE_WARNING, row->why, row->why_since_ms);
	add_if(lines, "namespace", row->namespace_);
	add_unless_hidden(lines, fleet, FLEET_CLAIMS, "claim", row->claim);
	add_unless_hidden(lines, fleet, FLEET_SANDBOXES, "sandbox", row->sandbox);
	add_unless_hidden(lines, fleet,
		fleet_forbidden(fleet, FLEET_SANDBOXES) ? FLEET_SANDBOXES : FLEET_PODS, "pod",
		row->pod);
	add_unless_hidden(lines, fleet, FLEET_CLAIMS, "pool", row->pool);
	add_unless_hidden(lines, fleet, FLEET_POOLS, "template", row->template_);
	add_if(lines, "node", row->node);
	add_if(lines, "pod IP", row->pod_ip);
	add_if(lines, "service", row->service_fqdn);
	add_if(lines, "runtime class", row->runtime_class);
	add_if(lines, "created by", row->created_by);
	if (row->created_ms)
		views_detail_addf(lines, "created", ROLE_TEXT, row->created_ms, "%s%s",
			clock_format_rfc3339(row->created_ms * 1000000, 0, date),
			row->is_warm_start ? ", from a warm pool" : "");
	if (row->expires_ms)
		views_detail_addf(lines, "expires",
			row->expires_ms - now < 5 * 60 * 1000 ? ROLE_WARNING : ROLE_TEXT, 0,
			"%s, %s%s", clock_format_rfc3339(row->expires_ms * 1000000, 0, date),
			row->expires_ms > now ? "in " : "over for ",
			clock_format_age(row->expires_ms > now ? row->expires_ms - now
							       : now - row->expires_ms,
				age));
	add_restarts(lines, fleet, row);
}

static void add_events(struct views_detail *detail)
{
	struct fleet *fleet = engine_fleet(detail->view.host->engine);
	struct fleet_event *events = x_calloc(EVENTS_MAX, sizeof *events);
	size_t n = fleet_events(fleet, detail->uid, events, EVENTS_MAX);
	const struct err *hidden = fleet_forbidden(fleet, FLEET_EVENTS);
	views_detail_title(&detail->page.lines, "Events");
	const struct err *failure = fleet_failure(fleet, FLEET_EVENTS);
	bool is_listed = fleet_is_listed(fleet, FLEET_EVENTS);
	if (hidden)
		views_detail_addf(&detail->page.lines, "", ROLE_DISABLED, 0,
			"– events may not be read here: %s", hidden->msg);
	else if (failure)
		views_detail_addf(&detail->page.lines, "", ROLE_WARNING, 0, "? %s: %s",
			is_listed ? "they cannot be read any more" : "they cannot be read",
			failure->msg);
	else if (!is_listed)
		views_detail_add(&detail->page.lines, "", ROLE_DIM, "? no answer yet", 0);
	for (size_t i = 0; i < n; i++) {
		const struct fleet_event *e = &events[i];
		char count[24] = "";
		if (e->count > 1)
			snprintf(count, sizeof count, " ×%d", e->count);
		views_detail_addf(&detail->page.lines, e->reason,
			e->is_warning ? ROLE_WARNING : ROLE_TEXT, e->wall_ms, "%s  (%s%s)",
			e->message, e->object, count);
	}
	if (!n && !hidden && !failure && is_listed)
		views_detail_add(&detail->page.lines, "", ROLE_DIM, "none", 0);
	free(events);
}

static void build(struct views_detail *detail)
{
	struct view_host *host = detail->view.host;
	const struct fleet_row *row = row_of(detail);
	struct views_detail_lines *all = &detail->page.lines;
	bool is_direct = !engine_fleet(host->engine);
	views_detail_clear(all);
	if (row) {
		free(detail->name);
		detail->name = x_strdup(view_host_row_name(host, detail->uid));
		detail->is_gone = false;
	} else if (!is_direct) {
		detail->is_gone = fleet_is_synced(engine_fleet(host->engine));
	}
	keep_fresh(detail, row);
	views_detail_title(all, detail->name);
	if (is_direct)
		views_detail_add(all, "address", ROLE_TEXT, engine_context(host->engine), 0);
	if (detail->is_gone)
		views_detail_add(all, "state", ROLE_GONE,
			"It is gone. What follows is the last that was known.", 0);
	if (row)
		add_row(all, engine_fleet(host->engine), row);
	if (row || is_direct) {
		views_detail_title(all, "Daemon");
		if (!detail->health.n)
			views_detail_add(all, "health", ROLE_DIM, "asking …", 0);
		views_detail_append(all, &detail->health);
		views_detail_append(all, &detail->metadata);
	}
	if (!is_direct && !detail->objects.n && !detail->is_gone)
		views_detail_add(all, "", ROLE_DIM, "reading the objects …", 0);
	views_detail_append(all, &detail->objects);
	if (!is_direct)
		add_events(detail);
}

static void draw(struct view *view, struct draw_region r, bool is_focused)
{
	struct views_detail *detail = detail_of(view);
	(void)is_focused;
	build(detail);
	views_detail_page_draw(view->host, &detail->page, r);
}

/* ---- hands */

static bool run_move(void *self, const char *args, struct err *err)
{
	struct views_detail *detail = self;
	return views_detail_page_move(detail->view.host, &detail->page, args, err);
}

static bool run_refresh(void *self, const char *args, struct err *err)
{
	struct views_detail *detail = self;
	(void)args;
	(void)err;
	detail->fetched_mono_ms = detail->asked_mono_ms = 0; /* the next frame asks */
	detail->fetched_revision = 0;
	views_detail_clear(&detail->health);
	views_detail_clear(&detail->metadata);
	host_dirty(detail->view.host);
	return true;
}

static const struct view_command commands[] = {
	{ "move", "up|down|page-up|page-down|first|last", "scroll", .run = run_move },
	{ "refresh", "", "fetch everything again", .run = run_refresh },
};

static bool mouse(struct view *view, const struct draw_mouse *mouse)
{
	views_detail_page_wheel(view->host, &detail_of(view)->page, mouse);
	return true;
}

static void changed(struct view *view)
{
	host_dirty(view->host);
}

static size_t targets(const struct view *view, const char **uids, size_t max)
{
	const struct views_detail *detail = detail_of(view);
	if (!detail->uid || !max)
		return 0;
	uids[0] = detail->uid;
	return 1;
}

static void title(const struct view *view, struct str *out)
{
	str_add(out, detail_of(view)->name);
}

static bool shows(const struct view *view, const struct view_args *args)
{
	const struct views_detail *detail = detail_of(view);
	return strcmp(detail->uid ? detail->uid : "", args->uid ? args->uid : "") == 0;
}

static int64_t redraw_after_ms(const struct view *view)
{
	(void)view;
	return 1000; /* ages, and what is due to be asked again */
}

static struct view *open_detail(
	struct view_host *host, const struct view_args *args, struct err *err)
{
	if (engine_fleet(host->engine) && !args->uid) {
		err_set(err, ERR_ARG_INVALID, "no sandbox is selected");
		return NULL;
	}
	struct views_detail *detail = x_calloc(1, sizeof *detail);
	detail->view.class = &view_detail;
	detail->view.host = host;
	detail->uid = x_strdup(args->uid);
	detail->name = x_strdup(view_host_row_name(host, args->uid));
	return &detail->view;
}

static void free_detail(struct view *view)
{
	struct views_detail *detail = detail_of(view);
	fleet_op_cancel(detail->fetch);
	runtime_cancel(detail->health_op);
	runtime_cancel(detail->metadata_op);
	views_detail_clear(&detail->objects);
	views_detail_clear(&detail->health);
	views_detail_clear(&detail->metadata);
	views_detail_clear(&detail->page.lines);
	free(detail->uid);
	free(detail->name);
	free(detail);
}

const struct view_class view_detail = {
	.name = "detail",
	.scope = scope,
	.commands = commands,
	.n_commands = sizeof commands / sizeof commands[0],
	.open = open_detail,
	.free = free_detail,
	.title = title,
	.draw = draw,
	.mouse = mouse,
	.changed = changed,
	.targets = targets,
	.shows = shows,
	.redraw_after_ms = redraw_after_ms,
};
