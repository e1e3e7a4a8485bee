// SPDX-License-Identifier: Apache-2.0
/* Sandboxes that really run, without isolation: from a claim to a pod, its log and its files, and back. */
#include "tests/unit/local/server/backend.h"

#include <signal.h>
#include <sys/stat.h>

#define SANDBOXES "/apis/agents.x-k8s.io/v1beta1/namespaces/default/sandboxes"
#define PODS "/api/v1/namespaces/default/pods"

static int with_a_daemon(void **state)
{
	serve_opts.sandboxd = DAEMON_PATH;
	return set_up(state);
}

static struct store_object *object(enum store_kind kind, const char *name)
{
	return store_get(backend->store, kind, "default", name);
}

static const char *reason(enum store_kind kind, const char *name)
{
	const struct store_object *o = object(kind, name);
	const cJSON *c = NULL;
	if (o != NULL)
		cJSON_ArrayForEach(
			c, json_get(o->json, "status", "conditions",
				   NULL)) if (strcmp(json_str(c, "type", NULL), "Ready") ==
					      0) return json_str(c, "reason", NULL);
	return "";
}

static bool is_ready(enum store_kind kind, const char *name)
{
	return strcmp(reason(kind, name), "DependenciesReady") == 0;
}

static void expect(
	int status, const char *method, const char *path, const char *body, const char *type)
{
	struct got got = ask(method, path, body, type);
	if (got.status != status)
		fail_msg("%s %s: %d %s", method, path, got.status, got.body.p);
	str_deinit(&got.body);
}

static void make_claim(void)
{
	expect(201, "POST", CLAIMS,
		"{'metadata':{'name':'c'},'spec':{'warmPoolRef':{'name':'local'}}}", NULL);
	TURN_UNTIL(loop, is_ready(KIND_CLAIM, "c"));
}

static const cJSON *container(void)
{
	const struct store_object *pod = object(KIND_POD, "c");
	return pod ? cJSON_GetArrayItem(
			     json_get(pod->json, "status", "containerStatuses", NULL), 0)
		   : NULL;
}

static void a_claim_runs(void **state)
{
	(void)state;
	make_claim();
	const cJSON *pod = object(KIND_POD, "c")->json;
	assert_string_equal(json_str(pod, "status", "phase", NULL), "Running");
	assert_memory_equal(json_str(pod, "status", "podIP", NULL), "127.", 4);
	assert_int_equal(json_int(container(), -1, "restartCount", NULL), 0);
	assert_non_null(json_get(container(), "state", "running", NULL));
	const cJSON *sandbox = object(KIND_SANDBOX, "c")->json;
	assert_string_equal(json_get(sandbox, "status", "podIPs", NULL)->child->valuestring,
		json_str(pod, "status", "podIP", NULL));
	/* another one has another address */
	expect(201, "POST", CLAIMS,
		"{'metadata':{'name':'d'},'spec':{'warmPoolRef':{'name':'local'}}}", NULL);
	TURN_UNTIL(loop, is_ready(KIND_CLAIM, "d"));
	assert_string_not_equal(json_str(object(KIND_POD, "d")->json, "status", "podIP", NULL),
		json_str(object(KIND_POD, "c")->json, "status", "podIP", NULL));
}

static void what_is_deleted_goes_with_its_folders(void **state)
{
	char path[300];
	struct stat st;
	(void)state;
	make_claim();
	const struct store_object *volume = store_at(backend->store, KIND_PVC, 0);
	snprintf(path, sizeof path, "%s/volumes/%s", folder, volume->uid);
	assert_int_equal(stat(path, &st), 0);
	expect(200, "DELETE", CLAIMS "/c", "", NULL);
	TURN_UNTIL(loop, store_count(backend->store, KIND_SANDBOX) == 0 &&
				 store_count(backend->store, KIND_POD) == 0 &&
				 store_count(backend->store, KIND_PVC) == 0);
	TURN_UNTIL(loop, stat(path, &st) != 0);
}

/* What a daemon does that had only just started. */
static void a_folder_that_comes_after_its_volume_went(void **state)
{
	char path[300], claim[200];
	struct stat st;
	(void)state;
	make_claim();
	const struct store_object *volume = store_at(backend->store, KIND_PVC, 0);
	snprintf(path, sizeof path, "%s/volumes/%s", folder, volume->uid);
	snprintf(claim, sizeof claim, "/api/v1/namespaces/default/persistentvolumeclaims/%s",
		volume->name);
	expect(200, "DELETE", claim, "", NULL);
	TURN_UNTIL(loop, stat(path, &st) != 0);
	assert_int_equal(mkdir(path, 0755), 0);
	expect(200, "DELETE", CLAIMS "/c", "", NULL);
	TURN_UNTIL(loop, store_count(backend->store, KIND_POD) == 0);
	TURN_UNTIL(loop, stat(path, &st) != 0);
}

static void suspended_and_resumed(void **state)
{
	char uid[64];
	(void)state;
	make_claim();
	snprintf(uid, sizeof uid, "%s", object(KIND_POD, "c")->uid);
	expect(200, "PATCH", SANDBOXES "/c", "{'spec':{'operatingMode':'Suspended'}}",
		MERGE_PATCH);
	TURN_UNTIL(loop, object(KIND_POD, "c") == NULL);
	TURN_UNTIL(loop, strcmp(reason(KIND_CLAIM, "c"), "SandboxSuspended") == 0);
	expect(200, "PATCH", SANDBOXES "/c", "{'spec':{'operatingMode':'Running'}}",
		MERGE_PATCH);
	TURN_UNTIL(loop, is_ready(KIND_CLAIM, "c"));
	assert_string_not_equal(object(KIND_POD, "c")->uid, uid);
}

static void a_restart_of_the_backend(void **state)
{
	(void)state;
	make_claim();
	stop();
	serve();
	TURN_UNTIL(loop, is_ready(KIND_CLAIM, "c") && json_get(object(KIND_POD, "c")->json,
							      "status", "podIP", NULL));
	struct got got = ask("GET", PODS "/c/log", "", "*/*");
	assert_int_equal(got.status, 200);
	str_deinit(&got.body);
}

/* --- a program that is no daemon: it says something and ends --- */

static int with_a_program(void **state, const char *script)
{
	static char path[64];
	snprintf(path, sizeof path, "/tmp/sandmux-fake-%d", (int)getpid());
	FILE *file = fopen(path, "w");
	fprintf(file, "#!/bin/sh\n%s\n", script);
	fclose(file);
	chmod(path, 0755);
	serve_opts.sandboxd = path;
	return set_up(state);
}

static int with_a_talker(void **state)
{
	return with_a_program(
		state, "for i in 1 2 3 4 5; do echo line-$i >&2; done; exec sleep 1000");
}

static int with_one_that_ends(void **state)
{
	return with_a_program(state, "echo bye >&2; exit 3");
}

static int without_a_program(void **state)
{
	unlink(serve_opts.sandboxd);
	return tear_down(state);
}

static void start_claim(void)
{
	expect(201, "POST", CLAIMS,
		"{'metadata':{'name':'c'},'spec':{'warmPoolRef':{'name':'local'}}}", NULL);
	TURN_UNTIL(loop, container() != NULL);
}

static bool log_is(const char *query, const char *wanted)
{
	char path[200];
	snprintf(path, sizeof path, PODS "/c/log%s", query);
	struct got got = ask("GET", path, "", "*/*");
	bool is = got.status == 200 && strcmp(got.body.p, wanted) == 0;
	str_deinit(&got.body);
	return is;
}

#define ALL "line-1\nline-2\nline-3\nline-4\nline-5\n"

static void the_log_of_a_pod(void **state)
{
	static const struct {
		const char *query, *text;
	} rows[] = {
		{ "", ALL },
		{ "?tailLines=2", "line-4\nline-5\n" },
		{ "?tailLines=1", "line-5\n" },
		{ "?tailLines=0", "" },
		{ "?tailLines=5", ALL },
		{ "?tailLines=9", ALL },
		{ "?limitBytes=7", "line-1\n" },
		{ "?limitBytes=8", "line-1\nl" },
		{ "?limitBytes=6", "line-1" },
		{ "?limitBytes=1", "l" },
		{ "?sinceSeconds=1000", ALL },
		{ "?sinceTime=2001-01-01T00:00:00Z", ALL },
		{ "?sinceTime=2100-01-01T00:00:00Z", "" },
		{ "?tailLines=3&limitBytes=9", "line-3\nli" },
	};
	(void)state;
	start_claim();
	TURN_UNTIL(loop, log_is("", ALL));
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		if (!log_is(rows[i].query, rows[i].text))
			fail_msg("%s", rows[i].query);
	expect(400, "GET", PODS "/c/log?tailLines=x", "", "*/*");
	expect(422, "GET", PODS "/c/log?tailLines=-1", "", "*/*");
	expect(422, "GET", PODS "/c/log?limitBytes=0", "", "*/*");
	expect(422, "GET", PODS "/c/log?sinceSeconds=0", "", "*/*");
	expect(400, "GET", PODS "/c/log?sinceTime=now", "", "*/*");
	expect(404, "GET", PODS "/none/log", "", "*/*");
	struct got got = ask("GET", PODS "/c/log?timestamps=true&tailLines=1", "", "*/*");
	assert_non_null(strstr(got.body.p, "Z line-5\n"));
	assert_memory_equal(got.body.p, "20", 2);
	str_deinit(&got.body);
	assert_false(is_ready(KIND_CLAIM, "c")); /* it never answered */
}

static void one_that_ends_is_started_again(void **state)
{
	(void)state;
	start_claim();
	TURN_UNTIL(loop, json_int(container(), 0, "restartCount", NULL) >= 2);
	assert_int_equal(
		json_int(container(), -1, "lastState", "terminated", "exitCode", NULL), 3);
	TURN_UNTIL(loop, log_is("?previous=true", "bye\n"));
	bool has_event = false;
	for (size_t i = 0; i < store_count(backend->store, KIND_EVENT); i++)
		has_event = has_event ||
			    strcmp(json_str(store_at(backend->store, KIND_EVENT, i)->json,
					   "reason", NULL),
				    "DaemonExited") == 0;
	assert_true(has_event);
	assert_false(is_ready(KIND_CLAIM, "c"));
}

/* --- evicted: the disk counts as nearly full, so that each tick looks --- */

static int with_one_that_grows(void **state)
{
	serve_opts.disk_floor = UINT64_MAX / 2;
	return with_a_program(state,
		"while [ \"$1\" != --root-dir ]; do shift; done; cd \"$2\" || exit 1; i=0;"
		"while [ $i -lt 200 ]; do head -c 262144 /dev/zero >>f; i=$((i+1)); sleep 0.05; done;"
		"exec sleep 1000");
}

static int without_a_floor(void **state)
{
	serve_opts.disk_floor = 0;
	return without_a_program(state);
}

static bool is_evicted(void)
{
	const struct store_object *pod = object(KIND_POD, "s");
	const char *reason = pod ? json_str(pod->json, "status", "reason", NULL) : NULL;
	return reason && strcmp(reason, "Evicted") == 0;
}

/* message: of its eviction. It has failed, is not started again, and its files stay. */
static void expect_evicted(const char *resources, const char *message)
{
	char body[500], path[300];
	struct stat st;
	snprintf(body, sizeof body,
		"{'metadata':{'name':'s'},'spec':{'podTemplate':{'spec':{'containers':["
		"{'name':'c','image':'i'%s}]}}}}",
		resources);
	expect(201, "POST", SANDBOXES, body, NULL);
	TURN_UNTIL(loop, is_evicted());
	TURN_UNTIL(loop, strcmp(json_str(object(KIND_POD, "s")->json, "status", "phase", NULL),
				 "Failed") == 0);
	const cJSON *pod = object(KIND_POD, "s")->json;
	const char *is = json_str(pod, "status", "message", NULL);
	if (strstr(is, message) == NULL)
		fail_msg("%s", is);
	const cJSON *status = json_get(pod, "status", "containerStatuses", NULL)->child;
	assert_int_equal(json_int(status, -1, "restartCount", NULL), 0);
	assert_non_null(json_get(status, "state", "terminated", NULL));
	snprintf(path, sizeof path, "%s/pods/%s/workspace/f", folder,
		object(KIND_POD, "s")->uid);
	assert_int_equal(stat(path, &st), 0);
	assert_true(st.st_size > 0);
}

static void above_its_limit(void **state)
{
	(void)state;
	expect_evicted(
		",'resources':{'limits':{'ephemeral-storage':'256Ki'}}", "its limit is 256Ki");
}

static void growing_on_a_full_disk(void **state)
{
	(void)state;
	expect_evicted("", "the workspace of this pod grew most lately, by ");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, with_a_daemon, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_claim_runs),
		TEST(what_is_deleted_goes_with_its_folders),
		TEST(a_folder_that_comes_after_its_volume_went),
		TEST(suspended_and_resumed),
		TEST(a_restart_of_the_backend),
		cmocka_unit_test_setup_teardown(
			the_log_of_a_pod, with_a_talker, without_a_program),
		cmocka_unit_test_setup_teardown(
			one_that_ends_is_started_again, with_one_that_ends, without_a_program),
		cmocka_unit_test_setup_teardown(
			above_its_limit, with_one_that_grows, without_a_floor),
		cmocka_unit_test_setup_teardown(
			growing_on_a_full_disk, with_one_that_grows, without_a_floor),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
