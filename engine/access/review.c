// SPDX-License-Identifier: Apache-2.0
#include "engine/access/review.h"

#include "engine/base/json.h"
#include "engine/base/str.h"
#include "engine/k8s/resource.h"
#include "engine/kube/client.h"

#include <stdlib.h>

struct kube_call *access_review_start(struct kube_client *kube, const char *namespace_,
	const struct access_attributes *about,
	void (*done)(void *arg, const struct err *err, const cJSON *object), void *arg,
	struct err *err)
{
	const struct k8s_resource *resource = &k8s_selfsubjectaccessreviews;
	char version[K8S_API_VERSION_BYTES];
	cJSON *review = cJSON_CreateObject();
	cJSON_AddStringToObject(review, "apiVersion", k8s_api_version(resource, version));
	cJSON_AddStringToObject(review, "kind", resource->kind);
	cJSON *spec = cJSON_AddObjectToObject(review, "spec");
	cJSON *attributes = cJSON_AddObjectToObject(spec, "resourceAttributes");
	if (namespace_[0])
		cJSON_AddStringToObject(attributes, "namespace", namespace_);
	cJSON_AddStringToObject(attributes, "verb", about->verb);
	cJSON_AddStringToObject(attributes, "group", about->group);
	cJSON_AddStringToObject(attributes, "resource", about->resource);
	if (about->subresource[0])
		cJSON_AddStringToObject(attributes, "subresource", about->subresource);
	char *body = cJSON_PrintUnformatted(review);
	char *path = kube_path(resource, NULL, NULL, NULL);
	const struct kube_call_opts opts = {
		.method = "POST",
		.path = path,
		.body = slice_of(body),
		.done = done,
		.arg = arg,
	};
	struct kube_call *call = kube_call_start(kube, &opts, err);
	free(body);
	free(path);
	cJSON_Delete(review);
	return call;
}

bool access_review_is_allowed(const cJSON *answer)
{
	return json_bool(answer, false, "status", "allowed", NULL);
}
