// SPDX-License-Identifier: Apache-2.0
/* Verbs that ask a daemon: files, health, metadata, cp, and run where there are no processes (the legacy runtime). The daemon
 * is a script; the test says what it answers to which request. */
#include "tests/unit/cli/program.h"
#include "tests/unit/engine/runtime/fake_rest.h"

struct answer {
	const char *method, *path, *status, *body;
};

static struct fake_rest rest;
static const struct answer *answers;
static size_t n_answers;
static char asked[4096]; /* "METHOD path\n"… */
static char sent[4096];  /* the last body */

static void handle(struct fake_request *request, void *arg)
{
	(void)arg;
	if (request->is_headers_only)
		return;
	size_t n = strlen(asked);
	snprintf(asked + n, sizeof asked - n, "%s %s\n", request->method, request->path);
	if (request->body_n > 0 && request->body_n < sizeof sent) {
		memcpy(sent, request->body, request->body_n);
		sent[request->body_n] = '\0';
	}
	/* what was written is there */
	if (strcmp(request->method, "HEAD") == 0 &&
		strcmp(request->path, "/v1/files/new") == 0 && sent[0] != '\0') {
		fake_reply(request, "200 OK", "application/octet-stream", sent, strlen(sent));
		return;
	}
	if (strcmp(request->path, "/v1/files/dated") == 0) {
		fake_text(request,
			"HTTP/1.1 200 OK\r\nContent-Type: application/octet-stream\r\n"
			"Last-Modified: Fri, 02 Jan 2026 03:04:05 GMT\r\n"
			"Content-Length: 3\r\n\r\n");
		return;
	}
	if (strcmp(request->path, "/v1/files/slow") == 0)
		return;
	for (size_t i = 0; i < n_answers; i++)
		if (strcmp(answers[i].method, request->method) == 0 &&
			strcmp(answers[i].path, request->path) == 0) {
			if (answers[i].body[0] == '{' || answers[i].body[0] == '[')
				fake_json(request, answers[i].status, answers[i].body);
			else
				fake_reply(request, answers[i].status,
					"application/octet-stream", answers[i].body,
					strlen(answers[i].body));
			return;
		}
	fake_json(request, "404 Not Found",
		"{\"code\":\"NOT_FOUND\",\"message\":\"path does not exist within the "
		"sandbox\"}\n");
}

static int set_up(void **state)
{
	cluster_set_up(state);
	struct cluster *c = *state;
	fake_rest_open(&rest, c->api.loop, handle, NULL);
	return 0;
}

static int tear_down(void **state)
{
	fake_rest_close(&rest);
	return cluster_tear_down(state);
}

static void direct(struct cluster *c, const char *line, const char *input, int status,
	const char *out, const char *err)
{
	char *whole = x_asprintf("--rest http://127.0.0.1:%u %s", (unsigned)rest.port, line);
	asked[0] = sent[0] = '\0';
	program_expect(c, whole, input, status, out, err);
	free(whole);
}

#define USE(table) (answers = (table), n_answers = COUNT(table))

/* ---- health, metadata */

static void what_the_daemon_says(void **state)
{
	static const struct answer table[] = {
		{ "GET", "/v1/metadata", "200 OK",
			"{\"env\":{\"SANDBOX_A\":\"1\",\"SANDBOX_B\":\"\\u001b]0;x\"}}" },
	};
	struct cluster *c = *state;
	USE(table);
	direct(c, "health", NULL, 0, "ok\tup 7 s\n", "");
	direct(c, "health -o json", NULL, 0,
		"{\n\t\"status\":\t\"ok\",\n\t\"uptimeSeconds\":\t7\n}\n", "");
	direct(c, "metadata", NULL, 0, "SANDBOX_A=1\nSANDBOX_B=^[]0;x\n", "");
	direct(c, "metadata -o yaml", NULL, 0,
		"env:\n  SANDBOX_A: \"1\"\n  SANDBOX_B: \"\\e]0;x\"\n", "");
	n_answers = 0;
	rest.own_health = true;
	direct(c, "health --timeout 3s", NULL, 1, "", "~sandmux: runtime.protocol: ");
}

/* ---- files */

static const struct answer files[] = {
	{ "GET", "/v1/files/d", "200 OK",
		"{\"path\":\"/d\",\"entries\":[{\"name\":\"a\",\"size\":10,\"type\":\"file\","
		"\"modified_at\":\"2026-01-02T03:04:05Z\",\"mode\":\"0644\"},{\"name\":\"sub\","
		"\"size\":4096,\"type\":\"directory\",\"mode\":\"0755\"}]}" },
	{ "GET", "/v1/files/f", "200 OK", "0123456789" },
	{ "HEAD", "/v1/files/f", "200 OK", "0123456789" },
	{ "HEAD", "/v1/files/d", "200 OK", "{}" },
	{ "PUT", "/v1/files/new", "204 No Content", "" },
	{ "GET", "/v1/files/odd", "200 OK",
		"{\"path\":\"/odd\",\"entries\":[{\"name\":\"b\",\"size\":1,\"type\":\"file\"},"
		"{\"name\":\"../x\",\"size\":1,\"type\":\"file\"}]}" },
	{ "DELETE", "/v1/files/f", "204 No Content", "" },
	{ "DELETE", "/v1/files/d?recursive=true", "204 No Content", "" },
};

static void lists_of_files(void **state)
{
	static const char entries[] = "MODE    SIZE   MODIFIED               NAME\n"
				      "-0644   10     2026-01-02T03:04:05Z   a\n"
				      "d0755   4096   -                      sub/\n";
	struct cluster *c = *state;
	USE(files);
	direct(c, "files ls :d -o wide", NULL, 0, entries, "");
	direct(c, "files ls :d", NULL, 0, strchr(entries, '\n') + 1, "");
	direct(c, "files ls :d -o name", NULL, 0, "a\nsub\n", "");
	direct(c, "files ls :d -o json", NULL, 0,
		"{\n\t\"path\":\t\"d\",\n\t\"entries\":\t[{\n"
		"\t\t\t\"name\":\t\"a\",\n\t\t\t\"type\":\t\"file\",\n"
		"\t\t\t\"size\":\t10,\n\t\t\t\"modifiedAt\":\t\"2026-01-02T03:04:05Z\",\n"
		"\t\t\t\"mode\":\t\"0644\"\n\t\t}, {\n"
		"\t\t\t\"name\":\t\"sub\",\n\t\t\t\"type\":\t\"directory\",\n"
		"\t\t\t\"size\":\t4096,\n\t\t\t\"modifiedAt\":\tnull,\n"
		"\t\t\t\"mode\":\t\"0755\"\n\t\t}]\n}\n",
		"");
	/* paths as programs there say them; who cannot be asked has the usual root */
	direct(c, "files ls :/workspace/d", NULL, 0, strchr(entries, '\n') + 1, "");
	direct(c, "files ls :/workspace//d", NULL, 0, strchr(entries, '\n') + 1, "");
	direct(c, "files ls :/workspaced", NULL, 7, "",
		"~sandmux: arg.path: /workspaced is not among the sandbox's files, which are in "
		"/workspace; ");
	direct(c, "files ls :nope", NULL, 3, "",
		"sandmux: file.not_found: nope: path does not exist within the sandbox; check "
		"the path\n");
	direct(c, "files ls :odd", NULL, 0, "-0000   1   -   b\n",
		"1 entries are not shown: uploads in flight or names that are not safe\n");
	direct(c, "files ls :odd -q -o json", NULL, 0, "~\"mode\":\t\"\"\n", "");
}

static void bytes_and_facts(void **state)
{
	struct cluster *c = *state;
	USE(files);
	direct(c, "files cat :f", NULL, 0, "0123456789", "");
	direct(c, "files cat :nope", NULL, 3, "", "~sandmux: file.not_found: nope: ");
	direct(c, "files stat :f", NULL, 0, "file\t10\t\n", "");
	direct(c, "files stat :f -o json", NULL, 0,
		"{\n\t\"path\":\t\"f\",\n\t\"type\":\t\"file\",\n\t\"size\":\t10,\n"
		"\t\"modifiedAt\":\t\"\"\n}\n",
		"");
	direct(c, "files stat :dated", NULL, 0, "file\t3\t2026-01-02T03:04:05Z\n", "");
	direct(c, "files stat :d", NULL, 0, "directory\n", "");
	direct(c, "files stat :d -o yaml", NULL, 0, "~path: d\ntype: directory\n", "");
	direct(c, "files stat :nope", NULL, 3, "", "~sandmux: file.not_found: nope: ");
}

static void removed(void **state)
{
	struct cluster *c = *state;
	USE(files);
	direct(c, "files rm :f", NULL, 0, "", "f is deleted\n");
	assert_string_equal(asked, "DELETE /v1/files/f\n");
	direct(c, "files rm -q :f", NULL, 0, "", "");
	direct(c, "files rm -r :d", NULL, 0, "", "d is deleted\n");
	assert_string_equal(asked, "DELETE /v1/files/d?recursive=true\n");
	direct(c, "files rm :nope", NULL, 3, "", "~sandmux: file.not_found: nope: ");
	direct(c, "files rm :../x", NULL, 7, "",
		"~sandmux: arg.path: the path ../x has a '..'");
	assert_string_equal(asked, "");
	direct(c, "files rm :f --read-only", NULL, 7, "", "~sandmux: op.read_only: delete f: ");
	assert_string_equal(asked, "");
}

/* ---- cp */

static void copies(void **state)
{
	struct cluster *c = *state;
	char *line, *text, *path = x_asprintf("%s/count", c->api.dir);
	size_t n;
	USE(files);
	direct(c, "cp :f -", NULL, 0, "0123456789", "");
	direct(c, "cp - :new", "hello", 0, "", "1 files, 5 B copied, 0 skipped, 0 failed\n");
	assert_string_equal(sent, "hello");
	direct(c, "cp -q - :new", "hello", 0, "", "");
	direct(c, "cp :nope -", NULL, 3, "", "~sandmux: file.not_found: nope: ");
	direct(c, "cp - :new -o json", "hello", 0,
		"~{\n\t\"files\":\t1,\n\t\"skipped\":\t0,\n\t\"failed\":\t0,\n"
		"\t\"bytes\":\t5,\n\t\"elapsedMs\":\t",
		"");
	line = x_asprintf("cp :f %s", path);
	direct(c, line, NULL, 0, "", "1 files, 10 B copied, 0 skipped, 0 failed\n");
	text = file_read(path, 100, &n, NULL);
	assert_string_equal(text, "0123456789");
	free(text);
	free(line);
	/* what to do with a target that is there */
	line = x_asprintf("cp --conflict skip :f %s", path);
	direct(c, line, NULL, 0, "", "~0 files, 0 B copied, 1 skipped, 0 failed\n");
	free(line);
	line = x_asprintf("cp --conflict fail :f %s", path);
	direct(c, line, NULL, 7, "", "~sandmux: file.exists: ");
	free(line);
	line = x_asprintf("cp --conflict rename -o json :f %s", path);
	direct(c, line, NULL, 0, "~\"files\":\t1,", "");
	free(line);
	line = x_asprintf("%s_(1)", path);
	for (char *p = line; *p; p++)
		*p = *p == '_' ? ' ' : *p;
	unlink(line);
	free(line);
	line = x_asprintf("cp --read-only %s :new", path);
	direct(c, line, NULL, 7, "", "~sandmux: op.read_only: ");
	free(line);
	unlink(path);
	free(path);
}

/* A daemon that never answers: the time is over, or somebody has enough. */
static void copies_that_are_ended(void **state)
{
	struct cluster *c = *state;
	struct program p = { 0 };
	USE(files);
	direct(c, "cp --timeout 300ms :slow -", NULL, 124, "",
		"~the copy took longer than --timeout gives it; unfinished files were removed");
	char *line = x_asprintf("--rest http://127.0.0.1:%u cp :slow -", (unsigned)rest.port);
	static const int signals[] = { SIGINT, SIGTERM };
	for (size_t i = 0; i < COUNT(signals); i++) {
		asked[0] = '\0';
		program_start(c, &p, line);
		API_UNTIL(&c->api, strstr(asked, "slow") != NULL, 9000);
		kill(p.pid, signals[i]);
		program_end(c, &p);
		assert_int_equal(p.status, 128 + signals[i]);
		assert_non_null(strstr(
			p.err.p, "the copy was cancelled; unfinished files were removed"));
		program_free(&p);
	}
	free(line);
}

/* ---- run, where the command's output comes at its end */

#define RESULT(code) "{\"stdout\":\"out\",\"stderr\":\"err\",\"exit_code\":" code "}"

static void commands(void **state)
{
	static const struct answer seven[] = { { "POST", "/execute", "200 OK", RESULT("7") },
		{ "GET", "/", "200 OK", "{\"status\":\"ok\"}" } };
	static const struct answer killed[] = { { "POST", "/execute", "200 OK", RESULT("-9") },
		{ "GET", "/", "200 OK", "{\"status\":\"ok\"}" } };
	static const struct answer missing[] = {
		{ "POST", "/execute", "200 OK",
			"{\"stdout\":\"\",\"stderr\":\"Failed to execute command: No such file\","
			"\"exit_code\":1}" },
		{ "GET", "/", "200 OK", "{\"status\":\"ok\"}" }
	};
	static const struct answer denied[] = {
		{ "POST", "/execute", "200 OK",
			"{\"stdout\":\"\",\"stderr\":\"Failed to execute command: Permission "
			"denied\",\"exit_code\":1}" },
		{ "GET", "/", "200 OK", "{\"status\":\"ok\"}" }
	};
	struct cluster *c = *state;
	USE(seven);
	direct(c, "--runtime legacy run -- echo a", NULL, 7, "out", "err");
	assert_non_null(strstr(sent, "echo"));
	direct(c, "--runtime legacy run -o json -- echo", NULL, 7,
		"~{\n\t\"stdout\":\t\"out\",\n\t\"stderr\":\t\"err\",\n\t\"exitCode\":\t7,\n"
		"\t\"duration\":\t",
		"");
	direct(c, "--runtime legacy run --cwd d -e K=V -- echo", NULL, 7, "out", "err");
	assert_non_null(strstr(sent, "K=V"));
	assert_non_null(strstr(sent, "cd -- "));
	USE(killed);
	direct(c, "--runtime legacy run -- echo", NULL, 137, "out", "err");
	direct(c, "--runtime legacy run -o json -- echo", NULL, 137, "~\"exitCode\":\tnull",
		"");
	USE(missing);
	direct(c, "--runtime legacy run -- echo", NULL, 127, "",
		"~sandmux: proc.command_not_found: ");
	USE(denied);
	direct(c, "--runtime legacy run -- echo", NULL, 126, "", "~sandmux: proc.denied: ");
	direct(c, "run -- echo", NULL, 125, "", "~sandmux: op.unsupported: ");
	direct(c, "--runtime legacy sh", NULL, 125, "", "~sandmux: op.unsupported: ");
	direct(c, "--runtime legacy run -t -- echo", NULL, 125, "",
		"~sandmux: op.unsupported: ");
}

int main(void)
{
	signal(SIGPIPE, SIG_IGN);
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(what_the_daemon_says, set_up, tear_down),
		cmocka_unit_test_setup_teardown(lists_of_files, set_up, tear_down),
		cmocka_unit_test_setup_teardown(bytes_and_facts, set_up, tear_down),
		cmocka_unit_test_setup_teardown(removed, set_up, tear_down),
		cmocka_unit_test_setup_teardown(copies, set_up, tear_down),
		cmocka_unit_test_setup_teardown(copies_that_are_ended, set_up, tear_down),
		cmocka_unit_test_setup_teardown(commands, set_up, tear_down),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
