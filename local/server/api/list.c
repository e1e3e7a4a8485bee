// SPDX-License-Identifier: Apache-2.0
/* Lists: selectors, pages, and the four ways to ask for a resourceVersion.
 *
 * A continue token is base64 of {"rv": revision of the first page, "after": "namespace/name"}. Pages after
 * the first are cut from the collection as it was at that revision (store_list), so they fit together; a
 * revision that is forgotten gives 410 with a token of rv 0, which goes on at the current state. */
#include "local/server/api/api.h"

#include "engine/base/digest.h"
#include "engine/base/err.h"
#include "engine/base/json.h"
#include "engine/base/mem.h"
#include "engine/base/num.h"
#include "engine/k8s/status.h"
#include "local/server/api/render.h"
#include "local/server/server.h"
#include "local/server/store/selector.h"

#include <event2/buffer.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool api_filter_init(struct api_filter *f, const struct api_request *req,
	const struct store_resource *r, cJSON **status)
{
	struct err err = { 0 };
	bool ok;
	*f = (struct api_filter){ .r = r };
	f->labels =
		store_selector_parse_labels(api_request_query(req, "labelSelector"), &ok, &err);
	if (ok)
		f->fields = store_selector_parse_fields(
			api_request_query(req, "fieldSelector"), r, &ok, &err);
	if (ok)
		return true;
	api_filter_deinit(f);
	*status = k8s_status_bad_request("%s", err.msg);
	return false;
}

void api_filter_deinit(struct api_filter *f)
{
	k8s_selector_free(f->labels);
	k8s_selector_free(f->fields);
	f->labels = f->fields = NULL;
}

bool api_filter_matches(const struct api_filter *f, const struct store_object *o)
{
	bool owned;
	if (!f->labels && !f->fields)
		return true;
	cJSON *tree = api_render_tree(f->r, o, &owned);
	bool matches = store_selector_matches_labels(f->labels, tree) &&
		       store_selector_matches_fields(f->fields, tree);
	if (owned)
		cJSON_Delete(tree);
	return matches;
}

cJSON *api_status_expired(int64_t asked, int64_t oldest)
{
	return k8s_status_new(K8S_EXPIRED, "too old resource version: %lld (%lld)",
		(long long)asked, (long long)oldest);
}

struct page {
	int64_t rv;    /* the state shown */
	int64_t limit; /* 0: all */
	char *after;   /* "ns/name" of the last object of the page before, or NULL */
};

static char *make_token(int64_t rv, const char *ns, const char *name)
{
	struct str key;
	cJSON *token = cJSON_CreateObject();
	str_init(&key, 1024);
	str_addf(&key, "%s/%s", ns, name);
	cJSON_AddNumberToObject(token, "rv", (double)rv);
	cJSON_AddStringToObject(token, "after", key.p);
	char *text = cJSON_PrintUnformatted(token);
	char *encoded = digest_base64_encode(text, strlen(text));
	free(text);
	cJSON_Delete(token);
	str_deinit(&key);
	return encoded;
}

static cJSON *parse_token(struct server *s, struct page *page, const char *token)
{
	size_t n;
	struct err err;
	char *text = digest_base64_decode(slice_of(token), &n);
	cJSON *tree = text ? json_parse((struct slice){ text, n }, &err) : NULL;
	const char *after = json_str(tree, "after", NULL);
	int64_t rv = json_int(tree, -1, "rv", NULL);
	cJSON *status = NULL;
	free(text);
	if (!after || !strchr(after, '/') || rv < 0) {
		status = k8s_status_bad_request("continue key is not valid");
	} else {
		page->after = x_strdup(after);
		page->rv = rv > 0 ? rv : store_revision(s->store);
	}
	cJSON_Delete(tree);
	return status;
}

static cJSON *token_expired(const struct page *page)
{
	char *slash = strchr(page->after, '/');
	*slash = '\0';
	char *token = make_token(0, page->after, slash + 1);
	cJSON *status = k8s_status_new(K8S_EXPIRED,
		"The provided continue parameter is too old to display a consistent list result."
		" You can start a new list without the continue parameter, or use the continue"
		" token in this response to retrieve the remainder of the results. Continuing"
		" with the provided token results in an inconsistent list - objects that were"
		" created, modified, or deleted between the time the first chunk was returned"
		" and now may show up in the list.");
	cJSON_AddStringToObject(
		cJSON_GetObjectItemCaseSensitive(status, "metadata"), "continue", token);
	free(token);
	return status;
}

static cJSON *too_new(int64_t asked, int64_t current)
{
	cJSON *status =
		k8s_status_new(K8S_TIMEOUT, "Too large resource version: %lld, current: %lld",
			(long long)asked, (long long)current);
	cJSON *details = cJSON_AddObjectToObject(status, "details");
	cJSON *causes = cJSON_AddArrayToObject(details, "causes");
	k8s_status_add_cause(
		causes, "ResourceVersionTooLarge", "", "Too large resource version");
	cJSON_AddNumberToObject(details, "retryAfterSeconds", 1);
	return status;
}

/* resourceVersion and resourceVersionMatch */
static cJSON *choose_revision(
	struct api_request *req, const struct api_target *t, struct page *page)
{
	struct server *s = req->server;
	const char *rv = api_request_query(req, "resourceVersion");
	const char *match = api_request_query(req, "resourceVersionMatch");
	int64_t current = store_revision(s->store), asked = 0;
	page->rv = current;
	bool has_rv = rv && *rv;
	bool is_exact = match && strcmp(match, "Exact") == 0;
	if (match && *match) {
		cJSON *causes = cJSON_CreateArray();
		if (!has_rv)
			k8s_status_add_cause(causes, "FieldValueForbidden",
				"resourceVersionMatch",
				"Forbidden: resourceVersionMatch is forbidden unless resourceVersion"
				" is provided");
		else if (!is_exact && strcmp(match, "NotOlderThan") != 0)
			k8s_status_add_cause(causes, "FieldValueNotSupported",
				"resourceVersionMatch", "Unsupported value: \"%.40s\"", match);
		else if (is_exact && strcmp(rv, "0") == 0)
			k8s_status_add_cause(causes, "FieldValueForbidden",
				"resourceVersionMatch",
				"Forbidden: resourceVersionMatch \"Exact\" is forbidden for"
				" resourceVersion \"0\"");
		if (causes->child)
			return k8s_status_invalid(t->r->api, "", causes);
		cJSON_Delete(causes);
	}
	if (!has_rv)
		return NULL;
	if (!num_parse_i64(rv, 0, INT64_MAX, &asked))
		return k8s_status_bad_request("resourceVersion: Invalid value: \"%.40s\"", rv);
	if (asked == 0) {
		page->limit = 0; /* as a watch cache does: everything in one answer */
		return NULL;
	}
	if (asked > current)
		return too_new(asked, current);
	if (is_exact)
		page->rv = asked;
	return NULL;
}

static cJSON *page_init(struct page *page, struct api_request *req, const struct api_target *t)
{
	const char *limit = api_request_query(req, "limit");
	const char *token = api_request_query(req, "continue");
	const char *rv = api_request_query(req, "resourceVersion");
	*page = (struct page){ 0 };
	if (limit && *limit && !num_parse_i64(limit, 0, INT32_MAX, &page->limit))
		return k8s_status_bad_request("limit: Invalid value: \"%.40s\"", limit);
	if (!token || !*token)
		return choose_revision(req, t, page);
	if (rv && *rv && strcmp(rv, "0") != 0)
		return k8s_status_bad_request(
			"specifying resource version is not allowed when using continue");
	return parse_token(req->server, page, token);
}

/* Index of the first object after "ns/name". */
static size_t first_after(struct store_object **list, size_t n, char *after)
{
	size_t i = 0;
	char *slash = strchr(after, '/');
	*slash = '\0';
	for (; i < n; i++) {
		int c = strcmp(list[i]->ns, after);
		if (c > 0 || (c == 0 && strcmp(list[i]->name, slash + 1) > 0))
			break;
	}
	*slash = '/';
	return i;
}

static void reply_page(struct api_request *req, const struct api_target *t,
	const struct api_filter *f, struct page *page, struct store_object **all, size_t n)
{
	struct api_render_list_meta meta = { page->rv, NULL, -1 };
	struct store_object **shown = x_malloc((n + 1) * sizeof *shown);
	size_t n_shown = 0, i = page->after ? first_after(all, n, page->after) : 0;
	char *token = NULL;
	struct api_render view;
	for (; i < n; i++) {
		if (!api_filter_matches(f, all[i]))
			continue;
		if (page->limit > 0 && n_shown == (size_t)page->limit) {
			struct store_object *last = shown[n_shown - 1];
			token = make_token(page->rv, last->ns, last->name);
			if (!f->labels && !f->fields)
				meta.remaining = (int64_t)(n - i);
			break;
		}
		shown[n_shown++] = all[i];
	}
	meta.continue_token = token;
	struct evbuffer *out = evbuffer_new();
	api_render_init(&view, t->r, req);
	api_render_list(&view, shown, n_shown, &meta, out);
	api_request_reply_buffer(req, 200, out);
	evbuffer_free(out);
	free(token);
	free(shown);
}

void api_list(struct api_request *req, const struct api_target *t)
{
	struct api_filter filter = { 0 };
	struct page page;
	size_t n = 0;
	struct store_object **all = NULL;
	cJSON *status = page_init(&page, req, t);
	if (!status && api_filter_init(&filter, req, t->r, &status)) {
		all = store_list(req->server->store, t->r->kind, t->ns, page.rv, &n);
		if (!all)
			status = page.after ? token_expired(&page)
					    : api_status_expired(page.rv,
						      store_compacted(req->server->store));
	}
	if (status) {
		api_request_fail_take(req, status);
	} else {
		reply_page(req, t, &filter, &page, all, n);
		store_list_free(all, n);
	}
	api_filter_deinit(&filter);
	free(page.after);
}
