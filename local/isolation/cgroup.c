// SPDX-License-Identifier: Apache-2.0
#include "local/isolation/cgroup.h"

#include "engine/base/file.h"
#include "engine/base/mem.h"
#include "engine/base/num.h"
#include "engine/base/str.h"
#include "local/isolation/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { MAX_GROUPS = 4, CPU_PERIOD_US = 100000, REMOVE_TRIES = 20 };

struct group {
	char *path;
	int procs_fd; /* cgroup.procs, for the child */
	bool is_v2;
};

struct cgroup {
	struct group groups[MAX_GROUPS];
	size_t n;
	bool has_memory, has_pids, has_cpu;
	char text[64];
};

static bool put(const char *dir, const char *file, const char *value)
{
	char *path = x_asprintf("%s/%s", dir, file);
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	free(path);
	if (fd < 0)
		return false;
	bool ok = write(fd, value, strlen(value)) == (ssize_t)strlen(value);
	close(fd);
	return ok;
}

static bool put_number(const char *dir, const char *file, uint64_t value)
{
	char text[24];
	snprintf(text, sizeof text, "%llu", (unsigned long long)value);
	return put(dir, file, text);
}

/* The path of this process in a hierarchy: "" is v2, otherwise a v1 controller. malloc'ed or NULL. */
static char *own_path(const char *controller)
{
	size_t n;
	char *text = file_read("/proc/self/cgroup", 64 << 10, &n, NULL);
	char *found = NULL;
	char *save = NULL;
	for (char *line = text ? strtok_r(text, "\n", &save) : NULL;
		line != NULL && found == NULL; line = strtok_r(NULL, "\n", &save)) {
		char *names = strchr(line, ':');
		char *path = names ? strchr(names + 1, ':') : NULL;
		if (path == NULL)
			continue;
		*path++ = 0;
		names++;
		if (*controller == 0 ? *names == 0 : strcmp(names, controller) == 0)
			found = x_strdup(path);
	}
	free(text);
	return found;
}

static char *make_group(const char *base, const char *path, const char *name)
{
	char *parent = x_asprintf("%s%s/sandmux", base, strcmp(path, "/") == 0 ? "" : path);
	bool ok = mkdir(parent, 0755) == 0 || errno == EEXIST;
	char *dir = ok ? x_asprintf("%s/%s", parent, name) : NULL;
	free(parent);
	if (dir != NULL && mkdir(dir, 0755) != 0 && errno != EEXIST) {
		free(dir);
		dir = NULL;
	}
	return dir;
}

static void add_group(struct cgroup *cgroup, char *dir_take, bool is_v2)
{
	char *procs = x_asprintf("%s/cgroup.procs", dir_take);
	int fd = open(procs, O_WRONLY | O_CLOEXEC);
	free(procs);
	if (fd < 0 || cgroup->n == MAX_GROUPS) {
		if (fd >= 0)
			close(fd);
		rmdir(dir_take);
		free(dir_take);
		return;
	}
	cgroup->groups[cgroup->n++] = (struct group){ dir_take, fd, is_v2 };
}

static void set_v2(struct cgroup *cgroup, const char *dir, const struct spawn_limits *limits)
{
	char quota[48];
	snprintf(quota, sizeof quota, "%llu %d",
		(unsigned long long)limits->cpu_milli * CPU_PERIOD_US / 1000, CPU_PERIOD_US);
	if (limits->memory_bytes > 0 && put_number(dir, "memory.max", limits->memory_bytes)) {
		put(dir, "memory.swap.max", "0");
		cgroup->has_memory = true;
	}
	if (limits->pids > 0 && put_number(dir, "pids.max", limits->pids))
		cgroup->has_pids = true;
	if (limits->cpu_milli > 0 && put(dir, "cpu.max", quota))
		cgroup->has_cpu = true;
}

/* Beside our own group (a group with processes cannot have children with controllers), or below the
 * root group, which can. */
static void try_v2(struct cgroup *cgroup, const char *name, const struct spawn_limits *limits)
{
	char *own = own_path("");
	static const char base[] = "/sys/fs/cgroup";
	if (own == NULL || access("/sys/fs/cgroup/cgroup.controllers", R_OK) != 0) {
		free(own);
		return;
	}
	bool is_root = strcmp(own, "/") == 0;
	if (!is_root)
		*strrchr(own, '/') = 0;
	char *dir = make_group(base, *own ? own : "/", name);
	if (dir != NULL) {
		char *parent = x_asprintf("%s%s/sandmux", base, is_root ? "" : own);
		if (is_root)
			put(base, "cgroup.subtree_control", "+memory +pids +cpu");
		put(parent, "cgroup.subtree_control", "+memory +pids +cpu");
		free(parent);
		set_v2(cgroup, dir, limits);
		add_group(cgroup, dir, true);
	}
	free(own);
}

static void try_v1(struct cgroup *cgroup, const char *controller, const char *name,
	const char *file, uint64_t value, bool *is_set)
{
	char *own = value > 0 ? own_path(controller) : NULL;
	if (own == NULL)
		return;
	char *base = x_asprintf("/sys/fs/cgroup/%s", controller);
	char *dir = make_group(base, own, name);
	/* inside a container the path is that of the host: the mount begins at our own group */
	if (dir == NULL)
		dir = make_group(base, "/", name);
	if (dir != NULL && put_number(dir, file, value)) {
		*is_set = true;
		add_group(cgroup, dir, false);
	} else if (dir != NULL) {
		rmdir(dir);
		free(dir);
	}
	free(base);
	free(own);
}

static void write_text(struct cgroup *cgroup)
{
	snprintf(cgroup->text, sizeof cgroup->text, "cgroup:%s%s%s; rlimits",
		cgroup->has_memory ? " memory" : "", cgroup->has_pids ? " pids" : "",
		cgroup->has_cpu ? " cpu" : "");
}

struct cgroup *cgroup_new(const char *name, const struct spawn_limits *limits)
{
	bool wants = limits->memory_bytes > 0 || limits->pids > 0 || limits->cpu_milli > 0;
	if (!wants || name == NULL || !*name || strchr(name, '/') != NULL || name[0] == '.')
		return NULL;
	struct cgroup *cgroup = x_calloc(1, sizeof *cgroup);
	try_v2(cgroup, name, limits);
	if (cgroup->n == 0) {
		try_v1(cgroup, "memory", name, "memory.limit_in_bytes", limits->memory_bytes,
			&cgroup->has_memory);
		try_v1(cgroup, "pids", name, "pids.max", limits->pids, &cgroup->has_pids);
		try_v1(cgroup, "cpu", name, "cpu.cfs_quota_us",
			(uint64_t)limits->cpu_milli * CPU_PERIOD_US / 1000, &cgroup->has_cpu);
	}
	if (cgroup->n == 0) {
		free(cgroup);
		return NULL;
	}
	write_text(cgroup);
	return cgroup;
}

void cgroup_join(const struct cgroup *cgroup)
{
	/* "0" means the writer; only write(), as after a fork */
	for (size_t i = 0; cgroup != NULL && i < cgroup->n; i++)
		if (write(cgroup->groups[i].procs_fd, "0", 1) != 1)
			continue;
}

void cgroup_kill(const struct cgroup *cgroup)
{
	for (size_t i = 0; cgroup != NULL && i < cgroup->n; i++) {
		const struct group *group = &cgroup->groups[i];
		if (group->is_v2 && put(group->path, "cgroup.kill", "1"))
			continue;
		char *path = x_asprintf("%s/cgroup.procs", group->path);
		size_t n;
		char *text = file_read(path, 1 << 20, &n, NULL);
		char *save = NULL;
		for (char *line = text ? strtok_r(text, "\n", &save) : NULL; line != NULL;
			line = strtok_r(NULL, "\n", &save)) {
			int64_t pid;
			if (num_parse_i64(line, 1, INT_MAX, &pid) && pid != getpid())
				kill((pid_t)pid, SIGKILL);
		}
		free(text);
		free(path);
	}
}

bool cgroup_was_oom(const struct cgroup *cgroup)
{
	bool was = false;
	for (size_t i = 0; cgroup != NULL && i < cgroup->n; i++) {
		const struct group *group = &cgroup->groups[i];
		char *path = x_asprintf("%s/%s", group->path,
			group->is_v2 ? "memory.events" : "memory.oom_control");
		size_t n;
		char *text = file_read(path, 4096, &n, NULL);
		const char *at = text ? strstr(text, "oom_kill ") : NULL;
		was = was || (at != NULL && at[9] != '0');
		free(text);
		free(path);
	}
	return was;
}

bool cgroup_has(const struct cgroup *cgroup, const char *controller)
{
	if (cgroup == NULL)
		return false;
	return strcmp(controller, "memory") == 0 ? cgroup->has_memory
	       : strcmp(controller, "pids") == 0 ? cgroup->has_pids
						 : cgroup->has_cpu;
}

const char *cgroup_text(const struct cgroup *cgroup)
{
	return cgroup ? cgroup->text : "rlimits only";
}

void cgroup_free(struct cgroup *cgroup)
{
	if (cgroup == NULL)
		return;
	for (size_t i = 0; i < cgroup->n; i++) {
		struct group *group = &cgroup->groups[i];
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
