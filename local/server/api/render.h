// SPDX-License-Identifier: Apache-2.0
/* How a stored object is shown: as itself, as the other API group's view of it, as metadata only, or as
 * rows of a Table with the printer columns of its resource. */
#pragma once

#include "local/server/api/request.h"
#include "local/server/store/store.h"

struct evbuffer;

struct render {
	const struct resource *r;
	enum accept accept;
	const char *include_object; /* of a Table: None, Metadata (default), Object */
	bool has_columns_sent;      /* a Table watch names its columns once */
};
void render_init(struct render *v, const struct resource *r, const struct request *req);
/* The tree as this resource shows it; *owned says whether to delete it. */
cJSON *render_tree(const struct resource *r, const struct object *o, bool *owned);
void render_one(struct render *v, const struct object *o, struct evbuffer *out);
struct render_list_meta {
	int64_t rv;
	const char *continue_token; /* or NULL */
	int64_t remaining;          /* -1: not said */
};
void render_list(struct render *v, struct object **list, size_t n,
	const struct render_list_meta *meta, struct evbuffer *out);
/* A bookmark's object in the form of the stream. */
void render_bookmark(struct render *v, int64_t rv, bool ends_initial, struct evbuffer *out);

/* events.k8s.io/v1 from and to the stored core/v1 form. */
cJSON *events_view(const cJSON *core);
cJSON *events_from_view_take(cJSON *view);
/* Answers a request with one object. */
void api_reply_object(
	struct request *req, const struct resource *r, int code, const struct object *o);
