// SPDX-License-Identifier: Apache-2.0
/* A credential plugin as a process: its environment, its words, its time; and the credentials as headers. */
#include "tests/unit/unit.h"

#include "engine/base/clock.h"
#include "engine/base/err.h"
#include "engine/base/file.h"
#include "engine/base/mem.h"
#include "engine/base/settings.h"
#include "engine/base/str.h"
#include "engine/kube/auth.h"
#include "engine/kube/config.h"
#include "engine/kube/exec.h"
#include "engine/net/http.h"
#include "engine/net/loop.h"
#include "tests/unit/engine/net/turns.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define ANSWER(token)                                                                             \
	"printf '{\"kind\":\"ExecCredential\",\"apiVersion\":\"v1\",\"status\":{\"token\":\"%s\"" \
	"}}' \"" token "\"\n"

static struct net_loop *loop;
static struct kube_exec *exec;
static struct kube_exec_spec spec;
static struct kube_plugin_host host;
static char dir[64], *path;
static struct str said;
static int n_ready;
static struct err ready_err;
static char *no_args[] = { NULL };
static char version[] = "v1", cluster_info[] = "{\"server\":\"s\"}", hint[] = "get it there";

static void say(void *arg, const char *text)
{
	assert_ptr_equal(arg, &said);
	str_addf(&said, "%s|", text);
}

static void on_ready(void *arg, const struct err *err)
{
	assert_ptr_equal(arg, &n_ready);
	n_ready++;
	ready_err = (struct err){ 0 };
	err_copy(&ready_err, err);
}

static int set_up(void **state)
{
	(void)state;
	loop = net_loop_new(NULL);
	snprintf(dir, sizeof dir, "/tmp/sandmux-plugin-XXXXXX");
	assert_non_null(mkdtemp(dir));
	path = x_asprintf("%s/login", dir);
	spec = (struct kube_exec_spec){ .api_version = version,
		.command = path,
		.args = no_args,
		.interactive = KUBE_INTERACTIVE_NEVER };
	host = (struct kube_plugin_host){ .say = say, .arg = &said };
	str_init(&said, 4096);
	str_add(&said, "");
	exec = kube_exec_new(loop, &spec, &host);
	n_ready = 0;
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	kube_exec_free(exec);
	str_deinit(&said);
	unlink(path);
	rmdir(dir);
	free(path);
	net_loop_free(loop);
	setting_set("exec-plugin-timeout", "60s", NULL);
	return 0;
}

static void write_script(const char *body)
{
	char *text = x_asprintf("#!/bin/sh\n%s", body);
	assert_true(file_write_atomic(path, slice_of(text), 0700, NULL));
	free(text);
	chmod(path, 0700);
}

static void run(const char *body)
{
	struct err err = { 0 };
	write_script(body);
	n_ready = 0;
	if (!kube_exec_run(exec, on_ready, &n_ready, &err))
		fail_msg("%s", err.msg);
	assert_int_equal(n_ready, 0);
	assert_true(kube_exec_is_running(exec));
	TURN_UNTIL(loop, n_ready > 0);
	assert_int_equal(n_ready, 1);
	assert_false(kube_exec_is_running(exec));
}

static void expect_token(const char *token)
{
	if (ready_err.code != ERR_NONE)
		fail_msg("%s", ready_err.msg);
	assert_non_null(kube_exec_answer(exec));
	assert_string_equal(kube_exec_answer(exec)->token, token);
}

/* Ours, what the spec gives instead, and what the protocol asks for. */
static void its_environment(void **state)
{
	struct kube_pair env[] = { { (char[]){ "PLUG" }, (char[]){ "new" } },
		{ (char[]){ "MORE" }, (char[]){ "x y" } } };
	char *args[] = { (char[]){ "one" }, (char[]){ "two words" }, NULL };
	(void)state;
	setenv("PLUG", "old", 1);
	setenv("PLUGX", "kept", 1);
	setenv("KUBERNETES_EXEC_INFO", "stale", 1);
	spec.env = env;
	spec.n_env = 2;
	spec.args = args;
	run(ANSWER("$PLUG.$PLUGX.$#.$(env | grep -c ^PLUG=)"));
	expect_token("new.kept.2.1");
	run("test \"$2\" = 'two words' && test \"$MORE\" = 'x y' && " ANSWER("ok"));
	expect_token("ok");
	run("test \"$KUBERNETES_EXEC_INFO\" = "
	    "'{\"kind\":\"ExecCredential\",\"apiVersion\":\"v1\",\"spec\":{\"interactive\":false}}' "
	    "&& " ANSWER("plain"));
	expect_token("plain");
	spec.cluster_info = cluster_info;
	run("test \"$KUBERNETES_EXEC_INFO\" = "
	    "'{\"kind\":\"ExecCredential\",\"apiVersion\":\"v1\",\"spec\":{\"interactive\":false,"
	    "\"cluster\":{\"server\":\"s\"}}}' && " ANSWER("cluster"));
	expect_token("cluster");
	/* it has no input */
	run("read -r line && exit 3\n" ANSWER("empty"));
	expect_token("empty");
	unsetenv("PLUG");
	unsetenv("PLUGX");
	unsetenv("KUBERNETES_EXEC_INFO");
}

static void whole_lines_of_it_are_said(void **state)
{
	(void)state;
	run("echo 'go to https://login' >&2\necho >&2\nprintf 'and type ' >&2\nsleep 0.1\n"
	    "echo 'ABC' >&2\necho 'Bearer s3cretS3cretS3cret' >&2\nprintf unfinished >&2\n" ANSWER(
		    "t"));
	expect_token("t");
	assert_int_equal(strncmp(said.p, "go to https://login|and type ABC|", 33), 0);
	assert_null(strstr(said.p, "s3cret"));
	assert_null(strstr(said.p, "unfinished"));
	/* the next run begins anew */
	str_clear(&said);
	run("echo again >&2\n" ANSWER("u"));
	assert_string_equal(said.p, "again|");
	expect_token("u");
}

static void one_that_takes_long(void **state)
{
	struct err err = { 0 };
	(void)state;
	write_script("sleep 1.3\n" ANSWER("late"));
	assert_true(kube_exec_run(exec, on_ready, &n_ready, &err));
	/* shared by all who wait */
	assert_true(kube_exec_run(exec, NULL, NULL, &err));
	TURN_UNTIL(loop, n_ready > 0);
	expect_token("late");
	assert_string_equal(said.p, "waiting for the credential plugin login|");
	kube_exec_forget(exec);
	assert_null(kube_exec_answer(exec));
}

static void one_that_never_ends(void **state)
{
	(void)state;
	assert_true(setting_set("exec-plugin-timeout", "1s", NULL));
	int64_t began_ms = clock_mono_ms();
	run("sleep 60");
	assert_int_equal(ready_err.code, ERR_CONFIG_EXEC_PLUGIN);
	assert_string_equal(ready_err.msg, "plugin login did not end within 1 s");
	assert_in_range(clock_mono_ms() - began_ms, 1000, 9000);
	assert_null(kube_exec_answer(exec));
}

/* A plugin's child that goes on does not hold the answer up for ever. */
static void a_child_that_holds_the_pipes(void **state)
{
	(void)state;
	assert_true(setting_set("exec-plugin-timeout", "1s", NULL));
	run("sleep 60 &\n" ANSWER("t"));
	assert_int_equal(ready_err.code, ERR_CONFIG_EXEC_PLUGIN);
}

static void answers_expire(void **state)
{
	char date[CLOCK_RFC3339_BYTES];
	(void)state;
	clock_format_rfc3339((clock_wall_ms() + 1500) / 1000 * 1000000000, 0, date);
	char *body = x_asprintf("printf '{\"kind\":\"ExecCredential\",\"apiVersion\":\"v1\","
				"\"status\":{\"token\":\"t\",\"expirationTimestamp\":\"%s\"}}'",
		date);
	run(body);
	free(body);
	assert_int_equal(ready_err.code, ERR_NONE);
	TURN_UNTIL(loop, kube_exec_answer(exec) == NULL);
}

static void what_cannot_be_run(void **state)
{
	struct err err = { 0 };
	(void)state;
	spec.install_hint = hint;
	for (int i = 0; i < 10; i++) {
		assert_false(kube_exec_run(exec, on_ready, &n_ready, &err));
		assert_string_equal(err.msg, "plugin login: no such program; get it there");
	}
	/* enough said */
	assert_false(kube_exec_run(exec, on_ready, &n_ready, &err));
	assert_string_equal(err.msg, "plugin login: no such program");
	assert_int_equal(err.code, ERR_CONFIG_EXEC_PLUGIN);
	assert_true(file_write_atomic(path, slice_of("x"), 0600, NULL));
	assert_false(kube_exec_run(exec, on_ready, &n_ready, &err));
	assert_string_equal(err.msg, "plugin login: Permission denied");
	assert_false(kube_exec_is_running(exec));
	/* it insists on a terminal */
	spec.interactive = KUBE_INTERACTIVE_ALWAYS;
	assert_false(kube_exec_run(exec, on_ready, &n_ready, &err));
	assert_non_null(
		strstr(err.msg, "it wants to ask on a terminal (interactiveMode: Always)"));
	assert_int_equal(n_ready, 0);
}

/* ---- credentials as headers */

static struct kube_config *load(const char *user)
{
	struct err err = { 0 };
	char *file = x_asprintf("%s/config", dir);
	char *text =
		x_asprintf("clusters:\n- name: c\n  cluster: {server: 'https://127.0.0.1:1'}\n"
			   "users:\n- name: u\n  user: {%s}\n"
			   "contexts:\n- name: x\n  context: {cluster: c, user: u}\n"
			   "current-context: x\n",
			user);
	assert_true(file_write_atomic(file, slice_of(text), 0600, NULL));
	const struct kube_config_opts opts = { .kubeconfig = file };
	struct kube_config *config = kube_config_load(&opts, &err);
	if (config == NULL)
		fail_msg("%s", err.msg);
	unlink(file);
	free(file);
	free(text);
	return config;
}

static const char *authorization(struct kube_auth *auth)
{
	static char value[300];
	struct net_http_header headers[KUBE_AUTH_MAX_HEADERS];
	size_t n = kube_auth_headers(auth, headers, KUBE_AUTH_MAX_HEADERS);
	value[0] = '\0';
	for (size_t i = 0; i < n; i++)
		if (strcmp(headers[i].name, "Authorization") == 0)
			snprintf(value, sizeof value, "%s", headers[i].value);
	return value;
}

static void a_token_file(void **state)
{
	(void)state;
	char *user = x_asprintf("tokenFile: '%s'", path);
	assert_true(file_write_atomic(path, slice_of("one \t\r\n"), 0600, NULL));
	struct kube_config *config = load(user);
	struct kube_auth *auth = kube_auth_new(loop, config);
	assert_string_equal(authorization(auth), "Bearer one");
	uint64_t first = kube_auth_generation(auth);
	/* it is read again when the server says no, or after a minute */
	assert_true(file_write_atomic(path, slice_of("two"), 0600, NULL));
	assert_string_equal(authorization(auth), "Bearer one");
	assert_int_equal(kube_auth_generation(auth), first);
	assert_true(kube_auth_rejected(auth, first));
	assert_string_equal(authorization(auth), "Bearer two");
	uint64_t second = kube_auth_generation(auth);
	assert_int_equal(second, first + 1);
	/* the 401 of an old one says nothing about this one */
	assert_true(kube_auth_rejected(auth, first));
	assert_false(kube_auth_rejected(auth, second));
	/* what is no token leaves the old one in use */
	static const char *const wrong[] = { "", "\n", "a\nb", "a\x7f" };
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		assert_true(file_write_atomic(path, slice_of(wrong[i]), 0600, NULL));
		assert_false(kube_auth_rejected(auth, second));
		assert_string_equal(authorization(auth), "Bearer two");
	}
	unlink(path);
	assert_false(kube_auth_rejected(auth, second));
	assert_string_equal(authorization(auth), "Bearer two");
	assert_true(kube_auth_is_ready(auth));
	assert_false(kube_auth_is_logging_in(auth));
	kube_auth_free(auth);
	kube_config_unref(config);
	free(user);
}

static void who_waits_is_told(void **state)
{
	(void)state;
	char *user =
		x_asprintf("exec: {apiVersion: client.authentication.k8s.io/v1, command: '%s', "
			   "interactiveMode: Never}",
			path);
	struct kube_config *config = load(user);
	free(user);
	struct kube_auth *auth = kube_auth_new(loop, config);
	assert_false(kube_auth_is_ready(auth));
	assert_string_equal(authorization(auth), "");
	/* there is no such program */
	assert_non_null(kube_auth_wait_start(auth, on_ready, &n_ready));
	struct kube_auth_wait *left = kube_auth_wait_start(auth, on_ready, &n_ready);
	assert_non_null(kube_auth_wait_start(auth, on_ready, &n_ready));
	kube_auth_wait_cancel(left);
	assert_int_equal(n_ready, 0);
	TURN_UNTIL(loop, n_ready >= 2);
	turn_for(loop, 20);
	assert_int_equal(n_ready, 2);
	assert_int_equal(ready_err.code, ERR_CONFIG_EXEC_PLUGIN);
	n_ready = 0;
	write_script("printf '{\"kind\":\"ExecCredential\",\"apiVersion\":"
		     "\"client.authentication.k8s.io/v1\",\"status\":{\"token\":\"t\"}}'");
	assert_non_null(kube_auth_wait_start(auth, on_ready, &n_ready));
	TURN_UNTIL(loop, kube_auth_is_logging_in(auth));
	TURN_UNTIL(loop, n_ready > 0);
	assert_int_equal(ready_err.code, ERR_NONE);
	assert_string_equal(authorization(auth), "Bearer t");
	assert_true(kube_auth_is_ready(auth));
	uint64_t generation = kube_auth_generation(auth);
	/* rejected: asked for once more, but not again and again */
	assert_true(kube_auth_rejected(auth, generation));
	assert_false(kube_auth_is_ready(auth));
	assert_true(kube_auth_rejected(auth, generation));
	n_ready = 0;
	assert_non_null(kube_auth_wait_start(auth, on_ready, &n_ready));
	TURN_UNTIL(loop, n_ready > 0);
	assert_int_equal(kube_auth_generation(auth), generation + 1);
	assert_false(kube_auth_rejected(auth, generation + 1));
	assert_true(kube_auth_is_ready(auth));
	kube_auth_free(auth);
	kube_config_unref(config);
}

#define PLUGIN(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	signal(SIGPIPE, SIG_IGN);
	const struct CMUnitTest tests[] = {
		PLUGIN(its_environment),
		PLUGIN(whole_lines_of_it_are_said),
		PLUGIN(one_that_takes_long),
		PLUGIN(one_that_never_ends),
		PLUGIN(a_child_that_holds_the_pipes),
		PLUGIN(answers_expire),
		PLUGIN(what_cannot_be_run),
		PLUGIN(a_token_file),
		PLUGIN(who_waits_is_told),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
