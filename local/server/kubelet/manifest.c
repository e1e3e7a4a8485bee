// SPDX-License-Identifier: Apache-2.0
#include "local/server/kubelet/manifest.h"

#include "engine/base/clock.h"
#include "engine/base/err.h"
#include "engine/base/file.h"
#include "engine/base/json.h"
#include "engine/base/log.h"
#include "engine/base/mem.h"
#include "local/server/controller/controller.h"
#include "local/server/server.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *kubelet_manifest_kind_of(enum store_kind kind)
{
	return kind == KIND_PVC ? "volumes" : kind == KIND_POD ? "pods" : NULL;
}

/* The controller of o if it is of this kind. */
static const struct store_object *owner(
	struct server *s, const struct store_object *o, enum store_kind kind)
{
	const char *uid = json_str(controller_owner_of(o->json), "uid", NULL);
	const struct store_object *found = uid ? store_by_uid(s->store, uid) : NULL;
	return found && found->kind == kind ? found : NULL;
}

static void add(cJSON *json, cJSON *objects, const char *key, const struct store_object *o)
{
	if (!o)
		return;
	if (key)
		cJSON_AddStringToObject(json, key, o->name);
	cJSON_AddItemToArray(objects, cJSON_Duplicate(o->json, true));
}

static char *make_text(struct server *s, const struct store_object *o)
{
	char now[CLOCK_RFC3339_BYTES];
	cJSON *json = cJSON_CreateObject(), *objects = cJSON_CreateArray();
	const struct store_object *sandbox = owner(s, o, KIND_SANDBOX);
	cJSON_AddStringToObject(json, "folder", kubelet_manifest_kind_of(o->kind));
	cJSON_AddStringToObject(json, "uid", o->uid);
	cJSON_AddStringToObject(json, "namespace", o->ns);
	cJSON_AddStringToObject(json, "name", o->name);
	add(json, objects, "claim", sandbox ? owner(s, sandbox, KIND_CLAIM) : NULL);
	add(json, objects, "sandbox", sandbox);
	cJSON_AddStringToObject(json, "written", clock_format_rfc3339(clock_wall_ns(), 0, now));
	/* a pod is made anew by its Sandbox */
	if (o->kind == KIND_PVC) {
		add(json, objects, NULL, o);
		cJSON_AddItemToObject(json, "objects", objects);
	} else {
		cJSON_Delete(objects);
	}
	char *text = cJSON_PrintUnformatted(json);
	cJSON_Delete(json);
	return text;
}

static char *path_of(const char *state_dir, const char *kind, const char *uid)
{
	return x_asprintf("%s/%s/%s.json", state_dir, kind, uid);
}

void kubelet_manifest_write(struct server *s, const struct store_object *o)
{
	char *path = path_of(s->opts.state_dir, kubelet_manifest_kind_of(o->kind), o->uid);
	char *text = make_text(s, o);
	struct err err = { 0 };
	/* not synced: this is in the way of every create */
	if (!file_write_replace(path, slice_of(text), 0600, &err))
		LOG("volumes", LOG_WARN, "%s", err.msg);
	free(text);
	free(path);
}

/* What a manifest says of an object: whose it is, and its spec. */
static bool is_same(const struct store_object *a, const struct store_object *b)
{
	const char *was = json_str(controller_owner_of(a->json), "uid", NULL);
	const char *is = json_str(controller_owner_of(b->json), "uid", NULL);
	return json_int(a->json, 0, "metadata", "generation", NULL) ==
		       json_int(b->json, 0, "metadata", "generation", NULL) &&
	       strcmp(was ? was : "", is ? is : "") == 0;
}

void kubelet_manifest_on_change(struct server *s, const struct store_change *change)
{
	const struct store_object *o = change->now;
	if ((o->kind != KIND_SANDBOX && o->kind != KIND_CLAIM) ||
		change->type != CHANGE_MODIFIED || is_same(change->before, o))
		return;
	for (size_t i = 0; i < store_count(s->store, KIND_PVC); i++) {
		const struct store_object *volume = store_at(s->store, KIND_PVC, i);
		const struct store_object *sandbox = owner(s, volume, KIND_SANDBOX);
		if (!sandbox || (sandbox != o && owner(s, sandbox, KIND_CLAIM) != o))
			continue;
		char *path = path_of(s->opts.state_dir, "volumes", volume->uid);
		if (access(path, F_OK) == 0)
			kubelet_manifest_write(s, volume);
		free(path);
	}
}

void kubelet_manifest_remove(const char *state_dir, const char *kind, const char *uid)
{
	char *path = path_of(state_dir, kind, uid);
	unlink(path);
	free(path);
}

const cJSON *kubelet_manifest_objects(
	const char *state_dir, const char *kind, const char *uid, cJSON **manifest_out)
{
	size_t n;
	char *path = path_of(state_dir, kind, uid);
	char *text = file_read(path, JSON_MAX_BYTES, &n, NULL);
	cJSON *json = text ? json_parse((struct slice){ text, n }, NULL) : NULL;
	const cJSON *objects = json_get(json, "objects", NULL);
	free(text);
	free(path);
	*manifest_out = json;
	return cJSON_IsArray(objects) ? objects : NULL;
}
