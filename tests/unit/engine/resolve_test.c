// SPDX-License-Identifier: Apache-2.0
/* A name of the command line: found, waited for, or refused with the reason. */
#include "tests/unit/engine/cluster.h"

#include "engine/base/settings.h"

static int n_done;
static struct err done_err;
static char done_uid[64];

static void on_done(void *arg, const struct err *err, const char *uid)
{
	(void)arg;
	n_done++;
	err_copy(&done_err, err);
	snprintf(done_uid, sizeof done_uid, "%s", uid ? uid : "");
}

static int set_up(void **state)
{
	n_done = 0;
	done_err = (struct err){ 0 };
	return cluster_set_up(state);
}

static void open_lazily(struct cluster *c)
{
	cluster_open(c, (struct engine_opts){
				.connect.mode = CONNECT_IN_CLUSTER_POD_IP, .no_fleet = true });
}

static struct engine_resolve *begin(struct cluster *c, const char *name, int64_t wait_ready_ms)
{
	struct err err = { 0 };
	struct engine_resolve *resolve =
		engine_resolve_start(c->engine, name, wait_ready_ms, on_done, c, &err);
	assert_non_null(resolve);
	assert_int_equal(n_done, 0);
	return resolve;
}

static void add_all(struct cluster *c)
{
	cluster_add(c, "sandboxclaims", CLUSTER_CLAIM("a"));
	cluster_add(c, "sandboxes", CLUSTER_SANDBOX("a", "", "'127.0.0.9'", "True"));
	cluster_add(c, "pods", CLUSTER_POD("a", "pod-1", "", "127.0.0.9"));
}

static void what_is_ready_is_found(void **state)
{
	struct cluster *c = *state;
	add_all(c);
	open_lazily(c);
	for (int64_t wait_ms = 0; wait_ms <= 5000; wait_ms += 5000) {
		n_done = 0;
		begin(c, "a", wait_ms);
		API_UNTIL(&c->api, n_done, 5000);
		assert_int_equal(done_err.code, ERR_NONE);
		assert_string_equal(done_uid, "claim-a");
	}
}

static void what_is_not_there_is_told_at_once(void **state)
{
	struct cluster *c = *state;
	open_lazily(c);
	int64_t began_ms = clock_mono_ms();
	begin(c, "a", 60000);
	API_UNTIL(&c->api, n_done, 9000);
	assert_int_equal(done_err.code, ERR_CLAIM_NOT_FOUND);
	assert_true(clock_mono_ms() - began_ms < 9000);
}

static void what_may_not_be_listed_is_told_at_once(void **state)
{
	struct cluster *c = *state;
	cluster_collection(c, "sandboxclaims")->is_forbidden = true;
	cluster_collection(c, "sandboxes")->is_forbidden = true;
	open_lazily(c);
	begin(c, "a", 60000);
	API_UNTIL(&c->api, n_done, 5000);
	assert_int_equal(done_err.code, ERR_KUBE_FORBIDDEN);
}

#define PENDING                                                                                \
	"{'metadata':{'name':'a','namespace':'demo','uid':'claim-a','generation':1,"           \
	"'resourceVersion':'9RV','creationTimestamp':'2026-01-01T00:00:00Z'},'spec':"          \
	"{'warmPoolRef':{'name':'p'}}}"

static void what_is_not_ready_is_waited_for(void **state)
{
	struct cluster *c = *state;
	cluster_add(c, "sandboxclaims", PENDING);
	open_lazily(c);
	begin(c, "a", 9000);
	API_FOR(&c->api, 300);
	assert_int_equal(n_done, 0);
	cluster_tell(c, "sandboxclaims", "MODIFIED", CLUSTER_CLAIM("a"));
	cluster_tell(c, "sandboxes", "ADDED", CLUSTER_SANDBOX("a", "", "'127.0.0.9'", "True"));
	cluster_tell(c, "pods", "ADDED", CLUSTER_POD("a", "pod-1", "", "127.0.0.9"));
	API_UNTIL(&c->api, n_done, 5000);
	assert_int_equal(done_err.code, ERR_NONE);
	/* without a wait it is taken as it is */
}

static void without_a_wait_it_is_taken_as_it_is(void **state)
{
	struct cluster *c = *state;
	cluster_add(c, "sandboxclaims", PENDING);
	open_lazily(c);
	begin(c, "a", 0);
	API_UNTIL(&c->api, n_done, 5000);
	assert_string_equal(done_uid, "claim-a");
}

static void the_wait_ends(void **state)
{
	struct cluster *c = *state;
	struct err err = { 0 };
	assert_true(setting_set("resolve-timeout", "1s", &err));
	cluster_add(c, "sandboxclaims", PENDING);
	open_lazily(c);
	int64_t began_ms = clock_mono_ms();
	begin(c, "a", 1500);
	API_UNTIL(&c->api, n_done, 9000);
	assert_true(clock_mono_ms() - began_ms >= 1450);
	assert_int_equal(done_err.code, ERR_SANDBOX_NOT_READY);
	assert_memory_equal(done_err.msg, "a is ", 5);
	assert_true(setting_set("resolve-timeout", "30s", &err));
}

/* What is waited for may be less than what a name may take. */
static void the_wait_may_be_shorter_than_the_name(void **state)
{
	struct cluster *c = *state;
	cluster_add(c, "sandboxclaims", PENDING);
	open_lazily(c);
	int64_t began_ms = clock_mono_ms();
	begin(c, "a", 500);
	API_UNTIL(&c->api, n_done, 9000);
	assert_true(clock_mono_ms() - began_ms >= 450);
	assert_int_equal(done_err.code, ERR_SANDBOX_NOT_READY);
}

/* A server that says nothing is no sandbox that becomes ready. */
static void a_name_is_not_waited_for_as_long_as_readiness(void **state)
{
	struct cluster *c = *state;
	struct err err = { 0 };
	assert_true(setting_set("resolve-timeout", "500ms", &err));
	cluster_collection(c, "sandboxclaims")->is_silent = true;
	open_lazily(c);
	begin(c, "a", 60000);
	API_UNTIL(&c->api, n_done, 9000);
	assert_int_equal(done_err.code, ERR_OP_TIMEOUT);
	assert_true(setting_set("resolve-timeout", "30s", &err));
}

static void it_ends_when_its_owner_says_so(void **state)
{
	struct cluster *c = *state;
	cluster_add(c, "sandboxclaims", PENDING);
	open_lazily(c);
	struct engine_resolve *resolve = begin(c, "a", 60000);
	API_FOR(&c->api, 300);
	assert_int_equal(n_done, 0);
	engine_resolve_end(resolve);
	assert_int_equal(n_done, 1);
	assert_int_equal(done_err.code, ERR_SANDBOX_NOT_READY);
}

static void reasons_that_end_the_wait(void **state)
{
	struct cluster *c = *state;
	add_all(c);
	open_lazily(c);
	cluster_collection(c, "sandboxclaims");
	begin(c, "a", 0);
	API_UNTIL(&c->api, n_done, 5000);
	cluster_tell(c, "sandboxes", "MODIFIED",
		CLUSTER_SANDBOX("a", "'operatingMode':'Suspended'", "", "False"));
	API_UNTIL(&c->api,
		fleet_find(engine_fleet(c->engine), "claim-a")->state == FLEET_SUSPENDED ||
			fleet_find(engine_fleet(c->engine), "claim-a")->state ==
				FLEET_SUSPENDING,
		5000);
	n_done = 0;
	begin(c, "a", 20000);
	API_UNTIL(&c->api, n_done, 5000);
	assert_int_equal(done_err.code, ERR_SANDBOX_SUSPENDED);
	cluster_tell(c, "sandboxclaims", "MODIFIED",
		"{'metadata':{'name':'a','namespace':'demo','uid':'claim-a','generation':1,"
		"'deletionTimestamp':'2026-01-01T00:00:09Z','finalizers':['a/b'],"
		"'resourceVersion':'9RV','creationTimestamp':'2026-01-01T00:00:00Z'},'spec':"
		"{'warmPoolRef':{'name':'p'}}}");
	API_UNTIL(&c->api,
		fleet_find(engine_fleet(c->engine), "claim-a")->state == FLEET_TERMINATING,
		5000);
	n_done = 0;
	begin(c, "a", 20000);
	API_UNTIL(&c->api, n_done, 5000);
	assert_int_equal(done_err.code, ERR_CLAIM_TERMINATING);
}

#define CLAIM_SAYS(type, status, reason)                                                       \
	"{'metadata':{'name':'a','namespace':'demo','uid':'claim-a','generation':1,"           \
	"'resourceVersion':'9RV','creationTimestamp':'2026-01-01T00:00:00Z'},'spec':"          \
	"{'warmPoolRef':{'name':'p'}},'status':{'conditions':[{'type':'" type                  \
	"','status':'" status "','reason':'" reason                                            \
	"','message':'m','observedGeneration':1}]}}"

/* What cannot become Ready any more is not waited for, and says why; without a wait it is taken. */
static void states_that_are_an_end(void **state)
{
	static const struct {
		const char *claim;
		enum err_code code;
		const char *begin;
	} rows[] = {
		{ CLAIM_SAYS("Ready", "False", "ClaimExpired"), ERR_CLAIM_EXPIRED, "a: " },
		{ CLAIM_SAYS("Ready", "False", "InvalidMetadata"), ERR_CLAIM_FAILED, "a: " },
		{ CLAIM_SAYS("Finished", "True", "PodSucceeded"), ERR_SANDBOX_FINISHED, "a: " },
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		if (i > 0) {
			cluster_tear_down(state);
			set_up(state);
		}
		struct cluster *c = *state;
		cluster_add(c, "sandboxclaims", "%s", rows[i].claim);
		open_lazily(c);
		n_done = 0;
		begin(c, "a", 60000);
		API_UNTIL(&c->api, n_done, 9000);
		if (done_err.code != rows[i].code ||
			strncmp(done_err.msg, rows[i].begin, strlen(rows[i].begin)) != 0)
			fail_msg("row %zu: %s %s", i, err_name(&done_err), done_err.msg);
		assert_string_equal(done_uid, "");
		n_done = 0;
		done_err = (struct err){ 0 };
		begin(c, "a", 0);
		API_UNTIL(&c->api, n_done, 9000);
		assert_int_equal(done_err.code, ERR_NONE);
		assert_string_equal(done_uid, "claim-a");
	}
}

/* What -o name and kubectl print is a name too. */
static void forms_of_a_name(void **state)
{
	static const struct {
		const char *name, *uid; /* "": none */
		enum err_code code;
	} rows[] = {
		{ "sandboxclaim/a", "claim-a", ERR_NONE },
		{ "sandboxclaims/a", "claim-a", ERR_NONE },
		{ "sandboxclaim.extensions.agents.x-k8s.io/a", "claim-a", ERR_NONE },
		{ "sandbox/a", "claim-a", ERR_NONE },
		{ "sandboxes/a", "claim-a", ERR_NONE },
		{ "sandbox.agents.x-k8s.io/a", "claim-a", ERR_NONE },
		{ "pod/a", "", ERR_CLAIM_NOT_FOUND },
		{ "sandbox/b", "", ERR_SANDBOX_NOT_FOUND },
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		if (i > 0) {
			cluster_tear_down(state);
			set_up(state);
		}
		struct cluster *c = *state;
		cluster_add(c, "sandboxclaims", CLUSTER_CLAIM("a"));
		cluster_add(c, "sandboxes",
			"{'metadata':{'name':'a','namespace':'demo','uid':'sandbox-a',"
			"'resourceVersion':'9RV','labels':{'agents.x-k8s.io/claim-uid':'claim-a'},"
			"'ownerReferences':[{'kind':'Other','name':'b'},{'kind':'SandboxClaim',"
			"'name':'a','uid':'claim-a','controller':true}]},'spec':{},'status':{}}");
		open_lazily(c);
		n_done = 0;
		done_err = (struct err){ 0 };
		begin(c, rows[i].name, 0);
		API_UNTIL(&c->api, n_done, 9000);
		if (done_err.code != rows[i].code || strcmp(done_uid, rows[i].uid) != 0)
			fail_msg("%s: '%s' %s", rows[i].name, done_uid, done_err.msg);
	}
}

static void cancelled_is_silent(void **state)
{
	struct cluster *c = *state;
	add_all(c);
	open_lazily(c);
	engine_resolve_cancel(begin(c, "a", 0));
	begin(c, "a", 60000); /* engine_free() ends this one */
	API_FOR(&c->api, 1);
}

static void a_direct_url_has_no_names(void **state)
{
	struct cluster *c = *state;
	struct err err = { 0 };
	struct engine_opts opts = { .connect.rest_url = "http://127.0.0.1:1" };
	c->engine = engine_new(c->api.loop, &opts, &err);
	assert_non_null(c->engine);
	assert_null(engine_resolve_start(c->engine, "a", 0, on_done, c, &err));
	assert_int_equal(err.code, ERR_ARG_INVALID);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, cluster_tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(what_is_ready_is_found),
		TEST(what_is_not_there_is_told_at_once),
		TEST(what_may_not_be_listed_is_told_at_once),
		TEST(what_is_not_ready_is_waited_for),
		TEST(without_a_wait_it_is_taken_as_it_is),
		TEST(the_wait_ends),
		TEST(the_wait_may_be_shorter_than_the_name),
		TEST(a_name_is_not_waited_for_as_long_as_readiness),
		TEST(it_ends_when_its_owner_says_so),
		TEST(reasons_that_end_the_wait),
		TEST(states_that_are_an_end),
		TEST(forms_of_a_name),
		TEST(cancelled_is_silent),
		TEST(a_direct_url_has_no_names),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
