// SPDX-License-Identifier: Apache-2.0
#include "engine/connect/gateway.h"

#include "engine/base/err.h"
#include "engine/base/json.h"
#include "engine/base/mem.h"
#include "engine/base/str.h"
#include "engine/k8s/resource.h"
#include "engine/kube/reflector.h"

#include <stdlib.h>
#include <string.h>

struct connect_gateway {
	struct kube_client *kube;
	void (*on_lost)(void *arg, const struct err *why);
	void *arg;
	struct kube_reflector *reflector; /* NULL until first asked */
	char *name, *namespace_, *scheme;
	char *address; /* NULL: none */
	bool is_there, was_there, is_seen;
	struct err failure; /* of the watch */
};

struct connect_gateway *connect_gateway_new(struct kube_client *kube, const char *name,
	const char *namespace_, const char *scheme,
	void (*on_lost)(void *arg, const struct err *why), void *arg)
{
	struct connect_gateway *gateway = x_calloc(1, sizeof *gateway);
	gateway->kube = kube;
	gateway->on_lost = on_lost;
	gateway->arg = arg;
	gateway->name = x_strdup(name);
	gateway->namespace_ = x_strdup(namespace_);
	gateway->scheme = x_strdup(scheme);
	return gateway;
}

void connect_gateway_free(struct connect_gateway *gateway)
{
	if (gateway == NULL)
		return;
	if (gateway->reflector != NULL)
		kube_reflector_stop(gateway->reflector);
	free(gateway->name);
	free(gateway->namespace_);
	free(gateway->scheme);
	free(gateway->address);
	free(gateway);
}

/* An IP address or a host name: nothing that would make another URL of it. */
static bool is_address(const char *text)
{
	size_t n = strlen(text);
	for (size_t i = 0; i < n; i++)
		if (text[i] <= ' ' || text[i] > '~' || strchr("/?#@[]\\%", text[i]) != NULL)
			return false;
	return n > 0 && n < 254;
}

static void take_address(struct connect_gateway *gateway, const cJSON *object)
{
	const cJSON *first =
		cJSON_GetArrayItem(json_get(object, "status", "addresses", NULL), 0);
	const char *value = json_str(first, "value", NULL);
	if (value != NULL && !is_address(value))
		value = NULL;
	bool is_same = value && gateway->address ? strcmp(value, gateway->address) == 0
						 : value == gateway->address;
	if (is_same)
		return;
	char *old = gateway->address;
	gateway->address = x_strdup(value);
	if (old != NULL) {
		struct err why = { 0 };
		err_set(&why, ERR_CONN_LOST, "gateway %s has another address now",
			gateway->name);
		gateway->on_lost(gateway->arg, &why);
	}
	free(old);
}

static void gone(struct connect_gateway *gateway)
{
	struct err why = { 0 };
	if (!gateway->is_there)
		return;
	gateway->is_there = false;
	free(gateway->address);
	gateway->address = NULL;
	err_set(&why, ERR_GATEWAY_DELETED, "gateway %s/%s was deleted", gateway->namespace_,
		gateway->name);
	gateway->on_lost(gateway->arg, &why);
}

static void on_object(void *arg, enum kube_change change, const cJSON *object)
{
	struct connect_gateway *gateway = arg;
	const char *name = json_str(object, "metadata", "name", NULL);
	if (name == NULL || strcmp(name, gateway->name) != 0)
		return;
	gateway->is_seen = true;
	if (change == KUBE_DELETED) {
		gone(gateway);
		return;
	}
	gateway->is_there = gateway->was_there = true;
	take_address(gateway, object);
}

static void on_sync(void *arg, bool begin)
{
	struct connect_gateway *gateway = arg;
	if (begin)
		gateway->is_seen = false;
	else if (!gateway->is_seen)
		gone(gateway);
}

static void on_state(void *arg, enum kube_reflector_state state, const struct err *err)
{
	struct connect_gateway *gateway = arg;
	(void)state;
	gateway->failure = err ? *err : (struct err){ 0 };
}

static bool start(struct connect_gateway *gateway, struct err *err)
{
	char *selector = x_asprintf("metadata.name=%s", gateway->name);
	const struct kube_reflector_opts opts = {
		.resource = &k8s_gateways,
		.namespace_ = gateway->namespace_,
		.field_selector = selector,
		.on_object = on_object,
		.on_sync = on_sync,
		.on_state = on_state,
		.arg = gateway,
	};
	gateway->reflector = kube_reflector_start(gateway->kube, &opts, err);
	free(selector);
	return gateway->reflector != NULL;
}

bool connect_gateway_locate(void *arg, struct str *url, struct err *err)
{
	struct connect_gateway *gateway = arg;
	if (gateway->reflector == NULL && !start(gateway, err))
		return false;
	if (gateway->address != NULL) {
		str_addf(url, strchr(gateway->address, ':') ? "%s://[%s]" : "%s://%s",
			gateway->scheme, gateway->address);
		return true;
	}
	if (gateway->was_there && !gateway->is_there)
		return err_set(err, ERR_GATEWAY_DELETED, "gateway %s/%s was deleted",
			gateway->namespace_, gateway->name);
	if (gateway->failure.code != ERR_NONE) {
		err_copy(err, &gateway->failure);
		return err_prefix(err, "gateway %s/%s", gateway->namespace_, gateway->name);
	}
	return err_set(err, ERR_GATEWAY_NO_ADDRESS, "gateway %s/%s %s", gateway->namespace_,
		gateway->name, gateway->is_there ? "has no address" : "is not there");
}
