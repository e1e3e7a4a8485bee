// SPDX-License-Identifier: Apache-2.0
/* What is reconciled when: a controller whose passes only write down whose turn it was, on a clock that the test moves. */
#include "tests/unit/local/server/world.h"

#include "engine/base/clock.h"
#include "engine/base/err.h"
#include "engine/base/mem.h"
#include "local/control/remove.h"
#include "local/server/kubelet/volumes.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

enum { SLICE = 64, MAX_TIMERS = 16 };

static char folder[64];
static char turns[20000]; /* "claim/a pool/b " */
static int64_t now_ms, again_ms;

/* Timers fire when the test says so. */
static struct fake {
	struct net_loop_timer *timer;
	net_loop_fn *fn;
	void *arg;
	int64_t in_ms; /* -1: not armed */
	bool is_every;
} timers[MAX_TIMERS];
static int n_timers;

struct net_loop_timer *__real_net_loop_timer_new(
	struct net_loop *loop, net_loop_fn *fn, void *arg);
struct net_loop_timer *__wrap_net_loop_timer_new(
	struct net_loop *loop, net_loop_fn *fn, void *arg);
struct net_loop_timer *__wrap_net_loop_timer_new(
	struct net_loop *loop, net_loop_fn *fn, void *arg)
{
	assert_true(n_timers < MAX_TIMERS);
	timers[n_timers] =
		(struct fake){ __real_net_loop_timer_new(loop, fn, arg), fn, arg, -1, false };
	return timers[n_timers++].timer;
}

static struct fake *timer_of(const struct net_loop_timer *timer)
{
	for (int i = 0; i < n_timers; i++)
		if (timers[i].timer == timer)
			return &timers[i];
	fail_msg("a timer that is not known");
	return NULL;
}

void __wrap_net_loop_timer_arm(struct net_loop_timer *timer, int64_t delay_ms);
void __wrap_net_loop_timer_arm(struct net_loop_timer *timer, int64_t delay_ms)
{
	timer_of(timer)->in_ms = delay_ms;
}

void __wrap_net_loop_timer_arm_every(struct net_loop_timer *timer, int64_t period_ms);
void __wrap_net_loop_timer_arm_every(struct net_loop_timer *timer, int64_t period_ms)
{
	timer_of(timer)->in_ms = period_ms;
	timer_of(timer)->is_every = true;
}

static int64_t turn_of(const char *kind, const struct store_object *o)
{
	size_t n = strlen(turns);
	snprintf(turns + n, sizeof turns - n, "%s/%s ", kind, o->name);
	return again_ms;
}

#define RECONCILER(room, kind)                                                                 \
	int64_t __wrap_##room##_reconcile_##kind(                                              \
		struct controller *c, struct store_object *o);                                 \
	int64_t __wrap_##room##_reconcile_##kind(struct controller *c, struct store_object *o) \
	{                                                                                      \
		assert_non_null(c);                                                            \
		return turn_of(#kind, o);                                                      \
	}
RECONCILER(manager, claim)
RECONCILER(manager, pool)
RECONCILER(manager, sandbox)
RECONCILER(kubelet, pod)
RECONCILER(manager, namespace)

static void at_ms(int64_t ms)
{
	now_ms = ms;
	clock_set_for_tests(ms * 1000000, 1767225600000000000 + ms * 1000000);
}

/* Whose turn it was at the end of this turn of the loop, sorted as the queue is; then nobody's. */
static void expect_turns(struct world *w, const char *wanted)
{
	for (int i = 0; i < 4; i++)
		net_loop_run_once(w->server.loop, 0);
	assert_string_equal(turns, wanted);
	turns[0] = '\0';
}

static int set_up(void **state)
{
	struct world *w = x_calloc(1, sizeof *w);
	struct store_opts opts = { 0 };
	struct err err = { 0 };
	snprintf(folder, sizeof folder, "/tmp/sandmux-queue-XXXXXX");
	assert_non_null(mkdtemp(folder));
	turns[0] = '\0';
	n_timers = 0;
	again_ms = 0;
	at_ms(1000000);
	w->server.loop = net_loop_new(&err);
	w->server.store = store_open(&opts, &err);
	w->server.opts.state_dir = folder;
	world_make(w, KIND_NAMESPACE, "{'metadata':{'name':'default'}}");
	world_put(w, KIND_LEASE, "{'metadata':{'name':'l','uid':'l'},'spec':{}}");
	w->c = manager_start(&w->server, &err);
	assert_non_null(w->c);
	expect_turns(w, "namespace/default ");
	*state = w;
	return 0;
}

static int tear_down(void **state)
{
	int fd = open(folder, O_RDONLY | O_DIRECTORY);
	world_tear_down(state);
	clock_set_for_tests(-1, -1);
	assert_true(control_remove_content(fd, NULL));
	close(fd);
	return rmdir(folder);
}

static int64_t armed(const struct net_loop_timer *timer)
{
	int64_t ms = timer_of(timer)->in_ms;
	timer_of(timer)->in_ms = -1;
	return ms;
}

static void fire(const struct net_loop_timer *timer)
{
	const struct fake *t = timer_of(timer);
	t->fn(t->arg);
}

static void test_later(void **state)
{
	struct world *w = *state;
	struct controller *c = w->c;
	world_put(w, KIND_CLAIM, "{'metadata':{'name':'a','uid':'a'},'spec':{}}");
	world_put(w, KIND_CLAIM, "{'metadata':{'name':'b','uid':'b'},'spec':{}}");
	expect_turns(w, "claim/a claim/b ");
	assert_int_equal(armed(c->timer), -1);
	controller_enqueue(c, KIND_CLAIM, "default", "a", 500);
	assert_int_equal(armed(c->timer), 500);
	controller_enqueue(c, KIND_CLAIM, "default", "b", 800); /* the timer comes before */
	assert_int_equal(armed(c->timer), -1);
	controller_enqueue(c, KIND_CLAIM, "default", "b", 300);
	assert_int_equal(armed(c->timer), 300);
	controller_enqueue(c, KIND_CLAIM, "default", "b", 900); /* which postpones nothing */
	assert_int_equal(armed(c->timer), -1);
	expect_turns(w, "");
	at_ms(now_ms + 299);
	fire(c->timer);
	expect_turns(w, "");
	assert_int_equal(armed(c->timer), 1);
	at_ms(now_ms + 1);
	fire(c->timer);
	expect_turns(w, "claim/b ");
	assert_int_equal(armed(c->timer), 200);
	at_ms(now_ms + 200);
	fire(c->timer);
	expect_turns(w, "claim/a ");
	/* nothing is left: any delay arms it */
	assert_int_equal(armed(c->timer), -1);
	assert_int_equal(c->next_ms, 0);
	controller_enqueue(c, KIND_CLAIM, "default", "a", 5000);
	assert_int_equal(armed(c->timer), 5000);
	/* and at once means at once */
	controller_enqueue(c, KIND_CLAIM, "default", "a", 0);
	expect_turns(w, "claim/a ");
	at_ms(now_ms + 5000);
	fire(c->timer);
	expect_turns(w, "");
}

static void test_a_pass_that_wants_another(void **state)
{
	struct world *w = *state;
	world_put(w, KIND_CLAIM, "{'metadata':{'name':'a','uid':'a'},'spec':{}}");
	again_ms = 250;
	expect_turns(w, "claim/a ");
	assert_int_equal(armed(w->c->timer), 250);
	again_ms = 0;
	at_ms(now_ms + 250);
	fire(w->c->timer);
	expect_turns(w, "claim/a ");
	assert_int_equal(armed(w->c->timer), -1);
	/* what is gone is passed over */
	controller_enqueue(w->c, KIND_CLAIM, "default", "none", 0);
	controller_enqueue(w->c, KIND_LEASE, "default", "l", 0);
	controller_enqueue(w->c, KIND_CLAIM, "other", "a", 0);
	expect_turns(w, "");
	manager_stop(w->c, NULL, NULL);
	controller_enqueue(w->c, KIND_CLAIM, "default", "a", 0);
	expect_turns(w, "");
}

/* Between slices others have their turn. */
static void test_slices(void **state)
{
	struct world *w = *state;
	for (int i = 0; i < 2 * SLICE + 1; i++)
		world_put(w, KIND_CLAIM,
			"{'metadata':{'name':'c','uid':'u%d','namespace':'n%d'},'spec':{}}", i,
			i);
	for (int slice = 0; slice < 3; slice++) {
		net_loop_run_once(w->server.loop, 0);
		size_t n = strlen(turns) / strlen("claim/c ");
		assert_int_equal(n, slice < 2 ? SLICE : 1);
		turns[0] = '\0';
	}
	expect_turns(w, "");
}

/* Which others a change concerns. */
static void test_whom_a_change_concerns(void **state)
{
#define OWNED(version, kind, name)                                                                 \
	",'ownerReferences':[{'uid':'x','kind':'Claim','name':'not-this'},{'apiVersion':'" version \
	"','kind':'" kind "','name':'" name "','uid':'y','controller':true}]"
#define BY_CLAIM OWNED("extensions.agents.x-k8s.io/v1beta1", "SandboxClaim", "bound")
#define BY_SANDBOX OWNED("agents.x-k8s.io/v1beta1", "Sandbox", "s")
	static const struct {
		enum store_kind kind;
		const char *metadata, *turns;
	} rows[] = {
		{ KIND_SANDBOX, "'name':'s2'" BY_CLAIM, "sandbox/s2 claim/bound claim/free " },
		{ KIND_SANDBOX, "'name':'s3'", "sandbox/s3 claim/free " },
		{ KIND_SANDBOX, "'name':'s4'" OWNED("v1", "SandboxClaim", "bound"),
			"sandbox/s4 claim/free " },
		{ KIND_POD, "'name':'p'" BY_SANDBOX, "pod/p sandbox/s " },
		{ KIND_SERVICE, "'name':'v'" BY_SANDBOX, "sandbox/s " },
		{ KIND_PVC, "'name':'v'" BY_SANDBOX, "sandbox/s " },
		{ KIND_LEASE, "'name':'v'" BY_SANDBOX, "" },
		{ KIND_EVENT, "'name':'e'" BY_SANDBOX, "" },
		{ KIND_POOL, "'name':'p2'", "pool/p2 claim/free " },
		{ KIND_TEMPLATE, "'name':'t'", "pool/p1 pool/p2 claim/free " },
		{ KIND_TEMPLATE, "'name':'t','namespace':'far'", "claim/far " },
		{ KIND_CLAIM, "'name':'free'", "claim/free " },
	};
	struct world *w = *state;
	world_put(w, KIND_CLAIM, "{'metadata':{'name':'free','uid':'free'},'spec':{}}");
	world_put(w, KIND_CLAIM,
		"{'metadata':{'name':'bound','uid':'b'},'spec':{},'status':{'sandbox':{'name':'s'}}}");
	world_put(w, KIND_CLAIM,
		"{'metadata':{'name':'far','uid':'far','namespace':'far'},'spec':{}}");
	world_put(w, KIND_POOL, "{'metadata':{'name':'p1','uid':'p1'},'spec':{}}");
	world_put(w, KIND_SANDBOX, "{'metadata':{'name':'s','uid':'s'},'spec':{}}");
	expect_turns(w, "claim/free claim/bound claim/far pool/p1 sandbox/s ");
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		world_put(w, rows[i].kind, "{'metadata':{%s,'uid':'row%zu'},'spec':{}}",
			rows[i].metadata, i);
		for (int turn = 0; turn < 4; turn++)
			net_loop_run_once(w->server.loop, 0);
		if (strcmp(turns, rows[i].turns) != 0)
			fail_msg("row %zu: %s", i, turns);
		turns[0] = '\0';
	}
	/* whose it was before is told as well */
	world_put(w, KIND_SANDBOX, "{'metadata':{'name':'s2','uid':'row0'},'spec':{}}");
	expect_turns(w, "sandbox/s2 claim/bound claim/free ");
}

static void test_a_volume_that_goes(void **state)
{
	struct world *w = *state;
	char path[200];
	world_put(w, KIND_PVC, "{'metadata':{'name':'v','uid':'vol'},'spec':{}}");
	assert_true(store_meta_set(w->server.store, "evicted/vol", "1 2", NULL));
	snprintf(path, sizeof path, "%s/volumes/vol", folder);
	char *made = kubelet_volumes_folder(&w->server, "volumes", "vol", NULL);
	assert_string_equal(made, path);
	free(made);
	world_put(w, KIND_PVC, "{'metadata':{'name':'v','uid':'vol'},'spec':{'x':1}}");
	assert_int_equal(access(path, F_OK), 0);
	world_remove(w, KIND_PVC, "v");
	assert_null(store_meta_get(w->server.store, "evicted/vol"));
	assert_int_not_equal(access(path, F_OK), 0);
}

static void test_everything_again(void **state)
{
	struct world *w = *state;
	struct controller *c = w->c;
	world_put(w, KIND_CLAIM, "{'metadata':{'name':'a','uid':'a'},'spec':{}}");
	expect_turns(w, "claim/a ");
	/* a write that the store did not take: some seconds later all is looked at */
	controller_is_behind(c);
	assert_int_equal(armed(c->behind_timer), 5000);
	expect_turns(w, "");
	fire(c->behind_timer);
	expect_turns(w, "claim/a namespace/default ");
	assert_true(timer_of(c->prune_timer)->is_every);
	assert_int_equal(armed(c->prune_timer), 300000);
	c->is_stopping = true;
	fire(c->behind_timer);
	c->is_stopping = false;
	expect_turns(w, "");
}

static void test_writes_that_are_refused(void **state)
{
	struct world *w = *state;
	struct err err = { 0 };
	armed(w->c->behind_timer);
	assert_null(controller_create(w->c, KIND_CLAIM, "nowhere",
		world_json("{'metadata':{'name':'a'},'spec':{'warmPoolRef':{'name':'p'}}}"),
		&err));
	assert_int_equal(err.code, ERR_KUBE_INVALID);
	assert_non_null(strstr(err.msg, "nowhere"));
	/* the store is well */
	assert_int_equal(armed(w->c->behind_timer), -1);
	const struct store_object *o = controller_create(w->c, KIND_CLAIM, "default",
		world_json("{'metadata':{'name':'a'},'spec':{'warmPoolRef':{'name':'p'}}}"),
		&err);
	assert_non_null(o);
	/* whatever version the tree was made from */
	cJSON *json = cJSON_Duplicate(o->json, true);
	cJSON_ReplaceItemInObject(cJSON_GetObjectItem(json, "metadata"), "resourceVersion",
		cJSON_CreateString("1"));
	cJSON_AddItemToObject(json, "status", world_json("{'sandbox':{'name':'s'}}"));
	o = controller_update(w->c, world_get(w, KIND_CLAIM, "a"), json, OBJECTS_STATUS);
	assert_non_null(o);
	assert_str("s", o->json, "status", "sandbox", "name");
	controller_delete(w->c, world_get(w, KIND_CLAIM, "a"), OBJECTS_BACKGROUND);
	assert_null(world_get(w, KIND_CLAIM, "a"));
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_later),
		TEST(test_a_pass_that_wants_another),
		TEST(test_slices),
		TEST(test_whom_a_change_concerns),
		TEST(test_a_volume_that_goes),
		TEST(test_everything_again),
		TEST(test_writes_that_are_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
