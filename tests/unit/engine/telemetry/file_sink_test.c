// SPDX-License-Identifier: Apache-2.0
/* The file: its lines, to the byte; a pipe that nobody empties; a disk that is full. */
#include "tests/unit/unit.h"

#include "engine/base/err.h"
#include "engine/base/file.h"
#include "engine/telemetry/file_sink.h"
#include "engine/telemetry/sink.h"
#include "engine/telemetry/store.h"

#include <fcntl.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char dir[] = "/tmp/sandmux-file-sink-XXXXXX";
static char path[sizeof dir + 10];

static const struct telemetry_attr attrs[] = {
	{ .key = "text", .string = { "\x1b\xff\0\u202E\U0001F600\"", 11 } },
	{ .key = "int", .type = TELEMETRY_INT, .integer = INT64_MIN },
	{ .key = "real", .type = TELEMETRY_DOUBLE, .real = 0.5 },
	{ .key = "flag", .type = TELEMETRY_BOOL, .boolean = true },
};

static const struct telemetry_span_event event = {
	.wall_ns = 2, .name = "e", .attrs = &attrs[1], .n_attrs = 1
};
static const struct telemetry_span_link one_link = { .trace_id = { 0xAB }, .span_id = { 1 } };
static const struct telemetry_record span = {
	.kind = TELEMETRY_SPAN,
	.wall_ns = 1000000000000000001,
	.duration_ns = 9,
	.trace_id = { 1, [15] = 2 },
	.span_id = { 3 },
	.parent_id = { [7] = 4 },
	.span_kind = TELEMETRY_SPAN_CLIENT,
	.status = TELEMETRY_STATUS_ERROR,
	.status_text = "file.denied",
	.service = "other",
	.scope = "s",
	.name = "n",
	.attrs = attrs,
	.n_attrs = 4,
	.n_dropped_attrs = 5,
	.events = &event,
	.n_events = 1,
	.n_dropped_events = 6,
	.links = &one_link,
	.n_links = 1,
	.n_dropped_links = 7,
};
static const struct telemetry_record line = {
	.kind = TELEMETRY_LOG,
	.wall_ns = 5,
	.severity = TELEMETRY_SEVERITY_WARN,
	.scope = "kube",
	.body = { "a\nb", 3 },
};
static const struct telemetry_record happening = {
	.kind = TELEMETRY_EVENT,
	.wall_ns = 5,
	.observed_ns = 6,
	.name = "Scheduled",
	.trace_id = { 1 },
};
static const char wanted[] =
	"{\"resourceSpans\":[{\"resource\":{\"attributes\":[{\"key\":\"service.name\",\"value\":"
	"{\"stringValue\":\"other\"}}]},\"scopeSpans\":[{\"scope\":{\"name\":\"s\"},\"spans\":[{"
	"\"traceId\":\"01000000000000000000000000000002\",\"spanId\":\"0300000000000000\","
	"\"parentSpanId\":\"0000000000000004\",\"name\":\"n\",\"kind\":3,"
	"\"startTimeUnixNano\":\"1000000000000000001\",\"endTimeUnixNano\":\"1000000000000000010\","
	"\"attributes\":[{\"key\":\"text\",\"value\":{\"stringValue\":"
	"\"\\u001b\\ufffd\\ufffd\\u202e\\ud83d\\ude00\\\"\"}},"
	"{\"key\":\"int\",\"value\":{\"intValue\":\"-9223372036854775808\"}},"
	"{\"key\":\"real\",\"value\":{\"doubleValue\":0.5}},"
	"{\"key\":\"flag\",\"value\":{\"boolValue\":true}}],\"droppedAttributesCount\":5,"
	"\"events\":[{\"timeUnixNano\":\"2\",\"name\":\"e\",\"attributes\":[{\"key\":\"int\","
	"\"value\":{\"intValue\":\"-9223372036854775808\"}}]}],\"droppedEventsCount\":6,"
	"\"links\":[{\"traceId\":\"ab000000000000000000000000000000\",\"spanId\":\"0100000000000000\"}],"
	"\"droppedLinksCount\":7,\"status\":{\"code\":2,\"message\":\"file.denied\"}}]}]}]}\n"
	"{\"resourceLogs\":[{\"resource\":{\"attributes\":[{\"key\":\"service.name\",\"value\":"
	"{\"stringValue\":\"sandmux\"}}]},\"scopeLogs\":[{\"scope\":{\"name\":\"kube\"},"
	"\"logRecords\":[{\"timeUnixNano\":\"5\",\"observedTimeUnixNano\":\"5\",\"severityNumber\":13,"
	"\"severityText\":\"WARN\",\"body\":{\"stringValue\":\"a\\nb\"}}]}]}]}\n"
	"{\"resourceLogs\":[{\"resource\":{\"attributes\":[{\"key\":\"service.name\",\"value\":"
	"{\"stringValue\":\"sandmux\"}}]},\"scopeLogs\":[{\"scope\":{},"
	"\"logRecords\":[{\"timeUnixNano\":\"5\",\"observedTimeUnixNano\":\"6\","
	"\"eventName\":\"Scheduled\",\"body\":{\"stringValue\":\"\"},"
	"\"traceId\":\"01000000000000000000000000000000\"}]}]}]}\n";

static void lines(void **state)
{
	struct err err = { 0 };
	struct stat st;
	(void)state;
	struct telemetry *telemetry = telemetry_new(100, 1 << 20);
	assert_true(telemetry_file_sink_add(telemetry, path, &err));
	telemetry_add(telemetry, &span);
	telemetry_add(telemetry, &line);
	telemetry_add(telemetry, &happening);
	assert_true(telemetry_flush(telemetry));
	telemetry_free(telemetry);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	char *text = file_read(path, 1 << 20, NULL, &err);
	assert_string_equal(text, wanted);
	free(text);
	unlink(path);
	telemetry = telemetry_new(100, 1 << 20);
	assert_false(telemetry_file_sink_add(telemetry, "/nonexistent/x", &err));
	assert_int_equal(err.code, ERR_FILE_NOT_FOUND);
	telemetry_free(telemetry);
}

static void a_pipe_that_nobody_empties(void **state)
{
	enum { RECORDS = 2000 };
	static char body[1000], got[1 << 20];
	const struct telemetry_record record = { .kind = TELEMETRY_LOG,
		.body = { body, sizeof body } };
	struct err err = { 0 };
	(void)state;
	memset(body, 'x', sizeof body);
	assert_int_equal(mkfifo(path, 0600), 0);
	int reader = open(path, O_RDONLY | O_NONBLOCK);
	assert_true(reader >= 0);
	struct telemetry *telemetry = telemetry_new(100, 1 << 20);
	assert_true(telemetry_file_sink_add(telemetry, path, &err));
	for (int i = 0; i < RECORDS; i++)
		telemetry_add(telemetry, &record);
	assert_int_equal(telemetry_dropped(telemetry), RECORDS - 100);
	assert_false(telemetry_flush(telemetry));
	/* somebody begins to read: whole lines, then the newest ones */
	size_t n = 0;
	for (bool is_flushed = false; !is_flushed;) {
		is_flushed = telemetry_flush(telemetry);
		for (ssize_t more; (more = read(reader, got + n, sizeof got - n)) > 0;)
			n += (size_t)more;
	}
	size_t n_lines = 0;
	for (char *at = got; at < got + n; n_lines++) {
		char *end = memchr(at, '\n', n - (size_t)(at - got));
		assert_non_null(end);
		assert_memory_equal(at, "{\"resourceLogs\"", 15);
		assert_memory_equal(end - 6, "]}]}]}\n", 7);
		at = end + 1;
	}
	assert_true(n_lines > 101 && n_lines < RECORDS);
	/* the reader leaves */
	close(reader);
	telemetry_add(telemetry, &record);
	telemetry_free(telemetry);
	unlink(path);
}

static void a_full_disk(void **state)
{
	const struct telemetry_record record = { .kind = TELEMETRY_LOG, .body = { "x", 1 } };
	struct err err = { 0 };
	(void)state;
	struct telemetry *telemetry = telemetry_new(100, 1 << 20);
	if (!telemetry_file_sink_add(telemetry, "/dev/full", &err)) {
		telemetry_free(telemetry);
		skip();
	}
	for (int i = 0; i < 50; i++)
		telemetry_add(telemetry, &record);
	assert_int_equal(telemetry_dropped(telemetry), 0);
	assert_true(telemetry_flush(telemetry)); /* nothing waits: it was given up */
	telemetry_free(telemetry);
}

static int teardown(void **state)
{
	(void)state;
	return rmdir(dir);
}

static int setup(void **state)
{
	(void)state;
	setlocale(LC_CTYPE, "C.UTF-8");
	signal(SIGPIPE, SIG_IGN); /* as the loop has it */
	if (mkdtemp(dir) == NULL)
		return -1;
	snprintf(path, sizeof path, "%s/file", dir);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines),
		cmocka_unit_test(a_pipe_that_nobody_empties),
		cmocka_unit_test(a_full_disk),
	};
	return cmocka_run_group_tests(tests, setup, teardown);
}
