// SPDX-License-Identifier: Apache-2.0
/* Which file a request is about. */
#include "local/daemon/rest_internal.h"

#include "engine/base/str.h"

bool daemon_rest_resolve(struct daemon_rest_conn *conn, struct daemon_confined *target)
{
	daemon_confine_resolve(
		conn->server->opts.root, (struct slice){ conn->path, conn->path_n }, target);
	if (target->state == CONFINE_ESCAPES) {
		daemon_rest_error(conn, 403, "PERMISSION_DENIED",
			"path traversal outside sandbox root is forbidden");
		return false;
	}
	if (target->state == CONFINE_FAILED) {
		struct str message;
		str_init(&message, target->message_n + 64);
		str_add(&message, "failed to evaluate symlinks: ");
		str_add_bytes(&message, target->message, target->message_n);
		daemon_rest_error_text(
			conn, 500, "INTERNAL", (struct slice){ message.p, message.n });
		str_deinit(&message);
		return false;
	}
	return true;
}
