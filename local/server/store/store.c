// SPDX-License-Identifier: Apache-2.0
/* Objects in memory (a sorted array a kind, a hash by UID) and the history ring; store_db.c keeps them.
 *
 *   write ── row + counter in one transaction ──> replace in array ──> history ──> listeners */
#include "local/server/store/store.h"

#include "engine/base/clock.h"
#include "engine/base/err.h"
#include "engine/base/json.h"
#include "engine/base/map.h"
#include "engine/base/num.h"
#include "local/server/store/sound.h"
#include "local/server/store/store_db.h"

#include <stdio.h>
#include <string.h>

enum { MAX_LISTENERS = 4 };

struct uid_entry {
	UT_hash_handle hh;
	struct store_object *object;
	char uid[];
};

struct kind_list {
	struct store_object **v;
	size_t n, capacity;
};

struct history_entry {
	struct store_change change;
	int64_t at_ms;
};

struct store {
	struct store_db *db;
	struct kind_list kinds[KIND_COUNT];
	struct uid_entry *by_uid;
	size_t n_objects, max_objects;
	bool is_durable;
	int64_t rv, compacted;
	/* ring: entry i of the history is ring[(first + i) % history_max] */
	struct history_entry *ring;
	size_t first, n, history_max;
	int64_t history_ms;
	struct {
		store_change_fn *fn;
		void *arg;
	} listeners[MAX_LISTENERS];
	size_t n_listeners;
};

struct store_object *store_object_ref(struct store_object *o)
{
	o->refs++;
	return o;
}

void store_object_unref(struct store_object *o)
{
	if (!o || --o->refs > 0)
		return;
	cJSON_Delete(o->json);
	free(o->text);
	free(o);
}

static struct store_object *object_new_take(enum store_kind kind, int64_t rv, cJSON *json)
{
	struct store_object *o = x_calloc(1, sizeof *o);
	o->refs = 1;
	o->kind = kind;
	o->rv = rv;
	o->json = json;
	o->text = cJSON_PrintUnformatted(json);
	if (!o->text)
		abort();
	o->text_n = strlen(o->text);
	o->ns = json_str(json, "metadata", "namespace", NULL);
	o->name = json_str(json, "metadata", "name", NULL);
	o->uid = json_str(json, "metadata", "uid", NULL);
	if (!o->ns)
		o->ns = "";
	if (!o->name)
		o->name = "";
	if (!o->uid)
		o->uid = "";
	return o;
}

static void set_revision(cJSON *json, int64_t rv)
{
	char text[24];
	cJSON *metadata = cJSON_GetObjectItemCaseSensitive(json, "metadata");
	snprintf(text, sizeof text, "%lld", (long long)rv);
	if (!cJSON_IsObject(metadata)) {
		cJSON_DeleteItemFromObjectCaseSensitive(json, "metadata");
		metadata = cJSON_AddObjectToObject(json, "metadata");
	}
	cJSON *old = cJSON_GetObjectItemCaseSensitive(metadata, "resourceVersion");
	if (old)
		cJSON_ReplaceItemInObjectCaseSensitive(
			metadata, "resourceVersion", cJSON_CreateString(text));
	else
		cJSON_AddStringToObject(metadata, "resourceVersion", text);
}

/* ---- sorted arrays ---- */

static int compare(const struct store_object *o, const char *ns, const char *name)
{
	int c = strcmp(o->ns, ns);
	return c ? c : strcmp(o->name, name);
}

/* Index of the first element not below (ns, name). */
static size_t lower_bound(const struct kind_list *l, const char *ns, const char *name)
{
	size_t lo = 0, hi = l->n;
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		if (compare(l->v[mid], ns, name) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static void list_put(struct kind_list *l, struct store_object *o, struct store_object **before)
{
	size_t i = lower_bound(l, o->ns, o->name);
	if (i < l->n && compare(l->v[i], o->ns, o->name) == 0) {
		*before = l->v[i];
		l->v[i] = o;
		return;
	}
	*before = NULL;
	array_grow(&l->v, &l->capacity, l->n + 1, sizeof(struct store_object *));
	memmove(l->v + i + 1, l->v + i, (l->n - i) * sizeof(struct store_object *));
	l->v[i] = o;
	l->n++;
}

static void list_drop(struct kind_list *l, const char *ns, const char *name)
{
	size_t i = lower_bound(l, ns, name);
	if (i >= l->n || compare(l->v[i], ns, name) != 0)
		return;
	memmove(l->v + i, l->v + i + 1, (l->n - i - 1) * sizeof(struct store_object *));
	l->n--;
}

static void uid_put(struct store *s, struct store_object *o)
{
	struct uid_entry *e;
	size_t n = strlen(o->uid);
	HASH_FIND(hh, s->by_uid, o->uid, n, e);
	if (!e) {
		e = x_calloc(1, sizeof *e + n + 1);
		memcpy(e->uid, o->uid, n + 1);
		HASH_ADD(hh, s->by_uid, uid, n, e);
	}
	e->object = o;
}

static void uid_drop(struct store *s, const char *uid)
{
	struct uid_entry *e;
	HASH_FIND(hh, s->by_uid, uid, strlen(uid), e);
	if (e) {
		HASH_DEL(s->by_uid, e);
		free(e);
	}
}

/* ---- history ---- */

static struct history_entry *entry_at(const struct store *s, size_t i)
{
	return &s->ring[(s->first + i) % s->history_max];
}

static void forget_first(struct store *s)
{
	struct history_entry *e = entry_at(s, 0);
	s->compacted = e->change.rv;
	store_object_unref(e->change.now);
	store_object_unref(e->change.before);
	s->first = (s->first + 1) % s->history_max;
	s->n--;
}

static void remember(struct store *s, const struct store_change *c)
{
	int64_t now = clock_mono_ms();
	while (s->n > 0 &&
		(s->n == s->history_max || entry_at(s, 0)->at_ms + s->history_ms < now))
		forget_first(s);
	struct history_entry *e = entry_at(s, s->n++);
	e->change = *c;
	e->at_ms = now;
	store_object_ref(e->change.now);
	if (e->change.before)
		store_object_ref(e->change.before);
}

static void announce(struct store *s, const struct store_change *c)
{
	remember(s, c);
	for (size_t i = 0; i < s->n_listeners; i++)
		s->listeners[i].fn(s->listeners[i].arg, c);
}

void store_compact(struct store *s, int64_t rv)
{
	while (s->n > 0 && entry_at(s, 0)->change.rv <= rv)
		forget_first(s);
}

size_t store_change_index(const struct store *s, int64_t after)
{
	size_t lo = 0, hi = s->n;
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		if (entry_at(s, mid)->change.rv <= after)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

size_t store_change_count(const struct store *s)
{
	return s->n;
}

const struct store_change *store_change_at(const struct store *s, size_t index)
{
	return &entry_at(s, index)->change;
}

int64_t store_revision(const struct store *s)
{
	return s->rv;
}

bool store_skip_to(struct store *s, int64_t rv, struct err *err)
{
	char text[24];
	if (rv <= s->rv)
		return true;
	snprintf(text, sizeof text, "%lld", (long long)rv);
	if (!store_db_meta_set(s->db, "revision", text, err))
		return false;
	store_compact(s, s->rv);
	s->rv = s->compacted = rv;
	return true;
}

int64_t store_compacted(const struct store *s)
{
	return s->compacted;
}

void store_listen(struct store *s, store_change_fn *fn, void *arg)
{
	if (s->n_listeners == MAX_LISTENERS)
		abort();
	s->listeners[s->n_listeners].fn = fn;
	s->listeners[s->n_listeners++].arg = arg;
}

/* ---- reading ---- */

struct store_object *store_get(
	struct store *s, enum store_kind kind, const char *ns, const char *name)
{
	const struct kind_list *l = &s->kinds[kind];
	size_t i = lower_bound(l, ns, name);
	return i < l->n && compare(l->v[i], ns, name) == 0 ? l->v[i] : NULL;
}

struct store_object *store_by_uid(struct store *s, const char *uid)
{
	struct uid_entry *e;
	HASH_FIND(hh, s->by_uid, uid, strlen(uid), e);
	return e ? e->object : NULL;
}

size_t store_count(const struct store *s, enum store_kind kind)
{
	return s->kinds[kind].n;
}

struct store_object *store_at(const struct store *s, enum store_kind kind, size_t i)
{
	return s->kinds[kind].v[i];
}

void store_list_free(struct store_object **list, size_t n)
{
	if (!list)
		return;
	for (size_t i = 0; i < n; i++)
		store_object_unref(list[i]);
	free(list);
}

struct store_object **store_list(
	struct store *s, enum store_kind kind, const char *ns, int64_t rv, size_t *n_out)
{
	struct kind_list view = { 0 };
	struct store_object *ignored;
	size_t n = 0;
	if (rv < s->compacted) {
		*n_out = SIZE_MAX;
		return NULL;
	}
	view.n = s->kinds[kind].n;
	array_grow(&view.v, &view.capacity, view.n + 1, sizeof(struct store_object *));
	if (view.n > 0)
		memcpy(view.v, s->kinds[kind].v, view.n * sizeof(struct store_object *));
	/* undo what happened after rv, newest first */
	for (size_t i = s->n; i-- > 0;) {
		const struct store_change *c = store_change_at(s, i);
		if (c->rv <= rv)
			break;
		if (c->now->kind != kind)
			continue;
		if (c->before)
			list_put(&view, c->before, &ignored);
		else
			list_drop(&view, c->now->ns, c->now->name);
	}
	for (size_t i = 0; i < view.n; i++)
		if (!ns || strcmp(view.v[i]->ns, ns) == 0)
			view.v[n++] = store_object_ref(view.v[i]);
	*n_out = n;
	return view.v;
}

struct store_object *store_write(
	struct store *s, enum store_kind kind, cJSON *json, struct err *err)
{
	int64_t rv = s->rv + 1;
	struct store_object *before;
	set_revision(json, rv);
	struct store_object *o = object_new_take(kind, rv, json);
	if (s->n_objects >= s->max_objects && !store_get(s, kind, o->ns, o->name)) {
		err_set(err, ERR_KUBE_QUOTA, "the local backend holds %zu objects already",
			s->n_objects);
		store_object_unref(o);
		return NULL;
	}
	if (!store_sound_check(o, err) || !store_db_put(s->db, o, s->is_durable, err)) {
		store_object_unref(o);
		return NULL;
	}
	s->rv = rv;
	list_put(&s->kinds[kind], o, &before);
	if (before && strcmp(before->uid, o->uid) != 0)
		uid_drop(s, before->uid);
	uid_put(s, o);
	s->n_objects += before == NULL;
	struct store_change c = { rv, before ? CHANGE_MODIFIED : CHANGE_ADDED, o, before };
	store_object_ref(o); /* a listener may write again and replace it */
	announce(s, &c);
	store_object_unref(before);
	store_object_unref(o);
	return o;
}

bool store_remove(struct store *s, struct store_object *o, struct err *err)
{
	int64_t rv = s->rv + 1;
	if (!store_db_delete(s->db, o, rv, err))
		return false;
	cJSON *json = cJSON_Duplicate(o->json, true);
	set_revision(json, rv);
	struct store_object *last = object_new_take(o->kind, rv, json);
	s->rv = rv;
	list_drop(&s->kinds[o->kind], o->ns, o->name);
	uid_drop(s, o->uid);
	s->n_objects--;
	struct store_change c = { rv, CHANGE_DELETED, last, o };
	announce(s, &c);
	store_object_unref(o);
	store_object_unref(last);
	return true;
}

char *store_meta_get(struct store *s, const char *key)
{
	return store_db_meta_get(s->db, key);
}

bool store_meta_set(struct store *s, const char *key, const char *value, struct err *err)
{
	return store_db_meta_set(s->db, key, value, err);
}

void store_set_durable(struct store *s, bool durable)
{
	s->is_durable = durable;
}

bool store_was_deleted(struct store *s, const char *uid)
{
	return store_db_was_deleted(s->db, uid);
}

void store_mark_deleted(struct store *s, const char *uid)
{
	store_db_mark_deleted(s->db, uid);
}

void store_forget_deleted(struct store *s, bool (*keep)(void *arg, const char *uid), void *arg)
{
	store_db_forget_deleted(s->db, keep, arg);
}

static bool load_one(void *arg, enum store_kind kind, cJSON *json, struct err *err)
{
	struct store *s = arg;
	struct store_object *before;
	int64_t rv = 0;
	const char *text = json_str(json, "metadata", "resourceVersion", NULL);
	num_parse_i64(text ? text : "0", 0, INT64_MAX, &rv);
	struct store_object *o = object_new_take(kind, rv, json);
	if (store_by_uid(s, o->uid)) {
		store_object_unref(o);
		return err_set(err, ERR_LOCAL_STORE, "another object has its UID");
	}
	list_put(&s->kinds[kind], o, &before);
	store_object_unref(before);
	uid_put(s, o);
	s->n_objects++;
	/* a counter that lags behind would give a version twice */
	if (rv > s->rv)
		s->rv = rv;
	return true;
}

struct store *store_open(const struct store_opts *opts, struct err *err)
{
	struct store *s = x_calloc(1, sizeof *s);
	s->history_max = opts->history_max ? opts->history_max : 20000;
	s->history_ms = opts->history_ms ? opts->history_ms : 300000;
	s->max_objects = opts->max_objects ? opts->max_objects : 200000;
	s->ring = x_calloc(s->history_max, sizeof *s->ring);
	s->db = store_db_open(opts->path, opts->must_exist, err);
	int64_t counter = 0;
	bool ok = s->db && store_db_load(s->db, &counter, load_one, s, err);
	if (ok && opts->must_exist && s->n_objects == 0)
		ok = err_set(err, ERR_LOCAL_STORE,
			"%.300s has no object in it, but there are files of sandboxes beside it",
			opts->path);
	if (ok) {
		s->rv = counter > s->rv ? counter : s->rv;
		s->compacted = s->rv;
		return s;
	}
	store_close(s);
	return NULL;
}

void store_close(struct store *s)
{
	struct uid_entry *e, *next;
	if (!s)
		return;
	while (s->n > 0)
		forget_first(s);
	free(s->ring);
	for (int k = 0; k < KIND_COUNT; k++) {
		for (size_t i = 0; i < s->kinds[k].n; i++)
			store_object_unref(s->kinds[k].v[i]);
		free(s->kinds[k].v);
	}
	HASH_ITER(hh, s->by_uid, e, next) {
		HASH_DEL(s->by_uid, e);
		free(e);
	}
	store_db_close(s->db);
	free(s);
}
