#include "local/server/controller/controller.h"
#include "engine/base/mem.h"
#include "local/server/api/stream.h"
#include "local/server/server.h"
#include <stdlib.h>
struct controller {
	struct server *s;
};
static void on_change(void *arg, const struct change *c)
{
	struct controller *k = arg;
	(void)c;
	stream_wake_all(k->s);
}
struct controller *controller_start(struct server *s, struct err *err)
{
	struct controller *c = x_calloc(1, sizeof *c);
	(void)err;
	c->s = s;
	store_listen(s->store, on_change, c);
	return c;
}
void controller_stop(struct controller *c, void (*done)(void *arg), void *arg)
{
	(void)c;
	done(arg);
}
void controller_free(struct controller *c)
{
	free(c);
}
