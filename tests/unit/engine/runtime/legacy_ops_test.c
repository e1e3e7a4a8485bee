// SPDX-License-Identifier: Apache-2.0
/* The legacy runtime: what its operations send, and what they make of the answers. */
#include "tests/unit/engine/runtime/answers.h"

static const struct runtime_opts legacy = { .kind = RUNTIME_LEGACY };

/* ---- the legacy runtime: execute */
static struct runtime_result got;

static void on_result(void *arg, const struct err *err, const struct runtime_result *result)
{
	struct rig *rig = arg;

	assert_int_equal(err == NULL, result != NULL);
	if (result) {
		rig->number = result->exit_code;
		got.exit_code = result->exit_code;
		snprintf(rig->text, sizeof rig->text, "%.*s|%.*s", (int)result->out.n,
			result->out.p, (int)result->err_out.n, result->err_out.p);
	}
	rig_done(rig, err);
}

static const char *const echo[] = { "echo", "a b", NULL };

static void a_command_is_one_request(void **state)
{
	struct rig rig;

	(void)state;
	answers = ANSWERS(legacy_ok,
		{ "/execute", "200 OK",
			"{\"stdout\":\"a b\\n\",\"stderr\":\"w\",\"exit_code\":3}" });
	open_rig(&rig, &legacy);
	assert_non_null(
		runtime_execute_start(rig.runtime, echo, NULL, "/d", 0, on_result, &rig, NULL));
	rig_wait(&rig, 1);
	assert_false(rig.failed);
	assert_int_equal(rig.number, 3);
	assert_string_equal(rig.text, "a b\n|w");
	assert_string_equal(asked, "GET /\nPOST /execute\n");
	assert_string_equal(sent,
		"{\"command\":\"/bin/sh -c 'cd -- '\\\\''/d'\\\\'' && exec '\\\\''echo'\\\\'' "
		"'\\\\''a b'\\\\'''\"}");
	assert_non_null(strstr(headers, "Content-Type: application/json\r\n"));
	assert_null(strstr(headers, "X-Sandbox-ID"));
	rig_close(&rig);
}

static void commands_that_fail(void **state)
{
	static const struct {
		const char *status, *body;
		enum err_code is;
		const char *says;
	} rows[] = {
		{ "500 Internal Server Error", "{\"message\":\"broken\"}", ERR_HTTP_STATUS,
			"broken" },
		{ "422 Unprocessable Entity", "", ERR_ARG_INVALID,
			"the runtime does not accept the request" },
		{ "200 OK", "{}", ERR_RUNTIME_PROTOCOL, "no stdout, stderr and exit_code" },
		{ "200 OK",
			"{\"stdout\":\"\",\"stderr\":\"Failed to execute command: Permission "
			"denied\",\"exit_code\":1}",
			ERR_PROC_DENIED, "Permission denied" },
		{ "200 OK",
			"{\"stdout\":\"\",\"stderr\":\"Failed to execute command: it timed "
			"out\",\"exit_code\":1}",
			ERR_OP_TIMEOUT, "timed out" },
		{ "200 OK", "{\"stdout\":\"0123456789012345678901234567890123456789\"}",
			ERR_LIMIT_OUTPUT, "the output is over 32 bytes" },
	};
	struct runtime_opts opts = legacy;

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct rig rig;
		answers = ANSWERS(legacy_ok, { "/execute", rows[i].status, rows[i].body });
		opts.max_execute_bytes = rows[i].is == ERR_LIMIT_OUTPUT ? 32 : 0;
		open_rig(&rig, &opts);
		assert_non_null(runtime_execute_start(
			rig.runtime, echo, NULL, NULL, 0, on_result, &rig, NULL));
		rig_wait(&rig, 1);
		if (!rig.failed || rig.err.code != rows[i].is ||
			!strstr(rig.err.msg, rows[i].says))
			fail_msg("row %zu: %s %s", i, err_name(&rig.err), rig.err.msg);
		rig_close(&rig);
	}
}

static void commands_that_are_not_sent(void **state)
{
	static const char *const empty[] = { NULL };
	static const char *const bad_env[] = { "NO_VALUE", NULL };
	static const char *const bytes[] = { "echo", "\xff", NULL };
	const struct {
		bool read_only;
		const char *const *argv, *const *env;
		const char *cwd;
		enum err_code is;
	} rows[] = {
		{ true, echo, NULL, NULL, ERR_OP_READ_ONLY },
		{ false, empty, NULL, NULL, ERR_ARG_INVALID },
		{ false, echo, bad_env, NULL, ERR_ARG_INVALID },
		{ false, bytes, NULL, NULL, ERR_ARG_INVALID },
		{ false, echo, NULL, "../x", ERR_ARG_PATH },
		{ false, echo, NULL, "/a/../../x", ERR_ARG_PATH },
	};

	(void)state;
	answers = ANSWERS(legacy_ok);
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct rig rig;
		struct err err = { 0 };
		struct runtime_opts opts = legacy;
		opts.read_only = rows[i].read_only;
		open_rig(&rig, &opts);
		if (runtime_execute_start(rig.runtime, rows[i].argv, rows[i].env, rows[i].cwd,
			    0, on_result, &rig, &err) ||
			err.code != rows[i].is)
			fail_msg("row %zu: %s %s", i, err_name(&err), err.msg);
		rig_turns(&rig, 5);
		assert_int_equal(rig.n_done, 0);
		assert_string_equal(asked, "");
		rig_close(&rig);
	}
}

static void hold(struct fake_request *request, void *arg)
{
	(void)arg;
	if (strcmp(request->path, "/") == 0)
		fake_json(request, "200 OK", "{\"status\":\"ok\"}");
}

static void a_command_has_its_time(void **state)
{
	struct rig rig;

	(void)state;
	rig_open(&rig, hold, &legacy);
	assert_non_null(runtime_execute_start(
		rig.runtime, echo, NULL, NULL, 100, on_result, &rig, NULL));
	rig_wait(&rig, 1);
	assert_int_equal(rig.err.code, ERR_OP_TIMEOUT);
	assert_non_null(strstr(rig.err.msg, "the command did not end in time"));
	rig_close(&rig);
}

/* ---- stat, by two questions */
static struct runtime_stat stat_is;

static void on_stat(void *arg, const struct err *err, const struct runtime_stat *st)
{
	assert_int_equal(err == NULL, st != NULL);
	if (st)
		stat_is = *st;
	rig_done(arg, err);
}

#define FOLDER                                                                                 \
	"[{\"name\":\"x\",\"size\":5,\"type\":\"file\",\"mod_time\":12.7},"                    \
	"{\"name\":\"y\",\"size\":4096,\"type\":\"directory\",\"mod_time\":13}]"

static void look_at(struct rig *rig, const char *path)
{
	asked[0] = 0;
	stat_is = (struct runtime_stat){ 0 };
	int n = rig->n_done + 1;
	assert_non_null(runtime_stat_start(rig->runtime, path, 0, on_stat, rig, NULL));
	rig_wait(rig, n);
}

static const struct answer tree[] = { { "/", "200 OK", "{\"status\":\"ok\"}" },
	{ "/exists/%2E", "200 OK", "{\"exists\":true}" },
	{ "/exists/x", "200 OK", "{\"exists\":true}" },
	{ "/exists/d%2Fx", "200 OK", "{\"exists\":true}" },
	{ "/exists/d%2Fy", "200 OK", "{\"exists\":true}" },
	{ "/exists/d%2Fz", "200 OK", "{\"exists\":true}" },
	{ "/exists/none", "200 OK", "{\"exists\":false}" },
	{ "/exists/odd", "200 OK", "{\"exists\":1}" }, { "/exists/json", "200 OK", "{" },
	{ "/exists/no", "403 Forbidden", "{\"message\":\"Access denied\"}" },
	{ "/exists/e%2Fx", "200 OK", "{\"exists\":true}" },
	{ "/exists/f%2Fx", "200 OK", "{\"exists\":true}" },
	{ "/list/e", "500 Internal Server Error", "{\"message\":\"no list\"}" },
	{ "/list/f", "200 OK", "[1," }, { "/list/%2E", "200 OK", FOLDER },
	{ "/list/d", "200 OK", FOLDER }, { NULL, NULL, NULL } };

static void what_is_there(void **state)
{
	struct rig rig;

	(void)state;
	answers = tree;
	open_rig(&rig, &legacy);
	/* the root is a folder, without a look into any */
	look_at(&rig, "");
	assert_false(rig.failed);
	assert_string_equal(asked, "GET /\nGET /exists/%2E\n");
	assert_true(stat_is.is_dir);
	assert_int_equal(stat_is.size_bytes, -1);
	assert_int_equal(stat_is.modified_s, -1);
	look_at(&rig, "x");
	assert_false(rig.failed);
	assert_string_equal(asked, "GET /exists/x\nGET /list/%2E\n");
	assert_false(stat_is.is_dir);
	assert_int_equal(stat_is.size_bytes, 5);
	assert_int_equal(stat_is.modified_s, 12);
	look_at(&rig, "d/y");
	assert_false(rig.failed);
	assert_string_equal(asked, "GET /exists/d%2Fy\nGET /list/d\n");
	assert_true(stat_is.is_dir);
	assert_int_equal(stat_is.size_bytes, -1);
	assert_int_equal(stat_is.modified_s, 13);
	rig_close(&rig);
}

static void what_is_not_there(void **state)
{
	static const struct {
		const char *path;
		enum err_code is;
		const char *says;
	} rows[] = {
		{ "d/z", ERR_FILE_NOT_FOUND, "d/z: it exists, but no listing shows it" },
		{ "none", ERR_FILE_NOT_FOUND, "none: path does not exist within the sandbox" },
		{ "odd", ERR_RUNTIME_PROTOCOL,
			"odd: the answer does not say whether it exists" },
		{ "json", ERR_RUNTIME_PROTOCOL, "json: " },
		{ "no", ERR_FILE_DENIED, "no: Access denied" },
		{ "e/x", ERR_FILE_SERVER, "e/x: no list" },
		{ "f/x", ERR_RUNTIME_PROTOCOL, "f/x: " },
		{ "nothing-answers", ERR_NONE, "nothing-answers: " },
	};
	struct rig rig;

	(void)state;
	answers = tree;
	open_rig(&rig, &legacy);
	for (size_t i = 0; i < COUNT(rows); i++) {
		look_at(&rig, rows[i].path);
		if (!rig.failed || !strstr(rig.err.msg, rows[i].says) ||
			(rows[i].is != ERR_NONE && rig.err.code != rows[i].is))
			fail_msg("row %zu: %s %s", i, err_name(&rig.err), rig.err.msg);
	}
	struct err err = { 0 };
	assert_null(runtime_stat_start(rig.runtime, "../x", 0, on_stat, &rig, &err));
	assert_int_equal(err.code, ERR_ARG_PATH);
	rig_close(&rig);
}

static void listings_of_the_legacy_runtime(void **state)
{
	struct rig rig;

	(void)state;
	answers = ANSWERS(legacy_ok, { "/list/d", "200 OK", FOLDER });
	open_rig(&rig, &legacy);
	assert_non_null(runtime_list_start(rig.runtime, "d/", 0, on_list, &rig, NULL));
	rig_wait(&rig, 1);
	assert_false(rig.failed);
	assert_string_equal(rig.text, "x 5 0 -1;y 4096 1 -1;");
	rig_close(&rig);
}

/* ---- upload */
static const char *source;

static long give(void *arg, char *into, size_t room, struct err *err)
{
	size_t n = strlen(source);

	(void)arg;
	(void)err;
	n = n < room ? n : room;
	n = n < 4 ? n : 4; /* in pieces */
	memcpy(into, source, n);
	source += n;
	return (long)n;
}

static void on_written(void *arg, const struct err *err)
{
	rig_done(arg, err);
}

static void a_file_goes_as_a_form(void **state)
{
	struct rig rig;
	char boundary[80], wanted[400];

	(void)state;
	answers = ANSWERS(legacy_ok, { "/upload", "200 OK", "{\"message\":\"ok\"}" });
	for (int i = 0; i < 2; i++) {
		open_rig(&rig, &legacy);
		source = "0123456789";
		struct runtime_write_opts opts = { .path = "d/n",
			.mode = -1,
			.total_bytes = i ? -1 : 10,
			.read_bytes = give,
			.done = on_written,
			.arg = &rig };
		assert_non_null(runtime_write_start(rig.runtime, &opts, NULL));
		rig_wait(&rig, 1);
		assert_false(rig.failed);
		assert_string_equal(asked, "GET /\nPOST /upload\n");
		const char *at = strstr(headers, "boundary=");
		assert_non_null(at);
		snprintf(boundary, sizeof boundary, "%.*s", (int)strcspn(at + 9, "\r\n"),
			at + 9);
		snprintf(wanted, sizeof wanted, "\r\n\r\n0123456789\r\n--%s--\r\n", boundary);
		assert_non_null(strstr(sent, "filename=\"d/n\"\r\n"));
		assert_memory_equal(sent, "--", 2);
		assert_memory_equal(sent + 2, boundary, strlen(boundary));
		assert_non_null(strstr(sent, wanted));
		assert_int_equal(strstr(headers, "Content-Length:") != NULL, i == 0);
		rig_close(&rig);
	}
	/* a name that its parser would take for another one */
	struct err err = { 0 };
	open_rig(&rig, &legacy);
	struct runtime_write_opts bad = {
		.path = "c:\\x", .mode = -1, .read_bytes = give, .done = on_written, .arg = &rig
	};
	assert_null(runtime_write_start(rig.runtime, &bad, &err));
	assert_int_equal(err.code, ERR_ARG_PATH);
	rig_close(&rig);
}

static void on_health(void *arg, const struct err *err, const struct runtime_health *health)
{
	(void)health;
	rig_done(arg, err);
}

static void on_pairs(
	void *arg, const struct err *err, const struct runtime_pair *pairs, size_t n)
{
	(void)pairs;
	(void)n;
	rig_done(arg, err);
}

static void on_links(void *arg, const struct err *err, const bool *is_link, size_t n)
{
	(void)is_link;
	(void)n;
	rig_done(arg, err);
}

static void what_it_cannot(void **state)
{
	static const char *const paths[] = { "x" };
	struct rig rig;
	struct err err[5] = { 0 };
	struct runtime_start_opts start = { .argv = echo };

	(void)state;
	answers = ANSWERS(legacy_ok);
	open_rig(&rig, &legacy);
	assert_int_equal(runtime_kind_of(rig.runtime), RUNTIME_LEGACY);
	assert_true(runtime_can(rig.runtime, RUNTIME_CAN_EXECUTE));
	assert_false(runtime_can(rig.runtime, RUNTIME_CAN_PROCESSES));
	assert_false(runtime_can(rig.runtime, RUNTIME_CAN_DELETE));
	assert_false(runtime_can(rig.runtime, RUNTIME_CAN_INFO));
	assert_null(runtime_process_start(rig.runtime, &start, &err[0]));
	assert_null(
		runtime_delete_start(rig.runtime, "x", false, 0, on_written, &rig, &err[1]));
	assert_null(runtime_health_start(rig.runtime, 0, on_health, &rig, &err[2]));
	assert_null(runtime_metadata_start(rig.runtime, 0, on_pairs, &rig, &err[3]));
	assert_null(runtime_links_start(rig.runtime, paths, 1, 0, on_links, &rig, &err[4]));
	for (size_t i = 0; i < COUNT(err); i++) {
		assert_int_equal(err[i].code, ERR_OP_UNSUPPORTED);
		assert_non_null(strstr(err[i].msg, ": not supported by this runtime"));
	}
	rig_close(&rig);
	/* sandboxd: what its addresses allow */
	open_rig(&rig, NULL);
	assert_int_equal(runtime_kind_of(rig.runtime), RUNTIME_SANDBOXD);
	assert_false(runtime_can(rig.runtime, RUNTIME_CAN_EXECUTE));
	assert_false(runtime_can(rig.runtime, RUNTIME_CAN_PROCESSES));
	assert_true(runtime_can(rig.runtime, RUNTIME_CAN_DELETE));
	assert_true(runtime_can(rig.runtime, RUNTIME_CAN_INFO));
	struct runtime_opts opts = { .grpc_host = "127.0.0.1", .grpc_port = 1 };
	struct runtime *runtime = runtime_new(rig.loop, rig.http, &opts, NULL);
	assert_true(runtime_can(runtime, RUNTIME_CAN_EXECUTE));
	assert_true(runtime_can(runtime, RUNTIME_CAN_PROCESSES));
	assert_false(runtime_can(runtime, RUNTIME_CAN_DELETE));
	assert_false(runtime_can(runtime, RUNTIME_CAN_INFO));
	runtime_close(runtime);
	runtime_unref(runtime);
	opts.kind = RUNTIME_LEGACY;
	assert_null(runtime_new(rig.loop, rig.http, &opts, &err[0]));
	assert_int_equal(err[0].code, ERR_ARG_INVALID);
	rig_close(&rig);
}

/* Another server than was looked for does not become better by waiting; a sick one may. */
static void what_answers_there(void **state)
{
	static const struct {
		const char *status, *body;
		enum err_code is;
	} rows[] = {
		{ "200 OK", "{\"status\":\"bad\"}", ERR_RUNTIME_PROTOCOL },
		{ "200 OK", "{}", ERR_RUNTIME_PROTOCOL },
		{ "200 OK", "<html>", ERR_RUNTIME_PROTOCOL },
		{ "503 Service Unavailable", "", ERR_HTTP_STATUS },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct rig rig;
		struct runtime_opts opts = legacy;
		opts.connect_timeout_ms = 150;
		answers = ANSWERS({ "/", rows[i].status, rows[i].body });
		open_rig(&rig, &opts);
		assert_non_null(runtime_list_start(rig.runtime, "", 0, on_list, &rig, NULL));
		rig_wait(&rig, 1);
		if (!rig.failed ||
			(rows[i].is == ERR_RUNTIME_PROTOCOL && rig.err.code != rows[i].is))
			fail_msg("row %zu: %s %s", i, err_name(&rig.err), rig.err.msg);
		rig_close(&rig);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_command_is_one_request),
		cmocka_unit_test(commands_that_fail),
		cmocka_unit_test(commands_that_are_not_sent),
		cmocka_unit_test(a_command_has_its_time),
		cmocka_unit_test(what_is_there),
		cmocka_unit_test(what_is_not_there),
		cmocka_unit_test(listings_of_the_legacy_runtime),
		cmocka_unit_test(a_file_goes_as_a_form),
		cmocka_unit_test(what_it_cannot),
		cmocka_unit_test(what_answers_there),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
