// SPDX-License-Identifier: Apache-2.0
/*   objects.db* ─ moved ─> quarantine/store-DATE/ ─ copied ─> recovering/ ─ read ─> recovering/new.db
 *   new.db ─ renamed ─> objects.db;  quarantine/store-DATE.json says that it is done
 *
 * A set that was moved and has no .json yet is taken up again when objects.db is missing. */
#include "local/server/recover.h"

#include "engine/base/clock.h"
#include "engine/base/err.h"
#include "engine/base/file.h"
#include "engine/base/json.h"
#include "engine/base/mem.h"
#include "engine/base/num.h"
#include "engine/base/path.h"
#include "engine/base/str.h"
#include "engine/k8s/time.h"
#include "local/control/remove.h"
#include "local/server/kubelet/manifest.h"
#include "local/server/kubelet/volumes.h"
#include "local/server/store/salvage.h"
#include "local/server/store/store.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Versions that clients may have seen and that were not read. */
enum { REVISION_GAP = 100000, COPY_BYTES = 1 << 20 };

static const char *const parts[] = { "objects.db", "objects.db-wal", "objects.db-journal" };
enum { N_PARTS = sizeof parts / sizeof parts[0] };

struct recovery {
	const char *state_dir;
	struct str *report;
	char *aside, *work; /* folders */
	struct store *store;
	size_t n_objects, n_remade;
};

static char *path_in(const struct recovery *r, const char *name)
{
	return path_join(r->state_dir, name);
}

static bool exists(const char *path)
{
	struct stat st;
	return lstat(path, &st) == 0;
}

/* ---- the old database, out of the way ---- */

/* A set that an earlier recovery moved and did not finish. */
static char *find_unfinished(const struct recovery *r)
{
	char *dir = path_in(r, "quarantine"), *found = NULL;
	DIR *d = opendir(dir);
	struct dirent *e;
	while (d && !found && (e = readdir(d)) != NULL) {
		size_t n = strlen(e->d_name);
		if (strncmp(e->d_name, "store-", 6) != 0 ||
			(n > 5 && strcmp(e->d_name + n - 5, ".json") == 0))
			continue;
		char *path = path_join(dir, e->d_name);
		char *done = x_asprintf("%s.json", path);
		if (!exists(done))
			found = x_strdup(path);
		free(done);
		free(path);
	}
	if (d)
		closedir(d);
	free(dir);
	return found;
}

static char *new_aside(const struct recovery *r, struct err *err)
{
	char date[CLOCK_RFC3339_BYTES];
	char *path = NULL;
	k8s_time_now(K8S_TIME, date);
	for (int i = 1; i < 100; i++) {
		free(path);
		path = x_asprintf("%s/quarantine/store-%s.%d", r->state_dir, date, i);
		if (!exists(path))
			break;
	}
	if (file_make_dirs(path, 0700, err))
		return path;
	free(path);
	return NULL;
}

static bool move_aside(struct recovery *r, struct err *err)
{
	char *db = path_in(r, parts[0]);
	bool is_there = exists(db);
	free(db);
	if (!is_there)
		r->aside = find_unfinished(r);
	if (!r->aside)
		r->aside = new_aside(r, err);
	for (int i = 0; r->aside && i < N_PARTS; i++) {
		char *from = path_in(r, parts[i]), *to = path_join(r->aside, parts[i]);
		bool ok = !exists(from) || exists(to) || rename(from, to) == 0 ||
			  err_set_errno(err, errno, "%s", from);
		free(from);
		free(to);
		if (!ok)
			return false;
	}
	char *shm = path_in(r, "objects.db-shm");
	unlink(shm);
	free(shm);
	return r->aside != NULL;
}

/* ---- a copy to read, since SQLite writes into what it reads ---- */

static bool copy_bytes(int in, int out)
{
	char *bytes = x_malloc(COPY_BYTES);
	ssize_t n;
	bool ok = true;
	while (ok && (n = read(in, bytes, COPY_BYTES)) > 0)
		ok = write(out, bytes, (size_t)n) == n;
	free(bytes);
	return ok && n == 0;
}

static bool copy_file(const char *from, const char *to, struct err *err)
{
	int in = open(from, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (in < 0)
		return errno == ENOENT || err_set_errno(err, errno, "%s", from);
	int out = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
	bool ok = out >= 0 && copy_bytes(in, out);
	if (!ok)
		err_set_errno(err, errno, "%s", to);
	close(in);
	if (out >= 0)
		close(out);
	return ok;
}

static bool clear_work(const struct recovery *r, struct err *err)
{
	struct control_remove_report left = { 0 };
	int fd = open(r->state_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	bool ok = fd >= 0 && control_remove_tree(fd, "recovering", &left);
	if (!ok)
		err_set_errno(err, fd < 0 ? errno : left.errnum, "%s", r->work);
	if (fd >= 0)
		close(fd);
	return ok;
}

static bool make_copy(const struct recovery *r, struct err *err)
{
	bool ok = clear_work(r, err) && file_make_dirs(r->work, 0700, err);
	for (int i = 0; ok && i < N_PARTS; i++) {
		char *from = path_join(r->aside, parts[i]), *to = path_join(r->work, parts[i]);
		ok = copy_file(from, to, err);
		free(from);
		free(to);
	}
	return ok;
}

/* ---- the new one ---- */

static bool put(struct recovery *r, enum store_kind kind, cJSON *json)
{
	struct err err = { 0 };
	const char *uid = json_str(json, "metadata", "uid", NULL);
	const char *ns = json_str(json, "metadata", "namespace", NULL);
	const char *name = json_str(json, "metadata", "name", NULL);
	if (store_by_uid(r->store, uid) || store_get(r->store, kind, ns ? ns : "", name)) {
		cJSON_Delete(json);
		return false;
	}
	/* json is gone when it was refused */
	char *what = x_asprintf(
		"%s %.63s/%.63s", store_resource_of(kind)->singular, ns ? ns : "", name);
	bool ok = store_write(r->store, kind, json, &err) != NULL;
	if (!ok)
		str_addf(r->report, "not kept: %s: %.200s\n", what, err.msg);
	free(what);
	return ok;
}

static bool on_object(void *arg, enum store_kind kind, cJSON *json)
{
	struct recovery *r = arg;
	bool ok = put(r, kind, json);
	r->n_objects += ok;
	return ok;
}

static void on_deleted(void *arg, const char *uid)
{
	struct recovery *r = arg;
	store_mark_deleted(r->store, uid);
}

static void on_meta(void *arg, const char *key, const char *value)
{
	struct recovery *r = arg;
	store_meta_set(r->store, key, value, NULL);
}

/* A claim and its Sandbox are only of use with the volume, and the other way round: a name that is taken by something else
 * leaves the folder to the quarantine. */
static bool owners_are_known(const struct recovery *r, const cJSON *o)
{
	const cJSON *ref;
	bool ok = true;
	cJSON_ArrayForEach(ref, json_get(o, "metadata", "ownerReferences", NULL))
	{
		const char *uid = json_str(ref, "uid", NULL);
		ok = ok && uid && store_by_uid(r->store, uid);
	}
	return ok;
}

static void remake_from(struct recovery *r, const char *uid)
{
	cJSON *manifest = NULL;
	const cJSON *objects =
			    kubelet_manifest_objects(r->state_dir, "volumes", uid, &manifest),
		    *o;
	bool ok = objects != NULL;
	for (o = objects ? objects->child : NULL; ok && o; o = o->next) {
		const char *version = json_str(o, "apiVersion", NULL);
		const char *kind = json_str(o, "kind", NULL);
		const char *own = json_str(o, "metadata", "uid", NULL);
		const char *ns = json_str(o, "metadata", "namespace", NULL);
		const char *name = json_str(o, "metadata", "name", NULL);
		const struct store_resource *res =
			version && kind ? store_resource_of_object(version, kind) : NULL;
		ok = res && own && ns && name && owners_are_known(r, o) &&
		     !store_was_deleted(r->store, own);
		if (!ok || store_by_uid(r->store, own))
			continue;
		ok = store_get(r->store, KIND_NAMESPACE, "", ns) != NULL &&
		     put(r, res->kind, cJSON_Duplicate(o, true));
		r->n_remade += ok;
		if (ok)
			str_addf(r->report, "made again from its manifest: %s %.63s/%.63s\n",
				res->singular, ns, name);
	}
	cJSON_Delete(manifest);
}

static void make_default_namespace(struct recovery *r)
{
	if (store_get(r->store, KIND_NAMESPACE, "", "default"))
		return;
	cJSON *json = json_parse(
		slice_of("{\"apiVersion\":\"v1\",\"kind\":\"Namespace\",\"metadata\":{\"name\":"
			 "\"default\",\"uid\":\"00000000-0000-4000-8000-000000000000\"},"
			 "\"status\":{\"phase\":\"Active\"}}"),
		NULL);
	put(r, KIND_NAMESPACE, json);
}

static void remake_all(struct recovery *r)
{
	char *dir = path_in(r, "volumes");
	DIR *d = opendir(dir);
	struct dirent *e;
	while (d && (e = readdir(d)) != NULL) {
		size_t n = strlen(e->d_name);
		bool is_folder = e->d_name[0] != '.' &&
				 !(n > 5 && strcmp(e->d_name + n - 5, ".json") == 0);
		if (is_folder)
			remake_from(r, e->d_name);
	}
	if (d)
		closedir(d);
	free(dir);
}

static bool make_new(struct recovery *r, const char *path, struct err *err)
{
	struct store_salvaged found;
	char *old = path_join(r->work, parts[0]);
	struct store_opts opts = { .path = path, .history_max = 1 };
	r->store = store_open(&opts, err);
	if (r->store) {
		static const struct store_salvage_callbacks callbacks = { on_object, on_meta,
			on_deleted };
		store_salvage_read(old, &callbacks, r, &found);
		str_addf(r->report, "%zu of %zu objects could be read\n", r->n_objects,
			found.n_rows);
		make_default_namespace(r);
		remake_all(r);
	}
	free(old);
	/* what the first start makes is not made beside what is there */
	bool ok = r->store && store_skip_to(r->store, found.revision + REVISION_GAP, err);
	if (ok && (store_get(r->store, KIND_TEMPLATE, "default", "local") ||
			  store_get(r->store, KIND_POOL, "default", "local")))
		ok = store_meta_set(r->store, "defaults", "1", err);
	store_close(r->store);
	r->store = NULL;
	/* the last to close it moves everything into the file, unless the disk is full */
	char *log = x_asprintf("%s-wal", path);
	if (ok && exists(log))
		ok = err_set(err, ERR_SYSTEM, "%s could not be finished", path);
	free(log);
	return ok;
}

static bool finish(struct recovery *r, const char *path, struct err *err)
{
	char *db = path_in(r, parts[0]), *done = x_asprintf("%s.json", r->aside);
	char *text = x_asprintf("{\"folder\":\"store\",\"why\":\"the database as it was before"
				" sandmux local recover\",\"objects\":%zu,\"remade\":%zu}\n",
		r->n_objects, r->n_remade);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	bool ok = fd >= 0 && fsync(fd) == 0 && rename(path, db) == 0;
	if (!ok)
		err_set_errno(err, errno, "%s", path);
	if (fd >= 0)
		close(fd);
	ok = ok && file_write_atomic(done, slice_of(text), 0600, err);
	if (ok)
		str_addf(r->report, "the old database is in %s\n", r->aside);
	free(text);
	free(done);
	free(db);
	return ok;
}

static bool rebuild(struct recovery *r, struct err *err)
{
	r->work = path_in(r, "recovering");
	char *new = path_join(r->work, "new.db");
	bool ok = move_aside(r, err) && make_copy(r, err) && make_new(r, new, err) &&
		  finish(r, new, err) && clear_work(r, err);
	free(new);
	free(r->work);
	free(r->aside);
	return ok;
}

bool server_recover_run(const char *state_dir, struct str *report, struct err *err)
{
	struct recovery r = { .state_dir = state_dir, .report = report };
	struct err why = { 0 };
	char *db = path_join(state_dir, parts[0]);
	struct store_opts opts = {
		.path = db,
		.must_exist = kubelet_volumes_are_there(state_dir),
	};
	struct store *s = store_open(&opts, &why);
	free(db);
	if (s) {
		store_close(s);
		str_add(report, "the database is sound: nothing to recover\n");
		return true;
	}
	if (why.code != ERR_LOCAL_STORE) {
		err_copy(err, &why);
		return false;
	}
	str_addf(report, "%s\n", why.msg);
	return rebuild(&r, err);
}
