// SPDX-License-Identifier: Apache-2.0
// The log of a container against a scripted API server: what is asked, lines however they are cut, a stream that breaks without a
// line lost or doubled, restarts, and the ends.
#include "engine/podlog/podlog.h"
#include "tests/unit/engine/kube/api.h"

struct bench {
	struct api api;
	struct podlog *log;
	const char *pod;               /* NULL: 404 */
	struct evhttp_request *stream; /* of the log, as long as it is open */
	int n_streams;
	int refusal; /* code of the log; 0: it is streamed */
	char lines[4096];
	char notes[1024];
	bool has_times;
	int stop_at; /* stops in the nth line; 0: never */
	int n_lines;
};

static void on_closed(struct evhttp_connection *connection, void *arg)
{
	struct bench *bench = arg;
	(void)connection;
	if (bench->stream)
		evhttp_request_free(bench->stream);
	bench->stream = NULL;
}

static void answer(
	struct api *api, struct evhttp_request *request, const struct api_request *is)
{
	struct bench *bench = api->test;
	const char *end = strrchr(is->path, '/');
	if (strcmp(end, "/log") != 0) {
		if (bench->pod)
			api_reply(request, 200, "%s", bench->pod);
		else
			api_status(request, 404, "NotFound", "no such pod");
	} else if (bench->refusal) {
		api_status(request, bench->refusal, "BadRequest",
			"container main is waiting to start");
	} else {
		bench->n_streams++;
		bench->stream = request;
		evhttp_connection_set_closecb(
			evhttp_request_get_connection(request), on_closed, bench);
		evhttp_send_reply_start(request, 200, "OK");
	}
}

static void on_line(void *arg, const struct podlog_line *line)
{
	struct bench *bench = arg;
	size_t n = strlen(bench->lines);
	bench->n_lines++;
	if (line->text.n < 100)
		snprintf(bench->lines + n, sizeof bench->lines - n, "%.*s%s", (int)line->text.n,
			line->text.p, line->is_piece ? "~" : "|");
	else
		snprintf(bench->lines + n, sizeof bench->lines - n, "<%zu>%s", line->text.n,
			line->is_piece ? "~" : "|");
	if (bench->n_lines == bench->stop_at) {
		podlog_stop(bench->log);
		bench->log = NULL;
	}
}

static void on_note(void *arg, const char *text)
{
	struct bench *bench = arg;
	size_t n = strlen(bench->notes);
	snprintf(bench->notes + n, sizeof bench->notes - n, "%s|", text);
}

#define POD(uid, status, state, restarts)                                                      \
	"{\"metadata\":{\"name\":\"p\",\"uid\":\"" uid "\"},\"spec\":{\"containers\":[{"       \
	"\"name\":\"main\"},{\"name\":\"side\"}],\"initContainers\":[{\"name\":\"init\"}]},"   \
	"\"status\":{\"phase\":\"" status "\",\"containerStatuses\":[{\"name\":\"main\","      \
	"\"restartCount\":" restarts ",\"state\":{" state "},\"lastState\":{\"terminated\":{"  \
	"\"exitCode\":137,\"reason\":\"OOMKilled\"}}}]}}"
#define RUNNING POD("u1", "Running", "\"running\":{}", "0")

static void begin(struct bench *bench, struct podlog_opts opts)
{
	struct err err = { 0 };
	memset(bench, 0, sizeof *bench);
	api_start(&bench->api, "    username: u\n    password: p", answer, bench);
	bench->pod = RUNNING;
	opts.namespace_ = "demo";
	opts.pod = "p";
	opts.on_line = on_line;
	opts.on_note = on_note;
	opts.arg = bench;
	bench->log = podlog_start(bench->api.client, &opts, &err);
	assert_non_null(bench->log);
}

static void end(struct bench *bench)
{
	podlog_stop(bench->log);
	api_stop(&bench->api);
}

static void wait_stream(struct bench *bench, int nth)
{
	API_UNTIL(&bench->api, bench->n_streams == nth && bench->stream, 20000);
}

static void wait_lines(struct bench *bench, const char *want)
{
	int64_t until = clock_mono_ms() + 20000;
	while (strcmp(bench->lines, want) != 0 && clock_mono_ms() < until)
		net_loop_run_once(bench->api.loop, 10);
	assert_string_equal(bench->lines, want);
}

/* The server ends the answer in order. */
static void finish_stream(struct bench *bench)
{
	struct evhttp_request *stream = bench->stream;
	bench->stream = NULL;
	evhttp_connection_set_closecb(evhttp_request_get_connection(stream), NULL, NULL);
	evhttp_send_reply_end(stream);
}

static const struct api_request *last_log(const struct bench *bench)
{
	for (size_t i = bench->api.n; i-- > 0;)
		if (strcmp(strrchr(bench->api.log[i].path, '/'), "/log") == 0)
			return &bench->api.log[i];
	fail_msg("no log was asked for");
	return NULL;
}

static void test_once(void **state)
{
	struct bench bench;
	(void)state;
	begin(&bench, (struct podlog_opts){
			      .tail_lines = 20, .since_ms = 61500, .limit_bytes = 4096 });
	wait_stream(&bench, 1);
	assert_string_equal(last_log(&bench)->path, "/api/v1/namespaces/demo/pods/p/log");
	assert_string_equal(last_log(&bench)->query,
		"timestamps=true&container=main&limitBytes=4096&sinceSeconds=62&tailLines=20");
	assert_int_equal(podlog_n_containers(bench.log), 3);
	assert_string_equal(podlog_container_at(bench.log, 2), "init");
	api_send(bench.stream, "2026-01-01T00:00:01.5Z one\n2026-01-01T00:00:02Z t");
	api_send(bench.stream,
		"wo\n2026-01-01T00:00:03Z \nno time here\n2026-01-01T00:00:04Z last");
	wait_lines(&bench, "one|two||no time here|");
	finish_stream(&bench);
	wait_lines(&bench, "one|two||no time here|last|");
	API_UNTIL(&bench.api, podlog_state(bench.log) == PODLOG_ENDED, 10000);
	assert_null(podlog_err(bench.log));
	end(&bench);
}

static void test_long_lines(void **state)
{
	struct bench bench;
	char *text = x_calloc(PODLOG_LINE_BYTES + 100, 1);
	(void)state;
	begin(&bench, (struct podlog_opts){ .tail_lines = -1, .container = "side" });
	wait_stream(&bench, 1);
	assert_string_equal(last_log(&bench)->query, "timestamps=true&container=side");
	memset(text, 'x', PODLOG_LINE_BYTES + 50);
	memcpy(text, "2026-01-01T00:00:01Z ", 21);
	text[PODLOG_LINE_BYTES + 50] = '\n';
	api_send(bench.stream, text);
	api_send(bench.stream, "2026-01-01T00:00:02Z short\n");
	wait_lines(&bench, "<65515>~xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx|short|");
	free(text);
	end(&bench);
}

/* A stream that breaks: the same lines come again, as far as the second goes back. */
static void test_nothing_is_lost_or_doubled(void **state)
{
	struct bench bench;
	(void)state;
	begin(&bench, (struct podlog_opts){ .tail_lines = 10, .is_following = true });
	wait_stream(&bench, 1);
	api_send(bench.stream, "2026-01-01T00:00:01.1Z a\n2026-01-01T00:00:01.5Z b\n"
			       "2026-01-01T00:00:01.5Z c\n");
	wait_lines(&bench, "a|b|c|");
	api_cut(bench.stream);
	wait_stream(&bench, 2);
	assert_string_equal(last_log(&bench)->query,
		"timestamps=true&container=main&follow=true&sinceTime=2026-01-01T00%3A00%3A01Z");
	/* two more of the very same time */
	api_send(bench.stream, "2026-01-01T00:00:01.1Z a\n2026-01-01T00:00:01.5Z b\n"
			       "2026-01-01T00:00:01.5Z c\n2026-01-01T00:00:01.5Z d\n");
	wait_lines(&bench, "a|b|c|d|");
	api_cut(bench.stream);
	wait_stream(&bench, 3);
	api_send(bench.stream, "2026-01-01T00:00:01.1Z a\n2026-01-01T00:00:01.5Z b\n"
			       "2026-01-01T00:00:01.5Z c\n2026-01-01T00:00:01.5Z d\n"
			       "2026-01-01T00:00:09Z e\n2026-01-01T00:00:08Z late\n");
	wait_lines(&bench, "a|b|c|d|e|late|");
	end(&bench);
}

static void test_restarts(void **state)
{
	struct bench bench;
	(void)state;
	begin(&bench, (struct podlog_opts){ .tail_lines = -1, .is_following = true });
	wait_stream(&bench, 1);
	api_send(bench.stream, "2026-01-01T00:00:01Z a\n");
	wait_lines(&bench, "a|");
	bench.pod = POD("u1", "Running", "\"waiting\":{\"reason\":\"CrashLoopBackOff\"}", "0");
	finish_stream(&bench);
	API_UNTIL(&bench.api, podlog_state(bench.log) == PODLOG_WAITING, 10000);
	assert_string_equal(
		podlog_err(bench.log)->msg, "container main does not run: CrashLoopBackOff");
	bench.pod = POD("u1", "Running", "\"running\":{}", "1");
	wait_stream(&bench, 2);
	assert_string_equal(bench.notes,
		"container main was started again; it had ended with status 137 (OOMKilled)|");
	api_send(bench.stream, "2026-01-01T00:00:05Z b\n");
	wait_lines(&bench, "a|b|");
	/* another pod of that name */
	bench.pod = POD("u2", "Running", "\"running\":{}", "0");
	finish_stream(&bench);
	wait_stream(&bench, 3);
	assert_non_null(strstr(bench.notes, "pod p was made anew|"));
	end(&bench);
}

static void test_ends(void **state)
{
	struct bench bench;
	(void)state;
	begin(&bench, (struct podlog_opts){ .tail_lines = -1, .is_following = true });
	wait_stream(&bench, 1);
	api_send(bench.stream, "2026-01-01T00:00:01Z a\n");
	wait_lines(&bench, "a|");
	bench.pod = POD("u1", "Succeeded", "\"terminated\":{\"exitCode\":3}", "0");
	finish_stream(&bench);
	API_UNTIL(&bench.api, podlog_state(bench.log) == PODLOG_ENDED, 10000);
	assert_null(podlog_err(bench.log));
	assert_string_equal(bench.notes, "container main has ended with status 3|");
	end(&bench);
	begin(&bench, (struct podlog_opts){ .tail_lines = -1, .is_following = true });
	wait_stream(&bench, 1);
	bench.pod = NULL;
	finish_stream(&bench);
	API_UNTIL(&bench.api, podlog_state(bench.log) == PODLOG_ENDED, 10000);
	assert_string_equal(podlog_err(bench.log)->msg, "pod p was deleted");
	end(&bench);
	begin(&bench, (struct podlog_opts){ .tail_lines = -1 });
	bench.pod = NULL;
	API_UNTIL(&bench.api, podlog_state(bench.log) == PODLOG_ENDED, 10000);
	assert_int_equal(podlog_err(bench.log)->code, ERR_KUBE_NOT_FOUND);
	end(&bench);
}

static void test_not_yet(void **state)
{
	struct bench bench;
	(void)state;
	begin(&bench, (struct podlog_opts){ .tail_lines = -1, .is_following = true });
	bench.refusal = 400;
	API_UNTIL(&bench.api, podlog_state(bench.log) == PODLOG_WAITING, 10000);
	bench.refusal = 0;
	wait_stream(&bench, 1);
	end(&bench);
	begin(&bench, (struct podlog_opts){ .tail_lines = -1 });
	bench.refusal = 400;
	API_UNTIL(&bench.api, podlog_state(bench.log) == PODLOG_ENDED, 10000);
	assert_int_equal(podlog_err(bench.log)->code, ERR_KUBE_BAD_REQUEST);
	end(&bench);
}

static void test_stopped_in_a_line(void **state)
{
	struct bench bench;
	(void)state;
	begin(&bench, (struct podlog_opts){ .tail_lines = -1, .is_following = true });
	bench.stop_at = 2;
	wait_stream(&bench, 1);
	api_send(bench.stream, "1\n2\n3\n4\n");
	wait_lines(&bench, "1|2|");
	for (int i = 0; i < 10; i++)
		net_loop_run_once(bench.api.loop, 5);
	assert_string_equal(bench.lines, "1|2|");
	end(&bench);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_once),
		cmocka_unit_test(test_long_lines),
		cmocka_unit_test(test_nothing_is_lost_or_doubled),
		cmocka_unit_test(test_restarts),
		cmocka_unit_test(test_ends),
		cmocka_unit_test(test_not_yet),
		cmocka_unit_test(test_stopped_in_a_line),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
