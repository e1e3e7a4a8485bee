// SPDX-License-Identifier: Apache-2.0
/* Rules as OpenSSH's StrictModes: who owns a folder above ours, or may write into it, can put another in our
 * place. */
#include "local/control/private.h"

#include "engine/base/err.h"
#include "engine/base/mem.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char way_out[] =
	"move it away, or choose another with --state-dir or SANDMUX_LOCAL_DIR";

static bool deny(struct err *err, const char *path, const char *what)
{
	return err_set(err, ERR_FILE_DENIED, "%.250s %s: %s", path, what, way_out);
}

/* The group that Debian and Fedora make for each user: nobody else is in it. */
static bool is_own_group(gid_t gid)
{
	const struct passwd *user = getpwuid(geteuid());
	if (!user || user->pw_gid != gid)
		return false;
	char *name = x_strdup(user->pw_name);
	const struct group *group = getgrgid(gid);
	bool ok = group && strcmp(group->gr_name, name) == 0;
	for (char **member = ok ? group->gr_mem : NULL; ok && *member; member++)
		ok = strcmp(*member, name) == 0;
	free(name);
	return ok;
}

static bool others_may_write(const struct stat *st)
{
	return (st->st_mode & S_IWOTH) != 0 ||
	       ((st->st_mode & S_IWGRP) != 0 && !is_own_group(st->st_gid));
}

static bool check_above(const char *path, struct err *err)
{
	struct stat st;
	if (lstat(path, &st) != 0)
		return err_set_errno(err, errno, "%s", path);
	if (st.st_uid != 0 && st.st_uid != geteuid())
		return deny(err, path, "belongs to somebody else");
	if (S_ISDIR(st.st_mode) && others_may_write(&st) && (st.st_mode & S_ISVTX) == 0)
		return deny(err, path, "can be changed by others");
	return true;
}

/* Every folder above path, and every link on the way. */
static bool check_way(const char *path, struct err *err)
{
	char *copy = x_strdup(path);
	bool ok = check_above("/", err);
	for (char *slash = strchr(copy + 1, '/'); ok && slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		ok = check_above(copy, err);
		*slash = '/';
	}
	free(copy);
	return ok;
}

static bool check_entry(int dir_fd, const char *dir, const char *name, struct err *err)
{
	struct stat st;
	char path[512];
	snprintf(path, sizeof path, "%.250s/%.250s", dir, name);
	if (fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) != 0)
		return errno == ENOENT || err_set_errno(err, errno, "%s", path);
	if (st.st_uid != geteuid())
		return deny(err, path, "belongs to somebody else");
	if (S_ISDIR(st.st_mode))
		return !others_may_write(&st) || deny(err, path, "can be changed by others");
	if (S_ISSOCK(st.st_mode))
		return true; /* the folder guards it */
	if (!S_ISREG(st.st_mode))
		return deny(err, path, "is neither a file nor a folder");
	if (st.st_nlink > 1)
		return deny(err, path, "has a second name elsewhere");
	return (st.st_mode & 077) == 0 || deny(err, path, "is not private (0600)");
}

static bool check_content(int fd, const char *path, struct err *err)
{
	int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	DIR *d = copy >= 0 ? fdopendir(copy) : NULL;
	struct dirent *e;
	bool ok = d || err_set_errno(err, errno, "%s", path);
	while (ok && (e = readdir(d)) != NULL)
		if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
			ok = check_entry(fd, path, e->d_name, err);
	if (d)
		closedir(d);
	else if (copy >= 0)
		close(copy);
	return ok;
}

static bool check_folder(int fd, const char *path, struct err *err)
{
	struct stat st;
	if (fstat(fd, &st) != 0)
		return err_set_errno(err, errno, "%s", path);
	if (st.st_uid != geteuid())
		return deny(err, path, "belongs to somebody else");
	if ((st.st_mode & 022) != 0)
		return deny(err, path, "can be changed by others");
	if ((st.st_mode & 077) != 0 && fchmod(fd, 0700) != 0)
		return err_set_errno(err, errno, "%s", path);
	return check_content(fd, path, err);
}

bool control_private_check(const char *path, struct err *err)
{
	char real[PATH_MAX];
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 && (errno == ELOOP || errno == ENOTDIR))
		return deny(err, path, "is not a folder");
	if (fd < 0)
		return err_set_errno(err, errno, "%s", path);
	bool ok = realpath(path, real) || err_set_errno(err, errno, "%s", path);
	ok = ok && check_way(path, err) && check_way(real, err) && check_folder(fd, path, err);
	close(fd);
	return ok;
}
