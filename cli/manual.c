// SPDX-License-Identifier: Apache-2.0
/* The manual: what a table says is taken from it, what no table says (environment, files) has one here. */
#include "cli/manual.h"

#include "cli/options.h"
#include "cli/verbs.h"
#include "engine/base/err.h"
#include "engine/base/safe_text.h"
#include "engine/base/settings.h"
#include "engine/base/str.h"

#include <stdio.h>
#include <string.h>

struct named {
	const char *name, *what;
};

static const struct named environment[] = {
	{ "KUBECONFIG", "kubeconfig files, separated by colons; else ~/.kube/config" },
	{ "HTTPS_PROXY, HTTP_PROXY, NO_PROXY",
		"the way to the API server, as kubectl reads them; in small letters too" },
	{ "SANDMUX_LOCAL_DIR",
		"where the embedded backend keeps its state; --state-dir beats it" },
	{ "SANDMUX_LOG",
		"what is logged: LEVEL or MODULE:LEVEL, separated by commas, of the levels "
		"error, warn, info, debug, trace (default info)" },
	{ "SANDMUX_LOG_FILE", "the log is appended to this file too" },
	{ "SANDMUX_TELEMETRY_FILE",
		"spans and log lines are appended to this file, one OTLP JSON object a line" },
	{ "SANDMUX_CORE", "if set, a crash may leave a core file, which holds every token" },
	{ "SANDMUX_SERVICE_ACCOUNT_DIR",
		"the pod's service account; else /var/run/secrets/kubernetes.io/serviceaccount" },
	{ "KUBERNETES_SERVICE_HOST, KUBERNETES_SERVICE_PORT, POD_NAMESPACE",
		"the cluster that we run in" },
	{ "XDG_CONFIG_HOME, XDG_STATE_HOME, XDG_RUNTIME_DIR", "where the files below are" },
	{ "TERM, COLORTERM, NO_COLOR",
		"what the terminal can; a NO_COLOR that is not empty: no colours" },
};

static const struct named files[] = {
	{ "~/.config/sandmux/settings.yaml", "settings, a line NAME: VALUE each" },
	{ "~/.config/sandmux/themes", "themes of one's own, before the installed ones" },
	{ "~/.local/state/sandmux/local",
		"the embedded backend: its store, volumes, log, kubeconfig" },
	{ "$XDG_RUNTIME_DIR/sandmux", "sockets; without it /tmp/sandmux-UID" },
};

/* Of a process, beside the table of the exit statuses. */
static const struct named process_statuses[] = {
	{ "124", "run, cp: the time limit" },
	{ "125", "run, sh: our own failure" },
	{ "126", "run, sh: not executable" },
	{ "127", "run, sh: not found in the sandbox" },
	{ "137", "run, sh: killed by a signal; the daemon does not say which" },
	{ "128 + n", "a signal n ended sandmux" },
};

/* ---- man(7) */

/* Text in a line: nothing in it is a request, an escape or not ASCII. */
static void add_text(struct str *out, const char *text)
{
	for (struct slice rest = slice_of(text); rest.n > 0;) {
		int32_t c = 0;
		size_t n = safe_text_decode(rest, &c);
		n = n > 0 ? n : 1;
		if (c == '-')
			str_add(out, "\\-");
		else if (c == '\\')
			str_add(out, "\\e");
		else if (c == '\'')
			str_add(out, "\\(aq");
		else if (c == '`')
			str_add(out, "\\(ga");
		else if (c == '~')
			str_add(out, "\\(ti");
		else if (c == '^')
			str_add(out, "\\(ha");
		else if (c == '"')
			str_add(out, "\\(dq");
		else if (c > 0x7E)
			str_addf(out, "\\[u%04X]", (unsigned)c);
		else
			str_add_bytes(out, rest.p, n);
		rest = (struct slice){ rest.p + n, rest.n - n };
	}
}

static void add_line(struct str *out, const char *text)
{
	if (text[0] == '.')
		str_add(out, "\\&");
	add_text(out, text);
	str_add(out, "\n");
}

/* A paragraph with a tag: bold its name, italic its value. */
static void add_tag(struct str *out, const char *name, const char *value, const char *what)
{
	str_add(out, ".TP\n\\fB");
	add_text(out, name);
	str_add(out, "\\fR");
	if (value != NULL && value[0] != '\0') {
		str_add(out, " \\fI");
		add_text(out, value);
		str_add(out, "\\fR");
	}
	str_add(out, "\n");
	if (what[0] != '\0')
		add_line(out, what);
}

static void add_named(struct str *out, const char *heading, const struct named *rows, size_t n)
{
	str_addf(out, ".SH %s\n", heading);
	for (size_t i = 0; i < n; i++)
		add_tag(out, rows[i].name, NULL, rows[i].what);
}

static void add_options(struct str *out, unsigned sets)
{
	char name[64];
	for (const struct cli_option *row = NULL;
		(row = cli_options_each(row, sets)) != NULL;) {
		char letter[] = { '-', row->letter, ',', ' ', '\0' };
		snprintf(name, sizeof name, "%s--%s", row->letter ? letter : "", row->name);
		add_tag(out, name, row->value, row->help);
	}
}

static void add_examples(struct str *out, const char *examples)
{
	str_add(out, ".RS\n.PP\n.nf\n");
	for (const char *at = examples; *at != '\0';) {
		size_t n = strcspn(at, "\n");
		char line[256];
		size_t indent = strspn(at, " ") < n ? strspn(at, " ") : n;
		n -= indent;
		at += indent;
		n = n < sizeof line ? n : sizeof line - 1;
		memcpy(line, at, n);
		line[n] = '\0';
		add_line(out, line);
		at += strcspn(at, "\n");
		at += *at == '\n';
	}
	str_add(out, ".fi\n.RE\n");
}

static void add_verbs(struct str *out, const struct cli_verb *const *verbs)
{
	str_add(out, ".SH COMMANDS\n");
	for (const struct cli_verb *const *at = verbs + 1; *at != NULL; at++) {
		const struct cli_verb *verb = *at;
		if (verb->is_hidden)
			continue;
		add_tag(out, verb->name, verb->arguments, verb->help);
		unsigned own = verb->options & ~(unsigned)CLI_OPT_GLOBAL;
		if (cli_options_each(NULL, own) != NULL) {
			str_add(out, ".RS\n");
			add_options(out, own);
			str_add(out, ".RE\n");
		}
		if (verb->examples != NULL)
			add_examples(out, verb->examples);
	}
}

static void add_settings(struct str *out)
{
	char initial[SETTING_TEXT_BYTES];
	str_add(out,
		".SH SETTINGS\nFor one call\n.BR \\-\\-set ,\n"
		"for good a line in settings.yaml. Times: 200ms, 30s, 1h30m; sizes: 64KiB, 8MiB;\n"
		"none where there may be no limit.\n");
	for (int i = 0; i < SETTING_COUNT; i++) {
		const struct setting_row *row = setting_row((enum setting)i);
		const char *text = setting_initial_text((enum setting)i);
		add_tag(out, row->name,
			text ? text : setting_format((enum setting)i, row->initial, initial),
			row->help);
	}
}

static const char *repeats(enum err_retry retry)
{
	static const char *const words[] = {
		[ERR_RETRY_NO] = "no",
		[ERR_RETRY_SAME] = "yes",
		[ERR_RETRY_AFTER] = "after",
	};
	return words[retry];
}

static void add_statuses(struct str *out)
{
	char number[8];
	str_add(out, ".SH EXIT STATUS\n");
	for (int i = 0; i < EXIT_STATUS_COUNT; i++) {
		snprintf(number, sizeof number, "%d", i);
		add_tag(out, number, NULL, err_exit_meaning((enum err_exit)i));
	}
	for (size_t i = 0; i < sizeof process_statuses / sizeof *process_statuses; i++)
		add_tag(out, process_statuses[i].name, NULL, process_statuses[i].what);
	str_add(out,
		".SH DIAGNOSTICS\nAn error is one line on standard error,\n"
		".IR \"sandmux: CODE: what (why); next step\" ;\n"
		"with\n.B \\-o json\nan object with code, message, retryable and hint. The codes:\n");
	for (int i = ERR_NONE + 1; i < ERR_CODE_COUNT; i++) {
		const struct err err = { .code = (enum err_code)i };
		snprintf(number, sizeof number, "%d", (int)err_exit_status(&err));
		add_tag(out, err_code_name(err.code), number, err_hint(&err));
	}
}

void cli_manual_add_page(struct str *out, const struct cli_verb *const *verbs)
{
	str_add(out,
		".\\\" SPDX-License-Identifier: Apache-2.0\n"
		".\\\" Made by scripts/manual.py from the tables of the program.\n"
		".TH SANDMUX 1 \"\" \"sandmux " SANDMUX_VERSION "\" \"User Commands\"\n"
		".SH NAME\nsandmux, kubectl\\-sandbox \\- a terminal dashboard and multiplexer for Agent "
		"Sandboxes\n"
		".SH SYNOPSIS\n.B sandmux\n.RI [ OPTION ]...\n.br\n.B sandmux\n"
		".I COMMAND\n.RI [ OPTION ]... \" \" [ ARGUMENT ]...\n"
		".SH DESCRIPTION\nWithout a command it is the dashboard: every SandboxClaim and Sandbox,\n"
		"live, with shells, files, events and logs; the key\n.B ?\nshows all keys.\n"
		"With a command it does one thing and ends. Installed as\n.BR kubectl\\-sandbox ,\n"
		"it is also the plugin\n.BR \"kubectl sandbox\" .\n.PP\n"
		"NAME is a claim, CLAIM.UID8 (the first eight characters of its UID), or sandbox/NAME for a\n"
		"Sandbox without a claim. With\n.BI \\-\\-rest \" URL\" \" \\-\\-grpc\" \" HOST:PORT\"\n"
		"there is no cluster and no NAME, and paths are written :PATH.\n");
	add_verbs(out, verbs);
	str_add(out,
		".SH OPTIONS\nBefore or after the command; after\n.B \\-\\-\nnothing is an option.\n");
	add_options(out, CLI_OPT_GLOBAL);
	str_add(out, ".PP\nOf the dashboard:\n");
	add_options(out, CLI_OPT_TUI | CLI_OPT_LIST);
	add_settings(out);
	add_statuses(out);
	add_named(out, "ENVIRONMENT", environment, sizeof environment / sizeof *environment);
	add_named(out, "FILES", files, sizeof files / sizeof *files);
	str_add(out, ".SH SEE ALSO\n.BR kubectl (1)\n");
}

/* ---- Markdown */

void cli_manual_add_codes(struct str *out)
{
	str_add(out,
		"| code | exit status | does repeating help | hint |\n|---|---|---|---|\n");
	for (int i = ERR_NONE + 1; i < ERR_CODE_COUNT; i++) {
		const struct err err = { .code = (enum err_code)i };
		str_addf(out, "| `%s` | %d | %s | %s |\n", err_code_name(err.code),
			(int)err_exit_status(&err), repeats(err_retry(&err)), err_hint(&err));
	}
}
