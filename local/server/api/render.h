// SPDX-License-Identifier: Apache-2.0
/* How a stored object is shown: as itself, as the other API group's view of it, as metadata only, or as
 * rows of a Table with the printer columns of its resource. */
#pragma once

#include "local/server/api/request.h"
#include "local/server/store/store.h"

struct evbuffer;

struct api_render {
	const struct store_resource *r;
	enum api_accept accept;
	const char *include_object; /* of a Table: None, Metadata (default), Object */
	bool has_columns_sent;      /* a Table watch names its columns once */
};
void api_render_init(
	struct api_render *v, const struct store_resource *r, const struct api_request *req);
/* The tree as this resource shows it; *owned says whether to delete it. */
cJSON *api_render_tree(
	const struct store_resource *r, const struct store_object *o, bool *owned);
void api_render_one(struct api_render *v, const struct store_object *o, struct evbuffer *out);
struct api_render_list_meta {
	int64_t rv;
	const char *continue_token; /* or NULL */
	int64_t remaining;          /* -1: not said */
};
void api_render_list(struct api_render *v, struct store_object **list, size_t n,
	const struct api_render_list_meta *meta, struct evbuffer *out);
/* A bookmark's object in the form of the stream. */
void api_render_bookmark(
	struct api_render *v, int64_t rv, bool ends_initial, struct evbuffer *out);

/* events.k8s.io/v1 from and to the stored core/v1 form. */
cJSON *api_events_view(const cJSON *core);
cJSON *api_events_from_view_take(cJSON *view);
/* Answers a request with one object. */
void api_reply_object(struct api_request *req, const struct store_resource *r, int code,
	const struct store_object *o);
