// SPDX-License-Identifier: Apache-2.0
// Everything about one sandbox: its row, why it is as it is, conditions, containers, daemon, labels, events.
//
//   row and events: from the store, as they are drawn
//   objects:        fetched when it opens and when the row changes, at most every FETCH_MS
//   daemon:         asked when it opens and every ASK_MS while it is looked at
#include "tui/views/detail/frames.h"
#include "tui/views/detail/page.h"
#include "tui/views/detail/sections.h"

#include "engine/base/clock.h"
#include "engine/base/mem.h"
#include "tui/session/session.h"
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
	COLS_MIN = 8,
};

struct views_detail {
	struct view view;
	char *uid; /* NULL: the direct runtime */
	char *name;
	struct views_detail_lines health, metadata;
	struct views_detail_section sections[DETAIL_SECTIONS];
	struct views_detail_folds folds;
	struct views_detail_page page;
	struct fleet_op *fetch;
	struct runtime_op *health_op, *metadata_op;
	uint64_t fetched_revision;              /* of the row */
	int64_t fetched_mono_ms, asked_mono_ms; /* 0: never */
	char asked_pod[FLEET_UID_BYTES];        /* whose daemon that was */
	bool is_read;                           /* the objects, once at least */
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

static const enum views_detail_part of_objects[] = { DETAIL_OBJECTS, DETAIL_CONDITIONS,
	DETAIL_CONTAINERS, DETAIL_LABELS, DETAIL_ANNOTATIONS };

static void forget_objects(struct views_detail *detail)
{
	for (size_t i = 0; i < sizeof of_objects / sizeof *of_objects; i++) {
		views_detail_clear(&detail->sections[of_objects[i]].lines);
		detail->sections[of_objects[i]] = (struct views_detail_section){ 0 };
	}
}

static void cannot_read(struct views_detail *detail, const struct err *err)
{
	struct views_detail_section *section = &detail->sections[DETAIL_OBJECTS];
	views_detail_clear(&section->lines);
	*section = (struct views_detail_section){ .is_bad = true };
	add_error(&section->lines, "cannot be read", err);
}

static void on_fetched(void *arg, const struct err *err, const struct fleet_detail *objects)
{
	struct views_detail *detail = arg;
	detail->fetch = NULL;
	detail->is_read = true;
	if (err && row_of(detail)) {
		cannot_read(detail, err);
	} else if (!err) { /* else it went meanwhile: what was read last stays */
		forget_objects(detail);
		views_detail_read_objects(detail->sections, objects);
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
	if (!detail->fetch)
		cannot_read(detail, &err);
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

static void add_events(struct views_detail *detail, struct views_detail_section *section)
{
	struct fleet *fleet = engine_fleet(detail->view.host->engine);
	struct fleet_event *events = x_calloc(EVENTS_MAX, sizeof *events);
	struct views_detail_lines *lines = &section->lines;
	const struct err *hidden = fleet_forbidden(fleet, FLEET_EVENTS);
	const struct err *failure = fleet_failure(fleet, FLEET_EVENTS);
	const struct fleet_row *row = row_of(detail);
	section->n = fleet_events(fleet, detail->uid, events, EVENTS_MAX);
	if (hidden)
		views_detail_addf(lines, "", ROLE_DISABLED, 0,
			"– events may not be read here: %s", hidden->msg);
	else if (failure)
		views_detail_addf(lines, "", ROLE_WARNING, 0, "? %s: %s",
			fleet_is_listed(fleet, FLEET_EVENTS) ? "they cannot be read any more"
							     : "they cannot be read",
			failure->msg);
	else if (!fleet_is_listed(fleet, FLEET_EVENTS))
		views_detail_add(lines, "", ROLE_DIM, "? no answer yet", 0);
	section->is_bad = hidden || failure;
	for (size_t i = 0; i < section->n; i++) {
		const struct fleet_event *e = &events[i];
		char count[24] = "";
		if (e->count > 1)
			snprintf(count, sizeof count, " ×%d", e->count);
		/* a warning matters while it is not well */
		section->is_bad |= e->is_warning && row && row->state != FLEET_READY;
		views_detail_addf(lines, e->reason, e->is_warning ? ROLE_WARNING : ROLE_TEXT,
			e->wall_ms, "%s  (%s%s)", e->message, e->object, count);
	}
	free(events);
}

struct shells {
	const char *uid;
	struct views_detail_section *section;
};

static void add_shell(void *arg, struct session *session)
{
	static const char *const states[SESSION_STATE_COUNT] = { "waits for its sandbox",
		"starting", "running", "" };
	struct shells *shells = arg;
	const char *uid = session_uid(session);
	if (!uid || strcmp(uid, shells->uid) != 0)
		return;
	shells->section->n++;
	enum session_state state = session_state(session);
	struct str text;
	str_init(&text, DETAIL_TEXT_BYTES);
	str_add(&text, states[state]);
	if (state == SESSION_ENDED)
		session_add_reason(session, &text);
	views_detail_add(&shells->section->lines, session_program(session),
		state == SESSION_ENDED ? ROLE_DIM : ROLE_TEXT, text.p, 0);
	str_deinit(&text);
}

/* That nobody answers is news of a sandbox that is ready alone. */
static void add_daemon(struct views_detail *detail, struct views_detail_section *section,
	const struct fleet_row *row)
{
	if (!detail->health.n)
		views_detail_add(&section->lines, "health", ROLE_DIM, "asking …", 0);
	views_detail_append(&section->lines, &detail->health);
	views_detail_append(&section->lines, &detail->metadata);
	for (size_t i = 0; i < detail->health.n; i++)
		section->is_bad |=
			row->state == FLEET_READY && detail->health.lines[i].role == ROLE_ERROR;
}

/* What is made anew for each frame; the rest of the parts is of the objects as they were read last. */
static void build(struct views_detail *detail, const struct fleet_row *row)
{
	static const enum views_detail_part fresh[] = { DETAIL_SHELLS, DETAIL_DAEMON,
		DETAIL_EVENTS };
	struct shells shells = { detail->uid, &detail->sections[DETAIL_SHELLS] };
	for (size_t i = 0; i < sizeof fresh / sizeof *fresh; i++) {
		views_detail_clear(&detail->sections[fresh[i]].lines);
		detail->sections[fresh[i]] = (struct views_detail_section){ 0 };
	}
	if (detail->view.host->sessions)
		sessions_each(detail->view.host->sessions, add_shell, &shells);
	if (row)
		add_daemon(detail, &detail->sections[DETAIL_DAEMON], row);
	add_events(detail, &detail->sections[DETAIL_EVENTS]);
}

static int draw_body(
	struct views_detail *detail, struct draw_region r, const struct views_detail_head *head)
{
	struct view_host *host = detail->view.host;
	int row = -detail->page.top;
	row += views_detail_why_draw(host, r, row, head);
	if (row > -detail->page.top)
		row++;
	row += views_detail_boxes_draw(host, r, row, head);
	if (!detail->is_read && head->row && head->row->state != FLEET_DELETED) {
		if (row >= 0 && row < r.rows)
			draw_region_text(r, row, 1, r.cols - 1, host_style(host, ROLE_DIM),
				"reading the objects …");
		row++;
	}
	row += views_detail_sections_draw(host, r, row, detail->sections, &detail->folds);
	return row + detail->page.top;
}

static void draw_page(
	struct views_detail *detail, struct draw_region r, const struct views_detail_head *head)
{
	struct views_detail_page *page = &detail->page;
	struct draw_style text = host_style(detail->view.host, ROLE_TEXT);
	views_detail_title_draw(detail->view.host, r, 0, head);
	struct draw_region body = draw_region_sub(r, 0, 1, r.cols, r.rows - 1);
	page->rows = body.rows;
	page->rows_in_all = draw_body(detail, body, head);
	int last = page->rows_in_all > body.rows ? page->rows_in_all - body.rows : 0;
	if (page->top > last) { /* it has become shorter */
		page->top = last;
		draw_region_fill(body, text);
		draw_body(detail, body, head);
	}
	if (page->top < last)
		draw_region_text(body, body.rows - 1, body.cols - 1, 1,
			host_style(detail->view.host, ROLE_DIM), "↓");
}

/* One sandbox without a cluster around it: its address, and its daemon. */
static void draw_direct(struct views_detail *detail, struct draw_region r)
{
	struct view_host *host = detail->view.host;
	struct views_detail_lines *all = &detail->page.lines;
	views_detail_clear(all);
	keep_fresh(detail, NULL);
	views_detail_title(all, detail->name);
	views_detail_add(all, "address", ROLE_TEXT, engine_context(host->engine), 0);
	views_detail_title(all, "Daemon");
	if (!detail->health.n)
		views_detail_add(all, "health", ROLE_DIM, "asking …", 0);
	views_detail_append(all, &detail->health);
	views_detail_append(all, &detail->metadata);
	views_detail_page_draw(host, &detail->page, r);
}

static void draw(struct view *view, struct draw_region r, bool is_focused)
{
	struct views_detail *detail = detail_of(view);
	struct fleet *fleet = engine_fleet(view->host->engine);
	(void)is_focused;
	if (!fleet) {
		draw_direct(detail, r);
		return;
	}
	if (r.cols < COLS_MIN || r.rows < 2)
		return;
	const struct fleet_row *row = row_of(detail);
	const struct fleet_row *last = fleet_find_any(fleet, detail->uid);
	if (last) {
		free(detail->name);
		detail->name = x_strdup(view_host_row_name(view->host, detail->uid));
	}
	keep_fresh(detail, row);
	build(detail, row);
	struct fleet_story_entry *story = x_calloc(FLEET_STORY_MAX, sizeof *story);
	struct views_detail_head head = { .row = last, .name = detail->name, .story = story };
	head.n_story = fleet_story(fleet, detail->uid, story, FLEET_STORY_MAX);
	draw_page(detail, r, &head);
	free(story);
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

static bool has_parts(const struct view *view)
{
	return engine_fleet(view->host->engine) != NULL;
}

static bool run_unfold(void *self, const char *args, struct err *err)
{
	struct views_detail *detail = self;
	host_dirty(detail->view.host);
	return views_detail_unfold(&detail->folds, detail->sections, args, err);
}

static const struct view_command commands[] = {
	{ "unfold", "[PART|all|none|next|previous]", "open or close a part", .run = run_unfold,
		.fits = has_parts },
	{ "move", "up|down|page-up|page-down|first|last", "scroll", .run = run_move },
	{ "refresh", "", "fetch everything again", .run = run_refresh },
};

static bool mouse(struct view *view, const struct draw_mouse *mouse)
{
	struct views_detail *detail = detail_of(view);
	if (mouse->action == MOUSE_PRESS && mouse->button == 1 &&
		views_detail_sections_click(&detail->folds, detail->sections, mouse))
		host_dirty(view->host);
	else
		views_detail_page_wheel(view->host, &detail->page, mouse);
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
	detail->folds.current = -1;
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
	for (int i = 0; i < DETAIL_SECTIONS; i++)
		views_detail_clear(&detail->sections[i].lines);
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
