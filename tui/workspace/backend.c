// SPDX-License-Identifier: Apache-2.0
// The way to the API server, or in direct mode to the daemon, when it is bad; and the backend on this machine, which can
// be started again.
#include "tui/workspace/internal.h"

bool workspace_link_is_bad(const struct workspace *ws, struct engine_link *link)
{
	return engine_link_of(ws->host->engine, link) && link->state != ENGINE_LINK_LIVE &&
	       link->state != ENGINE_LINK_WAITING;
}

bool workspace_backend_is_starting(const struct workspace *ws)
{
	return ws->is_backend_starting;
}

bool workspace_can_start_backend(const struct workspace *ws, const struct engine_link *link)
{
	return link->state == ENGINE_LINK_DOWN && link->is_refused && ws->opts.start_backend &&
	       engine_is_local(ws->host->engine) && !ws->is_backend_starting;
}

static void on_started(void *arg, const struct err *err)
{
	struct workspace *ws = arg;
	ws->is_backend_starting = false;
	if (err)
		view_host_failf(ws->host, err, "Cannot start the backend");
	else
		engine_link_try(ws->host->engine);
	workspace_dirty(ws);
}

bool workspace_start_backend(struct workspace *ws, struct err *err)
{
	struct engine_link link;
	if (!ws->opts.start_backend || !engine_is_local(ws->host->engine))
		return err_set(err, ERR_OP_UNSUPPORTED,
			"only the backend on this machine can be started from here");
	if (ws->is_backend_starting || !workspace_link_is_bad(ws, &link) ||
		!workspace_can_start_backend(ws, &link))
		return err_set(err, ERR_OP_BUSY, "the backend %s",
			ws->is_backend_starting ? "is being started" : "runs");
	if (!ws->opts.start_backend(ws->opts.arg, on_started, ws, err))
		return false;
	ws->is_backend_starting = true;
	workspace_dirty(ws);
	return true;
}
