// SPDX-License-Identifier: Apache-2.0
/* The watch over what pods use, with the machine played by the test: its clock, its disks, its memory, its cgroups, and
 * the looks, which are answered when the test says so. Linked with --wrap; header-only. */
#pragma once

#include "tests/unit/local/server/world.h"

#include "engine/base/clock.h"
#include "engine/base/err.h"
#include "engine/base/mem.h"
#include "local/isolation/cgroup.h"
#include "local/server/kubelet/run.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/statvfs.h>

#define COUNT(a) (sizeof(a) / sizeof(a)[0])
#define GI ((uint64_t)1 << 30)
#define MI ((uint64_t)1 << 20)
enum { MAX_RUNS = 6, MAX_LOOKS = 32, BLOCK = 4096, DAEMON = 4242 };

static struct disk {
	uint64_t total, free, inodes;
	bool fails;
} own, ws; /* of the state folder, of the workspaces */
static uint64_t available, oom_kills;
static bool has_group[CGROUP_CONTROLLER_COUNT], is_held_by[CGROUP_CONTROLLER_COUNT], has_sizes;
static struct isolation_cgroup_places places;
static pid_t daemon_pid;
static int n_stopped;
static int64_t now_ms;

static struct asked {
	struct isolation_usage_where where;
	unsigned what;
	isolation_usage_fn *done;
	void *arg;
	bool is_open;
} asked[MAX_LOOKS];
static int n_asked;
static bool is_refused;
static bool group_counts; /* its cgroup says what it uses: */
static uint64_t group_cpu_ns, group_memory;

static struct kubelet_run runs[MAX_RUNS];

int __wrap_statvfs(const char *path, struct statvfs *fs);
int __wrap_statvfs(const char *path, struct statvfs *fs)
{
	const struct disk *d = strncmp(path, "/state/", 7) == 0 ? &ws : &own;
	*fs = (struct statvfs){ .f_bsize = 1,
		.f_frsize = BLOCK,
		.f_blocks = d->total / BLOCK,
		.f_bavail = d->free / BLOCK,
		.f_ffree = d->inodes };
	return d->fails ? -1 : 0;
}

uint64_t __wrap_isolation_usage_available_memory(void);
uint64_t __wrap_isolation_usage_available_memory(void)
{
	return available;
}

uint64_t __wrap_isolation_cgroup_oom_kills(const struct isolation_cgroup *cgroup);
uint64_t __wrap_isolation_cgroup_oom_kills(const struct isolation_cgroup *cgroup)
{
	(void)cgroup;
	return oom_kills;
}

bool __wrap_isolation_cgroup_has(
	const struct isolation_cgroup *cgroup, enum isolation_cgroup_controller controller);
bool __wrap_isolation_cgroup_has(
	const struct isolation_cgroup *cgroup, enum isolation_cgroup_controller controller)
{
	(void)cgroup;
	return has_group[controller];
}

bool __wrap_isolation_cgroup_cpu_ns(const struct isolation_cgroup *cgroup, uint64_t *cpu_ns);
bool __wrap_isolation_cgroup_cpu_ns(const struct isolation_cgroup *cgroup, uint64_t *cpu_ns)
{
	(void)cgroup;
	*cpu_ns = group_cpu_ns;
	return group_counts;
}

bool __wrap_isolation_cgroup_memory_bytes(
	const struct isolation_cgroup *cgroup, uint64_t *memory_bytes);
bool __wrap_isolation_cgroup_memory_bytes(
	const struct isolation_cgroup *cgroup, uint64_t *memory_bytes)
{
	(void)cgroup;
	*memory_bytes = group_memory;
	return group_counts;
}

bool __wrap_isolation_cgroup_holds(const struct isolation_cgroup *cgroup,
	enum isolation_cgroup_controller controller, pid_t pid);
bool __wrap_isolation_cgroup_holds(const struct isolation_cgroup *cgroup,
	enum isolation_cgroup_controller controller, pid_t pid)
{
	(void)cgroup;
	return is_held_by[controller] && pid == daemon_pid;
}

const struct isolation_cgroup_places *__wrap_isolation_cgroup_places_own(void);
const struct isolation_cgroup_places *__wrap_isolation_cgroup_places_own(void)
{
	return &places;
}

bool __wrap_isolation_bwrap_has_sizes(void);
bool __wrap_isolation_bwrap_has_sizes(void)
{
	return has_sizes;
}

pid_t __wrap_isolation_spawn_daemon_pid(const struct isolation_spawn *spawn);
pid_t __wrap_isolation_spawn_daemon_pid(const struct isolation_spawn *spawn)
{
	assert_non_null(spawn);
	return daemon_pid;
}

const struct isolation_cgroup *__wrap_isolation_spawn_cgroup(
	const struct isolation_spawn *spawn);
const struct isolation_cgroup *__wrap_isolation_spawn_cgroup(
	const struct isolation_spawn *spawn)
{
	assert_non_null(spawn);
	return NULL;
}

void __wrap_isolation_spawn_stop(struct isolation_spawn *spawn, int64_t grace_ms);
void __wrap_isolation_spawn_stop(struct isolation_spawn *spawn, int64_t grace_ms)
{
	assert_non_null(spawn);
	assert_int_equal(grace_ms, 0);
	n_stopped++;
}

struct isolation_usage_look *__wrap_isolation_usage_look_start(struct net_loop *loop,
	const struct isolation_usage_where *where, unsigned what, isolation_usage_fn *done,
	void *arg, struct err *err);
struct isolation_usage_look *__wrap_isolation_usage_look_start(struct net_loop *loop,
	const struct isolation_usage_where *where, unsigned what, isolation_usage_fn *done,
	void *arg, struct err *err)
{
	assert_non_null(loop);
	if (is_refused) {
		err_set(err, ERR_SYSTEM, "no more processes");
		return NULL;
	}
	assert_true(n_asked < MAX_LOOKS);
	asked[n_asked] = (struct asked){ *where, what, done, arg, true };
	return (struct isolation_usage_look *)&asked[n_asked++];
}

void __wrap_isolation_usage_look_cancel(struct isolation_usage_look *look);
void __wrap_isolation_usage_look_cancel(struct isolation_usage_look *look)
{
	if (look)
		((struct asked *)look)->is_open = false;
}

/* The look of this number is over, and found this. */
static inline void found(int i, struct isolation_usage usage)
{
	assert_true(i < n_asked && asked[i].is_open);
	asked[i].is_open = false;
	asked[i].done(asked[i].arg, &usage, NULL);
}

static inline void at_ms(int64_t ms)
{
	now_ms = ms;
	clock_set_for_tests(ms * 1000000, ms * 1000000);
}

/* "tree p0 memory p1 " of the looks from this one on; static. */
static inline const char *looks_from(int i)
{
	static char text[500];
	text[0] = '\0';
	for (; i < n_asked; i++) {
		const struct kubelet_run_look *look = asked[i].arg;
		size_t n = strlen(text);
		snprintf(text + n, sizeof text - n, "%s %s ",
			asked[i].what == USAGE_TREE     ? "tree"
			: asked[i].what == USAGE_MEMORY ? "memory"
							: "?",
			look->run->name);
	}
	return text;
}

/* A pod that runs; container and metadata as put into its JSON. Its memory is held unless a test says otherwise. */
static inline struct kubelet_run *add_run(
	struct world *w, int i, const char *metadata, const char *container)
{
	static char ns[] = "default", names[MAX_RUNS][8], spaces[MAX_RUNS][32];
	struct kubelet_run *r = &runs[i];
	snprintf(names[i], sizeof names[i], "p%d", i);
	snprintf(spaces[i], sizeof spaces[i], "/state/volumes/vol-%d", i);
	world_put(w, KIND_POD,
		"{'apiVersion':'v1','kind':'Pod','metadata':{'name':'p%d','uid':'pod-%d'%s},"
		"'spec':{'containers':[{'name':'c','image':'i'%s}]}}",
		i, i, metadata, container);
	*r = (struct kubelet_run){ .c = w->c,
		.ns = ns,
		.name = names[i],
		.workspace = spaces[i],
		.daemon = (struct isolation_spawn *)r,
		.started_ms = now_ms };
	snprintf(r->uid, sizeof r->uid, "pod-%d", i);
	kubelet_run_limits_read(r, world_get(w, KIND_POD, names[i]));
	HASH_ADD_STR(w->c->kubelet->runs, uid, r);
	return r;
}

static inline void clear_runs(struct world *w)
{
	struct kubelet_run *r, *next;
	HASH_ITER(hh, w->c->kubelet->runs, r, next) {
		HASH_DEL(w->c->kubelet->runs, r);
	}
}

static int set_up(void **state)
{
	static char group[] = "/cg";
	world_set_up(state);
	struct world *w = *state;
	w->server.opts.state_dir = "/state";
	w->server.opts.is_isolated = true;
	own = ws = (struct disk){ 200 * GI, 100 * GI, 1000000, false };
	available = 8 * GI;
	oom_kills = 0;
	has_sizes = is_refused = false;
	group_counts = true;
	group_cpu_ns = group_memory = 0;
	for (int i = 0; i < CGROUP_CONTROLLER_COUNT; i++) {
		has_group[i] = is_held_by[i] = true;
		places.of[i] = (struct isolation_cgroup_place){ .dir = group };
	}
	daemon_pid = DAEMON;
	n_stopped = n_asked = 0;
	at_ms(10000000);
	return 0;
}

static int tear_down(void **state)
{
	clear_runs(*state);
	clock_set_for_tests(-1, -1);
	return world_tear_down(state);
}
