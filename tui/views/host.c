// SPDX-License-Identifier: Apache-2.0
// Small helpers over what the application offers.
#include "tui/views/host.h"

#include <stdarg.h>
#include <stdio.h>

enum { LINE_BYTES = 1024 };

void host_notef(struct host *host, enum note_level level, const char *format, ...)
{
	char line[LINE_BYTES];
	va_list args;
	va_start(args, format);
	vsnprintf(line, sizeof line, format, args);
	va_end(args);
	host->ops->note(host, level, line);
}

void host_failf(struct host *host, const struct err *err, const char *format, ...)
{
	char line[LINE_BYTES];
	va_list args;
	va_start(args, format);
	vsnprintf(line, sizeof line, format, args);
	va_end(args);
	host->ops->fail(host, line, err);
}

const char *host_row_name(const struct host *host, const char *uid)
{
	struct fleet *fleet = engine_fleet(host->engine);
	if (!uid || !*uid || !fleet)
		return engine_context(host->engine);
	const struct fleet_row *row = fleet_find(fleet, uid);
	if (!row)
		return uid;
	return *row->claim ? row->claim : row->sandbox;
}

bool host_is_stale(const struct host *host)
{
	struct engine_link link;
	return engine_link_of(host->engine, &link) && link.state != ENGINE_LINK_LIVE &&
	       link.state != ENGINE_LINK_WAITING;
}

enum theme_role host_state_role(enum fleet_state state)
{
	switch (state) {
	case FLEET_READY:
		return ROLE_OK;
	case FLEET_FAILED:
	case FLEET_BLOCKED:
	case FLEET_ERROR:
	case FLEET_EXPIRED:
		return ROLE_ERROR;
	case FLEET_DEGRADED:
	case FLEET_PENDING:
	case FLEET_UNKNOWN:
		return ROLE_WARNING;
	case FLEET_CREATING:
	case FLEET_RESUMING:
	case FLEET_SUSPENDING:
		return ROLE_BUSY;
	default:
		return ROLE_GONE;
	}
}
