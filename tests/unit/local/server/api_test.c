// SPDX-License-Identifier: Apache-2.0
/* Routes, objects, patches, apply, subresources, reviews. No sandbox is started: pools stay empty. */
#include "tests/unit/local/server/backend.h"

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
		GET("/api/v1/nodes", 200, "'sandmux-local'"),
		GET("/api/v1/nodes/sandmux-local", 200, "'KubeletReady'"),
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
		struct net_http_header header = { "Authorization", wrong[i] };
		got_init(&got);
		got_start(&got, http,
			(struct net_http_opts){ .url = url_to("/api/v1/namespaces"),
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
	struct net_http_header header = { "Authorization", longer };
	got_init(&got);
	got_start(&got, http,
		(struct net_http_opts){ .url = url_to("/api/v1/namespaces"),
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
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
