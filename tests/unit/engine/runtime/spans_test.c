// SPDX-License-Identifier: Apache-2.0
/* What is remembered of each operation, and what travels with its request; and the answers about the daemon itself. */
#include "tests/unit/engine/runtime/answers.h"

#include "engine/telemetry/span.h"

static struct telemetry *telemetry;
static char record_text[1000];

static bool on_record(void *arg, const struct telemetry_record *record)
{
	(void)arg;
	int n = snprintf(record_text, sizeof record_text, "%s%s%s",
		record->name + strlen("sandmux."),
		record->status == TELEMETRY_STATUS_ERROR ? " !" : "", record->status_text);
	struct str attrs;
	str_init(&attrs, sizeof record_text);
	for (size_t i = 0; i < record->n_attrs; i++) {
		if (strcmp(record->attrs[i].key, "sandbox.error.code") == 0)
			continue;
		str_addf(&attrs, " %s=", record->attrs[i].key);
		telemetry_attr_add_text(&attrs, &record->attrs[i]);
	}
	snprintf(record_text + n, sizeof record_text - (size_t)n, "%s", attrs.p);
	str_deinit(&attrs);
	assert_true(record->duration_ns >= 0);
	return false;
}

static void assert_newest(const char *text)
{
	record_text[0] = 0;
	telemetry_each(telemetry, on_record, NULL);
	assert_string_equal(record_text, text);
}

static void on_done(void *arg, const struct err *err)
{
	rig_done(arg, err);
}

static void on_result(void *arg, const struct err *err, const struct runtime_result *result)
{
	(void)result;
	rig_done(arg, err);
}

static void on_stat(void *arg, const struct err *err, const struct runtime_stat *st)
{
	(void)st;
	rig_done(arg, err);
}

static void on_health(void *arg, const struct err *err, const struct runtime_health *health)
{
	struct rig *rig = arg;

	if (health) {
		snprintf(rig->text, sizeof rig->text, "%s", health->status);
		rig->number = health->uptime_seconds;
	}
	rig_done(rig, err);
}

static void on_pairs(
	void *arg, const struct err *err, const struct runtime_pair *pairs, size_t n)
{
	struct rig *rig = arg;

	rig->text[0] = 0;
	for (size_t i = 0; i < n; i++) {
		size_t at = strlen(rig->text);
		snprintf(rig->text + at, sizeof rig->text - at, "%s=%s;", pairs[i].name,
			pairs[i].value);
	}
	rig_done(rig, err);
}

static bool on_bytes(void *arg, struct slice bytes, struct err *err)
{
	(void)arg;
	(void)bytes;
	(void)err;
	return true;
}

static void on_read(void *arg, const struct err *err, int64_t n)
{
	(void)n;
	rig_done(arg, err);
}

static long give(void *arg, char *into, size_t room, struct err *err)
{
	struct rig *rig = arg;

	(void)err;
	(void)room;
	if (rig->number++)
		return 0;
	memcpy(into, "12345", 5);
	return 5;
}

static void wait_for(struct rig *rig, struct runtime_op *op)
{
	assert_non_null(op);
	rig_wait(rig, rig->n_done + 1);
}

static void open_with(struct rig *rig, struct runtime_opts opts, bool with_paths)
{
	telemetry = telemetry_new(100, 1 << 20);
	telemetry_set_paths(telemetry, with_paths);
	opts.telemetry = telemetry;
	opts.label = "the-box";
	open_rig(rig, &opts);
}

static void close_with(struct rig *rig)
{
	rig_close(rig);
	telemetry_free(telemetry);
}

#define LABEL " sandbox.label=the-box"

static void spans_of_files(void **state)
{
	(void)state;
	answers = ANSWERS(
		{ "/v1/health", "200 OK", "{\"status\":\"ok\",\"uptime_seconds\":9}" },
		{ "/v1/metadata", "200 OK", "{\"env\":{\"A\":\"1\",\"B\":\"2\"}}" },
		{ "/v1/files/", "200 OK",
			"{\"path\":\"/\",\"entries\":[{\"name\":\"x\",\"size\":1,\"type\":\"file\"},"
			"{\"name\":\"y\",\"size\":1,\"type\":\"file\"}]}" });
	for (int with_paths = 0; with_paths < 2; with_paths++) {
		struct rig rig;
		open_with(&rig, (struct runtime_opts){ 0 }, with_paths);
		wait_for(&rig, runtime_list_start(rig.runtime, "", 0, on_list, &rig, NULL));
		assert_newest(with_paths ? "files.list" LABEL
					   " sandbox.file.path= sandbox.file.count=2"
					 : "files.list" LABEL " sandbox.file.count=2");
		assert_non_null(strstr(headers, "traceparent: 00-"));
		wait_for(&rig,
			runtime_stat_start(rig.runtime, "d/none", 0, on_stat, &rig, NULL));
		assert_newest(with_paths ? "files.exists !file.not_found" LABEL
					   " sandbox.file.path=d/none"
					 : "files.exists !file.not_found" LABEL);
		wait_for(&rig,
			runtime_delete_start(rig.runtime, "d", false, 0, on_done, &rig, NULL));
		assert_newest(with_paths ? "files.delete !file.not_found" LABEL
					   " sandbox.file.path=d"
					 : "files.delete !file.not_found" LABEL);
		close_with(&rig);
	}
}

static void spans_of_contents(void **state)
{
	struct rig rig;

	(void)state;
	answers = ANSWERS({ "/v1/health", "200 OK", "{\"status\":\"ok\"}" },
		{ "/download/f", "200 OK", "{\"a\":1}" },
		{ "/", "200 OK", "{\"status\":\"ok\"}" }, { "/upload", "200 OK", "{}" });
	open_with(&rig, (struct runtime_opts){ .kind = RUNTIME_LEGACY }, true);
	const struct runtime_read_opts read = { .path = "f",
		.if_unmodified_since_s = -1,
		.on_bytes = on_bytes,
		.done = on_read,
		.arg = &rig };
	wait_for(&rig, runtime_read_start(rig.runtime, &read, NULL));
	assert_newest("files.read" LABEL " sandbox.file.path=f sandbox.file.size=7");
	const struct runtime_write_opts write = { .path = "f",
		.mode = -1,
		.total_bytes = -1,
		.read_bytes = give,
		.done = on_done,
		.arg = &rig };
	wait_for(&rig, runtime_write_start(rig.runtime, &write, NULL));
	assert_newest("files.write" LABEL " sandbox.file.path=f sandbox.file.size=5");
	close_with(&rig);
}

static void spans_of_the_legacy_runtime(void **state)
{
	static const char *const argv[] = { "/usr/bin/program", "secret", NULL };
	struct rig rig;

	(void)state;
	answers = ANSWERS({ "/", "200 OK", "{\"status\":\"ok\"}" },
		{ "/execute", "200 OK", "{\"stdout\":\"\",\"stderr\":\"\",\"exit_code\":4}" },
		{ "/exists/f", "200 OK", "{\"exists\":false}" });
	open_with(&rig, (struct runtime_opts){ .kind = RUNTIME_LEGACY }, true);
	wait_for(&rig,
		runtime_execute_start(rig.runtime, argv, NULL, NULL, 0, on_result, &rig, NULL));
	assert_newest("run" LABEL " sandbox.command.executable=program sandbox.exit_code=4");
	wait_for(&rig, runtime_stat_start(rig.runtime, "f", 0, on_stat, &rig, NULL));
	assert_newest("files.exists !file.not_found" LABEL " sandbox.file.path=f");
	close_with(&rig);
}

static void the_request_a_router_saw(void **state)
{
	const struct runtime_router router = { .sandbox = "box", .namespace_ = "ns" };
	struct rig rig;
	char wanted[200];

	(void)state;
	answers = ANSWERS({ "/v1/health", "200 OK", "{\"status\":\"ok\"}" },
		{ "/v1/files/", "200 OK", "{\"path\":\"/\",\"entries\":[]}" });
	open_with(&rig, (struct runtime_opts){ .router = &router }, false);
	wait_for(&rig, runtime_list_start(rig.runtime, "", 0, on_list, &rig, NULL));
	const char *id = strstr(headers, "X-Request-ID: ") + 14;
	snprintf(wanted, sizeof wanted,
		"files.list" LABEL " sandbox.request_id=%.16s sandbox.file.count=0", id);
	assert_newest(wanted);
	close_with(&rig);
}

/* ---- what the daemon says of itself */
static void health_and_metadata(void **state)
{
	static const struct {
		const char *status, *body;
		bool is_health;
		enum err_code is;
		const char *text;
		int64_t number;
	} rows[] = {
		{ "200 OK", "{\"status\":\"fine\",\"uptime_seconds\":9}", true, ERR_NONE,
			"fine", 9 },
		{ "200 OK", "{\"status\":\"fine\"}", true, ERR_NONE, "fine", -1 },
		{ "200 OK", "{}", true, ERR_RUNTIME_PROTOCOL, "has no status", 0 },
		{ "200 OK", "<", true, ERR_RUNTIME_PROTOCOL, "bad JSON", 0 },
		{ "503 Service Unavailable", "", true, ERR_RUNTIME_UNAVAILABLE,
			"the daemon is shutting down", 0 },
		{ "200 OK", "{\"env\":{\"A\":\"1\",\"B\":\"\"}}", false, ERR_NONE, "A=1;B=;",
			0 },
		{ "200 OK", "{\"env\":{}}", false, ERR_NONE, "", 0 },
		{ "404 Not Found", "", false, ERR_NONE, "", 0 },
		{ "200 OK", "{\"env\":[]}", false, ERR_RUNTIME_PROTOCOL, "has no env", 0 },
		{ "200 OK", "{\"env\":{\"A\":1}}", false, ERR_RUNTIME_PROTOCOL, "is no text",
			0 },
		{ "401 Unauthorized", "", false, ERR_RUNTIME_AUTH, "wants a token", 0 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct rig rig;
		answers = ANSWERS({ rows[i].is_health ? "/v1/health" : "/v1/metadata",
			rows[i].status, rows[i].body });
		open_with(&rig, (struct runtime_opts){ 0 }, false);
		rig.fake.own_health = rows[i].is_health;
		/* the first look is the lane's own; then it is asked again by us */
		wait_for(&rig,
			rows[i].is_health
				? runtime_health_start(rig.runtime, 300, on_health, &rig, NULL)
				: runtime_metadata_start(rig.runtime, 0, on_pairs, &rig, NULL));
		if ((rig.failed ? rig.err.code : ERR_NONE) != rows[i].is)
			fail_msg("row %zu: %s %s", i, err_name(&rig.err), rig.err.msg);
		if (rows[i].is == ERR_NONE) {
			assert_string_equal(rig.text, rows[i].text);
			if (rows[i].is_health)
				assert_int_equal(rig.number, rows[i].number);
		} else if (!strstr(rig.err.msg, rows[i].text)) {
			fail_msg("row %zu: %s", i, rig.err.msg);
		}
		if (i == 5)
			assert_newest("metadata" LABEL " sandbox.metadata.count=2");
		close_with(&rig);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(spans_of_files),
		cmocka_unit_test(spans_of_contents),
		cmocka_unit_test(spans_of_the_legacy_runtime),
		cmocka_unit_test(the_request_a_router_saw),
		cmocka_unit_test(health_and_metadata),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
