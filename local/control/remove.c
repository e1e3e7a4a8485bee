// SPDX-License-Identifier: Apache-2.0
/* Every step is relative to an open folder that is not a link, and ".." is never used: a folder that is moved
 * meanwhile cannot lead out of the tree. openat2 with RESOLVE_NO_XDEV (Linux 5.6) refuses mount points, bind
 * mounts of the same file system among them; where it is missing the device number must do. */
#include "local/control/remove.h"

#include "engine/base/digest.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { MAX_OPEN = 24, MAX_PASSES = 64, NAME_BYTES = 256 };

struct control_removal {
	struct control_remove_report *report;
	int staging; /* where deep folders go; −1 until one is needed */
	int base;    /* where staging is */
	char staging_name[32];
	size_t n_staged;
	char path[MAX_OPEN * NAME_BYTES]; /* for the report */
};

static void fail(struct control_removal *r, const char *name, int errnum)
{
	struct control_remove_report *report = r->report;
	if (report->n_left++ > 0)
		return;
	report->errnum = errnum;
	snprintf(report->path, sizeof report->path, "%.250s%s%.250s", r->path,
		*r->path ? "/" : "", name);
}

static bool is_dot(const char *name)
{
	return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

/* The folder, not across a mount point. −1 with errno. */
static int open_below(int dir_fd, const char *name, int flags)
{
	struct open_how how = { .flags = (unsigned)(flags | O_DIRECTORY | O_NOFOLLOW |
						    O_CLOEXEC),
		.resolve = RESOLVE_NO_XDEV | RESOLVE_NO_SYMLINKS | RESOLVE_BENEATH };
	int fd = (int)syscall(SYS_openat2, dir_fd, name, &how, sizeof how);
	if (fd >= 0 || (errno != ENOSYS && errno != EPERM))
		return fd;
	struct stat outer, inner;
	fd = openat(dir_fd, name, (int)how.flags);
	if (fd >= 0 && fstat(dir_fd, &outer) == 0 && fstat(fd, &inner) == 0 &&
		outer.st_dev == inner.st_dev)
		return fd;
	if (fd >= 0) {
		close(fd);
		errno = EXDEV;
	}
	return -1;
}

/* Takes away what the mode of a folder of ours forbids us. */
static void unlock(int dir_fd, const char *name)
{
	char path[40];
	int fd = open_below(dir_fd, name, O_PATH);
	if (fd < 0)
		return;
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	chmod(path, 0700); /* of exactly this folder, whatever has its name now */
	close(fd);
}

static int open_folder(int dir_fd, const char *name)
{
	int fd = open_below(dir_fd, name, O_RDONLY);
	if (fd >= 0) {
		fchmod(fd, 0700);
		return fd;
	}
	if (errno != EACCES)
		return -1;
	unlock(dir_fd, name);
	return open_below(dir_fd, name, O_RDONLY);
}

static bool open_staging(struct control_removal *r)
{
	if (r->staging >= 0)
		return true;
	char random[17];
	digest_random_hex(random, sizeof random - 1);
	snprintf(r->staging_name, sizeof r->staging_name, ".removing-%s", random);
	if (mkdirat(r->base, r->staging_name, 0700) != 0)
		return false;
	r->staging = open_below(r->base, r->staging_name, O_RDONLY);
	return r->staging >= 0;
}

/* A folder too deep to go into becomes one at the top. */
static void stage(struct control_removal *r, int dir_fd, const char *name)
{
	char to[32];
	if (!open_staging(r)) {
		fail(r, name, errno);
		return;
	}
	snprintf(to, sizeof to, "%zu", r->n_staged++);
	if (renameat(dir_fd, name, r->staging, to) == 0)
		return;
	unlock(dir_fd, name); /* ".." in it is written */
	if (renameat(dir_fd, name, r->staging, to) != 0)
		fail(r, name, errno);
}

static bool remove_one(struct control_removal *r, int dir_fd, const char *name, int depth);

/* One pass over a folder that is open; true if an entry went. */
static bool remove_entries(struct control_removal *r, DIR *d, int depth)
{
	bool any = false;
	struct dirent *e;
	while ((e = readdir(d)) != NULL)
		if (!is_dot(e->d_name) && strcmp(e->d_name, r->staging_name) != 0 &&
			remove_one(r, dirfd(d), e->d_name, depth))
			any = true;
	return any;
}

/* Empties the folder behind fd, which is taken. */
static void empty_take(struct control_removal *r, int fd, int depth)
{
	size_t left = r->report->n_left;
	DIR *d = fdopendir(fd);
	if (!d) {
		fail(r, "", errno);
		close(fd);
		return;
	}
	/* A folder that changes while it is read may show less than it holds: read again until nothing goes. Not after a
	 * failure, which would double the work with each level above it. */
	for (int pass = 0; pass < MAX_PASSES; pass++) {
		if (!remove_entries(r, d, depth) || r->report->n_left > left)
			break;
		rewinddir(d);
	}
	closedir(d);
}

static bool remove_folder(struct control_removal *r, int dir_fd, const char *name, int depth)
{
	if (unlinkat(dir_fd, name, AT_REMOVEDIR) == 0)
		return true;
	if (depth == MAX_OPEN - 1) {
		size_t before = r->report->n_left;
		stage(r, dir_fd, name);
		return r->report->n_left == before;
	}
	int fd = open_folder(dir_fd, name);
	if (fd < 0) {
		if (errno != ENOENT)
			fail(r, name, errno);
		return false;
	}
	size_t n = strlen(r->path), left = r->report->n_left;
	snprintf(r->path + n, sizeof r->path - n, "%s%s", n ? "/" : "", name);
	empty_take(r, fd, depth + 1);
	r->path[n] = '\0';
	if (unlinkat(dir_fd, name, AT_REMOVEDIR) == 0)
		return true;
	if (errno != ENOENT && r->report->n_left == left)
		fail(r, name, errno);
	return false;
}

/* True if it went. */
static bool remove_one(struct control_removal *r, int dir_fd, const char *name, int depth)
{
	if (unlinkat(dir_fd, name, 0) == 0)
		return true;
	if (errno == ENOENT)
		return false;
	int errnum = errno;
	struct stat st;
	if (fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode))
		return remove_folder(r, dir_fd, name, depth);
	fail(r, name, errnum);
	return false;
}

/* What was moved up, and what comes up while that is emptied. */
static void finish(struct control_removal *r)
{
	size_t done = 0;
	while (r->staging >= 0 && done < r->n_staged) {
		char name[32];
		snprintf(name, sizeof name, "%zu", done++);
		snprintf(r->path, sizeof r->path, "%s", r->staging_name);
		remove_one(r, r->staging, name, 1);
	}
	r->path[0] = '\0';
	if (r->staging < 0)
		return;
	close(r->staging);
	if (unlinkat(r->base, r->staging_name, AT_REMOVEDIR) != 0 && r->report->n_left == 0)
		fail(r, r->staging_name, errno);
}

bool control_remove_tree(int dir_fd, const char *name, struct control_remove_report *report)
{
	struct control_remove_report own = { 0 };
	struct control_removal r = {
		.report = report ? report : &own, .staging = -1, .base = dir_fd
	};
	size_t before = r.report->n_left;
	remove_one(&r, dir_fd, name, 0);
	finish(&r);
	return r.report->n_left == before;
}

bool control_remove_content(int dir_fd, struct control_remove_report *report)
{
	struct control_remove_report own = { 0 };
	struct control_removal r = {
		.report = report ? report : &own, .staging = -1, .base = dir_fd
	};
	size_t before = r.report->n_left;
	int fd = fcntl(dir_fd, F_DUPFD_CLOEXEC, 0);
	if (fd < 0) {
		fail(&r, "", errno);
		return false;
	}
	empty_take(&r, fd, 0);
	finish(&r);
	return r.report->n_left == before;
}
