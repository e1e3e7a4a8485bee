// SPDX-License-Identifier: Apache-2.0
#include "engine/kinds.h"

#include "engine/base/json.h"
#include "engine/base/mem.h"
#include "engine/fleet/kind.h"
#include "engine/internal.h"
#include "engine/k8s/name.h"
#include "engine/k8s/resource.h"
#include "engine/kinds/informers.h"
#include "engine/kinds/object.h"
#include "engine/kube/client.h"

#include <string.h>

/* A kind is a file in engine/kinds and a row here. */
#define KINDS(X)                                                                               \
	X(kinds_pod)                                                                           \
	X(kinds_pool)                                                                          \
	X(kinds_template)                                                                      \
	X(kinds_event)                                                                         \
	X(kinds_lease)                                                                         \
	X(kinds_namespaces)                                                                    \
	X(kinds_claim)                                                                         \
	X(kinds_sandbox)                                                                       \
	X(kinds_service)                                                                       \
	X(kinds_networkpolicy)                                                                 \
	X(kinds_pvc)

#define X(kind) extern const struct resource_kind kind;
KINDS(X)
#undef X
#define X(kind) &kind,
const struct resource_kind *const engine_kinds[] = { &fleet_sandbox_kind, KINDS(X) NULL };
#undef X

const struct resource_kind *engine_kind_find(const char *name)
{
	for (size_t i = 0; engine_kinds[i]; i++)
		if (resource_is_called(engine_kinds[i], name))
			return engine_kinds[i];
	return NULL;
}

const struct resource_kind *engine_kind_of(const char *api_kind)
{
	for (size_t i = 0; engine_kinds[i]; i++)
		if (engine_kinds[i]->resource &&
			strcmp(engine_kinds[i]->resource->kind, api_kind) == 0)
			return engine_kinds[i];
	return NULL;
}

/* ---- looking at one */

static void on_kinds_change(void *arg)
{
	struct engine *engine = arg;
	if (engine->on_change)
		engine->on_change(engine->on_change_arg);
}

/* name: of one object; NULL: all that fit. */
static struct kinds_informer *watch(struct engine *engine,
	const struct kinds_informer_opts *opts, const char *name, struct err *err)
{
	const struct resource_kind *kind = opts->kind;
	if (!engine->kube || !kind->resource) {
		err_set(err, ERR_OP_UNSUPPORTED, "there is no list of %s %s", kind->name,
			engine->kube ? "of its own" : "behind a direct URL");
		return NULL;
	}
	if (!engine->kinds)
		engine->kinds = kinds_informers_new(
			engine->loop, engine->kube, on_kinds_change, engine);
	return name ? kinds_informers_open_object(engine->kinds, opts, name, err)
		    : kinds_informers_open(engine->kinds, opts, err);
}

struct kinds_informer *engine_watch_kind(struct engine *engine,
	const struct resource_kind *kind, const char *namespace_, const char *label_selector,
	struct err *err)
{
	const struct kinds_informer_opts opts = {
		.kind = kind,
		.namespace_ = namespace_,
		.label_selector = label_selector,
		.beside_kind = kind->beside ? engine_kind_of(kind->beside->kind) : NULL,
	};
	return watch(engine, &opts, NULL, err);
}

struct kinds_informer *engine_watch_object(struct engine *engine,
	const struct resource_kind *kind, const char *namespace_, const char *name,
	struct err *err)
{
	const struct kinds_informer_opts opts = {
		.kind = kind,
		.namespace_ = namespace_,
		.beside_kind = kind->beside ? engine_kind_of(kind->beside->kind) : NULL,
	};
	return watch(engine, &opts, name, err);
}

struct kinds_informer *engine_watch_again(
	struct engine *engine, struct kinds_informer *informer)
{
	kinds_informers_keep(engine->kinds, informer);
	return informer;
}

struct kinds_informer *engine_watch_events_of(
	struct engine *engine, const char *namespace_, const char *object_name, struct err *err)
{
	if (!k8s_is_dns_subdomain(object_name, strlen(object_name))) {
		err_set(err, ERR_ARG_INVALID, "'%.64s' is no name of an object", object_name);
		return NULL;
	}
	char *selector = x_asprintf("involvedObject.name=%s", object_name);
	const struct kinds_informer_opts opts = {
		.kind = &kinds_event, .namespace_ = namespace_, .field_selector = selector
	};
	struct kinds_informer *informer = watch(engine, &opts, NULL, err);
	free(selector);
	return informer;
}

void engine_unwatch_kind(struct engine *engine, struct kinds_informer *informer)
{
	if (informer)
		kinds_informers_close(engine->kinds, informer);
}

void engine_kind_forbidden_format(
	const struct kinds_informer *informer, struct str *what, struct str *fix)
{
	struct kinds_informer_state state = kinds_informer_state_of(informer);
	const struct access_refusal refusal = {
		.resource = kinds_informer_kind(informer)->resource,
		.err = state.is_forbidden || state.is_polled ? state.err : NULL,
		.is_polled = state.is_polled,
	};
	access_refusals_format(&refusal, 1, kinds_informer_namespace(informer), what, fix);
}

void engine_kinds_resync(struct engine *engine)
{
	if (engine->kinds)
		kinds_informers_resync(engine->kinds);
}

/* ---- one object */

/* The call of the API client under a name of ours: front ends know nothing of that one. */
struct engine_object_call {
	struct engine *engine;
	struct kube_call *call;
	engine_object_fn *done;
	void *arg;
};

static void on_done(void *arg, const struct err *err, const cJSON *object)
{
	struct engine_object_call *call = arg;
	engine_object_fn *done = call->done;
	void *to = call->arg;
	if (err)
		engine_refused(call->engine, err);
	free(call);
	done(to, err, err ? NULL : object);
}

struct engine_object_call *engine_object_call_start(struct engine *engine,
	const struct kube_call_opts *opts, engine_object_fn *done, void *arg, struct err *err)
{
	if (!engine->kube) {
		err_set(err, ERR_OP_UNSUPPORTED, "there is no cluster behind a direct URL");
		return NULL;
	}
	struct engine_object_call *call = x_calloc(1, sizeof *call);
	struct kube_call_opts own = *opts;
	call->engine = engine;
	call->done = done;
	call->arg = arg;
	own.done = on_done;
	own.arg = call;
	call->call = kube_call_start(engine->kube, &own, err);
	if (call->call)
		return call;
	free(call);
	return NULL;
}

struct engine_object_call *engine_object_start(struct engine *engine,
	const struct resource_kind *kind, const char *namespace_, const char *name,
	engine_object_fn *done, void *arg, struct err *err)
{
	char *path = kube_path(kind->resource, namespace_, name, NULL);
	const struct kube_call_opts opts = { .method = "GET", .path = path };
	struct engine_object_call *call =
		engine_object_call_start(engine, &opts, done, arg, err);
	free(path);
	return call;
}

struct engine_object_call *engine_object_act(struct engine *engine,
	const struct resource_kind *kind, const struct resource_action *action, const void *row,
	const char *args, engine_object_fn *done, void *arg, struct err *err)
{
	const struct kinds_object *object = row;
	struct resource_request request = { 0 };
	if (!engine_object_may(engine, kind, action, object->namespace_, err) ||
		!action->request(row, args, &request, err))
		return NULL;
	char *path = kube_path(kind->resource, object->namespace_, object->name,
		action->subresource[0] ? action->subresource : NULL);
	char *body = request.body ? cJSON_PrintUnformatted(request.body) : NULL;
	const struct kube_call_opts opts = {
		.method = request.method,
		.path = path,
		.content_type = request.content_type,
		.body = body ? slice_of(body) : (struct slice){ 0 },
	};
	struct engine_object_call *call =
		engine_object_call_start(engine, &opts, done, arg, err);
	free(body);
	free(path);
	cJSON_Delete(request.body);
	return call;
}

bool engine_object_may(struct engine *engine, const struct resource_kind *kind,
	const struct resource_action *action, const char *namespace_, struct err *err)
{
	const struct access_attributes about = { action->verb, kind->resource->group,
		kind->resource->plural, action->subresource };
	return engine_may_verb(engine, &about, namespace_, err);
}

void *engine_object_row(
	const struct engine *engine, const struct resource_kind *kind, const cJSON *object)
{
	struct kinds_object *row = x_calloc(1, kind->row_bytes);
	int64_t skew_ms = kube_client_clock_skew_ms(engine->kube);
	kinds_object_read(row, object, skew_ms);
	kind->project(row, object, skew_ms);
	return row;
}

void engine_object_row_free(const struct resource_kind *kind, void *row)
{
	if (!row)
		return;
	if (kind->drop)
		kind->drop(row);
	kinds_object_drop(row);
	free(row);
}

void engine_object_cancel(struct engine_object_call *call)
{
	if (!call)
		return;
	kube_call_cancel(call->call);
	free(call);
}

/* ---- trees */

struct kinds_tree *engine_tree_start(struct engine *engine, const struct resource_kind *kind,
	const char *namespace_, const char *name,
	void (*done)(void *arg, const struct err *err), void *arg, struct err *err)
{
	const struct kinds_tree_opts opts = {
		.kinds = engine_kinds,
		.kind = kind,
		.namespace_ = namespace_,
		.name = name,
		.done = done,
		.arg = arg,
	};
	if (engine->kube && kind->resource)
		return kinds_tree_start(engine->loop, engine->kube, &opts, err);
	err_set(err, ERR_OP_UNSUPPORTED, "there is no cluster behind a direct URL");
	return NULL;
}

struct kinds_tree *engine_tree_of_row(struct engine *engine, const char *uid,
	void (*done)(void *arg, const struct err *err), void *arg, struct err *err)
{
	const struct fleet_row *row =
		engine->fleet && uid ? fleet_find(engine->fleet, uid) : NULL;
	if (!row) {
		err_set(err, ERR_CLAIM_NOT_FOUND, "it is gone");
		return NULL;
	}
	bool is_claim = row->claim[0] && !row->is_claim_hidden;
	return engine_tree_start(engine, is_claim ? &kinds_claim : &kinds_sandbox,
		row->namespace_, is_claim ? row->claim : row->sandbox, done, arg, err);
}

void engine_tree_free(struct kinds_tree *tree)
{
	kinds_tree_free(tree);
}
