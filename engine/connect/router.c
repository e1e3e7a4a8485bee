// SPDX-License-Identifier: Apache-2.0
#include "engine/connect/router.h"

#include "engine/base/err.h"
#include "engine/base/json.h"
#include "engine/base/map.h"
#include "engine/base/mem.h"
#include "engine/base/str.h"
#include "engine/k8s/resource.h"
#include "engine/kube/reflector.h"

#include <stdlib.h>
#include <string.h>

enum { ROUTER_PORT = 8080, MAX_SLICES = 64, NAME_BYTES = 254 };

/* A slice with a ready pod. */
struct slice_row {
	char name[NAME_BYTES], pod[NAME_BYTES];
	uint16_t port;
	bool is_seen;
	struct slice_row *prev, *next;
};

struct connect_router {
	struct kube_client *kube;
	char *service, *namespace_;
	struct kube_reflector *reflector; /* NULL until first asked */
	struct slice_row *slices;
	size_t n_slices;
	bool is_listed;
	struct err failure; /* of the watch */
};

struct connect_router *connect_router_new(
	struct kube_client *kube, const char *service, const char *namespace_)
{
	struct connect_router *router = x_calloc(1, sizeof *router);
	router->kube = kube;
	router->service = x_strdup(service);
	router->namespace_ = x_strdup(namespace_);
	return router;
}

static void forget(struct connect_router *router, struct slice_row *row)
{
	DL_DELETE(router->slices, row);
	router->n_slices--;
	free(row);
}

void connect_router_free(struct connect_router *router)
{
	if (router == NULL)
		return;
	if (router->reflector != NULL)
		kube_reflector_stop(router->reflector);
	while (router->slices != NULL)
		forget(router, router->slices);
	free(router->service);
	free(router->namespace_);
	free(router);
}

const char *connect_router_namespace(const struct connect_router *router)
{
	return router->namespace_;
}

/* ---- what the watch says */

static bool copy_name(char *into, const char *name)
{
	size_t n = name ? strlen(name) : 0;
	if (n == 0 || n >= NAME_BYTES)
		return false;
	memcpy(into, name, n + 1);
	return true;
}

/* The first ready address that is a pod; an unknown readiness counts as ready, as the API says. */
static bool find_pod(const cJSON *object, char *pod)
{
	const cJSON *endpoint;
	cJSON_ArrayForEach(endpoint, json_get(object, "endpoints", NULL))
	{
		const char *kind = json_str(endpoint, "targetRef", "kind", NULL);
		if (kind != NULL && strcmp(kind, "Pod") == 0 &&
			json_bool(endpoint, true, "conditions", "ready", NULL) &&
			copy_name(pod, json_str(endpoint, "targetRef", "name", NULL)))
			return true;
	}
	return false;
}

static uint16_t find_port(const cJSON *object)
{
	int64_t first = 0;
	const cJSON *port;
	cJSON_ArrayForEach(port, json_get(object, "ports", NULL))
	{
		int64_t number = json_int(port, 0, "port", NULL);
		if (number == ROUTER_PORT)
			return ROUTER_PORT;
		if (first == 0 && number > 0 && number < 65536)
			first = number;
	}
	return first ? (uint16_t)first : ROUTER_PORT;
}

static void on_object(void *arg, enum kube_change change, const cJSON *object)
{
	struct connect_router *router = arg;
	struct slice_row *row, found = { .is_seen = true };
	if (!copy_name(found.name, json_str(object, "metadata", "name", NULL)))
		return;
	bool has_pod = change != KUBE_DELETED && find_pod(object, found.pod);
	found.port = find_port(object);
	DL_FOREACH(router->slices, row)
		if (strcmp(row->name, found.name) == 0)
			break;
	if (!has_pod) {
		if (row != NULL)
			forget(router, row);
		return;
	}
	if (row == NULL) {
		if (router->n_slices == MAX_SLICES)
			return;
		row = x_calloc(1, sizeof *row);
		DL_APPEND(router->slices, row);
		router->n_slices++;
	}
	found.prev = row->prev;
	found.next = row->next;
	*row = found;
}

static void on_sync(void *arg, bool begin)
{
	struct connect_router *router = arg;
	struct slice_row *row, *after;
	DL_FOREACH_SAFE(router->slices, row, after) {
		if (begin)
			row->is_seen = false;
		else if (!row->is_seen)
			forget(router, row);
	}
	router->is_listed |= !begin;
}

static void on_state(void *arg, enum kube_reflector_state state, const struct err *err)
{
	struct connect_router *router = arg;
	(void)state;
	router->failure = err ? *err : (struct err){ 0 };
}

static bool start(struct connect_router *router, struct err *err)
{
	char *selector = x_asprintf("kubernetes.io/service-name=%s", router->service);
	const struct kube_reflector_opts opts = {
		.resource = &k8s_endpointslices,
		.namespace_ = router->namespace_,
		.label_selector = selector,
		.on_object = on_object,
		.on_sync = on_sync,
		.on_state = on_state,
		.arg = router,
	};
	router->reflector = kube_reflector_start(router->kube, &opts, err);
	free(selector);
	return router->reflector != NULL;
}

/* ---- what is asked */

bool connect_router_pod(struct connect_router *router, const char **namespace_,
	const char **pod, uint16_t *port)
{
	if (router->slices == NULL)
		return false;
	*namespace_ = router->namespace_;
	*pod = router->slices->pod;
	*port = router->slices->port;
	return true;
}

bool connect_router_locate(void *arg, struct str *url, struct err *err)
{
	struct connect_router *router = arg;
	if (router->reflector == NULL && !start(router, err))
		return false;
	if (router->slices != NULL) {
		/* only a name: each connection is carried to the pod */
		str_addf(url, "http://127.0.0.1:%u", (unsigned)router->slices->port);
		return true;
	}
	if (router->failure.code != ERR_NONE) {
		err_copy(err, &router->failure);
		return err_prefix(err, "router %s/%s", router->namespace_, router->service);
	}
	return err_set(err, ERR_ROUTER_BACKEND, "the Service %s/%s %s", router->namespace_,
		router->service,
		router->is_listed ? "has no ready pod" : "has not been looked up yet");
}
