// SPDX-License-Identifier: Apache-2.0
/* The log of a pod over the API: what of it is asked for, and how it is followed. No daemon writes it: the test does. */
#include "tests/unit/local/server/backend.h"

#include "local/server/api/stream.h"

#include <fcntl.h>
#include <sys/stat.h>

#define LOG "/api/v1/namespaces/default/pods/p/log"
#define T1 "2026-01-01T00:00:01.000000000Z"
#define T2 "2026-01-01T00:00:02.500000000Z"
#define T3 "2026-01-01T00:00:03.000000000Z"
#define WHOLE T1 " one\n" T2 " two two\n" T3 " three\n"

static char logs[128];

static const char *in_logs(const char *name)
{
	static char path[2][256];
	static unsigned next;
	char *out = path[next++ % 2];
	snprintf(out, sizeof path[0], "%s/%s", logs, name);
	return out;
}

static void put_log(const char *name, const char *text, int flags)
{
	int fd = open(in_logs(name), O_WRONLY | O_CREAT | O_CLOEXEC | flags, 0600);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	close(fd);
}

static struct store_object *pod(void)
{
	return store_get(backend->store, KIND_POD, "default", "p");
}

/* A pod that has ended, so that nobody starts it. */
static int set_up_log(void **state)
{
	struct err err = { 0 };
	set_up(state);
	cJSON *json = cJSON_Parse(
		"{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"p\","
		"\"namespace\":\"default\",\"uid\":\"pod-1\"},\"spec\":{\"containers\":["
		"{\"name\":\"c\",\"image\":\"i\"},{\"name\":\"d\",\"image\":\"i\"}]},"
		"\"status\":{\"phase\":\"Succeeded\"}}");
	assert_non_null(store_write(backend->store, KIND_POD, json, &err));
	snprintf(logs, sizeof logs, "%s/pods/pod-1", folder);
	assert_true(file_make_dirs(logs, 0700, &err));
	return 0;
}

static void expect_log(const char *query, int status, const char *body)
{
	char path[300];
	snprintf(path, sizeof path, LOG "%s", query);
	struct got got = ask("GET", path, "", "*/*");
	const char *is = got.body.p ? got.body.p : "";
	if (got.status != status ||
		(status == 200 ? strcmp(is, body) != 0 : strstr(is, body) == NULL))
		fail_msg("%s: %d %s", query, got.status, is);
	str_deinit(&got.body);
}

static void test_what_is_asked_for(void **state)
{
	static const struct {
		const char *query, *body;
	} rows[] = {
		{ "", "one\ntwo two\nthree\n" },
		{ "?container=c", "one\ntwo two\nthree\n" },
		{ "?container=d", "one\ntwo two\nthree\n" },
		{ "?container=", "one\ntwo two\nthree\n" },
		{ "?timestamps=true", WHOLE },
		{ "?timestamps=false", "one\ntwo two\nthree\n" },
		{ "?tailLines=0", "" },
		{ "?tailLines=1", "three\n" },
		{ "?tailLines=2", "two two\nthree\n" },
		{ "?tailLines=3", "one\ntwo two\nthree\n" },
		{ "?tailLines=4", "one\ntwo two\nthree\n" },
		{ "?tailLines=9223372036854775807", "one\ntwo two\nthree\n" },
		{ "?sinceSeconds=9223372036854775807", "one\ntwo two\nthree\n" },
		{ "?tailLines=2147483647", "one\ntwo two\nthree\n" },
		{ "?limitBytes=1", "o" },
		{ "?limitBytes=3", "one" },
		{ "?limitBytes=4", "one\n" },
		{ "?limitBytes=5", "one\nt" },
		{ "?limitBytes=17", "one\ntwo two\nthree" },
		{ "?limitBytes=18", "one\ntwo two\nthree\n" },
		{ "?limitBytes=19", "one\ntwo two\nthree\n" },
		{ "?limitBytes=33&timestamps=true", T1 " on" },
		{ "?tailLines=2&limitBytes=5", "two t" },
		{ "?sinceTime=2026-01-01T00:00:01Z", "one\ntwo two\nthree\n" },
		{ "?sinceTime=2026-01-01T00:00:02Z", "two two\nthree\n" },
		{ "?sinceTime=2026-01-01T00:00:02.5Z", "two two\nthree\n" },
		{ "?sinceTime=2026-01-01T00:00:02.500000001Z", "three\n" },
		{ "?sinceTime=2026-01-01T00:00:04Z", "" },
		{ "?sinceTime=2026-01-01T01:00:02%2B01:00&timestamps=1",
			T2 " two two\n" T3 " three\n" },
		{ "?sinceSeconds=60", "" },
		{ "?sinceSeconds=2147483647", "one\ntwo two\nthree\n" },
		{ "?previous=true", "earlier\n" },
		/* what has ended is not waited for */
		{ "?previous=true&follow=true", "earlier\n" },
	};
	(void)state;
	put_log("log", WHOLE, 0);
	put_log("log.1", T1 " earlier\n", 0);
	for (size_t i = 0; i < COUNT(rows); i++)
		expect_log(rows[i].query, 200, rows[i].body);
}

static void test_what_is_refused(void **state)
{
	(void)state;
	expect_log("", 400,
		"container \\\"c\\\" in pod \\\"p\\\" is waiting to start: ContainerCreating");
	expect_log("?previous=true", 400,
		"previous terminated container \\\"c\\\" in pod \\\"p\\\" not found");
	put_log("log", WHOLE, 0);
	expect_log("?container=e", 400, "container e is not valid for pod p");
	/* as the real API server words them */
	expect_log("?tailLines=x", 400, "strconv.ParseInt: parsing \\\"x\\\": invalid syntax");
	expect_log("?tailLines=-1", 422,
		"PodLogOptions \\\"p\\\" is invalid: tailLines: Invalid value: -1: must be greater"
		" than or equal to 0");
	expect_log("?tailLines=99999999999999999999", 400, "invalid syntax");
	expect_log("?limitBytes=0", 422,
		"limitBytes: Invalid value: 0: must be greater than 0\",\"reason\":\"Invalid\"");
	expect_log("?sinceSeconds=0", 422,
		"sinceSeconds: Invalid value: 0: must be greater than 0");
	expect_log("?sinceSeconds=1h", 400, "parsing \\\"1h\\\"");
	expect_log("?sinceTime=now", 400, "parsing time \\\"now\\\"");
	expect_log("?sinceSeconds=5&sinceTime=2026-01-01T00:00:00Z", 422,
		"[]: Forbidden: at most one of `sinceTime` or `sinceSeconds` may be specified");
	expect_log("?stream=Stdout", 422, "stream: Forbidden: may not be specified");
	/* a link is no log */
	assert_int_equal(rename(in_logs("log"), in_logs("elsewhere")), 0);
	assert_int_equal(symlink(in_logs("elsewhere"), in_logs("log")), 0);
	expect_log("", 400, "is waiting to start");
}

/* Lines without a time, without an end, without anything. */
static void test_odd_lines(void **state)
{
	(void)state;
	put_log("log", "word\n\n" T1 "\n" T2 " \n" T3 "  x\nnot-a-time here\n" T3 " cut", 0);
	expect_log("", 200, "word\n\n" T1 "\n\n x\nhere\n");
	expect_log("?timestamps=true", 200,
		"word\n\n" T1 "\n" T2 " \n" T3 "  x\nnot-a-time here\n");
	expect_log("?sinceTime=2026-01-01T00:00:03Z", 200, "word\n\n" T1 "\n x\nhere\n");
	expect_log("?tailLines=2", 200, "here\n");
	put_log("log", "", O_TRUNC);
	expect_log("", 200, "");
	expect_log("?tailLines=5", 200, "");
	put_log("log", "\n", 0);
	expect_log("?tailLines=1", 200, "\n");
}

/* ---- followed ---- */

static void follow(struct got *got, const char *query)
{
	char path[300];
	snprintf(path, sizeof path, LOG "?follow=true%s", query);
	ask_start(got, "GET", path, "", "*/*", (struct net_http_opts){ .on_body = got_body });
}

#define EXPECT(got, text) TURN_UNTIL(loop, (got).body.p &&strcmp((got).body.p, text) == 0)

static void add_log(const char *text)
{
	put_log("log", text, O_APPEND);
	api_stream_wake_all(backend);
}

static void must_go_on(struct got *got)
{
	turn_for(loop, 20);
	assert_int_equal(got->done, 0);
}

static void test_a_log_is_followed(void **state)
{
	struct got whole, tail, timed;
	(void)state;
	put_log("log", WHOLE, 0);
	follow(&whole, "");
	follow(&tail, "&tailLines=1");
	follow(&timed, "&sinceTime=2026-01-01T00:00:09Z&timestamps=true");
	EXPECT(whole, "one\ntwo two\nthree\n");
	EXPECT(tail, "three\n");
	/* a line comes when it is whole */
	add_log(T3 " fo");
	must_go_on(&whole);
	EXPECT(whole, "one\ntwo two\nthree\n");
	add_log("ur\n2026-01-01T00:00:09Z five\n");
	EXPECT(whole, "one\ntwo two\nthree\nfour\nfive\n");
	EXPECT(tail, "three\nfour\nfive\n");
	EXPECT(timed, "2026-01-01T00:00:09Z five\n");
	must_go_on(&tail);
	/* the run is over when its file was put aside; what was written until then still comes */
	put_log("log", T3 " last\n", O_APPEND);
	assert_int_equal(rename(in_logs("log"), in_logs("log.1")), 0);
	put_log("log", T3 " of another run\n", 0);
	api_stream_wake_all(backend);
	TURN_UNTIL(loop, whole.done && tail.done && timed.done);
	assert_int_equal(whole.status, 200);
	assert_int_equal(whole.err.code, ERR_NONE);
	assert_string_equal(whole.body.p, "one\ntwo two\nthree\nfour\nfive\nlast\n");
	assert_string_equal(tail.body.p, "three\nfour\nfive\nlast\n");
	str_deinit(&whole.body);
	str_deinit(&tail.body);
	str_deinit(&timed.body);
}

static void test_when_a_followed_log_ends(void **state)
{
	(void)state;
	for (int how = 0; how < 3; how++) {
		struct got got;
		put_log("log", T1 " one\n", O_TRUNC);
		follow(&got, how == 0 ? "&limitBytes=6" : "");
		EXPECT(got, "one\n");
		must_go_on(&got);
		if (how == 0)
			add_log(T2 " two\n");
		else if (how == 1)
			assert_int_equal(unlink(in_logs("log")), 0);
		else
			assert_true(store_remove(backend->store, pod(), NULL));
		api_stream_wake_all(backend);
		TURN_UNTIL(loop, got.done);
		assert_int_equal(got.err.code, ERR_NONE);
		assert_string_equal(got.body.p, how == 0 ? "one\ntw" : "one\n");
		str_deinit(&got.body);
	}
}

/* An empty one has an answer at once, and goes on. */
static void test_an_empty_log_is_followed(void **state)
{
	struct got got;
	(void)state;
	put_log("log", "", 0);
	follow(&got, "");
	must_go_on(&got);
	add_log(T1 " one\n");
	EXPECT(got, "one\n");
	net_http_cancel(got.req);
	str_deinit(&got.body);
	/* who went away is not written to */
	turn_for(loop, 20);
	add_log(T2 " two\n");
	expect_log("", 200, "one\ntwo\n");
	assert_null(backend->streams);
}

/* More than one read, and more than one chunk. */
static void test_a_long_log(void **state)
{
	enum { N = 5000 };
	char *line = malloc(60 * N + 1);
	size_t n = 0;
	struct got got;
	(void)state;
	put_log("log", "", 0);
	follow(&got, "");
	must_go_on(&got);
	for (int i = 0; i < N; i++)
		n += (size_t)snprintf(line + n, 60, T1 " line %04d\n", i);
	add_log(line);
	TURN_UNTIL(loop, got.body.n == N * 10);
	assert_memory_equal(got.body.p, "line 0000\nline 0001\n", 20);
	assert_string_equal(got.body.p + got.body.n - 10, "line 4999\n");
	net_http_cancel(got.req);
	str_deinit(&got.body);
	free(line);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up_log, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_what_is_asked_for),
		TEST(test_what_is_refused),
		TEST(test_odd_lines),
		TEST(test_a_log_is_followed),
		TEST(test_when_a_followed_log_ends),
		TEST(test_an_empty_log_is_followed),
		TEST(test_a_long_log),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
