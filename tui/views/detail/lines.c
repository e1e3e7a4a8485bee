// SPDX-License-Identifier: Apache-2.0
// Objects of the API as lines to read.
#include "tui/views/detail/lines.h"

#include "engine/base/clock.h"
#include "engine/base/json.h"
#include "engine/base/mem.h"
#include "tui/widgets/wrap.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void views_detail_clear(struct views_detail_lines *lines)
{
	for (size_t i = 0; i < lines->n; i++) {
		free(lines->lines[i].label);
		free(lines->lines[i].text);
	}
	free(lines->lines);
	*lines = (struct views_detail_lines){ 0 };
}

static struct views_detail_line *add(
	struct views_detail_lines *lines, const char *label, const char *text)
{
	array_grow(&lines->lines, &lines->capacity, lines->n + 1, sizeof *lines->lines);
	struct views_detail_line *line = &lines->lines[lines->n++];
	*line = (struct views_detail_line){
		.label = x_strndup(label, DETAIL_TEXT_BYTES),
		.text = x_strndup(text, DETAIL_TEXT_BYTES),
		.role = ROLE_TEXT,
	};
	return line;
}

void views_detail_title(struct views_detail_lines *lines, const char *title)
{
	if (lines->n < DETAIL_LINES_MAX)
		add(lines, title, "")->is_title = true;
}

void views_detail_add(struct views_detail_lines *lines, const char *label,
	enum draw_theme_role role, const char *text, int64_t when_ms)
{
	if (lines->n >= DETAIL_LINES_MAX)
		return;
	struct views_detail_line *line = add(lines, label, text);
	line->role = role;
	line->when_ms = when_ms;
}

void views_detail_addf(struct views_detail_lines *lines, const char *label,
	enum draw_theme_role role, int64_t when_ms, const char *format, ...)
{
	struct str text;
	va_list args;
	str_init(&text, DETAIL_TEXT_BYTES);
	va_start(args, format);
	str_vaddf(&text, format, args);
	va_end(args);
	views_detail_add(lines, label, role, text.p, when_ms);
	str_deinit(&text);
}

void views_detail_append(struct views_detail_lines *to, const struct views_detail_lines *from)
{
	for (size_t i = 0; i < from->n && to->n < DETAIL_LINES_MAX; i++) {
		const struct views_detail_line *line = &from->lines[i];
		struct views_detail_line *made = add(to, line->label, line->text);
		made->is_title = line->is_title;
		made->is_pair = line->is_pair;
		made->role = line->role;
		made->when_ms = line->when_ms;
	}
}

static int64_t time_of(const char *text)
{
	int64_t ns;
	return text && clock_parse_rfc3339(text, &ns) ? ns / 1000000 : 0;
}

static const char *or_empty(const char *text)
{
	return text ? text : "";
}

static size_t add_conditions(struct views_detail_lines *fine, struct views_detail_lines *bad,
	const char *what, const cJSON *object)
{
	const cJSON *conditions = json_get(object, "status", "conditions", NULL), *c;
	size_t n = 0;
	if (!cJSON_IsArray(conditions))
		return 0;
	cJSON_ArrayForEach(c, conditions)
	{
		const char *type = or_empty(json_str(c, "type", NULL));
		const char *status = or_empty(json_str(c, "status", NULL));
		const char *message = or_empty(json_str(c, "message", NULL));
		bool is_fine = k8s_condition_is_fine(type, status);
		if (!*type)
			continue;
		n++;
		views_detail_addf(is_fine ? fine : bad, type, is_fine ? ROLE_OK : ROLE_WARNING,
			time_of(json_str(c, "lastTransitionTime", NULL)), "%s  %s%s%s (%s)",
			status, or_empty(json_str(c, "reason", NULL)), *message ? ": " : "",
			message, what);
	}
	return n;
}

/* "running", "waiting: ImagePullBackOff", "ended with 137 (OOMKilled)" */
static void add_state(struct str *out, const cJSON *state)
{
	const cJSON *waiting = json_get(state, "waiting", NULL);
	const cJSON *ended = json_get(state, "terminated", NULL);
	if (json_get(state, "running", NULL))
		str_add(out, "running");
	else if (waiting)
		str_addf(out, "waiting: %s %s", or_empty(json_str(waiting, "reason", NULL)),
			or_empty(json_str(waiting, "message", NULL)));
	else if (ended)
		str_addf(out, "ended with %lld (%s)",
			(long long)json_int(ended, -1, "exitCode", NULL),
			or_empty(json_str(ended, "reason", NULL)));
}

static void add_containers(
	struct views_detail_section *section, const cJSON *pod, const char *list)
{
	const cJSON *statuses = json_get(pod, "status", list, NULL), *c;
	bool is_init = list[0] == 'i';
	if (!cJSON_IsArray(statuses))
		return;
	cJSON_ArrayForEach(c, statuses)
	{
		struct str text;
		const cJSON *last = json_get(c, "lastState", NULL);
		int64_t restarts = json_int(c, 0, "restartCount", NULL);
		bool is_ready = json_bool(c, false, "ready", NULL);
		if (!cJSON_IsObject(c))
			continue;
		str_init(&text, DETAIL_TEXT_BYTES);
		add_state(&text, json_get(c, "state", NULL));
		str_addf(&text, "%s  %s", is_ready || is_init ? "" : ", not ready",
			or_empty(json_str(c, "image", NULL)));
		if (restarts)
			str_addf(&text, "  %lld restarts", (long long)restarts);
		if (json_get(last, "terminated", NULL)) {
			str_add(&text, ", before that ");
			add_state(&text, last);
		}
		bool is_fine = (is_ready || is_init) && !restarts;
		section->is_bad |= !is_fine;
		section->n++;
		views_detail_add(&section->lines, or_empty(json_str(c, "name", NULL)),
			is_fine ? ROLE_TEXT : ROLE_WARNING, text.p, 0);
		str_deinit(&text);
	}
}

static void add_map(struct views_detail_section *section, const char *what, const char *field,
	const cJSON *object)
{
	const cJSON *map = json_get(object, "metadata", field, NULL), *pair;
	if (!cJSON_IsObject(map) || !map->child)
		return;
	struct str title;
	str_init(&title, 256);
	str_addf(&title, "of the %s", what);
	views_detail_title(&section->lines, title.p);
	str_deinit(&title);
	cJSON_ArrayForEach(pair, map)
	{
		section->n++;
		if (section->lines.n >= DETAIL_LINES_MAX)
			continue;
		struct views_detail_line *line = add(&section->lines, pair->string,
			cJSON_IsString(pair) ? pair->valuestring : "?");
		line->is_pair = true;
	}
}

static void add_missing(
	struct views_detail_section *section, const char *what, const struct err *err)
{
	if (!err)
		return;
	section->is_bad = true;
	section->n++;
	views_detail_addf(&section->lines, what,
		err->code == ERR_KUBE_FORBIDDEN ? ROLE_DISABLED : ROLE_ERROR, 0,
		"– cannot be read: %s", err->msg);
}

void views_detail_read_objects(struct views_detail_section sections[DETAIL_SECTIONS],
	const struct fleet_detail *objects)
{
	const struct {
		const char *what;
		const cJSON *object;
		const struct err *err;
	} of[] = { { "claim", objects->claim, objects->claim_err },
		{ "sandbox", objects->sandbox, objects->sandbox_err },
		{ "pod", objects->pod, objects->pod_err } };
	struct views_detail_section *conditions = &sections[DETAIL_CONDITIONS];
	struct views_detail_lines fine = { 0 };
	for (size_t i = 0; i < sizeof of / sizeof of[0]; i++) {
		add_missing(&sections[DETAIL_OBJECTS], of[i].what, of[i].err);
		conditions->n +=
			add_conditions(&fine, &conditions->lines, of[i].what, of[i].object);
		add_map(&sections[DETAIL_LABELS], of[i].what, "labels", of[i].object);
		add_map(&sections[DETAIL_ANNOTATIONS], of[i].what, "annotations", of[i].object);
	}
	conditions->n_bad = conditions->lines.n;
	conditions->is_bad = conditions->n_bad > 0;
	views_detail_append(&conditions->lines, &fine);
	views_detail_clear(&fine);
	add_containers(&sections[DETAIL_CONTAINERS], objects->pod, "initContainerStatuses");
	add_containers(&sections[DETAIL_CONTAINERS], objects->pod, "containerStatuses");
}

/* ---- drawing */

enum { LABEL_COLS = 16 };

static int label_cols(const struct draw_region r)
{
	return LABEL_COLS < r.cols / 3 ? LABEL_COLS : r.cols / 3;
}

/* As of earlier: dim, whatever it says. */
static struct draw_style style_of(const struct view_host *host, enum draw_theme_role role)
{
	struct draw_style style = host_style(host, role);
	if (!view_host_is_stale(host))
		return style;
	style.fg = host_style(host, ROLE_DIM).fg;
	style.attrs |= DRAW_DIM;
	return style;
}

int views_detail_line_draw(const struct view_host *host, struct draw_region r, int row,
	const struct views_detail_line *line)
{
	char age[CLOCK_AGE_BYTES], buffer[CLOCK_AGE_BYTES + 8];
	if (line->is_title) {
		if (row >= 0 && row < r.rows)
			draw_region_text(
				r, row, 0, r.cols, style_of(host, ROLE_HEADER), line->label);
		return 1;
	}
	int labels = label_cols(r), col = labels + 3, rows;
	struct draw_region text = r;
	if (line->when_ms) {
		int64_t ago = clock_wall_ms() - line->when_ms;
		snprintf(buffer, sizeof buffer, "%s ago",
			clock_format_age(ago > 0 ? ago : 0, age));
		text = draw_region_sub(r, 0, 0, r.cols - (int)strlen(buffer) - 1, r.rows);
		if (row >= 0 && row < r.rows)
			draw_region_text_right(r, row, text.cols, r.cols - text.cols,
				host_style(host, ROLE_DIM), buffer);
	}
	if (draw_text_cols(line->label) > labels &&
		!line->is_pair) { /* a long label: a row of its own */
		rows = widget_wrap_draw(
			r, row, 2, host_style(host, ROLE_DIM), slice_of(line->label));
		return rows + widget_wrap_draw(text, row + rows, col,
				      style_of(host, line->role), slice_of(line->text));
	}
	if (line->is_pair) { /* name=value: as one */
		struct str both;
		str_init(&both, 64 << 10);
		str_addf(&both, "%s=%s", line->label, line->text);
		rows = widget_wrap_draw(text, row, 2, style_of(host, line->role),
			(struct slice){ both.p, both.n });
		str_deinit(&both);
		return rows;
	}
	if (row >= 0 && row < r.rows)
		draw_region_text(r, row, 2, labels, host_style(host, ROLE_DIM), line->label);
	return widget_wrap_draw(
		text, row, col, style_of(host, line->role), slice_of(line->text));
}
