// SPDX-License-Identifier: Apache-2.0
/* Calls: Status to codes, retries, credentials in every form. */
#include "api.h"

#include "engine/k8s/resource.h"
#include "engine/k8s/status.h"

#include <sys/stat.h>

struct test {
	struct api api;
	struct { /* answers in order; the last is repeated */
		int status;
		const char *body;
		const char *header, *value;
		bool cut;
	} script[8];
	size_t n_script, at;
	bool is_done;
	struct err err;
	cJSON *object;
	const char *wants_token; /* others get 401 */
	char user[128], groups[128], extra[128];
};

static void handle(
	struct api *api, struct evhttp_request *request, const struct api_request *is)
{
	struct test *t = api->test;
	struct evkeyvalq *in = evhttp_request_get_input_headers(request);
	const char *user = evhttp_find_header(in, "Impersonate-User");
	snprintf(t->user, sizeof t->user, "%s", user ? user : "");
	for (const struct evkeyval *h = in->tqh_first; h != NULL; h = h->next.tqe_next) {
		size_t n = strlen(t->groups);
		if (evutil_ascii_strcasecmp(h->key, "Impersonate-Group") == 0)
			snprintf(t->groups + n, sizeof t->groups - n, "%s;", h->value);
		if (evutil_ascii_strncasecmp(h->key, "Impersonate-Extra-", 18) == 0)
			snprintf(t->extra, sizeof t->extra, "%s=%s", h->key, h->value);
	}
	if (t->wants_token != NULL) {
		char *wanted = x_asprintf("Bearer %s", t->wants_token);
		bool ok = strcmp(wanted, is->authorization) == 0;
		free(wanted);
		if (!ok) {
			api_status(request, 401, "Unauthorized", "Unauthorized");
			return;
		}
	}
	size_t at = t->at < t->n_script ? t->at++ : t->n_script - 1;
	if (t->script[at].cut) {
		api_cut(request);
		return;
	}
	if (t->script[at].header)
		evhttp_add_header(evhttp_request_get_output_headers(request),
			t->script[at].header, t->script[at].value);
	api_reply(request, t->script[at].status, "%s", t->script[at].body);
}

static void on_done(void *arg, const struct err *err, const cJSON *object)
{
	struct test *t = arg;
	assert_false(t->is_done);
	t->is_done = true;
	err_copy(&t->err, err);
	if (err == NULL)
		t->err.code = ERR_NONE;
	t->object = cJSON_Duplicate(object, true);
}

static void call_with(struct test *t, struct kube_client *client, const char *method)
{
	struct err err = { 0 };
	char *path = kube_path(&k8s_pods, "demo", "p", NULL);
	const struct kube_call_opts opts = {
		.method = method,
		.path = path,
		.body = strcmp(method, "GET") == 0 ? (struct slice){ 0 }
						   : slice_of("{\"a\":1}"),
		.done = on_done,
		.arg = t,
	};
	t->is_done = false;
	cJSON_Delete(t->object);
	t->object = NULL;
	assert_non_null(kube_call_start(client, &opts, &err));
	free(path);
	assert_false(t->is_done);
	API_UNTIL(&t->api, t->is_done, 8000);
}

static void call(struct test *t, const char *method)
{
	call_with(t, t->api.client, method);
}

static struct test *begin(const char *user)
{
	struct test *t = x_calloc(1, sizeof *t);
	api_start(&t->api, user, handle, t);
	t->script[0].status = 200;
	t->script[0].body = "{\"kind\":\"Pod\"}";
	t->n_script = 1;
	return t;
}

static void end(struct test *t)
{
	cJSON_Delete(t->object);
	api_stop(&t->api);
	free(t);
}

static void status_codes(void **state)
{
	(void)state;
#define STATUS(code, reason, more)                                                             \
	"{\"kind\":\"Status\",\"reason\":\"" reason "\",\"message\":\"m " more                 \
	"\",\"code\":" code "}"
	static const struct {
		int status;
		const char *body;
		enum err_code is;
	} rows[] = {
		{ 400, STATUS("400", "BadRequest", ""), ERR_KUBE_BAD_REQUEST },
		{ 401, STATUS("401", "Unauthorized", ""), ERR_KUBE_UNAUTHORIZED },
		{ 403, STATUS("403", "Forbidden", "User cannot"), ERR_KUBE_FORBIDDEN },
		{ 403, STATUS("403", "Forbidden", "exceeded quota: q, requested: 1"),
			ERR_KUBE_QUOTA },
		{ 403,
			"{\"kind\":\"Status\",\"message\":\"m\",\"details\":{\"causes\":[{\"reason\":"
			"\"NamespaceTerminating\"}]}}",
			ERR_KUBE_NAMESPACE_TERMINATING },
		{ 404, STATUS("404", "NotFound", ""), ERR_KUBE_NOT_FOUND },
		{ 404, "404 page not found\n", ERR_KUBE_NOT_SERVED },
		{ 404, "{\"error\":\"proxy\"}", ERR_KUBE_NOT_SERVED },
		{ 405, STATUS("405", "MethodNotAllowed", ""), ERR_KUBE_BAD_REQUEST },
		{ 409, STATUS("409", "AlreadyExists", ""), ERR_KUBE_EXISTS },
		{ 409, STATUS("409", "Conflict", ""), ERR_KUBE_CONFLICT },
		{ 410, STATUS("410", "Expired", ""), ERR_KUBE_EXPIRED },
		{ 410, STATUS("410", "Gone", ""), ERR_KUBE_EXPIRED },
		{ 413, STATUS("413", "RequestEntityTooLarge", ""), ERR_KUBE_TOO_LARGE },
		{ 415, STATUS("415", "UnsupportedMediaType", ""), ERR_KUBE_BAD_REQUEST },
		{ 422, STATUS("422", "Invalid", ""), ERR_KUBE_INVALID },
		{ 429, STATUS("429", "TooManyRequests", ""), ERR_KUBE_THROTTLED },
		{ 500, STATUS("500", "InternalError", ""), ERR_KUBE_SERVER },
		{ 503, "upstream is down", ERR_KUBE_SERVER },
		{ 504, STATUS("504", "Timeout", ""), ERR_KUBE_SERVER },
		{ 302, "", ERR_KUBE_PROTOCOL },
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct err err = { 0 };
		cJSON *object = json_parse(slice_of(rows[i].body), NULL);
		assert_false(k8s_status_to_err(
			rows[i].status, object, slice_of(rows[i].body), &err));
		if (err.code != rows[i].is)
			fail_msg("%d %s: %s", rows[i].status, rows[i].body, err_name(&err));
		assert_int_equal(rows[i].status, err.sys);
		assert_true(err.msg[0] != '\0');
		cJSON_Delete(object);
	}
}

static void reads_are_repeated(void **state)
{
	(void)state;
	struct test *t = begin(NULL);
	t->script[0].cut = true;
	t->script[1].status = 503;
	t->script[1].body = "";
	t->script[2].status = 200;
	t->script[2].body = "{\"kind\":\"Pod\",\"x\":1}";
	t->n_script = 3;
	call(t, "GET");
	assert_int_equal(ERR_NONE, t->err.code);
	assert_int_equal(1, json_int(t->object, 0, "x", NULL));
	assert_int_equal(3, t->api.n);
	assert_string_equal("/api/v1/namespaces/demo/pods/p", t->api.log[0].path);
	/* but only twice */
	t->at = 1;
	t->n_script = 2;
	call(t, "GET");
	assert_int_equal(ERR_KUBE_SERVER, t->err.code);
	assert_int_equal(6, t->api.n);
	end(t);
}

static void writes_are_not_unless_the_server_did_not_look(void **state)
{
	(void)state;
	struct test *t = begin(NULL);
	t->script[0].status = 500;
	call(t, "POST");
	assert_int_equal(ERR_KUBE_SERVER, t->err.code);
	assert_int_equal(1, t->api.n);
	t->script[0].cut = true;
	t->at = 0;
	call(t, "POST");
	assert_int_equal(ERR_KUBE_TRANSPORT, t->err.code);
	assert_int_equal(2, t->api.n);
	t->at = 0;
	t->script[0].cut = false;
	t->script[0].status = 429;
	t->script[0].header = "Retry-After";
	t->script[0].value = "1";
	t->script[1].status = 201;
	t->script[1].body = "{}";
	t->n_script = 2;
	call(t, "POST");
	assert_int_equal(ERR_NONE, t->err.code);
	assert_true(t->api.log[3].at_ms - t->api.log[2].at_ms >= 980);
	assert_string_equal("{\"a\":1}", t->api.log[3].body);
	/* told to wait for minutes: the caller hears it at once */
	t->at = 0;
	t->script[0].value = "120";
	call(t, "POST");
	assert_int_equal(ERR_KUBE_THROTTLED, t->err.code);
	end(t);
}

static void what_is_not_json_is_a_protocol_error(void **state)
{
	(void)state;
	struct test *t = begin(NULL);
	t->script[0].body = "<html>login</html>";
	call(t, "GET");
	assert_int_equal(ERR_KUBE_PROTOCOL, t->err.code);
	end(t);
}

static void read_only_refuses_writes_but_not_questions(void **state)
{
	(void)state;
	struct test *t = begin(NULL);
	struct err err = { 0 };
	const struct kube_client_opts client_opts = { .config = t->api.config,
		.read_only = true };
	struct kube_client *client =
		kube_client_new(t->api.loop, t->api.http, &client_opts, &err);
	struct kube_call_opts opts = {
		.method = "DELETE", .path = "/api/v1/x", .done = on_done, .arg = t
	};
	assert_null(kube_call_start(client, &opts, &err));
	assert_int_equal(ERR_OP_READ_ONLY, err.code);
	opts.method = "POST";
	opts.path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
	struct kube_call *call = kube_call_start(client, &opts, &err);
	assert_non_null(call);
	kube_call_cancel(call);
	kube_client_free(client);
	API_FOR(&t->api, 50);
	assert_int_equal(0, t->api.n);
	end(t);
}

static void clock_skew_comes_from_date(void **state)
{
	(void)state;
	struct test *t = begin(NULL);
	assert_int_equal(0, kube_client_clock_skew_ms(t->api.client));
	t->script[0].header = "Date";
	t->script[0].value = "Fri, 02 Jan 2026 03:04:05 GMT";
	call(t, "GET");
	int64_t is = kube_client_clock_skew_ms(t->api.client) + clock_wall_ms();
	assert_true(is > (int64_t)1767323045 * 1000 - 5000 &&
		    is < (int64_t)1767323045 * 1000 + 5000);
	end(t);
}

static void basic_and_impersonation(void **state)
{
	(void)state;
	struct test *t = begin("    username: joe\n    password: 'p:w'\n    as: eve\n"
			       "    as-groups: [a, b]\n    as-user-extra: {Ke/y: [v]}");
	call(t, "GET");
	assert_string_equal("Basic am9lOnA6dw==", t->api.log[0].authorization);
	assert_string_equal("eve", t->user);
	assert_string_equal("a;b;", t->groups);
	assert_string_equal("Impersonate-Extra-ke%2Fy=v", t->extra);
	end(t);
}

static void a_rotated_token_file_is_read_on_401(void **state)
{
	(void)state;
	struct test *t = begin("    tokenFile: token");
	api_write(&t->api, "token", "one\n");
	t->wants_token = "one";
	call(t, "GET");
	assert_int_equal(ERR_NONE, t->err.code);
	api_write(&t->api, "token", "two");
	t->wants_token = "two";
	call(t, "GET");
	assert_int_equal(ERR_NONE, t->err.code);
	assert_int_equal(3, t->api.n);
	/* the same token again: no second try */
	t->wants_token = "three";
	call(t, "GET");
	assert_int_equal(ERR_KUBE_UNAUTHORIZED, t->err.code);
	assert_int_equal(4, t->api.n);
	end(t);
}

#define EXEC                                                                                   \
	"    exec:\n      apiVersion: client.authentication.k8s.io/v1\n"                       \
	"      command: ./plugin\n      args: [x]\n      env: [{name: PLUG, value: 'yes'}]\n"  \
	"      interactiveMode: Never"

static void write_plugin(struct test *t, const char *body)
{
	char *text = x_asprintf("#!/bin/sh\ncd %s\necho run >> count\n%s\n", t->api.dir, body);
	api_write(&t->api, "plugin", text);
	free(text);
	char *path = x_asprintf("%s/plugin", t->api.dir);
	chmod(path, 0700);
	free(path);
}

static int runs(struct test *t)
{
	char *path = x_asprintf("%s/count", t->api.dir);
	size_t n = 0;
	char *text = file_read(path, 4096, &n, NULL);
	free(path);
	free(text);
	return (int)(n / 4);
}

#define ANSWER(token)                                                                              \
	"printf '{\"kind\":\"ExecCredential\",\"apiVersion\":\"client.authentication.k8s.io/v1\"," \
	"\"status\":{\"token\":\"" token "\"}}'"

static void a_plugin_is_run_once_and_again_on_401(void **state)
{
	(void)state;
	struct test *t = begin(EXEC);
	/* the environment, and the first token is stale */
	write_plugin(t,
		"test \"$PLUG\" = yes || exit 3\n"
		"case $KUBERNETES_EXEC_INFO in *'\"interactive\":false'*) ;; *) exit 4;; "
		"esac\necho noise >&2\nif test $(wc -l < count) = 1; then\n" ANSWER(
			"stale") "\nelse\n" ANSWER("fresh") "\nfi");
	t->wants_token = "stale";
	call(t, "GET");
	assert_int_equal(ERR_NONE, t->err.code);
	call(t, "GET");
	assert_int_equal(1, runs(t));
	t->wants_token = "fresh";
	call(t, "GET");
	assert_int_equal(ERR_NONE, t->err.code);
	assert_int_equal(2, runs(t));
	assert_string_equal("Bearer fresh", t->api.log[t->api.n - 1].authorization);
	end(t);
}

static void plugin_failures_say_why_and_nothing_else(void **state)
{
	(void)state;
	static const struct {
		const char *body, *says;
	} rows[] = {
		{ "echo s3cret; echo s3cret >&2; exit 7", "failed with status 7" },
		{ "kill -9 $$", "signal 9" },
		{ "echo s3cret", "not JSON" },
		{ "echo '{\"kind\":\"Pod\"}'", "not an ExecCredential" },
		{ "echo '{\"kind\":\"ExecCredential\",\"apiVersion\":"
		  "\"client.authentication.k8s.io/v1beta1\"}'",
			"another apiVersion" },
		{ "echo '{\"kind\":\"ExecCredential\",\"apiVersion\":"
		  "\"client.authentication.k8s.io/v1\",\"status\":{}}'",
			"neither a token nor a certificate" },
		{ "echo '{\"kind\":\"ExecCredential\",\"apiVersion\":"
		  "\"client.authentication.k8s.io/v1\",\"status\":{\"token\":\"a\\nb\"}}'",
			"a header cannot carry" },
		{ "echo '{\"kind\":\"ExecCredential\",\"apiVersion\":"
		  "\"client.authentication.k8s.io/v1\",\"status\":{\"token\":\"s3cret\","
		  "\"expirationTimestamp\":\"2001-01-01T00:00:00Z\"}}'",
			"expired" },
		{ "head -c 2000000 /dev/zero", "more than 1 MiB" },
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct test *t = begin(EXEC);
		write_plugin(t, rows[i].body);
		call(t, "GET");
		if (t->err.code != ERR_CONFIG_EXEC_PLUGIN ||
			strstr(t->err.msg, rows[i].says) == NULL)
			fail_msg("wanted '%s': %s: %s", rows[i].says, err_name(&t->err),
				t->err.msg);
		assert_null(strstr(t->err.msg, "s3cret"));
		assert_int_equal(0, t->api.n);
		end(t);
	}
}

static void a_missing_plugin_shows_its_hint(void **state)
{
	(void)state;
	struct test *t = begin(EXEC "\n      installHint: \"get it \\e[31m here\"");
	call(t, "GET");
	assert_int_equal(ERR_CONFIG_EXEC_PLUGIN, t->err.code);
	assert_non_null(strstr(t->err.msg, "no such program; get it "));
	assert_null(strchr(t->err.msg, '\x1b'));
	end(t);
}

static void freeing_the_client_ends_a_running_plugin(void **state)
{
	(void)state;
	struct test *t = begin(EXEC);
	write_plugin(t, "exec sleep 30");
	struct err err = { 0 };
	const struct kube_call_opts opts = {
		.method = "GET", .path = "/api", .done = on_done, .arg = t
	};
	assert_non_null(kube_call_start(t->api.client, &opts, &err));
	API_UNTIL(&t->api, runs(t) == 1, 3000);
	int64_t before = clock_mono_ms();
	end(t);
	assert_true(clock_mono_ms() - before < 3000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(status_codes),
		cmocka_unit_test(reads_are_repeated),
		cmocka_unit_test(writes_are_not_unless_the_server_did_not_look),
		cmocka_unit_test(what_is_not_json_is_a_protocol_error),
		cmocka_unit_test(read_only_refuses_writes_but_not_questions),
		cmocka_unit_test(clock_skew_comes_from_date),
		cmocka_unit_test(basic_and_impersonation),
		cmocka_unit_test(a_rotated_token_file_is_read_on_401),
		cmocka_unit_test(a_plugin_is_run_once_and_again_on_401),
		cmocka_unit_test(plugin_failures_say_why_and_nothing_else),
		cmocka_unit_test(a_missing_plugin_shows_its_hint),
		cmocka_unit_test(freeing_the_client_ends_a_running_plugin),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
