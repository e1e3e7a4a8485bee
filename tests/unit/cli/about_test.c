// SPDX-License-Identifier: Apache-2.0
/* Verbs that ask nobody, or only whether somebody is there; usage that is wrong. */
#include "tests/unit/cli/program.h"

/* ---- the cluster as such */

static void probes(void **state)
{
	static const struct row rows[] = {
		{ "probe", 0, "healthy\n", "" },
		{ "probe -o json", 0, "{\n\t\"reason\":\t\"healthy\"\n}\n", "" },
		{ "probe -o yaml", 0, "reason: healthy\n", "" },
		{ "probe --server http://127.0.0.1:1", 6, "transport\n", NULL },
		{ "doctor --server http://127.0.0.1:1", 1, "~\nFAILED   API server  ", "" },
		{ "doctor --server http://127.0.0.1:1 -o json", 1, "~\"level\":\t\"FAILED\"",
			"" },
		{ "doctor --context nope", 1, "~\nFAILED   configuration  ", "" },
		{ "doctor --context nope -o json", 1,
			"~\t\t\"level\":\t\"FAILED\",\n\t\t\"check\":\t\"configuration\",\n",
			"" },
	};
	struct cluster *c = *state;
	expect_all(c, rows, COUNT(rows));
}

/* ---- about itself */

static void about_itself(void **state)
{
	static const struct row rows[] = {
		{ "", 2, "",
			"sandmux: tty.none: the dashboard needs a terminal; without one use a verb, "
			"such as sandmux ls; run it in a terminal\n" },
		{ "help nope", 2, "",
			"sandmux: arg.invalid: there is no page about 'nope'" SEE_HELP },
		{ "help ls", 0,
			"~sandmux ls [KIND]\n\nclaims and sandboxes, joined; or all of another kind.\n",
			"" },
		{ "ls -h", 0,
			"~sandmux ls [KIND]\n\nclaims and sandboxes, joined; or all of another kind.\n",
			"" },
		{ "help", 0, "~  sandmux [OPTIONS] ", "" },
		{ "help keys", 0, "~# Keys\n\nThis page is made from", "" },
		{ "version", 0, "sandmux " SANDMUX_VERSION "\n", "" },
		{ "version -o json", 0, "{\n\t\"version\":\t\"" SANDMUX_VERSION "\"\n}\n", "" },
		{ "version -o yaml", 0, "version: " SANDMUX_VERSION "\n", "" },
		{ "settings", 0,
			"~NAME                     VALUE                  DEFAULT                LIMITS\n"
			"ready-timeout            180s                   180s                   a sandbox becomes "
			"ready\n",
			"" },
		{ "settings --set list-page=7", 0,
			"~\nlist-page                7                      500 ", "" },
		{ "settings", 0,
			"~\nprefix-key               ctrl-] F12             ctrl-] F12 ", "" },
		{ "settings", 0,
			"~\nChange one with --set NAME=VALUE, or for good with a line ", "" },
		{ "settings", 0, "~/sandmux/settings.yaml\n", "" },
		{ "settings -o json", 0,
			"~{\n\t\"ready-timeout\":\t{\n\t\t\"value\":\t180000,\n"
			"\t\t\"default\":\t180000,\n\t\t\"unit\":\t\"ms\"\n\t},\n",
			"" },
		{ "settings -o json --set list-page=7", 0,
			"~\t\"list-page\":\t{\n\t\t\"value\":\t7,\n\t\t\"default\":\t500,\n"
			"\t\t\"unit\":\t\"count\"\n",
			"" },
		{ "settings -o json", 0,
			"~\"prefix-key\":\t{\n\t\t\"value\":\t\"ctrl-] F12\",\n"
			"\t\t\"default\":\t\"ctrl-] F12\",\n\t\t\"unit\":\t\"text\"\n",
			"" },
	};
	struct cluster *c = *state;
	expect_all(c, rows, COUNT(rows));
}

static void scripts_and_wrong_words(void **state)
{
	static const struct row rows[] = {
		{ "completion bash", 0,
			"~_sandmux() {\n\tlocal line=${COMP_LINE:0:COMP_POINT} ", "" },
		{ "completion zsh", 0, "~#compdef sandmux kubectl-sandbox\n_sandmux() {\n",
			"" },
		{ "completion fish", 0, "~function __sandmux_complete\n", "" },
		{ "completion csh", 2, "",
			"sandmux: arg.invalid: completion knows bash, zsh and fish, not 'csh'" SEE_HELP },
		{ "options", 0,
			"~Before or after every verb of sandmux; after -- nothing is an option.\n\n"
			"  -n, --namespace NS ",
			"" },
		{ "nope", 2, "", "sandmux: arg.invalid: unknown verb 'nope'" SEE_HELP },
		{ "nope -o json", 2, "",
			"~{\"code\":\"arg.invalid\",\"message\":\"unknown verb 'nope'\"" },
		{ "ssh a", 2, "",
			"sandmux: arg.invalid: unknown verb 'ssh'; a shell is: sandmux sh NAME" SEE_HELP },
		{ "ls --selctor a", 2, "",
			"sandmux: arg.invalid: ls: unknown option --selctor; did you mean --selector?" SEE_HELP },
		{ "-o json nope", 2, "",
			"~{\"code\":\"arg.invalid\",\"message\":\"unknown verb 'nope'\"" },
	};
	struct cluster *c = *state;
	expect_all(c, rows, COUNT(rows));
}

/* A file that makes no sense stops all but those who tell what it should be. */
static void settings_files(void **state)
{
	static const struct row rows[] = {
		{ "ls", 2, "", "~sandmux: config.file: " },
		{ "settings", 2, "", "~sandmux: config.file: " },
		{ "help", 0, "~  sandmux [OPTIONS] ", "" },
		{ "ls --help", 0, "~sandmux ls [KIND]\n", "" },
		{ "version", 0, "sandmux " SANDMUX_VERSION "\n", "" },
		{ "completion bash", 0, "~_sandmux() {\n", "" },
	};
	struct cluster *c = *state;
	char *folder = x_asprintf("%s/sandmux", c->api.dir);
	char *file = x_asprintf("%s/settings.yaml", folder);
	mkdir(folder, 0700);
	api_write(&c->api, "sandmux/settings.yaml", "list-page: 33\n");
	program_expect(c, "settings", NULL, 0,
		"~\nlist-page                33                     500 ", "");
	program_expect(c, "settings --set list-page=34", NULL, 0,
		"~\nlist-page                34 ", "");
	api_write(&c->api, "sandmux/settings.yaml", "nope: 1\n");
	expect_all(c, rows, COUNT(rows));
	unlink(file);
	rmdir(folder);
	free(folder);
	free(file);
}

/* ---- the embedded backend, where there is none */

static void no_backend(void **state)
{
	static const struct row rows[] = {
		{ "local nope", 2, "",
			"sandmux: arg.invalid: local has up, down, status, recover and reset, not "
			"'nope'" SEE_HELP },
		{ "local status", 6, "~stopped\nkubeconfig  /tmp/", "" },
		{ "local status", 6, "~/sandmux/local/kubeconfig\nlog         /tmp/", "" },
		{ "local status -o json", 6,
			"~{\n\t\"status\":\t\"stopped\",\n\t\"pid\":\t0,\n\t\"port\":\t0,\n",
			"" },
		{ "local status -o json", 6, "~\"quarantine\":\t[]\n}\n", "" },
		{ "local down", 0, "", "the local backend is not running\n" },
		{ "local reset", 2, "",
			"sandmux: arg.invalid: reset without a terminal needs --yes" SEE_HELP },
		{ "local reset --yes", 0, "", "~there is nothing in /tmp/" },
		{ "local reset --yes -q", 0, "", "" },
	};
	struct cluster *c = *state;
	expect_all(c, rows, COUNT(rows));
}

/* ---- what daemons are asked, wrongly */

static void wrong_usage(void **state)
{
#define DIRECT "--rest http://127.0.0.1:1 "
	static const struct row rows[] = {
		{ "cp a b", 2, "",
			"sandmux: arg.invalid: neither 'a' nor 'b' is in a sandbox: write NAME:PATH "
			"(or :PATH with --rest)" SEE_HELP },
		{ "cp :a b", 2, "",
			"sandmux: arg.invalid: ':a' has no NAME before the colon" SEE_HELP },
		{ "cp a :b", 2, "",
			"sandmux: arg.invalid: ':b' has no NAME before the colon" SEE_HELP },
		{ DIRECT "cp x:a b", 2, "",
			"sandmux: arg.invalid: with --rest there is one daemon and no NAME: write "
			":a" SEE_HELP },
		{ DIRECT "cp a x:b", 2, "",
			"sandmux: arg.invalid: with --rest there is one daemon and no NAME: write "
			":b" SEE_HELP },
		{ "files nope a:b", 2, "",
			"sandmux: arg.invalid: files has ls, cat, stat and rm, not 'nope'" SEE_HELP },
		{ "files ls a", 2, "", "sandmux: arg.invalid: 'a' is not NAME:PATH" SEE_HELP },
		{ DIRECT "files ls x:b", 2, "",
			"sandmux: arg.invalid: with --rest there is no NAME: write :b" SEE_HELP },
		{ "health", 2, "",
			"sandmux: arg.invalid: which one? give its NAME, or --rest URL" SEE_HELP },
		{ "metadata", 2, "",
			"sandmux: arg.invalid: which one? give its NAME, or --rest URL" SEE_HELP },
		{ "run", 2, "",
			"sandmux: arg.invalid: usage: sandmux run NAME [OPTIONS] -- ARGV…" SEE_HELP },
		{ "run a", 2, "",
			"sandmux: arg.invalid: usage: sandmux run NAME [OPTIONS] -- ARGV…" SEE_HELP },
		{ DIRECT "run", 2, "",
			"sandmux: arg.invalid: usage: sandmux run [OPTIONS] -- ARGV…" SEE_HELP },
		{ "sh", 2, "",
			"sandmux: arg.invalid: usage: sandmux sh NAME [-- ARGV…]" SEE_HELP },
		{ DIRECT "--context x health", 2, "",
			"sandmux: arg.invalid: --rest and --grpc name one daemon: no cluster options "
			"with them" SEE_HELP },
		{ DIRECT "--kubeconfig x health", 2, "", "~no cluster options with them" },
		{ DIRECT "--local health", 2, "", "~no cluster options with them" },
		/* an early failure is ours */
		{ "run nope -- x", 125, "", "~sandmux: claim.not_found: " },
		{ DIRECT "--context x run -- x", 125, "", "~no cluster options with them" },
		{ "files ls nope:x", 3, "", "~sandmux: claim.not_found: " },
		{ "cp nope:x y", 3, "", "~sandmux: claim.not_found: " },
		{ "health nope", 3, "", "~sandmux: claim.not_found: " },
	};
	struct cluster *c = *state;
	expect_all(c, rows, COUNT(rows));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_CLUSTER(probes),
		WITH_CLUSTER(about_itself),
		WITH_CLUSTER(scripts_and_wrong_words),
		WITH_CLUSTER(settings_files),
		WITH_CLUSTER(no_backend),
		WITH_CLUSTER(wrong_usage),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
