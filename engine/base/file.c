// SPDX-License-Identifier: Apache-2.0
#include "engine/base/file.h"

#include "engine/base/digest.h"
#include "engine/base/err.h"
#include "engine/base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static ssize_t read_again(int fd, void *into, size_t n)
{
	ssize_t got;
	do
		got = read(fd, into, n);
	while (got < 0 && errno == EINTR);
	return got;
}

char *file_read(const char *path, size_t max_bytes, size_t *n, struct err *err)
{
	enum { STEP = 16384 };
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0) {
		err_set_errno(err, errno, "%s", path);
		return NULL;
	}
	char *content = NULL;
	size_t used = 0, capacity = 0;
	for (;;) {
		array_grow(&content, &capacity, used + STEP + 1, 1);
		ssize_t got = read_again(fd, content + used, STEP);
		if (got < 0) {
			err_set_errno(err, errno, "%s", path);
			break;
		}
		used += (size_t)got;
		if (used > max_bytes) {
			err_set(err, ERR_LIMIT_RESPONSE, "%s is larger than %zu bytes", path,
				max_bytes);
			break;
		}
		if (got > 0)
			continue;
		close(fd);
		content[used] = '\0';
		if (n != NULL)
			*n = used;
		return content;
	}
	close(fd);
	free(content);
	return NULL;
}

static bool write_all(int fd, struct slice content)
{
	while (content.n > 0) {
		ssize_t put = write(fd, content.p, content.n);
		if (put < 0 && errno == EINTR)
			continue;
		if (put < 0)
			return false;
		content.p += put;
		content.n -= (size_t)put;
	}
	return true;
}

void file_sync_dir(const char *dir)
{
	int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd >= 0) {
		fsync(fd);
		close(fd);
	}
}

/* A rename is durable only once the folder is. */
static void sync_folder_of(const char *path)
{
	const char *slash = strrchr(path, '/');
	char *folder = slash == NULL   ? x_strdup(".")
		       : slash == path ? x_strdup("/")
				       : x_strndup(path, (size_t)(slash - path));
	file_sync_dir(folder);
	free(folder);
}

enum { TEMP_HEX = 12 };
static const char temp_mark[] = ".tmp-";

bool file_is_temp(const char *name)
{
	size_t n = strlen(name), tail = sizeof temp_mark - 1 + TEMP_HEX;
	if (n <= tail || memcmp(name + n - tail, temp_mark, sizeof temp_mark - 1) != 0)
		return false;
	return strspn(name + n - TEMP_HEX, "0123456789abcdef") == TEMP_HEX;
}

/* A link is refused where the name is taken, a rename takes it over. */
static bool take_name(const char *temp, const char *path, bool is_new)
{
	return is_new ? link(temp, path) == 0 && unlink(temp) == 0 : rename(temp, path) == 0;
}

static bool replace(const char *path, struct slice content, mode_t mode, bool is_synced,
	bool is_new, struct err *err)
{
	char suffix[TEMP_HEX + 1];
	digest_random_hex(suffix, TEMP_HEX);
	char *temp = x_asprintf("%s%s%s", path, temp_mark, suffix);
	int fd = open(temp, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
	int failed = 0;
	if (fd < 0) {
		failed = errno;
		goto out;
	}
	/* fchmod: the umask must not decide about the mode that was asked for */
	if (fchmod(fd, mode) != 0 || !write_all(fd, content) || (is_synced && fsync(fd) != 0))
		failed = errno;
	if (close(fd) != 0 && failed == 0)
		failed = errno;
	if (failed == 0 && !take_name(temp, path, is_new))
		failed = errno;
	if (failed != 0)
		unlink(temp);
	else if (is_synced)
		sync_folder_of(path);
out:
	free(temp);
	return failed == 0 || err_set_errno(err, failed, "%s", path);
}

bool file_write_atomic(const char *path, struct slice content, mode_t mode, struct err *err)
{
	return replace(path, content, mode, true, false, err);
}

bool file_write_new(const char *path, struct slice content, mode_t mode, struct err *err)
{
	return replace(path, content, mode, true, true, err);
}

bool file_write_replace(const char *path, struct slice content, mode_t mode, struct err *err)
{
	return replace(path, content, mode, false, false, err);
}

bool file_make_dirs(const char *path, mode_t mode, struct err *err)
{
	char *copy = x_strdup(path);
	bool ok = true;
	for (char *p = copy + (copy[0] == '/'); ok; p++) {
		char was = *p;
		if (was != '/' && was != '\0')
			continue;
		*p = '\0';
		if (copy[0] != '\0' && mkdir(copy, mode) != 0 && errno != EEXIST)
			ok = err_set_errno(err, errno, "%s", copy);
		*p = was;
		if (was == '\0')
			break;
	}
	struct stat st;
	if (ok && stat(path, &st) != 0)
		ok = err_set_errno(err, errno, "%s", path);
	else if (ok && !S_ISDIR(st.st_mode))
		ok = err_set(err, ERR_FILE_NOT_DIR, "%s is not a directory", path);
	free(copy);
	return ok;
}

/* A folder in a place where others may write must be ours alone. */
static bool check_private(const char *path, struct err *err)
{
	struct stat st;
	if (lstat(path, &st) != 0)
		return err_set_errno(err, errno, "%s", path);
	if (!S_ISDIR(st.st_mode) || st.st_uid != geteuid() || (st.st_mode & 077) != 0)
		return err_set(err, ERR_FILE_DENIED,
			"%s must be a directory of this user with mode 0700", path);
	return true;
}

char *file_xdg_path(enum file_xdg kind, struct err *err)
{
	static const struct {
		const char *variable;
		const char *below_home;
	} places[] = {
		[FILE_CONFIG] = { "XDG_CONFIG_HOME", ".config" },
		[FILE_STATE] = { "XDG_STATE_HOME", ".local/state" },
		[FILE_CACHE] = { "XDG_CACHE_HOME", ".cache" },
		[FILE_RUNTIME] = { "XDG_RUNTIME_DIR", NULL },
	};
	const char *set = getenv(places[kind].variable);
	const char *home = getenv("HOME");
	if (set != NULL && set[0] == '/') /* the specification ignores relative ones */
		return x_asprintf("%s/sandmux", set);
	if (kind == FILE_RUNTIME)
		return x_asprintf("/tmp/sandmux-%u", (unsigned)geteuid());
	if (home != NULL && home[0] == '/')
		return x_asprintf("%s/%s/sandmux", home, places[kind].below_home);
	err_set(err, ERR_CONFIG_FILE, "neither %s nor HOME is set", places[kind].variable);
	return NULL;
}

char *file_xdg_dir(enum file_xdg kind, struct err *err)
{
	char *dir = file_xdg_path(kind, err);
	if (dir == NULL)
		return NULL;
	if (file_make_dirs(dir, 0700, err) && (kind != FILE_RUNTIME || check_private(dir, err)))
		return dir;
	free(dir);
	return NULL;
}

char *file_find_program(const char *name, struct err *err)
{
	char self[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
	self[n > 0 ? n : 0] = '\0';
	char *slash = strrchr(self, '/');
	if (slash != NULL)
		*slash = '\0';
	for (int i = 0; i < 2; i++) {
		char *path =
			x_asprintf(i == 0 ? "%s/%s" : "%s/../libexec/sandmux/%s", self, name);
		char *real = access(path, X_OK) == 0 ? realpath(path, NULL) : NULL;
		free(path);
		if (real != NULL)
			return real;
	}
	err_set(err, ERR_SYSTEM,
		"%s is neither beside this program (%.200s) nor in libexec/sandmux", name,
		self);
	return NULL;
}
