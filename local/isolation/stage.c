// SPDX-License-Identifier: Apache-2.0
#include "local/isolation/stage.h"

#include "engine/base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

/* Bubblewrap makes a /run of its own, so nothing that it needs is hidden here. */
#define STAGE "/run"
enum { STAGE_MAX = 64 };

const char *isolation_stage_add(struct isolation_stage *stage, const char *path)
{
	struct stat st;
	for (size_t i = 0; i < stage->n; i++)
		if (strcmp(stage->entries[i].from, path) == 0)
			return stage->entries[i].to;
	array_grow(&stage->entries, &stage->capacity, stage->n + 1, sizeof *stage->entries);
	struct isolation_stage_entry *entry = &stage->entries[stage->n];
	*entry = (struct isolation_stage_entry){ .from = x_strdup(path),
		.to = x_asprintf(STAGE "/%zu", stage->n),
		.is_dir = stat(path, &st) == 0 && S_ISDIR(st.st_mode) };
	stage->n++;
	return entry->to;
}

/* `from` by a descriptor that was opened before the tmpfs could hide it. */
static bool put(const struct isolation_stage_entry *entry, int from)
{
	char source[40];
	int fd = -1;
	if (entry->is_dir ? mkdir(entry->to, 0755) != 0
			  : (fd = open(entry->to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
				     0644)) < 0)
		return false;
	if (fd >= 0)
		close(fd);
	snprintf(source, sizeof source, "/proc/self/fd/%d", from);
	return mount(source, entry->to, NULL, MS_BIND, NULL) == 0;
}

bool isolation_stage_enter(const struct isolation_stage *stage)
{
	int from[STAGE_MAX];
	size_t n = 0;
	if (stage->n > STAGE_MAX) {
		errno = E2BIG;
		return false;
	}
	bool ok = unshare(CLONE_NEWNS) == 0 &&
		  mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL) == 0;
	while (ok && n < stage->n) {
		from[n] = open(stage->entries[n].from, O_PATH | O_CLOEXEC);
		ok = from[n] >= 0;
		n += ok;
	}
	mode_t before = umask(022);
	ok = ok &&
	     mount("tmpfs", STAGE, "tmpfs", MS_NOSUID | MS_NODEV, "size=64k,mode=0755") == 0;
	for (size_t i = 0; ok && i < n; i++)
		ok = put(&stage->entries[i], from[i]);
	int errnum = errno;
	umask(before);
	while (n > 0)
		close(from[--n]);
	errno = errnum;
	return ok;
}

void isolation_stage_deinit(struct isolation_stage *stage)
{
	for (size_t i = 0; i < stage->n; i++) {
		free(stage->entries[i].from);
		free(stage->entries[i].to);
	}
	free(stage->entries);
	*stage = (struct isolation_stage){ 0 };
}
