// SPDX-License-Identifier: Apache-2.0
// Small helpers over what the application offers.
#include "tui/view/host.h"
#include "tui/view/view.h"

#include <stdarg.h>
#include <stdio.h>

enum { LINE_BYTES = 1024 };

void view_host_notef(
	struct view_host *host, enum view_note_level level, const char *format, ...)
{
	char line[LINE_BYTES];
	va_list args;
	va_start(args, format);
	vsnprintf(line, sizeof line, format, args);
	va_end(args);
	host->ops->note(host, level, line);
}

void view_host_failf(struct view_host *host, const struct err *err, const char *format, ...)
{
	char line[LINE_BYTES];
	va_list args;
	va_start(args, format);
	vsnprintf(line, sizeof line, format, args);
	va_end(args);
	host->ops->fail(host, line, err);
}

const char *view_host_row_name(const struct view_host *host, const char *uid)
{
	struct fleet *fleet = engine_fleet(host->engine);
	if (!uid || !*uid || !fleet)
		return engine_context(host->engine);
	const struct fleet_row *row = fleet_find_any(fleet, uid);
	if (!row)
		return uid;
	return fleet_row_name(row);
}

bool view_host_is_stale(const struct view_host *host)
{
	struct engine_link link;
	return engine_link_of(host->engine, &link) && link.state != ENGINE_LINK_LIVE &&
	       link.state != ENGINE_LINK_WAITING;
}

enum draw_theme_role view_tone_role(enum resource_tone tone)
{
	static const enum draw_theme_role roles[RESOURCE_TONE_COUNT] = {
		[RESOURCE_PLAIN] = ROLE_TEXT,
		[RESOURCE_DIM] = ROLE_DIM,
		[RESOURCE_GOOD] = ROLE_OK,
		[RESOURCE_BUSY] = ROLE_BUSY,
		[RESOURCE_WARNING] = ROLE_WARNING,
		[RESOURCE_BAD] = ROLE_ERROR,
		[RESOURCE_GONE] = ROLE_GONE,
	};
	return roles[tone];
}

enum draw_theme_role view_host_state_role(enum fleet_state state)
{
	return view_tone_role(fleet_state_tone(state));
}

bool view_is_the_only_one(const struct view *view, const struct view_args *args)
{
	(void)view;
	(void)args;
	return true;
}
