// SPDX-License-Identifier: Apache-2.0
/* unlinkat and openat only: every step is relative to an open folder that is not a link. */
#include "local/control/remove.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_DEPTH = 4096 };

static void remove_below(int dir_fd, const char *name, int depth)
{
	if (unlinkat(dir_fd, name, 0) == 0 || errno == ENOENT || depth > MAX_DEPTH)
		return;
	int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
	int fd = openat(dir_fd, name, flags);
	if (fd < 0 && errno == EACCES) {
		struct stat st;
		/* a folder without rights; chmod follows links, so look first */
		if (fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
			S_ISDIR(st.st_mode) && fchmodat(dir_fd, name, 0700, 0) == 0)
			fd = openat(dir_fd, name, flags);
	}
	if (fd >= 0) {
		fchmod(fd, 0700);
		DIR *d = fdopendir(fd);
		struct dirent *e;
		while (d && (e = readdir(d)) != NULL)
			if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
				remove_below(fd, e->d_name, depth + 1);
		if (d)
			closedir(d);
		else
			close(fd);
	}
	unlinkat(dir_fd, name, AT_REMOVEDIR);
}

void remove_tree(int dir_fd, const char *name)
{
	remove_below(dir_fd, name, 0);
}
