// SPDX-License-Identifier: Apache-2.0
/* The options, one row each, and the parser. Options may stand before and after the verb; after "--" nothing
 * is an option. */
#include "cli/cli.h"

#include "engine/base/clock.h"
#include "engine/base/mem.h"
#include "engine/base/num.h"
#include "engine/base/settings.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum cli_option_id {
	OPT_NAMESPACE = 256,
	OPT_ALL_NAMESPACES,
	OPT_SELECTOR,
	OPT_WATCH,
	OPT_CONTEXT,
	OPT_KUBECONFIG,
	OPT_CLUSTER,
	OPT_USER,
	OPT_SERVER,
	OPT_CA,
	OPT_TOKEN,
	OPT_AS,
	OPT_AS_GROUP,
	OPT_INSECURE,
	OPT_IN_CLUSTER,
	OPT_REQUEST_TIMEOUT,
	OPT_WATCH_IDLE,
	OPT_SET,
	OPT_LOCAL,
	OPT_CONNECTIVITY,
	OPT_ROUTER_URL,
	OPT_ROUTER_SERVICE,
	OPT_ROUTER_NAMESPACE,
	OPT_ROUTER_TOKEN_FILE,
	OPT_GATEWAY,
	OPT_GATEWAY_NAMESPACE,
	OPT_GATEWAY_SCHEME,
	OPT_NO_POD_IP_HEADER,
	OPT_RUNTIME,
	OPT_RUNTIME_VERSION,
	OPT_REST,
	OPT_GRPC,
	OPT_DAEMON_TOKEN_FILE,
	OPT_PLAINTEXT_TOKEN,
	OPT_READ_ONLY,
	OPT_OUTPUT,
	OPT_QUIET,
	OPT_HELP,
	OPT_POOL,
	OPT_LABEL,
	OPT_POD_LABEL,
	OPT_POD_ANNOTATION,
	OPT_SHUTDOWN_AFTER,
	OPT_NO_WAIT,
	OPT_ADOPT,
	OPT_ENV,
	OPT_CWD,
	OPT_TTY,
	OPT_NO_STDIN,
	OPT_OUTPUT_LIMIT,
	OPT_RECURSIVE,
	OPT_CONFLICT,
	OPT_VERIFY,
	OPT_MAX_ENTRIES,
	OPT_YES,
	OPT_WAIT,
	OPT_ISOLATION,
	OPT_STATE_DIR,
	OPT_DAEMON_AUTH,
	OPT_THEME,
	OPT_NO_MOUSE,
	OPT_TIMEOUT,
};

struct option_row {
	enum cli_option_id id;
	const char *name;
	char letter;
	const char *value; /* NULL: a switch */
	unsigned sets;
	const char *help;
};

static const struct option_row rows[] = {
	{ OPT_NAMESPACE, "namespace", 'n', "NS", CLI_OPT_GLOBAL, "namespace" },
	{ OPT_ALL_NAMESPACES, "all-namespaces", 'A', NULL, CLI_OPT_GLOBAL, "every namespace" },
	{ OPT_CONTEXT, "context", 0, "NAME", CLI_OPT_GLOBAL, "context of the kubeconfig" },
	{ OPT_KUBECONFIG, "kubeconfig", 0, "FILE", CLI_OPT_GLOBAL, "kubeconfig file" },
	{ OPT_LOCAL, "local", 0, NULL, CLI_OPT_GLOBAL,
		"the embedded backend on this machine, started if needed" },
	{ OPT_SET, "set", 0, "NAME=VALUE", CLI_OPT_GLOBAL,
		"another limit or timeout; `sandmux settings` lists them; may repeat" },
	{ OPT_CLUSTER, "cluster", 0, "NAME", CLI_OPT_GLOBAL, "cluster of the kubeconfig" },
	{ OPT_USER, "user", 0, "NAME", CLI_OPT_GLOBAL, "user of the kubeconfig" },
	{ OPT_SERVER, "server", 0, "URL", CLI_OPT_GLOBAL, "address of the API server" },
	{ OPT_CA, "certificate-authority", 0, "FILE", CLI_OPT_GLOBAL,
		"certificate authority of the API server" },
	{ OPT_TOKEN, "token", 0, "TOKEN", CLI_OPT_GLOBAL,
		"bearer token; others can see it in the process list: prefer the kubeconfig" },
	{ OPT_AS, "as", 0, "USER", CLI_OPT_GLOBAL, "impersonate this user" },
	{ OPT_AS_GROUP, "as-group", 0, "GROUP", CLI_OPT_GLOBAL,
		"impersonate this group; may repeat" },
	{ OPT_INSECURE, "insecure-skip-tls-verify", 0, NULL, CLI_OPT_GLOBAL,
		"do not check the server's certificate (marked on screen)" },
	{ OPT_IN_CLUSTER, "in-cluster", 0, NULL, CLI_OPT_GLOBAL,
		"use the pod's service account" },
	{ OPT_REQUEST_TIMEOUT, "request-timeout", 0, "TIME", CLI_OPT_GLOBAL,
		"limit of one API call" },
	{ OPT_WATCH_IDLE, "watch-idle", 0, "TIME", CLI_OPT_GLOBAL,
		"a watch that is silent for so long is replaced (default 90s)" },
	{ OPT_CONNECTIVITY, "connectivity", 0, "MODE", CLI_OPT_GLOBAL,
		"how to reach sandboxes: port-forward, in-cluster-service, in-cluster-pod-ip, "
		"gateway, router" },
	{ OPT_ROUTER_URL, "router-url", 0, "URL", CLI_OPT_GLOBAL,
		"reach sandboxes through this sandbox-router" },
	{ OPT_ROUTER_SERVICE, "router-service", 0, "NAME", CLI_OPT_GLOBAL,
		"reach them by port-forward to this sandbox-router's Service" },
	{ OPT_ROUTER_NAMESPACE, "router-namespace", 0, "NS", CLI_OPT_GLOBAL,
		"where that Service is (default: the sandbox's namespace)" },
	{ OPT_ROUTER_TOKEN_FILE, "router-token-file", 0, "FILE", CLI_OPT_GLOBAL,
		"bearer token for the router's own check" },
	{ OPT_GATEWAY, "gateway", 0, "NAME", CLI_OPT_GLOBAL,
		"reach them through this Gateway and the sandbox-router behind it" },
	{ OPT_GATEWAY_NAMESPACE, "gateway-namespace", 0, "NAME", CLI_OPT_GLOBAL,
		"where the Gateway is (default: default)" },
	{ OPT_GATEWAY_SCHEME, "gateway-scheme", 0, "SCHEME", CLI_OPT_GLOBAL,
		"http (default) or https" },
	{ OPT_NO_POD_IP_HEADER, "no-pod-ip-header", 0, NULL, CLI_OPT_GLOBAL,
		"do not tell the router the pod's IP" },
	{ OPT_RUNTIME, "runtime", 0, "KIND", CLI_OPT_GLOBAL,
		"auto (by the pod's ports), sandboxd, or legacy: the Python runtime" },
	{ OPT_RUNTIME_VERSION, "runtime-version", 0, "VERSION", CLI_OPT_GLOBAL,
		"refuse a sandboxd that names another version" },
	{ OPT_REST, "rest", 0, "URL", CLI_OPT_GLOBAL,
		"a daemon's files address; no cluster and no NAME then, paths are :PATH" },
	{ OPT_GRPC, "grpc", 0, "HOST:PORT", CLI_OPT_GLOBAL, "a daemon's processes address" },
	{ OPT_DAEMON_TOKEN_FILE, "daemon-token-file", 0, "FILE", CLI_OPT_GLOBAL,
		"bearer token for the daemon" },
	{ OPT_PLAINTEXT_TOKEN, "allow-plaintext-token", 0, NULL, CLI_OPT_GLOBAL,
		"send the daemon's token without TLS" },
	{ OPT_READ_ONLY, "read-only", 0, NULL, CLI_OPT_GLOBAL, "refuse every change" },
	{ OPT_OUTPUT, "output", 'o', "FORM", CLI_OPT_GLOBAL,
		"table, wide, json, yaml or name" },
	{ OPT_QUIET, "quiet", 'q', NULL, CLI_OPT_GLOBAL, "no remarks and no progress" },
	{ OPT_HELP, "help", 'h', NULL, CLI_OPT_GLOBAL, "this text" },
	{ OPT_SELECTOR, "selector", 'l', "SELECTOR", CLI_OPT_LIST, "label selector" },
	{ OPT_WATCH, "watch", 'w', NULL, CLI_OPT_LIST, "go on printing changes" },
	{ OPT_POOL, "pool", 0, "POOL", CLI_OPT_CREATE, "the warm pool to take it from" },
	{ OPT_LABEL, "label", 0, "K=V", CLI_OPT_CREATE, "label of the claim; may repeat" },
	{ OPT_POD_LABEL, "pod-label", 0, "K=V", CLI_OPT_CREATE,
		"label of the pod; may repeat" },
	{ OPT_POD_ANNOTATION, "pod-annotation", 0, "K=V", CLI_OPT_CREATE,
		"annotation of the pod; may repeat" },
	{ OPT_SHUTDOWN_AFTER, "shutdown-after", 0, "TIME", CLI_OPT_CREATE,
		"delete it this long after now" },
	{ OPT_NO_WAIT, "no-wait", 0, NULL, CLI_OPT_CREATE, "do not wait until it is Ready" },
	{ OPT_ADOPT, "adopt", 0, NULL, CLI_OPT_CREATE, "take over a claim of that name" },
	{ OPT_ENV, "env", 'e', "K=V", CLI_OPT_RUN | CLI_OPT_CREATE, "environment; may repeat" },
	{ OPT_CWD, "cwd", 0, "DIR", CLI_OPT_RUN, "working directory in the sandbox" },
	{ OPT_TTY, "tty", 't', NULL, CLI_OPT_RUN, "with a terminal" },
	{ OPT_NO_STDIN, "no-stdin", 0, NULL, CLI_OPT_RUN,
		"leave our standard input alone; its own is empty" },
	{ OPT_OUTPUT_LIMIT, "output-limit", 0, "SIZE", CLI_OPT_RUN,
		"kill it when it has written more than this, both streams together" },
	{ OPT_RECURSIVE, "recursive", 'r', NULL, CLI_OPT_COPY | CLI_OPT_FILES,
		"directories with their contents" },
	{ OPT_CONFLICT, "conflict", 0, "POLICY", CLI_OPT_COPY,
		"when the target exists: overwrite, skip, rename or fail" },
	{ OPT_VERIFY, "verify", 0, NULL, CLI_OPT_COPY, "compare SHA-256 on both sides" },
	{ OPT_MAX_ENTRIES, "max-entries", 0, "N", CLI_OPT_COPY,
		"a tree may have so many entries without a question, or none: any number" },
	{ OPT_YES, "yes", 'y', NULL, CLI_OPT_DELETE | CLI_OPT_LOCAL | CLI_OPT_FILES,
		"do not ask" },
	{ OPT_WAIT, "wait", 0, "BOOL", CLI_OPT_DELETE,
		"until it is gone (default true); --wait=false: only ask for it" },
	{ OPT_ISOLATION, "isolation", 0, "MODE", CLI_OPT_LOCAL,
		"bwrap, or none: programs then run as you, with your files and network" },
	{ OPT_STATE_DIR, "state-dir", 0, "DIR", CLI_OPT_GLOBAL,
		"where the embedded backend keeps its state" },
	{ OPT_DAEMON_AUTH, "daemon-auth", 0, "MODE", CLI_OPT_LOCAL,
		"token, or off for clients that cannot send one" },
	{ OPT_THEME, "theme", 0, "NAME", CLI_OPT_TUI, "colours" },
	{ OPT_NO_MOUSE, "no-mouse", 0, NULL, CLI_OPT_TUI, "leave the mouse to the terminal" },
	{ OPT_TIMEOUT, "timeout", 0, "TIME", CLI_OPT_TIMEOUT, "how long to wait: 180s, 3m" },
};
enum { ROW_COUNT = sizeof rows / sizeof rows[0] };

void cli_list_add(struct cli_list *list, const char *item)
{
	array_grow(&list->items, &list->capacity, list->n + 2, sizeof *list->items);
	list->items[list->n++] = item;
	list->items[list->n] = NULL;
}

void cli_options_deinit(struct cli_options *opt)
{
	free(opt->as_groups.items);
	free(opt->labels.items);
	free(opt->env.items);
	free(opt->pod_labels.items);
	free(opt->pod_annotations.items);
}

static bool parse_time(int64_t *out, const char *name, const char *text, struct err *err)
{
	if (clock_parse_duration(text, out) && *out > 0)
		return true;
	return err_set(err, ERR_ARG_INVALID, "--%s '%s' is not a time such as 30s, 5m, 1h30m",
		name, text);
}

static bool parse_bool(bool *is_off, const char *name, const char *text, struct err *err)
{
	*is_off = text != NULL && strcmp(text, "false") == 0;
	return text == NULL || *is_off || strcmp(text, "true") == 0 ||
	       err_set(err, ERR_ARG_INVALID, "--%s '%s' is neither true nor false", name, text);
}

static bool parse_size(int64_t *out, const char *name, const char *text, struct err *err)
{
	uint64_t bytes;
	if (!num_parse_size(text, INT64_MAX, &bytes) || bytes == 0)
		return err_set(err, ERR_ARG_INVALID,
			"--%s '%s' is not a size such as 64KiB, 8MiB", name, text);
	*out = (int64_t)bytes;
	return true;
}

static bool parse_output(enum cli_output *out, const char *text, struct err *err)
{
	static const char *const names[] = { "table", "wide", "json", "yaml", "name" };
	_Static_assert(
		sizeof names / sizeof *names == CLI_OUTPUT_COUNT, "a name for each form");
	for (int i = 0; i < CLI_OUTPUT_COUNT; i++) {
		if (strcmp(text, names[i]) == 0) {
			*out = (enum cli_output)i;
			return true;
		}
	}
	return err_set(err, ERR_ARG_INVALID,
		"-o '%s' is not one of table, wide, json, yaml, name", text);
}

static bool add_pair(struct cli_list *list, const char *name, const char *text, struct err *err)
{
	const char *equals = strchr(text, '=');
	if (equals == NULL || equals == text)
		return err_set(
			err, ERR_ARG_INVALID, "--%s %s needs a value: KEY=VALUE", name, text);
	cli_list_add(list, text);
	return true;
}

static bool parse_conflict(const char **out, const char *text, struct err *err)
{
	static const char *const names[] = { "overwrite", "skip", "rename", "fail" };
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		if (strcmp(text, names[i]) == 0) {
			*out = names[i];
			return true;
		}
	}
	return err_set(err, ERR_ARG_INVALID,
		"--conflict '%s' is not one of overwrite, skip, rename, fail", text);
}

/* Options of the cluster and the daemon. False without *err: not one of these. */
static bool take_engine_option(struct cli_options *opt, const struct option_row *row,
	const char *value, struct err *err)
{
	struct engine_opts *engine = &opt->engine;
	switch (row->id) {
	case OPT_NAMESPACE:
		engine->namespace_ = value;
		return true;
	case OPT_ALL_NAMESPACES:
		engine->all_namespaces = true;
		return true;
	case OPT_SELECTOR:
		engine->label_selector = value;
		return true;
	case OPT_CONTEXT:
		engine->context = value;
		return true;
	case OPT_KUBECONFIG:
		engine->kubeconfig = value;
		return true;
	case OPT_CLUSTER:
		engine->cluster = value;
		return true;
	case OPT_USER:
		engine->user = value;
		return true;
	case OPT_SERVER:
		engine->server = value;
		return true;
	case OPT_CA:
		engine->certificate_authority = value;
		return true;
	case OPT_TOKEN:
		engine->token = value;
		return true;
	case OPT_AS:
		engine->as = value;
		return true;
	case OPT_AS_GROUP:
		cli_list_add(&opt->as_groups, value);
		return true;
	case OPT_INSECURE:
		engine->insecure_skip_tls_verify = true;
		return true;
	case OPT_IN_CLUSTER:
		engine->in_cluster = true;
		return true;
	case OPT_REQUEST_TIMEOUT:
		return parse_time(&engine->request_timeout_ms, row->name, value, err);
	case OPT_WATCH_IDLE:
		return parse_time(&engine->watch_idle_ms, row->name, value, err);
	case OPT_CONNECTIVITY:
		if (engine_connectivity_parse(value, &engine->connectivity))
			return true;
		return err_set(err, ERR_ARG_INVALID, "--connectivity '%s' is not known", value);
	case OPT_ROUTER_URL:
		engine->router_url = value;
		return true;
	case OPT_ROUTER_SERVICE:
		engine->router_service = value;
		return true;
	case OPT_ROUTER_NAMESPACE:
		engine->router_namespace = value;
		return true;
	case OPT_ROUTER_TOKEN_FILE:
		engine->router_token_file = value;
		return true;
	case OPT_GATEWAY:
		engine->gateway = value;
		return true;
	case OPT_GATEWAY_NAMESPACE:
		engine->gateway_namespace = value;
		return true;
	case OPT_GATEWAY_SCHEME:
		engine->gateway_scheme = value;
		return true;
	case OPT_NO_POD_IP_HEADER:
		engine->no_pod_ip_header = true;
		return true;
	case OPT_RUNTIME:
		if (engine_runtime_parse(value, &engine->runtime))
			return true;
		return err_set(err, ERR_ARG_INVALID,
			"--runtime '%s' is not one of auto, sandboxd, legacy", value);
	case OPT_RUNTIME_VERSION:
		engine->runtime_version = value;
		return true;
	case OPT_REST:
		engine->rest_url = value;
		return true;
	case OPT_GRPC:
		engine->grpc_address = value;
		return true;
	case OPT_DAEMON_TOKEN_FILE:
		engine->daemon_token_file = value;
		return true;
	case OPT_PLAINTEXT_TOKEN:
		engine->allow_plaintext_token = true;
		return true;
	case OPT_READ_ONLY:
		engine->read_only = true;
		return true;
	default:
		return false;
	}
}

static bool set_setting(const char *text, struct err *err)
{
	const char *equals = strchr(text, '=');
	if (equals == NULL || equals == text)
		return err_set(err, ERR_ARG_INVALID, "--set '%s' is not NAME=VALUE", text);
	char *name = x_strndup(text, (size_t)(equals - text));
	bool ok = setting_set(name, equals + 1, err);
	free(name);
	return ok || err_prefix(err, "--set");
}

static bool take_option(struct cli_options *opt, const struct option_row *row,
	const char *value, struct err *err)
{
	switch (row->id) {
	case OPT_SET:
		return set_setting(value, err);
	case OPT_LOCAL:
		opt->local = true;
		return true;
	case OPT_OUTPUT:
		return parse_output(&opt->output, value, err);
	case OPT_QUIET:
		opt->quiet = true;
		return true;
	case OPT_HELP:
		opt->help = true;
		return true;
	case OPT_WATCH:
		opt->watch = true;
		return true;
	case OPT_POOL:
		opt->pool = value;
		return true;
	case OPT_LABEL:
		return add_pair(&opt->labels, row->name, value, err);
	case OPT_POD_LABEL:
		return add_pair(&opt->pod_labels, row->name, value, err);
	case OPT_POD_ANNOTATION:
		return add_pair(&opt->pod_annotations, row->name, value, err);
	case OPT_ENV:
		return add_pair(&opt->env, row->name, value, err);
	case OPT_SHUTDOWN_AFTER:
		return parse_time(&opt->shutdown_after_ms, row->name, value, err);
	case OPT_TIMEOUT:
		opt->timeout_given = true;
		return parse_time(&opt->timeout_ms, row->name, value, err);
	case OPT_NO_WAIT:
		opt->no_wait = true;
		return true;
	case OPT_ADOPT:
		opt->adopt = true;
		return true;
	case OPT_CWD:
		opt->cwd = value;
		return true;
	case OPT_TTY:
		opt->tty = true;
		return true;
	case OPT_NO_STDIN:
		opt->no_stdin = true;
		return true;
	case OPT_OUTPUT_LIMIT:
		return parse_size(&opt->output_limit_bytes, row->name, value, err);
	case OPT_RECURSIVE:
		opt->recursive = true;
		return true;
	case OPT_CONFLICT:
		return parse_conflict(&opt->conflict, value, err);
	case OPT_VERIFY:
		opt->verify = true;
		return true;
	case OPT_MAX_ENTRIES:
		return setting_set("transfer-max-entries", value, err) ||
		       err_prefix(err, "--max-entries");
	case OPT_YES:
		opt->yes = true;
		return true;
	case OPT_WAIT:
		return parse_bool(&opt->no_delete_wait, row->name, value, err);
	case OPT_ISOLATION:
		opt->isolation = value;
		return true;
	case OPT_STATE_DIR:
		opt->state_dir = value;
		return true;
	case OPT_DAEMON_AUTH:
		opt->daemon_auth = value;
		return true;
	case OPT_THEME:
		opt->theme = value;
		return true;
	case OPT_NO_MOUSE:
		opt->no_mouse = true;
		return true;
	default:
		return take_engine_option(opt, row, value, err);
	}
}

/* The getopt tables for a set of options. */
struct tables {
	struct option longs[ROW_COUNT + 1];
	char shorts[2 * ROW_COUNT + 3];
};

static int argument_of(const struct option_row *row)
{
	if (row->id == OPT_WAIT) /* a switch that can be switched off */
		return optional_argument;
	return row->value ? required_argument : no_argument;
}

static void fill_tables(struct tables *tables, unsigned sets, char order)
{
	size_t n = 0, s = 0;
	tables->shorts[s++] = order; /* '+': stop at the first argument; '-' is not used */
	tables->shorts[s++] = ':';
	for (int i = 0; i < ROW_COUNT; i++) {
		if ((rows[i].sets & sets) == 0)
			continue;
		tables->longs[n++] = (struct option){ rows[i].name, argument_of(&rows[i]), NULL,
			(int)rows[i].id };
		if (rows[i].letter == 0)
			continue;
		tables->shorts[s++] = rows[i].letter;
		if (rows[i].value != NULL)
			tables->shorts[s++] = ':';
	}
	tables->longs[n] = (struct option){ 0 };
	tables->shorts[s] = '\0';
}

static const struct option_row *row_of(int found)
{
	for (int i = 0; i < ROW_COUNT; i++)
		if ((int)rows[i].id == found || (rows[i].letter && rows[i].letter == found))
			return &rows[i];
	return NULL;
}

/* getopt has set optopt: a letter, the value of an option that takes none, or 0. */
static bool refuse_option(const char *argument, struct err *err)
{
	if (optopt > 0 && optopt < 256)
		return err_set(err, ERR_ARG_INVALID, "unknown option -%c", optopt);
	if (optopt != 0)
		return err_set(err, ERR_ARG_INVALID, "%s: --%s takes no value", argument,
			row_of(optopt)->name);
	return err_set(err, ERR_ARG_INVALID, "unknown option %s", argument);
}

static bool parse_part(struct cli_options *opt, int argc, char **argv, unsigned sets,
	char order, struct err *err)
{
	struct tables tables;
	fill_tables(&tables, sets, order);
	const char *shorts = order == '+' ? tables.shorts : tables.shorts + 1;
	optind = 0; /* glibc: start anew, with the new order */
	opterr = 0;
	for (;;) {
		int found = getopt_long(argc, argv, shorts, tables.longs, NULL);
		if (found == -1)
			return true;
		if (found == ':')
			return err_set(
				err, ERR_ARG_INVALID, "%s needs a value", argv[optind - 1]);
		const struct option_row *row = found == '?' ? NULL : row_of(found);
		if (row == NULL)
			return refuse_option(argv[optind - 1], err);
		/* -o=json, as kubectl takes it */
		bool is_letter = found < 256 && optarg != NULL && optarg[0] == '=';
		if (!take_option(opt, row, is_letter ? optarg + 1 : optarg, err))
			return false;
	}
}

static const struct cli_verb *find_verb(const char *name)
{
	for (const struct cli_verb *const *verb = cli_verbs; *verb != NULL; verb++)
		if (strcmp((*verb)->name, name) == 0)
			return *verb;
	return NULL;
}

/* The nearest verb by a cheap measure: same beginning. */
static bool unknown_verb(const char *name, struct err *err)
{
	for (const struct cli_verb *const *verb = cli_verbs; *verb != NULL; verb++)
		if ((*verb)->name[0] != '\0' && strncmp((*verb)->name, name, 2) == 0)
			return err_set(err, ERR_ARG_INVALID,
				"unknown verb '%s'; did you mean '%s'?", name, (*verb)->name);
	return err_set(err, ERR_ARG_INVALID, "unknown verb '%s'", name);
}

bool cli_parse(struct cli_options *opt, int argc, char **argv, const struct cli_verb **verb_out,
	int *first, int *count, struct err *err)
{
	const struct cli_verb *dashboard = find_verb("");
	if (!parse_part(opt, argc, argv, CLI_OPT_GLOBAL | CLI_OPT_TUI | CLI_OPT_LIST, '+', err))
		return false;
	opt->engine.as_groups = opt->as_groups.items;
	if (optind >= argc) {
		*verb_out = dashboard;
		*first = argc;
		*count = 0;
		return true;
	}
	int at = optind;
	const struct cli_verb *verb = find_verb(argv[at]);
	if (verb == NULL)
		return unknown_verb(argv[at], err);
	*verb_out = verb;
	if (!parse_part(opt, argc - at, argv + at, verb->options | CLI_OPT_GLOBAL, 0, err)) {
		err_prefix(err, "%s", verb->name);
		return false;
	}
	opt->engine.as_groups = opt->as_groups.items;
	*first = at + optind;
	*count = argc - *first;
	if (opt->help)
		return true;
	if (*count < verb->min_args || (verb->max_args >= 0 && *count > verb->max_args))
		return err_set(err, ERR_ARG_INVALID, "usage: sandmux %s %s", verb->name,
			verb->arguments);
	return true;
}

static void print_option_rows(unsigned sets)
{
	for (int i = 0; i < ROW_COUNT; i++) {
		if ((rows[i].sets & sets) == 0)
			continue;
		char left[64];
		snprintf(left, sizeof left, "%s%c%s--%s%s%s", rows[i].letter ? "-" : " ",
			rows[i].letter ? rows[i].letter : ' ', rows[i].letter ? ", " : "  ",
			rows[i].name, rows[i].value ? " " : "",
			rows[i].value ? rows[i].value : "");
		printf("  %-34s %s\n", left, rows[i].help);
	}
}

static void print_examples(const struct cli_verb *verb)
{
	static const struct {
		const char *verb, *lines;
	} examples[] = {
		{ "run", "  sandmux run box -- sh -c 'uname -s; exit 7'\n"
			 "  sandmux run box --timeout 30s -o json -- make test\n"
			 "  # a loop keeps its input\n"
			 "  sandmux ls -o name | while read -r name; do sandmux run --no-stdin "
			 "\"$name\" -- uname -n; done\n" },
		{ "rm", "  sandmux ls -o name -l team=blue | xargs sandmux rm --yes\n" },
		{ "extend", "  sandmux extend box --timeout 2h\n" },
	};
	for (size_t i = 0; i < sizeof examples / sizeof *examples; i++)
		if (strcmp(examples[i].verb, verb->name) == 0)
			printf("\nExamples:\n%s", examples[i].lines);
}

void cli_print_help(const struct cli_verb *verb)
{
	if (verb != NULL && verb->name[0] != '\0') {
		printf("sandmux %s %s\n\n%s.\n\nOptions:\n", verb->name, verb->arguments,
			verb->help);
		print_option_rows(verb->options & ~(unsigned)CLI_OPT_GLOBAL);
		printf("\nEverywhere:\n");
		print_option_rows(CLI_OPT_GLOBAL);
		print_examples(verb);
		return;
	}
	printf("sandmux: a terminal dashboard and multiplexer for Agent Sandboxes\n\n"
	       "  sandmux [OPTIONS]                   the dashboard\n");
	for (const struct cli_verb *const *row = cli_verbs; *row != NULL; row++) {
		if ((*row)->name[0] == '\0')
			continue;
		char left[80];
		snprintf(left, sizeof left, "%s %s", (*row)->name, (*row)->arguments);
		printf("  sandmux %-46s %s\n", left, (*row)->help);
	}
	printf("\nNAME is a claim, CLAIM.UID8, or sandbox/NAME. With --rest URL --grpc HOST:PORT "
	       "there is no NAME\nand paths are written :PATH.\n\nOptions:\n");
	print_option_rows(CLI_OPT_GLOBAL | CLI_OPT_TUI);
	printf("\nExit status: 0 done, 1 failed, 2 wrong usage, 3 not found, 4 not allowed, "
	       "5 timed out,\n6 unreachable, 7 refused by a rule of ours, 8 verification failed. run "
	       "and sh return the\nremote status; 124 time limit, 125 our own failure, 126 not executable, 127 not "
	       "found, 137 killed.\n");
}
