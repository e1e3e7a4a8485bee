// SPDX-License-Identifier: Apache-2.0
#include "local/daemon/rest.h"
#include "engine/base/mem.h"
#include "engine/net/loop.h"
#include <stdlib.h>
#include <unistd.h>
struct rest_server {
	struct loop *loop;
	struct rest_server_opts opts;
};
struct rest_server *rest_server_new(struct loop *loop, const struct rest_server_opts *opts)
{
	struct rest_server *s = x_calloc(1, sizeof *s);
	s->loop = loop;
	s->opts = *opts;
	return s;
}
void rest_server_free(struct rest_server *s)
{
	free(s);
}
void rest_server_accept_take(struct rest_server *s, int fd)
{
	(void)s;
	close(fd);
}
void rest_server_set_ready(struct rest_server *s, bool r)
{
	(void)s;
	(void)r;
}
void rest_server_shutdown(struct rest_server *s)
{
	loop_defer(s->loop, s->opts.on_idle, s->opts.arg);
}
