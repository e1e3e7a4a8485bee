// SPDX-License-Identifier: Apache-2.0
/* Each field of a user, each option over it, and the service account of a pod: what is taken, and what is wrong in which words. */
#include "tests/unit/unit.h"

#include "engine/base/err.h"
#include "engine/base/file.h"
#include "engine/base/json.h"
#include "engine/base/mem.h"
#include "engine/base/str.h"
#include "engine/kube/config.h"
#include "engine/kube/config_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define COUNT(a) (sizeof(a) / sizeof(a)[0])

static char dir[64], *file;

static void put(const char *name, const char *text)
{
	char *path = x_asprintf("%s/%s", dir, name);
	assert_true(file_write_atomic(path, slice_of(text), 0600, NULL));
	free(path);
}

static int set_up(void **state)
{
	static const char *const clean[] = { "KUBECONFIG", "HTTPS_PROXY", "https_proxy",
		"HTTP_PROXY", "http_proxy", "KUBERNETES_SERVICE_HOST",
		"KUBERNETES_SERVICE_PORT", "POD_NAMESPACE", "SANDMUX_SERVICE_ACCOUNT_DIR" };
	(void)state;
	for (size_t i = 0; i < COUNT(clean); i++)
		unsetenv(clean[i]);
	snprintf(dir, sizeof dir, "/tmp/sandmux-fields-XXXXXX");
	assert_non_null(mkdtemp(dir));
	file = x_asprintf("%s/config", dir);
	return 0;
}

static int tear_down(void **state)
{
	static const char *const made[] = { "config", "token", "ca.crt", "namespace" };
	(void)state;
	for (size_t i = 0; i < COUNT(made); i++) {
		char *path = x_asprintf("%s/%s", dir, made[i]);
		unlink(path);
		free(path);
	}
	rmdir(dir);
	free(file);
	return 0;
}

/* A file with this user and these fields of the cluster. */
static struct kube_config *load_with(
	const char *user, const char *cluster, struct kube_config_opts opts, struct err *err)
{
	char *text = x_asprintf("clusters:\n- name: c\n  cluster: {server: 'https://s'%s}\n"
				"users:\n- name: u\n  user: {%s}\n"
				"contexts:\n- name: x\n  context: {cluster: c, user: u}\n"
				"current-context: x\n",
		cluster, user);
	put("config", text);
	free(text);
	*err = (struct err){ 0 };
	opts.kubeconfig = file;
	return kube_config_load(&opts, err);
}

static struct kube_config *load(const char *user)
{
	struct err err;
	struct kube_config *config = load_with(user, "", (struct kube_config_opts){ 0 }, &err);
	if (config == NULL)
		fail_msg("%s: %s", user, err.msg);
	return config;
}

#define EXEC(more)                                                                             \
	"exec: {apiVersion: client.authentication.k8s.io/v1, command: p, interactiveMode: "    \
	"Never" more "}"

static const char *const wrong_users[][2] = {
	{ "token: \"a b\"", "token: must be printable ASCII without spaces" },
	{ "token: \"a\\x7f\"", "token: contains control characters" },
	{ "token: \"\u00fc\"", "token: must be printable ASCII without spaces" },
	{ "token: [a]", "token: " },
	{ "tokenFile: [a]", "tokenFile: " },
	{ "username: \"a:b\"", "username: must not contain ':'" },
	{ "username: \"a\\nb\"", "username: contains control characters" },
	{ "username: {}", "username: " },
	{ "username: a, password: \"a\\nb\"", "password: contains control characters" },
	{ "client-certificate-data: AAAA",
		"client-key: is missing: certificate and key belong together" },
	{ "client-key-data: AAAA",
		"client-certificate: is missing: certificate and key belong together" },
	{ "client-certificate: /nonexistent/x", "client-certificate" },
	{ "auth-provider: {}",
		"auth-provider: was removed from Kubernetes clients in 1.26: use an exec plugin" },
	{ "as-uid: '7'", "as: is missing: groups, uid and extra need a user to impersonate" },
	{ "as-groups: [g]",
		"as: is missing: groups, uid and extra need a user to impersonate" },
	{ "as-user-extra: {k: [v]}",
		"as: is missing: groups, uid and extra need a user to impersonate" },
	{ "as: [a]", "as: " },
	{ "as: a, as-uid: [a]", "as-uid: " },
	{ "as: a, as-groups: [1]", "as-groups: must be a list of text" },
	{ "as: a, as-groups: [\"a\\nb\"]", "as-groups: must be a list of text" },
	{ "as: a, as-user-extra: {k: v}", "as-user-extra: must map names to lists of text" },
	{ "as: a, as-user-extra: {\"\": [v]}",
		"as-user-extra: must map names to lists of text" },
	{ "as: a, as-user-extra: {k: [1]}", "as-user-extra: needs text for name and value" },
	{ "as: a, as-user-extra: {k: [\"a\\nb\"]}",
		"as-user-extra: needs text for name and value" },
	{ "exec: x", "exec: must be a mapping" },
	{ "exec: {command: p}",
		"exec.apiVersion: must be client.authentication.k8s.io/v1 or …/v1beta1" },
	{ "exec: {apiVersion: client.authentication.k8s.io/v1alpha1, command: p}",
		"exec.apiVersion: must be client.authentication.k8s.io/v1 or …/v1beta1" },
	{ "exec: {apiVersion: [1], command: p}", "apiVersion: " },
	{ "exec: {apiVersion: client.authentication.k8s.io/v1}", "exec.command: is missing" },
	{ "exec: {apiVersion: client.authentication.k8s.io/v1, command: [p]}", "command: " },
	{ "exec: {apiVersion: client.authentication.k8s.io/v1, command: p}",
		"exec.interactiveMode: is required with client.authentication.k8s.io/v1: Never, "
		"IfAvailable or Always" },
	{ "exec: {apiVersion: client.authentication.k8s.io/v1, command: p, interactiveMode: Yes}",
		"exec.interactiveMode: must be Never, IfAvailable or Always" },
	{ "exec: {apiVersion: client.authentication.k8s.io/v1, command: p, interactiveMode: [x]}",
		"interactiveMode: " },
	{ EXEC(", installHint: [x]"), "installHint: " },
	{ EXEC(", args: [1]"),
		"exec.args: must be a list of text (numbers must stand in quotes)" },
	{ EXEC(", env: [{name: A}]"), "exec.env: needs text for name and value" },
	{ EXEC(", env: [{value: A}]"), "exec.env: needs text for name and value" },
	{ EXEC(", env: [{name: \"\", value: A}]"), "exec.env: needs text for name and value" },
	{ EXEC(", env: [{name: A=B, value: A}]"), "exec.env: needs text for name and value" },
};

static void what_is_wrong_with_a_user(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(wrong_users); i++) {
		struct err err;
		struct kube_config *config =
			load_with(wrong_users[i][0], "", (struct kube_config_opts){ 0 }, &err);
		if (config != NULL || err.code != ERR_CONFIG_KUBECONFIG ||
			strstr(err.msg, wrong_users[i][1]) == NULL)
			fail_msg("%s: %s", wrong_users[i][0], config ? "taken" : err.msg);
		assert_non_null(strstr(err.msg, file)); /* where it stands */
	}
}

static void what_is_taken_of_a_user(void **state)
{
	(void)state;
	struct kube_config *config = load("username: u, password: \"a:b c\", token: t~!");
	assert_string_equal(config->credentials.username, "u");
	assert_string_equal(config->credentials.password, "a:b c");
	assert_string_equal(config->credentials.token, "t~!");
	assert_null(config->credentials.exec);
	kube_config_unref(config);
	config = load(
		"as: a, as-uid: '7', as-groups: [g, h], as-user-extra: {k: [v, w], l: [x]}");
	const struct kube_credentials *c = &config->credentials;
	assert_string_equal(c->as_uid, "7");
	assert_int_equal(c->n_as_groups, 2);
	assert_string_equal(c->as_groups[1], "h");
	assert_int_equal(c->n_as_extra, 3);
	assert_string_equal(c->as_extra[1].key, "k");
	assert_string_equal(c->as_extra[1].value, "w");
	assert_string_equal(c->as_extra[2].key, "l");
	kube_config_unref(config);
	config = load("exec: null");
	assert_null(config->credentials.exec);
	kube_config_unref(config);
	config = load(
		"exec: {apiVersion: client.authentication.k8s.io/v1beta1, command: p, args: "
		"[a, b], installHint: h}");
	const struct kube_exec_spec *exec = config->credentials.exec;
	assert_int_equal(exec->interactive, KUBE_INTERACTIVE_IF_AVAILABLE);
	assert_string_equal(exec->command, "p"); /* from PATH */
	assert_string_equal(exec->install_hint, "h");
	assert_string_equal(exec->args[0], "a");
	assert_string_equal(exec->args[1], "b");
	assert_null(exec->args[2]);
	assert_null(exec->cluster_info);
	kube_config_unref(config);
	static const struct {
		const char *mode;
		enum kube_interactive is;
	} modes[] = { { "Never", KUBE_INTERACTIVE_NEVER },
		{ "Always", KUBE_INTERACTIVE_ALWAYS },
		{ "IfAvailable", KUBE_INTERACTIVE_IF_AVAILABLE } };
	for (size_t i = 0; i < COUNT(modes); i++) {
		char *user = x_asprintf("exec: {apiVersion: client.authentication.k8s.io/v1, "
					"command: p, interactiveMode: %s}",
			modes[i].mode);
		config = load(user);
		assert_int_equal(config->credentials.exec->interactive, modes[i].is);
		kube_config_unref(config);
		free(user);
	}
}

/* spec.cluster, as client.authentication.k8s.io/v1 has it. */
static void what_a_plugin_is_told_of_the_cluster(void **state)
{
	static const char *const rows[][2] = {
		{ "", "{\"server\":\"https://s\"}" },
		{ ", tls-server-name: n, proxy-url: 'http://p', disable-compression: true",
			"{\"server\":\"https://s\",\"tls-server-name\":\"n\",\"proxy-url\":\"http://p\","
			"\"disable-compression\":true}" },
		{ ", insecure-skip-tls-verify: true",
			"{\"server\":\"https://s\",\"insecure-skip-tls-verify\":true}" },
		{ ", extensions: [{name: other, extension: 1}, {name: "
		  "client.authentication.k8s.io/exec, extension: {a: b}}]",
			"{\"server\":\"https://s\",\"config\":{\"a\":\"b\"}}" },
	};
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct err err;
		struct kube_config *config = load_with(EXEC(", provideClusterInfo: true"),
			rows[i][0], (struct kube_config_opts){ 0 }, &err);
		if (config == NULL)
			fail_msg("%s", err.msg);
		assert_string_equal(config->credentials.exec->cluster_info, rows[i][1]);
		kube_config_unref(config);
	}
}

/* ---- the command line */

static void options_beat_the_file(void **state)
{
	static const char *const groups[] = { "g", "h", NULL };
	const struct kube_config_opts opts = { .server = "http://other:1/",
		.namespace_ = "n",
		.token = "t",
		.as = "a",
		.as_groups = groups,
		.request_timeout_ms = 77 };
	struct err err;
	(void)state;
	struct kube_config *config =
		load_with("tokenFile: f, as: b, as-groups: [x]", "", opts, &err);
	if (config == NULL)
		fail_msg("%s", err.msg);
	assert_string_equal(kube_config_server(config), "http://other:1");
	assert_string_equal(kube_config_namespace(config), "n");
	assert_string_equal(config->credentials.token, "t");
	assert_null(config->credentials.token_file);
	assert_string_equal(config->credentials.as, "a");
	assert_int_equal(config->credentials.n_as_groups, 3);
	assert_string_equal(config->credentials.as_groups[2], "h");
	kube_config_unref(config);
	config = load_with("", "", (struct kube_config_opts){ .server = "bare" }, &err);
	assert_string_equal(kube_config_server(config), "https://bare");
	assert_string_equal(kube_config_namespace(config), "default");
	kube_config_unref(config);
}

static void options_that_make_no_sense(void **state)
{
	static const char *const group[] = { "g", NULL }, *const odd[] = { "a\nb", NULL };
	const struct {
		struct kube_config_opts opts;
		const char *words;
	} rows[] = {
		{ { .insecure_skip_tls_verify = true, .certificate_authority = "f" },
			"--insecure-skip-tls-verify and --certificate-authority exclude each other" },
		{ { .certificate_authority = "/nonexistent/x" }, "--certificate-authority: " },
		{ { .token = "" }, "--token must be printable ASCII without spaces" },
		{ { .token = "a b" }, "--token must be printable ASCII without spaces" },
		{ { .token = "a\x7f" }, "--token must be printable ASCII without spaces" },
		{ { .as = "" }, "--as needs a user name" },
		{ { .as = "a\nb" }, "--as needs a user name" },
		{ { .as = "a", .as_groups = odd }, "--as-group needs a group name" },
		{ { .as_groups = group }, "--as-group needs --as" },
		{ { .context = "nope" }, "nope" },
		{ { .cluster = "nope" }, "nope" },
		{ { .user = "nope" }, "nope" },
	};
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct err err;
		struct kube_config *config = load_with("", "", rows[i].opts, &err);
		if (config != NULL || strstr(err.msg, rows[i].words) == NULL)
			fail_msg("row %zu: %s", i, config ? "taken" : err.msg);
	}
}

/* ---- a pod's service account */

static void set(const char *name, const char *value)
{
	if (value != NULL)
		setenv(name, value, 1);
	else
		unsetenv(name);
}

static void in_a_cluster(void **state)
{
	static const struct {
		const char *host, *port, *pod_namespace, *namespace_;
		const char *server; /* or what is wrong */
		const char *is;
	} rows[] = {
		{ "10.0.0.1", "443", NULL, "from-file\n", "https://10.0.0.1:443", "from-file" },
		{ "10.0.0.1", "443", "", "from-file\r\nx", "https://10.0.0.1:443",
			"from-file" },
		{ "fd00::1", "65535", "mine", "from-file", "https://[fd00::1]:65535", "mine" },
		{ "[fd00::1]", "1", NULL, "", "https://[fd00::1]:1", "default" },
		{ NULL, "443", NULL, "", "not in a cluster: KUBERNETES_SERVICE_HOST is not set",
			NULL },
		{ "", "443", NULL, "", "not in a cluster: KUBERNETES_SERVICE_HOST is not set",
			NULL },
		{ "a", NULL, NULL, "", "not in a cluster: KUBERNETES_SERVICE_PORT is not set",
			NULL },
		{ "a", "", NULL, "", "not in a cluster: KUBERNETES_SERVICE_PORT is not set",
			NULL },
		{ "a", "0", NULL, "", "KUBERNETES_SERVICE_PORT is not a port", NULL },
		{ "a", "65536", NULL, "", "KUBERNETES_SERVICE_PORT is not a port", NULL },
		{ "a", "x", NULL, "", "KUBERNETES_SERVICE_PORT is not a port", NULL },
	};
	const struct kube_config_opts opts = { .in_cluster = true };
	(void)state;
	setenv("SANDMUX_SERVICE_ACCOUNT_DIR", dir, 1);
	put("token", "t");
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct err err = { 0 };
		set("KUBERNETES_SERVICE_HOST", rows[i].host);
		set("KUBERNETES_SERVICE_PORT", rows[i].port);
		set("POD_NAMESPACE", rows[i].pod_namespace);
		put("namespace", rows[i].namespace_);
		struct kube_config *config = kube_config_load(&opts, &err);
		if ((config == NULL) != (rows[i].is == NULL))
			fail_msg("row %zu: %s", i, config ? "taken" : err.msg);
		assert_string_equal(
			config ? kube_config_server(config) : err.msg, rows[i].server);
		if (config == NULL) {
			assert_int_equal(err.code, ERR_CONFIG_NONE);
			continue;
		}
		assert_string_equal(kube_config_namespace(config), rows[i].is);
		assert_string_equal(kube_config_context(config), "");
		assert_string_equal(kube_config_user(config), "");
		char *token = x_asprintf("%s/token", dir);
		assert_string_equal(config->credentials.token_file, token);
		unlink(token);
		free(token);
		kube_config_unref(config);
		assert_null(kube_config_load(&opts, &err)); /* no token */
		assert_non_null(strstr(err.msg, "/token cannot be read"));
		put("token", "t");
	}
}

#define FIELDS(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		FIELDS(what_is_wrong_with_a_user),
		FIELDS(what_is_taken_of_a_user),
		FIELDS(what_a_plugin_is_told_of_the_cluster),
		FIELDS(options_beat_the_file),
		FIELDS(options_that_make_no_sense),
		FIELDS(in_a_cluster),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
