// SPDX-License-Identifier: Apache-2.0
/* The part of a kubelet: runs the daemon of each pod, restarts it, and removes the pod when it is deleted and
 * the daemon has ended.
 *
 *   kubelet_reconcile_pod ─> start ─> STARTING ─probe─> READY ⇄ UNREADY
 *                      ^          └──────exit─────┴──> WAITING ─ back-off ─> start, or ENDED
 *   deletionTimestamp ─> TERM ─> (KILL) ─> exit ─> object and folder removed */
#include "local/server/kubelet/run.h"

#include "engine/base/clock.h"
#include "engine/base/err.h"
#include "engine/base/json.h"
#include "engine/base/log.h"
#include "engine/base/num.h"
#include "engine/k8s/time.h"
#include "engine/net/loop.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

enum { SCAN_MS = 2000, USAGE_MS = 1000, BACKOFF_MAX_MS = 60000, STEADY_MS = 60000 };

static void start(struct kubelet_run *r);

/* ---- one run ---- */

static void wait_before_retry(struct kubelet_run *r, const char *reason, const char *message)
{
	int64_t delay = 500;
	for (int i = 0; i < r->failures_in_row && delay < BACKOFF_MAX_MS; i++)
		delay *= 2;
	r->failures_in_row++;
	r->state = RUN_WAITING;
	r->waiting = reason;
	snprintf(r->message, sizeof r->message, "%.255s", message);
	net_loop_timer_arm(r->retry, delay > BACKOFF_MAX_MS ? BACKOFF_MAX_MS : delay);
	kubelet_run_write_status(r);
}

static void run_free(struct kubelet_run *r)
{
	kubelet_probe_stop(r);
	kubelet_podlog_close(r->log);
	kubelet_run_usage_end(r);
	HASH_DEL(r->c->kubelet->runs, r);
	net_loop_timer_free(r->retry);
	net_loop_timer_free(r->probe);
	cJSON_Delete(r->last_state);
	cJSON_Delete(r->restarted);
	free(r->workspace);
	free(r->processes);
	free(r->ns);
	free(r->name);
	free(r);
}

/* Without isolation a daemon that has only just started makes its folder itself: also when the volume has been deleted
 * meanwhile, and its folder with it. */
static void remove_late_volume(const struct kubelet_run *r)
{
	struct server *s = r->c->server;
	const char *slash = r->workspace ? strrchr(r->workspace, '/') : NULL;
	if (slash && !store_by_uid(s->store, slash + 1) &&
		store_was_deleted(s->store, slash + 1))
		kubelet_volumes_remove(s, "volumes", slash + 1);
}

static void remove_pod(struct kubelet_run *r)
{
	struct controller *c = r->c;
	remove_late_volume(r);
	struct store_object *pod = kubelet_run_pod(r);
	char *key = x_asprintf("procs/%s", r->uid);
	store_meta_set(c->server->store, key, NULL, NULL);
	free(key);
	kubelet_volumes_remove(c->server, "pods", r->uid);
	run_free(r);
	if (pod && !store_remove(c->server->store, pod, NULL))
		controller_is_behind(c);
}

static void check_all_stopped(struct controller *c)
{
	struct kubelet_run *r, *next;
	if (!c->kubelet->stopped)
		return;
	HASH_ITER(hh, c->kubelet->runs, r, next) {
		if (r->daemon)
			return;
	}
	void (*stopped)(void *) = c->kubelet->stopped;
	c->kubelet->stopped = NULL;
	stopped(c->kubelet->stopped_arg);
}

static void describe_exit(const struct kubelet_run *r, const char *reason, char *out, size_t n)
{
	bool had = r->processes && *r->processes;
	snprintf(out, n, "the daemon ended: %s%s%s", reason,
		had ? "; processes that died with it: " : "", had ? r->processes : "");
}

static cJSON *terminated_state(const struct kubelet_run *r)
{
	char now[CLOCK_RFC3339_BYTES];
	cJSON *state = cJSON_CreateObject(), *t = cJSON_AddObjectToObject(state, "terminated");
	controller_unstructured_set_number(t, "exitCode", r->exit_code);
	controller_unstructured_set(t, "reason",
		r->stopped_for      ? r->stopped_for
		: r->exit_code == 0 ? "Completed"
				    : "Error");
	controller_unstructured_set(t, "message", r->stopped_for ? r->stopped_why : NULL);
	controller_unstructured_set(t, "startedAt", r->started_at);
	controller_unstructured_set(t, "finishedAt", k8s_time_now(K8S_TIME, now));
	return state;
}

static void on_daemon_exit(void *arg, int status, const char *reason)
{
	struct kubelet_run *r = arg;
	struct controller *c = r->c;
	char text[512];
	r->daemon = NULL;
	kubelet_probe_stop(r);
	kubelet_run_usage_end(r);
	r->exit_code = r->stopped_for        ? 128 + SIGKILL
		       : WIFSIGNALED(status) ? 128 + WTERMSIG(status)
					     : WEXITSTATUS(status);
	struct store_object *pod = kubelet_run_pod(r);
	if (c->is_stopping) {
		check_all_stopped(c);
		return;
	}
	if (!pod || r->is_stopping) {
		remove_pod(r);
		return;
	}
	describe_exit(r, r->stopped_for ? r->stopped_why : reason, text, sizeof text);
	if (!r->stopped_for)
		controller_events_record(
			c, pod, EVENT_WARNING, "DaemonExited", "Run", "%s", text);
	cJSON_Delete(r->last_state);
	r->last_state = terminated_state(r);
	const char *policy = json_str(pod->json, "spec", "restartPolicy", NULL);
	bool is_never = (policy && strcmp(policy, "Never") == 0) || kubelet_run_is_evicted(r);
	if (is_never || (policy && strcmp(policy, "OnFailure") == 0 && r->exit_code == 0)) {
		r->state = RUN_ENDED;
		kubelet_run_write_status(r);
		return;
	}
	if (clock_mono_ms() - r->started_ms > STEADY_MS)
		r->failures_in_row = 0;
	r->restarts++;
	wait_before_retry(r, "CrashLoopBackOff", text);
}

void kubelet_run_on_health(struct kubelet_run *r, bool is_well)
{
	enum kubelet_run_state before = r->state;
	struct store_object *pod = kubelet_run_pod(r);
	if (!pod || !r->daemon)
		return;
	if (is_well)
		r->state = RUN_READY;
	else if (r->state == RUN_READY)
		r->state = RUN_UNREADY;
	if (r->state == before)
		return;
	if (!is_well)
		controller_events_record(r->c, pod, EVENT_WARNING, "Unhealthy", "Probe",
			"the daemon does not answer GET /v1/health");
	kubelet_run_write_status(r);
}

static void start(struct kubelet_run *r)
{
	struct err err = { 0 };
	struct store_object *pod = kubelet_run_pod(r);
	if (!pod || r->is_stopping || r->c->is_stopping)
		return;
	store_object_ref(pod);
	if (r->log)
		kubelet_podlog_rotate(r->log);
	bool ok = kubelet_run_launch(r, pod, on_daemon_exit, &err);
	if (ok) {
		r->state = RUN_STARTING;
		r->stopped_for = r->waiting = NULL;
		r->message[0] = '\0';
		r->started_ms = clock_mono_ms();
		k8s_time_now(K8S_TIME, r->started_at);
		controller_events_record(r->c, pod, EVENT_NORMAL, "Started", "Run",
			"Started the daemon on %s", r->address);
		kubelet_run_write_status(r);
		kubelet_run_usage_begin(r);
		kubelet_probe_start(r, kubelet_run_on_health);
	} else {
		LOG("pods", LOG_WARN, "%s/%s: %s", pod->ns, pod->name, err.msg);
		controller_events_record(r->c, pod, EVENT_WARNING, "Failed", "Run",
			"cannot start the daemon: %s", err.msg);
		wait_before_retry(r, "CreateContainerError", err.msg);
	}
	store_object_unref(pod);
}

static void on_retry(void *arg)
{
	start(arg);
}

static struct kubelet_run *run_new(struct controller *c, const struct store_object *pod)
{
	struct kubelet_run *r = x_calloc(1, sizeof *r);
	const cJSON *list = json_get(pod->json, "status", "containerStatuses", NULL);
	const cJSON *status = list ? list->child : NULL;
	const cJSON *last = json_get(status, "lastState", NULL);
	const cJSON *restarted = k8s_condition_find(pod->json, CONDITION_RESTARTED);
	const char *ip = json_str(pod->json, "status", "podIP", NULL);
	r->c = c;
	snprintf(r->uid, sizeof r->uid, "%s", pod->uid);
	r->ns = x_strdup(pod->ns);
	r->name = x_strdup(pod->name);
	r->restarts = (int)json_int(status, 0, "restartCount", NULL);
	r->last_state = last ? cJSON_Duplicate(last, true) : NULL;
	r->restarted = restarted ? cJSON_Duplicate(restarted, true) : NULL;
	snprintf(r->address, sizeof r->address, "%s", ip ? ip : "");
	r->retry = net_loop_timer_new(c->server->loop, on_retry, r);
	HASH_ADD_STR(c->kubelet->runs, uid, r);
	return r;
}

static int64_t grace_of(const struct store_object *pod)
{
	int64_t s = json_int(pod->json, 5, "metadata", "deletionGracePeriodSeconds", NULL);
	return s < 0 ? 0 : s > 30 ? 30000 : s * 1000;
}

int64_t kubelet_reconcile_pod(struct controller *c, struct store_object *pod)
{
	struct kubelet_run *r;
	const char *phase = json_str(pod->json, "status", "phase", NULL);
	bool has_ended =
		phase && (strcmp(phase, "Succeeded") == 0 || strcmp(phase, "Failed") == 0);
	HASH_FIND_STR(c->kubelet->runs, pod->uid, r);
	if (c->is_stopping)
		return 0;
	if (store_objects_is_terminating(pod)) {
		if (!r)
			r = run_new(c, pod);
		if (!r->daemon) {
			remove_pod(r);
		} else if (!r->is_stopping) {
			r->is_stopping = true;
			controller_events_record(
				c, pod, EVENT_NORMAL, "Killing", "Stop", "Stopping the daemon");
			kubelet_run_write_status(r);
			isolation_spawn_stop(r->daemon, grace_of(pod));
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
	struct kubelet_run *r, *next;
	HASH_ITER(hh, c->kubelet->runs, r, next) {
		if (!r->daemon)
			continue;
		char *now = kubelet_procs_below(isolation_spawn_pid(r->daemon));
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

static void on_usage(void *arg)
{
	kubelet_usage_tick(arg);
	kubelet_metrics_tick(arg);
}

void kubelet_write_again(struct controller *c)
{
	struct kubelet_run *r, *next;
	HASH_ITER(hh, c->kubelet->runs, r, next) {
		kubelet_run_write_status(r);
	}
}

bool kubelet_open(struct controller *c, struct err *err)
{
	int64_t n = 0;
	char *text = store_meta_get(c->server->store, "next-address");
	(void)err;
	c->kubelet = x_calloc(1, sizeof *c->kubelet);
	c->server->pods = &kubelet_pods;
	if (text && num_parse_i64(text, 0, UINT32_MAX, &n))
		c->kubelet->next_address = (uint32_t)n;
	free(text);
	c->kubelet->scan_timer = net_loop_timer_new(c->server->loop, on_scan, c);
	net_loop_timer_arm_every(c->kubelet->scan_timer, SCAN_MS);
	c->kubelet->usage_timer = net_loop_timer_new(c->server->loop, on_usage, c);
	net_loop_timer_arm_every(c->kubelet->usage_timer, USAGE_MS);
	return true;
}

void kubelet_stop(struct controller *c, void (*done)(void *arg), void *arg)
{
	struct kubelet_run *r, *next;
	on_scan(c); /* what is running now is what dies */
	net_loop_timer_disarm(c->kubelet->scan_timer);
	net_loop_timer_disarm(c->kubelet->usage_timer);
	c->kubelet->stopped = done;
	c->kubelet->stopped_arg = arg;
	HASH_ITER(hh, c->kubelet->runs, r, next) {
		net_loop_timer_disarm(r->retry);
		kubelet_probe_stop(r);
		kubelet_run_usage_end(r);
		if (r->daemon)
			isolation_spawn_stop(r->daemon, 3000);
	}
	check_all_stopped(c);
}

void kubelet_close(struct controller *c)
{
	struct kubelet_run *r, *next;
	if (!c->kubelet)
		return;
	c->server->pods = NULL;
	HASH_ITER(hh, c->kubelet->runs, r, next) {
		if (r->daemon)
			isolation_spawn_kill(r->daemon);
		r->daemon = NULL;
		run_free(r);
	}
	net_loop_timer_free(c->kubelet->scan_timer);
	net_loop_timer_free(c->kubelet->usage_timer);
	free(c->kubelet);
	c->kubelet = NULL;
}
