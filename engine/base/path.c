// SPDX-License-Identifier: Apache-2.0
/* Paths inside a sandbox. What may leave the root is refused here, before any request: the server
 * answers raw ".." and "//" with a redirect that leaves its API. */
#include "engine/base/path.h"

#include "engine/base/err.h"
#include "engine/base/mem.h"
#include "engine/base/str.h"

#include <stdint.h>

static const char url_prefix[] = "/v1/files/";

/* The next segment of *p ("" between two slashes); false at the end. */
static bool next_segment(const char **p, struct slice *segment)
{
	if (*p == NULL)
		return false;
	const char *slash = strchr(*p, '/');
	*segment = (struct slice){ *p, slash ? (size_t)(slash - *p) : strlen(*p) };
	*p = slash ? slash + 1 : NULL;
	return true;
}

static bool is_empty_segment(struct slice segment)
{
	return segment.n == 0 || slice_equals(segment, ".");
}

bool path_check(const char *path, enum path_use use, struct err *err)
{
	if (path[0] == '/')
		return err_set(err, ERR_ARG_PATH, "the path %s is absolute", path);
	struct slice segment;
	bool is_root = true;
	for (const char *p = path; next_segment(&p, &segment);) {
		if (slice_equals(segment, ".."))
			return err_set(
				err, ERR_ARG_PATH, "the path %s has a '..' segment", path);
		if (!is_empty_segment(segment))
			is_root = false;
	}
	if (use == PATH_READ)
		return true;
	if (is_root)
		return err_set(err, ERR_ARG_PATH, "the path \"%s\" is the sandbox root", path);
	size_t n = strlen(path);
	/* "a/." names the directory a just as "a/" does */
	if (path[n - 1] == '/' || (n >= 2 && strcmp(path + n - 2, "/.") == 0))
		return err_set(err, ERR_ARG_PATH, "the path %s names a directory", path);
	return true;
}

/* Calls for each segment that counts; prefix and separators are added here. */
static char *rebuild(const char *path, const char *prefix,
	void (*add)(struct str *out, struct slice segment))
{
	struct str out;
	str_init(&out, SIZE_MAX / 2);
	str_add(&out, prefix);
	bool first = true;
	struct slice segment;
	for (const char *p = path; next_segment(&p, &segment);) {
		if (is_empty_segment(segment))
			continue;
		if (!first)
			str_add_char(&out, '/');
		first = false;
		add(&out, segment);
	}
	return str_take(&out);
}

static void add_plain(struct str *out, struct slice segment)
{
	str_add_bytes(out, segment.p, segment.n);
}

static void add_encoded(struct str *out, struct slice segment)
{
	static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
				    "0123456789-._~"; /* RFC 3986, unreserved */
	for (size_t i = 0; i < segment.n; i++) {
		if (strchr(plain, segment.p[i]) != NULL)
			str_add_char(out, segment.p[i]);
		else
			str_addf(out, "%%%02X", (unsigned)(unsigned char)segment.p[i]);
	}
}

char *path_normalize(const char *path)
{
	return rebuild(path, "", add_plain);
}

char *path_to_url(const char *path)
{
	return rebuild(path, url_prefix, add_encoded);
}

char *path_join(const char *dir, const char *name)
{
	size_t n = strlen(dir);
	while (n > 0 && dir[n - 1] == '/' && name[0] == '/')
		name++;
	const char *separator = n == 0 || dir[n - 1] == '/' ? "" : "/";
	return x_asprintf("%s%s%s", dir, separator, name);
}

const char *path_base(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

bool path_is_safe_name(const char *name, size_t n)
{
	enum { NAME_MAX_BYTES = 255 };
	if (n == 0 || n > NAME_MAX_BYTES)
		return false;
	struct slice slice = { name, n };
	return !slice_equals(slice, ".") && !slice_equals(slice, "..") &&
	       memchr(name, '/', n) == NULL && memchr(name, '\0', n) == NULL;
}
