// SPDX-License-Identifier: Apache-2.0
/* The legacy runtime, a router on the way, an address that has to be found, and the version that was asked for. */
#include "tests/unit/unit.h"

#include "engine/base/json.h"
#include "engine/base/mem.h"
#include "engine/base/settings.h"
#include "tests/unit/engine/runtime/rig.h"

#define COUNT(a) (sizeof(a) / sizeof(a)[0])

/* ---- a server of a few answers */
struct answer {
	const char *path, *status, *body;
};

static const struct answer *answers;
static char asked[4096];   /* "METHOD path\n" of each */
static char sent[4096];    /* the last body */
static char headers[16384]; /* of the last */

static void handle(struct fake_request *request, void *arg)
{
	size_t n = strlen(asked);

	(void)arg;
	snprintf(asked + n, sizeof asked - n, "%s %s\n", request->method, request->path);
	snprintf(sent, sizeof sent, "%.*s", (int)request->body_n, request->body);
	snprintf(headers, sizeof headers, "%s", request->headers);
	for (const struct answer *answer = answers; answer->path; answer++)
		if (strcmp(answer->path, request->path) == 0) {
			fake_json(request, answer->status, answer->body);
			return;
		}
	fake_json(request, "404 Not Found", "{\"detail\":\"Not Found\"}");
}

static const struct answer legacy_ok = { "/", "200 OK", "{\"status\":\"ok\"}" };
#define ANSWERS(...) ((const struct answer[]){ __VA_ARGS__, { NULL, NULL, NULL } })

static void open_rig(struct rig *rig, const struct runtime_opts *opts)
{
	asked[0] = sent[0] = headers[0] = 0;
	rig_open(rig, handle, opts);
	rig->fake.own_health = true;
}

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

static void what_is_there(void **state)
{
	struct rig rig;

	(void)state;
	answers = ANSWERS(legacy_ok, { "/exists/%2E", "200 OK", "{\"exists\":true}" },
		{ "/exists/x", "200 OK", "{\"exists\":true}" },
		{ "/exists/d%2Fx", "200 OK", "{\"exists\":true}" },
		{ "/exists/d%2Fy", "200 OK", "{\"exists\":true}" },
		{ "/exists/d%2Fz", "200 OK", "{\"exists\":true}" },
		{ "/exists/none", "200 OK", "{\"exists\":false}" },
		{ "/exists/odd", "200 OK", "{\"exists\":1}" },
		{ "/exists/json", "200 OK", "{" },
		{ "/exists/no", "403 Forbidden", "{\"message\":\"Access denied\"}" },
		{ "/exists/e%2Fx", "200 OK", "{\"exists\":true}" },
		{ "/exists/f%2Fx", "200 OK", "{\"exists\":true}" },
		{ "/list/e", "500 Internal Server Error", "{\"message\":\"no list\"}" },
		{ "/list/f", "200 OK", "[1," }, { "/list/%2E", "200 OK", FOLDER },
		{ "/list/d", "200 OK", FOLDER });
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

static void on_list(void *arg, const struct err *err, const struct runtime_entry *entries,
	size_t n, size_t n_hidden)
{
	struct rig *rig = arg;

	rig->text[0] = 0;
	for (size_t i = 0; i < n; i++) {
		size_t at = strlen(rig->text);
		snprintf(rig->text + at, sizeof rig->text - at, "%s %d %d %d;", entries[i].name,
			(int)entries[i].size_bytes, entries[i].is_dir, entries[i].mode);
	}
	rig->number = (int64_t)n_hidden;
	rig_done(rig, err);
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
	runtime_free(runtime);
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

/* ---- the router */
static void headers_for_the_router(void **state)
{
	struct rig rig;
	const struct runtime_router router = { .sandbox = "box",
		.namespace_ = "ns",
		.port = 8080,
		.pod_ip = "10.0.0.1",
		.uid = "u-1",
		.token = "for-the-router" };
	struct runtime_opts opts = { .router = &router, .token = "for-the-daemon" };
	static const char *const lines[] = { "X-Sandbox-ID: box\r\n",
		"X-Sandbox-Namespace: ns\r\n", "X-Sandbox-Port: 8080\r\n",
		"X-Sandbox-Pod-IP: 10.0.0.1\r\n", "X-Sandbox-UID: u-1\r\n",
		"X-Sandbox-Timeout: ", "X-Request-ID: ",
		"Authorization: Bearer for-the-router\r\n" };
	char id[2][64];

	(void)state;
	answers = ANSWERS({ "/v1/health", "200 OK", "{\"status\":\"ok\"}" },
		{ "/v1/files/", "200 OK", "{\"path\":\"/\",\"entries\":[]}" });
	open_rig(&rig, &opts);
	for (int i = 0; i < 2; i++) {
		assert_non_null(runtime_list_start(rig.runtime, "", 0, on_list, &rig, NULL));
		rig_wait(&rig, i + 1);
		assert_false(rig.failed);
		for (size_t l = 0; l < COUNT(lines); l++)
			if (!strstr(headers, lines[l]))
				fail_msg("no %s", lines[l]);
		assert_null(strstr(headers, "for-the-daemon"));
		const char *at = strstr(headers, "X-Request-ID: ") + 14;
		snprintf(id[i], sizeof id[i], "%.*s", (int)strcspn(at, "\r"), at);
		assert_int_equal(strlen(id[i]), 16);
	}
	assert_string_not_equal(id[0], id[1]);
	rig_close(&rig);
	/* the time that is left, in seconds, and never more than the router's own limit */
	const struct {
		int64_t timeout_ms;
		double least, most;
	} rows[] = { { 5000, 4, 5 }, { 999999999, 180, 180 } };
	for (size_t i = 0; i < COUNT(rows); i++) {
		open_rig(&rig, &opts);
		assert_non_null(runtime_list_start(
			rig.runtime, "", rows[i].timeout_ms, on_list, &rig, NULL));
		rig_wait(&rig, 1);
		double seconds = strtod(strstr(headers, "X-Sandbox-Timeout: ") + 19, NULL);
		if (seconds < rows[i].least || seconds > rows[i].most)
			fail_msg("row %zu: %f", i, seconds);
		rig_close(&rig);
	}
}

static void headers_that_are_not_sent(void **state)
{
	struct rig rig;
	struct runtime_router router = { .sandbox = "box", .namespace_ = "ns", .port = 1 };
	const struct runtime_opts opts = { .router = &router };

	(void)state;
	answers = ANSWERS({ "/v1/health", "200 OK", "{\"status\":\"ok\"}" },
		{ "/v1/files/", "200 OK", "{\"path\":\"/\",\"entries\":[]}" });
	router.uid = "";
	open_rig(&rig, &opts);
	assert_non_null(runtime_list_start(rig.runtime, "", 0, on_list, &rig, NULL));
	rig_wait(&rig, 1);
	assert_null(strstr(headers, "X-Sandbox-Pod-IP"));
	assert_null(strstr(headers, "X-Sandbox-UID"));
	assert_null(strstr(headers, "Authorization"));
	static const char *const bad[] = { "a b", "a\r\nX-Evil: 1", "\x7f", "\xc3\xbc", "\t" };
	for (size_t i = 0; i < COUNT(bad); i++) {
		struct err err = { 0 };
		struct runtime_opts with = opts;
		router.uid = bad[i];
		with.rest_url = rig.url;
		assert_null(runtime_new(rig.loop, rig.http, &with, &err));
		assert_int_equal(err.code, ERR_ARG_INVALID);
		assert_string_equal(err.msg, "X-Sandbox-UID cannot be sent in a header");
	}
	/* the limits of what can be sent */
	struct runtime_opts with = opts;
	router.uid = "!~";
	with.rest_url = rig.url;
	struct runtime *runtime = runtime_new(rig.loop, rig.http, &with, NULL);
	assert_non_null(runtime);
	runtime_free(runtime);
	rig_close(&rig);
}

static void the_routers_own_errors(void **state)
{
	const struct runtime_router router = { .sandbox = "box", .namespace_ = "ns" };
	static const struct {
		bool has_router;
		const char *status;
		enum err_code is;
	} rows[] = { { true, "403 Forbidden", ERR_ROUTER_REJECTED },
		{ false, "403 Forbidden", ERR_FILE_DENIED },
		{ true, "502 Bad Gateway", ERR_ROUTER_BACKEND },
		{ false, "502 Bad Gateway", ERR_HTTP_STATUS } };

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct rig rig;
		const struct runtime_opts opts = { .router = rows[i].has_router ? &router
										: NULL };
		answers = ANSWERS({ "/v1/health", "200 OK", "{\"status\":\"ok\"}" },
			{ "/v1/files/", rows[i].status, "{\"detail\":\"in words\"}" });
		open_rig(&rig, &opts);
		assert_non_null(runtime_list_start(rig.runtime, "", 0, on_list, &rig, NULL));
		rig_wait(&rig, 1);
		if (rig.err.code != rows[i].is)
			fail_msg("row %zu: %s %s", i, err_name(&rig.err), rig.err.msg);
		rig_close(&rig);
	}
	/* refused there, no attempt to connect helps: told at once */
	struct rig rig;
	const struct runtime_opts opts = { .router = &router, .connect_timeout_ms = 5000 };
	answers = ANSWERS({ "/v1/health", "403 Forbidden", "{\"detail\":\"in words\"}" });
	open_rig(&rig, &opts);
	assert_non_null(runtime_list_start(rig.runtime, "", 0, on_list, &rig, NULL));
	rig_wait(&rig, 1);
	assert_int_equal(rig.err.code, ERR_ROUTER_REJECTED);
	assert_string_equal(asked, "GET /v1/health\n");
	rig_close(&rig);
}

/* ---- the version */
static void the_version_that_was_asked_for(void **state)
{
	static const struct {
		const char *status, *body;
		enum err_code is;
	} rows[] = {
		{ "200 OK", "{\"env\":{\"SANDBOX_SANDBOXD_VERSION\":\"v1\"}}", ERR_NONE },
		{ "200 OK", "{\"env\":{}}", ERR_NONE },
		{ "404 Not Found", "", ERR_NONE },
		{ "200 OK", "{\"env\":{\"SANDBOX_SANDBOXD_VERSION\":\"v2\"}}",
			ERR_RUNTIME_VERSION },
		{ "200 OK", "<", ERR_RUNTIME_PROTOCOL },
		{ "401 Unauthorized", "", ERR_RUNTIME_AUTH },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct rig rig;
		struct runtime_opts opts = { .required_version = "v1",
			.token = "secret",
			.label = "the-box",
			.connect_timeout_ms = 150 };
		answers = ANSWERS({ "/v1/health", "200 OK", "{\"status\":\"ok\"}" },
			{ "/v1/metadata", rows[i].status, rows[i].body },
			{ "/v1/files/", "200 OK", "{\"path\":\"/\",\"entries\":[]}" });
		open_rig(&rig, &opts);
		for (int again = 0; again < 2; again++) {
			assert_non_null(
				runtime_list_start(rig.runtime, "", 0, on_list, &rig, NULL));
			rig_wait(&rig, again + 1);
			if ((rows[i].is == ERR_NONE) == rig.failed)
				fail_msg("row %zu: %s %s", i, err_name(&rig.err), rig.err.msg);
			if (rig.failed)
				break;
		}
		if (rows[i].is == ERR_NONE)
			assert_string_equal(asked, "GET /v1/health\nGET /v1/metadata\n"
						   "GET /v1/files/\nGET /v1/files/\n");
		else if (rig.err.code != rows[i].is)
			fail_msg("row %zu: %s %s", i, err_name(&rig.err), rig.err.msg);
		if (rows[i].is == ERR_RUNTIME_VERSION)
			assert_string_equal(rig.err.msg, "the-box runs sandboxd v2, not v1");
		/* the token is for the metadata, not for the health */
		if (rig.failed)
			assert_non_null(strstr(headers, "Authorization: Bearer secret\r\n"));
		rig_close(&rig);
	}
}

/* ---- an address that has to be found */
static const char *located; /* NULL: not yet */
static enum err_code locate_code;
static int n_located;

static bool locate(void *arg, struct str *url, struct err *err)
{
	n_located++;
	assert_ptr_equal(arg, &n_located);
	if (!located)
		return err_set(err, locate_code, "not found yet");
	str_add(url, located);
	return true;
}

static void open_located(struct rig *rig, struct runtime_opts opts)
{
	struct err err = { 0 };

	open_rig(rig, NULL);
	runtime_free(rig->runtime);
	opts.locate = locate;
	opts.locate_arg = &n_located;
	if (!opts.connect_timeout_ms)
		opts.connect_timeout_ms = 2000;
	rig->runtime = runtime_new(rig->loop, rig->http, &opts, &err);
	if (!rig->runtime)
		fail_msg("%s", err.msg);
	n_located = 0;
}

static void an_address_is_found(void **state)
{
	struct rig rig;
	char long_url[2000];

	(void)state;
	answers = ANSWERS({ "/v1/health", "200 OK", "{\"status\":\"ok\"}" },
		{ "/v1/files/", "200 OK", "{\"path\":\"/\",\"entries\":[]}" });
	open_located(&rig, (struct runtime_opts){ 0 });
	located = NULL;
	locate_code = ERR_CONN_DNS;
	assert_non_null(runtime_list_start(rig.runtime, "", 0, on_list, &rig, NULL));
	int64_t until = clock_mono_ms() + 10000;
	while (n_located < 2 && clock_mono_ms() < until)
		loop_run_once(rig.loop, 20);
	assert_int_equal(rig.n_done, 0);
	struct err trouble = { 0 };
	assert_true(runtime_trouble(rig.runtime, &trouble));
	assert_non_null(strstr(trouble.msg, "does not come up: not found yet"));
	located = rig.url;
	rig_wait(&rig, 1);
	assert_false(rig.failed);
	assert_int_equal(n_located, 3);
	rig_close(&rig);
	/* one that there will never be */
	open_located(&rig, (struct runtime_opts){ 0 });
	located = NULL;
	locate_code = ERR_GATEWAY_DELETED;
	assert_non_null(runtime_list_start(rig.runtime, "", 0, on_list, &rig, NULL));
	rig_wait(&rig, 1);
	assert_int_equal(rig.err.code, ERR_GATEWAY_DELETED);
	assert_int_equal(n_located, 1);
	rig_close(&rig);
	/* where a token may not go, and what is no address */
	memset(long_url, 'x', sizeof long_url - 1);
	long_url[sizeof long_url - 1] = 0;
	memcpy(long_url, "http://", 7);
	const struct {
		const char *url, *token;
		enum err_code is;
	} rows[] = { { "http://192.0.2.1:1", "t", ERR_CONN_PLAINTEXT_TOKEN },
		{ long_url, NULL, ERR_ARG_INVALID } };
	for (size_t i = 0; i < COUNT(rows); i++) {
		open_located(&rig, (struct runtime_opts){ .token = rows[i].token });
		located = rows[i].url;
		assert_non_null(runtime_list_start(rig.runtime, "", 0, on_list, &rig, NULL));
		rig_wait(&rig, 1);
		if (rig.err.code != rows[i].is)
			fail_msg("row %zu: %s %s", i, err_name(&rig.err), rig.err.msg);
		assert_int_equal(n_located, 1);
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
		cmocka_unit_test(listings_of_the_legacy_runtime),
		cmocka_unit_test(a_file_goes_as_a_form),
		cmocka_unit_test(what_it_cannot),
		cmocka_unit_test(what_answers_there),
		cmocka_unit_test(headers_for_the_router),
		cmocka_unit_test(headers_that_are_not_sent),
		cmocka_unit_test(the_routers_own_errors),
		cmocka_unit_test(the_version_that_was_asked_for),
		cmocka_unit_test(an_address_is_found),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
