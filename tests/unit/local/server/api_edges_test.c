// SPDX-License-Identifier: Apache-2.0
/* The API at its edges: odd bodies and paths, both forms of an event, finalizers, preconditions, a namespace that goes,
 * what discovery says in full, headers. No sandbox is started. */
#include "tests/unit/local/server/backend.h"

#include "local/server/api/guard.h"

#define EVENTS "/api/v1/namespaces/default/events"
#define NEW_EVENTS "/apis/events.k8s.io/v1/namespaces/default/events"
#define SERVICES "/api/v1/namespaces/default/services"
#define SANDBOXES "/apis/agents.x-k8s.io/v1beta1/namespaces/default/sandboxes"
#define TEMPLATES "/apis/extensions.agents.x-k8s.io/v1beta1/namespaces/default/sandboxtemplates"
#define PATCH(path, body, type, status, answer)                                                \
	{                                                                                      \
		"PATCH", path, body, type, status, answer                                      \
	}
#define BODY(path, body, type, status, answer)                                                 \
	{                                                                                      \
		"POST", path, body, type, status, answer                                       \
	}
#define ACCEPT(type, path, status, answer)                                                     \
	{                                                                                      \
		"GET", path, "", type, status, answer                                          \
	}

/* The same, and what must not be in the answer. */
static void expect_without(const char *path, const char *accept, const char *word)
{
	struct got got = ask("GET", path, "", accept);
	assert_int_equal(got.status, 200);
	if (strstr(got.body.p, word) != NULL)
		fail_msg("%s: %s", path, got.body.p);
	str_deinit(&got.body);
}

/* ---- bodies and paths */

static void test_bodies(void **state)
{
	(void)state;
	CHECK(BODY(LEASES, "metadata: {name: y1}\nspec: {holderIdentity: me}\n",
		      "application/yaml", 201, "'holderIdentity':'me'"),
		BODY(LEASES, "metadata: {name: y2}\nspec: {}\n",
			"Application/YAML; charset=utf-8", 201, "'y2'"),
		/* what calls itself YAML and is JSON */
		BODY(LEASES, " \n\t{'metadata':{'name':'y3'},'spec':{}}", "application/yaml",
			201, "'y3'"),
		BODY(LEASES, "{'metadata':{'name':'y4'},'spec':{}", "application/yaml", 400,
			"cannot be read"),
		BODY(LEASES, "a: [", "application/yaml", 400, "cannot be read"),
		BODY(LEASES, "metadata: {name: y5}\nspec: {}\n", "application/json", 400,
			"cannot be read"),
		BODY(LEASES, "{'metadata':{'name':'y6'},'spec':{}}", "text/plain", 201, "'y6'"),
		BODY(LEASES, "k8s", "application/vnd.kubernetes.protobuf", 415,
			"unknown format"),
		BODY(LEASES, "x", "application/cbor", 415, "unknown format"),
		BODY(LEASES, "'x'", NULL, 400, "must be an object"),
		BODY(LEASES, "5", NULL, 400, "must be an object"),
		POST(LEASES, "", 400, "the body of the request is empty"),
		PUT(LEASES "/y1", "", 400, "the body of the request is empty"),
		PUT(LEASES "/y1", "[]", 400, "must be an object"),
		PATCH(LEASES "/y1", "{", MERGE_PATCH, 400, "cannot be read"),
		PATCH(LEASES "/y1", "5", APPLY_PATCH, 400, "fieldManager"),
		PATCH(LEASES "/y1?fieldManager=m", "[5]", APPLY_PATCH, 400,
			"must be an object"),
		PATCH(LEASES "/y1?fieldManager=m", "{", APPLY_PATCH, 400, "cannot be read"),
		PATCH(LEASES "/y1?fieldManager=", "{}", APPLY_PATCH, 400, "fieldManager"),
		DELETE(LEASES "/y1", "{", 400, "cannot be read"), GET(LEASES "/y1", 200, NULL));
}

static void test_paths(void **state)
{
	(void)state;
	CHECK(GET("/api///v1/", 200, "APIResourceList"), GET("/apis/", 200, "APIGroupList"),
		GET("/a%70i", 200, "APIVersions"),
		/* a slash or an end that is not one */
		GET("/api%2Fv1", 400, "cannot be read"), GET("/api/v1%00", 400, NULL),
		GET(LEASES "/a%2Fb", 400, "cannot be read"),
		GET("/1/2/3/4/5/6/7/8/9/10", 404, "404 page not found"),
		GET("/1/2/3/4/5/6/7/8/9/10/11", 400, "cannot be read"),
		GET("/openapi", 404, NULL), GET("/openapi/v2/x", 404, NULL),
		GET("/openapi/v3/x", 404, NULL), GET("/openapi/v3/api", 404, NULL),
		GET("/openapi/v3/api/v2", 404, NULL), GET("/openapi/v3/apis/x/v1", 404, NULL),
		GET("/openapi/v3/apis/coordination.k8s.io", 404, NULL),
		GET("/openapi/v3/apis/coordination.k8s.io/v1/x", 404, NULL),
		GET("/version/x", 404, NULL), GET("/healthz/x", 404, NULL),
		GET("/api/v2", 404, NULL), GET("/api/v1/leases", 404, NULL),
		GET("/apis/coordination.k8s.io/v2/leases", 404, NULL),
		GET("/api/v1/namespaces/default/pods/a/log/b", 404, NULL),
		GET("/api/v1/namespaces/none", 404, "namespaces \\'none\\' not found"),
		GET("/api/v1/namespaces/none/pods", 200, "'items':[]"),
		GET("/api/v1/pods", 200, "'kind':'PodList'"),
		GET("/api/v1/namespaces/default/pods/a/status", 404, "pods \\'a\\' not found"),
		GET("/api/v1/namespaces/default/pods/a/log", 404, "pods \\'a\\' not found"),
		GET("/api/v1/namespaces/default/pods/a/exec", 404, "not found"),
		GET("/api/v1/namespaces/default/pods/a/exe", 404, "could not find"),
		GET(POOLS "/none/scale", 404, "not found"),
		PUT(POOLS "/none/scale", "{}", 404, "not found"),
		GET(CLAIMS "/a/scale", 404, "could not find"),
		GET(LEASES "/a/log", 404, "could not find"),
		DELETE(POOLS "/local/scale", "", 405, "MethodNotAllowed"),
		POST(POOLS "/local/status", "{}", 405, "MethodNotAllowed"),
		POST("/api/v1/namespaces/default/pods/a/log", "{}", 405, "MethodNotAllowed"),
		DELETE("/api/v1/namespaces/default/pods/a/log", "", 405, "MethodNotAllowed"),
		PATCH(LEASES, "{}", MERGE_PATCH, 405, "MethodNotAllowed"),
		PATCH(ALL_LEASES, "{}", MERGE_PATCH, 405, "MethodNotAllowed"));
}

static void test_types_that_are_wanted(void **state)
{
	(void)state;
	CHECK(POST(LEASES, "{'metadata':{'name':'a'},'spec':{}}", 201, NULL),
		ACCEPT("application/json;as=Table;v=v1", LEASES "/a", 200, "'kind':'Table'"),
		ACCEPT("APPLICATION/JSON;AS=TABLE;V=V1", LEASES "/a", 200, "'kind':'Table'"),
		ACCEPT("application/json;as=Table", LEASES "/a", 406, NULL),
		ACCEPT("application/json;as=Tables;v=v1", LEASES "/a", 406, NULL),
		ACCEPT("application/json;as=Table;v=v1beta1", LEASES "/a", 406, NULL),
		ACCEPT("application/json;as=PartialObjectMetadata;v=v2", LEASES "/a", 406,
			NULL),
		ACCEPT("application/json;as=PartialObjectMetadata;v=v1", LEASES "/a", 200,
			"'kind':'PartialObjectMetadata'"),
		ACCEPT("text/html, application/json;as=Table;v=v1, */*", LEASES "/a", 200,
			"'kind':'Table'"),
		ACCEPT("application/json;as=APIGroupDiscoveryList;v=v2", LEASES "/a", 406,
			NULL),
		ACCEPT("application/json;as=APIGroupDiscoveryList;v=v1", "/apis", 200,
			"'kind':'APIGroupList'"),
		ACCEPT("application/jso", LEASES "/a", 406, NULL),
		ACCEPT("*/*", LEASES "/a", 200, "'kind':'Lease'"),
		/* a log is text whatever is wanted */
		ACCEPT("text/plain", "/api/v1/namespaces/default/pods/a/log", 404, NULL),
		ACCEPT("text/plain", POOLS "/local/scale", 406, NULL),
		ACCEPT("application/vnd.kubernetes.protobuf", "/openapi/v2", 406,
			"only application/json is served"),
		ACCEPT("application/vnd.kubernetes.protobuf,application/json", "/openapi/v2",
			200, "swagger"));
}

/* ---- objects */

static void test_how_something_is_made(void **state)
{
	(void)state;
	CHECK(POST(LEASES "?fieldValidation=Warn", "{'metadata':{'name':'a'},'spec':{'no':1}}",
		      201, NULL),
		POST(LEASES "?fieldValidation=&dryRun=",
			"{'metadata':{'name':'b'},'spec':{'holderIdentity':'x'}}", 201, NULL),
		GET(LEASES "/b", 200, NULL),
		POST(LEASES "?fieldValidation=Strict",
			"{'metadata':{'name':'c'},'spec':{'no':1,'nor':2}}", 400,
			"unknown field \\'spec.no\\', unknown field \\'spec.nor\\'"),
		PUT(LEASES "/a?dryRun=Some", "{'metadata':{'name':'a'},'spec':{}}", 400,
			"dryRun"),
		PUT(LEASES "/b?dryRun=All",
			"{'metadata':{'name':'b'},'spec':{'holderIdentity':'y'}}", 200, "'y'"),
		GET(LEASES "/b", 200, "'x'"),
		PUT(LEASES "/b?fieldValidation=Never", "{}", 400, "fieldValidation"),
		PATCH(LEASES "/b?dryRun=Some", "{}", MERGE_PATCH, 400, "dryRun"),
		PATCH(LEASES "/b?fieldValidation=Strict", "{'spec':{'no':1}}", MERGE_PATCH, 400,
			"unknown field"),
		PATCH(LEASES "/b?fieldManager=m&fieldValidation=Strict",
			"{'metadata':{'name':'b'},'spec':{'no':1}}", APPLY_PATCH, 400,
			"unknown field"),
		/* what the server owns is not taken from a body */
		POST(LEASES,
			"{'metadata':{'name':'d','uid':'mine','generation':7,'selfLink':'/x',"
			"'managedFields':[{}],'deletionTimestamp':'2026-01-01T00:00:00Z',"
			"'deletionGracePeriodSeconds':5,'resourceVersion':'0',"
			"'creationTimestamp':'2001-01-01T00:00:00Z'},'spec':{}}",
			201, "'name':'d'"),
		POST(LEASES,
			"{'metadata':{'name':'e','namespace':'default','resourceVersion':''},"
			"'apiVersion':'coordination.k8s.io/v1','kind':'Lease','spec':{}}",
			201, "{'apiVersion':'coordination.k8s.io/v1','kind':'Lease'"),
		POST(LEASES, "{'apiVersion':'coordination.k8s.io/v2','metadata':{'name':'f'}}",
			400, "must be of type Lease"),
		POST(LEASES, "{'metadata':[]}", 400, "metadata must be an object"),
		POST(LEASES, "{'metadata':'x'}", 400, "metadata must be an object"),
		POST(LEASES, "{'spec':{}}", 422, "name or generateName is required"),
		POST(LEASES, "{'metadata':{'name':'','generateName':''}}", 422,
			"name or generateName is required"),
		POST(LEASES, "{'metadata':{'name':'','generateName':'gen-'},'spec':{}}", 201,
			"'name':'gen-"),
		POST(LEASES, "{'metadata':{'name':'own','generateName':'gen-'},'spec':{}}", 201,
			"'name':'own'"),
		POST(LEASES, "{'metadata':{'name':'a.-b'},'spec':{}}", 422, "RFC 1123"),
		POST(LEASES, "{'metadata':{'name':'g','labels':{'-':'x','l':'-'}},'spec':{}}",
			422, "is invalid: ["),
		POST(LEASES, "{'metadata':{'name':'g','labels':{'-':'x'}},'spec':{}}", 422,
			"is invalid: metadata.labels"));
	expect_without(LEASES "/d", NULL, "mine");
	expect_without(LEASES "/d", NULL, "generation");
	expect_without(LEASES "/d", NULL, "selfLink");
	expect_without(LEASES "/d", NULL, "managedFields");
	expect_without(LEASES "/d", NULL, "deletion");
	expect_without(LEASES "/d", NULL, "2001-01-01");
	expect_without(LEASES "/d", NULL, "'resourceVersion':'0'");
}

static void test_names(void **state)
{
	char body[400], name[260];
	(void)state;
	for (size_t n = 252; n <= 254; n++) {
		memset(name, 'a', n);
		name[n] = '\0';
		snprintf(body, sizeof body, "{'metadata':{'name':'%s'},'spec':{}}", name);
		struct got got = ask("POST", LEASES, body, NULL);
		assert_int_equal(got.status, n <= 253 ? 201 : 422);
		str_deinit(&got.body);
	}
	/* of a long prefix 58 letters are kept: 63 in all */
	memset(name, 'b', 70);
	name[70] = '\0';
	snprintf(body, sizeof body, "{'metadata':{'generateName':'%s'},'spec':{}}", name);
	struct got got = ask("POST", LEASES, body, NULL);
	assert_int_equal(got.status, 201);
	cJSON *tree = cJSON_Parse(got.body.p);
	const char *made = json_str(tree, "metadata", "name", NULL);
	assert_int_equal(strlen(made), 63);
	assert_int_equal(strspn(made, "b") >= 58, 1);
	assert_int_equal(strspn(made + 58, "bcdfghjklmnpqrstvwxz2456789"), 5);
	const char *uid = json_str(tree, "metadata", "uid", NULL);
	assert_int_equal(strlen(uid), 36);
	assert_int_equal(uid[14], '4');
	assert_non_null(strchr("89ab", uid[19]));
	for (size_t i = 0; i < 36; i++)
		assert_int_equal(uid[i] == '-', i == 8 || i == 13 || i == 18 || i == 23);
	cJSON_Delete(tree);
	str_deinit(&got.body);
}

/* The number of metadata.KEY, which may be a string, as it is stored. */
static int64_t number_of(const char *path, const char *key)
{
	struct got got = ask("GET", path, "", NULL);
	assert_int_equal(got.status, 200);
	cJSON *tree = cJSON_Parse(got.body.p);
	const char *text = json_str(tree, "metadata", key, NULL);
	int64_t n = text ? strtoll(text, NULL, 10) : json_int(tree, -1, "metadata", key, NULL);
	cJSON_Delete(tree);
	str_deinit(&got.body);
	return n;
}

static void test_how_something_is_changed(void **state)
{
	(void)state;
	CHECK(POST(TEMPLATES,
		"{'metadata':{'name':'t'},'spec':{'podTemplate':{'spec':{'containers':["
		"{'name':'c','image':'i'}]}}}}",
		201, "'generation':1"));
	int64_t before = number_of(TEMPLATES "/t", "resourceVersion");
	/* nothing changes: nothing is written */
	CHECK(PATCH(TEMPLATES "/t", "{}", MERGE_PATCH, 200, NULL));
	assert_int_equal(number_of(TEMPLATES "/t", "resourceVersion"), before);
	/* a label is no new generation, the spec is one */
	CHECK(PATCH(
		TEMPLATES "/t", "{'metadata':{'labels':{'a':'b'}}}", MERGE_PATCH, 200, NULL));
	assert_true(number_of(TEMPLATES "/t", "resourceVersion") > before);
	assert_int_equal(number_of(TEMPLATES "/t", "generation"), 1);
	CHECK(PATCH(TEMPLATES "/t",
		      "[{'op':'replace','path':'/spec/podTemplate/spec/containers/0/image',"
		      "'value':'j'}]",
		      JSON_PATCH, 200, "'generation':2"),
		PATCH(TEMPLATES "/t", "{'metadata':{'generation':9}}", MERGE_PATCH, 200,
			"'generation':2"),
		PATCH(TEMPLATES "/t", "{'metadata':{'uid':'other'}}", MERGE_PATCH, 409, "UID"),
		PATCH(TEMPLATES "/t", "{'metadata':{'uid':''}}", MERGE_PATCH, 200, NULL),
		PATCH(TEMPLATES "/t", "{'metadata':{'namespace':'other'}}", MERGE_PATCH, 400,
			"the namespace of the object"),
		PATCH(TEMPLATES "/t", "{'metadata':{'resourceVersion':'1'}}", MERGE_PATCH, 409,
			"has been modified"),
		PATCH(TEMPLATES "/t", "{'metadata':{'resourceVersion':null}}", MERGE_PATCH, 200,
			NULL),
		PATCH(TEMPLATES "/t", "{'kind':'Pod'}", MERGE_PATCH, 400, "must be of type"),
		PATCH(TEMPLATES "/t", "{'metadata':null}", MERGE_PATCH, 200, NULL));
	/* Leases may be written without a revision */
	CHECK(POST(LEASES, "{'metadata':{'name':'l'},'spec':{}}", 201, NULL),
		PUT(LEASES "/l", "{'spec':{'holderIdentity':'h'}}", 200, "'h'"),
		PUT(LEASES "/l", "{'metadata':'x','spec':{'holderIdentity':'i'}}", 200, "'i'"),
		PUT(LEASES "/l",
			"{'metadata':{'selfLink':'/x','managedFields':[{}],"
			"'creationTimestamp':'2001-01-01T00:00:00Z'},'spec':{}}",
			200, NULL));
	expect_without(LEASES "/l", NULL, "selfLink");
	expect_without(LEASES "/l", NULL, "managedFields");
	expect_without(LEASES "/l", NULL, "2001");
}

static void test_volumes_of_a_sandbox_stay(void **state)
{
	(void)state;
	CHECK(POST(SANDBOXES,
		      "{'metadata':{'name':'s'},'spec':{'operatingMode':'Suspended','podTemplate':"
		      "{'spec':{'containers':[{'name':'c','image':'i'}]}}}}",
		      201, NULL),
		PATCH(SANDBOXES "/s",
			"{'spec':{'volumeClaimTemplates':[{'metadata':{'name':'v'},'spec':"
			"{'accessModes':['ReadWriteOnce'],'resources':{'requests':{'storage':"
			"'1Gi'}}}}]}}",
			MERGE_PATCH, 422, "volumeClaimTemplates is immutable"));
}

/* ---- deleting */

static void test_finalizers(void **state)
{
	(void)state;
	CHECK(POST(LEASES, "{'metadata':{'name':'a','finalizers':['x/y','x/z']},'spec':{}}",
		      201, NULL),
		POST(LEASES, "{'metadata':{'name':'b','finalizers':['-']},'spec':{}}", 422,
			"finalizers"),
		DELETE(LEASES "/a", "{'gracePeriodSeconds':7}", 200,
			"'deletionGracePeriodSeconds':7"),
		/* a second one changes nothing */
		DELETE(LEASES "/a?gracePeriodSeconds=9", "", 200,
			"'deletionGracePeriodSeconds':7"),
		POST(LEASES, "{'metadata':{'name':'a'},'spec':{}}", 409,
			"object is being deleted"),
		PATCH(LEASES "/a", "{'metadata':{'finalizers':['x/z']}}", MERGE_PATCH, 200,
			"'deletionTimestamp'"),
		PATCH(LEASES "/a?dryRun=All", "{'metadata':{'finalizers':null}}", MERGE_PATCH,
			200, NULL),
		GET(LEASES "/a", 200, "x/z"),
		PATCH(LEASES "/a", "{'metadata':{'finalizers':[]}}", MERGE_PATCH, 200, NULL),
		GET(LEASES "/a", 404, NULL),
		/* what is not being deleted stays without its finalizers */
		POST(LEASES, "{'metadata':{'name':'c','finalizers':['x/y']},'spec':{}}", 201,
			NULL),
		PATCH(LEASES "/c", "{'metadata':{'finalizers':null}}", MERGE_PATCH, 200, NULL),
		GET(LEASES "/c", 200, NULL));
}

static void test_options_of_a_delete(void **state)
{
	(void)state;
	CHECK(POST(LEASES, "{'metadata':{'name':'a','finalizers':['x/y']},'spec':{}}", 201,
		      NULL),
		DELETE(LEASES "/a?gracePeriodSeconds=x", "", 400, "gracePeriodSeconds"),
		DELETE(LEASES "/a?gracePeriodSeconds=2147483648", "", 400,
			"gracePeriodSeconds"),
		DELETE(LEASES "/a?propagationPolicy=Never", "", 422, "propagationPolicy"),
		/* the body goes before the query */
		DELETE(LEASES "/a?propagationPolicy=Never",
			"{'propagationPolicy':'Background','dryRun':['All']}", 200, NULL),
		DELETE(LEASES "/a?dryRun=All", "{'gracePeriodSeconds':3}", 200, NULL),
		DELETE(LEASES "/a?propagationPolicy=Foreground&gracePeriodSeconds=2147483647",
			"{'gracePeriodSeconds':4}", 200, "'deletionGracePeriodSeconds':4"),
		GET(LEASES "/a", 200, "'x/y'"),
		POST(LEASES, "{'metadata':{'name':'b'},'spec':{}}", 201, NULL),
		DELETE(LEASES "/b?gracePeriodSeconds=0", "", 200,
			"'details':{'name':'b','group':'coordination.k8s.io','kind':'leases',"
			"'uid':'"),
		GET(LEASES "/b", 404, NULL));
	/* preconditions that hold */
	CHECK(POST(LEASES, "{'metadata':{'name':'c'},'spec':{}}", 201, NULL));
	char body[200], revision[32], uid[64];
	struct got got = ask("GET", LEASES "/c", "", NULL);
	cJSON *tree = cJSON_Parse(got.body.p);
	snprintf(revision, sizeof revision, "%s",
		json_str(tree, "metadata", "resourceVersion", NULL));
	snprintf(uid, sizeof uid, "%s", json_str(tree, "metadata", "uid", NULL));
	cJSON_Delete(tree);
	str_deinit(&got.body);
	snprintf(
		body, sizeof body, "{'preconditions':{'uid':'%s','resourceVersion':'x'}}", uid);
	got = ask("DELETE", LEASES "/c", body, NULL);
	assert_int_equal(got.status, 409);
	str_deinit(&got.body);
	snprintf(body, sizeof body, "{'preconditions':{'uid':'%s','resourceVersion':'%s'}}",
		uid, revision);
	got = ask("DELETE", LEASES "/c", body, NULL);
	assert_int_equal(got.status, 200);
	str_deinit(&got.body);
	CHECK(GET(LEASES "/c", 404, NULL));
}

static void test_collections_are_deleted(void **state)
{
	(void)state;
	CHECK(POST(LEASES, "{'metadata':{'name':'a','labels':{'l':'1'}},'spec':{}}", 201, NULL),
		POST(LEASES, "{'metadata':{'name':'b'},'spec':{}}", 201, NULL),
		DELETE(LEASES, "{", 400, "cannot be read"),
		DELETE(LEASES "?propagationPolicy=Never", "", 422, "propagationPolicy"),
		DELETE(LEASES "?dryRun=All", "", 200, "'status':'Success'"),
		DELETE(LEASES "?fieldSelector=no%3Dx", "", 400, NULL),
		GET(LEASES "/a", 200, NULL), GET(LEASES "/b", 200, NULL),
		DELETE(LEASES "?fieldSelector=metadata.name%3Db", "", 200, NULL),
		GET(LEASES "/a", 200, NULL), GET(LEASES "/b", 404, NULL),
		DELETE("/api/v1/namespaces", "", 403, "may not be deleted"));
}

static void test_a_namespace_comes_and_goes(void **state)
{
	(void)state;
	CHECK(POST("/api/v1/namespaces", "{'metadata':{'name':'n'},'status':{'phase':'Odd'}}",
		      201, "'phase':'Active'"),
		POST("/api/v1/namespaces", "{'metadata':{'name':'n'}}", 409, "AlreadyExists"),
		POST("/apis/coordination.k8s.io/v1/namespaces/n/leases",
			"{'metadata':{'name':'l','finalizers':['x/y']},'spec':{}}", 201,
			"'namespace':'n'"),
		DELETE("/api/v1/namespaces/n?dryRun=All", "", 200, NULL),
		DELETE("/api/v1/namespaces/n", "", 200, "'phase':'Terminating'"),
		POST("/apis/coordination.k8s.io/v1/namespaces/n/leases",
			"{'metadata':{'name':'m'},'spec':{}}", 403, "NamespaceTerminating"));
	/* its content is deleted too, and holds it */
	const struct store_object *lease = NULL;
	TURN_UNTIL(loop, (lease = store_get(backend->store, KIND_LEASE, "n", "l")) != NULL &&
				 json_str(lease->json, "metadata", "deletionTimestamp", NULL));
	CHECK(GET("/api/v1/namespaces/n", 200, "'phase':'Terminating'"),
		PUT("/apis/coordination.k8s.io/v1/namespaces/n/leases/l",
			"{'metadata':{'name':'l'},'spec':{}}", 200, NULL),
		GET("/apis/coordination.k8s.io/v1/namespaces/n/leases/l", 404, NULL));
	TURN_UNTIL(loop, store_get(backend->store, KIND_NAMESPACE, "", "n") == NULL);
	CHECK(GET("/api/v1/namespaces/n", 404, NULL));
}

/* ---- one event, two forms */

static void test_events(void **state)
{
	(void)state;
	CHECK(POST(NEW_EVENTS,
		      "{'metadata':{'name':'e'},'eventTime':'2026-01-01T00:00:00.000000Z',"
		      "'reportingController':'c','reportingInstance':'i','action':'a','reason':"
		      "'r','regarding':{'kind':'Pod','name':'p'},'note':'words','type':'Normal',"
		      "'deprecatedCount':3}",
		      201, "'apiVersion':'events.k8s.io/v1','kind':'Event'"),
		GET(NEW_EVENTS "/e", 200, "'note':'words'"),
		GET(NEW_EVENTS "/e", 200, "'regarding':{'kind':'Pod','name':'p'}"),
		GET(EVENTS "/e", 200, "'apiVersion':'v1','kind':'Event'"),
		GET(EVENTS "/e", 200, "'involvedObject':{'kind':'Pod','name':'p'}"),
		GET(EVENTS "/e", 200, "'message':'words'"), GET(EVENTS "/e", 200, "'count':3"),
		GET(EVENTS "/e", 200, "'reportingComponent':'c'"),
		GET(NEW_EVENTS, 200, "{'kind':'EventList','apiVersion':'events.k8s.io/v1'"),
		GET(NEW_EVENTS, 200, "'note':'words'"),
		GET(EVENTS, 200, "{'kind':'EventList','apiVersion':'v1'"),
		PATCH(NEW_EVENTS "/e", "{'note':'others'}", MERGE_PATCH, 200,
			"'note':'others'"),
		GET(EVENTS "/e", 200, "'message':'others'"),
		PATCH(EVENTS "/e", "{'message':'third'}", MERGE_PATCH, 200,
			"'message':'third'"),
		GET(NEW_EVENTS "/e", 200, "'note':'third'"),
		PUT(NEW_EVENTS "/e",
			"{'apiVersion':'events.k8s.io/v1','kind':'Event','metadata':{'name':'e'},"
			"'regarding':{'kind':'Pod','name':'q'},'note':'fourth'}",
			200, "'note':'fourth'"),
		GET(EVENTS "/e", 200, "'name':'q'"),
		PATCH(NEW_EVENTS "/e?fieldManager=m", "{'note':'x'}", APPLY_PATCH, 400,
			"events cannot be applied"),
		GET(NEW_EVENTS "?fieldSelector=regarding.name%3Dq", 200, "'fourth'"),
		GET(EVENTS "?fieldSelector=involvedObject.name%3Dq", 200, "'fourth'"),
		GET(EVENTS "?fieldSelector=involvedObject.name%3Dp", 200, "'items':[]"),
		ACCEPT("application/json;as=Table;v=v1;g=meta.k8s.io", NEW_EVENTS, 200,
			"'pod/q'"),
		ACCEPT("application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io",
			NEW_EVENTS "/e", 200, "'kind':'PartialObjectMetadata'"),
		DELETE(NEW_EVENTS "/e", "", 200,
			"'details':{'name':'e','group':'events.k8s.io','kind':'events'"),
		GET(EVENTS "/e", 404, "events \\'e\\' not found"));
	expect_without(NEW_EVENTS, NULL, "message");
}

/* ---- scale */

static void test_scales(void **state)
{
	(void)state;
	CHECK(GET(POOLS "/local/scale", 200, "{'kind':'Scale','apiVersion':'autoscaling/v1'"),
		GET(POOLS "/local/scale", 200,
			"'metadata':{'name':'local','namespace':'default'"),
		GET(POOLS "/local/scale", 200, "'spec':{'replicas':0},'status':{'replicas':0"),
		PUT(POOLS "/local/scale", "", 400, "is empty"),
		PUT(POOLS "/local/scale?dryRun=Some", "{'spec':{'replicas':0}}", 400, "dryRun"),
		PUT(POOLS "/local/scale", "{'spec':{'replicas':-1}}", 422, "is invalid"),
		PUT(POOLS "/local/scale", "{'spec':{'replicas':'x'}}", 422, "is invalid"),
		PUT(POOLS "/local/scale",
			"{'metadata':{'resourceVersion':'1'},'spec':{'replicas':0}}", 409,
			"has been modified"),
		PATCH(POOLS "/local/scale", "{'metadata':{'resourceVersion':'1'}}", MERGE_PATCH,
			409, "has been modified"),
		PATCH(POOLS "/local/scale?dryRun=All", "{'spec':{'replicas':3}}", MERGE_PATCH,
			200, "'spec':{'replicas':3}"),
		GET(POOLS "/local/scale", 200, "'spec':{'replicas':0}"),
		PATCH(POOLS "/local/scale", "{", MERGE_PATCH, 400, "cannot be read"),
		PATCH(POOLS "/local/scale", "{}", "application/strategic-merge-patch+json", 415,
			"accepted media types"));
}

/* ---- reviews and discovery */

static void test_reviews_in_full(void **state)
{
	(void)state;
	CHECK(POST("/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
		      "{'spec':{'resourceAttributes':{'verb':'get'}}}", 201,
		      "{'kind':'SelfSubjectAccessReview','apiVersion':'authorization.k8s.io/v1',"
		      "'metadata':{'creationTimestamp':null},'spec':{'resourceAttributes':{'verb':"
		      "'get'}},'status':{'allowed':true"),
		POST("/apis/authorization.k8s.io/v1/selfsubjectrulesreviews", "{}", 201,
			"{'kind':'SelfSubjectRulesReview','apiVersion':'authorization.k8s.io/v1',"
			"'metadata':{'creationTimestamp':null},'spec':{},'status':{'resourceRules':"
			"[{'verbs':['*'],'apiGroups':['*'],'resources':['*']}],'nonResourceRules':"
			"[{'verbs':['*'],'nonResourceURLs':['*']}],'incomplete':false}}"),
		POST("/apis/authentication.k8s.io/v1/selfsubjectreviews", "{'spec':{'x':1}}",
			201,
			"{'kind':'SelfSubjectReview','apiVersion':'authentication.k8s.io/v1',"
			"'metadata':{'creationTimestamp':null},'status':{'userInfo':{'username':"
			"'sandmux-local','groups':['system:masters','system:authenticated']}}}"),
		POST("/apis/authentication.k8s.io/v1/selfsubjectreviews", "", 400, "is empty"),
		BODY("/apis/authentication.k8s.io/v1/selfsubjectreviews", "k8s",
			"application/vnd.kubernetes.protobuf", 400,
			"not a Kubernetes protobuf"),
		BODY("/apis/authentication.k8s.io/v1/selfsubjectreviews", "k8sx",
			"application/vnd.kubernetes.protobuf", 400,
			"not a Kubernetes protobuf"),
		POST("/apis/authorization.k8s.io/v1/selfsubjectreviews", "{}", 404, NULL),
		POST("/apis/authorization.k8s.io/v2/selfsubjectaccessreviews", "{}", 404, NULL),
		POST("/apis/authorization.k8s.io/v1/subjectaccessreviews", "{}", 404, NULL),
		DELETE("/apis/authorization.k8s.io/v1/selfsubjectrulesreviews", "", 405, NULL));
	/* the least that is a protobuf message of Kubernetes */
	struct got got;
	char authorization[200];
	snprintf(authorization, sizeof authorization, "Bearer %s", backend->token);
	struct net_http_header headers[] = { { "Authorization", authorization },
		{ "Content-Type", "application/vnd.kubernetes.protobuf" } };
	got_init(&got);
	got_start(&got, http,
		(struct net_http_opts){ .method = "POST",
			.url = url_to("/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"),
			.body = { "k8s\0", 4 },
			.headers = headers,
			.n_headers = 2,
			.tls = tls,
			.timeout_ms = 8000 });
	TURN_UNTIL(loop, got.done);
	assert_int_equal(got.status, 201);
	assert_non_null(strstr(got.body.p, "\"allowed\":true"));
	str_deinit(&got.body);
}

#define AGGREGATED "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"

static void test_discovery_in_full(void **state)
{
	(void)state;
	CHECK(GET("/api", 200,
		      "{'kind':'APIVersions','versions':['v1'],'serverAddressByClientCIDRs':[{"
		      "'clientCIDR':'0.0.0.0/0','serverAddress':'127.0.0.1:"),
		GET("/apis/coordination.k8s.io", 200,
			"{'name':'coordination.k8s.io','versions':[{'groupVersion':"
			"'coordination.k8s.io/v1','version':'v1'}],'preferredVersion':{"
			"'groupVersion':'coordination.k8s.io/v1','version':'v1'},'kind':'APIGroup',"
			"'apiVersion':'v1'}"),
		GET("/apis/authentication.k8s.io", 200, "'authentication.k8s.io/v1'"),
		GET("/apis/coordination.k8s.io/v1", 200,
			"{'kind':'APIResourceList','apiVersion':'v1','groupVersion':"
			"'coordination.k8s.io/v1','resources':[{'name':'leases','singularName':"
			"'lease','namespaced':true,'kind':'Lease','verbs':['create','delete',"
			"'deletecollection','get','list','patch','update','watch']}]}"),
		GET("/api/v1", 200, "'groupVersion':'v1'"),
		GET("/api/v1", 200,
			"{'name':'pods/log','singularName':'','namespaced':true,'kind':'Pod',"
			"'verbs':['get']},{'name':'pods/portforward','singularName':'',"
			"'namespaced':true,'kind':'PodPortForwardOptions',"
			"'verbs':['create','get']},{'name':'pods/status'"),
		GET("/api/v1", 200,
			"'name':'namespaces','singularName':'namespace','namespaced':false"),
		GET("/api/v1", 200, "'shortNames':['po'],'categories':['all']"),
		GET("/apis/extensions.agents.x-k8s.io/v1beta1", 200,
			"{'name':'sandboxwarmpools/status','singularName':'','namespaced':true,"
			"'kind':'SandboxWarmPool','verbs':['get','patch','update']},{'name':"
			"'sandboxwarmpools/scale','singularName':'','namespaced':true,'group':"
			"'autoscaling','version':'v1','kind':'Scale','verbs':['get','patch',"
			"'update']}"),
		GET("/apis/authorization.k8s.io/v1", 200,
			"'resources':[{'name':'selfsubjectaccessreviews','singularName':'',"
			"'namespaced':false,'kind':'SelfSubjectAccessReview','verbs':['create']},"
			"{'name':'selfsubjectrulesreviews'"),
		GET("/apis/authorization.k8s.io/v2", 404, NULL),
		GET("/apis/events.k8s.io/v1", 200, "'name':'events'"),
		ACCEPT(AGGREGATED, "/api", 200,
			"{'kind':'APIGroupDiscoveryList','apiVersion':'apidiscovery.k8s.io/v2',"
			"'metadata':{},'items':[{'metadata':{'creationTimestamp':null},'versions':[{"
			"'version':'v1','resources':[{'resource':'namespaces','responseKind':{"
			"'group':'','version':'v1','kind':'Namespace'},'scope':'Cluster'"),
		ACCEPT(AGGREGATED, "/api", 200,
			"{'subresource':'log','responseKind':{'group':'','version':'v1','kind':"
			"'Pod'},'verbs':['get']}"),
		ACCEPT(AGGREGATED, "/apis", 200,
			"'items':[{'metadata':{'name':'agents.x-k8s.io','creationTimestamp':null}"),
		ACCEPT(AGGREGATED, "/apis", 200,
			"{'resource':'selfsubjectreviews','responseKind':{'group':"
			"'authentication.k8s.io','version':'v1','kind':'SelfSubjectReview'},'scope':"
			"'Cluster','singularResource':'','verbs':['create']}],'freshness':'Current'}"),
		ACCEPT(AGGREGATED, "/apis", 200,
			"{'subresource':'scale','responseKind':{'group':'autoscaling','version':'v1',"
			"'kind':'Scale'},'verbs':['get','patch','update']}"));
	expect_without("/apis", NULL, "\"name\":\"\"");
	expect_without("/apis/coordination.k8s.io/v1", NULL, "selfsubject");
	expect_without("/api", AGGREGATED, "agents.x-k8s.io");
	expect_without("/apis", AGGREGATED, "\"namespaces\"");
	/* each group once */
	struct got got = ask("GET", "/apis", "", NULL);
	cJSON *tree = cJSON_Parse(got.body.p);
	assert_int_equal(cJSON_GetArraySize(json_get(tree, "groups", NULL)), 8);
	cJSON_Delete(tree);
	str_deinit(&got.body);
}

static void test_openapi_in_full(void **state)
{
	static const char *const paths[] = {
		"/apis/coordination.k8s.io/v1/namespaces/{namespace}/leases",
		"/apis/coordination.k8s.io/v1/namespaces/{namespace}/leases/{name}"
	};
	static const struct {
		int path;
		const char *action;
		int n_parameters;
	} rows[] = { { 0, "get", 0 }, { 0, "post", 3 }, { 0, "delete", 0 }, { 1, "get", 0 },
		{ 1, "put", 3 }, { 1, "patch", 3 }, { 1, "delete", 0 } };
	static const char *const documents[] = { "/openapi/v3/apis/coordination.k8s.io/v1",
		"/openapi/v2" };
	(void)state;
	for (size_t d = 0; d < COUNT(documents); d++) {
		struct got got = ask("GET", documents[d], "", NULL);
		assert_int_equal(got.status, 200);
		cJSON *tree = cJSON_Parse(got.body.p);
		for (size_t i = 0; i < COUNT(rows); i++) {
			const cJSON *item = json_get(tree, "paths", paths[rows[i].path], NULL);
			assert_int_equal(cJSON_GetArraySize(item), rows[i].path == 0 ? 3 : 4);
			const cJSON *action = json_get(item, rows[i].action, NULL);
			assert_int_equal(
				cJSON_GetArraySize(json_get(action, "parameters", NULL)),
				rows[i].n_parameters);
			assert_string_equal(
				json_str(action, "x-kubernetes-action", NULL), rows[i].action);
			const cJSON *ok = json_get(action, "responses", "200", NULL);
			const char *ref = d == 0 ? json_str(ok, "content", "application/json",
							   "schema", "$ref", NULL)
						 : json_str(ok, "schema", "$ref", NULL);
			assert_string_equal(ref,
				d == 0 ? "#/components/schemas/Lease" : "#/definitions/Lease");
		}
		/* whatever is referred to is there */
		const char *mark = d == 0 ? "\"#/components/schemas/" : "\"#/definitions/";
		const cJSON *all = d == 0 ? json_get(tree, "components", "schemas", NULL)
					  : json_get(tree, "definitions", NULL);
		size_t n_refs = 0;
		for (const char *p = got.body.p; (p = strstr(p, mark)) != NULL; n_refs++) {
			char name[100];
			p += strlen(mark);
			snprintf(name, sizeof name, "%.*s", (int)strcspn(p, "\""), p);
			if (json_get(all, name, NULL) == NULL)
				fail_msg("%s", name);
		}
		assert_true(n_refs > 7);
		cJSON_Delete(tree);
		str_deinit(&got.body);
	}
	expect_without("/openapi/v2", NULL, "components/schemas");
	expect_without("/openapi/v3/apis/coordination.k8s.io/v1", NULL, "/pods");
	CHECK(GET("/openapi/v3", 200,
		      "'apis/coordination.k8s.io/v1':{'serverRelativeURL':'/openapi/v3/apis/"
		      "coordination.k8s.io/v1?hash="),
		GET("/openapi/v3", 200,
			"'api/v1':{'serverRelativeURL':'/openapi/v3/api/v1?hash="),
		GET("/openapi/v3/api/v1", 200, "'/api/v1/namespaces/{name}'"),
		GET("/openapi/v3/api/v1", 200, "'/api/v1/namespaces/{namespace}/pods/{name}'"));
}

/* ---- headers */

struct headers {
	bool is_done;
	int status;
	char type[100], warning[1100], retry[20];
	struct str body;
};

static void on_headers(
	void *arg, const struct err *err, const struct net_http_reply *reply, struct slice body)
{
	struct headers *got = arg;
	got->is_done = true;
	if (err != NULL || reply == NULL)
		return;
	const char *type = net_http_reply_header(reply, "Content-Type");
	const char *warning = net_http_reply_header(reply, "Warning");
	const char *retry = net_http_reply_header(reply, "Retry-After");
	got->status = reply->status;
	snprintf(got->type, sizeof got->type, "%s", type ? type : "");
	snprintf(got->warning, sizeof got->warning, "%s", warning ? warning : "");
	snprintf(got->retry, sizeof got->retry, "%s", retry ? retry : "");
	str_add_bytes(&got->body, body.p, body.n);
}

static struct headers ask_for_headers(const char *path, const char *body, const char *agent)
{
	struct headers got = { .status = 0 };
	struct err err = { 0 };
	char authorization[200];
	snprintf(authorization, sizeof authorization, "bearer   %s", backend->token);
	struct net_http_header headers[] = { { "Authorization", authorization },
		{ "Content-Type", "application/json" }, { "User-Agent", agent } };
	str_init(&got.body, 1 << 20);
	const struct net_http_opts opts = { .method = *body ? "POST" : "GET",
		.url = url_to(path),
		.body = slice_of(body),
		.headers = headers,
		.n_headers = COUNT(headers),
		.tls = tls,
		.timeout_ms = 8000,
		.done = on_headers,
		.arg = &got };
	assert_non_null(net_http_start(http, &opts, &err));
	TURN_UNTIL(loop, got.is_done);
	return got;
}

static void test_headers(void **state)
{
	(void)state;
	struct headers got = ask_for_headers(
		LEASES, "{\"metadata\":{\"name\":\"a\"},\"spec\":{\"q\\\"\\\\\\n\":1}}", "t");
	assert_int_equal(got.status, 201);
	assert_string_equal(got.type, "application/json");
	assert_string_equal(got.warning, "299 - \"unknown field \\\"spec.q\\\"\\\\ \\\"\"");
	str_deinit(&got.body);
	got = ask_for_headers("/healthz", "", "t");
	assert_string_equal(got.type, "text/plain; charset=utf-8");
	assert_string_equal(got.retry, "");
	assert_string_equal(got.warning, "");
	str_deinit(&got.body);
	got = ask_for_headers(LEASES "?resourceVersion=999999", "", "t");
	assert_int_equal(got.status, 504);
	assert_string_equal(got.retry, "1");
	str_deinit(&got.body);
}

static void test_names_of_this_machine(void **state)
{
	static const char *const ours[] = { "127.0.0.1", "127.0.0.1:6443", "localhost",
		"LocalHost:1", "[::1]", "[::1]:6443" };
	static const char *const others[] = { "", "127.0.0.2", "127.0.0.10",
		"127.0.0.1.example", "localhost.example", "localhosts", "local", "::1", "[::2]",
		"example", "example:127.0.0.1" };
	(void)state;
	assert_true(api_guard_is_host(NULL));
	for (size_t i = 0; i < COUNT(ours); i++)
		if (!api_guard_is_host(ours[i]))
			fail_msg("%s", ours[i]);
	for (size_t i = 0; i < COUNT(others); i++)
		if (api_guard_is_host(others[i]))
			fail_msg("%s", others[i]);
}

/* For people's tools, unless they say otherwise. */
static void test_pretty(void **state)
{
	static const struct {
		const char *path, *agent;
		bool is_pretty;
	} rows[] = { { "/version", "t", false }, { "/version", "curl/8", true },
		{ "/version", "Wget/1", true }, { "/version", "curl", false },
		{ "/version?pretty=true", "t", true }, { "/version?pretty=1", "t", true },
		{ "/version?pretty=yes", "t", false },
		{ "/version?pretty=false", "curl/8", false },
		{ "/version?pretty=0", "curl/8", false } };
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct headers got = ask_for_headers(rows[i].path, "", rows[i].agent);
		assert_int_equal(got.status, 200);
		if ((strncmp(got.body.p, "{\n\t", 3) == 0) != rows[i].is_pretty)
			fail_msg("%s for %s: %s", rows[i].path, rows[i].agent, got.body.p);
		str_deinit(&got.body);
	}
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_bodies),
		TEST(test_paths),
		TEST(test_types_that_are_wanted),
		TEST(test_how_something_is_made),
		TEST(test_names),
		TEST(test_how_something_is_changed),
		TEST(test_volumes_of_a_sandbox_stay),
		TEST(test_finalizers),
		TEST(test_options_of_a_delete),
		TEST(test_collections_are_deleted),
		TEST(test_a_namespace_comes_and_goes),
		TEST(test_events),
		TEST(test_scales),
		TEST(test_reviews_in_full),
		TEST(test_discovery_in_full),
		TEST(test_openapi_in_full),
		TEST(test_headers),
		cmocka_unit_test(test_names_of_this_machine),
		TEST(test_pretty),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
