// SPDX-License-Identifier: Apache-2.0
/* A table of rows by uid, the order in which they changed, and the last removals: whoever follows asks for what is newer
 * than what it has seen.
 *
 *   object ── same or older version ──> nothing
 *          └─ project ─> row ─ revision ─> newest end of the list ── changes(since)
 *   list begins: epoch + 1 … ends: rows of an older epoch are gone */
#include "engine/kinds/informer.h"

#include "engine/base/err.h"
#include "engine/base/json.h"
#include "engine/base/map.h"
#include "engine/base/num.h"
#include "engine/k8s/resource.h"
#include "engine/k8s/selector.h"
#include "engine/kinds/object.h"
#include "engine/kube/reflector.h"

#include <stdalign.h>
#include <stdio.h>
#include <string.h>

enum { REMOVALS = 1024 };

struct kinds_entry {
	UT_hash_handle hh;
	struct kinds_entry *prev, *next; /* by revision, newest last */
	uint64_t revision;               /* of the informer, when it changed last */
	uint64_t version;                /* resourceVersion; 0: not a number */
	uint32_t epoch;
	char uid[RESOURCE_UID_BYTES];
	alignas(max_align_t) struct kinds_object row; /* and what the kind has behind it */
};

struct kinds_informer {
	const struct resource_kind *kind;
	struct kube_client *client;
	struct kube_reflector *reflector;
	char *namespace_; /* "" = all */
	void (*on_change)(void *arg);
	void *arg;
	struct kinds_entry *entries, *by_revision;
	uint64_t revision;
	struct {
		uint64_t revision;
		char uid[RESOURCE_UID_BYTES];
	} removals[REMOVALS]; /* a ring */
	size_t n_removals;
	uint64_t forgotten; /* removals up to that revision are no longer known */
	const struct kinds_informer *beside; /* NULL: none */
	uint64_t joined, joined_beside; /* revisions of both when they were looked at last */
	uint32_t epoch;
	bool is_listing, is_synced;
	size_t n_dropped;
	enum kube_reflector_state state;
	struct err err; /* ERR_NONE: none */
};

/* ---- rows */

static void entry_free(struct kinds_informer *informer, struct kinds_entry *entry)
{
	HASH_DEL(informer->entries, entry);
	DL_DELETE(informer->by_revision, entry);
	if (informer->kind->drop)
		informer->kind->drop(&entry->row);
	kinds_object_drop(&entry->row);
	free(entry);
}

static void note_change(struct kinds_informer *informer)
{
	informer->on_change(informer->arg);
}

static void entry_remove(struct kinds_informer *informer, struct kinds_entry *entry)
{
	size_t at = informer->n_removals % REMOVALS;
	if (informer->n_removals >= REMOVALS)
		informer->forgotten = informer->removals[at].revision;
	informer->removals[at].revision = ++informer->revision;
	memcpy(informer->removals[at].uid, entry->uid, sizeof entry->uid);
	informer->n_removals++;
	entry_free(informer, entry);
	note_change(informer);
}

static void entry_read(
	struct kinds_informer *informer, struct kinds_entry *entry, const cJSON *object)
{
	int64_t skew_ms = kube_client_clock_skew_ms(informer->client);
	kinds_object_read(&entry->row, object, skew_ms);
	informer->kind->project(&entry->row, object, skew_ms);
	entry->revision = ++informer->revision;
	DL_APPEND(informer->by_revision, entry);
	note_change(informer);
}

static uint64_t version_of(const cJSON *object)
{
	int64_t version;
	const char *text = kinds_text_at(object, "metadata.resourceVersion");
	return text && num_parse_i64(text, 0, INT64_MAX, &version) ? (uint64_t)version : 0;
}

/* The same version again (a relist), or one from before that. */
static bool is_old(const struct kinds_informer *informer, const struct kinds_entry *entry,
	uint64_t version)
{
	if (!entry->version || !version)
		return false;
	return version == entry->version || (!informer->is_listing && version < entry->version);
}

static void on_object(void *arg, enum kube_change change, const cJSON *object)
{
	struct kinds_informer *informer = arg;
	const char *text = kinds_text_at(object, "metadata.uid");
	char uid[RESOURCE_UID_BYTES];
	struct kinds_entry *entry;
	if (!text || !*text)
		return;
	snprintf(uid, sizeof uid, "%s", text);
	HASH_FIND_STR(informer->entries, uid, entry);
	if (change == KUBE_DELETED) {
		if (entry)
			entry_remove(informer, entry);
		return;
	}
	uint64_t version = version_of(object);
	if (entry) {
		entry->epoch = informer->epoch;
		if (is_old(informer, entry, version))
			return;
		DL_DELETE(informer->by_revision, entry);
	} else {
		if (HASH_COUNT(informer->entries) >= KINDS_ROWS_MAX) {
			informer->n_dropped++;
			return;
		}
		size_t n = sizeof *entry - sizeof entry->row + informer->kind->row_bytes;
		entry = x_calloc(1, n > sizeof *entry ? n : sizeof *entry);
		memcpy(entry->uid, uid, sizeof uid);
		entry->epoch = informer->epoch;
		HASH_ADD_STR(informer->entries, uid, entry);
	}
	entry->version = version;
	entry_read(informer, entry, object);
}

static void on_sync(void *arg, bool begin)
{
	struct kinds_informer *informer = arg;
	struct kinds_entry *entry, *next;
	informer->is_listing = begin;
	if (begin) {
		informer->epoch++;
		informer->n_dropped = 0;
		return;
	}
	informer->is_synced = true;
	HASH_ITER(hh, informer->entries, entry, next)
		if (entry->epoch != informer->epoch)
			entry_remove(informer, entry);
	informer->revision++; /* an empty list is an answer too */
	note_change(informer);
}

static void on_state(void *arg, enum kube_reflector_state state, const struct err *err)
{
	struct kinds_informer *informer = arg;
	informer->state = state;
	informer->err.code = ERR_NONE;
	if (err)
		informer->err = *err;
	note_change(informer);
}

/* ---- as a source */

static uint64_t source_revision(const void *self)
{
	return ((const struct kinds_informer *)self)->revision;
}

static const void *source_find(const void *self, const char *uid)
{
	const struct kinds_informer *informer = self;
	struct kinds_entry *entry;
	HASH_FIND_STR(informer->entries, uid, entry);
	return entry ? &entry->row : NULL;
}

static void source_each(const void *self, resource_change_fn *fn, void *arg)
{
	const struct kinds_informer *informer = self;
	const struct kinds_entry *entry;
	DL_FOREACH(informer->by_revision, entry)
		fn(arg, entry->uid, &entry->row);
}

static void source_changes(const void *self, uint64_t since, resource_change_fn *fn, void *arg)
{
	const struct kinds_informer *informer = self;
	if (since < informer->forgotten) {
		fn(arg, NULL, NULL);
		return;
	}
	size_t kept = informer->n_removals < REMOVALS ? informer->n_removals : REMOVALS;
	for (size_t i = informer->n_removals - kept; i < informer->n_removals; i++)
		if (informer->removals[i % REMOVALS].revision > since)
			fn(arg, informer->removals[i % REMOVALS].uid, NULL);
	if (!informer->by_revision)
		return;
	/* newest last, and the head's prev is the tail (utlist): back to the first that is newer */
	const struct kinds_entry *entry = informer->by_revision->prev, *first = NULL;
	while (entry->revision > since) {
		first = entry;
		if (entry == informer->by_revision)
			break;
		entry = entry->prev;
	}
	for (entry = first; entry; entry = entry->next)
		fn(arg, entry->uid, &entry->row);
}

struct resource_source kinds_informer_source(const struct kinds_informer *informer)
{
	static const struct resource_source_ops ops = { source_revision, source_find,
		source_each, source_changes };
	return (struct resource_source){ &ops, informer };
}

/* ---- how it is */

const struct resource_kind *kinds_informer_kind(const struct kinds_informer *informer)
{
	return informer->kind;
}

const char *kinds_informer_namespace(const struct kinds_informer *informer)
{
	return informer->namespace_;
}

/* It has told what there is, or will not. */
static bool is_decided(const struct kinds_informer *informer)
{
	return informer->is_synced || informer->state == KUBE_REFLECTOR_FORBIDDEN ||
	       informer->err.code != ERR_NONE;
}

struct kinds_informer_state kinds_informer_state_of(const struct kinds_informer *informer)
{
	return (struct kinds_informer_state){
		.name = kube_reflector_state_name(informer->state),
		.is_synced = informer->is_synced &&
			     (!informer->beside || is_decided(informer->beside)),
		.is_live = informer->state == KUBE_REFLECTOR_LIVE ||
			   informer->state == KUBE_REFLECTOR_STARTING ||
			   informer->state == KUBE_REFLECTOR_POLLED,
		.is_forbidden = informer->state == KUBE_REFLECTOR_FORBIDDEN,
		.is_polled = informer->state == KUBE_REFLECTOR_POLLED,
		.age_ms = kube_reflector_age_ms(informer->reflector),
		.n_dropped = informer->n_dropped,
		.err = informer->err.code == ERR_NONE ? NULL : &informer->err,
	};
}

/* ---- what is beside it */

void kinds_informer_join(struct kinds_informer *informer)
{
	const struct kinds_informer *beside = informer->beside;
	if (!beside || (informer->joined == informer->revision &&
			       informer->joined_beside == beside->revision))
		return;
	const struct resource_source others = beside->is_synced ? kinds_informer_source(beside)
								: (struct resource_source){ 0 };
	/* those that show something else now go to the end of the list, behind the last of today */
	struct kinds_entry *entry = informer->by_revision;
	struct kinds_entry *last = entry ? entry->prev : NULL, *next;
	for (bool is_last = !entry; !is_last; entry = next) {
		next = entry->next;
		is_last = entry == last;
		if (!informer->kind->join(&entry->row, beside->kind, &others))
			continue;
		DL_DELETE(informer->by_revision, entry);
		entry->revision = ++informer->revision;
		DL_APPEND(informer->by_revision, entry);
	}
	informer->joined = informer->revision;
	informer->joined_beside = beside->revision;
}

/* ---- life */

void kinds_informer_resync(struct kinds_informer *informer)
{
	kube_reflector_resync(informer->reflector);
}

void kinds_informer_hurry(struct kinds_informer *informer, bool is_lane_dead)
{
	kube_reflector_hurry(informer->reflector, is_lane_dead);
}

static bool check_selector(const char *text, struct err *err)
{
	struct err why = { 0 };
	struct k8s_selector *selector = text ? k8s_label_selector_parse(text, &why) : NULL;
	k8s_selector_free(selector);
	if (why.code == ERR_NONE)
		return true;
	err_copy(err, &why);
	return false;
}

struct kinds_informer *kinds_informer_start(
	struct kube_client *client, const struct kinds_informer_opts *opts, struct err *err)
{
	if (!check_selector(opts->label_selector, err))
		return NULL;
	bool is_all = !opts->kind->resource->is_namespaced || !opts->namespace_ ||
		      !opts->namespace_[0];
	struct kinds_informer *informer = x_calloc(1, sizeof *informer);
	informer->kind = opts->kind;
	informer->client = client;
	informer->namespace_ = x_strdup(is_all ? "" : opts->namespace_);
	informer->on_change = opts->on_change;
	informer->arg = opts->arg;
	informer->beside = opts->kind->join ? opts->beside : NULL;
	informer->state = KUBE_REFLECTOR_STARTING;
	const struct kube_reflector_opts reflector = {
		.resource = opts->kind->resource,
		.namespace_ = is_all ? NULL : informer->namespace_,
		.label_selector = opts->label_selector,
		.field_selector = opts->field_selector,
		.on_object = on_object,
		.on_sync = on_sync,
		.on_state = on_state,
		.arg = informer,
	};
	informer->reflector = kube_reflector_start(client, &reflector, err);
	if (informer->reflector)
		return informer;
	kinds_informer_stop(informer);
	return NULL;
}

void kinds_informer_stop(struct kinds_informer *informer)
{
	struct kinds_entry *entry, *next;
	if (!informer)
		return;
	kube_reflector_stop(informer->reflector);
	HASH_ITER(hh, informer->entries, entry, next)
		entry_free(informer, entry);
	free(informer->namespace_);
	free(informer);
}
