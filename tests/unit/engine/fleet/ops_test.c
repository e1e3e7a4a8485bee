// SPDX-License-Identifier: Apache-2.0
/* The operations against a scripted API server that also plays the controller: it keeps one claim and one Sandbox and
 * tells the watches. */
#include "tests/unit/engine/kube/api.h"

#include "engine/fleet/fleet.h"
#include "engine/telemetry/span.h"

#define CLAIMS "/apis/extensions.agents.x-k8s.io/v1beta1/namespaces/demo/sandboxclaims"
#define SANDBOXES "/apis/agents.x-k8s.io/v1beta1/namespaces/demo/sandboxes"
#define POOLS "/apis/extensions.agents.x-k8s.io/v1beta1/namespaces/demo/sandboxwarmpools/"
#define TEMPLATES "/apis/extensions.agents.x-k8s.io/v1beta1/namespaces/demo/sandboxtemplates/"
#define CLAIM_UID "11111111-0000-4000-8000-00000000000"
#define SANDBOX_UID "22222222-0000-4000-8000-000000000001"

struct test {
	struct api api;
	struct telemetry *telemetry;
	struct fleet *fleet;
	/* the cluster */
	cJSON *claim, *sandbox;
	int revision, made;
	struct evhttp_request *claim_watch, *sandbox_watch;
	/* how it behaves */
	bool lazy;
	bool make_ready;                  /* the controller does its work at once */
	const char *claim_reason;         /* of a Ready False that it sets instead */
	int lose_posts;                   /* the claim is made, the answer is lost */
	int refuse_posts;                 /* not made, and the answer is lost */
	struct evhttp_request *late_post; /* its answer waits in late_text */
	char *late_text;
	bool answers_late;
	int fail_deletes;
	int conflict_patches;
	const char *quota;
	const char *pool, *template_; /* the names of those that there are */
	/* what came */
	bool is_done;
	struct err err;
	char name[64];
	char uid[FLEET_UID_BYTES];
	enum fleet_state state;
	char stages[1024];
};

/* ---- the cluster */

static void tell(struct evhttp_request *watch, const char *type, const cJSON *object)
{
	if (watch == NULL)
		return;
	char *text = cJSON_PrintUnformatted(object);
	char *line = x_asprintf("{\"type\":\"%s\",\"object\":%s}\n", type, text);
	api_send(watch, line);
	free(line);
	free(text);
}

static void set(cJSON *object, const char *key, cJSON *value)
{
	cJSON_DeleteItemFromObjectCaseSensitive(object, key);
	cJSON_AddItemToObject(object, key, value);
}

static void bump(struct test *t, cJSON *object)
{
	char number[16];
	snprintf(number, sizeof number, "%d", ++t->revision);
	set(cJSON_GetObjectItem(object, "metadata"), "resourceVersion",
		cJSON_CreateString(number));
}

static cJSON *conditions(
	const char *type, const char *status, const char *reason, int generation)
{
	cJSON *list = cJSON_CreateArray(), *condition = cJSON_CreateObject();
	cJSON_AddStringToObject(condition, "type", type);
	cJSON_AddStringToObject(condition, "status", status);
	cJSON_AddStringToObject(condition, "reason", reason);
	cJSON_AddStringToObject(condition, "message", "said so");
	cJSON_AddNumberToObject(condition, "observedGeneration", generation);
	cJSON_AddItemToArray(list, condition);
	return list;
}

static void claim_changed(struct test *t, const char *type)
{
	bump(t, t->claim);
	tell(t->claim_watch, type, t->claim);
}

static void reconcile(struct test *t)
{
	cJSON *status = cJSON_CreateObject();
	if (t->claim_reason != NULL) {
		cJSON_AddItemToObject(
			status, "conditions", conditions("Ready", "False", t->claim_reason, 1));
		set(t->claim, "status", status);
		claim_changed(t, "MODIFIED");
		return;
	}
	cJSON_AddStringToObject(cJSON_AddObjectToObject(status, "sandbox"), "name", "s1");
	cJSON_AddItemToObject(
		status, "conditions", conditions("Ready", "True", "DependenciesReady", 1));
	set(t->claim, "status", status);
	t->sandbox = cJSON_Parse(
		"{\"metadata\":{\"name\":\"s1\",\"namespace\":\"demo\",\"uid\":\"" SANDBOX_UID
		"\",\"generation\":1,\"labels\":{}},\"spec\":{\"operatingMode\":\"Running\"},"
		"\"status\":{\"podIPs\":[\"10.1.1.1\"]}}");
	cJSON_AddStringToObject(
		cJSON_GetObjectItem(cJSON_GetObjectItem(t->sandbox, "metadata"), "labels"),
		"agents.x-k8s.io/claim-uid", json_str(t->claim, "metadata", "uid", NULL));
	set(cJSON_GetObjectItem(t->sandbox, "status"), "conditions",
		conditions("Ready", "True", "DependenciesReady", 1));
	bump(t, t->sandbox);
	tell(t->sandbox_watch, "ADDED", t->sandbox);
	claim_changed(t, "MODIFIED");
}

static void remove_claim(struct test *t)
{
	claim_changed(t, "DELETED");
	cJSON_Delete(t->claim);
	t->claim = NULL;
	if (t->sandbox != NULL) {
		bump(t, t->sandbox);
		tell(t->sandbox_watch, "DELETED", t->sandbox);
		cJSON_Delete(t->sandbox);
		t->sandbox = NULL;
	}
}

static void make_claim(struct test *t, const char *body)
{
	t->claim = cJSON_Parse(body);
	assert_non_null(t->claim);
	cJSON *metadata = cJSON_GetObjectItem(t->claim, "metadata");
	char uid[64];
	snprintf(uid, sizeof uid, CLAIM_UID "%d", ++t->made);
	cJSON_AddStringToObject(metadata, "uid", uid);
	cJSON_AddStringToObject(metadata, "creationTimestamp", "2026-01-01T00:00:00Z");
	if (json_str(metadata, "name", NULL) == NULL)
		cJSON_AddStringToObject(metadata, "name", "sandbox-claim-xxxxx");
	claim_changed(t, "ADDED");
}

static void serve_post(
	struct test *t, struct evhttp_request *request, const struct api_request *is)
{
	cJSON *body = cJSON_Parse(is->body);
	const char *name = json_str(body, "metadata", "name", NULL);
	bool exists = t->claim != NULL && name != NULL &&
		      strcmp(name, json_str(t->claim, "metadata", "name", NULL)) == 0;
	cJSON_Delete(body);
	if (t->quota != NULL) {
		api_status(request, 403, "Forbidden", t->quota);
	} else if (exists) {
		api_status(request, 409, "AlreadyExists", "it already exists");
	} else if (t->refuse_posts > 0) {
		t->refuse_posts--;
		api_cut(request);
	} else {
		make_claim(t, is->body);
		if (t->lose_posts > 0) {
			t->lose_posts--;
			api_cut(request);
		} else if (t->answers_late) {
			t->late_post = request;
			t->late_text = cJSON_PrintUnformatted(t->claim);
		} else {
			char *text = cJSON_PrintUnformatted(t->claim);
			api_reply(request, 201, "%s", text);
			free(text);
		}
		if (t->make_ready || t->claim_reason)
			reconcile(t);
	}
}

static void serve_object(struct evhttp_request *request, const cJSON *object)
{
	if (object == NULL) {
		api_status(request, 404, "NotFound", "not found");
		return;
	}
	char *text = cJSON_PrintUnformatted(object);
	api_reply(request, 200, "%s", text);
	free(text);
}

static void serve_delete(
	struct test *t, struct evhttp_request *request, const struct api_request *is)
{
	cJSON *body = cJSON_Parse(is->body);
	const char *uid = json_str(body, "preconditions", "uid", NULL);
	assert_non_null(uid);
	if (t->fail_deletes > 0) {
		t->fail_deletes--;
		api_status(request, 500, "InternalError", "no");
	} else if (t->claim == NULL) {
		api_status(request, 404, "NotFound", "not found");
	} else if (strcmp(uid, json_str(t->claim, "metadata", "uid", NULL)) != 0) {
		api_status(request, 409, "Conflict", "the UID in the precondition");
	} else {
		remove_claim(t);
		api_reply(request, 200, "{\"kind\":\"Status\",\"status\":\"Success\"}");
	}
	cJSON_Delete(body);
}

static void serve_patch(
	struct test *t, struct evhttp_request *request, const struct api_request *is)
{
	cJSON *patch = cJSON_Parse(is->body);
	const char *mode = json_str(patch, "spec", "operatingMode", NULL);
	const char *time = json_str(patch, "spec", "lifecycle", "shutdownTime", NULL);
	if (t->conflict_patches > 0) {
		t->conflict_patches--;
		api_status(request, 409, "Conflict", "the object has been modified");
	} else if (mode != NULL) {
		bool suspended = strcmp(mode, "Suspended") == 0;
		assert_string_equal(SANDBOX_UID, json_str(patch, "metadata", "uid", NULL));
		set(cJSON_GetObjectItem(t->sandbox, "spec"), "operatingMode",
			cJSON_CreateString(mode));
		set(cJSON_GetObjectItem(t->sandbox, "metadata"), "generation",
			cJSON_CreateNumber(suspended ? 2 : 3));
		bump(t, t->sandbox);
		serve_object(request, t->sandbox);
		/* the controller follows */
		set(cJSON_GetObjectItem(t->sandbox, "status"), "conditions",
			suspended ? conditions("Suspended", "True", "PodTerminated", 2)
				  : conditions("Ready", "True", "DependenciesReady", 3));
		bump(t, t->sandbox);
		tell(t->sandbox_watch, "MODIFIED", t->sandbox);
	} else {
		assert_non_null(time);
		assert_string_equal(json_str(t->claim, "metadata", "resourceVersion", NULL),
			json_str(patch, "metadata", "resourceVersion", NULL));
		if (json_get(t->claim, "spec", "lifecycle", NULL) == NULL)
			cJSON_AddObjectToObject(
				cJSON_GetObjectItem(t->claim, "spec"), "lifecycle");
		set(cJSON_GetObjectItem(cJSON_GetObjectItem(t->claim, "spec"), "lifecycle"),
			"shutdownTime", cJSON_CreateString(time));
		claim_changed(t, "MODIFIED");
		serve_object(request, t->claim);
	}
	cJSON_Delete(patch);
}

static void on_watch_closed(struct evhttp_connection *connection, void *arg)
{
	struct evhttp_request **slot = arg;
	(void)connection;
	if (*slot != NULL)
		evhttp_request_free(*slot);
	*slot = NULL;
}

static void serve_list(struct test *t, struct evhttp_request *request,
	const struct api_request *is, const cJSON *object)
{
	const char *labels = api_query(is, "labelSelector");
	if (object != NULL && labels != NULL &&
		strncmp(labels, "sandmux/request-id=", 19) == 0 &&
		strcmp(labels + 19, json_str(object, "metadata", "labels", "sandmux/request-id",
					    NULL)) != 0)
		object = NULL;
	char *text = object ? cJSON_PrintUnformatted(object) : x_strdup("");
	api_reply(request, 200, "{\"metadata\":{\"resourceVersion\":\"%d\"},\"items\":[%s]}",
		t->revision, text);
	free(text);
}

/* Other collections: nothing, and a watch that stays open, one to a connection. */
static struct evhttp_request *others[16];
static size_t n_others;

static void serve_collection(struct test *t, struct evhttp_request *request,
	const struct api_request *is, struct evhttp_request **watch, const cJSON *object)
{
	if (api_query(is, "watch") == NULL) {
		serve_list(t, request, is, object);
		return;
	}
	if (watch == NULL) {
		assert_true(n_others < 16);
		watch = &others[n_others++];
	}
	*watch = request;
	evhttp_connection_set_closecb(
		evhttp_request_get_connection(request), on_watch_closed, watch);
	evhttp_send_reply_start(request, 200, "OK");
	if (api_query(is, "sendInitialEvents") == NULL)
		return;
	if (object != NULL)
		tell(request, "ADDED", object);
	char *end = x_asprintf(
		"{\"type\":\"BOOKMARK\",\"object\":{\"metadata\":{\"resourceVersion\":\"%d\","
		"\"annotations\":{\"k8s.io/initial-events-end\":\"true\"}}}}\n",
		t->revision);
	api_send(request, end);
	free(end);
}

/* A pool, whose template is called t1, or a template. */
static void serve_named(struct evhttp_request *request, const char *asked, const char *name)
{
	if (name != NULL && strcmp(asked, name) == 0)
		api_reply(request, 200,
			"{\"metadata\":{\"name\":\"%s\"},"
			"\"spec\":{\"sandboxTemplateRef\":{\"name\":\"t1\"}}}",
			name);
	else
		api_status(request, 404, "NotFound", "not found");
}

static void handle(
	struct api *api, struct evhttp_request *request, const struct api_request *is)
{
	struct test *t = api->test;
	if (strcmp(is->method, "POST") == 0)
		serve_post(t, request, is);
	else if (strcmp(is->method, "DELETE") == 0)
		serve_delete(t, request, is);
	else if (strcmp(is->method, "PATCH") == 0)
		serve_patch(t, request, is);
	else if (strncmp(is->path, CLAIMS "/", sizeof CLAIMS) == 0)
		serve_object(request, t->claim);
	else if (strncmp(is->path, SANDBOXES "/", sizeof SANDBOXES) == 0)
		serve_object(request, t->sandbox);
	else if (strncmp(is->path, POOLS, sizeof POOLS - 1) == 0)
		serve_named(request, is->path + sizeof POOLS - 1, t->pool);
	else if (strncmp(is->path, TEMPLATES, sizeof TEMPLATES - 1) == 0)
		serve_named(request, is->path + sizeof TEMPLATES - 1, t->template_);
	else if (strcmp(is->path, CLAIMS) == 0)
		serve_collection(t, request, is, &t->claim_watch, t->claim);
	else if (strcmp(is->path, SANDBOXES) == 0)
		serve_collection(t, request, is, &t->sandbox_watch, t->sandbox);
	else if (strstr(is->path, "/pods/") != NULL)
		api_status(request, 403, "Forbidden", "not yours");
	else
		serve_collection(t, request, is, NULL, NULL);
}

/* ---- the client */

static void on_created(
	void *arg, const struct err *err, const char *name, const struct fleet_row *row)
{
	struct test *t = arg;
	assert_false(t->is_done);
	t->is_done = true;
	t->err.code = ERR_NONE;
	err_copy(&t->err, err);
	snprintf(t->name, sizeof t->name, "%s", name);
	if (row != NULL) {
		t->state = row->state;
		snprintf(t->uid, sizeof t->uid, "%s", row->uid);
	}
}

static void on_stage(void *arg, const char *stage)
{
	struct test *t = arg;
	size_t n = strlen(t->stages);
	snprintf(t->stages + n, sizeof t->stages - n, "%s\n", stage);
}

static void on_op_done(void *arg, const struct err *err)
{
	struct test *t = arg;
	assert_false(t->is_done);
	t->is_done = true;
	t->err.code = ERR_NONE;
	err_copy(&t->err, err);
}

static void open_fleet(struct test *t, bool read_only)
{
	struct err err = { 0 };
	const struct fleet_opts opts = { .namespace_ = "demo",
		.telemetry = t->telemetry,
		.lazy = t->lazy,
		.read_only = read_only };
	t->fleet = fleet_new(t->api.loop, t->api.client, &opts, &err);
	assert_non_null(t->fleet);
	if (!t->lazy)
		API_UNTIL(&t->api,
			fleet_is_synced(t->fleet) && t->claim_watch && t->sandbox_watch, 5000);
}

static struct fleet_op *create(struct test *t, const struct fleet_create_opts *with)
{
	struct err err = { 0 };
	struct fleet_create_opts opts = *with;
	opts.namespace_ = "demo";
	opts.pool = opts.pool ? opts.pool : "pool";
	opts.on_progress = on_stage;
	opts.done = on_created;
	opts.arg = t;
	t->is_done = false;
	struct fleet_op *op = fleet_create_start(t->fleet, &opts, &err);
	if (op == NULL)
		fail_msg("%s", err.msg);
	assert_false(t->is_done);
	return op;
}

static void create_whole(struct test *t, const struct fleet_create_opts *with)
{
	create(t, with);
	API_UNTIL(&t->api, t->is_done, 8000);
}

static int count(struct test *t, const char *method)
{
	int n = 0;
	for (size_t i = 0; i < t->api.n; i++)
		n += strcmp(t->api.log[i].method, method) == 0;
	return n;
}

static const char *last_body(struct test *t, const char *method)
{
	for (size_t i = t->api.n; i-- > 0;) {
		if (strcmp(t->api.log[i].method, method) == 0)
			return t->api.log[i].body;
	}
	return "";
}

static int setup(void **state)
{
	struct test *t = x_calloc(1, sizeof *t);
	t->revision = 100;
	t->make_ready = true;
	n_others = 0;
	memset(others, 0, sizeof others);
	api_start(&t->api, NULL, handle, t);
	t->telemetry = telemetry_new(100, 1 << 20);
	*state = t;
	return 0;
}

static int teardown(void **state)
{
	struct test *t = *state;
	fleet_free(t->fleet);
	api_stop(&t->api);
	telemetry_free(t->telemetry);
	cJSON_Delete(t->claim);
	cJSON_Delete(t->sandbox);
	free(t);
	return 0;
}

static bool find_span(void *arg, const struct telemetry_record *record)
{
	const char **wanted = arg;
	if (strstr(record->name, *wanted) != NULL && record->duration_ns >= 0)
		*wanted = NULL;
	return *wanted != NULL;
}

static void assert_span(struct test *t, const char *name)
{
	const char *wanted = name;
	telemetry_each(t->telemetry, find_span, &wanted);
	if (wanted != NULL)
		fail_msg("no span %s", name);
}

/* ---- create */

/* The watch says that it is there and that it went, and only then the answer to the POST says that it is there. */
static void a_claim_that_went_before_the_answer_does_not_come_back(void **state)
{
	struct test *t = *state;
	t->answers_late = true;
	t->make_ready = false;
	open_fleet(t, false);
	create(t, &(struct fleet_create_opts){ .name = "box" });
	API_UNTIL(&t->api, t->late_post != NULL && fleet_count(t->fleet) == 1, 5000);
	remove_claim(t);
	API_UNTIL(&t->api, fleet_count(t->fleet) == 0, 5000);
	api_reply(t->late_post, 201, "%s", t->late_text);
	free(t->late_text);
	API_UNTIL(&t->api, t->is_done, 8000);
	assert_int_not_equal(t->err.code, ERR_NONE);
	assert_non_null(strstr(t->err.msg, "deleted"));
	assert_int_equal(fleet_count(t->fleet), 0);
}

static void a_generated_claim_becomes_ready(void **state)
{
	struct test *t = *state;
	open_fleet(t, false);
	const char *const labels[] = { "team=a", "agents.x-k8s.io/created-by=me", NULL };
	const char *const pod_labels[] = { "sandbox.users.io/x=1", NULL };
	const char *const annotations[] = { "note=hello, world=yes", NULL };
	const char *const env[] = { "KEY=s3cret=x", NULL };
	create_whole(t, &(struct fleet_create_opts){ .labels = labels,
				.pod_labels = pod_labels,
				.pod_annotations = annotations,
				.env = env,
				.shutdown_after_ms = 60500 });
	assert_int_equal(ERR_NONE, t->err.code);
	assert_string_equal("sandbox-claim-xxxxx", t->name);
	assert_int_equal(FLEET_READY, t->state);
	cJSON *body = cJSON_Parse(last_body(t, "POST"));
	assert_string_equal("sandbox-claim-", json_str(body, "metadata", "generateName", NULL));
	assert_string_equal("a", json_str(body, "metadata", "labels", "team", NULL));
	assert_string_equal("sandmux",
		json_str(body, "metadata", "labels", "agents.x-k8s.io/created-by", NULL));
	assert_int_equal(
		32, strlen(json_str(body, "metadata", "labels", "sandmux/request-id", NULL)));
	const char *context = json_str(
		body, "metadata", "annotations", "opentelemetry.io/trace-context", NULL);
	assert_non_null(strstr(context, "{\"traceparent\":\"00-"));
	assert_non_null(json_str(body, "metadata", "annotations",
		"agents.x-k8s.io/client-first-requested-at", NULL));
	assert_string_equal("pool", json_str(body, "spec", "warmPoolRef", "name", NULL));
	assert_string_equal("1", json_str(body, "spec", "additionalPodMetadata", "labels",
					 "sandbox.users.io/x", NULL));
	assert_string_equal("hello, world=yes",
		json_str(body, "spec", "additionalPodMetadata", "annotations", "note", NULL));
	const cJSON *variable = cJSON_GetArrayItem(json_get(body, "spec", "env", NULL), 0);
	assert_string_equal("s3cret=x", json_str(variable, "value", NULL));
	assert_string_equal(
		"Delete", json_str(body, "spec", "lifecycle", "shutdownPolicy", NULL));
	int64_t ns;
	const char *until = json_str(body, "spec", "lifecycle", "shutdownTime", NULL);
	assert_true(clock_parse_rfc3339(until, &ns));
	int64_t left = ns / 1000000 - clock_wall_ms();
	assert_in_range(left, 55000, 61500);
	assert_int_equal(20, strlen(until)); /* whole seconds */
	cJSON_Delete(body);
	assert_span(t, "create_claim");
	assert_span(t, "wait_for_sandbox_ready");
	assert_int_equal(0, fleet_cleanups_pending(t->fleet));
}

static void a_lazy_fleet_watches_only_what_it_made(void **state)
{
	struct test *t = *state;
	t->lazy = true;
	open_fleet(t, false);
	API_FOR(&t->api, 100);
	assert_int_equal(0, t->api.n);
	create_whole(t, &(struct fleet_create_opts){ .name = "mine" });
	assert_int_equal(ERR_NONE, t->err.code);
	assert_int_equal(FLEET_READY, t->state);
	bool by_name = false;
	for (size_t i = 0; i < t->api.n; i++) {
		const char *field = api_query(&t->api.log[i], "fieldSelector");
		by_name |= field != NULL && strcmp(field, "metadata.name=mine") == 0;
		if (strcmp(t->api.log[i].method, "GET") == 0)
			assert_non_null(field);
	}
	assert_true(by_name);
	struct err err = { 0 };
	assert_non_null(fleet_find_name(t->fleet, "demo", "mine", &err));
	assert_non_null(fleet_find_name(t->fleet, "demo", "mine.11111111", &err));
	assert_non_null(fleet_find_name(t->fleet, "demo", "sandbox/s1", &err));
	assert_null(fleet_find_name(t->fleet, "demo", "mine.22222222", &err));
	assert_int_equal(ERR_CLAIM_NOT_FOUND, err.code);
}

static void no_wait_ends_with_the_claim(void **state)
{
	struct test *t = *state;
	t->make_ready = false;
	open_fleet(t, false);
	create_whole(t, &(struct fleet_create_opts){ .name = "mine", .no_wait = true });
	assert_int_equal(ERR_NONE, t->err.code);
	assert_string_equal("mine", t->name);
	assert_string_equal(CLAIM_UID "1", t->uid);
}

static void bad_options_are_refused_before_anything_is_sent(void **state)
{
	struct test *t = *state;
	t->lazy = true;
	open_fleet(t, false);
	static const char *const no_equals[] = { "x", NULL },
				 *const bad_value[] = { "a=b c", NULL },
				 *const two[] = { "a=b,c=d", NULL };
	const struct fleet_create_opts rows[] = {
		{ .name = "Upper" },
		{ .name = "" },
		{ .name = "-a" },
		{ .name = "a..b" },
		{ .name = "a_b" },
		{ .pool = "../x" },
		{ .adopt = true },
		{ .shutdown_after_ms = -1 },
		{ .shutdown_after_ms = INT64_MAX },
		{ .labels = no_equals },
		{ .labels = bad_value },
		{ .labels = two },
		{ .pod_labels = bad_value },
		{ .env = no_equals },
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct fleet_create_opts opts = rows[i];
		struct err err = { 0 };
		opts.namespace_ = "demo";
		opts.pool = opts.pool ? opts.pool : "pool";
		opts.done = on_created;
		assert_null(fleet_create_start(t->fleet, &opts, &err));
		if (err.code != ERR_ARG_INVALID)
			fail_msg("%zu: %s", i, err.msg);
	}
	API_FOR(&t->api, 50);
	assert_int_equal(0, t->api.n);
}

static void a_terminal_reason_ends_the_wait_and_rolls_back(void **state)
{
	struct test *t = *state;
	static const struct {
		const char *reason;
		enum err_code code;
	} rows[] = {
		{ "InvalidMetadata", ERR_CLAIM_REJECTED },
		{ "EnvVarsInjectionRejected", ERR_CLAIM_REJECTED },
		{ "VolumeClaimTemplatesError", ERR_CLAIM_REJECTED },
		{ "WarmPoolNotFound", ERR_POOL_NOT_FOUND },
		{ "TemplateNotFound", ERR_TEMPLATE_NOT_FOUND },
		{ "ClaimExpired", ERR_CLAIM_EXPIRED },
	};
	open_fleet(t, false);
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		t->claim_reason = rows[i].reason;
		create_whole(t, &(struct fleet_create_opts){ 0 });
		if (t->err.code != rows[i].code)
			fail_msg("%s: %s %s", rows[i].reason, err_name(&t->err), t->err.msg);
		assert_null(t->claim);
		assert_int_equal((int)i + 1, count(t, "DELETE"));
	}
}

static void a_controller_behind_the_api_server_is_waited_for(void **state)
{
	struct test *t = *state;
	static const struct {
		const char *reason, *stage;
	} rows[] = {
		{ "WarmPoolNotFound", "has not seen the warm pool yet" },
		{ "TemplateNotFound", "has not seen the warm pool's template yet" },
	};
	open_fleet(t, false);
	t->pool = "pool";
	t->template_ = "t1";
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		t->claim_reason = rows[i].reason;
		t->is_done = false;
		t->stages[0] = '\0';
		create(t, &(struct fleet_create_opts){ 0 });
		API_UNTIL(&t->api, strstr(t->stages, rows[i].stage) != NULL, 3000);
		claim_changed(t, "MODIFIED"); /* said once more: nothing is asked again */
		API_FOR(&t->api, 100);
		assert_false(t->is_done);
		t->claim_reason = NULL;
		reconcile(t);
		API_UNTIL(&t->api, t->is_done, 3000);
		assert_int_equal(ERR_NONE, t->err.code);
		assert_int_equal(FLEET_READY, t->state);
		remove_claim(t);
	}
	int asked = 0;
	for (size_t i = 0; i < t->api.n; i++)
		asked += strncmp(t->api.log[i].path, POOLS, sizeof POOLS - 1) == 0;
	assert_int_equal(2, asked);
}

static void a_template_that_is_not_there_ends_the_wait(void **state)
{
	struct test *t = *state;
	open_fleet(t, false);
	t->pool = "pool";
	t->template_ = "another";
	t->claim_reason = "TemplateNotFound";
	create_whole(t, &(struct fleet_create_opts){ 0 });
	assert_int_equal(ERR_TEMPLATE_NOT_FOUND, t->err.code);
	assert_null(t->claim);
	/* and what is there may turn out to be missing later */
	t->claim_reason = "WarmPoolNotFound";
	t->is_done = false;
	create(t, &(struct fleet_create_opts){ 0 });
	API_UNTIL(&t->api, strstr(t->stages, "has not seen the warm pool yet") != NULL, 3000);
	t->claim_reason = "TemplateNotFound";
	reconcile(t);
	API_UNTIL(&t->api, t->is_done, 3000);
	assert_int_equal(ERR_TEMPLATE_NOT_FOUND, t->err.code);
}

static void a_named_claim_is_never_rolled_back(void **state)
{
	struct test *t = *state;
	t->claim_reason = "WarmPoolNotFound";
	open_fleet(t, false);
	create_whole(t, &(struct fleet_create_opts){ .name = "mine" });
	assert_int_equal(ERR_POOL_NOT_FOUND, t->err.code);
	assert_non_null(t->claim);
	assert_int_equal(0, count(t, "DELETE"));
}

static void a_timeout_rolls_back_and_says_what_it_waited_for(void **state)
{
	struct test *t = *state;
	t->make_ready = false;
	t->fail_deletes = 1; /* the rollback tries again */
	open_fleet(t, false);
	create_whole(t, &(struct fleet_create_opts){ .ready_timeout_ms = 300 });
	assert_int_equal(ERR_SANDBOX_NOT_READY, t->err.code);
	assert_non_null(strstr(t->err.msg, "Pending"));
	assert_null(t->claim);
	assert_int_equal(2, count(t, "DELETE"));
	assert_true(t->stages[0] != '\0');
}

static void a_cancelled_create_is_rolled_back(void **state)
{
	struct test *t = *state;
	t->make_ready = false;
	open_fleet(t, false);
	struct fleet_op *op = create(t, &(struct fleet_create_opts){ 0 });
	API_UNTIL(&t->api, t->claim != NULL, 2000);
	API_FOR(&t->api, 100);
	fleet_op_cancel(op);
	assert_int_equal(1, fleet_cleanups_pending(t->fleet));
	API_UNTIL(&t->api, fleet_cleanups_pending(t->fleet) == 0, 3000);
	assert_null(t->claim);
	assert_false(t->is_done);
	/* while the POST is under way nobody knows its name: found by the request id */
	t->lose_posts = 1;
	op = create(t, &(struct fleet_create_opts){ 0 });
	API_UNTIL(&t->api, t->claim != NULL, 2000);
	fleet_op_cancel(op);
	API_UNTIL(&t->api, fleet_cleanups_pending(t->fleet) == 0, 3000);
	assert_null(t->claim);
}

static void a_lost_answer_makes_no_second_claim(void **state)
{
	struct test *t = *state;
	t->lose_posts = 1;
	open_fleet(t, false);
	create_whole(t, &(struct fleet_create_opts){ 0 });
	assert_int_equal(ERR_NONE, t->err.code);
	assert_int_equal(1, t->made);
	/* named: the same, found by name */
	remove_claim(t);
	t->lose_posts = 1;
	create_whole(t, &(struct fleet_create_opts){ .name = "mine" });
	assert_int_equal(ERR_NONE, t->err.code);
	assert_int_equal(2, t->made);
	/* the POST was lost before it had an effect: sent once more */
	remove_claim(t);
	t->refuse_posts = 1;
	create_whole(t, &(struct fleet_create_opts){ 0 });
	assert_int_equal(ERR_NONE, t->err.code);
	assert_int_equal(3, t->made);
	/* and no more than once */
	remove_claim(t);
	t->refuse_posts = 5;
	create_whole(t, &(struct fleet_create_opts){ 0 });
	assert_int_equal(ERR_KUBE_TRANSPORT, t->err.code);
	assert_int_equal(3, t->refuse_posts);
}

static void deleted_while_waiting(void **state)
{
	struct test *t = *state;
	t->make_ready = false;
	open_fleet(t, false);
	create(t, &(struct fleet_create_opts){ 0 });
	API_UNTIL(&t->api, t->claim != NULL, 2000);
	API_FOR(&t->api, 100);
	remove_claim(t);
	API_UNTIL(&t->api, t->is_done, 2000);
	assert_int_equal(ERR_CLAIM_NOT_FOUND, t->err.code);
	assert_int_equal(0, count(t, "DELETE"));
}

static void quota_is_its_own_error(void **state)
{
	struct test *t = *state;
	t->quota = "exceeded quota: q, requested: count/sandboxclaims=1";
	open_fleet(t, false);
	create_whole(t, &(struct fleet_create_opts){ 0 });
	assert_int_equal(ERR_KUBE_QUOTA, t->err.code);
	assert_int_equal(0, count(t, "DELETE"));
}

/* ---- adopt */

static void adopting(void **state)
{
	struct test *t = *state;
	open_fleet(t, false);
	make_claim(t, "{\"metadata\":{\"name\":\"mine\",\"namespace\":\"demo\"},"
		      "\"spec\":{\"warmPoolRef\":{\"name\":\"pool\"}}}");
	reconcile(t);
	create_whole(t, &(struct fleet_create_opts){ .name = "mine" });
	assert_int_equal(ERR_CLAIM_EXISTS, t->err.code);
	create_whole(t, &(struct fleet_create_opts){ .name = "mine", .adopt = true });
	assert_int_equal(ERR_NONE, t->err.code);
	assert_string_equal("mine", t->name);
	create_whole(t,
		&(struct fleet_create_opts){ .name = "mine", .adopt = true, .pool = "other" });
	assert_int_equal(ERR_CLAIM_ADOPT_MISMATCH, t->err.code);
	cJSON_AddStringToObject(cJSON_GetObjectItem(t->claim, "metadata"), "deletionTimestamp",
		"2026-01-01T00:00:00Z");
	create_whole(t, &(struct fleet_create_opts){ .name = "mine", .adopt = true });
	assert_int_equal(ERR_CLAIM_TERMINATING, t->err.code);
	assert_int_equal(0, count(t, "DELETE"));
	assert_non_null(t->claim);
}

static void an_adopted_claim_that_is_replaced_is_not_taken(void **state)
{
	struct test *t = *state;
	open_fleet(t, false);
	const char *body = "{\"metadata\":{\"name\":\"mine\",\"namespace\":\"demo\"},"
			   "\"spec\":{\"warmPoolRef\":{\"name\":\"pool\"}}}";
	make_claim(t, body);
	create(t, &(struct fleet_create_opts){ .name = "mine", .adopt = true });
	API_UNTIL(&t->api, count(t, "GET") > 0 && count(t, "POST") == 1, 2000);
	API_FOR(&t->api, 200);
	assert_false(t->is_done);
	remove_claim(t);
	make_claim(t, body);
	API_UNTIL(&t->api, t->is_done, 2000);
	assert_int_equal(ERR_CLAIM_REPLACED, t->err.code);
}

/* ---- the rest of life */

static void made(struct test *t)
{
	open_fleet(t, false);
	create_whole(
		t, &(struct fleet_create_opts){ .name = "mine", .shutdown_after_ms = 60000 });
	assert_int_equal(ERR_NONE, t->err.code);
	t->is_done = false;
}

static void delete_with_precondition(void **state)
{
	struct test *t = *state;
	struct err err = { 0 };
	made(t);
	assert_non_null(fleet_delete_start(t->fleet, t->uid, on_op_done, t, &err));
	API_UNTIL(&t->api, t->is_done, 2000);
	assert_int_equal(ERR_NONE, t->err.code);
	assert_null(t->claim);
	API_UNTIL(&t->api, fleet_find(t->fleet, t->uid) == NULL, 2000);
	assert_null(fleet_delete_start(t->fleet, t->uid, on_op_done, t, &err));
	assert_int_equal(ERR_CLAIM_NOT_FOUND, err.code);
	assert_span(t, "delete_claim");
}

static void delete_leaves_a_replacement_alone(void **state)
{
	struct test *t = *state;
	struct err err = { 0 };
	made(t);
	set(cJSON_GetObjectItem(t->claim, "metadata"), "uid", cJSON_CreateString("another"));
	assert_non_null(fleet_delete_start(t->fleet, t->uid, on_op_done, t, &err));
	API_UNTIL(&t->api, t->is_done, 2000);
	assert_int_equal(ERR_CLAIM_REPLACED, t->err.code);
	assert_non_null(t->claim);
	/* 404: it is what was asked for */
	remove_claim(t);
	t->is_done = false;
	if (fleet_delete_start(t->fleet, t->uid, on_op_done, t, &err) != NULL) {
		API_UNTIL(&t->api, t->is_done, 2000);
		assert_int_equal(ERR_NONE, t->err.code);
	}
}

static void suspend_and_resume(void **state)
{
	struct test *t = *state;
	struct err err = { 0 };
	made(t);
	assert_non_null(fleet_suspend_start(t->fleet, t->uid, true, on_op_done, t, &err));
	API_UNTIL(&t->api, t->is_done, 2000);
	assert_int_equal(ERR_NONE, t->err.code);
	assert_int_equal(FLEET_SUSPENDED, fleet_find(t->fleet, t->uid)->state);
	t->is_done = false;
	assert_non_null(fleet_suspend_start(t->fleet, t->uid, false, on_op_done, t, &err));
	API_UNTIL(&t->api, t->is_done, 2000);
	assert_int_equal(ERR_NONE, t->err.code);
	assert_int_equal(FLEET_READY, fleet_find(t->fleet, t->uid)->state);
}

static const char *stored_time(struct test *t)
{
	return json_str(t->claim, "spec", "lifecycle", "shutdownTime", NULL);
}

static void extend(struct test *t, int64_t ms)
{
	struct err err = { 0 };
	t->is_done = false;
	assert_non_null(fleet_extend_start(t->fleet, t->uid, ms, on_op_done, t, &err));
	API_UNTIL(&t->api, t->is_done, 3000);
}

static void extending_never_shortens_and_never_revives(void **state)
{
	struct test *t = *state;
	int64_t before, after;
	made(t);
	assert_true(clock_parse_rfc3339(stored_time(t), &before));
	t->conflict_patches = 2;
	extend(t, 3600 * 1000);
	assert_int_equal(ERR_NONE, t->err.code);
	assert_true(clock_parse_rfc3339(stored_time(t), &after));
	assert_true(after - before > 3500 * (int64_t)1000000000);
	int patches = count(t, "PATCH");
	extend(t, 60 * 1000); /* it lives longer already */
	assert_int_equal(ERR_CLAIM_UNCHANGED, t->err.code);
	assert_non_null(strstr(t->err.msg, stored_time(t)));
	assert_int_equal(patches, count(t, "PATCH"));
	/* no end at all: it gets one */
	cJSON_DeleteItemFromObject(cJSON_GetObjectItem(t->claim, "spec"), "lifecycle");
	extend(t, 3600 * 1000);
	assert_int_equal(ERR_NONE, t->err.code);
	assert_true(clock_parse_rfc3339(stored_time(t), &after));
	patches = count(t, "PATCH");
	/* past, although the controller has not noticed yet */
	set(cJSON_GetObjectItem(cJSON_GetObjectItem(t->claim, "spec"), "lifecycle"),
		"shutdownTime", cJSON_CreateString("2020-01-01T00:00:00Z"));
	extend(t, 60 * 1000);
	assert_int_equal(ERR_CLAIM_EXPIRED, t->err.code);
	assert_int_equal(patches, count(t, "PATCH"));
	struct err err = { 0 };
	assert_null(fleet_extend_start(t->fleet, t->uid, 0, on_op_done, t, &err));
	assert_int_equal(ERR_ARG_INVALID, err.code);
}

static bool got_claim, got_sandbox, got_pod;

static void on_detail(void *arg, const struct err *err, const struct fleet_detail *detail)
{
	struct test *t = arg;
	t->is_done = true;
	t->err.code = ERR_NONE;
	err_copy(&t->err, err);
	got_claim = detail && detail->claim;
	got_sandbox = detail && detail->sandbox;
	got_pod = detail && detail->pod;
}

static void detail_leaves_out_what_may_not_be_read(void **state)
{
	struct test *t = *state;
	struct err err = { 0 };
	made(t);
	assert_non_null(fleet_detail_start(t->fleet, t->uid, on_detail, t, &err));
	API_UNTIL(&t->api, t->is_done, 2000);
	assert_int_equal(ERR_NONE, t->err.code);
	assert_true(got_claim);
	assert_true(got_sandbox);
	assert_false(got_pod);
	/* ended while it is under way */
	struct fleet_op *op = fleet_detail_start(t->fleet, t->uid, on_detail, t, &err);
	fleet_op_cancel(op);
}

static void read_only_refuses_every_change(void **state)
{
	struct test *t = *state;
	struct err err = { 0 };
	t->lazy = true;
	open_fleet(t, true);
	const struct fleet_create_opts opts = {
		.namespace_ = "demo", .pool = "p", .done = on_created
	};
	assert_null(fleet_create_start(t->fleet, &opts, &err));
	assert_int_equal(ERR_OP_READ_ONLY, err.code);
	err.code = ERR_NONE;
	assert_null(fleet_delete_start(t->fleet, "x", on_op_done, t, &err));
	assert_int_equal(ERR_OP_READ_ONLY, err.code);
	assert_null(fleet_suspend_start(t->fleet, "x", true, on_op_done, t, &err));
	assert_null(fleet_extend_start(t->fleet, "x", 1, on_op_done, t, &err));
	assert_int_equal(ERR_OP_READ_ONLY, err.code);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		CASE(a_generated_claim_becomes_ready),
		CASE(a_claim_that_went_before_the_answer_does_not_come_back),
		CASE(a_lazy_fleet_watches_only_what_it_made),
		CASE(no_wait_ends_with_the_claim),
		CASE(bad_options_are_refused_before_anything_is_sent),
		CASE(a_terminal_reason_ends_the_wait_and_rolls_back),
		CASE(a_controller_behind_the_api_server_is_waited_for),
		CASE(a_template_that_is_not_there_ends_the_wait),
		CASE(a_named_claim_is_never_rolled_back),
		CASE(a_timeout_rolls_back_and_says_what_it_waited_for),
		CASE(a_cancelled_create_is_rolled_back),
		CASE(a_lost_answer_makes_no_second_claim),
		CASE(deleted_while_waiting),
		CASE(quota_is_its_own_error),
		CASE(adopting),
		CASE(an_adopted_claim_that_is_replaced_is_not_taken),
		CASE(delete_with_precondition),
		CASE(delete_leaves_a_replacement_alone),
		CASE(suspend_and_resume),
		CASE(extending_never_shortens_and_never_revives),
		CASE(detail_leaves_out_what_may_not_be_read),
		CASE(read_only_refuses_every_change),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
