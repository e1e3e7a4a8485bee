// SPDX-License-Identifier: Apache-2.0
/* kubeconfig: what it resolves to, and what each mistake says. */
#include "engine/base/digest.h"
#include "engine/base/err.h"
#include "engine/base/file.h"
#include "engine/base/json.h"
#include "engine/base/mem.h"
#include "engine/kube/config.h"
#include "engine/kube/config_internal.h"
#include "engine/net/dial.h"
#include "tests/unit/engine/net/tls_server.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char dir[64];
static char *made[32];
static size_t n_made;

static char *put(const char *name, const char *text)
{
	char *path = x_asprintf("%s/%s", dir, name);
	struct err err = { 0 };
	if (!file_write_atomic(path, slice_of(text), 0600, &err))
		fail_msg("%s", err.msg);
	for (size_t i = 0; i < n_made; i++) {
		if (strcmp(made[i], path) == 0) {
			free(path);
			return made[i];
		}
	}
	made[n_made++] = path;
	return path;
}

static int setup(void **state)
{
	(void)state;
	static const char *const clean[] = { "KUBECONFIG", "HTTPS_PROXY", "https_proxy",
		"HTTP_PROXY", "http_proxy", "NO_PROXY", "no_proxy", "KUBERNETES_SERVICE_HOST",
		"KUBERNETES_SERVICE_PORT", "POD_NAMESPACE", "SANDMUX_SERVICE_ACCOUNT_DIR" };
	for (size_t i = 0; i < sizeof clean / sizeof *clean; i++)
		unsetenv(clean[i]);
	snprintf(dir, sizeof dir, "/tmp/sandmux-config-XXXXXX");
	assert_non_null(mkdtemp(dir));
	setenv("HOME", dir, 1);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	for (size_t i = 0; i < n_made; i++) {
		unlink(made[i]);
		free(made[i]);
	}
	n_made = 0;
	rmdir(dir);
	return 0;
}

#define BASE                                                                                         \
	"apiVersion: v1\nkind: Config\n"                                                             \
	"clusters:\n- name: c1\n  cluster: {server: 'https://one:6443/'}\n"                          \
	"- name: c2\n  cluster: {server: 'https://two/k8s/clusters/x'}\n"                            \
	"users:\n- name: u1\n  user: {token: abc}\n- name: u2\n  user: {username: n, password: p}\n" \
	"contexts:\n- name: x1\n  context: {cluster: c1, user: u1, namespace: ns1}\n"                \
	"- name: x2\n  context: {cluster: c2, user: u2}\n"                                           \
	"current-context: x1\n"

static struct kube_config *load(const struct kube_config_opts *opts)
{
	struct err err = { 0 };
	struct kube_config *config = kube_config_load(opts, &err);
	if (config == NULL)
		fail_msg("%s: %s", err_name(&err), err.msg);
	return config;
}

static void the_current_context(void **state)
{
	(void)state;
	const struct kube_config_opts opts = { .kubeconfig = put("a", BASE) };
	struct kube_config *config = load(&opts);
	assert_string_equal("https://one:6443", kube_config_server(config));
	assert_string_equal("x1", kube_config_context(config));
	assert_string_equal("ns1", kube_config_namespace(config));
	assert_string_equal("u1", kube_config_user(config));
	assert_string_equal("abc", config->credentials.token);
	assert_false(kube_config_is_insecure(config));
	assert_non_null(kube_config_tls(config));
	assert_null(kube_config_proxy(config));
	const char **contexts = kube_config_contexts(config);
	assert_string_equal("x1", contexts[0]);
	assert_string_equal("x2", contexts[1]);
	assert_null(contexts[2]);
	free(contexts);
	kube_config_unref(config);
}

#define MOVED(server, token)                                                                   \
	"apiVersion: v1\nkind: Config\nclusters:\n- name: c1\n  cluster: {server: '" server    \
	"'}\n"                                                                                 \
	"users:\n- name: u1\n  user: {token: " token "}\n"                                     \
	"contexts:\n- name: x1\n  context: {cluster: c1, user: u1}\ncurrent-context: other\n"

static void only_an_address_is_followed(void **state)
{
	(void)state;
	struct kube_config *config =
		load(&(struct kube_config_opts){ .kubeconfig = put("a", BASE) });
	assert_false(kube_config_follow(config)); /* nothing is new */
	put("a", MOVED("https://one:7000", "other"));
	assert_false(kube_config_follow(config)); /* another one, with another user's token */
	put("a", "clusters: [unclosed");
	assert_false(kube_config_follow(config));
	assert_string_equal("https://one:6443", kube_config_server(config));
	put("a", MOVED("https://one:7000", "abc"));
	assert_true(kube_config_follow(config));
	assert_string_equal("https://one:7000", kube_config_server(config));
	assert_string_equal("x1", kube_config_context(config));
	assert_false(kube_config_follow(config));
	kube_config_unref(config);
	/* an address of the command line stays */
	config = load(&(struct kube_config_opts){
		.kubeconfig = put("a", BASE), .server = "https://given" });
	put("a", MOVED("https://one:7000", "abc"));
	assert_false(kube_config_follow(config));
	assert_string_equal("https://given", kube_config_server(config));
	kube_config_unref(config);
}

static void flags_are_laid_over(void **state)
{
	(void)state;
	const char *const groups[] = { "g1", "g2", NULL };
	const struct kube_config_opts opts = { .kubeconfig = put("a", BASE),
		.context = "x2",
		.cluster = "c1",
		.user = "u1",
		.namespace_ = "other",
		.token = "t2",
		.as = "eve",
		.as_groups = groups,
		.insecure_skip_tls_verify = true };
	struct kube_config *config = load(&opts);
	assert_string_equal("https://one:6443", kube_config_server(config));
	assert_string_equal("other", kube_config_namespace(config));
	assert_string_equal("t2", config->credentials.token);
	assert_string_equal("eve", config->credentials.as);
	assert_int_equal(2, config->credentials.n_as_groups);
	assert_true(kube_config_is_insecure(config));
	kube_config_unref(config);
}

static void a_server_flag_needs_no_file(void **state)
{
	(void)state;
	const struct kube_config_opts opts = { .server = "http://127.0.0.1:8001",
		.token = "x" };
	struct kube_config *config = load(&opts);
	assert_string_equal("http://127.0.0.1:8001", kube_config_server(config));
	assert_string_equal("default", kube_config_namespace(config));
	assert_null(kube_config_tls(config));
	kube_config_unref(config);
}

static void an_authority_on_the_command_line_beats_insecure(void **state)
{
	(void)state;
	put("k",
		"clusters:\n- name: c\n  cluster: {server: 'https://c', insecure-skip-tls-verify: true}\n"
		"contexts:\n- name: x\n  context: {cluster: c}\ncurrent-context: x\n");
	struct tls_identity *identity = tls_identity_new("DNS:c", 2);
	put("ca", identity->ca_pem);
	tls_identity_free(identity);
	char *file = x_asprintf("%s/k", dir), *ca = x_asprintf("%s/ca", dir);
	struct kube_config_opts opts = { .kubeconfig = file };
	struct kube_config *config = load(&opts);
	assert_true(kube_config_is_insecure(config));
	assert_true(net_tls_opts(kube_config_tls(config))->insecure);
	kube_config_unref(config);
	opts.certificate_authority = ca;
	config = load(&opts);
	assert_false(kube_config_is_insecure(config));
	assert_false(net_tls_opts(kube_config_tls(config))->insecure);
	kube_config_unref(config);
	free(file);
	free(ca);
}

static void binary_is_what_it_encodes(void **state)
{
	(void)state;
	struct tls_identity *identity = tls_identity_new("DNS:c", 2);
	char *once = digest_base64_encode(identity->ca_pem, strlen(identity->ca_pem));
	char *text = x_asprintf(
		"clusters:\n- name: c\n  cluster:\n    server: !!binary aHR0cHM6Ly9j\n"
		"    certificate-authority-data: !!binary %s\n"
		"users:\n- name: u\n  user: {token: !!binary czNjcmV0}\n"
		"contexts:\n- name: x\n  context: {cluster: c, user: u}\ncurrent-context: x\n",
		once);
	put("k", text);
	char *file = x_asprintf("%s/k", dir);
	struct kube_config *config = load(&(struct kube_config_opts){ .kubeconfig = file });
	assert_string_equal("https://c", kube_config_server(config));
	assert_string_equal("s3cret", config->credentials.token);
	assert_string_equal(identity->ca_pem, config->ca_pem);
	kube_config_unref(config);
	free(file);
	free(text);
	free(once);
	tls_identity_free(identity);
}

static void a_large_file_is_read_and_a_missing_one_named(void **state)
{
	(void)state;
	struct str text;
	str_init(&text, 16 << 20);
	str_add(&text, BASE);
	for (int i = 0; text.n < (5 << 20); i++)
		str_addf(&text, "# %0200d\n", i);
	put("k", text.p);
	str_deinit(&text);
	char *list = x_asprintf("%s/gone:%s/k", dir, dir);
	setenv("KUBECONFIG", list, 1);
	struct kube_config *config = load(&(struct kube_config_opts){ 0 });
	assert_string_equal("x1", kube_config_context(config));
	kube_config_unref(config);
	struct err err = { 0 };
	assert_null(kube_config_load(&(struct kube_config_opts){ .context = "nope" }, &err));
	assert_non_null(strstr(err.msg, "/gone does not exist"));
	/* one that is no kubeconfig is not passed over */
	put("broken", "clusters: [");
	char *with_broken = x_asprintf("%s/broken:%s/k", dir, dir);
	setenv("KUBECONFIG", with_broken, 1);
	assert_null(kube_config_load(&(struct kube_config_opts){ 0 }, &err));
	assert_int_equal(ERR_CONFIG_KUBECONFIG, err.code);
	assert_non_null(strstr(err.msg, "/broken"));
	free(with_broken);
	list[strcspn(list, ":")] = '\0';
	setenv("KUBECONFIG", list, 1);
	assert_null(kube_config_load(&(struct kube_config_opts){ 0 }, &err));
	assert_int_equal(ERR_CONFIG_NONE, err.code);
	assert_non_null(strstr(err.msg, list));
	free(list);
}

static void files_are_merged_by_name(void **state)
{
	(void)state;
	put("a", "clusters:\n- name: c\n  cluster: {server: 'https://first'}\n"
		 "contexts:\n- name: x\n  context: {cluster: c, user: u}\n");
	put("b",
		"clusters:\n- name: c\n  cluster: {server: 'https://second', "
		"insecure-skip-tls-verify: true}\n- name: d\n  cluster: {server: 'https://d'}\n"
		"users:\n- name: u\n  user: {token: two}\ncurrent-context: x\n");
	put("c", "users:\n- name: u\n  user: {token: three}\ncurrent-context: nowhere\n");
	put("empty", "");
	char *list = x_asprintf(
		"%s/a:%s/missing::%s/empty:%s/b:%s/a:%s/c", dir, dir, dir, dir, dir, dir);
	setenv("KUBECONFIG", list, 1);
	free(list);
	struct kube_config *config = load(&(struct kube_config_opts){ 0 });
	assert_string_equal("https://first", kube_config_server(config));
	assert_false(kube_config_is_insecure(config)); /* the whole entry, not field by field */
	assert_string_equal("two", config->credentials.token);
	assert_string_equal("x", kube_config_context(config));
	kube_config_unref(config);
}

static void the_home_file_is_the_default(void **state)
{
	(void)state;
	char *folder = x_asprintf("%s/.kube", dir);
	struct err err = { 0 };
	assert_true(file_make_dirs(folder, 0700, &err));
	put(".kube/config", BASE);
	struct kube_config *config = load(&(struct kube_config_opts){ 0 });
	assert_string_equal("x1", kube_config_context(config));
	kube_config_unref(config);
	/* set, although nothing is there: the home file is not looked at */
	setenv("KUBECONFIG", "/nonexistent/config", 1);
	assert_null(kube_config_load(&(struct kube_config_opts){ 0 }, &err));
	assert_int_equal(ERR_CONFIG_NONE, err.code);
	unlink(made[0]);
	rmdir(folder);
	free(folder);
}

static void nothing_at_all(void **state)
{
	(void)state;
	struct err err = { 0 };
	assert_null(kube_config_load(&(struct kube_config_opts){ 0 }, &err));
	assert_int_equal(ERR_CONFIG_NONE, err.code);
	assert_null(kube_config_load(&(struct kube_config_opts){ .in_cluster = true }, &err));
	assert_int_equal(ERR_CONFIG_NONE, err.code);
}

static void in_the_cluster(void **state)
{
	(void)state;
	put("token", "sa-token\n");
	put("namespace", "team-a\n");
	setenv("SANDMUX_SERVICE_ACCOUNT_DIR", dir, 1);
	setenv("KUBERNETES_SERVICE_HOST", "fd00::1", 1);
	setenv("KUBERNETES_SERVICE_PORT", "443", 1);
	struct kube_config *config = load(&(struct kube_config_opts){ 0 });
	assert_string_equal("https://[fd00::1]:443", kube_config_server(config));
	assert_string_equal("team-a", kube_config_namespace(config));
	assert_string_equal("", kube_config_context(config));
	assert_non_null(config->credentials.token_file);
	kube_config_unref(config);
	setenv("POD_NAMESPACE", "mine", 1);
	/* a kubeconfig goes first, unless the flag says otherwise */
	setenv("KUBECONFIG", put("a", BASE), 1);
	config = load(&(struct kube_config_opts){ 0 });
	assert_string_equal("https://one:6443", kube_config_server(config));
	kube_config_unref(config);
	config = load(&(struct kube_config_opts){ .in_cluster = true });
	assert_string_equal("mine", kube_config_namespace(config));
	kube_config_unref(config);
}

static void relative_files_and_extensions(void **state)
{
	(void)state;
	put("tok", "from-file\n");
	const struct kube_config_opts opts = {
		.kubeconfig = put("a",
			"clusters:\n- name: c\n  cluster:\n    server: https://s\n"
			"    proxy-url: socks5://p:1080\n    tls-server-name: other\n"
			"users:\n- name: u\n  user:\n    token: ignored\n    tokenFile: tok\n"
			"    as: bob\n    as-uid: '7'\n    as-groups: [g]\n"
			"    as-user-extra: {k: [v1, v2]}\n"
			"contexts:\n- name: x\n  context:\n    cluster: c\n    user: u\n    extensions:\n"
			"    - name: sandmux\n      extension: {local: true, connectivity: direct}\n"
			"current-context: x\n")
	};
	struct kube_config *config = load(&opts);
	char *wanted = x_asprintf("%s/tok", dir);
	assert_string_equal(wanted, config->credentials.token_file);
	free(wanted);
	assert_string_equal("socks5h://p:1080", kube_config_proxy(config));
	assert_string_equal("other", config->tls_server_name);
	assert_int_equal(2, config->credentials.n_as_extra);
	const cJSON *extension = kube_config_extension(config, "sandmux");
	assert_true(json_bool(extension, false, "local", NULL));
	assert_null(kube_config_extension(config, "other"));
	kube_config_unref(config);
}

static void exec_is_read_whole(void **state)
{
	(void)state;
	const struct kube_config_opts opts = {
		.kubeconfig = put("a",
			"clusters:\n- name: c\n  cluster:\n    server: https://s\n    extensions:\n"
			"    - {name: client.authentication.k8s.io/exec, extension: {audience: a}}\n"
			"users:\n- name: u\n  user:\n    exec:\n"
			"      apiVersion: client.authentication.k8s.io/v1\n      command: ./bin/plug\n"
			"      args: [get, --x=1]\n      env: [{name: A, value: b}]\n"
			"      interactiveMode: Never\n      provideClusterInfo: true\n"
			"contexts:\n- name: x\n  context: {cluster: c, user: u}\ncurrent-context: x\n")
	};
	struct kube_config *config = load(&opts);
	const struct kube_exec_spec *exec = config->credentials.exec;
	char *wanted = x_asprintf("%s/./bin/plug", dir);
	assert_string_equal(wanted, exec->command);
	free(wanted);
	assert_string_equal("--x=1", exec->args[1]);
	assert_null(exec->args[2]);
	assert_string_equal("A", exec->env[0].key);
	assert_int_equal(KUBE_INTERACTIVE_NEVER, exec->interactive);
	assert_string_equal("{\"server\":\"https://s\",\"config\":{\"audience\":\"a\"}}",
		exec->cluster_info);
	kube_config_unref(config);
}

#define USER(text)                                                                             \
	"clusters:\n- name: c\n  cluster: {server: 'https://s'}\n"                             \
	"users:\n- name: u\n  user:\n" text                                                    \
	"contexts:\n- name: x\n  context: {cluster: c, user: u}\ncurrent-context: x\n"
#define CLUSTER(text)                                                                          \
	"clusters:\n- name: c\n  cluster:\n" text                                              \
	"users:\n- name: u\n  user: {token: s3cret}\n"                                         \
	"contexts:\n- name: x\n  context: {cluster: c, user: u}\ncurrent-context: x\n"

static void mistakes_name_file_and_field(void **state)
{
	(void)state;
	static const struct {
		const char *text, *says;
	} rows[] = {
		{ "- a\n", "no mapping" },
		{ "a: [\n", "line " },
		{ "kind: Pod\n", "kind is 'Pod'" },
		{ "clusters: 3\n", "clusters must be a list" },
		{ "clusters:\n- cluster: {}\n", "has no name" },
		{ "contexts:\n- name: 3\n", "has no name" },
		{ "clusters:\n- name: c\n- name: c\n", "'c' twice" },
		{ "contexts:\n- name: x\n", "no current-context is set" },
		{ "current-context: y\n", "no context is called 'y'" },
		{ "contexts:\n- name: x\n  context: {}\ncurrent-context: x\n",
			"names no cluster" },
		{ "contexts:\n- name: x\n  context: {cluster: q}\ncurrent-context: x\n",
			"no cluster is called 'q'" },
		{ CLUSTER("    {}\n"), "no server" },
		{ CLUSTER("    server: ftp://x\n"), "is not an http:// or https:// URL" },
		{ CLUSTER("    server: 'https://a b'\n"), "is not an http:// or https:// URL" },
		{ CLUSTER("    server: 7\n"), "server: must be text" },
		{ CLUSTER("    server: https://s\n    certificate-authority: missing.pem\n"),
			"certificate-authority:" },
		{ CLUSTER("    server: https://s\n    certificate-authority-data: '***'\n"),
			"is not base64" },
		{ CLUSTER("    server: https://s\n    certificate-authority-data: bm90IHBlbQ==\n"),
			"TLS settings" },
		{ CLUSTER("    server: https://s\n    certificate-authority-data: bm90\n"
			  "    insecure-skip-tls-verify: true\n"),
			"cannot stand beside" },
		{ CLUSTER("    server: https://s\n    insecure-skip-tls-verify: maybe\n"),
			"true or false" },
		{ CLUSTER("    server: https://s\n    proxy-url: gopher://x\n"), "proxy-url" },
		{ USER("    token: 12\n"), "token: must be text" },
		{ USER("    token: 'a b'\n"), "printable ASCII" },
		{ USER("    token: \"a\\nb\"\n"), "control characters" },
		{ USER("    client-certificate-data: bm90\n"), "client-key: is missing" },
		{ USER("    client-key-data: bm90\n"), "client-certificate: is missing" },
		{ USER("    auth-provider: {name: gcp}\n"), "removed from Kubernetes" },
		{ USER("    as-groups: [a]\n"), "as: is missing" },
		{ USER("    username: 'a:b'\n"), "must not contain" },
		{ USER("    exec: {command: x}\n"), "exec.apiVersion" },
		{ USER("    exec: {apiVersion: client.authentication.k8s.io/v1alpha1, command: x}\n"),
			"exec.apiVersion" },
		{ USER("    exec: {apiVersion: client.authentication.k8s.io/v1, command: x}\n"),
			"interactiveMode" },
		{ USER("    exec: {apiVersion: client.authentication.k8s.io/v1beta1}\n"),
			"exec.command: is missing" },
		{ USER("    exec: {apiVersion: client.authentication.k8s.io/v1beta1, command: x, "
		       "args: [1]}\n"),
			"exec.args" },
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct err err = { 0 };
		const struct kube_config_opts opts = { .kubeconfig = put("a", rows[i].text) };
		struct kube_config *config = kube_config_load(&opts, &err);
		if (config != NULL)
			fail_msg("accepted: %s", rows[i].text);
		if (err.code != ERR_CONFIG_KUBECONFIG || strstr(err.msg, rows[i].says) == NULL)
			fail_msg("wanted '%s', got %s: %s", rows[i].says, err_name(&err),
				err.msg);
		assert_null(strstr(err.msg, "s3cret"));
	}
	struct err err = { 0 };
	const struct kube_config_opts opts = { .kubeconfig = "/nonexistent/kubeconfig" };
	assert_null(kube_config_load(&opts, &err));
	assert_int_equal(ERR_CONFIG_KUBECONFIG, err.code);
	assert_non_null(strstr(err.msg, "/nonexistent/kubeconfig"));
}

static void yaml_1_1_words_are_understood(void **state)
{
	(void)state;
	const struct kube_config_opts opts = {
		.kubeconfig = put("a",
			"clusters:\n- name: y\n  cluster: {server: 'https://s', "
			"insecure-skip-tls-verify: yes}\n"
			"users:\n- name: 'no'\n  user: {}\n"
			"contexts:\n- name: y\n  context: {cluster: y, user: 'no'}\ncurrent-context: y\n")
	};
	struct kube_config *config = load(&opts);
	assert_true(kube_config_is_insecure(config));
	assert_string_equal("y", kube_config_context(config));
	kube_config_unref(config);
}

static void the_environment_proxy(void **state)
{
	(void)state;
	static const struct {
		const char *server, *https, *http, *none, *is;
	} rows[] = {
		{ "https://a.example.com", "http://p:1", NULL, NULL, "http://p:1" },
		{ "https://a.example.com", NULL, "http://p:1", NULL, NULL },
		{ "http://a.example.com", "http://q", "p:1", NULL, "http://p:1" },
		{ "https://a.example.com", "http://p", NULL, "example.com", NULL },
		{ "https://example.com", "http://p", NULL, ".example.com", "http://p" },
		{ "https://a.example.com", "http://p", NULL, " x , .example.com", NULL },
		{ "https://badexample.com", "http://p", NULL, "example.com", "http://p" },
		{ "https://a.example.com:6443", "http://p", NULL, "a.example.com:6443", NULL },
		{ "https://a.example.com:6443", "http://p", NULL, "a.example.com:443",
			"http://p" },
		{ "https://10.1.2.3", "http://p", NULL, "10.0.0.0/8", NULL },
		{ "https://11.1.2.3", "http://p", NULL, "10.0.0.0/8", "http://p" },
		{ "https://10.1.2.3", "http://p", NULL, "10.1.2.3", NULL },
		{ "https://[fd00::5]:6443", "http://p", NULL, "fd00::/8", NULL },
		{ "https://[fd00::5]:6443", "http://p", NULL, "[fd00::5]:6443", NULL },
		{ "https://a", "http://p", NULL, "*", NULL },
		{ "https://127.0.0.1:6443", "http://p", NULL, NULL, NULL },
		{ "https://localhost", "http://p", NULL, NULL, NULL },
		{ "https://[::1]", "http://p", NULL, NULL, NULL },
		{ "https://a", "socks5://p:1", NULL, NULL, "socks5h://p:1" },
		{ "https://a", "ftp://p", NULL, NULL, NULL },
		{ "ssh://a", "http://p", "http://p", NULL, NULL },
		/* the port that a scheme has */
		{ "https://a", "http://p", NULL, "a:443", NULL },
		{ "https://a", "http://p", NULL, "a:80", "http://p" },
		{ "http://a", NULL, "http://p", "a:80", NULL },
		{ "http://a", NULL, "http://p", "a:443", "http://p" },
		{ "https://a", "http://p", NULL, "a:x", "http://p" },
		{ "https://10.1.2.3:6443", "http://p", NULL, "10.1.2.3:443", "http://p" },
		{ "https://10.1.2.3:6443", "http://p", NULL, "10.1.2.3:6443", NULL },
		/* names: whole labels from the right */
		{ "https://a.b", "http://p", NULL, "*.b", NULL },
		{ "https://b", "http://p", NULL, "*.b", "http://p" },
		{ "https://A.B", "http://p", NULL, "a.b", NULL },
		{ "https://b", "http://p", NULL, "a.b", "http://p" },
		{ "https://c.b", "http://p", NULL, "a.b", "http://p" },
		{ "https://a", "http://p", NULL, "", "http://p" },
		{ "https://a", "http://p", NULL, ",, ,", "http://p" },
		{ "https://a", "http://p", NULL, "b,c,\ta\t", NULL },
		{ "https://a", "http://p", NULL, "b*", "http://p" },
		/* blocks, to the bit */
		{ "https://10.1.2.3", "http://p", NULL, "10.1.2.2/31", NULL },
		{ "https://10.1.2.4", "http://p", NULL, "10.1.2.2/31", "http://p" },
		{ "https://10.1.2.4", "http://p", NULL, "10.1.2.4/32", NULL },
		{ "https://10.1.2.5", "http://p", NULL, "10.1.2.4/32", "http://p" },
		{ "https://10.1.2.5", "http://p", NULL, "10.1.2.4/33", "http://p" },
		{ "https://10.16.0.1", "http://p", NULL, "10.0.0.0/12", "http://p" },
		{ "https://10.15.0.1", "http://p", NULL, "10.0.0.0/12", NULL },
		{ "https://10.1.2.3", "http://p", NULL, "0.0.0.0/0", NULL },
		{ "https://[fd00::5]", "http://p", NULL, "fd00::4/127", NULL },
		{ "https://[fd00::6]", "http://p", NULL, "fd00::4/127", "http://p" },
		{ "https://[fd00::6]", "http://p", NULL, "fd00::6/128", NULL },
		{ "https://[fd00::6]", "http://p", NULL, "fd00::6/129", "http://p" },
		{ "https://[fd00::6]", "http://p", NULL, "fd00::6", NULL },
		{ "https://[fd00::6]", "http://p", NULL, "[fd00::6]", NULL },
		{ "https://[fd00::6]", "http://p", NULL, "[fd00::6]:80", "http://p" },
		{ "https://a", "http://p", NULL, "10.0.0.0/0", "http://p" },
		{ "https://10.1.2.3", "http://p", NULL, "x/8", "http://p" },
		{ "https://10.1.2.3", "http://p", NULL, "10.0.0.0/", "http://p" },
		{ "https://a", "http://p", NULL, "10.1.2.3", "http://p" },
		{ "https://10.1.2.4", "http://p", NULL, "10.1.2.3", "http://p" },
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		setup(NULL);
		rmdir(dir);
		if (rows[i].https)
			setenv("HTTPS_PROXY", rows[i].https, 1);
		if (rows[i].http)
			setenv("http_proxy", rows[i].http, 1);
		if (rows[i].none)
			setenv("NO_PROXY", rows[i].none, 1);
		char *is = kube_proxy_from_env(rows[i].server);
		if ((is == NULL) != (rows[i].is == NULL) || (is && strcmp(is, rows[i].is) != 0))
			fail_msg("%s with no_proxy '%s': %s", rows[i].server,
				rows[i].none ? rows[i].none : "", is ? is : "none");
		free(is);
	}
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		CASE(the_current_context),
		CASE(only_an_address_is_followed),
		CASE(flags_are_laid_over),
		CASE(a_server_flag_needs_no_file),
		CASE(an_authority_on_the_command_line_beats_insecure),
		CASE(binary_is_what_it_encodes),
		CASE(a_large_file_is_read_and_a_missing_one_named),
		CASE(files_are_merged_by_name),
		CASE(the_home_file_is_the_default),
		CASE(nothing_at_all),
		CASE(in_the_cluster),
		CASE(relative_files_and_extensions),
		CASE(exec_is_read_whole),
		CASE(mistakes_name_file_and_field),
		CASE(yaml_1_1_words_are_understood),
		CASE(the_environment_proxy),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
