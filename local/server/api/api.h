// SPDX-License-Identifier: Apache-2.0
/* The parts of the API. Each handler answers its request. */
#pragma once

#include "local/server/api/request.h"
#include "local/server/store/store.h"

/* What a resource path names. ns NULL: every namespace; name NULL: the collection. */
struct api_target {
	const struct store_resource *r;
	const char *ns;
	const char *name;
	const char *sub; /* subresource or NULL */
};

void api_handle(struct evhttp_request *ev, void *server);

void api_discovery_api(struct api_request *req);  /* /api */
void api_discovery_apis(struct api_request *req); /* /apis */
void api_discovery_group(struct api_request *req, const char *group);
void api_discovery_version(struct api_request *req, const char *group, const char *version);
void api_version(struct api_request *req);
void api_openapi_v2(struct api_request *req);
void api_openapi_v3(struct api_request *req);
void api_openapi_v3_group(struct api_request *req, const char *group, const char *version);
/* Access and identity reviews. False if the resource is none of them. */
bool api_review(struct api_request *req, const char *group, const char *resource);
/* metrics.k8s.io/v1beta1: what follows the version. */
void api_metrics(struct api_request *req, char **segments, size_t n);

void api_list(struct api_request *req, const struct api_target *t);
void api_watch(struct api_request *req, const struct api_target *t);
void api_get(struct api_request *req, const struct api_target *t);
void api_create(struct api_request *req, const struct api_target *t);
void api_update(struct api_request *req, const struct api_target *t);
void api_patch(struct api_request *req, const struct api_target *t);
void api_apply(struct api_request *req, const struct api_target *t); /* server-side apply */
void api_delete(struct api_request *req, const struct api_target *t);
void api_delete_collection(struct api_request *req, const struct api_target *t);
void api_scale(struct api_request *req, const struct api_target *t);
/* True if the subresource is one that is upgraded (portforward, exec, attach); then it was answered. */
bool api_pod_connect(struct api_request *req, const struct api_target *t);
void api_pod_log(struct api_request *req, const struct api_target *t);

/* The selectors of a list, watch or collection delete. */
struct k8s_selector;
struct api_filter {
	const struct store_resource *r;
	struct k8s_selector *labels, *fields;
};
bool api_filter_init(struct api_filter *f, const struct api_request *req,
	const struct store_resource *r, cJSON **status);
void api_filter_deinit(struct api_filter *f);
bool api_filter_matches(const struct api_filter *f, const struct store_object *o);

/* 410 as a Status, for the HTTP form and for the watch event. */
cJSON *api_status_expired(int64_t asked, int64_t oldest);
