// SPDX-License-Identifier: Apache-2.0
/* Watches what pods use, and stops those above their limits, as the kubelet does: for disk they are evicted (the pod has
 * failed and is not started again, its files are kept), for memory they are killed and started again as the pod says.
 *
 * A walk over a workspace is started when so much less is free on its file system that the workspace could be above its
 * limit, at the latest half a minute after anything has changed there, and then for no more than a tenth of the time.
 * Memory that no cgroup limits is looked at in the same manner. */
#include "local/server/kubelet/run.h"

#include "engine/base/clock.h"
#include "engine/base/err.h"
#include "engine/base/log.h"
#include "engine/base/mem.h"
#include "engine/base/num.h"
#include "local/isolation/cgroup.h"
#include "local/isolation/limits.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>

enum {
	LEAST_MS = 1000, /* between two looks */
	/* after a look, times as long as it took: usually, when much was taken, when the disk is nearly full */
	REST_FACTOR = 10,
	HURRY_FACTOR = 2,
	ALARM_FACTOR = 1,
	LAZY_MS = 30000, /* something has changed, but not enough to worry */
	LAZY_MEMORY_MS = 5000,
	METRICS_MS = 10000, /* where nothing but the metrics wants to know */
	GRACE_MS = 300000,  /* for a workspace that was above its limit when it was started */
	MAX_WALKS = 4,      /* at the same time */
};
#define GROWN_BYTES ((uint64_t)1 << 20) /* less is no growth */

struct space {
	uint64_t free_bytes, free_inodes;
	bool is_known;
};

static struct space space_of(const char *path)
{
	struct statvfs fs;
	struct space space = { 0 };
	if (path && statvfs(path, &fs) == 0)
		space = (struct space){ .free_bytes = (uint64_t)fs.f_bavail * fs.f_frsize,
			.free_inodes = fs.f_ffree,
			.is_known = true };
	return space;
}

/* ---- verdicts ---- */

void kubelet_run_stop_for(struct kubelet_run *r, const char *reason, const char *why)
{
	struct store_object *pod = kubelet_run_pod(r);
	if (!r->daemon || r->is_stopping || r->stopped_for)
		return;
	r->stopped_for = reason;
	snprintf(r->stopped_why, sizeof r->stopped_why, "%s", why);
	LOG("limits", LOG_WARN, "%s/%s: %s: %s", r->ns, r->name, reason, why);
	if (pod)
		controller_events_record(r->c, pod, EVENT_WARNING, reason, "Stop", "%s", why);
	isolation_spawn_stop(r->daemon, 0);
}

/* It was evicted for that before, and started again: time to mend it, as long as it does not grow. */
static bool is_in_grace(
	const struct kubelet_run *r, uint64_t used, uint64_t known, uint64_t step)
{
	return known > 0 && used <= known + step && clock_mono_ms() - r->started_ms < GRACE_MS;
}

/* What a volume had when its pod was evicted outlives the pod. */
static char *eviction_key(const struct kubelet_run *r)
{
	const char *slash = strrchr(r->workspace, '/');
	const char *uid = slash ? slash + 1 : r->workspace;
	return x_asprintf("evicted/%s", strcmp(uid, "workspace") == 0 ? r->uid : uid);
}

static void remember_eviction(const struct kubelet_run *r)
{
	char *key = eviction_key(r);
	char *text =
		x_asprintf("%" PRIu64 " %" PRIu64, r->usage.last.bytes, r->usage.last.inodes);
	store_meta_set(r->c->server->store, key, text, NULL);
	free(text);
	free(key);
}

static void recall_eviction(struct kubelet_run *r)
{
	char *key = eviction_key(r);
	char *text = store_meta_get(r->c->server->store, key);
	char *inodes = text ? strchr(text, ' ') : NULL;
	if (inodes != NULL) {
		*inodes++ = '\0';
		if (!num_parse_u64(text, UINT64_MAX / 2, &r->usage.known_bytes) ||
			!num_parse_u64(inodes, UINT64_MAX / 2, &r->usage.known_inodes))
			r->usage.known_bytes = r->usage.known_inodes = 0;
	}
	free(text);
	free(key);
}

static bool is_disk_above(const struct kubelet_run *r, char *why, size_t n)
{
	const struct isolation_usage *u = &r->usage.last;
	const struct kubelet_run_limits *l = &r->limits;
	char used[LIMIT_TEXT_BYTES], limit[LIMIT_TEXT_BYTES];
	if (u->is_too_deep && !is_in_grace(r, u->inodes, r->usage.known_inodes, 0)) {
		snprintf(why, n,
			"The workspace of this pod has folders nested deeper than %d, which cannot be "
			"measured",
			USAGE_MAX_DEPTH);
		return true;
	}
	if (l->disk_inodes > 0 && u->inodes > l->disk_inodes &&
		!is_in_grace(r, u->inodes, r->usage.known_inodes, 0)) {
		snprintf(why, n,
			"The workspace of this pod has more than %" PRIu64
			" files and folders, which is its limit",
			l->disk_inodes);
		return true;
	}
	if (l->disk_bytes > 0 && u->bytes > l->disk_bytes &&
		!is_in_grace(r, u->bytes, r->usage.known_bytes, GROWN_BYTES)) {
		snprintf(why, n, "The workspace of this pod uses %s, its limit is %s%s",
			isolation_limit_format(u->bytes, LIMIT_BYTES, used),
			isolation_limit_format(l->disk_bytes, LIMIT_BYTES, limit),
			u->deleted_bytes > u->bytes / 2
				? " (most of it in deleted files that are still open)"
				: "");
		return true;
	}
	return false;
}

static bool is_tmp_above(const struct kubelet_run *r, char *why, size_t n)
{
	for (int i = 0; i < USAGE_MOUNT_COUNT; i++) {
		if (r->usage.last.mounts[i].inodes <= r->limits.tmp_inodes)
			continue;
		snprintf(why, n,
			"%s of this pod has %" PRIu64
			" files and folders, its limit is %" PRIu64,
			isolation_usage_mount_paths[i], r->usage.last.mounts[i].inodes,
			r->limits.tmp_inodes);
		return true;
	}
	return false;
}

static void judge(struct kubelet_run *r, enum kubelet_run_look_kind kind)
{
	char why[sizeof r->stopped_why], used[LIMIT_TEXT_BYTES], limit[LIMIT_TEXT_BYTES];
	const struct isolation_usage *u = &r->usage.last;
	if (kind == LOOK_TREE && is_disk_above(r, why, sizeof why)) {
		remember_eviction(r);
		kubelet_run_stop_for(r, "Evicted", why);
	} else if (kind == LOOK_MEMORY && is_tmp_above(r, why, sizeof why)) {
		kubelet_run_stop_for(r, "Evicted", why);
	} else if (kind == LOOK_MEMORY && u->memory_bytes > r->limits.spawn.memory_bytes) {
		snprintf(why, sizeof why, "out of memory: this pod uses %s, its limit is %s",
			isolation_limit_format(u->memory_bytes, LIMIT_BYTES, used),
			isolation_limit_format(
				r->limits.spawn.memory_bytes, LIMIT_BYTES, limit));
		kubelet_run_stop_for(r, "OOMKilled", why);
	}
}

/* ---- looking ---- */

/* A job writes on until its pod has stopped: more may have been kept than was found. */
static void count_from_what_was_kept(
	struct kubelet_run_usage *mine, const struct isolation_usage *now)
{
	mine->floor_bytes = now->bytes;
	if (mine->known_bytes > 0 && now->bytes > mine->known_bytes)
		mine->known_bytes = now->bytes;
	if (mine->known_inodes > 0 && now->inodes > mine->known_inodes)
		mine->known_inodes = now->inodes;
}

/* What a look did not ask for stays as it was. */
static void keep(struct kubelet_run_usage *mine, enum kubelet_run_look_kind kind,
	const struct isolation_usage *now)
{
	struct isolation_usage *last = &mine->last;
	if (kind == LOOK_MEMORY) {
		memcpy(last->mounts, now->mounts, sizeof last->mounts);
		last->memory_bytes = now->memory_bytes;
		last->processes = now->processes;
		return;
	}
	uint64_t memory_bytes = last->memory_bytes;
	*last = *now;
	last->memory_bytes = memory_bytes;
	if (!mine->is_tree_known)
		count_from_what_was_kept(mine, now);
	mine->is_tree_known = true;
}

static void on_look(void *arg, const struct isolation_usage *usage, const struct err *err)
{
	struct kubelet_run_look *look = arg;
	struct kubelet_run *r = look->run;
	struct kubelet_run_usage *mine = &r->usage;
	enum kubelet_run_look_kind kind =
		look == &mine->looks[LOOK_TREE] ? LOOK_TREE : LOOK_MEMORY;
	bool is_first = kind == LOOK_TREE && !mine->is_tree_known;
	bool was_closed = mine->last.closed_folders > 0;
	look->look = NULL;
	look->ended_ms = clock_mono_ms();
	if (!usage) {
		LOG("limits", LOG_WARN, "%s/%s: %s", r->ns, r->name, err->msg);
		return;
	}
	keep(mine, kind, usage);
	if (kind == LOOK_MEMORY)
		kubelet_metrics_on_look(r, usage);
	if (is_first || was_closed != (mine->last.closed_folders > 0))
		kubelet_run_limits_publish(r);
	judge(r, kind);
}

static void look(struct kubelet_run *r, enum kubelet_run_look_kind kind,
	const struct space *space, uint64_t available_bytes)
{
	static const unsigned whats[] = {
		[LOOK_TREE] = USAGE_TREE, [LOOK_MEMORY] = USAGE_MEMORY
	};
	struct err err = { 0 };
	struct kubelet_run_look *mine = &r->usage.looks[kind];
	const struct isolation_usage_where where = {
		.workspace = r->workspace,
		.daemon = isolation_spawn_daemon_pid(r->daemon),
		.is_isolated = r->c->server->opts.is_isolated,
		.max_inodes = r->limits.disk_inodes,
		.max_memory_bytes = r->limits.spawn.memory_bytes,
	};
	if (kind == LOOK_TREE) {
		r->usage.free_bytes = space->free_bytes;
		r->usage.free_inodes = space->free_inodes;
	} else {
		r->usage.available_bytes = available_bytes;
	}
	mine->run = r;
	mine->look = isolation_usage_look_start(
		r->c->server->loop, &where, whats[kind], on_look, mine, &err);
	if (!mine->look)
		LOG("limits", LOG_WARN, "cannot look at %s/%s: %s", r->ns, r->name, err.msg);
}

/* Has so much been taken that the pod may be half way from where it was to its limit? */
static bool is_worrying(uint64_t free_then, uint64_t free_now, uint64_t used, uint64_t limit)
{
	uint64_t taken = free_then > free_now ? free_then - free_now : 0;
	uint64_t left = limit > used ? limit - used : 0;
	return taken > 0 && taken >= left / 2;
}

static bool is_tree_due(
	const struct kubelet_run *r, const struct space *space, bool is_below_floor)
{
	const struct kubelet_run_usage *mine = &r->usage;
	int64_t since = clock_mono_ms() - mine->looks[LOOK_TREE].ended_ms;
	int64_t took = mine->last.took_ms;
	if (mine->looks[LOOK_TREE].look)
		return false;
	if (!mine->is_tree_known)
		return true;
	if (since < LEAST_MS || !space->is_known)
		return false;
	if (is_below_floor)
		return since >= took * ALARM_FACTOR;
	if (is_worrying(mine->free_bytes, space->free_bytes, mine->last.bytes,
		    r->limits.disk_bytes) ||
		is_worrying(mine->free_inodes, space->free_inodes, mine->last.inodes,
			r->limits.disk_inodes))
		return since >= took * HURRY_FACTOR;
	bool has_changed = mine->free_bytes != space->free_bytes ||
			   mine->free_inodes != space->free_inodes;
	return has_changed && since >= LAZY_MS && since >= took * REST_FACTOR;
}

/* A job that the kernel killed at the limit leaves no other trace than its signal. */
static void tell_oom_kills(struct kubelet_run *r)
{
	struct store_object *pod = kubelet_run_pod(r);
	char limit[LIMIT_TEXT_BYTES];
	uint64_t now = isolation_cgroup_oom_kills(isolation_spawn_cgroup(r->daemon));
	if (!pod || now <= r->usage.oom_kills)
		return;
	r->usage.oom_kills = now;
	controller_events_record(r->c, pod, EVENT_WARNING, "OOMKilling", "Kill",
		"out of memory: the kernel killed a process at the limit of %s",
		isolation_limit_format(r->limits.spawn.memory_bytes, LIMIT_BYTES, limit));
}

static void count_growth_from_here(struct controller *c)
{
	struct kubelet_run *r, *next;
	c->kubelet->floor_since_ms = clock_mono_ms();
	HASH_ITER(hh, c->kubelet->runs, r, next) {
		r->usage.floor_bytes = r->usage.last.bytes;
	}
}

static uint64_t growth_of(const struct kubelet_run *r)
{
	const struct kubelet_run_usage *u = &r->usage;
	return u->last.bytes > u->floor_bytes ? u->last.bytes - u->floor_bytes : 0;
}

/* Too little is left for the machine itself: the one that took most since then has to go. That gives nothing back, as its
 * files are kept: then whoever grows on. */
static void defend_floor(struct controller *c)
{
	struct kubelet_run *r, *next, *worst = NULL;
	char floor[LIMIT_TEXT_BYTES], grown[LIMIT_TEXT_BYTES], why[sizeof r->stopped_why];
	if (c->kubelet->floor_since_ms == 0)
		count_growth_from_here(c);
	HASH_ITER(hh, c->kubelet->runs, r, next) {
		if (!r->daemon || r->is_stopping || r->stopped_for || !r->usage.is_tree_known)
			continue;
		if (r->usage.looks[LOOK_TREE].ended_ms <= c->kubelet->floor_since_ms)
			return; /* not looked at since: first that */
		if (!worst || growth_of(r) > growth_of(worst))
			worst = r;
	}
	if (!worst || growth_of(worst) < GROWN_BYTES)
		return;
	snprintf(why, sizeof why,
		"The disk of this machine has less than %s left, and the workspace of this pod grew "
		"most lately, by %s",
		isolation_limit_format(
			kubelet_limits_disk_floor(c->server), LIMIT_BYTES, floor),
		isolation_limit_format(growth_of(worst), LIMIT_BYTES, grown));
	kubelet_run_stop_for(worst, "Evicted", why);
	count_growth_from_here(c);
}

static bool is_memory_due(const struct kubelet_run *r, uint64_t available_bytes)
{
	const struct kubelet_run_look *mine = &r->usage.looks[LOOK_MEMORY];
	int64_t since = clock_mono_ms() - mine->ended_ms;
	if (mine->look || since < LEAST_MS / 2)
		return false;
	if (!kubelet_run_is_memory_watched(r))
		return since >= kubelet_metrics_pause_ms(r, METRICS_MS) &&
		       kubelet_metrics_needs_look(r);
	return since >= LAZY_MEMORY_MS ||
	       is_worrying(r->usage.available_bytes, available_bytes,
		       r->usage.last.memory_bytes, r->limits.spawn.memory_bytes);
}

static size_t count_walks(struct controller *c)
{
	struct kubelet_run *r, *next;
	size_t n = 0;
	HASH_ITER(hh, c->kubelet->runs, r, next) {
		n += r->usage.looks[LOOK_TREE].look != NULL;
	}
	return n;
}

void kubelet_usage_tick(struct controller *c)
{
	struct kubelet_run *r, *next;
	size_t n_walks = count_walks(c);
	uint64_t available_bytes = isolation_usage_available_memory();
	struct space own = space_of(c->server->opts.state_dir);
	bool is_below_floor =
		own.is_known && own.free_bytes < kubelet_limits_disk_floor(c->server);
	if (is_below_floor)
		defend_floor(c);
	else
		c->kubelet->floor_since_ms = 0;
	HASH_ITER(hh, c->kubelet->runs, r, next) {
		struct store_object *pod = kubelet_run_pod(r);
		if (!r->daemon || r->is_stopping || r->stopped_for || !pod ||
			isolation_spawn_daemon_pid(r->daemon) <= 0)
			continue;
		struct space space = space_of(r->workspace);
		kubelet_run_limits_refresh(r, pod);
		tell_oom_kills(r);
		if (is_memory_due(r, available_bytes))
			look(r, LOOK_MEMORY, &space, available_bytes);
		if (n_walks < MAX_WALKS && is_tree_due(r, &space, is_below_floor)) {
			look(r, LOOK_TREE, &space, available_bytes);
			n_walks++;
		}
	}
}

void kubelet_run_usage_begin(struct kubelet_run *r)
{
	kubelet_run_usage_end(r);
	r->usage = (struct kubelet_run_usage){ 0 };
	store_samples_drop(&r->c->server->samples, r->uid);
	recall_eviction(r);
}

void kubelet_run_usage_end(struct kubelet_run *r)
{
	for (int i = 0; i < LOOK_COUNT; i++) {
		isolation_usage_look_cancel(r->usage.looks[i].look);
		r->usage.looks[i].look = NULL;
	}
	store_samples_drop(&r->c->server->samples, r->uid);
}
