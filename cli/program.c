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

/* As a kubectl plugin the program is called kubectl-sandbox, and says so in its pages of help. */
static const char *program_name(const char *path)
{
	const char *slash = path ? strrchr(path, '/') : NULL;
	const char *name = slash ? slash + 1 : path ? path : "";
	return strncmp(name, "kubectl-", 8) == 0 ? "kubectl sandbox" : "sandmux";
}

/* "sandmux __complete WORD…", and what kubectl runs to complete the words of its plugin: they are no options of ours. */
static bool is_completing(int argc, char **argv, int *first)
{
	const char *slash = argc > 0 ? strrchr(argv[0], '/') : NULL;
	const char *name = slash ? slash + 1 : argc > 0 ? argv[0] : "";
	*first = 1;
	if (strcmp(name, "kubectl_complete-sandbox") == 0)
		return true;
	*first = 2;
	return argc > 1 && strcmp(argv[1], cli_verb_complete.name) == 0;
}

/* A line that cannot be read may still say how its errors are to be. */
static void find_output(struct cli_options *opt, int argc, char **argv)
{
	for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
		const char *value =
			strncmp(argv[i], "--output=", 9) == 0 ? argv[i] + 9
			: strncmp(argv[i], "-o", 2) == 0 && argv[i][2]
				? argv[i] + 2 + (argv[i][2] == '=')
			: (strcmp(argv[i], "-o") == 0 || strcmp(argv[i], "--output") == 0) &&
					i + 1 < argc
				? argv[i + 1]
				: "";
		if (strcmp(value, "json") == 0)
			opt->output = CLI_JSON;
	}
}

int cli_main(int argc, char **argv)
{
	set_locale();
	forbid_core_files();
	fatal_signal_init();
	struct cli cli = {
		.verbs = cli_verbs, .run = cli_main, .program = program_name(argv[0])
	};
	struct err err = { 0 };
	const struct cli_verb *verb = NULL;
	int first = 0, count = 0;
	if (is_completing(argc, argv, &first))
		return cli_verb_complete.run(
			&cli, argc > first ? argc - first : 0, argv + first);
	first = 0;
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
		find_output(&cli.opt, argc, argv);
		status = cli_fail(&cli, &err);
	} else if (cli.opt.help) {
		cli_print_help(cli.program, cli_verbs, verb);
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
	if (cli.dry_run_out != NULL && fclose(cli.dry_run_out) != 0 && status == EXIT_STATUS_OK)
		status = EXIT_STATUS_FAILED;
	return flushed_status(status);
}
