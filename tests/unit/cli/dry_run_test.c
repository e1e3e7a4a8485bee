// SPDX-License-Identifier: Apache-2.0
/* --dry-run: what would be sent is said, and with "client" nothing that changes anything reaches the API server, whatever the verb. */
#include "tests/unit/cli/program.h"

static void fill(struct cluster *c)
{
	cluster_add(c, "sandboxclaims", "%s", CLUSTER_CLAIM("a"));
	cluster_add(c, "sandboxes",
		CLUSTER_SANDBOX("a", "'operatingMode':'Running'", "'10.0.0.1'", "True"));
	cluster_add(c, "pods", CLUSTER_POD("a", "pod-a", "'nodeName':'k'", "10.0.0.1"));
	cluster_can(c, "/sandboxclaims/a", 200, "%s", CLUSTER_CLAIM("a"));
	cluster_can(c, "/sandboxes/a", 200, "%s",
		"{'metadata':{'name':'a','namespace':'demo','uid':'sandbox-a'},'spec':{}}");
	cluster_can(c, "/sandboxwarmpools/p", 200, "%s",
		"{'metadata':{'name':'p','namespace':'demo','uid':'pool-p'},'spec':{'replicas':1}}");
}

static bool is_write(const struct api_request *is)
{
	return strcmp(is->method, "GET") != 0 && strstr(is->path, "selfsubject") == NULL;
}

static size_t n_writes(const struct cluster *c)
{
	size_t n = 0;
	for (size_t i = 0; i < c->api.n; i++)
		n += is_write(&c->api.log[i]);
	return n;
}

static const struct {
	const char *line, *method, *path;
} verbs[] = {
	{ "create new --pool p", "POST", "/namespaces/demo/sandboxclaims\n" },
	{ "create --pool p", "POST", "/namespaces/demo/sandboxclaims\n" },
	{ "create --pool p --binding-key k", "POST", "/namespaces/demo/leases\n" },
	{ "rm a", "DELETE", "/namespaces/demo/sandboxclaims/a\n" },
	{ "suspend a", "PATCH", "/namespaces/demo/sandboxes/a\n" },
	{ "extend a --timeout 1h", "PATCH", "/namespaces/demo/sandboxclaims/a\n" },
	{ "lifetime a --in 1h", "PATCH", "/namespaces/demo/sandboxclaims/a\n" },
	{ "pool scale p 3", "PATCH", "/namespaces/demo/sandboxwarmpools/p/scale\n" },
	{ "edit a", "PATCH", "/namespaces/demo/sandboxclaims/a\n" },
};

static void nothing_is_sent(void **state)
{
	struct cluster *c = *state;
	fill(c);
	setenv("EDITOR", "sed -i s/name:.p$/name:.q/", 1);
	for (size_t i = 0; i < sizeof verbs / sizeof verbs[0]; i++) {
		struct program program = { 0 };
		char *line = x_asprintf("%s --dry-run=client", verbs[i].line);
		program_start(c, &program, line);
		program_end(c, &program);
		if (program.status != 0)
			fail_msg("%s: %d '%s' '%s'", line, program.status, program.out.p,
				program.err.p);
		char *method = x_asprintf("---\nmethod: %s\n", verbs[i].method);
		if (strncmp(program.out.p, method, strlen(method)) != 0 ||
			strstr(program.out.p, verbs[i].path) == NULL)
			fail_msg("%s: '%s'", line, program.out.p);
		assert_int_equal(n_writes(c), 0);
		free(method);
		free(line);
		program_free(&program);
	}
}

/* The same verb without it does send: this would notice. */
static void without_it_is_sent(void **state)
{
	struct cluster *c = *state;
	struct program program = { 0 };
	fill(c);
	program_start(c, &program, "suspend a");
	API_UNTIL(&c->api, n_writes(c) == 1, PROGRAM_MS);
	kill(program.pid, SIGTERM);
	program_end(c, &program);
	program_free(&program);
}

static void the_server_is_asked(void **state)
{
	struct cluster *c = *state;
	struct program program = { 0 };
	fill(c);
	program_start(c, &program, "rm a --dry-run=server -o json");
	program_end(c, &program);
	assert_int_equal(program.status, 0);
	assert_int_equal(n_writes(c), 1);
	for (size_t i = 0; i < c->api.n; i++)
		if (is_write(&c->api.log[i])) {
			assert_non_null(strstr(c->api.log[i].query, "dryRun=All"));
			/* options in a body beat the query */
			assert_non_null(strstr(c->api.log[i].body, "\"dryRun\":[\"All\"]"));
		}
	assert_int_equal(strncmp(program.out.p, "{\"method\":\"DELETE\",", 19), 0);
	assert_non_null(strstr(program.out.p, "\"query\":\"dryRun=All\""));
	assert_non_null(strstr(program.out.p, "\"answer\":{"));
	program_free(&program);
}

static void words(void **state)
{
	static const struct row rows[] = {
		{ "rm a --dry-run=maybe", 2, "",
			"sandmux: arg.invalid: rm: --dry-run 'maybe' is not one of none, client, server" SEE_HELP },
		{ "rm a --dry-run=client --read-only", 7, "", "~sandmux: op.read_only: " },
	};
	struct cluster *c = *state;
	fill(c);
	expect_all(c, rows, COUNT(rows));
	assert_int_equal(n_writes(c), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			nothing_is_sent, cluster_set_up, cluster_tear_down),
		cmocka_unit_test_setup_teardown(
			without_it_is_sent, cluster_set_up, cluster_tear_down),
		cmocka_unit_test_setup_teardown(
			the_server_is_asked, cluster_set_up, cluster_tear_down),
		cmocka_unit_test_setup_teardown(words, cluster_set_up, cluster_tear_down),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
