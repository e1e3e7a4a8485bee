// SPDX-License-Identifier: Apache-2.0
/* One SelfSubjectAccessReview (authorization.k8s.io/v1): the only question that every authorizer answers (a
 * SelfSubjectRulesReview knows RBAC alone).
 * Errors: those of engine/kube/client.h. */
#pragma once

#include <stdbool.h>

struct cJSON;
struct err;
struct kube_call;
struct kube_client;

/* ResourceAttributes of a review; "" = none. */
struct access_attributes {
	const char *verb, *group, *resource, *subresource;
};

/* namespace_ "" = all. done as of kube_call_start(): kube.* errors; kube.forbidden and kube.not_served: no reviews here.
 * Cancel with kube_call_cancel(). */
struct kube_call *access_review_start(struct kube_client *kube, const char *namespace_,
	const struct access_attributes *about,
	void (*done)(void *arg, const struct err *err, const struct cJSON *object), void *arg,
	struct err *err);
bool access_review_is_allowed(const struct cJSON *answer);
