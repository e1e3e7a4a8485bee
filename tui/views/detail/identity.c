// SPDX-License-Identifier: Apache-2.0
// Who it is, and what it uses, as lines.
#include "tui/views/detail/frames.h"

#include "engine/base/clock.h"
#include "engine/base/num.h"
#include "engine/base/str.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

enum {
	GAUGE_CELLS_MIN = 6,
	GAUGE_CELLS_MAX = 32,
	NUMBERS_COLS = 30, /* that stand beside a picture */
	FULL = 1000,
	NEARLY_FULL = 850,
	SOON_MS = 5 * 60 * 1000,
	TEXT_BYTES = 256,
};

static void add_sparkline(struct str *out, const int16_t *values, int n, int cells)
{
	static const char *const bars[] = { "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" };
	for (int i = n > cells ? n - cells : 0; i < n; i++) {
		int step = values[i] < 0 ? -1 : values[i] * 8 / (FULL + 1);
		str_add(out, step < 0 ? "·" : bars[step > 7 ? 7 : step]);
	}
}

static void add_gauge(struct str *out, int64_t share, int cells)
{
	int full = (int)((share * cells + FULL / 2) / FULL);
	for (int i = 0; i < cells; i++)
		str_add(out, i < full ? "▓" : "░");
}

static void add_amount(struct str *out, enum usage_resource resource, int64_t amount)
{
	char size[NUM_SIZE_BYTES];
	if (resource == USAGE_CPU)
		str_addf(out, amount % 1000 ? "%.2f" : "%.0f", (double)amount / 1000);
	else
		str_add(out, num_format_size(amount > 0 ? (uint64_t)amount : 0, size));
}

static enum draw_theme_role role_of(int64_t share)
{
	return share >= FULL ? ROLE_ERROR : share >= NEARLY_FULL ? ROLE_WARNING : ROLE_OK;
}

static void add_resource(struct views_detail_lines *lines, const struct fleet_row *row,
	enum usage_resource resource, const char *label, int cells)
{
	struct fleet_use use = fleet_use_of(row, resource);
	int16_t history[RESOURCE_HISTORY_MAX];
	struct str text;
	if (!use.is_known)
		return;
	str_init(&text, TEXT_BYTES);
	int n = fleet_use_history(row, resource, history, RESOURCE_HISTORY_MAX);
	if (n > 1)
		add_sparkline(&text, history, n, cells);
	else if (use.share >= 0)
		add_gauge(&text, use.share < FULL ? use.share : FULL, cells);
	if (text.n)
		str_add(&text, "  ");
	if (resource == USAGE_CPU && use.share >= 0)
		str_addf(&text, "%lld%%  of ", (long long)use.share / 10);
	else
		add_amount(&text, resource, use.amount);
	if (use.limit > 0) {
		if (resource != USAGE_CPU || use.share < 0)
			str_add(&text, " of ");
		add_amount(&text, resource, use.limit);
	}
	if (resource == USAGE_CPU)
		str_add(&text, use.limit == 1000 ? " core" : " cores");
	views_detail_add(lines, label, role_of(use.share), text.p, 0);
	str_deinit(&text);
}

static void add_life(struct views_detail_lines *lines, const struct fleet_row *row, int cells)
{
	int64_t now = clock_wall_ms(), left = row->expires_ms - now;
	int64_t whole = row->expires_ms - row->created_ms;
	char age[CLOCK_AGE_BYTES], at[32] = "";
	time_t seconds = (time_t)(row->expires_ms / 1000);
	struct tm tm;
	struct str text;
	if (!row->expires_ms)
		return;
	if (localtime_r(&seconds, &tm))
		strftime(at, sizeof at, left < 20LL * 3600 * 1000 ? "%H:%M" : "%Y-%m-%d %H:%M",
			&tm);
	str_init(&text, TEXT_BYTES);
	if (row->created_ms && whole > 0 && left > 0 && left <= whole) {
		add_gauge(&text, left * FULL / whole, cells);
		str_add(&text, "  ");
	}
	if (left > 0)
		str_addf(&text, "%s left, ends %s", clock_format_age(left, age), at);
	else
		str_addf(&text, "over for %s", clock_format_age(-left, age));
	views_detail_add(lines, "LIFE", left < SOON_MS ? ROLE_WARNING : ROLE_TEXT, text.p, 0);
	str_deinit(&text);
}

void views_detail_add_use(
	struct views_detail_lines *lines, const struct fleet_row *row, int cols)
{
	int cells = cols - NUMBERS_COLS;
	cells = cells < GAUGE_CELLS_MIN   ? GAUGE_CELLS_MIN
		: cells > GAUGE_CELLS_MAX ? GAUGE_CELLS_MAX
					  : cells;
	add_resource(lines, row, USAGE_CPU, "CPU", cells);
	add_resource(lines, row, USAGE_MEMORY, "MEM", cells);
	add_resource(lines, row, USAGE_DISK, "DISK", cells);
	add_life(lines, row, cells);
}

/* ---- identity */

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

static void add_pod(struct views_detail_lines *lines, const struct fleet *fleet,
	const struct fleet_row *row)
{
	enum fleet_kind deciding =
		fleet_forbidden(fleet, FLEET_SANDBOXES) ? FLEET_SANDBOXES : FLEET_PODS;
	if (*row->sandbox && strcmp(row->sandbox, row->pod) == 0) {
		views_detail_add(lines, "sandbox, pod", ROLE_TEXT, row->pod, 0);
		return;
	}
	add_unless_hidden(lines, fleet, FLEET_SANDBOXES, "sandbox", row->sandbox);
	add_unless_hidden(lines, fleet, deciding, "pod", row->pod);
}

void views_detail_add_identity(struct views_detail_lines *lines, const struct fleet *fleet,
	const struct fleet_row *row)
{
	char date[CLOCK_RFC3339_BYTES], age[CLOCK_AGE_BYTES];
	add_if(lines, "namespace", row->namespace_);
	add_unless_hidden(lines, fleet, FLEET_CLAIMS, "claim", row->claim);
	add_pod(lines, fleet, row);
	add_unless_hidden(lines, fleet, FLEET_CLAIMS, "pool", row->pool);
	add_unless_hidden(lines, fleet, FLEET_POOLS, "template", row->template_);
	add_if(lines, "node", row->node);
	add_if(lines, "pod IP", row->pod_ip);
	add_if(lines, "service", row->service_fqdn);
	add_if(lines, "runtime class", row->runtime_class);
	add_if(lines, "created by", row->created_by);
	if (row->created_ms) {
		int64_t ago = clock_wall_ms() - row->created_ms;
		views_detail_addf(lines, "created", ROLE_TEXT, 0, "%s, %s ago",
			clock_format_rfc3339(row->created_ms * 1000000, 0, date),
			clock_format_age(ago > 0 ? ago : 0, age));
	}
	if (row->restarts)
		views_detail_addf(lines, "restarts", ROLE_WARNING, 0, "%d", row->restarts);
	else if (row->state != FLEET_DELETED)
		add_unless_hidden(lines, fleet, FLEET_PODS, "restarts", "");
}
