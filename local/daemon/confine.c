// SPDX-License-Identifier: Apache-2.0
/* The walk. Its state is a current folder (a descriptor and its path inside the root) and the text that
 * remains to be walked. A link puts its target in front of that text:
 *
 *   rest:  [ what links brought | what is left of the caller's path ]
 *                               ^ user_n bytes from the end
 *
 * "above" counts how many levels over the root the walk stands (a link to ../x or to an absolute
 * path); only the root's own components lead down from there. */
#include "local/daemon/confine_internal.h"

#include "engine/base/err.h"
#include "engine/base/mem.h"
#include "local/daemon/quote.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

struct daemon_confine_walk {
	const struct daemon_confine_root *root;
	struct daemon_confined *out;
	int cur, parent; /* parent -1 while cur is the root */
	struct str rel;  /* of cur, inside the root */
	char *rest;      /* malloc'ed */
	size_t pos;      /* in rest */
	size_t user_n;   /* see above */
	size_t above;
	unsigned links;
	/* the caller's component that turned out to be a link, should the link lead nowhere */
	int saved_fd;
	char *saved_rel;
	char *saved_name; /* with everything after it */
};

static bool is_user_level(const struct daemon_confine_walk *w)
{
	return strlen(w->rest + w->pos) <= w->user_n;
}

static void set_cur(struct daemon_confine_walk *w, int fd, int parent)
{
	if (w->cur >= 0)
		close(w->cur);
	if (w->parent >= 0)
		close(w->parent);
	w->cur = fd;
	w->parent = parent;
}

static void fail(struct daemon_confine_walk *w, int errnum, const char *name)
{
	char *path = daemon_confine_absolute(w->root, w->rel.p, name);
	w->out->state = CONFINE_FAILED;
	w->out->errnum = errnum;
	w->out->message = x_asprintf("lstat %s: %s", path, daemon_quote_errno(errnum));
	w->out->message_n = strlen(w->out->message);
	free(path);
}

/* A path with a NUL never reaches the system. */
static void fail_nul(struct daemon_confine_walk *w, struct slice path)
{
	struct str message;
	str_init(&message, (size_t)CONFINE_MAX_PATH * 4 + path.n);
	str_addf(&message, "lstat %s/", w->root->n_parts > 0 ? w->root->path : "");
	str_add_bytes(&message, path.p, path.n);
	str_addf(&message, ": %s", daemon_quote_errno(EINVAL));
	w->out->state = CONFINE_FAILED;
	w->out->errnum = EINVAL;
	w->out->message_n = message.n;
	w->out->message = str_take(&message);
	str_deinit(&message);
}

static void fail_plain(struct daemon_confine_walk *w, int errnum, const char *message)
{
	w->out->state = CONFINE_FAILED;
	w->out->errnum = errnum;
	w->out->message = x_strdup(message);
	w->out->message_n = strlen(message);
}

static void go_to_root(struct daemon_confine_walk *w)
{
	set_cur(w, fcntl(w->root->fd, F_DUPFD_CLOEXEC, 0), -1);
	str_clear(&w->rel);
}

/* One level up, by walking down again: the parent on disk may have changed meanwhile. */
static bool go_up(struct daemon_confine_walk *w)
{
	if (w->above > 0 || w->rel.n == 0) {
		if (w->above < w->root->n_parts)
			w->above++;
		return true;
	}
	char *slash = strrchr(w->rel.p, '/');
	char *upper = x_strndup(w->rel.p, slash ? (size_t)(slash - w->rel.p) : 0);
	go_to_root(w);
	bool ok = true;
	for (char *p = upper; *p && ok;) {
		size_t n = strcspn(p, "/");
		bool has_more = p[n] == '/';
		p[n] = 0;
		int fd = openat(w->cur, p, O_PATH | O_NOFOLLOW | O_DIRECTORY | O_CLOEXEC);
		if (fd < 0) {
			fail(w, errno, p);
			ok = false;
			break;
		}
		int parent = w->cur;
		w->cur = -1;
		set_cur(w, fd, parent);
		if (w->rel.n > 0)
			str_add_char(&w->rel, '/');
		str_add(&w->rel, p);
		p += n + has_more;
	}
	free(upper);
	return ok;
}

/* Missing: the nearest folder that exists, and what the caller named below it. */
static void miss(struct daemon_confine_walk *w, const char *name, bool is_user)
{
	struct daemon_confined *out = w->out;
	out->state = CONFINE_MISSING;
	if (!is_user) {
		out->parent_fd = w->saved_fd;
		w->saved_fd = -1;
		out->name = x_strdup(w->saved_name);
		out->path = daemon_confine_absolute(w->root, w->saved_rel, w->saved_name);
		return;
	}
	out->parent_fd = w->cur;
	w->cur = -1;
	const char *rest = w->rest + w->pos;
	out->name = *rest ? x_asprintf("%s/%s", name, rest) : x_strdup(name);
	out->path = daemon_confine_absolute(w->root, w->rel.p, out->name);
}

/* A link has led above the root and not back. If nothing is there it is just a broken link. */
static void escape(struct daemon_confine_walk *w, const char *name, bool is_user)
{
	w->out->state = CONFINE_ESCAPES;
	if (is_user)
		return;
	struct str path;
	str_init(&path, PATH_MAX);
	for (size_t i = 0; i + w->above < w->root->n_parts; i++)
		str_addf(&path, "/%s", w->root->parts[i]);
	str_addf(&path, "/%s/", name);
	size_t rest_n = strlen(w->rest + w->pos);
	if (rest_n > w->user_n)
		str_add_bytes(&path, w->rest + w->pos, rest_n - w->user_n);
	struct stat st;
	bool is_broken = !path.truncated && stat(path.p, &st) != 0 && errno == ENOENT;
	str_deinit(&path);
	if (!is_broken)
		return;
	struct daemon_confined *out = w->out;
	out->state = CONFINE_MISSING;
	out->parent_fd = w->saved_fd;
	w->saved_fd = -1;
	out->name = x_strdup(w->saved_name);
	out->path = daemon_confine_absolute(w->root, w->saved_rel, w->saved_name);
}

static void save_place(struct daemon_confine_walk *w, const char *name)
{
	if (w->saved_fd >= 0)
		close(w->saved_fd);
	free(w->saved_rel);
	free(w->saved_name);
	const char *rest = w->rest + w->pos;
	w->saved_fd = fcntl(w->cur, F_DUPFD_CLOEXEC, 0);
	w->saved_rel = x_strdup(w->rel.p);
	w->saved_name = *rest ? x_asprintf("%s/%s", name, rest) : x_strdup(name);
}

static bool follow(struct daemon_confine_walk *w, int link_fd, const char *name, bool is_user)
{
	char target[PATH_MAX];
	ssize_t n = readlinkat(link_fd, "", target, sizeof target - 1);
	if (n <= 0) {
		fail(w, n < 0 ? errno : ENOENT, name);
		return false;
	}
	target[n] = 0;
	if (++w->links > CONFINE_MAX_LINKS) {
		fail_plain(w, ELOOP, "EvalSymlinks: too many links");
		return false;
	}
	const char *rest = w->rest + w->pos;
	if (is_user) {
		save_place(w, name);
		w->user_n = strlen(rest);
	}
	if ((size_t)n + strlen(rest) > (size_t)CONFINE_MAX_PATH * 4) {
		fail(w, ENAMETOOLONG, name);
		return false;
	}
	char *joined = x_asprintf("%s/%s", target, rest);
	if (!*rest)
		joined[n] = 0;
	free(w->rest);
	w->rest = joined;
	w->pos = 0;
	if (target[0] == '/') {
		go_to_root(w);
		w->above = w->root->n_parts;
	}
	return true;
}

static bool has_more(const struct daemon_confine_walk *w)
{
	const char *rest = w->rest + w->pos;
	return rest[strspn(rest, "/")] != 0;
}

/* One name in the current folder. False ends the walk (out is filled or the target was found). */
static bool take_step(struct daemon_confine_walk *w, const char *name, bool is_user)
{
	if (w->above > 0) {
		if (strcmp(name, w->root->parts[w->root->n_parts - w->above]) != 0) {
			escape(w, name, is_user);
			return false;
		}
		w->above--;
		return true;
	}
	size_t whole_n = strlen(w->root->path) + w->rel.n + strlen(name) + 2;
	int fd = -1;
	if (whole_n > CONFINE_MAX_PATH)
		errno = ENAMETOOLONG;
	else
		fd = openat(w->cur, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0) {
		if (errno == ENOENT)
			miss(w, name, is_user);
		else
			fail(w, errno, name);
		return false;
	}
	struct stat st;
	if (fstat(fd, &st) != 0) {
		fail(w, errno, name);
		close(fd);
		return false;
	}
	if (S_ISLNK(st.st_mode)) {
		bool ok = follow(w, fd, name, is_user);
		close(fd);
		return ok;
	}
	if (!S_ISDIR(st.st_mode) && has_more(w)) {
		close(fd);
		fail_plain(w, ENOTDIR, "not a directory");
		return false;
	}
	if (!S_ISDIR(st.st_mode)) {
		w->out->state = CONFINE_FOUND;
		w->out->fd = fd;
		w->out->st = st;
		w->out->parent_fd = w->cur;
		w->cur = -1;
		w->out->name = x_strdup(name);
		w->out->path = daemon_confine_absolute(w->root, w->rel.p, name);
		return false;
	}
	int parent = w->cur;
	w->cur = -1;
	set_cur(w, fd, parent);
	if (w->rel.n > 0)
		str_add_char(&w->rel, '/');
	str_add(&w->rel, name);
	return true;
}

static void found_folder(struct daemon_confine_walk *w)
{
	struct daemon_confined *out = w->out;
	if (w->above > 0) {
		out->state = CONFINE_ESCAPES;
		return;
	}
	const char *slash = strrchr(w->rel.p, '/');
	out->state = CONFINE_FOUND;
	out->fd = w->cur;
	out->parent_fd = w->parent;
	w->cur = w->parent = -1;
	out->name = x_strdup(slash ? slash + 1 : w->rel.p);
	out->path = daemon_confine_absolute(w->root, w->rel.p, "");
	if (fstat(out->fd, &out->st) != 0)
		out->st = (struct stat){ .st_mode = S_IFDIR };
}

static void run(struct daemon_confine_walk *w)
{
	char name[NAME_MAX + 2];
	for (;;) {
		w->pos += strspn(w->rest + w->pos, "/");
		const char *p = w->rest + w->pos;
		size_t n = strcspn(p, "/");
		if (n == 0) {
			found_folder(w);
			return;
		}
		bool is_user = is_user_level(w);
		if (n > NAME_MAX) {
			char *text = x_strndup(p, n);
			fail(w, ENAMETOOLONG, text);
			free(text);
			return;
		}
		memcpy(name, p, n);
		name[n] = 0;
		w->pos += n + (p[n] == '/');
		if (is_user)
			w->user_n = strlen(w->rest + w->pos);
		if (strcmp(name, ".") == 0)
			continue;
		if (strcmp(name, "..") == 0) {
			if (!go_up(w))
				return;
			continue;
		}
		if (!take_step(w, name, is_user))
			return;
	}
}

void daemon_confine_resolve(
	const struct daemon_confine_root *root, struct slice path, struct daemon_confined *out)
{
	*out = (struct daemon_confined){ .fd = -1, .parent_fd = -1 };
	struct daemon_confine_walk w = {
		.root = root, .out = out, .cur = -1, .parent = -1, .saved_fd = -1
	};
	str_init(&w.rel, (size_t)CONFINE_MAX_PATH * 4);
	go_to_root(&w);
	const char *nul = memchr(path.p ? path.p : "", 0, path.n);
	w.rest = daemon_confine_clean(
		root, (struct slice){ path.p, nul ? (size_t)(nul - path.p) : path.n });
	w.user_n = strlen(w.rest);
	if (w.cur < 0)
		fail(&w, errno, "");
	else if (nul != NULL)
		fail_nul(&w, path);
	else
		run(&w);
	if (w.cur >= 0)
		close(w.cur);
	if (w.parent >= 0)
		close(w.parent);
	if (w.saved_fd >= 0)
		close(w.saved_fd);
	str_deinit(&w.rel);
	free(w.rest);
	free(w.saved_rel);
	free(w.saved_name);
}

void daemon_confined_deinit(struct daemon_confined *c)
{
	if (c->fd >= 0)
		close(c->fd);
	if (c->parent_fd >= 0)
		close(c->parent_fd);
	free(c->name);
	free(c->path);
	free(c->message);
	*c = (struct daemon_confined){ .fd = -1, .parent_fd = -1 };
}

int daemon_confined_make_parents(struct daemon_confined *c, char **failed)
{
	size_t parent_n = strlen(c->path) - strlen(c->name);
	const char *rest = c->name;
	const char *slash;
	while ((slash = strchr(rest, '/')) != NULL) {
		char *part = x_strndup(rest, (size_t)(slash - rest));
		int fd = -1;
		if (mkdirat(c->parent_fd, part, 0755) == 0 || errno == EEXIST)
			fd = openat(c->parent_fd, part,
				O_PATH | O_NOFOLLOW | O_DIRECTORY | O_CLOEXEC);
		int errnum = errno;
		free(part);
		if (fd < 0) {
			*failed = x_strndup(c->path, parent_n + (size_t)(slash - c->name));
			/* a link that leads nowhere, or a file that has come meanwhile */
			return errnum == ENOTDIR || errnum == ELOOP ? EEXIST : errnum;
		}
		close(c->parent_fd);
		c->parent_fd = fd;
		rest = slash + 1;
	}
	char *last = x_strdup(rest);
	free(c->name);
	c->name = last;
	return 0;
}
