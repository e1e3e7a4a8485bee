// SPDX-License-Identifier: Apache-2.0
/* A whole backend in the test's own loop, asked over TLS. No sandbox is started: pools stay empty. */
#include "tests/unit/local/server/backend.h"

#include <ctype.h>

#define COUNT(a) (sizeof(a) / sizeof(a)[0])
#define LEASES "/apis/coordination.k8s.io/v1/namespaces/default/leases"
#define ALL_LEASES "/apis/coordination.k8s.io/v1/leases"
#define CLAIMS "/apis/extensions.agents.x-k8s.io/v1beta1/namespaces/default/sandboxclaims"
#define POOLS "/apis/extensions.agents.x-k8s.io/v1beta1/namespaces/default/sandboxwarmpools"
#define JSON_PATCH "application/json-patch+json"
#define MERGE_PATCH "application/merge-patch+json"
#define APPLY_PATCH "application/apply-patch+yaml"

struct row {
	const char *method, *path, *body, *type;
	int status;
	const char *answer; /* found in it, ' for "; NULL: anything */
};

static void check(const struct row *rows, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct got got = ask(rows[i].method, rows[i].path, rows[i].body, rows[i].type);
		char wanted[1000];
		snprintf(wanted, sizeof wanted, "%s", rows[i].answer ? rows[i].answer : "");
		for (char *p = wanted; *p; p++)
			if (*p == '\'')
				*p = '"';
		if (got.status != rows[i].status ||
			strstr(got.body.p ? got.body.p : "", wanted) == NULL)
			fail_msg("row %zu, %s %s: %d %s", i, rows[i].method, rows[i].path,
				got.status, got.body.p);
		str_deinit(&got.body);
	}
}
#define CHECK(...)                                                                             \
	do {                                                                                   \
		static const struct row rows_[] = { __VA_ARGS__ };                             \
		check(rows_, COUNT(rows_));                                                    \
	} while (0)

#define POST(path, body, status, answer)                                                       \
	{                                                                                      \
		"POST", path, body, NULL, status, answer                                       \
	}
#define GET(path, status, answer)                                                              \
	{                                                                                      \
		"GET", path, "", NULL, status, answer                                          \
	}
#define PUT(path, body, status, answer)                                                        \
	{                                                                                      \
		"PUT", path, body, NULL, status, answer                                        \
	}
#define DELETE(path, body, status, answer)                                                     \
	{                                                                                      \
		"DELETE", path, body, NULL, status, answer                                     \
	}

static void test_routes(void **state)
{
	(void)state;
	CHECK(GET("/healthz", 200, "ok"), GET("/livez", 200, "ok"), GET("/readyz", 200, "ok"),
		GET("/", 200, "'/openapi/v3'"), GET("/version", 200, "'major'"),
		GET("/api", 200, "'v1'"), GET("/api/v1", 200, "'pods'"),
		GET("/apis", 200, "agents.x-k8s.io"),
		GET("/apis/agents.x-k8s.io", 200, "v1beta1"),
		GET("/apis/agents.x-k8s.io/v1beta1", 200, "'sandboxes'"),
		GET("/apis/nothing.io", 404, NULL), GET("/apis/agents.x-k8s.io/v9", 404, NULL),
		GET("/openapi/v2", 200, "swagger"), GET("/openapi/v3", 200, "paths"),
		GET("/openapi/v3/api/v1", 200, "openapi"),
		GET("/openapi/v3/apis/agents.x-k8s.io/v1beta1", 200, "openapi"),
		GET("/openapi/v4", 404, NULL), GET("/nothing", 404, NULL),
		GET("/api/v1/nothings", 404, NULL),
		GET("/api/v1/namespaces/default/namespaces", 404, NULL),
		GET("/api/v1/pods/name", 404, NULL),
		GET("/api/v1/namespaces", 200, "'default'"),
		GET("/api/v1/namespaces/default", 200, "'Active'"),
		GET("/api/v1/namespaces/default/status", 404, NULL),
		GET(LEASES "/a/b/c", 404, NULL), GET(LEASES "/a/status", 404, NULL),
		POST(ALL_LEASES, "{}", 405, "MethodNotAllowed"),
		DELETE(ALL_LEASES, "", 405, "MethodNotAllowed"),
		PUT(LEASES, "{}", 405, "MethodNotAllowed"),
		POST(LEASES "/a", "{}", 405, "MethodNotAllowed"),
		POST(POOLS "/local/scale", "{}", 405, "MethodNotAllowed"),
		DELETE(POOLS "/local/status", "", 405, "MethodNotAllowed"));
}

static void test_only_with_the_token(void **state)
{
	static const char *const wrong[] = { "Bearer x", "Bearer ", "Basic ", "" };
	(void)state;
	for (size_t i = 0; i < COUNT(wrong); i++) {
		struct got got;
		struct http_header header = { "Authorization", wrong[i] };
		got_init(&got);
		got_start(&got, http,
			(struct http_opts){ .url = url_to("/api/v1/namespaces"),
				.tls = tls,
				.headers = &header,
				.n_headers = *wrong[i] ? 1 : 0,
				.timeout_ms = 8000 });
		TURN_UNTIL(loop, got.done);
		assert_int_equal(got.status, 401);
		str_deinit(&got.body);
	}
	char longer[300];
	snprintf(longer, sizeof longer, "Bearer %sx", backend->token);
	struct got got;
	struct http_header header = { "Authorization", longer };
	got_init(&got);
	got_start(&got, http,
		(struct http_opts){ .url = url_to("/api/v1/namespaces"),
			.tls = tls,
			.headers = &header,
			.n_headers = 1,
			.timeout_ms = 8000 });
	TURN_UNTIL(loop, got.done);
	assert_int_equal(got.status, 401);
	str_deinit(&got.body);
}

static void test_one_object(void **state)
{
	(void)state;
	CHECK(GET(LEASES "/a", 404, "leases.coordination.k8s.io \\'a\\' not found"),
		POST(LEASES, "{'metadata':{'name':'a'},'spec':{'holderIdentity':'me'}}", 201,
			"'holderIdentity':'me'"),
		POST(LEASES, "{'metadata':{'name':'a'},'spec':{}}", 409, "AlreadyExists"),
		POST(LEASES, "{'metadata':{'name':'A'},'spec':{}}", 422, "RFC 1123"),
		POST(LEASES, "{'metadata':{},'spec':{}}", 422,
			"name or generateName is required"),
		POST(LEASES, "{'metadata':{'generateName':'g-'},'spec':{}}", 201, "'name':'g-"),
		POST(LEASES, "{'metadata':{'name':'x','namespace':'other'},'spec':{}}", 400,
			"does not match"),
		POST(LEASES, "{'metadata':{'name':'x','resourceVersion':'5'},'spec':{}}", 400,
			"resourceVersion should not be set"),
		POST(LEASES, "{'kind':'Pod','metadata':{'name':'x'}}", 400,
			"must be of type Lease"),
		POST(LEASES, "[]", 400, NULL), POST(LEASES, "{", 400, NULL),
		POST(LEASES "?dryRun=All", "{'metadata':{'name':'dry'},'spec':{}}", 201,
			"'dry'"),
		GET(LEASES "/dry", 404, NULL),
		POST(LEASES "?dryRun=Some", "{'metadata':{'name':'dry'},'spec':{}}", 400,
			"dryRun"),
		POST(LEASES "?fieldValidation=Strict",
			"{'metadata':{'name':'x'},'spec':{'nope':1}}", 400, "unknown field"),
		POST(LEASES "?fieldValidation=Ignore",
			"{'metadata':{'name':'x'},'spec':{'nope':1}}", 201, NULL),
		POST(LEASES "?fieldValidation=Maybe", "{'metadata':{'name':'y'},'spec':{}}",
			400, "fieldValidation"),
		POST("/apis/coordination.k8s.io/v1/namespaces/none/leases",
			"{'metadata':{'name':'x'},'spec':{}}", 404, "namespaces"),
		GET(LEASES "/a", 200, "'uid':'"),
		PUT(LEASES "/a", "{'metadata':{'name':'a'},'spec':{'holderIdentity':'you'}}",
			200, "'you'"),
		PUT(LEASES "/a", "{'metadata':{'name':'b'},'spec':{}}", 400,
			"does not match the name"),
		PUT(LEASES "/a", "{'metadata':{'name':'a','uid':'other'},'spec':{}}", 409,
			"UID"),
		PUT(LEASES "/a", "{'metadata':{'name':'a','resourceVersion':'1'},'spec':{}}",
			409, "has been modified"),
		PUT(LEASES "/none", "{'metadata':{'name':'none'},'spec':{}}", 404, NULL),
		DELETE(LEASES "/a", "{'preconditions':{'uid':'x'}}", 409,
			"UID in the precondition"),
		DELETE(LEASES "/a", "{'preconditions':{'resourceVersion':'1'}}", 409,
			"ResourceVersion in the precondition"),
		DELETE(LEASES "/a", "{'propagationPolicy':'Maybe'}", 422, "propagationPolicy"),
		DELETE(LEASES "/a?gracePeriodSeconds=-1", "", 400, "gracePeriodSeconds"),
		DELETE(LEASES "/a?dryRun=All", "", 200, NULL), GET(LEASES "/a", 200, NULL),
		DELETE(LEASES "/a", "", 200, "'status':'Success'"), GET(LEASES "/a", 404, NULL),
		DELETE(LEASES "/a", "", 404, NULL),
		DELETE("/api/v1/namespaces/default", "", 403, "may not be deleted"));
}

static void test_patches(void **state)
{
	(void)state;
	CHECK(POST(LEASES,
		      "{'metadata':{'name':'a','labels':{'l':'1'}},'spec':{'holderIdentity':'me'}}",
		      201, NULL),
		{ "PATCH", LEASES "/a", "{'metadata':{'labels':{'l':null,'m':'2'}}}",
			MERGE_PATCH, 200, "'labels':{'m':'2'}" },
		{ "PATCH", LEASES "/a", "[]", MERGE_PATCH, 400, "must be an object" },
		{ "PATCH", LEASES "/a",
			"[{'op':'test','path':'/spec/holderIdentity','value':'me'},"
			"{'op':'replace','path':'/spec/holderIdentity','value':'you'}]",
			JSON_PATCH, 200, "'you'" },
		{ "PATCH", LEASES "/a",
			"[{'op':'test','path':'/spec/holderIdentity','value':'me'}]",
			JSON_PATCH, 422, NULL },
		{ "PATCH", LEASES "/a", "{}", JSON_PATCH, 400, NULL },
		{ "PATCH", LEASES "/a", "{'metadata':{'labels':{'n':'3'}}}",
			"application/strategic-merge-patch+json", 200, "'n':'3'" },
		{ "PATCH", LEASES "/a", "{'metadata':{'$patch':'delete'}}",
			"application/strategic-merge-patch+json", 400, "directives" },
		{ "PATCH", LEASES "/a", "{}", "text/plain", 415, "UnsupportedMediaType" },
		{ "PATCH", LEASES "/none", "{}", MERGE_PATCH, 404, NULL },
		{ "PATCH", POOLS "/local", "{}", "application/strategic-merge-patch+json", 415,
			NULL },
		{ "PATCH", POOLS "/local", "{'spec':{'replicas':-1}}", MERGE_PATCH, 422, NULL },
		{ "PATCH", LEASES "/a?dryRun=All", "{'metadata':{'labels':{'n':'4'}}}",
			MERGE_PATCH, 200, "'n':'4'" },
		GET(LEASES "/a", 200, "'n':'3'"));
}

static void test_apply(void **state)
{
	(void)state;
	CHECK({ "PATCH", LEASES "/a", "{}", APPLY_PATCH, 400, "fieldManager is required" },
		{ "PATCH", LEASES "/a?fieldManager=m",
			"{'metadata':{'name':'a','labels':{'x':'1','y':'2'}},'spec':{}}",
			APPLY_PATCH, 201, "'x':'1'" },
		{ "PATCH", LEASES "/a?fieldManager=other",
			"{'metadata':{'name':'a','labels':{'z':'3'}},'spec':{}}", APPLY_PATCH,
			200, "'z':'3'" },
		/* what a manager no longer says goes, what others said stays */
		{ "PATCH", LEASES "/a?fieldManager=m",
			"{'metadata':{'name':'a','labels':{'y':'2'}},'spec':{}}", APPLY_PATCH,
			200, "'labels':{'z':'3','y':'2'}" },
		{ "PATCH", LEASES "/a?fieldManager=m", "{'metadata':{'name':'b'}}", APPLY_PATCH,
			400, "does not match the name" },
		{ "PATCH", LEASES "/a?fieldManager=m",
			"{'metadata':{'name':'a','managedFields':[]}}", APPLY_PATCH, 400,
			"managedFields must be nil" },
		{ "PATCH", LEASES "/b?fieldManager=m&dryRun=All", "{'metadata':{'name':'b'}}",
			APPLY_PATCH, 201, NULL },
		GET(LEASES "/b", 404, NULL));
}

static void test_subresources(void **state)
{
	(void)state;
	CHECK(GET(POOLS "/local/scale", 200, "'replicas':0"),
		{ "PATCH", POOLS "/local/scale", "{'spec':{'replicas':-1}}", MERGE_PATCH, 422,
			NULL },
		{ "PATCH", POOLS "/local/scale", "[]", JSON_PATCH, 415, NULL },
		POST(CLAIMS,
			"{'metadata':{'name':'c'},'spec':{'warmPoolRef':{'name':'none'}},"
			"'status':{'sandbox':{'name':'forged'}}}",
			201, "'generation':1"),
		PUT(CLAIMS "/c",
			"{'metadata':{'name':'c'},'spec':{'warmPoolRef':{'name':'x'}}}", 422,
			"must be specified for an update"),
		{ "PATCH", CLAIMS "/c", "{'spec':{'warmPoolRef':{'name':'other'}}}",
			MERGE_PATCH, 200, "'generation':2" },
		{ "PATCH", CLAIMS "/c/status",
			"{'spec':{'warmPoolRef':{'name':'third'}},'status':{'sandbox':{'name':'s'}}}",
			MERGE_PATCH, 200, "'other'" },
		GET(CLAIMS "/c/status", 200, "'name':'s'"));
	struct got got = ask("GET", CLAIMS "/c", "", NULL);
	assert_null(strstr(got.body.p, "forged"));
	assert_non_null(strstr(got.body.p, "\"generation\":2"));
	str_deinit(&got.body);
	/* a scale becomes the pool's replicas */
	got = ask("PATCH", POOLS "/local/scale", "{'spec':{'replicas':0}}", MERGE_PATCH);
	assert_int_equal(got.status, 200);
	str_deinit(&got.body);
}

#define TABLE "application/json;as=Table;v=v1;g=meta.k8s.io"
#define PARTIAL "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io"
#define PARTIALS "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"
#define AS(type, path, status, answer)                                                         \
	{                                                                                      \
		"GET", path, "", type, status, answer                                          \
	}

static void test_what_is_accepted(void **state)
{
	(void)state;
	CHECK(POST(LEASES, "{'metadata':{'name':'a'},'spec':{'holderIdentity':'me'}}", 201,
		      NULL),
		AS(TABLE, LEASES "/a", 200, "'kind':'Table'"),
		AS(TABLE, LEASES "/a", 200, "'rows':[{'cells':['a','me'"),
		AS(TABLE, LEASES "/a", 200,
			"'columnDefinitions':[{'name':'Name','type':'string','format':'name'"),
		AS(TABLE, LEASES "/a", 200, "'object':{'kind':'PartialObjectMetadata'"),
		AS(TABLE, LEASES "/a?includeObject=Object", 200,
			"'object':{'apiVersion':'coordination.k8s.io/v1'"),
		AS(TABLE, LEASES, 200, "'rows':[{'cells':['a','me'"),
		AS(PARTIAL, LEASES "/a", 200,
			"{'kind':'PartialObjectMetadata','apiVersion':'meta.k8s.io/v1'"),
		AS(PARTIALS, LEASES, 200, "'kind':'PartialObjectMetadataList'"),
		AS("text/plain, */*", LEASES "/a", 200, "'kind':'Lease'"),
		AS("application/*", LEASES "/a", 200, "'kind':'Lease'"),
		AS("application/json;as=Table;v=v9;g=meta.k8s.io", LEASES, 406,
			"NotAcceptable"),
		AS("application/json;as=Table;v=v9;g=meta.k8s.io,application/json", LEASES, 200,
			"'kind':'LeaseList'"),
		AS("application/vnd.kubernetes.protobuf", LEASES, 406, "NotAcceptable"),
		AS("application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList",
			"/apis", 200, "'kind':'APIGroupDiscoveryList'"),
		AS("application/json", "/apis", 200, "'kind':'APIGroupList'"));
	struct got got = ask("GET", LEASES "/a?includeObject=None", "", TABLE);
	assert_null(strstr(got.body.p, "\"object\""));
	str_deinit(&got.body);
	got = ask("GET", LEASES "/a", "", PARTIAL);
	assert_null(strstr(got.body.p, "holderIdentity"));
	str_deinit(&got.body);
}

static void test_reviews(void **state)
{
	(void)state;
	CHECK(POST("/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
		      "{'spec':{'resourceAttributes':{'verb':'get'}}}", 201, "'allowed':true"),
		POST("/apis/authorization.k8s.io/v1/selfsubjectrulesreviews", "{'spec':{}}",
			201, "'resourceRules'"),
		POST("/apis/authentication.k8s.io/v1/selfsubjectreviews", "{}", 201,
			"'username':'sandmux-local'"),
		GET("/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", 405, NULL),
		POST("/apis/authentication.k8s.io/v1/selfsubjectaccessreviews", "{}", 404,
			NULL));
}

/* --- lists --- */

static char *names_in(const char *text)
{
	static char out[400];
	cJSON *list = cJSON_Parse(text);
	const cJSON *item;
	out[0] = '\0';
	cJSON_ArrayForEach(item, json_get(list, "items", NULL)) snprintf(out + strlen(out),
		sizeof out - strlen(out), "%s ", json_str(item, "metadata", "name", NULL));
	cJSON_Delete(list);
	return out;
}

static void add_leases(const char *const *names, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		char body[200];
		snprintf(body, sizeof body,
			"{'metadata':{'name':'%s','labels':{'n':'%s','odd':'%s'}},'spec':{}}",
			names[i], names[i], i % 2 ? "yes" : "no");
		struct got got = ask("POST", LEASES, body, NULL);
		assert_int_equal(got.status, 201);
		str_deinit(&got.body);
	}
}

static void expect_list(const char *query, int status, const char *wanted)
{
	char path[1000];
	snprintf(path, sizeof path, "%s%s", LEASES, query);
	struct got got = ask("GET", path, "", NULL);
	const char *is = status == 200 ? names_in(got.body.p) : wanted;
	if (got.status != status || strcmp(is, wanted) != 0)
		fail_msg("%s: %d %s", query, got.status, got.body.p);
	str_deinit(&got.body);
}

static void test_lists(void **state)
{
	static const char *const names[] = { "c", "a", "e", "b", "d" };
	(void)state;
	add_leases(names, 3);
	int64_t middle = store_revision(backend->store);
	add_leases(names + 3, 2);
	char query[200];
	expect_list("", 200, "a b c d e ");
	expect_list("?labelSelector=odd%3Dyes", 200, "a d ");
	expect_list("?labelSelector=odd%21%3Dyes", 200, "b c e ");
	expect_list("?labelSelector=%21", 400, "");
	expect_list("?fieldSelector=metadata.name%3Dd", 200, "d ");
	expect_list("?fieldSelector=nope%3Dd", 400, "");
	expect_list("?limit=x", 400, "");
	expect_list("?limit=-1", 400, "");
	expect_list("?limit=0", 200, "a b c d e ");
	expect_list("?limit=5", 200, "a b c d e ");
	expect_list("?continue=nope", 400, "");
	expect_list("?resourceVersion=0", 200, "a b c d e ");
	expect_list("?resourceVersion=0&limit=2", 200, "a b c d e ");
	expect_list("?resourceVersion=x", 400, "");
	expect_list("?resourceVersionMatch=Exact", 422, "");
	expect_list("?resourceVersion=0&resourceVersionMatch=Exact", 422, "");
	expect_list("?resourceVersion=1&resourceVersionMatch=Maybe", 422, "");
	snprintf(query, sizeof query, "?resourceVersion=%lld&resourceVersionMatch=Exact",
		(long long)middle);
	expect_list(query, 200, "a c e ");
	snprintf(query, sizeof query, "?resourceVersion=%lld&resourceVersionMatch=NotOlderThan",
		(long long)middle);
	expect_list(query, 200, "a b c d e ");
	snprintf(query, sizeof query, "?resourceVersion=%lld",
		(long long)store_revision(backend->store));
	expect_list(query, 200, "a b c d e ");
	snprintf(query, sizeof query, "?resourceVersion=%lld",
		(long long)store_revision(backend->store) + 1);
	expect_list(query, 504, "");
	store_compact(backend->store, middle);
	snprintf(query, sizeof query, "?resourceVersion=%lld&resourceVersionMatch=Exact",
		(long long)middle - 1);
	expect_list(query, 410, "");
}

/* As a value of a query. */
static const char *token_of(const cJSON *list)
{
	static char out[800];
	const char *token = json_str(list, "metadata", "continue", NULL);
	size_t n = 0;
	for (; token != NULL && *token; token++)
		n += (size_t)snprintf(out + n, sizeof out - n,
			isalnum((unsigned char)*token) ? "%c" : "%%%02X",
			(unsigned char)*token);
	out[n] = '\0';
	return out;
}

static void test_pages(void **state)
{
	static const char *const names[] = { "a", "b", "c", "d", "e" };
	static const char *const pages[] = { "a b ", "c d ", "e " };
	(void)state;
	add_leases(names, COUNT(names));
	char query[800] = "?limit=2";
	for (size_t i = 0; i < COUNT(pages); i++) {
		char path[1000];
		snprintf(path, sizeof path, "%s%s", LEASES, query);
		struct got got = ask("GET", path, "", NULL);
		assert_string_equal(names_in(got.body.p), pages[i]);
		cJSON *list = cJSON_Parse(got.body.p);
		assert_int_equal(json_int(list, 0, "metadata", "remainingItemCount", NULL),
			i == 0   ? 3
			: i == 1 ? 1
				 : 0);
		assert_int_equal(*token_of(list) != '\0', i < 2);
		snprintf(query, sizeof query, "?limit=2&continue=%s", token_of(list));
		cJSON_Delete(list);
		str_deinit(&got.body);
		if (i == 0) { /* what changes meanwhile is not seen by the pages that follow */
			static const char *const late[] = { "bb", "dd" };
			add_leases(late, 2);
			struct got gone = ask("DELETE", LEASES "/d", "", NULL);
			str_deinit(&gone.body);
		}
	}
	/* a selector: how many remain is not known */
	struct got got = ask("GET", LEASES "?limit=1&labelSelector=odd", "", NULL);
	assert_null(strstr(got.body.p, "remainingItemCount"));
	assert_non_null(strstr(got.body.p, "\"continue\":\""));
	cJSON *list = cJSON_Parse(got.body.p);
	char path[1000];
	snprintf(path, sizeof path, LEASES "?resourceVersion=5&continue=%s", token_of(list));
	CHECK(DELETE(LEASES, "", 200, "Success"));
	struct got refused = ask("GET", path, "", NULL);
	assert_int_equal(refused.status, 400);
	str_deinit(&refused.body);
	/* too old: the answer has a token for the rest */
	store_compact(backend->store, store_revision(backend->store));
	snprintf(path, sizeof path, LEASES "?continue=%s", token_of(list));
	refused = ask("GET", path, "", NULL);
	assert_int_equal(refused.status, 410);
	assert_non_null(strstr(refused.body.p, "\"continue\":\""));
	str_deinit(&refused.body);
	cJSON_Delete(list);
	str_deinit(&got.body);
}

static void test_a_collection_is_deleted_by_selector(void **state)
{
	static const char *const names[] = { "a", "b", "c", "d" };
	(void)state;
	add_leases(names, COUNT(names));
	CHECK(DELETE(LEASES "?labelSelector=odd%3Dyes", "", 200, "Success"));
	expect_list("", 200, "a c ");
	CHECK(DELETE(LEASES "?labelSelector=%21", "", 400, NULL));
	expect_list("", 200, "a c ");
}

/* --- watches --- */

static void watch(struct got *got, const char *query)
{
	char path[1000];
	snprintf(path, sizeof path, "%s?watch=true%s", LEASES, query);
	ask_start(got, "GET", path, "", NULL, (struct http_opts){ .on_body = got_body });
}

/* "ADDED a MODIFIED a " of what has come; BOOKMARK with or without its end mark. */
static char *events_of(const struct got *got)
{
	static char out[1000];
	out[0] = '\0';
	for (const char *p = got->body.p; p && *p;) {
		const char *end = strchr(p, '\n');
		if (end == NULL)
			break;
		cJSON *event = cJSON_ParseWithLength(p, (size_t)(end - p));
		const char *type = json_str(event, "type", NULL);
		const char *name = json_str(event, "object", "metadata", "name", NULL);
		bool is_end = strstr(p, "initial-events-end") &&
			      strstr(p, "initial-events-end") < end;
		snprintf(out + strlen(out), sizeof out - strlen(out), "%s %s ", type,
			name     ? name
			: is_end ? "end"
				 : "-");
		cJSON_Delete(event);
		p = end + 1;
	}
	return out;
}

#define EXPECT(got, events) TURN_UNTIL(loop, strcmp(events_of(&(got)), events) == 0)

static void change(const char *name, const char *labels)
{
	char path[200], body[200];
	snprintf(path, sizeof path, LEASES "/%s", name);
	snprintf(body, sizeof body, "{'metadata':{'labels':%s}}", labels);
	struct got got = ask("PATCH", path, body, MERGE_PATCH);
	assert_int_equal(got.status, 200);
	str_deinit(&got.body);
}

static void test_watches(void **state)
{
	static const char *const names[] = { "a", "b" };
	char query[200];
	(void)state;
	add_leases(names, 2);
	snprintf(query, sizeof query, "&resourceVersion=%lld",
		(long long)store_revision(backend->store));
	struct got from_now, from_nothing, odd, streamed;
	watch(&from_now, query);
	watch(&from_nothing, "");
	watch(&odd, "&labelSelector=odd%3Dyes");
	watch(&streamed, "&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&"
			 "allowWatchBookmarks=true&resourceVersion=");
	EXPECT(from_nothing, "ADDED a ADDED b ");
	EXPECT(odd, "ADDED b ");
	TURN_UNTIL(
		loop, strncmp(events_of(&streamed), "ADDED a ADDED b BOOKMARK end ", 29) == 0);
	/* bookmarks go on by themselves */
	TURN_UNTIL(loop, strstr(events_of(&streamed), "BOOKMARK -") != NULL);
	change("a", "{'odd':'yes'}");
	change("b", "{'more':'1'}");
	change("b", "{'odd':'no'}");
	struct got got = ask("DELETE", LEASES "/a", "", NULL);
	str_deinit(&got.body);
	EXPECT(from_now, "MODIFIED a MODIFIED b MODIFIED b DELETED a ");
	EXPECT(odd, "ADDED b ADDED a MODIFIED b DELETED b DELETED a ");
	struct got *all[] = { &from_now, &from_nothing, &odd, &streamed };
	for (size_t i = 0; i < COUNT(all); i++) {
		assert_int_equal(all[i]->done, 0);
		http_cancel(all[i]->req);
		str_deinit(&all[i]->body);
	}
}

static void test_where_a_watch_cannot_begin(void **state)
{
	(void)state;
	CHECK(GET(LEASES "?watch=true&resourceVersion=x", 500, "Invalid value"),
		GET(LEASES "?watch=true&resourceVersionMatch=NotOlderThan", 422,
			"forbidden for watch"),
		GET(LEASES "?watch=true&sendInitialEvents=true", 422, "requires setting"),
		GET(LEASES "?watch=true&sendInitialEvents=true&resourceVersionMatch=Exact", 422,
			"requires setting"),
		GET(LEASES "?watch=true&labelSelector=%21", 400, NULL));
}

static void test_a_watch_ends_in_time(void **state)
{
	(void)state;
	int64_t began_ms = clock_mono_ms();
	struct got got;
	watch(&got, "&timeoutSeconds=1&allowWatchBookmarks=true&resourceVersion=");
	TURN_UNTIL(loop, got.done);
	assert_int_equal(got.err.code, ERR_NONE);
	assert_in_range(clock_mono_ms() - began_ms, 950, 6000);
	str_deinit(&got.body);
}

static void test_a_watch_of_forgotten_changes(void **state)
{
	static const char *const names[] = { "a", "b", "c" };
	char query[100];
	(void)state;
	add_leases(names, 3);
	int64_t last = store_revision(backend->store);
	store_compact(backend->store, last - 1);
	snprintf(query, sizeof query, "&resourceVersion=%lld", (long long)last - 2);
	struct got late;
	watch(&late, query);
	TURN_UNTIL(loop, late.done);
	assert_string_equal(events_of(&late), "ERROR - ");
	assert_non_null(strstr(late.body.p, "\"code\":410"));
	str_deinit(&late.body);
	/* the last one that is known is enough */
	snprintf(query, sizeof query, "&resourceVersion=%lld", (long long)last - 1);
	struct got just;
	watch(&just, query);
	EXPECT(just, "ADDED c ");
	http_cancel(just.req);
	str_deinit(&just.body);
}

/* A client that watched to the last revision goes on after a restart as if nothing had been. */
static void test_a_watch_after_a_restart(void **state)
{
	static const char *const names[] = { "a", "b", "c" };
	char query[100];
	(void)state;
	add_leases(names, 2);
	int64_t last = store_revision(backend->store);
	stop();
	serve();
	assert_true(store_revision(backend->store) >= last);
	snprintf(query, sizeof query, "&resourceVersion=%lld",
		(long long)store_revision(backend->store));
	struct got got;
	watch(&got, query);
	add_leases(names + 2, 1);
	EXPECT(got, "ADDED c ");
	assert_int_equal(got.done, 0);
	http_cancel(got.req);
	str_deinit(&got.body);
	expect_list("", 200, "a b c ");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_routes),
		TEST(test_only_with_the_token),
		TEST(test_one_object),
		TEST(test_patches),
		TEST(test_apply),
		TEST(test_subresources),
		TEST(test_what_is_accepted),
		TEST(test_reviews),
		TEST(test_lists),
		TEST(test_pages),
		TEST(test_a_collection_is_deleted_by_selector),
		TEST(test_watches),
		TEST(test_where_a_watch_cannot_begin),
		TEST(test_a_watch_ends_in_time),
		TEST(test_a_watch_of_forgotten_changes),
		TEST(test_a_watch_after_a_restart),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
