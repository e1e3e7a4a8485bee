// SPDX-License-Identifier: Apache-2.0
/* A whole engine against a scripted cluster: collections of objects that a test fills and changes, and rights. */
#pragma once

#include "engine/engine.h"
#include "engine/internal.h"
#include "tests/unit/engine/kube/api.h"

#include <stdbool.h>

enum { COLLECTIONS = 12 };

struct collection {
	char name[40];
	char *items; /* JSON, separated by commas */
	struct evhttp_request *watch;
	int lists, watches;
	bool is_forbidden, is_silent;
};

struct cluster {
	struct api api;
	struct engine *engine;
	struct collection collections[COLLECTIONS];
	int revision;
	struct {
		char end[100]; /* of a path */
		int code;
		char *body;
	} canned[16];
	size_t n_canned;
	char refused[8][64]; /* "verb resource": what an access review denies */
	size_t n_refused;
	int reviews, forwards; /* asked for */
};

static inline struct collection *cluster_collection(struct cluster *c, const char *name)
{
	for (size_t i = 0; i < COLLECTIONS; i++) {
		struct collection *is = &c->collections[i];
		if (is->name[0] == '\0')
			snprintf(is->name, sizeof is->name, "%s", name);
		if (strcmp(is->name, name) == 0)
			return is;
	}
	fail_msg("too many collections");
	return NULL;
}

/* A collection may have several watches, for different names; events are told on the latest. */
struct cluster_watch {
	struct collection *of;
	struct evhttp_request *request;
};

static inline void cluster_on_closed(struct evhttp_connection *connection, void *arg)
{
	struct cluster_watch *is = arg;
	(void)connection;
	if (is->of->watch == is->request)
		is->of->watch = NULL;
	is->of->watches--;
	evhttp_request_free(is->request);
	free(is);
}

static inline void cluster_watch(struct evhttp_request *request, struct collection *it)
{
	struct cluster_watch *is = x_calloc(1, sizeof *is);
	*is = (struct cluster_watch){ it, request };
	it->watch = request;
	it->watches++;
	evhttp_connection_set_closecb(
		evhttp_request_get_connection(request), cluster_on_closed, is);
	evhttp_send_reply_start(request, 200, "OK");
}

/* With ?fieldSelector=metadata.name=…, or involvedObject.name=…, only those. */
static inline void cluster_list(struct cluster *c, struct evhttp_request *request,
	const struct collection *it, const char *selector)
{
	char *all = x_asprintf("[%s]", it->items ? it->items : "");
	cJSON *items = cJSON_Parse(all);
	static const char *const of[] = { "metadata", "involvedObject" };
	for (size_t k = 0; k < 2 && selector != NULL; k++) {
		size_t n = strlen(of[k]);
		if (strncmp(selector, of[k], n) != 0 || strncmp(selector + n, ".name=", 6) != 0)
			continue;
		for (int i = cJSON_GetArraySize(items); i-- > 0;)
			if (strcmp(json_str(cJSON_GetArrayItem(items, i), of[k], "name", NULL),
				    selector + n + 6) != 0)
				cJSON_DeleteItemFromArray(items, i);
	}
	char *text = cJSON_PrintUnformatted(items);
	api_reply(request, 200,
		"{\"kind\":\"List\",\"metadata\":{\"resourceVersion\":\"%d\"},\"items\":%s}",
		c->revision, text);
	free(text);
	free(all);
	cJSON_Delete(items);
}

static inline void cluster_review(
	struct cluster *c, struct evhttp_request *request, const struct api_request *is)
{
	cJSON *body = cJSON_Parse(is->body);
	const cJSON *about = json_get(body, "spec", "resourceAttributes", NULL);
	char words[128];
	const char *sub = json_str(about, "subresource", NULL);
	snprintf(words, sizeof words, "%s %s%s%s", json_str(about, "verb", NULL),
		json_str(about, "resource", NULL), sub && *sub ? "/" : "", sub ? sub : "");
	bool allowed = true;
	for (size_t i = 0; i < c->n_refused; i++)
		allowed = allowed && strcmp(words, c->refused[i]) != 0;
	c->reviews++;
	api_reply(request, 201,
		"{\"kind\":\"SelfSubjectAccessReview\",\"status\":{\"allowed\":%s}}",
		allowed ? "true" : "false");
	cJSON_Delete(body);
}

static inline void cluster_handle(
	struct api *api, struct evhttp_request *request, const struct api_request *is)
{
	struct cluster *c = api->test;
	const char *name = strrchr(is->path, '/') + 1;
	if (strcmp(name, "selfsubjectaccessreviews") == 0) {
		cluster_review(c, request, is);
		return;
	}
	for (size_t i = c->n_canned; i-- > 0;) {
		size_t n = strlen(is->path), m = strlen(c->canned[i].end);
		if (n >= m && strcmp(is->path + n - m, c->canned[i].end) == 0) {
			api_reply(request, c->canned[i].code, "%s", c->canned[i].body);
			return;
		}
	}
	if (strcmp(name, "portforward") == 0) {
		c->forwards++;
		api_status(request, 500, "InternalError", "connection refused");
		return;
	}
	struct collection *it = cluster_collection(c, name);
	if (it->is_silent)
		return;
	if (api_query(is, "sendInitialEvents") != NULL) {
		api_status(request, 422, "Invalid", "sendInitialEvents is forbidden");
	} else if (it->is_forbidden) {
		char words[200];
		snprintf(words, sizeof words, "User cannot list resource \\\"%s\\\"", name);
		api_status(request, 403, "Forbidden", words);
	} else if (api_query(is, "watch") != NULL) {
		cluster_watch(request, it);
	} else {
		it->lists++;
		cluster_list(c, request, it, api_query(is, "fieldSelector"));
	}
}

__attribute__((format(printf, 2, 0))) static inline char *cluster_text(
	struct cluster *c, const char *format, va_list args)
{
	char *text;
	if (vasprintf(&text, format, args) < 0)
		abort();
	for (char *p = text; *p; p++)
		if (*p == '\'')
			*p = '"';
	char *rv = strstr(text, "RV");
	if (rv != NULL) {
		char number[16];
		snprintf(number, sizeof number, "%02d", ++c->revision % 100);
		memcpy(rv, number, 2);
	}
	return text;
}

/* Before the engine is opened. 'resourceVersion':'9RV' is numbered. */
static inline void cluster_add(struct cluster *c, const char *collection, const char *format,
	...) __attribute__((format(printf, 3, 4)));
static inline void cluster_add(
	struct cluster *c, const char *collection, const char *format, ...)
{
	va_list args;
	struct collection *it = cluster_collection(c, collection);
	va_start(args, format);
	char *text = cluster_text(c, format, args);
	va_end(args);
	char *all = it->items ? x_asprintf("%s,%s", it->items, text) : x_strdup(text);
	free(it->items);
	it->items = all;
	free(text);
}

/* An event of the collection's watch, which must be open. */
static inline void cluster_tell(struct cluster *c, const char *collection, const char *type,
	const char *format, ...) __attribute__((format(printf, 4, 5)));
static inline void cluster_tell(
	struct cluster *c, const char *collection, const char *type, const char *format, ...)
{
	va_list args;
	struct collection *it = cluster_collection(c, collection);
	API_UNTIL(&c->api, it->watch != NULL, 10000);
	va_start(args, format);
	char *text = cluster_text(c, format, args);
	va_end(args);
	char *line = x_asprintf("{\"type\":\"%s\",\"object\":%s}\n", type, text);
	api_send(it->watch, line);
	free(line);
	free(text);
}

/* What paths that end so are answered; the latest wins. */
static inline void cluster_can(struct cluster *c, const char *end, int code, const char *format,
	...) __attribute__((format(printf, 4, 5)));
static inline void cluster_can(
	struct cluster *c, const char *end, int code, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	assert_true(c->n_canned < sizeof c->canned / sizeof c->canned[0]);
	snprintf(c->canned[c->n_canned].end, sizeof c->canned[0].end, "%s", end);
	c->canned[c->n_canned].code = code;
	c->canned[c->n_canned++].body = cluster_text(c, format, args);
	va_end(args);
}

static inline void cluster_refuse(struct cluster *c, const char *words)
{
	snprintf(c->refused[c->n_refused++], sizeof c->refused[0], "%s", words);
}

static inline int cluster_set_up(void **state)
{
	struct cluster *c = x_calloc(1, sizeof *c);
	c->revision = 10;
	/* no token: the server speaks plain HTTP */
	api_start(&c->api, "    username: u\n    password: p", cluster_handle, c);
	*state = c;
	return 0;
}

static inline void cluster_open(struct cluster *c, struct engine_opts opts)
{
	struct err err = { 0 };
	char *path = x_asprintf("%s/config", c->api.dir);
	opts.kubeconfig = path;
	c->engine = engine_new(c->api.loop, &opts, &err);
	if (c->engine == NULL)
		fail_msg("%s", err.msg);
	free(path);
}

static inline void cluster_sync(struct cluster *c)
{
	API_UNTIL(&c->api, fleet_is_synced(engine_fleet(c->engine)), 10000);
}

static inline int cluster_tear_down(void **state)
{
	struct cluster *c = *state;
	engine_free(c->engine);
	api_stop(&c->api);
	for (size_t i = 0; i < COLLECTIONS; i++)
		free(c->collections[i].items);
	for (size_t i = 0; i < c->n_canned; i++)
		free(c->canned[i].body);
	free(c);
	return 0;
}

#define CLUSTER_CLAIM(name)                                                                     \
	"{'metadata':{'name':'" name "','namespace':'demo','uid':'claim-" name                  \
	"','generation':1,'resourceVersion':'9RV','creationTimestamp':'2026-01-01T00:00:00Z'}," \
	"'spec':{'warmPoolRef':{'name':'p'}},'status':{'sandbox':{'name':'" name "'},"          \
	"'conditions':[{'type':'Ready','status':'True','reason':'DependenciesReady',"           \
	"'message':'m','lastTransitionTime':'2026-01-01T00:00:01Z','observedGeneration':1}]}}"
#define CLUSTER_SANDBOX(name, spec, ips, ready)                                                \
	"{'metadata':{'name':'" name "','namespace':'demo','uid':'sandbox-" name               \
	"','generation':1,'resourceVersion':'9RV','creationTimestamp':'2026-01-01T00:00:00Z'," \
	"'labels':{'agents.x-k8s.io/claim-uid':'claim-" name "'}},'spec':{" spec               \
	"},'status':{'podIPs':[" ips "],'serviceFQDN':'" name                                  \
	".demo.svc.cluster.local','conditions':[{'type':'Ready','status':'" ready              \
	"','reason':'DependenciesReady','message':'m',"                                        \
	"'lastTransitionTime':'2026-01-01T00:00:01Z','observedGeneration':1}]}}"
#define CLUSTER_POD(name, uid_, spec, ip)                                                         \
	"{'metadata':{'name':'" name "','namespace':'demo','uid':'" uid_                          \
	"','resourceVersion':'9RV','creationTimestamp':'2026-01-01T00:00:00Z','ownerReferences':" \
	"[{'kind':'Sandbox','name':'" name "','uid':'sandbox-" name                               \
	"','controller':true}]},'spec':{" spec "},'status':{'phase':'Running','podIP':'" ip       \
	"','conditions':[{'type':'Ready','status':'True'}]}}"
