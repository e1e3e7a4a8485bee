// SPDX-License-Identifier: Apache-2.0
/* The root itself: opened once, and paths brought below it. */
#include "local/daemon/confine_internal.h"

#include "engine/base/err.h"
#include "engine/base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

static void add_part(struct daemon_confine_root *root, const char *p, size_t n)
{
	if (n == 0)
		return;
	root->parts = x_realloc(root->parts, root->n_parts + 1, sizeof *root->parts);
	root->parts[root->n_parts++] = x_strndup(p, n);
}

struct daemon_confine_root *daemon_confine_root_open(const char *dir, struct err *err)
{
	char *path = realpath(dir, NULL);
	int fd = path ? open(path, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
	if (fd < 0) {
		err_set_errno(err, errno, "root dir %s", dir);
		free(path);
		return NULL;
	}
	struct daemon_confine_root *root = x_calloc(1, sizeof *root);
	atomic_init(&root->refs, 1);
	root->fd = fd;
	root->path = path;
	for (const char *p = path; *p;) {
		size_t n = strcspn(p, "/");
		add_part(root, p, n);
		p += n + (p[n] == '/');
	}
	return root;
}

struct daemon_confine_root *daemon_confine_root_ref(struct daemon_confine_root *root)
{
	atomic_fetch_add(&root->refs, 1);
	return root;
}

void daemon_confine_root_unref(struct daemon_confine_root *root)
{
	if (root == NULL || atomic_fetch_sub(&root->refs, 1) > 1)
		return;
	close(root->fd);
	for (size_t i = 0; i < root->n_parts; i++)
		free(root->parts[i]);
	free(root->parts);
	free(root->path);
	free(root);
}

const char *daemon_confine_root_path(const struct daemon_confine_root *root)
{
	return root->path;
}

char *daemon_confine_absolute(
	const struct daemon_confine_root *root, const char *rel, const char *name)
{
	if (!*rel && !*name)
		return x_strdup(root->path);
	return x_asprintf("%s%s%s%s%s", root->n_parts > 0 ? root->path : "", *rel ? "/" : "",
		rel, *name ? "/" : "", name);
}

/* Text rules. The result is relative to the root; leading ".." are kept ("../x"). */
char *daemon_confine_clean(const struct daemon_confine_root *root, struct slice path)
{
	struct str out;
	str_init(&out, path.n + 1);
	bool is_rooted = path.n > 0 && path.p[0] == '/';
	for (size_t i = 0; i < path.n;) {
		const char *p = path.p + i;
		const char *end = memchr(p, '/', path.n - i);
		size_t n = end ? (size_t)(end - p) : path.n - i;
		i += n + 1;
		if (n == 0 || (n == 1 && p[0] == '.'))
			continue;
		if (n == 2 && p[0] == '.' && p[1] == '.') {
			char *slash = strrchr(out.p, '/');
			char *last = slash ? slash + 1 : out.p;
			if (*last && strcmp(last, "..") != 0) {
				out.n = (size_t)((slash ? slash : out.p) - out.p);
				out.p[out.n] = 0;
				continue;
			}
			if (is_rooted)
				continue;
		}
		if (out.n > 0)
			str_add_char(&out, '/');
		str_add_bytes(&out, p, n);
	}
	char *text = str_take(&out);
	str_deinit(&out);
	/* an absolute path under the root is meant as such */
	size_t root_n = strlen(root->path);
	if (is_rooted && root_n > 1 && strncmp(text, root->path + 1, root_n - 1) == 0) {
		const char *after = text + root_n - 1;
		if (*after == 0 || *after == '/')
			memmove(text, after + (*after == '/'),
				strlen(after + (*after == '/')) + 1);
	}
	return text;
}
