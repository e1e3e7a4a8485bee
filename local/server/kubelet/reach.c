// SPDX-License-Identifier: Apache-2.0
/* How the API reaches what runs (struct server_pods). Where a pod's daemon is comes from the run itself, never from the pod's
 * status, which a client may write: a connection leads to the address that this backend has bound for that sandbox, and to
 * the ports of its daemon alone. */
#include "local/server/kubelet/run.h"

#include "engine/base/err.h"
#include "engine/base/path.h"
#include "local/server/token.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

static struct kubelet_run *running(const struct server *s, const char *uid)
{
	struct kubelet_run *r = NULL;
	if (s->controller && s->controller->kubelet)
		HASH_FIND_STR(s->controller->kubelet->runs, uid, r);
	return r && r->daemon && !r->is_stopping && !r->stopped_for &&
			       isolation_spawn_is_alive(r->daemon)
		       ? r
		       : NULL;
}

static bool is_running(struct server *s, const char *uid)
{
	return running(s, uid) != NULL;
}

static int connect_to(struct server *s, const char *uid, uint16_t port, struct err *err)
{
	const struct kubelet_run *r = running(s, uid);
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(port) };
	int on = 1;
	if (!r) {
		err_set(err, ERR_CONN_REFUSED, "its daemon does not run");
		return -1;
	}
	uint16_t rest = isolation_spawn_rest_port(r->daemon);
	uint16_t grpc = isolation_spawn_grpc_port(r->daemon);
	if (port != rest && port != grpc) {
		err_set(err, ERR_CONN_REFUSED,
			"only %u and %u of a local sandbox can be reached, the ports of its"
			" daemon: dial tcp4 127.0.0.1:%u: connect: connection refused",
			rest, grpc, port);
		return -1;
	}
	if (inet_pton(AF_INET, r->address, &address.sin_addr) != 1 ||
		ntohl(address.sin_addr.s_addr) >> 24 != IN_LOOPBACKNET) {
		err_set(err, ERR_INTERNAL, "it has no address");
		return -1;
	}
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd >= 0 && (connect(fd, (struct sockaddr *)&address, sizeof address) == 0 ||
			       errno == EINPROGRESS)) {
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
		return fd;
	}
	err_set_errno(err, errno, "connect");
	if (fd >= 0)
		close(fd);
	return -1;
}

static char *daemon_token(struct server *s, const char *uid, struct err *err)
{
	char *folder = path_join(s->opts.state_dir, "pods");
	char *pod = path_join(folder, uid), *path = path_join(pod, "daemon-token");
	char *token = server_token_load(path, err);
	free(path);
	free(pod);
	free(folder);
	return token;
}

const struct server_pods kubelet_pods = { is_running, connect_to, daemon_token };
