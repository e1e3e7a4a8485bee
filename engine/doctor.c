// SPDX-License-Identifier: Apache-2.0
/* The checks of doctor, in order: configuration, server, clock, versions, rights, the limits of local sandboxes, the route
 * to one sandbox.
 * Each step starts one call and its completion reports and starts the next. */
#include "engine/doctor.h"

#include "engine/base/json.h"
#include "engine/base/mem.h"
#include "engine/connect/check.h"
#include "engine/internal.h"
#include "engine/k8s/condition.h"
#include "engine/k8s/resource.h"
#include "engine/kube/client.h"
#include "engine/kube/config.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum {
	SKEW_WARNING_MS = 5000, /* lifetimes are judged by the server's clock */
	LIST_OBJECTS = 50,
	ROUTE_TIMEOUT_MS = 30000,
};

static const char *const groups[] = { K8S_GROUP_EXTENSIONS, K8S_GROUP_AGENTS };
enum { GROUP_COUNT = sizeof groups / sizeof groups[0] };

enum step {
	STEP_SERVER,
	STEP_GROUPS,
	STEP_RIGHTS,
	STEP_METRICS,
	STEP_LIMITS,
	STEP_LIST,
	STEP_END
};

struct engine_doctor {
	struct engine *engine;
	void (*on_finding)(void *arg, const struct engine_finding *finding);
	void (*done)(void *arg);
	void *arg;
	enum step step;
	size_t at; /* within the step */
	struct kube_call *call;
	struct engine_resolve *resolve;
	struct connect_check *routes;
	struct net_loop_timer *start;
};

static void next(struct engine_doctor *doctor);

static void report(struct engine_doctor *doctor, enum engine_level level, const char *check,
	const char *found, const char *fix)
{
	const struct engine_finding finding = { level, check, found, fix };
	doctor->on_finding(doctor->arg, &finding);
}

static void doctor_free(struct engine_doctor *doctor)
{
	kube_call_cancel(doctor->call);
	engine_resolve_cancel(doctor->resolve);
	connect_check_cancel(doctor->routes);
	net_loop_timer_free(doctor->start);
	free(doctor);
}

void engine_doctor_cancel(struct engine_doctor *doctor)
{
	if (doctor != NULL)
		doctor_free(doctor);
}

static void finish(struct engine_doctor *doctor)
{
	void (*done)(void *) = doctor->done;
	void *arg = doctor->arg;
	doctor_free(doctor);
	done(arg);
}

static bool ask(struct engine_doctor *doctor, const char *method, const char *path,
	const char *query, struct slice body,
	void (*done)(void *arg, const struct err *err, const struct cJSON *object))
{
	struct err err = { 0 };
	const struct kube_call_opts opts = {
		.method = method,
		.path = path,
		.query = query,
		.body = body,
		.done = done,
		.arg = doctor,
	};
	doctor->call = kube_call_start(doctor->engine->kube, &opts, &err);
	if (doctor->call == NULL)
		report(doctor, ENGINE_FAILURE, path, err.msg, err_hint(&err));
	return doctor->call != NULL;
}

/* ---- the server */

static const char *fix_of_server(const struct err *err)
{
	switch (err->code) {
	case ERR_KUBE_TLS:
		return "compare certificate-authority and server of the kubeconfig with the server's "
		       "certificate (tls-server-name where the names differ)";
	case ERR_KUBE_TRANSPORT:
		return "check that the server runs, the address, the proxy and the network between";
	case ERR_KUBE_UNAUTHORIZED:
		return "log in again, or choose another --context or --user";
	default:
		return err_hint(err);
	}
}

static void check_clock(struct engine_doctor *doctor)
{
	int64_t skew = kube_client_clock_skew_ms(doctor->engine->kube);
	char text[64];
	snprintf(text, sizeof text, "%+" PRId64 " ms against this machine", skew);
	bool is_off = skew > SKEW_WARNING_MS || skew < -SKEW_WARNING_MS;
	report(doctor, is_off ? ENGINE_WARNING : ENGINE_OK, "server clock", text,
		is_off ? "set this machine's clock (NTP): lifetimes follow the server's" : "");
}

static void check_tls(struct engine_doctor *doctor)
{
	if (strncasecmp(engine_server(doctor->engine), "https:", 6) != 0)
		report(doctor, ENGINE_WARNING, "TLS",
			"none: credentials and data are readable on the way",
			"an https:// server, unless it is on this machine");
	else if (engine_is_insecure(doctor->engine))
		report(doctor, ENGINE_WARNING, "TLS", "the certificate is not checked",
			"give a certificate-authority instead of insecure-skip-tls-verify");
	else
		report(doctor, ENGINE_OK, "TLS",
			"the certificate is trusted, and its name fits", "");
}

static void on_version(void *arg, const struct err *err, const struct cJSON *object)
{
	struct engine_doctor *doctor = arg;
	doctor->call = NULL;
	if (err != NULL) {
		report(doctor, ENGINE_FAILURE, "API server", err->msg, fix_of_server(err));
		/* a 403 for /version says nothing about the rest */
		doctor->step = err->code == ERR_KUBE_FORBIDDEN ? STEP_GROUPS : STEP_END;
	} else {
		const char *version = json_str(object, "gitVersion", NULL);
		report(doctor, ENGINE_OK, "API server", version ? version : "answers", "");
		check_clock(doctor);
		check_tls(doctor);
		doctor->step = STEP_GROUPS;
	}
	doctor->at = 0;
	next(doctor);
}

/* ---- the groups and their versions */

static void on_group(void *arg, const struct err *err, const struct cJSON *object)
{
	struct engine_doctor *doctor = arg;
	struct str versions;
	bool has_ours = false;
	doctor->call = NULL;
	str_init(&versions, 256);
	const cJSON *list = json_get(object, "versions", NULL);
	for (const cJSON *item = list ? list->child : NULL; item != NULL; item = item->next) {
		const char *version = json_str(item, "version", NULL);
		if (version == NULL)
			continue;
		has_ours = has_ours || strcmp(version, "v1beta1") == 0;
		str_addf(&versions, "%s%s", versions.n ? ", " : "", version);
	}
	if (err != NULL)
		report(doctor, ENGINE_FAILURE, groups[doctor->at], err->msg,
			"install the Agent Sandbox CRDs and controller in this cluster");
	else
		report(doctor, has_ours ? ENGINE_OK : ENGINE_FAILURE, groups[doctor->at],
			versions.n ? versions.p : "no version",
			has_ours ? ""
				 : "v1beta1 is needed: update Agent Sandbox in this cluster");
	str_deinit(&versions);
	doctor->at++;
	next(doctor);
}

/* ---- rights */

static void on_right(void *arg, const struct err *err, const struct cJSON *object)
{
	struct engine_doctor *doctor = arg;
	const struct access_right *right = &access_rights[doctor->at];
	doctor->call = NULL;
	char *check = x_asprintf("right to %s %s%s%s", right->verb, right->resource->plural,
		right->subresource[0] ? "/" : "", right->subresource);
	char *fix = x_asprintf("needed for %s: ask for it in a Role", right->needed_for);
	if (err != NULL)
		report(doctor, ENGINE_SKIPPED, check, err->msg, "");
	else if (access_review_is_allowed(object))
		report(doctor, ENGINE_OK, check, "yes", "");
	else
		report(doctor, ENGINE_WARNING, check, "no", fix);
	free(check);
	free(fix);
	doctor->at++;
	next(doctor);
}

static bool ask_right(struct engine_doctor *doctor)
{
	struct err err = { 0 };
	const struct access_attributes about =
		access_right_attributes(&access_rights[doctor->at]);
	doctor->call = access_review_start(doctor->engine->kube,
		kube_config_namespace(doctor->engine->config), &about, on_right, doctor, &err);
	if (doctor->call == NULL)
		report(doctor, ENGINE_FAILURE, "rights", err.msg, err_hint(&err));
	return doctor->call != NULL;
}

/* ---- what holds the limits of local sandboxes */

#define LIMITS_PATH "/api/v1/namespaces/default"
#define LIMITS_KEY "sandmux.local/limits"

static void report_limit(struct engine_doctor *doctor, const cJSON *row)
{
	static const char fix[] =
		"give it a cgroup: as a user of systemd (loginctl enable-linger), stop it and start it "
		"again with 'sandmux local up', or start it under systemd-run --user --scope -p "
		"Delegate=yes";
	const char *what = json_str(row, "what", NULL), *how = json_str(row, "how", NULL);
	const char *why = json_str(row, "why", NULL);
	if (what == NULL || how == NULL)
		return;
	/* disk is always watched: that is no fault of this machine */
	bool is_kernels = strcmp(what, "memory") == 0 || strcmp(what, "cpu") == 0 ||
			  strcmp(what, "processes") == 0;
	bool is_missing = strcmp(how, "none") == 0;
	bool is_weak = is_kernels && strcmp(how, "watched") == 0;
	char *check = x_asprintf("limit of %s", what);
	char *found = x_asprintf("%s%s%s",
		is_missing ? "nothing holds it"
		: is_weak  ? "watched, the kernel does not hold it"
			   : how,
		why && *why ? ": " : "", why ? why : "");
	const char *mend = is_kernels ? fix
			   : strcmp(what, "network") == 0
				   ? "start the backend without --isolation none"
				   : "update bubblewrap";
	report(doctor, is_missing || is_weak ? ENGINE_WARNING : ENGINE_OK, check, found,
		is_missing || is_weak ? mend : "");
	free(check);
	free(found);
}

static void on_limits(void *arg, const struct err *err, const struct cJSON *object)
{
	struct engine_doctor *doctor = arg;
	doctor->call = NULL;
	const char *text =
		err ? NULL : json_str(object, "metadata", "annotations", LIMITS_KEY, NULL);
	cJSON *rows = text ? json_parse(slice_of(text), NULL) : NULL;
	if (!cJSON_IsArray(rows))
		report(doctor, ENGINE_SKIPPED, "limits of sandboxes",
			err ? err->msg : "the backend does not say what holds", "");
	for (const cJSON *row = cJSON_IsArray(rows) ? rows->child : NULL; row; row = row->next)
		report_limit(doctor, row);
	cJSON_Delete(rows);
	doctor->at++;
	next(doctor);
}

/* ---- what sandboxes use: that nobody measures it is no fault */

static void on_metrics(void *arg, const struct err *err, const struct cJSON *object)
{
	static const char check[] = "CPU and memory of sandboxes";
	struct engine_doctor *doctor = arg;
	doctor->call = NULL;
	if (err == NULL) {
		char *found = x_asprintf("metrics.k8s.io tells of %d pods",
			cJSON_GetArraySize(json_get(object, "items", NULL)));
		report(doctor, ENGINE_OK, check, found, "");
		free(found);
	} else if (err->code == ERR_KUBE_NOT_SERVED) {
		report(doctor, ENGINE_SKIPPED, check, "this cluster serves no metrics.k8s.io",
			"install metrics-server to see them");
	} else {
		report(doctor, ENGINE_SKIPPED, check, err->msg, err_hint(err));
	}
	doctor->at++;
	next(doctor);
}

static bool ask_metrics(struct engine_doctor *doctor)
{
	char *path = kube_path(
		&k8s_podmetrics, kube_config_namespace(doctor->engine->config), NULL, NULL);
	bool ok = ask(doctor, "GET", path, NULL, (struct slice){ 0 }, on_metrics);
	free(path);
	return ok;
}

/* ---- the way to one sandbox */

static void route_result(struct engine_doctor *doctor, const struct err *err, const char *found)
{
	char *check = x_asprintf("route to a sandbox by %s",
		connect_mode_name(engine_connect_mode(doctor->engine)));
	if (err != NULL)
		report(doctor, ENGINE_FAILURE, check, err->msg, err_hint(err));
	else
		report(doctor, found ? ENGINE_OK : ENGINE_SKIPPED, check,
			found ? found : "there is no Ready sandbox to try", "");
	free(check);
}

/* No sandbox to try, so no way either. */
static void no_route(struct engine_doctor *doctor, const struct err *err)
{
	route_result(doctor, err, NULL);
	doctor->step = STEP_END;
	next(doctor);
}

/* That another way is closed is no fault: that is how this place lies to the cluster. */
static void on_route(
	void *arg, enum connect_mode mode, const struct err *err, const char *found)
{
	struct engine_doctor *doctor = arg;
	if (mode == engine_connect_mode(doctor->engine)) {
		route_result(doctor, err, found);
		return;
	}
	char *check = x_asprintf("also by %s", connect_mode_name(mode));
	char *why = err ? x_asprintf("not from here: %s; %s", err->msg, err_hint(err)) : NULL;
	report(doctor, err ? ENGINE_SKIPPED : ENGINE_OK, check, err ? why : found, "");
	free(why);
	free(check);
}

static void on_routes(void *arg)
{
	struct engine_doctor *doctor = arg;
	doctor->routes = NULL;
	doctor->step = STEP_END;
	next(doctor);
}

static void on_resolved(void *arg, const struct err *err, const char *uid)
{
	struct engine_doctor *doctor = arg;
	doctor->resolve = NULL;
	if (err != NULL)
		no_route(doctor, err);
	else
		doctor->routes = connect_check_start(
			doctor->engine->connect, uid, on_route, on_routes, doctor);
}

static void on_claims(void *arg, const struct err *err, const struct cJSON *object)
{
	struct engine_doctor *doctor = arg;
	struct err own = { 0 };
	doctor->call = NULL;
	if (err != NULL) {
		no_route(doctor, err);
		return;
	}
	const cJSON *items = json_get(object, "items", NULL);
	const cJSON *claim = items ? items->child : NULL;
	while (claim != NULL && !k8s_condition_is_true(claim, "Ready"))
		claim = claim->next;
	const char *name = json_str(claim, "metadata", "name", NULL);
	if (name == NULL) {
		no_route(doctor, NULL);
		return;
	}
	doctor->resolve = engine_resolve_start(
		doctor->engine, name, ROUTE_TIMEOUT_MS, on_resolved, doctor, &own);
	if (doctor->resolve == NULL)
		no_route(doctor, &own);
}

static bool ask_claims(struct engine_doctor *doctor)
{
	char query[32];
	char *path = kube_path(
		&k8s_sandboxclaims, kube_config_namespace(doctor->engine->config), NULL, NULL);
	snprintf(query, sizeof query, "limit=%d", LIST_OBJECTS);
	bool ok = ask(doctor, "GET", path, query, (struct slice){ 0 }, on_claims);
	free(path);
	return ok;
}

/* ---- the order */

static bool begin_step(struct engine_doctor *doctor)
{
	char path[128];
	switch (doctor->step) {
	case STEP_SERVER:
		return ask(doctor, "GET", "/version", NULL, (struct slice){ 0 }, on_version);
	case STEP_GROUPS:
		if (doctor->at == GROUP_COUNT)
			return false;
		snprintf(path, sizeof path, "/apis/%s", groups[doctor->at]);
		return ask(doctor, "GET", path, NULL, (struct slice){ 0 }, on_group);
	case STEP_RIGHTS:
		return doctor->at < access_n_rights && ask_right(doctor);
	case STEP_METRICS:
		return doctor->at == 0 && ask_metrics(doctor);
	case STEP_LIMITS:
		return doctor->at == 0 && engine_is_local(doctor->engine) &&
		       ask(doctor, "GET", LIMITS_PATH, NULL, (struct slice){ 0 }, on_limits);
	case STEP_LIST:
		return doctor->at == 0 && ask_claims(doctor);
	default:
		return false;
	}
}

static void next(struct engine_doctor *doctor)
{
	while (doctor->step != STEP_END) {
		if (begin_step(doctor))
			return;
		doctor->step++;
		doctor->at = 0;
	}
	finish(doctor);
}

static void on_start(void *arg)
{
	struct engine_doctor *doctor = arg;
	struct engine *engine = doctor->engine;
	char *found = x_asprintf("context %s, server %s, namespace %s", engine_context(engine),
		engine_server(engine), kube_config_namespace(engine->config));
	report(doctor, ENGINE_OK, "configuration", found, "");
	free(found);
	next(doctor);
}

struct engine_doctor *engine_doctor_start(struct engine *engine,
	void (*on_finding)(void *arg, const struct engine_finding *finding),
	void (*done)(void *arg), void *arg, struct err *err)
{
	if (engine->kube == NULL) {
		err_set(err, ERR_ARG_INVALID, "doctor needs a cluster, not --rest/--grpc");
		return NULL;
	}
	struct engine_doctor *doctor = x_calloc(1, sizeof *doctor);
	doctor->engine = engine;
	doctor->on_finding = on_finding;
	doctor->done = done;
	doctor->arg = arg;
	doctor->start = net_loop_timer_new(engine->loop, on_start, doctor);
	net_loop_timer_arm(doctor->start, 0);
	return doctor;
}

/* ---- the probe */

struct connect_probe *engine_probe_start(struct engine *engine, const char *template_name,
	void (*done)(void *arg, const struct err *err, const char *reason), void *arg,
	struct err *err)
{
	if (engine->kube == NULL) {
		err_set(err, ERR_ARG_INVALID, "probe needs a cluster, not --rest/--grpc");
		return NULL;
	}
	if (template_name == NULL && engine->policy != NULL)
		template_name = fleet_policy_default(engine->policy)->name;
	return connect_probe_start(engine->kube, engine_connect_mode(engine),
		kube_config_namespace(engine->config), template_name, done, arg, err);
}
