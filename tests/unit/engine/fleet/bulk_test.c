// SPDX-License-Identifier: Apache-2.0
/* One operation on many: each once and with a result, at a rate, given up half-way, tried again. */
#include "tests/unit/engine/cluster.h"

#include "engine/base/clock.h"

enum { MANY = 30 };

static int n_changes;
static char refused_uid[FLEET_UID_BYTES];

static void on_change(void *arg)
{
	assert_ptr_equal(arg, &n_changes);
	n_changes++;
}

static bool may(void *arg, const char *uid, struct err *err)
{
	(void)arg;
	return strcmp(uid, refused_uid) != 0 ||
	       err_set(err, ERR_KUBE_FORBIDDEN, "not this one");
}

static struct fleet *open_many(struct cluster *c, int n, bool read_only)
{
	for (int i = 0; i < n; i++)
		cluster_add(c, "sandboxclaims",
			"{'metadata':{'name':'c%02d','namespace':'demo','uid':'claim-%02d',"
			"'resourceVersion':'9RV','creationTimestamp':'2026-01-01T00:00:00Z'},"
			"'spec':{'warmPoolRef':{'name':'p'}}}",
			i, i);
	cluster_open(c, (struct engine_opts){ .connect.mode = CONNECT_IN_CLUSTER_POD_IP,
				.read_only = read_only });
	cluster_sync(c);
	return engine_fleet(c->engine);
}

static const char *const *uids_of(int n)
{
	static char texts[MANY + 1][FLEET_UID_BYTES];
	static const char *uids[MANY + 1];
	for (int i = 0; i < n; i++) {
		snprintf(texts[i], sizeof texts[i], "claim-%02d", i);
		uids[i] = texts[i];
	}
	return uids;
}

static size_t deletions(const struct cluster *c)
{
	size_t n = 0;
	for (size_t i = 0; i < c->api.n; i++)
		n += strcmp(c->api.log[i].method, "DELETE") == 0;
	return n;
}

static struct fleet_bulk_opts opts_of(int per_second)
{
	return (struct fleet_bulk_opts){ .verb = FLEET_BULK_DELETE,
		.per_second = per_second,
		.may = may,
		.on_change = on_change,
		.arg = &n_changes };
}

static void can_all(struct cluster *c)
{
	cluster_can(c, "", 200, "{'kind':'Status','status':'Success'}");
}

#define COUNT_IS(bulk, result, number)                                                         \
	assert_int_equal(fleet_bulk_count_of(bulk, FLEET_BULK_##result), number)

static void each_has_a_result(void **state)
{
	struct cluster *c = *state;
	struct err err = { 0 };
	struct fleet *fleet = open_many(c, 5, false);
	const char *uids[] = { "claim-00", "claim-01", "nobody", "claim-02", "claim-03",
		"claim-04" };
	const struct fleet_bulk_opts opts = opts_of(1000);
	can_all(c);
	cluster_can(c, "/sandboxclaims/c01", 403,
		"{'kind':'Status','status':'Failure','reason':'Forbidden','message':'you may not','code':403}");
	cluster_can(c, "/sandboxclaims/c02", 404,
		"{'kind':'Status','status':'Failure','reason':'NotFound','message':'m','code':404}");
	snprintf(refused_uid, sizeof refused_uid, "claim-03");
	struct fleet_bulk *bulk = fleet_bulk_new(fleet, &opts, uids, 6, &err);
	assert_non_null(bulk);
	assert_int_equal(fleet_bulk_count(bulk), 5);
	assert_int_equal(fleet_bulk_plan_of(bulk).n, 5);
	assert_int_equal(fleet_bulk_plan_of(bulk).namespaces, 1);
	assert_false(fleet_bulk_is_finished(bulk));
	/* one goes between the plan and its turn */
	cluster_tell(c, "sandboxclaims", "DELETED",
		"{'metadata':{'name':'c04','namespace':'demo','uid':'claim-04','resourceVersion':'9RV'}}");
	API_UNTIL(&c->api, fleet_find(fleet, "claim-04") == NULL, 9000);
	fleet_bulk_start(bulk);
	API_UNTIL(&c->api, fleet_bulk_is_finished(bulk), 9000);
	COUNT_IS(bulk, DONE, 2);
	COUNT_IS(bulk, FAILED, 2);
	assert_string_equal(fleet_bulk_at(bulk, 1)->err->msg, "you may not");
	assert_string_equal(fleet_bulk_at(bulk, 3)->err->msg, "not this one");
	COUNT_IS(bulk, UNCHANGED, 1);
	assert_int_equal(fleet_bulk_at(bulk, 4)->result, FLEET_BULK_UNCHANGED);
	API_UNTIL(&c->api, n_changes > 0, 1000);
	struct str report;
	str_init(&report, 1 << 16);
	fleet_bulk_report(bulk, &report);
	assert_non_null(strstr(report.p,
		"{\"name\":\"c01\",\"namespace\":\"demo\",\"uid\":\"claim-01\",\"result\":\"failed\",\"code\":\"kube.forbidden\","));
	str_deinit(&report);
	/* what is done is not done twice */
	size_t before = deletions(c);
	refused_uid[0] = '\0';
	can_all(c);
	assert_true(fleet_bulk_retry(bulk));
	API_UNTIL(&c->api, fleet_bulk_is_finished(bulk), 9000);
	assert_int_equal(deletions(c) - before, 2);
	COUNT_IS(bulk, DONE, 4);
	assert_false(fleet_bulk_retry(bulk));
	fleet_bulk_free(bulk);
}

/* So many in a second, and half a second's worth at once. */
static void it_keeps_to_its_rate(void **state)
{
	struct cluster *c = *state;
	struct err err = { 0 };
	struct fleet *fleet = open_many(c, MANY, false);
	const struct fleet_bulk_opts opts = opts_of(20);
	can_all(c);
	struct fleet_bulk *bulk = fleet_bulk_new(fleet, &opts, uids_of(MANY), MANY, &err);
	int64_t began_ms = clock_mono_ms();
	fleet_bulk_start(bulk);
	API_UNTIL(&c->api, fleet_bulk_is_finished(bulk), 9000);
	assert_true(clock_mono_ms() - began_ms >= (MANY - 20 / 2) * 50);
	fleet_bulk_free(bulk);
}

static void cancelled_half_way(void **state)
{
	struct cluster *c = *state;
	struct err err = { 0 };
	struct fleet *fleet = open_many(c, MANY, false);
	const struct fleet_bulk_opts opts = opts_of(50);
	can_all(c);
	struct fleet_bulk *bulk = fleet_bulk_new(fleet, &opts, uids_of(MANY), MANY, &err);
	fleet_bulk_start(bulk);
	API_UNTIL(&c->api, fleet_bulk_count_of(bulk, FLEET_BULK_DONE) >= MANY / 2, 9000);
	fleet_bulk_cancel(bulk);
	API_UNTIL(&c->api, fleet_bulk_is_finished(bulk), 9000);
	size_t done = fleet_bulk_count_of(bulk, FLEET_BULK_DONE);
	assert_true(done < MANY);
	assert_int_equal(deletions(c), done);
	COUNT_IS(bulk, CANCELLED, MANY - done);
	assert_int_equal(fleet_bulk_at(bulk, MANY - 1)->err->code, ERR_OP_CANCELLED);
	API_FOR(&c->api, 100);
	assert_int_equal(deletions(c), done);
	assert_true(fleet_bulk_retry(bulk));
	API_UNTIL(&c->api, fleet_bulk_is_finished(bulk), 9000);
	assert_int_equal(deletions(c), MANY);
	fleet_bulk_free(bulk);
}

/* Another namespace is looked at meanwhile; or it is thrown away while it works. */
static void the_fleet_is_replaced(void **state)
{
	struct cluster *c = *state;
	struct err err = { 0 };
	struct fleet *fleet = open_many(c, MANY, false);
	const struct fleet_bulk_opts opts = opts_of(100);
	can_all(c);
	cluster_can(c, "/sandboxclaims/c05", 403,
		"{'kind':'Status','status':'Failure','reason':'Forbidden','message':'m','code':403}");
	struct fleet_bulk *bulk = fleet_bulk_new(fleet, &opts, uids_of(MANY), MANY, &err);
	fleet_bulk_start(bulk);
	API_UNTIL(&c->api, fleet_bulk_count_of(bulk, FLEET_BULK_DONE) > 2, 9000);
	assert_true(engine_watch_namespace(c->engine, "other", &err));
	API_UNTIL(&c->api, fleet_bulk_is_finished(bulk), 9000);
	COUNT_IS(bulk, DONE, MANY - 1);
	COUNT_IS(bulk, FAILED, 1);
	assert_int_equal(deletions(c), MANY);
	/* and when all is done nobody watches the old namespace any more */
	API_FOR(&c->api, 50);
	assert_int_equal(fleet_bulk_still_there(bulk), 0);
	assert_false(fleet_bulk_retry(bulk));
	fleet_bulk_free(bulk);
}

static void it_is_thrown_away(void **state)
{
	struct cluster *c = *state;
	struct err err = { 0 };
	struct fleet *fleet = open_many(c, MANY, false);
	const struct fleet_bulk_opts opts = opts_of(1000);
	can_all(c);
	struct fleet_bulk *bulk = fleet_bulk_new(fleet, &opts, uids_of(MANY), MANY, &err);
	fleet_bulk_start(bulk);
	API_UNTIL(&c->api, deletions(c) > 2, 9000);
	int before = n_changes;
	fleet_bulk_free(bulk);
	API_FOR(&c->api, 100);
	assert_int_equal(n_changes, before);
}

static void what_is_refused(void **state)
{
	struct cluster *c = *state;
	struct err err = { 0 };
	struct fleet *fleet = open_many(c, 1, true);
	const struct fleet_bulk_opts opts = opts_of(1);
	assert_null(fleet_bulk_new(fleet, &opts, uids_of(1), 1, &err));
	assert_int_equal(err.code, ERR_OP_READ_ONLY);
}

static int set_up(void **state)
{
	n_changes = 0;
	refused_uid[0] = '\0';
	return cluster_set_up(state);
}

#define BULK(test) cmocka_unit_test_setup_teardown(test, set_up, cluster_tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		BULK(each_has_a_result),
		BULK(it_keeps_to_its_rate),
		BULK(cancelled_half_way),
		BULK(the_fleet_is_replaced),
		BULK(it_is_thrown_away),
		BULK(what_is_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
