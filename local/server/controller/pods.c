// SPDX-License-Identifier: Apache-2.0
/* The part of a kubelet: runs the daemon of each pod, restarts it, and removes the pod when it is deleted and
 * the daemon has ended.
 *
 *   reconcile_pod ─> start ─> STARTING ─probe─> READY ⇄ UNREADY
 *                      ^          └──────exit─────┴──> WAITING ─ back-off ─> start, or ENDED
 *   deletionTimestamp ─> TERM ─> (KILL) ─> exit ─> object and folder removed */
#include "local/server/controller/pods.h"

#include "engine/base/clock.h"
#include "engine/base/digest.h"
#include "engine/base/err.h"
#include "engine/base/json.h"
#include "engine/base/log.h"
#include "engine/base/num.h"
#include "engine/base/path.h"
#include "engine/net/loop.h"
#include "local/isolation/spawn.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

enum { SCAN_MS = 2000, BACKOFF_MAX_MS = 60000, STEADY_MS = 60000, MAX_ENV = 512 };
enum { REST_PORT = 8080, GRPC_PORT = 9090, MAX_PIDS = 1024, HOST_NAME_BYTES = 64 };

static void start(struct run *r);

struct object *run_pod(const struct run *r)
{
	struct object *o = store_by_uid(r->c->server->store, r->uid);
	return o && o->kind == KIND_POD ? o : NULL;
}

/* ---- addresses ---- */

static bool is_used(struct controller *c, const char *address)
{
	struct store *s = c->server->store;
	for (size_t i = 0; i < store_count(s, KIND_POD); i++) {
		const char *ip =
			json_str(store_at(s, KIND_POD, i)->json, "status", "podIP", NULL);
		if (ip && strcmp(ip, address) == 0)
			return true;
	}
	return false;
}

/* The next free address of this backend's part of 127.64.0.0/10. An address is not given again soon, so
 * that a client with an old one does not reach a stranger. */
static void next_address(struct controller *c, char out[16])
{
	char text[16];
	const char *dir = c->server->opts.state_dir;
	uint32_t base = digest_fnv1a32(dir, strlen(dir));
	do {
		uint32_t n = c->next_address++ % (254u * 256u);
		snprintf(out, 16, "127.%u.%u.%u", 64 + base % 128, (base / 128 + n / 254) % 256,
			1 + n % 254);
	} while (is_used(c, out));
	snprintf(text, sizeof text, "%u", c->next_address);
	store_meta_set(c->server->store, "next-address", text, NULL);
}

/* ---- what the daemon gets ---- */

static const cJSON *first_container(const struct object *pod)
{
	const cJSON *list = json_get(pod->json, "spec", "containers", NULL);
	return list ? list->child : NULL;
}

static const char *field_of(const struct run *r, const struct object *pod, const char *path)
{
	if (!path)
		return NULL;
	if (strcmp(path, "metadata.name") == 0)
		return pod->name;
	if (strcmp(path, "metadata.namespace") == 0)
		return pod->ns;
	if (strcmp(path, "metadata.uid") == 0)
		return pod->uid;
	if (strcmp(path, "status.podIP") == 0)
		return r->address;
	if (strcmp(path, "spec.nodeName") == 0)
		return "sandmux-local";
	return NULL;
}

/* "K=V" strings of the first container; free each and the array. */
static char **make_env(const struct run *r, const struct object *pod)
{
	const cJSON *v;
	size_t n = 0;
	char **env = x_calloc(MAX_ENV + 1, sizeof *env);
	cJSON_ArrayForEach(v, json_get(first_container(pod), "env", NULL))
	{
		const char *name = json_str(v, "name", NULL);
		const char *value = json_str(v, "value", NULL);
		if (!value)
			value = field_of(r, pod,
				json_str(v, "valueFrom", "fieldRef", "fieldPath", NULL));
		if (name && *name && !strchr(name, '=') && n < MAX_ENV)
			env[n++] = x_asprintf("%s=%s", name, value ? value : "");
	}
	return env;
}

static void free_env(char **env)
{
	for (size_t i = 0; env[i]; i++)
		free(env[i]);
	free(env);
}

/* "500m", "2", "256Mi", "1G" times 1000 (so that m is whole). 0 if it is none. */
static int64_t parse_quantity(const char *text)
{
	static const struct {
		const char *suffix;
		double factor;
	} suffixes[] = { { "m", 0.001 }, { "", 1 }, { "k", 1e3 }, { "M", 1e6 }, { "G", 1e9 },
		{ "T", 1e12 }, { "Ki", 1024.0 }, { "Mi", 1048576.0 }, { "Gi", 1073741824.0 },
		{ "Ti", 1099511627776.0 } };
	char *end;
	double n = text ? strtod(text, &end) : 0;
	if (!text || end == text || n <= 0 || n > 1e12)
		return 0;
	for (size_t i = 0; i < sizeof suffixes / sizeof suffixes[0]; i++)
		if (strcmp(end, suffixes[i].suffix) == 0 && n * suffixes[i].factor < 1e15)
			return (int64_t)(n * suffixes[i].factor * 1000);
	return 0;
}

static int64_t limit_of(const struct object *pod, const char *what)
{
	const cJSON *q = json_get(first_container(pod), "resources", "limits", what, NULL);
	if (cJSON_IsNumber(q) && q->valuedouble > 0 && q->valuedouble < 1e15)
		return (int64_t)(q->valuedouble * 1000);
	return cJSON_IsString(q) ? parse_quantity(q->valuestring) : 0;
}

/* The volume claim that is mounted at /workspace, or NULL. */
static const struct object *workspace_claim(const struct run *r, const struct object *pod)
{
	const cJSON *mount, *volume;
	const char *name = NULL;
	cJSON_ArrayForEach(mount, json_get(first_container(pod), "volumeMounts", NULL))
	{
		const char *path = json_str(mount, "mountPath", NULL);
		if (path && strcmp(path, "/workspace") == 0)
			name = json_str(mount, "name", NULL);
	}
	if (!name)
		return NULL;
	cJSON_ArrayForEach(volume, json_get(pod->json, "spec", "volumes", NULL))
	{
		const char *is = json_str(volume, "name", NULL);
		const char *claim =
			json_str(volume, "persistentVolumeClaim", "claimName", NULL);
		if (is && claim && strcmp(is, name) == 0)
			return store_get(r->c->server->store, KIND_PVC, pod->ns, claim);
	}
	return NULL;
}

static char *workspace_of(const struct run *r, const struct object *pod, struct err *err)
{
	const struct object *claim = workspace_claim(r, pod);
	if (claim)
		return volumes_folder(r->c->server, "volumes", claim->uid, err);
	char *folder = volumes_folder(r->c->server, "pods", r->uid, err);
	char *path = folder ? path_join(r->uid, "workspace") : NULL;
	free(folder);
	folder = path ? volumes_folder(r->c->server, "pods", path, err) : NULL;
	free(path);
	return folder;
}

/* ---- one run ---- */

static void wait_before_retry(struct run *r, const char *reason, const char *message)
{
	int64_t delay = 500;
	for (int i = 0; i < r->failures_in_row && delay < BACKOFF_MAX_MS; i++)
		delay *= 2;
	r->failures_in_row++;
	r->state = RUN_WAITING;
	r->waiting = reason;
	snprintf(r->message, sizeof r->message, "%.255s", message);
	loop_timer_arm(r->retry, delay > BACKOFF_MAX_MS ? BACKOFF_MAX_MS : delay);
	run_write_status(r);
}

static void remove_pod(struct run *r)
{
	struct controller *c = r->c;
	struct object *pod = run_pod(r);
	char *key = x_asprintf("procs/%s", r->uid);
	store_meta_set(c->server->store, key, NULL, NULL);
	free(key);
	probe_stop(r);
	podlog_close(r->log);
	volumes_remove(c->server, "pods", r->uid);
	HASH_DEL(c->runs, r);
	loop_timer_free(r->retry);
	loop_timer_free(r->probe);
	cJSON_Delete(r->last_state);
	cJSON_Delete(r->restarted);
	free(r->processes);
	free(r->ns);
	free(r->name);
	free(r);
	if (pod)
		store_remove(c->server->store, pod, NULL);
}

static void check_all_stopped(struct controller *c)
{
	struct run *r, *next;
	if (!c->stopped)
		return;
	HASH_ITER(hh, c->runs, r, next) {
		if (r->daemon)
			return;
	}
	void (*stopped)(void *) = c->stopped;
	c->stopped = NULL;
	stopped(c->stopped_arg);
}

static void describe_exit(const struct run *r, const char *reason, char *out, size_t n)
{
	bool had = r->processes && *r->processes;
	snprintf(out, n, "the daemon ended: %s%s%s", reason,
		had ? "; processes that died with it: " : "", had ? r->processes : "");
}

static cJSON *terminated_state(const struct run *r, int code, const char *reason)
{
	char now[CLOCK_RFC3339_BYTES];
	cJSON *state = cJSON_CreateObject(), *t = cJSON_AddObjectToObject(state, "terminated");
	tree_set_number(t, "exitCode", code);
	tree_set(t, "reason", reason);
	tree_set(t, "startedAt", r->started_at);
	tree_set(t, "finishedAt", now_text(now, 0));
	return state;
}

static void on_exit_of(void *arg, int status, const char *reason)
{
	struct run *r = arg;
	struct controller *c = r->c;
	char text[512];
	r->daemon = NULL;
	probe_stop(r);
	r->exit_code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
	struct object *pod = run_pod(r);
	if (c->is_stopping) {
		check_all_stopped(c);
		return;
	}
	if (!pod || r->is_stopping) {
		remove_pod(r);
		return;
	}
	describe_exit(r, reason, text, sizeof text);
	events_record(c, pod, EVENT_WARNING, "DaemonExited", "Run", "%s", text);
	cJSON_Delete(r->last_state);
	r->last_state =
		terminated_state(r, r->exit_code, r->exit_code == 0 ? "Completed" : "Error");
	const char *policy = json_str(pod->json, "spec", "restartPolicy", NULL);
	bool is_never = policy && strcmp(policy, "Never") == 0;
	if (is_never || (policy && strcmp(policy, "OnFailure") == 0 && r->exit_code == 0)) {
		r->state = RUN_ENDED;
		run_write_status(r);
		return;
	}
	if (clock_mono_ms() - r->started_ms > STEADY_MS)
		r->failures_in_row = 0;
	r->restarts++;
	wait_before_retry(r, "CrashLoopBackOff", text);
}

static bool launch(struct run *r, const struct object *pod, struct err *err)
{
	struct server *s = r->c->server;
	char *folder = volumes_folder(s, "pods", r->uid, err);
	char *workspace = folder ? workspace_of(r, pod, err) : NULL;
	if (workspace && !r->log)
		r->log = podlog_open(s, folder, err);
	if (workspace && r->log) {
		char **env = make_env(r, pod);
		char host[HOST_NAME_BYTES];
		snprintf(host, sizeof host, "%s", pod->name);
		struct spawn_opts opts = { .name = host,
			.uid = pod->uid,
			.workspace = workspace,
			.address = r->address,
			.rest_port = REST_PORT,
			.grpc_port = GRPC_PORT,
			.token_sha256 = s->daemon_token ? s->daemon_token_sha256 : NULL,
			.env = (const char *const *)env,
			.log_path = podlog_path(r->log),
			.daemon_path = s->opts.sandboxd,
			.limits = { .cpu_milli = (uint32_t)limit_of(pod, "cpu"),
				.memory_bytes = (uint64_t)(limit_of(pod, "memory") / 1000),
				.pids = MAX_PIDS },
			.mode = s->opts.is_isolated ? ISOLATION_BWRAP : ISOLATION_NONE };
		r->daemon = spawn_start(s->loop, &opts, on_exit_of, r, err);
		free_env(env);
	}
	free(workspace);
	free(folder);
	return r->daemon != NULL;
}

static void start(struct run *r)
{
	struct err err = { 0 };
	struct object *pod = run_pod(r);
	if (!pod || r->is_stopping || r->c->is_stopping)
		return;
	object_ref(pod);
	if (r->log)
		podlog_rotate(r->log);
	if (!r->address[0])
		next_address(r->c, r->address);
	bool ok = launch(r, pod, &err);
	for (int i = 0; !ok && err.sys == EADDRINUSE && i < 32; i++) {
		next_address(r->c, r->address);
		ok = launch(r, pod, &err);
	}
	if (ok) {
		r->state = RUN_STARTING;
		r->waiting = NULL;
		r->message[0] = '\0';
		r->started_ms = clock_mono_ms();
		now_text(r->started_at, 0);
		events_record(r->c, pod, EVENT_NORMAL, "Started", "Run",
			"Started the daemon on %s", r->address);
		run_write_status(r);
		probe_start(r);
	} else {
		LOG("pods", LOG_WARN, "%s/%s: %s", pod->ns, pod->name, err.msg);
		events_record(r->c, pod, EVENT_WARNING, "Failed", "Run",
			"cannot start the daemon: %s", err.msg);
		wait_before_retry(r, "CreateContainerError", err.msg);
	}
	object_unref(pod);
}

static void on_retry(void *arg)
{
	start(arg);
}

void run_on_health(struct run *r, bool is_well)
{
	enum run_state before = r->state;
	struct object *pod = run_pod(r);
	if (!pod || !r->daemon)
		return;
	if (is_well)
		r->state = RUN_READY;
	else if (r->state == RUN_READY)
		r->state = RUN_UNREADY;
	if (r->state == before)
		return;
	if (!is_well)
		events_record(r->c, pod, EVENT_WARNING, "Unhealthy", "Probe",
			"the daemon does not answer GET /v1/health");
	run_write_status(r);
}

static struct run *run_new(struct controller *c, const struct object *pod)
{
	struct run *r = x_calloc(1, sizeof *r);
	const cJSON *list = json_get(pod->json, "status", "containerStatuses", NULL);
	const cJSON *status = list ? list->child : NULL;
	const cJSON *last = json_get(status, "lastState", NULL);
	const cJSON *restarted = condition_find(pod->json, CONDITION_RESTARTED);
	const char *ip = json_str(pod->json, "status", "podIP", NULL);
	r->c = c;
	snprintf(r->uid, sizeof r->uid, "%s", pod->uid);
	r->ns = x_strdup(pod->ns);
	r->name = x_strdup(pod->name);
	r->restarts = (int)json_int(status, 0, "restartCount", NULL);
	r->last_state = last ? cJSON_Duplicate(last, true) : NULL;
	r->restarted = restarted ? cJSON_Duplicate(restarted, true) : NULL;
	snprintf(r->address, sizeof r->address, "%s", ip ? ip : "");
	r->retry = loop_timer_new(c->server->loop, on_retry, r);
	HASH_ADD_STR(c->runs, uid, r);
	return r;
}

static int64_t grace_of(const struct object *pod)
{
	int64_t s = json_int(pod->json, 5, "metadata", "deletionGracePeriodSeconds", NULL);
	return s < 0 ? 0 : s > 30 ? 30000 : s * 1000;
}

int64_t reconcile_pod(struct controller *c, struct object *pod)
{
	struct run *r;
	const char *phase = json_str(pod->json, "status", "phase", NULL);
	bool has_ended =
		phase && (strcmp(phase, "Succeeded") == 0 || strcmp(phase, "Failed") == 0);
	HASH_FIND_STR(c->runs, pod->uid, r);
	if (c->is_stopping)
		return 0;
	if (objects_is_terminating(pod)) {
		if (!r)
			r = run_new(c, pod);
		if (!r->daemon) {
			remove_pod(r);
		} else if (!r->is_stopping) {
			r->is_stopping = true;
			events_record(
				c, pod, EVENT_NORMAL, "Killing", "Stop", "Stopping the daemon");
			run_write_status(r);
			spawn_stop(r->daemon, grace_of(pod));
		}
		return 0;
	}
	if (!r && !has_ended) {
		r = run_new(c, pod);
		start(r);
	}
	return 0;
}

/* ---- what runs in them ---- */

static void on_scan(void *arg)
{
	struct controller *c = arg;
	struct run *r, *next;
	HASH_ITER(hh, c->runs, r, next) {
		if (!r->daemon)
			continue;
		char *now = procs_below(spawn_pid(r->daemon));
		if (r->processes && strcmp(now, r->processes) == 0) {
			free(now);
			continue;
		}
		char *key = x_asprintf("procs/%s", r->uid);
		store_meta_set(c->server->store, key, now, NULL);
		free(key);
		free(r->processes);
		r->processes = now;
	}
}

bool pods_open(struct controller *c, struct err *err)
{
	int64_t n = 0;
	char *text = store_meta_get(c->server->store, "next-address");
	(void)err;
	if (text && num_parse_i64(text, 0, UINT32_MAX, &n))
		c->next_address = (uint32_t)n;
	free(text);
	c->scan_timer = loop_timer_new(c->server->loop, on_scan, c);
	loop_timer_arm_every(c->scan_timer, SCAN_MS);
	return true;
}

/* A pod that is here when the backend starts has lost its daemon, and everything that ran in it. */
static void note_one(struct controller *c, struct object *pod, bool was_clean)
{
	char now[CLOCK_RFC3339_BYTES], message[512];
	char *key = x_asprintf("procs/%s", pod->uid);
	char *names = store_meta_get(c->server->store, key);
	const cJSON *list = json_get(pod->json, "status", "containerStatuses", NULL);
	const cJSON *owner = owner_of(pod->json);
	const char *sandbox_uid = json_str(owner, "uid", NULL);
	snprintf(message, sizeof message,
		"the local backend %s and was started again; %s%.380s",
		was_clean ? "was stopped" : "died",
		names && *names ? "processes that died: " : "no process was running",
		names ? names : "");
	if (list && list->child) {
		cJSON *json = cJSON_Duplicate(pod->json, true);
		cJSON *status = tree_object(json, "status");
		cJSON *container =
			cJSON_GetObjectItemCaseSensitive(status, "containerStatuses")->child;
		cJSON *state = cJSON_CreateObject();
		cJSON *t = cJSON_AddObjectToObject(state, "terminated");
		tree_set_number(t, "exitCode", was_clean ? 143 : 137);
		tree_set(t, "reason", "BackendRestarted");
		tree_set(t, "message", message);
		tree_set(t, "finishedAt", now_text(now, 0));
		tree_set_number(container, "restartCount",
			(double)json_int(container, 0, "restartCount", NULL) + 1);
		tree_set_item(container, "lastState", state);
		cJSON_AddBoolToObject(container, "ready", false);
		tree_set_item(container, "ready", cJSON_CreateFalse());
		condition_set(status, "Ready", "False", "ContainersNotReady", message, 0);
		condition_drop(status, CONDITION_RESTARTED);
		condition_set(
			status, CONDITION_RESTARTED, "True", "BackendRestarted", message, 0);
		pod = controller_update(c, pod, json, OBJECTS_STATUS);
	}
	if (pod) {
		struct object *sandbox =
			sandbox_uid ? store_by_uid(c->server->store, sandbox_uid) : NULL;
		events_record(
			c, pod, EVENT_WARNING, "BackendRestarted", "Restart", "%s", message);
		if (sandbox)
			events_record(c, sandbox, EVENT_WARNING, "BackendRestarted", "Restart",
				"%s", message);
	}
	store_meta_set(c->server->store, key, NULL, NULL);
	free(names);
	free(key);
}

void pods_note_restart(struct controller *c)
{
	struct store *s = c->server->store;
	size_t n;
	char *clean = store_meta_get(s, "clean-stop");
	struct object **v = store_list(s, KIND_POD, NULL, store_revision(s), &n);
	for (size_t i = 0; i < n; i++) {
		struct object *pod = store_get(s, KIND_POD, v[i]->ns, v[i]->name);
		if (pod && !objects_is_terminating(pod))
			note_one(c, pod, clean != NULL);
	}
	store_list_free(v, n);
	free(clean);
	store_meta_set(s, "clean-stop", NULL, NULL);
}

void pods_stop_all(struct controller *c, void (*done)(void *arg), void *arg)
{
	struct run *r, *next;
	on_scan(c); /* what is running now is what dies */
	loop_timer_disarm(c->scan_timer);
	c->stopped = done;
	c->stopped_arg = arg;
	HASH_ITER(hh, c->runs, r, next) {
		loop_timer_disarm(r->retry);
		probe_stop(r);
		if (r->daemon)
			spawn_stop(r->daemon, 3000);
	}
	check_all_stopped(c);
}

void pods_close(struct controller *c)
{
	struct run *r, *next;
	HASH_ITER(hh, c->runs, r, next) {
		if (r->daemon)
			spawn_kill(r->daemon);
		r->daemon = NULL;
		probe_stop(r);
		podlog_close(r->log);
		HASH_DEL(c->runs, r);
		loop_timer_free(r->retry);
		loop_timer_free(r->probe);
		cJSON_Delete(r->last_state);
		cJSON_Delete(r->restarted);
		free(r->processes);
		free(r->ns);
		free(r->name);
		free(r);
	}
	loop_timer_free(c->scan_timer);
	c->scan_timer = NULL;
}
