// SPDX-License-Identifier: Apache-2.0
/* What a command line becomes: each option alone, where it may stand, what is refused and in which words; and the pages that
 * tell of them. */
#include "tests/unit/unit.h"

#include "cli/cli.h"
#include "cli/verbs.h"
#include "engine/base/mem.h"
#include "engine/base/settings.h"
#include "tests/unit/cli/written.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(a) (sizeof(a) / sizeof(a)[0])
enum { WORDS = 24 };

struct parsed {
	struct cli_options opt;
	struct err err;
	bool ok;
	char text[512]; /* the line in pieces */
	char *argv[WORDS + 1];
	char shown[1024];
};

static void show_text(char *shown, const char *name, const char *value)
{
	size_t n = strlen(shown);
	if (value != NULL)
		snprintf(shown + n, 1024 - n, " %s=%s", name, value);
}

static void show_number(char *shown, const char *name, int64_t value)
{
	size_t n = strlen(shown);
	if (value != 0)
		snprintf(shown + n, 1024 - n, " %s=%lld", name, (long long)value);
}

static void show_list(char *shown, const char *name, const struct cli_list *list)
{
	for (size_t i = 0; i < list->n; i++)
		show_text(shown, name, list->items[i]);
	if (list->n > 0)
		assert_null(list->items[list->n]);
}

static void show_engine(char *shown, const struct engine_opts *is)
{
	show_text(shown, "namespace", is->namespace_);
	show_number(shown, "all", is->all_namespaces);
	show_text(shown, "selector", is->label_selector);
	show_text(shown, "context", is->context);
	show_text(shown, "kubeconfig", is->kubeconfig);
	show_text(shown, "cluster", is->cluster);
	show_text(shown, "user", is->user);
	show_text(shown, "server", is->server);
	show_text(shown, "ca", is->certificate_authority);
	show_text(shown, "token", is->token);
	show_text(shown, "as", is->as);
	for (size_t i = 0; is->as_groups != NULL && is->as_groups[i] != NULL; i++)
		show_text(shown, "group", is->as_groups[i]);
	show_number(shown, "insecure", is->insecure_skip_tls_verify);
	show_number(shown, "in-cluster", is->in_cluster);
	show_number(shown, "request", is->request_timeout_ms);
	show_number(shown, "idle", is->watch_idle_ms);
	show_number(shown, "connectivity", is->connect.mode);
	show_text(shown, "router", is->connect.router_url);
	show_text(shown, "router-service", is->connect.router_service);
	show_text(shown, "router-namespace", is->connect.router_namespace);
	show_text(shown, "router-token", is->connect.router_token_file);
	show_text(shown, "gateway", is->connect.gateway);
	show_text(shown, "gateway-namespace", is->connect.gateway_namespace);
	show_text(shown, "gateway-scheme", is->connect.gateway_scheme);
	show_number(shown, "no-pod-ip", is->connect.no_pod_ip_header);
	show_number(shown, "runtime", is->connect.runtime);
	show_text(shown, "runtime-version", is->connect.runtime_version);
	show_text(shown, "rest", is->connect.rest_url);
	show_text(shown, "grpc", is->connect.grpc_address);
	show_text(shown, "daemon-token", is->connect.daemon_token_file);
	show_number(shown, "plaintext", is->connect.allow_plaintext_token);
	show_number(shown, "read-only", is->read_only);
}

static void show_own(char *shown, const struct cli_options *is)
{
	static const char *const forms[] = { NULL, "wide", "json", "yaml", "name" };
	show_text(shown, "output", forms[is->output]);
	show_list(shown, "label", &is->labels);
	show_list(shown, "env", &is->env);
	show_list(shown, "pod-label", &is->pod_labels);
	show_list(shown, "pod-annotation", &is->pod_annotations);
	show_text(shown, "cwd", is->cwd);
	show_text(shown, "pool", is->pool);
	show_text(shown, "theme", is->theme);
	show_text(shown, "isolation", is->isolation);
	show_text(shown, "state-dir", is->state_dir);
	show_text(shown, "daemon-auth", is->daemon_auth);
	show_text(shown, "conflict", is->conflict);
	show_number(shown, "timeout", is->timeout_ms);
	show_number(shown, "shutdown", is->shutdown_after_ms);
	show_number(shown, "output-limit", is->output_limit_bytes);
	show_number(shown, "watch", is->watch);
	show_number(shown, "no-wait", is->no_wait);
	show_number(shown, "adopt", is->adopt);
	show_number(shown, "yes", is->yes);
	show_number(shown, "tty", is->tty);
	show_number(shown, "recursive", is->recursive);
	show_number(shown, "verify", is->verify);
	show_number(shown, "local", is->local);
	show_number(shown, "help", is->help);
	show_number(shown, "quiet", is->quiet);
	show_number(shown, "no-mouse", is->no_mouse);
	show_number(shown, "no-stdin", is->no_stdin);
	show_number(shown, "no-delete-wait", is->no_delete_wait);
}

/* "verb|argument|argument option=value …", or what is wrong. */
static void parse(struct parsed *is, const char *line)
{
	const struct cli_verb *verb = NULL;
	int argc = 0, first = -1, count = -1;
	char *rest;
	memset(is, 0, sizeof *is);
	snprintf(is->text, sizeof is->text, "sandmux %s", line);
	for (char *word = strtok_r(is->text, " ", &rest); word != NULL;
		word = strtok_r(NULL, " ", &rest))
		is->argv[argc++] = word;
	assert_in_range(argc, 1, WORDS);
	is->ok =
		cli_parse(&is->opt, argc, is->argv, cli_verbs, &verb, &first, &count, &is->err);
	if (!is->ok) {
		snprintf(is->shown, sizeof is->shown, "%s", is->err.msg);
		assert_int_equal(is->err.code, ERR_ARG_INVALID);
		return;
	}
	snprintf(is->shown, sizeof is->shown, "%s", verb->name[0] ? verb->name : "-");
	assert_int_equal(first + count, argc);
	for (int i = 0; i < count; i++) {
		size_t n = strlen(is->shown);
		snprintf(is->shown + n, sizeof is->shown - n, "|%s", is->argv[first + i]);
	}
	show_engine(is->shown, &is->opt.engine);
	show_own(is->shown, &is->opt);
}

static void expect(const char *const (*rows)[2], size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct parsed is;
		parse(&is, rows[i][0]);
		if (strcmp(is.shown, rows[i][1]) != 0)
			fail_msg("%s:\n%s\ninstead of\n%s", rows[i][0], is.shown, rows[i][1]);
		cli_options_deinit(&is.opt);
	}
}

static const char *const option_rows[][2] = {
	{ "", "-" },
	{ "ls", "ls" },
	{ "ls -n a", "ls namespace=a" },
	{ "ls --namespace=a", "ls namespace=a" },
	{ "ls -A", "ls all=1" },
	{ "ls --all-namespaces", "ls all=1" },
	{ "ls -l a=b", "ls selector=a=b" },
	{ "ls -w", "ls watch=1" },
	{ "ls --context c --kubeconfig f --cluster k --user u",
		"ls context=c kubeconfig=f cluster=k user=u" },
	{ "ls --server s --certificate-authority f --token t", "ls server=s ca=f token=t" },
	{ "ls --as a --as-group g --as-group h", "ls as=a group=g group=h" },
	{ "--as a --as-group g --as-group h", "- as=a group=g group=h" },
	{ "--as-group g ls --as-group h", "ls group=g group=h" },
	{ "ls --insecure-skip-tls-verify --in-cluster --read-only",
		"ls insecure=1 in-cluster=1 read-only=1" },
	{ "ls --request-timeout 2s --watch-idle 1m", "ls request=2000 idle=60000" },
	{ "ls --connectivity router", "ls connectivity=5" },
	{ "ls --router-url u --router-service s --router-namespace n "
	  "--router-token-file f",
		"ls router=u router-service=s router-namespace=n router-token=f" },
	{ "ls --gateway g --gateway-namespace n --gateway-scheme https",
		"ls gateway=g gateway-namespace=n gateway-scheme=https" },
	{ "ls --no-pod-ip-header --runtime legacy --runtime-version 2",
		"ls no-pod-ip=1 runtime=2 runtime-version=2" },
	{ "health --rest u --grpc h:1 --daemon-token-file f --allow-plaintext-token",
		"health rest=u grpc=h:1 daemon-token=f plaintext=1" },
	{ "ls -o table", "ls" },
	{ "ls -o wide", "ls output=wide" },
	{ "ls -o json", "ls output=json" },
	{ "ls -o yaml", "ls output=yaml" },
	{ "ls -o name", "ls output=name" },
	{ "ls -o=json", "ls output=json" },
	{ "ls -ojson", "ls output=json" },
	{ "ls --output=json -q -h --local", "ls output=json local=1 help=1 quiet=1" },
	{ "create --pool p a", "create|a pool=p" },
	{ "create --label a=b --label c= --env K=V -e L=W",
		"create label=a=b label=c= env=K=V env=L=W" },
	{ "create --pod-label a=b --pod-annotation c=d",
		"create pod-label=a=b pod-annotation=c=d" },
	{ "create --shutdown-after 1h30m --no-wait --adopt",
		"create shutdown=5400000 no-wait=1 adopt=1" },
	{ "create --timeout 3m", "create timeout=180000" },
	{ "run a --cwd d -t --no-stdin --output-limit 2KiB -- b",
		"run|a|b cwd=d output-limit=2048 tty=1 no-stdin=1" },
	{ "cp -r --conflict overwrite --verify a b",
		"cp|a|b conflict=overwrite recursive=1 verify=1" },
	{ "cp --conflict skip a b", "cp|a|b conflict=skip" },
	{ "cp --conflict rename a b", "cp|a|b conflict=rename" },
	{ "cp --conflict fail a b", "cp|a|b conflict=fail" },
	{ "rm --yes a b", "rm|a|b yes=1" },
	{ "rm -y a --wait", "rm|a yes=1" },
	{ "rm a --wait=true", "rm|a" },
	{ "rm a --wait=false", "rm|a no-delete-wait=1" },
	{ "files rm -r -y a:b", "files|rm|a:b yes=1 recursive=1" },
	{ "local up --isolation none --state-dir d --daemon-auth off",
		"local|up isolation=none state-dir=d daemon-auth=off" },
	{ "--theme t --no-mouse", "- theme=t no-mouse=1" },
	{ "-l a=b -w", "- selector=a=b watch=1" },
};

static void each_option(void **state)
{
	(void)state;
	expect(option_rows, COUNT(option_rows));
}

static void where_options_stand(void **state)
{
	static const char *const rows[][2] = {
		{ "-n a get b", "get|b namespace=a" },
		{ "get -n a b", "get|b namespace=a" },
		{ "get b -n a", "get|b namespace=a" },
		{ "-n a get b -n c", "get|b namespace=c" },
		{ "-l a=b ls", "ls selector=a=b" },
		{ "rm a -- -b", "rm|a|-b" },
		{ "run a -- ls -l --all", "run|a|ls|-l|--all" },
		{ "run a -e K=V -- -x", "run|a|-x env=K=V" },
		{ "rm - a", "rm|-|a" },
		{ "get -h", "get help=1" }, /* no usage: help is asked for */
		{ "-h", "- help=1" },
	};
	(void)state;
	expect(rows, COUNT(rows));
}

static void what_is_refused(void **state)
{
	static const char *const rows[][2] = {
		{ "xylophone", "unknown verb 'xylophone'" },
		{ "sl", "unknown verb 'sl'; did you mean 'sh'?" },
		{ "cx", "unknown verb 'cx'; did you mean 'cp'?" },
		{ "crx", "unknown verb 'crx'" },
		{ "", "-" },
		{ "describe", "usage: sandmux describe [KIND] NAME…" },
		{ "suspend", "usage: sandmux suspend NAME…" },
		{ "ls a b", "usage: sandmux ls [KIND]" },
		{ "cp a", "usage: sandmux cp [-r] SRC DST" },
		{ "cp a b c", "usage: sandmux cp [-r] SRC DST" },
		{ "create a b", "usage: sandmux create [NAME]" },
		{ "ls --nope", "ls: unknown option --nope" },
		{ "--nope", "unknown option --nope" },
		{ "ls -Z", "ls: unknown option -Z" },
		{ "ls --pool p", "ls: unknown option --pool" },
		{ "ls -n", "ls: -n needs a value" },
		{ "ls --context", "ls: --context needs a value" },
		{ "ls --watch=1", "ls: --watch=1: --watch takes no value" },
		{ "ls --all-namespaces=x",
			"ls: --all-namespaces=x: --all-namespaces takes no value" },
		{ "ls -o xml",
			"ls: -o 'xml' is not one of table, wide, json, yaml, name, jsonpath=, jq=, custom-columns=" },
		{ "ls --connectivity x", "ls: --connectivity 'x' is not known" },
		{ "ls --runtime x", "ls: --runtime 'x' is not one of auto, sandboxd, legacy" },
		{ "ls --request-timeout 0s",
			"ls: --request-timeout '0s' is not a time such as 30s, 5m, 1h30m" },
		{ "ls --watch-idle x",
			"ls: --watch-idle 'x' is not a time such as 30s, 5m, 1h30m" },
		{ "create --timeout 0",
			"create: --timeout '0' is not a time such as 30s, 5m, 1h30m" },
		{ "create --shutdown-after 0s",
			"create: --shutdown-after '0s' is not a time such as 30s, 5m, 1h30m" },
		{ "run a --output-limit 0",
			"run: --output-limit '0' is not a size such as 64KiB, 8MiB" },
		{ "run a --output-limit x",
			"run: --output-limit 'x' is not a size such as 64KiB, 8MiB" },
		{ "create --label a", "create: --label a needs a value: KEY=VALUE" },
		{ "create --label =a", "create: --label =a needs a value: KEY=VALUE" },
		{ "create --pod-label a", "create: --pod-label a needs a value: KEY=VALUE" },
		{ "create --pod-annotation a",
			"create: --pod-annotation a needs a value: KEY=VALUE" },
		{ "run a -e K", "run: --env K needs a value: KEY=VALUE" },
		{ "cp --conflict x a b",
			"cp: --conflict 'x' is not one of overwrite, skip, rename, fail" },
		{ "rm --wait=no a", "rm: --wait 'no' is neither true nor false" },
		{ "--set x ls", "--set 'x' is not NAME=VALUE" },
		{ "--set =1 ls", "--set '=1' is not NAME=VALUE" },
	};
	(void)state;
	expect(rows, COUNT(rows));
}

static void settings_are_set(void **state)
{
	struct parsed is;
	(void)state;
	parse(&is, "--set list-page=7 ls --set ready-timeout=9s");
	assert_string_equal(is.shown, "ls");
	assert_int_equal(setting_get(SETTING_LIST_PAGE), 7);
	assert_int_equal(setting_get(SETTING_READY_TIMEOUT), 9000);
	parse(&is, "cp --max-entries 12 a b");
	assert_string_equal(is.shown, "cp|a|b");
	assert_int_equal(setting_get(SETTING_TRANSFER_MAX_ENTRIES), 12);
	parse(&is, "cp --max-entries x a b");
	assert_int_equal(strncmp(is.shown, "cp: --max-entries: ", 19), 0);
	parse(&is, "--set nope=1 ls");
	assert_int_equal(strncmp(is.shown, "--set: ", 7), 0);
	assert_non_null(strstr(is.shown, "nope"));
}

/* No verb takes both. */
static bool are_apart(const struct cli_option *a, const struct cli_option *b)
{
	for (const struct cli_verb *const *verb = cli_verbs; *verb != NULL; verb++) {
		unsigned sets = (*verb)->options | CLI_OPT_GLOBAL;
		if ((a->sets & sets) != 0 && (b->sets & sets) != 0)
			return false;
	}
	return true;
}

/* What the parser, the pages and a manual take for granted. */
static void rows_of_the_options(void **state)
{
	size_t n = 0;
	(void)state;
	for (const struct cli_option *row = NULL; (row = cli_options_each(row, ~0u)) != NULL;
		n++) {
		bool is_switch = row->kind == CLI_OPTION_SWITCH;
		assert_non_null(row->help);
		assert_int_not_equal(row->sets, 0);
		assert_int_equal(row->value == NULL, is_switch);
		assert_int_equal(row->set != NULL, row->kind == CLI_OPTION_SETTER);
		assert_true(row->at < sizeof(struct cli_options));
		for (const struct cli_option *other = row;
			(other = cli_options_each(other, ~0u)) != NULL;) {
			assert_string_not_equal(row->name, other->name);
			assert_true(!row->letter || row->letter != other->letter ||
				    are_apart(row, other));
		}
	}
	assert_true(n > 60);
	assert_string_equal(cli_options_each(NULL, CLI_OPT_TUI)->name, "theme");
	assert_null(cli_options_each(NULL, 0));
}

/* ---- pages */

static char *page_of(const struct cli_verb *verb)
{
	struct written written;
	written_begin(&written);
	cli_print_help("sandmux", cli_verbs, verb);
	written_end(&written);
	assert_string_equal(written.err, "");
	free(written.err);
	return written.out;
}

static void a_verbs_page(void **state)
{
	(void)state;
	char *page = page_of(&cli_verb_ls);
	assert_int_equal(
		strncmp(page,
			"sandmux ls [KIND]\n\nclaims and sandboxes, joined; or all of another kind.\nAlso: list\n\nExamples:\n  sandmux ls -l team=blue -w\n",
			100),
		0);
	assert_non_null(strstr(page,
		"\n\nOptions:\n"
		"  -l, --selector SELECTOR            label selector\n"
		"  -w, --watch                        go on printing changes\n"
		"      --sort-by FIELD                by a column or a field of -o json: age, state, .metadata.name\n"
		"      --field-selector SELECTOR      by fields of -o json: state=Ready,pool!=local,metadata.name=a\n"
		"      --no-headers                   tables without their titles\n"
		"      --show-labels                  labels as the last column\n"
		"\nOptions of every verb: sandmux options\n"));
	assert_null(strstr(page, "--namespace"));
	assert_null(strstr(page, "--pool"));
	free(page);
	page = page_of(&cli_verb_extend);
	assert_non_null(strstr(page, "\n\nExamples:\n  sandmux extend box --timeout 2h\n"));
	assert_null(strstr(page, "xargs"));
	free(page);
}

static void the_programs_page(void **state)
{
	(void)state;
	char *page = page_of(NULL), *dashboard = page_of(&cli_verb_dashboard);
	assert_string_equal(page, dashboard);
	assert_non_null(strstr(page, "  sandmux [OPTIONS] "));
	for (const struct cli_verb *const *verb = cli_verbs; *verb != NULL; verb++) {
		char *line = x_asprintf("\n  sandmux %s %s", (*verb)->name, (*verb)->arguments);
		if ((*verb)->name[0] != '\0' && !(*verb)->is_hidden)
			assert_non_null(strstr(page, line));
		free(line);
	}
	assert_null(strstr(page, "__complete"));
	assert_null(strstr(page, "--quiet"));
	assert_non_null(strstr(page, "      --no-mouse "));
	assert_null(strstr(page, "--selector"));
	assert_non_null(strstr(page, "\nExit status: 0 done, 1 failed, 2 wrong usage"));
	free(page);
	free(dashboard);
}

/* ---- names and paths */

static void targets(void **state)
{
	static const struct {
		const char *text, *name, *path;
	} rows[] = {
		{ "a:b", "a", "b" },
		{ "a:", "a", "" },
		{ ":b", "", "b" },
		{ "a:b:c", "a", "b:c" },
		{ "a:/b", "a", "/b" },
		{ "a", NULL, "a" },
		{ "./a:b", NULL, "./a:b" },
		{ "/a:b", NULL, "/a:b" },
		{ "x/a:b", NULL, "x/a:b" },
		{ "sandbox/a:b", "sandbox/a", "b" },
		{ "sandboxes/a:b", "sandboxes/a", "b" },
		{ "sandboxclaim/a:b/c", "sandboxclaim/a", "b/c" },
		{ "sandboxclaims/a:b", "sandboxclaims/a", "b" },
		{ "sandboxclaims.extensions/a:b", "sandboxclaims.extensions/a", "b" },
		{ "sandboxed/a:b", NULL, "sandboxed/a:b" },
		{ "sandbox:a/b:c", "sandbox", "a/b:c" },
		{ "sandbox/a", NULL, "sandbox/a" },
	};
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		char *name;
		const char *path;
		bool is = cli_split_target(rows[i].text, &name, &path);
		if (is != (rows[i].name != NULL) || (is && strcmp(name, rows[i].name) != 0) ||
			strcmp(path, rows[i].path) != 0)
			fail_msg("%s: %s %s", rows[i].text, name ? name : "-", path);
		free(name);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_option),
		cmocka_unit_test(where_options_stand),
		cmocka_unit_test(what_is_refused),
		cmocka_unit_test(settings_are_set),
		cmocka_unit_test(rows_of_the_options),
		cmocka_unit_test(a_verbs_page),
		cmocka_unit_test(the_programs_page),
		cmocka_unit_test(targets),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
