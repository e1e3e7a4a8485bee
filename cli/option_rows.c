// SPDX-License-Identifier: Apache-2.0
/* The options, one row each, in the order in which help shows them. */
#include "cli/options.h"

#include "cli/expression.h"
#include "engine/base/clock.h"
#include "engine/base/err.h"
#include "engine/base/mem.h"
#include "engine/base/num.h"
#include "engine/base/settings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- values that are more than a field */

static bool set_setting(struct cli_options *opt, const char *value, struct err *err)
{
	(void)opt;
	const char *equals = strchr(value, '=');
	if (equals == NULL || equals == value)
		return err_set(err, ERR_ARG_INVALID, "--set '%s' is not NAME=VALUE", value);
	char *name = x_strndup(value, (size_t)(equals - value));
	bool ok = setting_set(name, equals + 1, err);
	free(name);
	return ok || err_prefix(err, "--set");
}

static bool set_max_entries(struct cli_options *opt, const char *value, struct err *err)
{
	(void)opt;
	return setting_set("transfer-max-entries", value, err) ||
	       err_prefix(err, "--max-entries");
}

static bool set_connectivity(struct cli_options *opt, const char *value, struct err *err)
{
	return connect_mode_parse(value, &opt->engine.connect.mode) ||
	       err_set(err, ERR_ARG_INVALID, "--connectivity '%s' is not known", value);
}

static bool set_runtime(struct cli_options *opt, const char *value, struct err *err)
{
	return connect_runtime_parse(value, &opt->engine.connect.runtime) ||
	       err_set(err, ERR_ARG_INVALID,
		       "--runtime '%s' is not one of auto, sandboxd, legacy", value);
}

static int index_of(const char *const *names, int n, const char *text)
{
	for (int i = 0; i < n; i++)
		if (strcmp(text, names[i]) == 0)
			return i;
	return -1;
}

static bool set_output(struct cli_options *opt, const char *value, struct err *err)
{
	static const char *const names[] = { "table", "wide", "json", "yaml", "name" };
	_Static_assert(sizeof names / sizeof *names == CLI_EXPRESSION, "a name for each form");
	const char *equals = strchr(value, '=');
	char form[32];
	snprintf(form, sizeof form, "%.*s", (int)strcspn(value, "="), value);
	if (cli_expression_is_form(form)) {
		cli_expression_free(opt->expression);
		opt->expression = cli_expression_parse(form, equals ? equals + 1 : "", err);
		if (opt->expression == NULL)
			return false;
		opt->output =
			cli_expression_columns(opt->expression) ? CLI_COLUMNS : CLI_EXPRESSION;
		return true;
	}
	int found = index_of(names, CLI_EXPRESSION, value);
	if (found < 0)
		return err_set(err, ERR_ARG_INVALID,
			"-o '%s' is not one of table, wide, json, yaml, name, jsonpath=, jq=, "
			"custom-columns=",
			value);
	opt->output = (enum cli_output)found;
	return true;
}

static bool set_color(struct cli_options *opt, const char *value, struct err *err)
{
	static const char *const names[] = { "auto", "always", "never" };
	int found = index_of(names, 3, value);
	if (found < 0)
		return err_set(err, ERR_ARG_INVALID,
			"--color '%s' is not one of auto, always, never", value);
	opt->color = (enum cli_color)found;
	return true;
}

/* Nothing is made, so there is nothing to wait for, nor to be asked about. */
static bool set_dry_run(struct cli_options *opt, const char *value, struct err *err)
{
	static const char *const names[] = { "none", "client", "server" };
	int found = index_of(names, sizeof names / sizeof *names, value);
	if (found < 0)
		return err_set(err, ERR_ARG_INVALID,
			"--dry-run '%s' is not one of none, client, server", value);
	opt->engine.dry_run = (enum kube_dry_run)found;
	if (found > 0)
		opt->no_wait = opt->no_delete_wait = opt->yes = true;
	return true;
}

static bool set_tail(struct cli_options *opt, const char *value, struct err *err)
{
	opt->has_tail = num_parse_i64(value, 0, INT32_MAX, &opt->tail);
	return opt->has_tail ||
	       err_set(err, ERR_ARG_INVALID, "--tail '%s' is no number of lines", value);
}

static bool set_conflict(struct cli_options *opt, const char *value, struct err *err)
{
	static const char *const names[] = { "overwrite", "skip", "rename", "fail" };
	if (index_of(names, sizeof names / sizeof *names, value) < 0)
		return err_set(err, ERR_ARG_INVALID,
			"--conflict '%s' is not one of overwrite, skip, rename, fail", value);
	opt->conflict = value;
	return true;
}

static bool set_shutdown_policy(struct cli_options *opt, const char *value, struct err *err)
{
	static const char *const names[] = { "Delete", "DeleteForeground", "Retain" };
	if (index_of(names, sizeof names / sizeof *names, value) < 0)
		return err_set(err, ERR_ARG_INVALID,
			"--shutdown-policy '%s' is not one of Delete, DeleteForeground, Retain",
			value);
	opt->shutdown_policy = value;
	return true;
}

/* 0 is a time here: at once. */
static bool set_ttl(struct cli_options *opt, const char *value, struct err *err)
{
	opt->has_ttl = true;
	return clock_parse_duration(value, &opt->ttl_ms) ||
	       err_set(err, ERR_ARG_INVALID, "--ttl '%s' is not a time such as 0s, 30s, 5m",
		       value);
}

static bool set_end_at(struct cli_options *opt, const char *value, struct err *err)
{
	int64_t at_ns;
	if (!clock_parse_rfc3339(value, &at_ns) || at_ns <= 0)
		return err_set(err, ERR_ARG_INVALID,
			"--at '%s' is not a date such as 2027-01-01T00:00:00Z", value);
	opt->end_at_ms = at_ns / 1000000;
	return true;
}

static bool set_cascade(struct cli_options *opt, const char *value, struct err *err)
{
	static const char *const names[] = { "background", "foreground", "orphan" };
	int found = index_of(names, sizeof names / sizeof *names, value);
	if (found >= 0)
		opt->deletion.propagation = (enum fleet_propagation)found;
	return found >= 0 ||
	       err_set(err, ERR_ARG_INVALID,
		       "--cascade '%s' is not one of background, foreground, orphan", value);
}

static bool set_grace(struct cli_options *opt, const char *value, struct err *err)
{
	opt->deletion.has_grace = true;
	return (num_parse_i64(value, 0, INT32_MAX, &opt->deletion.grace_s)) ||
	       err_set(err, ERR_ARG_INVALID, "--grace-period '%s' is not a number of seconds",
		       value);
}

static bool set_max_download(struct cli_options *opt, const char *value, struct err *err)
{
	(void)opt;
	return setting_set("download-limit", value, err) || err_prefix(err, "--max-download");
}

static bool set_max_upload(struct cli_options *opt, const char *value, struct err *err)
{
	(void)opt;
	return setting_set("upload-limit", value, err) || err_prefix(err, "--max-upload");
}

/* ---- the rows */

/* Where the field is; does not compile when it has another type. */
#define FIELD(type, field)                                                                     \
	offsetof(struct cli_options, field) +                                                  \
		0 * sizeof(_Generic(((struct cli_options *)NULL)->field, type : 1))
#define SWITCH(field) .kind = CLI_OPTION_SWITCH, .at = FIELD(bool, field)
#define SWITCH_OFF(field) .kind = CLI_OPTION_SWITCH_OFF, .at = FIELD(bool, field)
#define TEXT(field) .kind = CLI_OPTION_TEXT, .at = FIELD(const char *, field)
#define LIST(field) .kind = CLI_OPTION_LIST, .at = FIELD(struct cli_list, field)
#define PAIRS(field) .kind = CLI_OPTION_PAIRS, .at = FIELD(struct cli_list, field)
#define TIME(field) .kind = CLI_OPTION_TIME, .at = FIELD(int64_t, field)
#define SIZE(field) .kind = CLI_OPTION_SIZE, .at = FIELD(int64_t, field)
#define SETTER(function) .kind = CLI_OPTION_SETTER, .set = function

static const struct cli_option rows[] = {
	{ "namespace", 'n', "NS", CLI_OPT_GLOBAL, "namespace", TEXT(engine.namespace_) },
	{ "all-namespaces", 'A', NULL, CLI_OPT_GLOBAL, "every namespace",
		SWITCH(engine.all_namespaces) },
	{ "context", 0, "NAME", CLI_OPT_GLOBAL, "context of the kubeconfig",
		TEXT(engine.context) },
	{ "policy", 0, "FILE", CLI_OPT_GLOBAL,
		"template policy: only what it declares is made or operated on (docs/create.md)",
		TEXT(engine.policy_file) },
	{ "kubeconfig", 0, "FILE", CLI_OPT_GLOBAL, "kubeconfig file", TEXT(engine.kubeconfig) },
	{ "local", 0, NULL, CLI_OPT_GLOBAL,
		"the embedded backend on this machine, started if needed", SWITCH(local) },
	{ "no-start", 0, NULL, CLI_OPT_GLOBAL, "fail rather than start the embedded backend",
		SWITCH(no_start) },
	{ "set", 0, "NAME=VALUE", CLI_OPT_GLOBAL,
		"another limit or timeout; `sandmux settings` lists them; may repeat",
		SETTER(set_setting) },
	{ "cluster", 0, "NAME", CLI_OPT_GLOBAL, "cluster of the kubeconfig",
		TEXT(engine.cluster) },
	{ "user", 0, "NAME", CLI_OPT_GLOBAL, "user of the kubeconfig", TEXT(engine.user) },
	{ "server", 0, "URL", CLI_OPT_GLOBAL, "address of the API server",
		TEXT(engine.server) },
	{ "certificate-authority", 0, "FILE", CLI_OPT_GLOBAL,
		"certificate authority of the API server", TEXT(engine.certificate_authority) },
	{ "token", 0, "TOKEN", CLI_OPT_GLOBAL,
		"bearer token; others can see it in the process list: prefer the kubeconfig",
		TEXT(engine.token) },
	{ "as", 0, "USER", CLI_OPT_GLOBAL, "impersonate this user", TEXT(engine.as) },
	{ "as-group", 0, "GROUP", CLI_OPT_GLOBAL, "impersonate this group; may repeat",
		LIST(as_groups) },
	{ "insecure-skip-tls-verify", 0, NULL, CLI_OPT_GLOBAL,
		"do not check the server's certificate (marked on screen)",
		SWITCH(engine.insecure_skip_tls_verify) },
	{ "in-cluster", 0, NULL, CLI_OPT_GLOBAL, "use the pod's service account",
		SWITCH(engine.in_cluster) },
	{ "request-timeout", 0, "TIME", CLI_OPT_GLOBAL, "limit of one API call",
		TIME(engine.request_timeout_ms) },
	{ "watch-idle", 0, "TIME", CLI_OPT_GLOBAL,
		"a watch that is silent for so long is replaced (default 90s)",
		TIME(engine.watch_idle_ms) },
	{ "connectivity", 0, "MODE", CLI_OPT_GLOBAL,
		"how to reach sandboxes: port-forward, in-cluster-service, in-cluster-pod-ip, "
		"gateway, router",
		SETTER(set_connectivity) },
	{ "router-url", 0, "URL", CLI_OPT_GLOBAL, "reach sandboxes through this sandbox-router",
		TEXT(engine.connect.router_url) },
	{ "router-service", 0, "NAME", CLI_OPT_GLOBAL,
		"reach them by port-forward to this sandbox-router's Service",
		TEXT(engine.connect.router_service) },
	{ "router-namespace", 0, "NS", CLI_OPT_GLOBAL,
		"where that Service is (default: the sandbox's namespace)",
		TEXT(engine.connect.router_namespace) },
	{ "router-token-file", 0, "FILE", CLI_OPT_GLOBAL,
		"bearer token for the router's own check",
		TEXT(engine.connect.router_token_file) },
	{ "gateway", 0, "NAME", CLI_OPT_GLOBAL,
		"reach them through this Gateway and the sandbox-router behind it",
		TEXT(engine.connect.gateway) },
	{ "gateway-namespace", 0, "NAME", CLI_OPT_GLOBAL,
		"where the Gateway is (default: default)",
		TEXT(engine.connect.gateway_namespace) },
	{ "gateway-scheme", 0, "SCHEME", CLI_OPT_GLOBAL, "http (default) or https",
		TEXT(engine.connect.gateway_scheme) },
	{ "no-pod-ip-header", 0, NULL, CLI_OPT_GLOBAL, "do not tell the router the pod's IP",
		SWITCH(engine.connect.no_pod_ip_header) },
	{ "runtime", 0, "KIND", CLI_OPT_GLOBAL,
		"auto (by the pod's ports), sandboxd, or legacy: the Python runtime",
		SETTER(set_runtime) },
	{ "runtime-version", 0, "VERSION", CLI_OPT_GLOBAL,
		"refuse a sandboxd that names another version",
		TEXT(engine.connect.runtime_version) },
	{ "rest", 0, "URL", CLI_OPT_GLOBAL,
		"a daemon's files address; no cluster and no NAME then, paths are :PATH",
		TEXT(engine.connect.rest_url) },
	{ "grpc", 0, "HOST:PORT", CLI_OPT_GLOBAL, "a daemon's processes address",
		TEXT(engine.connect.grpc_address) },
	{ "daemon-token-file", 0, "FILE", CLI_OPT_GLOBAL, "bearer token for the daemon",
		TEXT(engine.connect.daemon_token_file) },
	{ "allow-plaintext-token", 0, NULL, CLI_OPT_GLOBAL,
		"send the daemon's token without TLS",
		SWITCH(engine.connect.allow_plaintext_token) },
	{ "read-only", 0, NULL, CLI_OPT_GLOBAL, "refuse every change",
		SWITCH(engine.read_only) },
	{ "output", 'o', "FORM", CLI_OPT_GLOBAL,
		"table, wide, json, yaml, name, jsonpath=TEMPLATE, jq=FILTER or custom-columns=TITLE:PATH,…",
		SETTER(set_output) },
	{ "color", 0, "WHEN", CLI_OPT_GLOBAL,
		"colours in tables: auto (on a terminal, without NO_COLOR), always or never",
		SETTER(set_color) },
	{ "quiet", 'q', NULL, CLI_OPT_GLOBAL, "no remarks and no progress", SWITCH(quiet) },
	{ "help", 'h', NULL, CLI_OPT_GLOBAL, "this text", SWITCH(help) },
	{ "selector", 'l', "SELECTOR", CLI_OPT_LIST | CLI_OPT_DELETE, "label selector",
		TEXT(engine.label_selector) },
	{ "watch", 'w', NULL, CLI_OPT_LIST, "go on printing changes", SWITCH(watch) },
	{ "sort-by", 0, "FIELD", CLI_OPT_ROWS,
		"by a column or a field of -o json: age, state, .metadata.name",
		TEXT(sort_by) },
	{ "field-selector", 0, "SELECTOR", CLI_OPT_ROWS | CLI_OPT_DELETE,
		"by fields of -o json: state=Ready,pool!=local,metadata.name=a",
		TEXT(field_selector) },
	{ "no-headers", 0, NULL, CLI_OPT_ROWS, "tables without their titles",
		SWITCH(no_headers) },
	{ "show-labels", 0, NULL, CLI_OPT_ROWS, "labels as the last column",
		SWITCH(show_labels) },
	{ "pool", 0, "POOL", CLI_OPT_CREATE, "the warm pool to take it from", TEXT(pool) },
	{ "template", 0, "NAME", CLI_OPT_CREATE, "a warm pool of this template",
		TEXT(template_) },
	{ "network", 0, "none|full", CLI_OPT_CREATE,
		"what the template must be declared with in the template policy",
		TEXT(network) },
	{ "label", 0, "K=V", CLI_OPT_CREATE, "label of the claim; may repeat", PAIRS(labels) },
	{ "annotation", 0, "K=V", CLI_OPT_CREATE, "annotation of the claim; may repeat",
		PAIRS(annotations) },
	{ "pod-label", 0, "K=V", CLI_OPT_CREATE,
		"label of the pod, of a domain that the controller lets through "
		"(sandbox.users.io/…); may repeat",
		PAIRS(pod_labels) },
	{ "pod-annotation", 0, "K=V", CLI_OPT_CREATE,
		"annotation of the pod, of any domain but Kubernetes'; may repeat",
		PAIRS(pod_annotations) },
	{ "volume", 0, "NAME:SIZE[:CLASS]", CLI_OPT_CREATE,
		"a volume of its own; starts cold; may repeat", LIST(volumes) },
	{ "file", 'f', "FILE", CLI_OPT_CREATE,
		"a claim or the short form of docs/create.md, in YAML or JSON; -: standard input; "
		"options win over it",
		TEXT(file) },
	{ "binding-key", 0, "KEY", CLI_OPT_CREATE,
		"at most one live sandbox of this key in the namespace: makes it, or finds it",
		TEXT(binding_key) },
	{ "shutdown-policy", 0, "POLICY", CLI_OPT_CREATE | CLI_OPT_LIFE,
		"what its end does: Delete (default), DeleteForeground, or Retain the claim",
		SETTER(set_shutdown_policy) },
	{ "ttl", 0, "TIME", CLI_OPT_CREATE | CLI_OPT_LIFE,
		"delete it this long after its pod has ended (0s: at once)", SETTER(set_ttl) },
	{ "shutdown-after", 0, "TIME", CLI_OPT_CREATE, "delete it this long after now",
		TIME(shutdown_after_ms) },
	{ "no-wait", 0, NULL, CLI_OPT_CREATE, "do not wait until it is Ready",
		SWITCH(no_wait) },
	{ "adopt", 0, NULL, CLI_OPT_CREATE, "take over a claim of that name", SWITCH(adopt) },
	{ "env", 'e', "K=V", CLI_OPT_RUN | CLI_OPT_CREATE,
		"environment (create: [CONTAINER:]K=V, starts cold); may repeat", PAIRS(env) },
	{ "cwd", 0, "DIR", CLI_OPT_RUN, "working directory in the sandbox", TEXT(cwd) },
	{ "rm", 0, NULL, CLI_OPT_RUN,
		"in a sandbox of its own, made with the options of create and deleted after",
		SWITCH(rm) },
	{ "tty", 't', NULL, CLI_OPT_RUN, "with a terminal", SWITCH(tty) },
	{ "stdin", 'i', NULL, CLI_OPT_RUN,
		"as for kubectl exec; standard input goes through anyway", SWITCH(stdin_) },
	{ "no-stdin", 0, NULL, CLI_OPT_RUN, "leave our standard input alone; its own is empty",
		SWITCH(no_stdin) },
	{ "output-limit", 0, "SIZE", CLI_OPT_RUN,
		"kill it when it has written more than this, both streams together",
		SIZE(output_limit_bytes) },
	{ "recursive", 'r', NULL, CLI_OPT_COPY | CLI_OPT_FILES,
		"directories with their contents", SWITCH(recursive) },
	{ "conflict", 0, "POLICY", CLI_OPT_COPY,
		"when the target exists: overwrite, skip, rename or fail",
		SETTER(set_conflict) },
	{ "max-download", 0, "SIZE", CLI_OPT_COPY | CLI_OPT_FILES,
		"refuse files from a sandbox that are larger, or none: any size",
		SETTER(set_max_download) },
	{ "max-upload", 0, "SIZE", CLI_OPT_COPY | CLI_OPT_FILES,
		"refuse files into a sandbox that are larger, or none: any size",
		SETTER(set_max_upload) },
	{ "verify", 0, NULL, CLI_OPT_COPY, "compare SHA-256 on both sides", SWITCH(verify) },
	{ "max-entries", 0, "N", CLI_OPT_COPY,
		"a tree may have so many entries without a question, or none: any number",
		SETTER(set_max_entries) },
	{ "in", 0, "TIME", CLI_OPT_LIFE, "its life ends this long after now", TIME(end_in_ms) },
	{ "at", 0, "DATE", CLI_OPT_LIFE, "its life ends then: 2027-01-01T00:00:00Z",
		SETTER(set_end_at) },
	{ "never", 0, NULL, CLI_OPT_LIFE, "its life has no end", SWITCH(never) },
	{ "no-ttl", 0, NULL, CLI_OPT_LIFE, "it stays after its pod has ended", SWITCH(no_ttl) },
	{ "for", 0, "WHAT", CLI_OPT_WAIT,
		"ready, deleted, suspended or condition=TYPE[=STATUS] (default ready)",
		TEXT(wait_for) },
	{ "all", 0, NULL, CLI_OPT_DELETE, "all in the namespace (-A: in every one)",
		SWITCH(all) },
	{ "mine", 0, NULL, CLI_OPT_DELETE, "those that this user created with sandmux, here",
		SWITCH(mine) },
	{ "cascade", 0, "HOW", CLI_OPT_DELETE,
		"background (default), foreground: stays until its children are gone, or orphan",
		SETTER(set_cascade) },
	{ "grace-period", 0, "SECONDS", CLI_OPT_DELETE, "gracePeriodSeconds of the deletion",
		SETTER(set_grace) },
	{ "yes", 'y', NULL, CLI_OPT_LIFE | CLI_OPT_DELETE | CLI_OPT_LOCAL | CLI_OPT_FILES,
		"do not ask", SWITCH(yes) },
	{ "wait", 0, "BOOL", CLI_OPT_DELETE,
		"until it is gone (default true); --wait=false: only ask for it",
		SWITCH_OFF(no_delete_wait) },
	{ "dry-run", 0, "MODE", CLI_OPT_DRY_RUN,
		"client: print the requests instead of sending them; server: let it check them",
		SETTER(set_dry_run) },
	{ "follow", 'f', NULL, CLI_OPT_LOGS, "go on as it writes", SWITCH(follow) },
	{ "previous", 'p', NULL, CLI_OPT_LOGS, "of the container before it was started again",
		SWITCH(previous) },
	{ "container", 'c', "NAME", CLI_OPT_LOGS, "of this container", TEXT(container) },
	{ "since", 0, "TIME", CLI_OPT_LOGS, "only what is younger than 10s, 5m, 2h",
		TIME(since_ms) },
	{ "since-time", 0, "DATE", CLI_OPT_LOGS, "only what is younger (RFC 3339)",
		TEXT(since_time) },
	{ "tail", 0, "N", CLI_OPT_LOGS, "only the last lines", SETTER(set_tail) },
	{ "timestamps", 0, NULL, CLI_OPT_LOGS, "when each line was written",
		SWITCH(timestamps) },
	{ "limit-bytes", 0, "SIZE", CLI_OPT_LOGS, "not more than this", SIZE(limit_bytes) },
	{ "isolation", 0, "MODE", CLI_OPT_LOCAL,
		"bwrap, or none: programs then run as you, with your files and network",
		TEXT(isolation) },
	{ "state-dir", 0, "DIR", CLI_OPT_GLOBAL, "where the embedded backend keeps its state",
		TEXT(state_dir) },
	{ "daemon-auth", 0, "MODE", CLI_OPT_LOCAL,
		"token, or off for clients that cannot send one", TEXT(daemon_auth) },
	{ "theme", 0, "NAME", CLI_OPT_TUI, "colours", TEXT(theme) },
	{ "no-mouse", 0, NULL, CLI_OPT_TUI, "leave the mouse to the terminal",
		SWITCH(no_mouse) },
	{ "no-remember", 0, NULL, CLI_OPT_TUI,
		"begin as at the first time, and keep nothing of what is chosen",
		SWITCH(no_remember) },
	{ "timeout", 0, "TIME", CLI_OPT_TIMEOUT, "how long to wait: 180s, 3m",
		TIME(timeout_ms) },
};
enum { ROW_COUNT = sizeof rows / sizeof rows[0] };
_Static_assert((int)ROW_COUNT <= (int)CLI_OPTIONS_MAX, "the parser has room for all of them");

const struct cli_option *cli_options_each(const struct cli_option *after, unsigned sets)
{
	for (const struct cli_option *row = after ? after + 1 : rows; row < rows + ROW_COUNT;
		row++)
		if ((row->sets & sets) != 0)
			return row;
	return NULL;
}
