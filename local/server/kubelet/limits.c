// SPDX-License-Identifier: Apache-2.0
/* What a pod may use, as the kubelet reads it: limits of the first container, and the request of the volume claim that is
 * its workspace. Where nothing is asked for, what protects the machine is limited all the same. And what of it holds,
 * said where clients find it. */
#include "local/server/kubelet/run.h"

#include "engine/base/err.h"
#include "engine/base/file.h"
#include "engine/base/json.h"
#include "engine/base/log.h"
#include "engine/base/num.h"
#include "engine/base/path.h"
#include "engine/k8s/quantity.h"
#include "local/isolation/bwrap.h"
#include "local/isolation/cgroup.h"
#include "local/isolation/limits.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

enum { MAX_PIDS = 1024, MAX_INODES = 1000000, MAX_TMP_INODES = 200000 };
#define MAX_DISK_BYTES ((uint64_t)10 << 30)
#define FLOOR_BYTES ((uint64_t)1 << 30)
#define FLOOR_PERCENT 2

static uint64_t limit_of(const struct store_object *pod, const char *what)
{
	return k8s_quantity_milli_of(
		json_get(kubelet_pod_first_container(pod), "resources", "limits", what, NULL));
}

static uint64_t annotated(const struct store_object *pod, const char *key, uint64_t otherwise)
{
	int64_t n;
	const char *text = controller_unstructured_annotation(pod->json, key);
	return text && num_parse_i64(text, 1, INT32_MAX, &n) ? (uint64_t)n : otherwise;
}

uint64_t kubelet_limits_machine_memory(void)
{
	long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
	return pages > 0 && size > 0 ? (uint64_t)pages * (uint64_t)size : 0;
}

static uint64_t half_of_memory(void)
{
	return kubelet_limits_machine_memory() / 2;
}

static uint64_t disk_limit(const struct kubelet_run *r, const struct store_object *pod)
{
	const struct store_object *claim = kubelet_run_workspace_claim(r, pod);
	uint64_t asked = claim ? k8s_quantity_milli_of(json_get(claim->json, "spec",
					 "resources", "requests", "storage", NULL))
			       : limit_of(pod, "ephemeral-storage");
	return asked / 1000 > 0 ? asked / 1000 : MAX_DISK_BYTES;
}

void kubelet_run_limits_refresh(struct kubelet_run *r, const struct store_object *pod)
{
	r->limits.disk_bytes = disk_limit(r, pod);
	r->limits.disk_inodes = annotated(pod, ANNOTATION_LIMIT_INODES, MAX_INODES);
	r->limits.tmp_inodes = annotated(pod, ANNOTATION_LIMIT_TMP_INODES, MAX_TMP_INODES);
}

void kubelet_run_limits_read(struct kubelet_run *r, const struct store_object *pod)
{
	struct kubelet_run_limits *limits = &r->limits;
	uint64_t memory = limit_of(pod, "memory") / 1000, cpu = limit_of(pod, "cpu");
	limits->is_memory_default = memory == 0;
	limits->spawn = (struct isolation_spawn_limits){
		.cpu_milli = cpu < UINT32_MAX ? (uint32_t)cpu : 0,
		.memory_bytes = memory > 0 ? memory : half_of_memory(),
		.pids = (uint32_t)annotated(pod, ANNOTATION_LIMIT_PIDS, MAX_PIDS),
	};
	kubelet_run_limits_refresh(r, pod);
}

uint64_t kubelet_limits_disk_floor(const struct server *s)
{
	struct statvfs fs;
	if (s->opts.disk_floor > 0)
		return s->opts.disk_floor;
	uint64_t total_bytes =
		statvfs(s->opts.state_dir, &fs) == 0 ? (uint64_t)fs.f_blocks * fs.f_frsize : 0;
	uint64_t share = total_bytes / 100 * FLOOR_PERCENT;
	return share > 0 && share < FLOOR_BYTES ? share : FLOOR_BYTES;
}

/* ---- what holds ---- */

static const char memory_watched[] =
	"looked at when the machine's memory falls, else every 5 s; each process by RLIMIT_DATA besides";

static bool is_held(const struct kubelet_run *r, enum isolation_cgroup_controller controller)
{
	const struct isolation_cgroup *cgroup = isolation_spawn_cgroup(r->daemon);
	return isolation_cgroup_has(cgroup, controller) &&
	       isolation_cgroup_holds(
		       cgroup, controller, isolation_spawn_daemon_pid(r->daemon));
}

bool kubelet_run_is_memory_watched(const struct kubelet_run *r)
{
	return r->limits.spawn.memory_bytes > 0 &&
	       !isolation_cgroup_has(isolation_spawn_cgroup(r->daemon), CGROUP_MEMORY);
}

/* Process limits do not hold root. */
static bool is_host_root(pid_t pid)
{
	char path[48];
	size_t n;
	snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
	char *text = file_read(path, 64 << 10, &n, NULL);
	const char *uid = text ? strstr(text, "\nUid:\t") : NULL;
	bool is = uid != NULL && uid[6] == '0' && uid[7] == '\t';
	free(text);
	return is;
}

static const char *why_not(enum isolation_cgroup_controller controller)
{
	const struct isolation_cgroup_place *place =
		&isolation_cgroup_places_own()->of[controller];
	return place->dir ? "the cgroup could not be set, or not be entered" : place->why;
}

static void add_memory(const struct kubelet_run *r, struct isolation_limits *out)
{
	const struct kubelet_run_limits *l = &r->limits;
	const char *whose =
		l->is_memory_default ? "half of this machine's, as none was asked for" : "";
	if (is_held(r, CGROUP_MEMORY))
		isolation_limits_add(out, "memory", l->spawn.memory_bytes, LIMIT_BYTES,
			LIMIT_CGROUP, "%s", whose);
	else if (kubelet_run_is_memory_watched(r))
		isolation_limits_add(out, "memory", l->spawn.memory_bytes, LIMIT_BYTES,
			LIMIT_WATCHED, "%s (%s)%s%s", memory_watched, why_not(CGROUP_MEMORY),
			*whose ? "; " : "", whose);
	else
		isolation_limits_add(out, "memory", l->spawn.memory_bytes, LIMIT_BYTES,
			LIMIT_NONE, "%s", why_not(CGROUP_MEMORY));
}

static void add_cpu(const struct kubelet_run *r, struct isolation_limits *out)
{
	uint64_t milli = r->limits.spawn.cpu_milli;
	if (milli > 0 && is_held(r, CGROUP_CPU))
		isolation_limits_add(out, "cpu", milli, LIMIT_MILLI_CPU, LIMIT_CGROUP, NULL);
	else
		isolation_limits_add(out, "cpu", milli, LIMIT_MILLI_CPU, LIMIT_NONE, "%s",
			milli > 0 ? why_not(CGROUP_CPU) : "none was asked for");
}

static void add_processes(const struct kubelet_run *r, struct isolation_limits *out)
{
	uint64_t pids = r->limits.spawn.pids;
	if (is_held(r, CGROUP_PIDS))
		isolation_limits_add(out, "processes", pids, LIMIT_COUNT, LIMIT_CGROUP, NULL);
	else if (is_host_root(isolation_spawn_daemon_pid(r->daemon)))
		isolation_limits_add(out, "processes", pids, LIMIT_COUNT, LIMIT_NONE,
			"%s, and process limits do not hold root", why_not(CGROUP_PIDS));
	else
		isolation_limits_add(out, "processes", pids, LIMIT_COUNT, LIMIT_RLIMIT, "%s",
			r->c->server->opts.is_isolated
				? ""
				: "without isolation all processes of this user count");
}

static void add_mounts(const struct kubelet_run *r, struct isolation_limits *out)
{
	for (int i = 0; i < USAGE_MOUNT_COUNT; i++)
		if (r->usage.last.mounts[i].size_bytes > 0)
			isolation_limits_add(out, isolation_usage_mount_paths[i],
				r->usage.last.mounts[i].size_bytes, LIMIT_BYTES, LIMIT_TMPFS,
				"counts as memory");
	if (!r->c->server->opts.is_isolated)
		return;
	if (is_held(r, CGROUP_MEMORY))
		isolation_limits_add(out, "temporary files", 0, LIMIT_COUNT, LIMIT_CGROUP,
			"any number, but each counts as memory");
	else
		isolation_limits_add(out, "temporary files", r->limits.tmp_inodes, LIMIT_COUNT,
			LIMIT_WATCHED, "in each of /tmp, /dev/shm and /run");
}

static void add_disk(const struct kubelet_run *r, struct isolation_limits *out)
{
	const struct isolation_usage *u = &r->usage.last;
	bool is_partly = u->closed_folders > 0;
	static const char how[] = "stopped when it is found above, its files are kept";
	static const char partly[] =
		"folders that are closed to this user are not counted: a user namespace is needed";
	isolation_limits_add(out, "workspace", r->limits.disk_bytes, LIMIT_BYTES, LIMIT_WATCHED,
		"%s", is_partly ? partly : how);
	isolation_limits_add(out, "workspace files", r->limits.disk_inodes, LIMIT_COUNT,
		LIMIT_WATCHED, "%s", is_partly ? partly : how);
}

static char *print_rows(const struct isolation_limits *rows)
{
	cJSON *list = isolation_limits_json(rows);
	char *text = cJSON_PrintUnformatted(list);
	cJSON_Delete(list);
	return text;
}

static void annotate(struct controller *c, struct store_object *o, const char *text)
{
	const char *before =
		o ? controller_unstructured_annotation(o->json, ANNOTATION_LIMITS) : NULL;
	if (!o || (before && strcmp(before, text) == 0))
		return;
	cJSON *json = cJSON_Duplicate(o->json, true);
	controller_unstructured_set_annotation(json, ANNOTATION_LIMITS, text);
	controller_update(c, o, json, OBJECTS_MAIN);
}

void kubelet_run_limits_publish(struct kubelet_run *r)
{
	struct isolation_limits rows = { .n = 0 };
	if (!r->daemon)
		return;
	add_memory(r, &rows);
	add_cpu(r, &rows);
	add_processes(r, &rows);
	add_disk(r, &rows);
	add_mounts(r, &rows);
	char *text = print_rows(&rows);
	annotate(r->c, kubelet_run_pod(r), text);
	free(text);
}

static void add_mount_sizes(struct isolation_limits *out)
{
	static const char *const sizes[USAGE_MOUNT_COUNT] = { [USAGE_TMP] = BWRAP_TMP_BYTES,
		[USAGE_SHM] = BWRAP_SHM_BYTES,
		[USAGE_RUN] = BWRAP_RUN_BYTES };
	bool has_sizes = isolation_bwrap_has_sizes();
	for (int i = 0; i < USAGE_MOUNT_COUNT; i++) {
		uint64_t bytes = 0;
		if (has_sizes)
			num_parse_u64(sizes[i], UINT64_MAX, &bytes);
		isolation_limits_add(out, isolation_usage_mount_paths[i], bytes, LIMIT_BYTES,
			has_sizes ? LIMIT_TMPFS : LIMIT_NONE, "%s",
			has_sizes ? "" : "this bubblewrap cannot size it, 0.7 can");
	}
}

void kubelet_limits_publish(struct controller *c)
{
	static const char *const whats[] = {
		[CGROUP_MEMORY] = "memory", [CGROUP_PIDS] = "processes", [CGROUP_CPU] = "cpu"
	};
	const struct isolation_cgroup_places *places = isolation_cgroup_places_own();
	struct isolation_limits rows = { .n = 0 };
	struct err err = { 0 };
	for (int i = 0; i < CGROUP_CONTROLLER_COUNT; i++) {
		const char *why = places->of[i].why;
		enum isolation_limit_how how = places->of[i].dir    ? LIMIT_CGROUP
					       : i == CGROUP_MEMORY ? LIMIT_WATCHED
					       : i == CGROUP_PIDS   ? LIMIT_RLIMIT
								    : LIMIT_NONE;
		isolation_limits_add(&rows, whats[i], 0, LIMIT_COUNT, how, "%s%s%s",
			how == LIMIT_WATCHED ? memory_watched : "",
			how == LIMIT_WATCHED ? ": " : "", how == LIMIT_CGROUP ? "" : why);
	}
	if (c->server->opts.is_isolated)
		add_mount_sizes(&rows);
	isolation_limits_add(&rows, "workspace", 0, LIMIT_BYTES, LIMIT_WATCHED, NULL);
	isolation_limits_add(&rows, "workspace files", 0, LIMIT_COUNT, LIMIT_WATCHED, NULL);
	isolation_limits_add(&rows, "free disk", kubelet_limits_disk_floor(c->server),
		LIMIT_BYTES, LIMIT_WATCHED, "below it the sandbox that grows most is stopped");
	isolation_limits_add(&rows, "network", 0, LIMIT_COUNT,
		c->server->opts.is_isolated ? LIMIT_NAMESPACE : LIMIT_NONE,
		"network policies are not enforced: %s", server_network_words(c->server));
	char *text = print_rows(&rows);
	char *path = path_join(c->server->opts.state_dir, "limits.json");
	if (!file_write_atomic(path, slice_of(text), 0600, &err))
		LOG("limits", LOG_WARN, "%s", err.msg);
	annotate(c, store_get(c->server->store, KIND_NAMESPACE, "", "default"), text);
	free(path);
	free(text);
}
