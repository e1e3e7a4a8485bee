// SPDX-License-Identifier: Apache-2.0
#include "engine/access/review.h"

#include "engine/base/json.h"
#include "engine/base/str.h"
#include "engine/kube/client.h"

#include <stdlib.h>

struct kube_call *access_review_start(struct kube_client *kube, const char *namespace_,
	const struct access_attributes *about,
	void (*done)(void *arg, const struct err *err, const cJSON *object), void *arg,
	struct err *err)
{
	cJSON *review = cJSON_CreateObject();
	cJSON_AddStringToObject(review, "apiVersion", "authorization.k8s.io/v1");
	cJSON_AddStringToObject(review, "kind", "SelfSubjectAccessReview");
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
	const struct kube_call_opts opts = {
		.method = "POST",
		.path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
		.body = slice_of(body),
		.done = done,
		.arg = arg,
	};
	struct kube_call *call = kube_call_start(kube, &opts, err);
	free(body);
	cJSON_Delete(review);
	return call;
}

bool access_review_is_allowed(const cJSON *answer)
{
	return json_bool(answer, false, "status", "allowed", NULL);
}
