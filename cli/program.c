// SPDX-License-Identifier: Apache-2.0
/* The program: picks the verb, runs it, frees everything, returns its status. */
#include "cli/cli.h"

#include "cli/expression.h"
#include "cli/row_order.h"
#include "cli/verbs.h"
#include "engine/base/fatal_signal.h"
#include "engine/base/log.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

static void set_locale(void)
{
	setlocale(LC_ALL, "");
	/* widths need a UTF-8 locale; in the C locale borrow one */
	if (MB_CUR_MAX == 1 && setlocale(LC_CTYPE, "C.UTF-8") == NULL)
		setlocale(LC_CTYPE, "en_US.UTF-8");
}

/* A core file would hold every token. 1 and not 0: a limit of 0 does not keep a core from a program that
 * core_pattern names, a limit of 1 does (core(5)). Whoever needs one sets SANDMUX_CORE. */
static void forbid_core_files(void)
{
	struct rlimit limit;
	if (getenv("SANDMUX_CORE") != NULL || getrlimit(RLIMIT_CORE, &limit) != 0 ||
		limit.rlim_max == 0)
		return;
	limit.rlim_cur = 1;
	setrlimit(RLIMIT_CORE, &limit);
}

/* A full disk behind stdout is a failure, not silence; a reader that has left is silence. */
static int flushed_status(int status)
{
	if ((fflush(stdout) == 0 && !ferror(stdout)) || status != EXIT_STATUS_OK)
		return status;
	if (cli_is_reader_gone())
		return cli_closed_status();
	fprintf(stderr, "sandmux: system: cannot write to standard output\n");
	return EXIT_STATUS_FAILED;
}

/* As a kubectl plugin the program is called kubectl-sandbox; nothing else changes. */
int cli_main(int argc, char **argv)
{
	set_locale();
	forbid_core_files();
	fatal_signal_init();
	struct cli cli = { .verbs = cli_verbs };
	struct err err = { 0 };
	const struct cli_verb *verb = NULL;
	int first = 0, count = 0;
	const char *spec = getenv("SANDMUX_LOG");
	const char *log_file = getenv("SANDMUX_LOG_FILE");
	if (spec != NULL && !log_configure(spec, &err)) {
		err_prefix(&err, "SANDMUX_LOG");
		return cli_fail(&cli, &err);
	}
	if (log_file != NULL && !log_open_file(log_file, &err)) {
		err_prefix(&err, "SANDMUX_LOG_FILE");
		return cli_fail(&cli, &err);
	}
	int status;
	struct err unreadable = { 0 };
	bool has_settings = cli_read_settings(&unreadable);
	if (!cli_parse(&cli.opt, argc, argv, cli_verbs, &verb, &first, &count, &err)) {
		status = cli_fail(&cli, &err);
	} else if (cli.opt.help) {
		cli_print_help(cli_verbs, verb);
		status = EXIT_STATUS_OK;
	} else if (!has_settings && !verb->needs_no_settings) {
		status = cli_fail(&cli, &unreadable);
	} else if (verb->only_cluster != NULL && cli_is_direct(&cli)) {
		status = cli_fail_usage(&cli, "%s", verb->only_cluster);
	} else {
		status = verb->run(&cli, count, argv + first);
	}
	if (cli.engine != NULL)
		cli_settle(&cli);
	cli_row_order_free(cli.row_order);
	engine_free(cli.engine);
	net_watch_fatal_free(cli.signals);
	net_loop_free(cli.loop);
	if (status == EXIT_STATUS_OK)
		status = cli_expression_status(cli.opt.expression);
	cli_options_deinit(&cli.opt);
	free(cli.kubeconfig);
	return flushed_status(status);
}
