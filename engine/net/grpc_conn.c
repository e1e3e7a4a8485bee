// SPDX-License-Identifier: Apache-2.0
/* What a call asks of its connection: may it begin, that its frames leave, and that the owner is told when the last call of a
 * connection without a future has ended. */
#include "engine/net/grpc_internal.h"

#include "engine/net/loop.h"

bool net_grpc_conn_is_usable(const struct net_grpc_conn *conn)
{
	return !conn->is_dead && !conn->is_closed && !conn->is_going_away &&
	       nghttp2_session_check_request_allowed(conn->session);
}

static void on_flush(void *arg)
{
	struct net_grpc_conn *conn = arg;
	conn->is_flush_due = false;
	conn->flush(conn);
}

void net_grpc_conn_flush_later(struct net_grpc_conn *conn)
{
	if (conn->is_flush_due || conn->is_closed || conn->is_dead)
		return;
	conn->is_flush_due = true;
	net_loop_defer(conn->loop, on_flush, conn);
}

static void tell_closed(void *arg)
{
	struct net_grpc_conn *conn = arg;
	if (!conn->is_dead && conn->on_closed != NULL)
		conn->on_closed(conn->arg, &conn->closed_err);
}

void net_grpc_conn_settle(struct net_grpc_conn *conn)
{
	if (!conn->is_going_away || conn->calls != NULL || conn->has_told || conn->is_dead)
		return;
	conn->has_told = true;
	net_loop_defer(conn->loop, tell_closed, conn);
}
