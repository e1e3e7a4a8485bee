// SPDX-License-Identifier: Apache-2.0
/* What an engine is opened with, and the questions of probe and doctor. */
#include "engine/base/file.h"
#include "engine/base/log.h"
#include "engine/base/settings.h"
#include "tests/unit/engine/cluster.h"

static void names_of_modes(void **state)
{
	enum connect_mode mode;
	(void)state;
	for (int i = CONNECT_PORT_FORWARD; i < CONNECT_MODE_COUNT; i++) {
		assert_true(connect_mode_parse(connect_mode_name((enum connect_mode)i), &mode));
		assert_int_equal(mode, i);
	}
	assert_false(connect_mode_parse("default", &mode)); /* not a choice */
	assert_false(connect_mode_parse("", &mode));
}

static void tokens(void **state)
{
	static const struct {
		const char *text, *token; /* NULL: refused */
	} rows[] = { { "abc", "abc" }, { "abc\n", "abc" }, { "abc \t\r\n\n", "abc" },
		{ "", NULL }, { "\n", NULL }, { "a b", NULL }, { " a", NULL },
		{ "a\x7f", NULL }, { "~!", "~!" }, { "\xc3\xbc", NULL }, { "a\nb", NULL } };
	struct cluster *c = *state;
	char *path = x_asprintf("%s/token", c->api.dir);
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct err err = { 0 };
		api_write(&c->api, "token", rows[i].text);
		char *token = connect_read_token(path, "daemon", &err);
		if ((token == NULL) != (rows[i].token == NULL) ||
			(token != NULL && strcmp(token, rows[i].token) != 0))
			fail_msg("row %zu", i);
		if (token == NULL)
			assert_non_null(strstr(err.msg, "the daemon token in "));
		free(token);
	}
	struct err err = { 0 };
	assert_null(connect_read_token("/nonexistent/token", "router", &err));
	assert_non_null(strstr(err.msg, "router token"));
	free(path);
}

static void direct_addresses(void **state)
{
	static const struct {
		const char *rest, *grpc, *words; /* NULL: taken */
	} rows[] = {
		{ "http://127.0.0.1:1", NULL, NULL },
		{ "http://127.0.0.1:1///", NULL, NULL },
		{ "https://x", NULL, NULL },
		{ "ftp://x", NULL, "is not an http://" },
		{ "127.0.0.1:1", NULL, "is not an http://" },
		{ NULL, "127.0.0.1:1", NULL },
		{ NULL, "[::1]:65535", NULL },
		{ NULL, "x:65536", "is not HOST:PORT" },
		{ NULL, "x:0", "is not HOST:PORT" },
		{ NULL, "x:", "is not HOST:PORT" },
		{ NULL, ":1", "is not HOST:PORT" },
		{ NULL, "x", "is not HOST:PORT" },
		{ NULL, "x:1a", "is not HOST:PORT" },
	};
	struct cluster *c = *state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct err err = { 0 };
		struct engine_opts opts = { .connect.rest_url = rows[i].rest,
			.connect.grpc_address = rows[i].grpc };
		struct engine *engine = engine_new(c->api.loop, &opts, &err);
		if ((engine == NULL) != (rows[i].words != NULL))
			fail_msg("row %zu: %s", i, engine ? "taken" : err.msg);
		if (engine == NULL && strstr(err.msg, rows[i].words) == NULL)
			fail_msg("row %zu: %s", i, err.msg);
		if (engine != NULL) {
			assert_int_equal(engine_connect_mode(engine), CONNECT_DIRECT);
			assert_null(engine_fleet(engine));
			assert_string_equal(engine_namespace(engine), "");
			assert_non_null(engine_runtime(engine, NULL, &err));
			const char *title = engine_context(engine);
			assert_true(title[strlen(title) - 1] != '/');
			assert_false(engine_watch_namespace(engine, "x", &err));
			assert_int_equal(err.code, ERR_OP_UNSUPPORTED);
		}
		engine_free(engine);
	}
}

static void another_namespace(void **state)
{
	struct cluster *c = *state;
	struct err err = { 0 };
	cluster_add(c, "sandboxclaims", CLUSTER_CLAIM("a"));
	cluster_open(c, (struct engine_opts){ .connect.mode = CONNECT_IN_CLUSTER_POD_IP });
	assert_string_equal(engine_namespace(c->engine), "demo");
	assert_false(engine_is_read_only(c->engine));
	assert_false(engine_is_local(c->engine));
	cluster_sync(c);
	struct fleet *fleet = engine_fleet(c->engine);
	assert_true(engine_watch_namespace(c->engine, "demo", &err));
	assert_ptr_equal(engine_fleet(c->engine), fleet);
	size_t before = c->api.n;
	assert_true(engine_watch_namespace(c->engine, "other", &err));
	assert_string_equal(engine_namespace(c->engine), "other");
	API_UNTIL(&c->api, c->api.n > before, 5000);
	assert_non_null(strstr(c->api.log[before].path, "/namespaces/other/"));
	cluster_sync(c);
}

/* --- probe --- */

static int n_probed;
static struct err probe_err;
static char probe_reason[40];

static void on_probe(void *arg, const struct err *err, const char *reason)
{
	(void)arg;
	n_probed++;
	err_copy(&probe_err, err);
	snprintf(probe_reason, sizeof probe_reason, "%s", reason);
}

#define STATUS(reason, code)                                                                   \
	"{'kind':'Status','status':'Failure','message':'m','reason':'" reason                  \
	"','code':" #code "}"
#define RUNS_UNDER(class) "{'spec':{'podTemplate':{'spec':{'runtimeClassName':'" class "'}}}}"

static void probes(void **state)
{
	static const struct {
		int code;
		const char *body, *reason;
		enum err_code err;
		enum connect_mode mode;
	} rows[] = {
		{ 200, "{'spec':{}}", "healthy", ERR_NONE, CONNECT_PORT_FORWARD },
		{ 200, RUNS_UNDER("runc"), "healthy", ERR_NONE, CONNECT_PORT_FORWARD },
		{ 200, RUNS_UNDER("gvisor"), "backend", ERR_PORTFWD_RUNTIME,
			CONNECT_PORT_FORWARD },
		{ 200, RUNS_UNDER("gvisor"), "healthy", ERR_NONE, CONNECT_IN_CLUSTER_POD_IP },
		{ 401, STATUS("Unauthorized", 401), "auth", ERR_KUBE_UNAUTHORIZED,
			CONNECT_PORT_FORWARD },
		{ 403, STATUS("Forbidden", 403), "auth", ERR_KUBE_FORBIDDEN,
			CONNECT_PORT_FORWARD },
		{ 404, STATUS("NotFound", 404), "not-served", ERR_TEMPLATE_NOT_FOUND,
			CONNECT_PORT_FORWARD },
		{ 400, STATUS("BadRequest", 400), "backend", ERR_KUBE_BAD_REQUEST,
			CONNECT_PORT_FORWARD },
	};
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct cluster *c = *state;
		struct err err = { 0 };
		n_probed = 0;
		probe_err = (struct err){ 0 };
		cluster_can(c, "/sandboxtemplates/t", rows[i].code, "%s", rows[i].body);
		cluster_open(c,
			(struct engine_opts){ .connect.mode = rows[i].mode, .no_fleet = true });
		assert_non_null(engine_probe_start(c->engine, "t", on_probe, c, &err));
		API_UNTIL(&c->api, n_probed, 9000);
		if (strcmp(probe_reason, rows[i].reason) != 0 || probe_err.code != rows[i].err)
			fail_msg("row %zu: %s %s", i, probe_reason, probe_err.msg);
		cluster_tear_down(state);
		cluster_set_up(state);
	}
	struct cluster *c = *state;
	struct err err = { 0 };
	n_probed = 0;
	cluster_open(c,
		(struct engine_opts){ .connect.mode = CONNECT_PORT_FORWARD, .no_fleet = true });
	connect_probe_cancel(engine_probe_start(c->engine, "t", on_probe, c, &err));
	assert_non_null(engine_probe_start(c->engine, NULL, on_probe, c, &err));
	API_UNTIL(&c->api, n_probed, 5000);
	assert_string_equal(probe_reason, "healthy");
	assert_string_equal(c->api.log[c->api.n - 1].query, "limit=1");
	assert_int_equal(n_probed, 1);
}

/* --- doctor --- */

static struct str findings; /* "LEVEL check: found\n" */
static int n_doctored;

static void on_finding(void *arg, const struct engine_finding *finding)
{
	static const char levels[] = "+!x-";
	(void)arg;
	str_addf(&findings, "%c %s: %s%s\n", levels[finding->level], finding->check,
		finding->found, finding->fix[0] ? " > " : "");
}

static void on_doctored(void *arg)
{
	(void)arg;
	n_doctored++;
}

static void doctor(struct cluster *c)
{
	struct err err = { 0 };
	n_doctored = 0;
	str_clear(&findings);
	cluster_open(c, (struct engine_opts){
				.connect.mode = CONNECT_IN_CLUSTER_POD_IP, .no_fleet = true });
	assert_non_null(engine_doctor_start(c->engine, on_finding, on_doctored, c, &err));
	API_UNTIL(&c->api, n_doctored, 20000);
}

static void expect_finding(const char *line)
{
	if (strstr(findings.p, line) == NULL)
		fail_msg("no '%s' in\n%s", line, findings.p);
}

static int set_up(void **state)
{
	str_init(&findings, 1 << 20);
	return cluster_set_up(state);
}

static int tear_down(void **state)
{
	str_deinit(&findings);
	return cluster_tear_down(state);
}

static void add_server(struct cluster *c)
{
	cluster_can(c, "/version", 200, "{'gitVersion':'v1.99.0'}");
	cluster_can(c, "/apis/agents.x-k8s.io", 200, "{'versions':[{'version':'v1beta1'}]}");
	cluster_can(c, "/apis/extensions.agents.x-k8s.io", 200,
		"{'versions':[{'version':'v1alpha1'},{'version':'v1beta1'}]}");
}

static void doctor_of_a_sound_cluster(void **state)
{
	struct cluster *c = *state;
	add_server(c);
	doctor(c);
	expect_finding("+ API server: v1.99.0\n");
	expect_finding("+ TLS: the certificate is trusted, and its name fits\n");
	expect_finding("+ extensions.agents.x-k8s.io: v1alpha1, v1beta1\n");
	expect_finding("+ agents.x-k8s.io: v1beta1\n");
	expect_finding("+ right to create sandboxclaims: yes\n");
	expect_finding("+ right to create pods/portforward: yes\n");
	expect_finding(
		"- route to a sandbox by in-cluster-pod-ip: there is no Ready sandbox to try\n");
	assert_int_equal(c->reviews, (int)access_n_rights);
}

static void doctor_of_a_sick_cluster(void **state)
{
	struct cluster *c = *state;
	add_server(c);
	cluster_can(c, "/apis/agents.x-k8s.io", 200, "{'versions':[{'version':'v1alpha1'}]}");
	cluster_can(c, "/apis/extensions.agents.x-k8s.io", 404, STATUS("NotFound", 404));
	cluster_refuse(c, "create sandboxclaims");
	cluster_add(c, "sandboxclaims", CLUSTER_CLAIM("a"));
	cluster_add(c, "sandboxes", CLUSTER_SANDBOX("a", "", "'127.0.0.9'", "True"));
	cluster_add(c, "pods", CLUSTER_POD("a", "pod-1", "", "127.0.0.9"));
	struct err err = { 0 };
	assert_true(setting_set("connect-timeout", "1s", &err)); /* which is waited out */
	doctor(c);
	assert_true(setting_set("connect-timeout", "30s", &err));
	expect_finding("x agents.x-k8s.io: v1alpha1 > \n");
	expect_finding("x extensions.agents.x-k8s.io: ");
	expect_finding("! right to create sandboxclaims: no > \n");
	expect_finding("+ right to delete sandboxclaims: yes\n");
	expect_finding(
		"x route to a sandbox by in-cluster-pod-ip: "); /* nobody listens there */
	expect_finding("- also by port-forward: not from here: ");
	expect_finding("- also by in-cluster-service: not from here: ");
	assert_null(strstr(findings.p, "also by in-cluster-pod-ip"));
}

static void doctor_without_a_server(void **state)
{
	struct cluster *c = *state;
	cluster_can(c, "/version", 401, STATUS("Unauthorized", 401));
	doctor(c);
	expect_finding("x API server: ");
	assert_null(strstr(findings.p, "agents.x-k8s.io"));
}

static void doctor_where_the_version_is_refused(void **state)
{
	struct cluster *c = *state;
	add_server(c);
	cluster_can(c, "/version", 403, STATUS("Forbidden", 403));
	doctor(c);
	expect_finding("x API server: ");
	expect_finding("+ agents.x-k8s.io: v1beta1\n");
}

static void doctor_of_the_limits(void **state)
{
	struct cluster *c = *state;
	add_server(c);
	cluster_can(c, "/api/v1/namespaces/default", 200,
		"{'metadata':{'annotations':{'sandmux.local/limits':'[{\\'what\\':\\'memory\\',"
		"\\'how\\':\\'cgroup\\'},{\\'what\\':\\'cpu\\',\\'how\\':\\'watched\\'},"
		"{\\'what\\':\\'disk\\',\\'how\\':\\'watched\\',\\'why\\':\\'w\\'},"
		"{\\'what\\':\\'processes\\',\\'how\\':\\'none\\',\\'why\\':\\'no cgroup\\'}]'}}}");
	struct err err = { 0 };
	n_doctored = 0;
	cluster_open(c, (struct engine_opts){
				.connect.mode = CONNECT_IN_CLUSTER_POD_IP, .no_fleet = true });
	c->engine->is_local = true;
	assert_non_null(engine_doctor_start(c->engine, on_finding, on_doctored, c, &err));
	API_UNTIL(&c->api, n_doctored, 20000);
	expect_finding("+ limit of memory: cgroup\n");
	expect_finding("! limit of cpu: watched, the kernel does not hold it > \n");
	expect_finding("+ limit of disk: watched: w\n");
	expect_finding("! limit of processes: nothing holds it: no cgroup > \n");
}

static void a_doctor_can_be_sent_away(void **state)
{
	struct cluster *c = *state;
	struct err err = { 0 };
	add_server(c);
	cluster_open(c, (struct engine_opts){
				.connect.mode = CONNECT_IN_CLUSTER_POD_IP, .no_fleet = true });
	n_doctored = 0;
	struct engine_doctor *is =
		engine_doctor_start(c->engine, on_finding, on_doctored, c, &err);
	API_UNTIL(&c->api, findings.n > 0, 5000);
	engine_doctor_cancel(is);
	API_FOR(&c->api, 100);
	assert_int_equal(n_doctored, 0);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

/* Spans and the log, for whoever collects them; what was said before there was an engine too. */
static void telemetry_goes_to_a_file(void **state)
{
	struct cluster *c = *state;
	struct err err = { 0 };
	char *path = x_asprintf("%s/telemetry", c->api.dir);
	struct engine_opts opts = { .connect.rest_url = "http://127.0.0.1:1",
		.telemetry_file = path };
	LOG("early", LOG_ERROR, "before the door");
	struct engine *engine = engine_new(c->api.loop, &opts, &err);
	assert_non_null(engine);
	telemetry_span_end(telemetry_span_start(engine_telemetry(engine), "x", NULL), NULL);
	engine_free(engine);
	char *text = file_read(path, 1 << 16, NULL, &err);
	assert_non_null(strstr(text, "{\"stringValue\":\"before the door\"}"));
	assert_non_null(strstr(text, "\"name\":\"sandmux.x\""));
	free(text);
	unlink(path);
	free(path);
	opts.telemetry_file = "/nonexistent/x";
	assert_null(engine_new(c->api.loop, &opts, &err));
	assert_int_equal(err.code, ERR_FILE_NOT_FOUND);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_of_modes),
		TEST(tokens),
		TEST(direct_addresses),
		TEST(another_namespace),
		TEST(telemetry_goes_to_a_file),
		TEST(probes),
		TEST(doctor_of_a_sound_cluster),
		TEST(doctor_of_a_sick_cluster),
		TEST(doctor_without_a_server),
		TEST(doctor_where_the_version_is_refused),
		TEST(doctor_of_the_limits),
		TEST(a_doctor_can_be_sent_away),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
