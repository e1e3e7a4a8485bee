// SPDX-License-Identifier: Apache-2.0
/*   volumes/UID, volumes/UID.json ─> quarantine/volumes-UID, quarantine/volumes-UID.json
 * The manifest is written first, then the folder is moved, then the old manifest goes. */
#include "local/control/quarantine.h"

#include "engine/base/clock.h"
#include "engine/base/err.h"
#include "engine/base/file.h"
#include "engine/base/json.h"
#include "engine/base/mem.h"
#include "engine/base/path.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_TRIES = 1000 };

static cJSON *read_manifest(const char *path)
{
	size_t n;
	char *text = file_read(path, JSON_MAX_BYTES, &n, NULL);
	cJSON *json = text ? json_parse((struct slice){ text, n }, NULL) : NULL;
	free(text);
	if (cJSON_IsObject(json))
		return json;
	cJSON_Delete(json);
	return cJSON_CreateObject();
}

static void set_text(cJSON *json, const char *key, const char *value)
{
	cJSON_DeleteItemFromObjectCaseSensitive(json, key);
	cJSON_AddStringToObject(json, key, value);
}

static bool write_manifest(const char *from, const char *to, const char *kind, const char *uid,
	const char *why, struct err *err)
{
	char now[CLOCK_RFC3339_BYTES];
	char *old = x_asprintf("%s.json", from), *new = x_asprintf("%s.json", to);
	cJSON *json = read_manifest(old);
	set_text(json, "folder", kind);
	set_text(json, "uid", uid);
	set_text(json, "movedFrom", from);
	set_text(json, "movedAt", clock_format_rfc3339(clock_wall_ns(), 0, now));
	set_text(json, "why", why);
	char *text = cJSON_Print(json);
	bool ok = file_write_atomic(new, slice_of(text), 0600, err);
	cJSON_Delete(json);
	free(text);
	free(old);
	free(new);
	return ok;
}

/* A name that is free. */
static char *target_of(const char *dir, const char *kind, const char *uid)
{
	char *to = x_asprintf("%s/%s-%s", dir, kind, uid);
	for (int i = 2; i < MAX_TRIES && access(to, F_OK) == 0; i++) {
		free(to);
		to = x_asprintf("%s/%s-%s.%d", dir, kind, uid, i);
	}
	return to;
}

bool control_quarantine_put(const char *state_dir, const char *kind, const char *uid,
	const char *why, struct err *err)
{
	char *dir = path_join(state_dir, "quarantine");
	char *from = x_asprintf("%s/%s/%s", state_dir, kind, uid);
	char *to = target_of(dir, kind, uid);
	bool ok = file_make_dirs(dir, 0700, err) &&
		  write_manifest(from, to, kind, uid, why, err) &&
		  (rename(from, to) == 0 || err_set_errno(err, errno, "%s", from));
	if (ok) {
		char *manifest = x_asprintf("%s.json", from);
		file_sync_dir(dir);
		unlink(manifest);
		free(manifest);
	}
	free(dir);
	free(from);
	free(to);
	return ok;
}

static const char *text_of(const cJSON *json, const char *key)
{
	const char *text = json_str(json, key, NULL);
	return text ? text : "";
}

void control_quarantine_list(const char *state_dir, control_quarantine_fn *fn, void *arg)
{
	char *dir = path_join(state_dir, "quarantine");
	DIR *d = opendir(dir);
	struct dirent *e;
	struct stat st;
	while (d && (e = readdir(d)) != NULL) {
		if (e->d_name[0] == '.' ||
			fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0 ||
			!S_ISDIR(st.st_mode))
			continue;
		char *path = path_join(dir, e->d_name);
		char *manifest = x_asprintf("%s.json", path);
		cJSON *json = read_manifest(manifest);
		const struct control_quarantined q = { .path = path,
			.claim = text_of(json, "claim"),
			.sandbox = text_of(json, "sandbox"),
			.ns = text_of(json, "namespace"),
			.why = text_of(json, "why"),
			.at = text_of(json, "movedAt") };
		fn(arg, &q);
		cJSON_Delete(json);
		free(manifest);
		free(path);
	}
	if (d)
		closedir(d);
	free(dir);
}
