// SPDX-License-Identifier: Apache-2.0
#include "local/isolation/cgroup.h"

#include "engine/base/file.h"
#include "engine/base/mem.h"
#include "engine/base/num.h"
#include "local/isolation/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { CPU_PERIOD_US = 100000, CPU_LEAST_US = 1000, REMOVE_TRIES = 20, OPEN_TRIES = 3 };
enum { MAX_STAT_BYTES = 16 << 10 };

struct isolation_group {
	char *path;
	int procs_fd; /* cgroup.procs, for the child */
	bool is_v2;
	bool has[CGROUP_CONTROLLER_COUNT];
};

struct isolation_cgroup {
	struct isolation_group groups[CGROUP_CONTROLLER_COUNT];
	size_t n;
	uint64_t oom_kills_before; /* of a sandbox that had this name */
};

static bool put_number(const char *dir, const char *file, uint64_t value)
{
	char text[24];
	snprintf(text, sizeof text, "%" PRIu64, value);
	return isolation_cgroup_put(dir, file, text);
}

static uint64_t cpu_quota_us(const struct isolation_spawn_limits *limits)
{
	uint64_t us = (uint64_t)limits->cpu_milli * CPU_PERIOD_US / 1000;
	return us < CPU_LEAST_US ? CPU_LEAST_US : us;
}

static bool set_v2(const char *dir, int controller, const struct isolation_spawn_limits *limits)
{
	char quota[48];
	switch (controller) {
	case CGROUP_MEMORY:
		/* a job is killed, not all of the sandbox */
		isolation_cgroup_put(dir, "memory.oom.group", "0");
		if (!put_number(dir, "memory.max", limits->memory_bytes))
			return false;
		isolation_cgroup_put(dir, "memory.swap.max", "0");
		return true;
	case CGROUP_PIDS:
		return put_number(dir, "pids.max", limits->pids);
	default:
		snprintf(quota, sizeof quota, "%" PRIu64 " %d", cpu_quota_us(limits),
			CPU_PERIOD_US);
		return isolation_cgroup_put(dir, "cpu.max", quota);
	}
}

static bool set_v1(const char *dir, int controller, const struct isolation_spawn_limits *limits)
{
	switch (controller) {
	case CGROUP_MEMORY:
		/* memory and swap together are never less than memory: out of the way, then back */
		isolation_cgroup_put(dir, "memory.memsw.limit_in_bytes", "-1");
		if (!put_number(dir, "memory.limit_in_bytes", limits->memory_bytes))
			return false;
		put_number(dir, "memory.memsw.limit_in_bytes", limits->memory_bytes);
		return true;
	case CGROUP_PIDS:
		return put_number(dir, "pids.max", limits->pids);
	default:
		put_number(dir, "cpu.cfs_period_us", CPU_PERIOD_US);
		return put_number(dir, "cpu.cfs_quota_us", cpu_quota_us(limits));
	}
}

static struct isolation_group *group_at(struct isolation_cgroup *cgroup, const char *path)
{
	for (size_t i = 0; i < cgroup->n; i++)
		if (strcmp(cgroup->groups[i].path, path) == 0)
			return &cgroup->groups[i];
	return NULL;
}

/* The group in this place, made if it is not there yet; NULL if that is not allowed. */
static struct isolation_group *open_group(struct isolation_cgroup *cgroup,
	const struct isolation_cgroup_place *place, const char *name)
{
	char *path = place->dir ? x_asprintf("%s/%s", place->dir, name) : NULL;
	struct isolation_group *group = path ? group_at(cgroup, path) : NULL;
	if (path == NULL || group != NULL) {
		free(path);
		return group;
	}
	char *procs = x_asprintf("%s/cgroup.procs", path);
	bool ok = false;
	/* again if another backend's last sandbox took the folder away in between */
	for (int try = 0; !ok && try < OPEN_TRIES; try++)
		ok = isolation_cgroup_place_open(place) &&
		     (mkdir(path, 0755) == 0 || errno == EEXIST);
	int fd = ok ? open(procs, O_WRONLY | O_CLOEXEC) : -1;
	free(procs);
	if (fd < 0) {
		if (ok)
			rmdir(path);
		free(path);
		return NULL;
	}
	group = &cgroup->groups[cgroup->n++];
	*group =
		(struct isolation_group){ .path = path, .procs_fd = fd, .is_v2 = place->is_v2 };
	return group;
}

static uint64_t read_oom_kills(const struct isolation_cgroup *cgroup)
{
	uint64_t sum = 0;
	for (size_t i = 0; cgroup != NULL && i < cgroup->n; i++) {
		const struct isolation_group *group = &cgroup->groups[i];
		char *path = x_asprintf("%s/%s", group->path,
			group->is_v2 ? "memory.events" : "memory.oom_control");
		size_t n;
		char *text = file_read(path, 4096, &n, NULL), *save = NULL;
		for (char *line = text ? strtok_r(text, "\n", &save) : NULL; line != NULL;
			line = strtok_r(NULL, "\n", &save)) {
			uint64_t value;
			if (strncmp(line, "oom_kill ", 9) == 0 &&
				num_parse_u64(line + 9, UINT64_MAX, &value))
				sum += value;
		}
		free(text);
		free(path);
	}
	return sum;
}

struct isolation_cgroup *isolation_cgroup_new(
	const char *name, const struct isolation_spawn_limits *limits)
{
	const bool wants[CGROUP_CONTROLLER_COUNT] = {
		[CGROUP_MEMORY] = limits->memory_bytes > 0,
		[CGROUP_PIDS] = limits->pids > 0,
		[CGROUP_CPU] = limits->cpu_milli > 0,
	};
	if (name == NULL || !*name || strchr(name, '/') != NULL || name[0] == '.')
		return NULL;
	struct isolation_cgroup *cgroup = x_calloc(1, sizeof *cgroup);
	bool is_any = false;
	for (int i = 0; i < CGROUP_CONTROLLER_COUNT; i++) {
		if (!wants[i])
			continue;
		struct isolation_group *group =
			open_group(cgroup, &isolation_cgroup_places_own()->of[i], name);
		if (group != NULL)
			group->has[i] = group->is_v2 ? set_v2(group->path, i, limits)
						     : set_v1(group->path, i, limits);
		is_any = is_any || (group != NULL && group->has[i]);
	}
	if (!is_any) {
		isolation_cgroup_free(cgroup);
		return NULL;
	}
	cgroup->oom_kills_before = read_oom_kills(cgroup);
	return cgroup;
}

void isolation_cgroup_join(const struct isolation_cgroup *cgroup)
{
	/* "0" means the writer; only write(), as after a fork. cgroup_holds() tells whether it worked */
	for (size_t i = 0; cgroup != NULL && i < cgroup->n; i++)
		if (write(cgroup->groups[i].procs_fd, "0", 1) != 1)
			continue;
}

static char *read_procs(const struct isolation_group *group)
{
	size_t n;
	char *path = x_asprintf("%s/cgroup.procs", group->path);
	char *text = file_read(path, 1 << 20, &n, NULL);
	free(path);
	return text;
}

void isolation_cgroup_kill(const struct isolation_cgroup *cgroup)
{
	for (size_t i = 0; cgroup != NULL && i < cgroup->n; i++) {
		const struct isolation_group *group = &cgroup->groups[i];
		if (group->is_v2 && isolation_cgroup_put(group->path, "cgroup.kill", "1"))
			continue;
		char *text = read_procs(group), *save = NULL;
		for (char *line = text ? strtok_r(text, "\n", &save) : NULL; line != NULL;
			line = strtok_r(NULL, "\n", &save)) {
			int64_t pid;
			if (num_parse_i64(line, 1, INT_MAX, &pid) && pid != getpid())
				kill((pid_t)pid, SIGKILL);
		}
		free(text);
	}
}

uint64_t isolation_cgroup_oom_kills(const struct isolation_cgroup *cgroup)
{
	uint64_t now = read_oom_kills(cgroup);
	return cgroup != NULL && now > cgroup->oom_kills_before ? now - cgroup->oom_kills_before
								: 0;
}

static const struct isolation_group *group_with(
	const struct isolation_cgroup *cgroup, enum isolation_cgroup_controller controller)
{
	for (size_t i = 0; cgroup != NULL && i < cgroup->n; i++)
		if (cgroup->groups[i].has[controller])
			return &cgroup->groups[i];
	return NULL;
}

/* Of a file with a number, or of its line "name number"; false: there is none. */
static bool read_number(const char *dir, const char *file, const char *name, uint64_t *out)
{
	size_t n, name_n = name ? strlen(name) : 0;
	char *path = x_asprintf("%s/%s", dir, file);
	char *text = file_read(path, MAX_STAT_BYTES, &n, NULL), *save = NULL;
	bool found = false;
	free(path);
	for (char *line = text ? strtok_r(text, "\n", &save) : NULL; line != NULL && !found;
		line = strtok_r(NULL, "\n", &save)) {
		bool is_it = name == NULL ||
			     (strncmp(line, name, name_n) == 0 && line[name_n] == ' ');
		found = is_it &&
			num_parse_u64(name ? line + name_n + 1 : line, UINT64_MAX, out);
	}
	free(text);
	return found;
}

bool isolation_cgroup_cpu_ns(const struct isolation_cgroup *cgroup, uint64_t *cpu_ns)
{
	for (size_t i = 0; cgroup != NULL && i < cgroup->n; i++) {
		const struct isolation_group *group = &cgroup->groups[i];
		uint64_t us;
		if (group->is_v2 && read_number(group->path, "cpu.stat", "usage_usec", &us)) {
			*cpu_ns = us * 1000;
			return true;
		}
		if (!group->is_v2 && group->has[CGROUP_CPU] &&
			read_number(group->path, "cpuacct.usage", NULL, cpu_ns))
			return true;
	}
	return false;
}

bool isolation_cgroup_memory_bytes(
	const struct isolation_cgroup *cgroup, uint64_t *memory_bytes)
{
	const struct isolation_group *group = group_with(cgroup, CGROUP_MEMORY);
	uint64_t used, cache = 0;
	if (group == NULL ||
		!read_number(group->path,
			group->is_v2 ? "memory.current" : "memory.usage_in_bytes", NULL, &used))
		return false;
	read_number(group->path, "memory.stat",
		group->is_v2 ? "inactive_file" : "total_inactive_file", &cache);
	*memory_bytes = used > cache ? used - cache : 0;
	return true;
}

bool isolation_cgroup_has(
	const struct isolation_cgroup *cgroup, enum isolation_cgroup_controller controller)
{
	return group_with(cgroup, controller) != NULL;
}

bool isolation_cgroup_holds(const struct isolation_cgroup *cgroup,
	enum isolation_cgroup_controller controller, pid_t pid)
{
	const struct isolation_group *group = group_with(cgroup, controller);
	char *text = group ? read_procs(group) : NULL, *save = NULL;
	bool found = false;
	for (char *line = text ? strtok_r(text, "\n", &save) : NULL; line != NULL && !found;
		line = strtok_r(NULL, "\n", &save)) {
		int64_t listed;
		found = num_parse_i64(line, 1, INT_MAX, &listed) && listed == pid;
	}
	free(text);
	return found;
}

void isolation_cgroup_free(struct isolation_cgroup *cgroup)
{
	if (cgroup == NULL)
		return;
	for (size_t i = 0; i < cgroup->n; i++) {
		struct isolation_group *group = &cgroup->groups[i];
		close(group->procs_fd);
		/* the last process may still be on its way out */
		for (int try = 0;
			rmdir(group->path) != 0 && errno == EBUSY && try < REMOVE_TRIES; try++)
			nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
		*strrchr(group->path, '/') = 0;
		rmdir(group->path); /* ours too, once the last sandbox has gone */
		free(group->path);
	}
	free(cgroup);
}
