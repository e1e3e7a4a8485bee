// SPDX-License-Identifier: Apache-2.0
/* Names of the processes of a sandbox, seen from outside: the descendants of the launched process in /proc
 * (proc(5): /proc/PID/task/TID/children), less what is ours. Only names (comm): arguments may hold secrets. */
#include "local/server/kubelet/run.h"

#include "engine/base/num.h"
#include "engine/base/str.h"

#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A sandbox decides how many there are: what is looked at is bounded. */
enum { MAX_DEPTH = 32, MAX_PROCESSES = 64, MAX_TASKS = 1024, NAMES_BYTES = 400 };

struct names {
	struct str text;
	int n, n_tasks;
};

static size_t read_small(const char *path, char *out, size_t n)
{
	FILE *f = fopen(path, "re");
	size_t got = f ? fread(out, 1, n - 1, f) : 0;
	if (f)
		fclose(f);
	out[got] = '\0';
	return got;
}

static bool is_ours(const char *comm)
{
	return strcmp(comm, "bwrap") == 0 || strncmp(comm, "sandmux-sandbox", 15) == 0 ||
	       strncmp(comm, "sandboxd", 8) == 0;
}

static void add_name(struct names *out, long pid)
{
	char path[64], comm[64];
	snprintf(path, sizeof path, "/proc/%ld/comm", pid);
	if (read_small(path, comm, sizeof comm) == 0)
		return;
	comm[strcspn(comm, "\n")] = '\0';
	if (is_ours(comm))
		return;
	for (char *p = comm; *p; p++)
		if (!isgraph((unsigned char)*p))
			*p = '?';
	str_addf(&out->text, "%s%s", out->text.n ? ", " : "", comm);
}

static void walk(struct names *out, long pid, int depth)
{
	char path[96], *list, *save, *word;
	struct dirent *entry;
	snprintf(path, sizeof path, "/proc/%ld/task", pid);
	DIR *tasks = depth < MAX_DEPTH ? opendir(path) : NULL;
	if (!tasks)
		return;
	list = x_malloc(8192);
	while ((entry = readdir(tasks)) != NULL && out->n_tasks++ < MAX_TASKS) {
		int64_t tid, child;
		if (!num_parse_i64(entry->d_name, 1, INT32_MAX, &tid))
			continue;
		snprintf(
			path, sizeof path, "/proc/%ld/task/%lld/children", pid, (long long)tid);
		read_small(path, list, 8192);
		for (word = strtok_r(list, " ", &save); word;
			word = strtok_r(NULL, " ", &save)) {
			if (!num_parse_i64(word, 1, INT32_MAX, &child) ||
				out->n++ >= MAX_PROCESSES)
				continue;
			add_name(out, (long)child);
			walk(out, (long)child, depth + 1);
		}
	}
	free(list);
	closedir(tasks);
}

char *kubelet_procs_below(pid_t pid)
{
	struct names names = { .n = 0 };
	str_init(&names.text, NAMES_BYTES);
	walk(&names, (long)pid, 0);
	return str_take(&names.text);
}
