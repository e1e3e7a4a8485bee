// SPDX-License-Identifier: Apache-2.0
/* Processes of a sandbox in /proc (proc(5)), seen from outside: all that descend from its first one. What they hold in
 * memory that no mapping shows is found through their open files. */
#include "local/isolation/usage_internal.h"

#include "engine/base/mem.h"
#include "engine/base/num.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

enum { BLOCK_BYTES = 512, MAX_OPEN_FILES = 200000, TEXT_BYTES = 8192 };

const char *const isolation_usage_mount_paths[USAGE_MOUNT_COUNT] = {
	[USAGE_TMP] = "/tmp", [USAGE_SHM] = "/dev/shm", [USAGE_RUN] = "/run"
};

struct isolation_process {
	pid_t pid, parent;
	uint64_t
		ticks; /* user and system time, its own and that of children that it waited for */
};

static size_t read_file(const char *path, char *out, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd >= 0 ? read(fd, out, size - 1) : -1;
	if (fd >= 0)
		close(fd);
	out[n > 0 ? n : 0] = '\0';
	return n > 0 ? (size_t)n : 0;
}

/* "PID (comm) state ppid …": comm may contain anything, ')' too. Fields 4 and 14 to 17 (utime, stime, cutime, cstime). */
static void parse_stat(char *stat_text, struct isolation_process *p)
{
	char *at = strrchr(stat_text, ')'), *save = NULL;
	int field = 3;
	if (at == NULL)
		return;
	for (char *word = strtok_r(at + 1, " \n", &save); word != NULL && field <= 17;
		word = strtok_r(NULL, " \n", &save), field++) {
		uint64_t value = 0;
		if ((field != 4 && field < 14) ||
			!num_parse_u64(word, field == 4 ? INT_MAX : UINT64_MAX >> 8, &value))
			continue;
		if (field == 4)
			p->parent = (pid_t)value;
		else
			p->ticks += value;
	}
}

static struct isolation_process *all_processes(size_t *n)
{
	struct isolation_process *list = NULL;
	size_t capacity = 0;
	char path[64], text[512];
	struct dirent *e;
	DIR *d = opendir("/proc");
	*n = 0;
	while (d != NULL && (e = readdir(d)) != NULL) {
		int64_t pid;
		if (!num_parse_i64(e->d_name, 1, INT_MAX, &pid))
			continue;
		snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
		if (read_file(path, text, sizeof text) == 0)
			continue;
		array_grow(&list, &capacity, *n + 1, sizeof *list);
		list[*n] = (struct isolation_process){ .pid = (pid_t)pid };
		parse_stat(text, &list[(*n)++]);
	}
	if (d != NULL)
		closedir(d);
	return list;
}

static int by_pid(const void *a, const void *b)
{
	const struct isolation_process *x = a, *y = b;
	return x->pid < y->pid ? -1 : x->pid > y->pid;
}

static bool descends(const struct isolation_process *list, size_t n, pid_t pid, pid_t from)
{
	for (size_t steps = 0; pid > 0 && pid != from && steps < n; steps++) {
		const struct isolation_process key = { .pid = pid };
		const struct isolation_process *found =
			bsearch(&key, list, n, sizeof *list, by_pid);
		pid = found ? found->parent : 0;
	}
	return pid == from;
}

void isolation_usage_procs_find(
	const struct isolation_usage_where *where, struct isolation_usage_procs *procs)
{
	size_t n, capacity = 0;
	*procs = (struct isolation_usage_procs){ 0 };
	if (where->daemon <= 0)
		return;
	struct isolation_process *list = all_processes(&n);
	if (n > 0)
		qsort(list, n, sizeof *list, by_pid);
	for (size_t i = 0; i < n; i++) {
		if (!descends(list, n, list[i].pid, where->daemon))
			continue;
		array_grow(&procs->pids, &capacity, procs->n + 1, sizeof *procs->pids);
		procs->pids[procs->n++] = list[i].pid;
		procs->cpu_ns += list[i].ticks * (1000000000 / (uint64_t)sysconf(_SC_CLK_TCK));
	}
	free(list);
}

void isolation_usage_procs_deinit(struct isolation_usage_procs *procs)
{
	free(procs->pids);
}

static void path_inside(
	const struct isolation_usage_where *where, const char *path, char out[64])
{
	snprintf(out, 64, "/proc/%d/root%s", (int)where->daemon, path);
}

static bool is_own_mount(const char *path, const struct isolation_usage_where *where)
{
	char root[64];
	struct stat st, above;
	path_inside(where, "/", root);
	return stat(path, &st) == 0 && stat(root, &above) == 0 && st.st_dev != above.st_dev;
}

void isolation_usage_mounts(
	const struct isolation_usage_where *where, struct isolation_usage *usage)
{
	char path[64];
	struct statvfs fs;
	for (int i = 0; where->daemon > 0 && where->is_isolated && i < USAGE_MOUNT_COUNT; i++) {
		path_inside(where, isolation_usage_mount_paths[i], path);
		if (!is_own_mount(path, where) || statvfs(path, &fs) != 0)
			continue;
		usage->mounts[i] = (struct isolation_usage_mount){
			.size_bytes = (uint64_t)fs.f_blocks * fs.f_frsize,
			.used_bytes = (uint64_t)(fs.f_blocks - fs.f_bfree) * fs.f_frsize,
			.inodes = (uint64_t)(fs.f_files - fs.f_ffree),
		};
	}
}

static bool is_on_mount(const struct isolation_usage_where *where, uint64_t device)
{
	char path[64];
	struct stat st;
	for (int i = 0; where->is_isolated && i < USAGE_MOUNT_COUNT; i++) {
		path_inside(where, isolation_usage_mount_paths[i], path);
		if (stat(path, &st) == 0 && st.st_dev == device)
			return true;
	}
	return false;
}

void isolation_usage_deleted(const struct isolation_usage_where *where, uint64_t device,
	struct isolation_usage_procs *procs, struct isolation_seen *seen,
	struct isolation_usage *usage)
{
	char path[64];
	int left = MAX_OPEN_FILES;
	for (size_t i = 0; i < procs->n && left > 0; i++) {
		struct dirent *e;
		snprintf(path, sizeof path, "/proc/%d/fd", (int)procs->pids[i]);
		DIR *d = opendir(path);
		while (d != NULL && left-- > 0 && (e = readdir(d)) != NULL) {
			struct stat st;
			if (e->d_name[0] == '.' || fstatat(dirfd(d), e->d_name, &st, 0) != 0 ||
				!S_ISREG(st.st_mode) || st.st_nlink != 0 || st.st_blocks == 0 ||
				!isolation_seen_add(seen, st.st_dev, st.st_ino))
				continue;
			uint64_t bytes = (uint64_t)st.st_blocks * BLOCK_BYTES;
			if (st.st_dev == device) {
				usage->bytes += bytes;
				usage->deleted_bytes += bytes;
				usage->inodes++;
			} else if (!is_on_mount(where, st.st_dev)) {
				procs->held_bytes += bytes;
			}
		}
		if (d != NULL)
			closedir(d);
	}
}

/* "Name:   123 kB" of a table of such lines; 0 if it is not there. */
static uint64_t kilobytes(const char *text, const char *name)
{
	size_t n = strlen(name);
	for (const char *line = text; line != NULL && *line != '\0';) {
		if (strncmp(line, name, n) == 0 && line[n] == ':') {
			char number[24];
			uint64_t value = 0;
			line += n + 1;
			line += strspn(line, " \t");
			snprintf(
				number, sizeof number, "%.*s", (int)strcspn(line, " \n"), line);
			return num_parse_u64(number, UINT64_MAX >> 10, &value) ? value << 10
									       : 0;
		}
		line = strchr(line, '\n');
		line += line != NULL;
	}
	return 0;
}

uint64_t isolation_usage_available_memory(void)
{
	char text[TEXT_BYTES];
	read_file("/proc/meminfo", text, sizeof text);
	return kilobytes(text, "MemAvailable") + kilobytes(text, "SwapFree");
}

uint64_t isolation_usage_free_memory(void)
{
	char text[TEXT_BYTES];
	read_file("/proc/meminfo", text, sizeof text);
	return kilobytes(text, "MemAvailable");
}

/* Exact: what is shared by several processes counts once (PSS), at the price of a walk over their page tables. */
void isolation_usage_memory(struct isolation_usage_procs *procs, bool is_exact)
{
	char path[64], text[TEXT_BYTES];
	procs->anon_bytes = procs->shared_bytes = 0;
	for (size_t i = 0; i < procs->n; i++) {
		int pid = (int)procs->pids[i];
		snprintf(path, sizeof path, "/proc/%d/smaps_rollup", pid);
		if (is_exact && read_file(path, text, sizeof text) > 0 &&
			strstr(text, "\nPss_Anon:") != NULL) {
			procs->anon_bytes +=
				kilobytes(text, "Pss_Anon") + kilobytes(text, "SwapPss");
			procs->shared_bytes += kilobytes(text, "Pss_Shmem");
			continue;
		}
		snprintf(path, sizeof path, "/proc/%d/status", pid);
		read_file(path, text, sizeof text);
		procs->anon_bytes += kilobytes(text, "RssAnon") + kilobytes(text, "VmSwap");
		procs->shared_bytes += kilobytes(text, "RssShmem");
	}
}

/* /proc/sysvipc/shm: a heading, then a line a segment; the last two columns are rss and swap in bytes. */
uint64_t isolation_usage_sysv_bytes(void)
{
	char line[512];
	uint64_t sum = 0;
	FILE *f = fopen("/proc/sysvipc/shm", "re");
	while (f != NULL && fgets(line, sizeof line, f) != NULL) {
		char *words[32], *save = NULL;
		size_t n = 0;
		uint64_t rss = 0, swap = 0;
		for (char *word = strtok_r(line, " \n", &save); word != NULL && n < 32;
			word = strtok_r(NULL, " \n", &save))
			words[n++] = word;
		if (n >= 2 && num_parse_u64(words[n - 2], UINT64_MAX >> 1, &rss) &&
			num_parse_u64(words[n - 1], UINT64_MAX >> 1, &swap))
			sum += rss + swap;
	}
	if (f != NULL)
		fclose(f);
	return sum;
}
