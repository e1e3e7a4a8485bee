// SPDX-License-Identifier: Apache-2.0
/* What becomes of a delete, a suspend and an extension in every order of events, and what the fleet tells of names, pools and
 * events. */
#include "tests/unit/engine/cluster.h"

#include "engine/base/settings.h"

#define COUNT(a) (sizeof(a) / sizeof(a)[0])

static int n_done;
static struct err done_err;

static void on_done(void *arg, const struct err *err)
{
	assert_ptr_equal(arg, &n_done);
	n_done++;
	done_err = (struct err){ 0 };
	err_copy(&done_err, err);
}

/* name, uid, generation, labels, spec, conditions */
#define OBJECT(name, uid, generation, labels, more)                                             \
	"{'metadata':{'name':'" name "','namespace':'demo','uid':'" uid                         \
	"','generation':" generation                                                            \
	",'resourceVersion':'9RV','creationTimestamp':'2026-01-01T00:00:00Z','labels':{" labels \
	"}}," more "}"
#define OF_A "'agents.x-k8s.io/claim-uid':'claim-a'"
#define CONDITION(type, status, reason, generation)                                            \
	"{'type':'" type "','status':'" status "','reason':'" reason                           \
	"','message':'m','observedGeneration':" generation "}"
#define RUNNING                                                                                \
	OBJECT("a", "sandbox-a", "1", OF_A,                                                    \
		"'spec':{'operatingMode':'Running'},'status':{'conditions':[" CONDITION(       \
			"Ready", "True", "DependenciesReady", "1") "]}")
#define STOPPING                                                                               \
	OBJECT("a", "sandbox-a", "2", OF_A,                                                    \
		"'spec':{'operatingMode':'Suspended'},'status':{'conditions':[]}")
#define STOPPED                                                                                \
	OBJECT("a", "sandbox-a", "2", OF_A,                                                    \
		"'spec':{'operatingMode':'Suspended'},'status':{'conditions':[" CONDITION(     \
			"Suspended", "True", "R", "2") "]}")
#define STARTING                                                                               \
	OBJECT("a", "sandbox-a", "3", OF_A,                                                    \
		"'spec':{'operatingMode':'Running'},'status':{'conditions':[" CONDITION(       \
			"Ready", "False", "R", "3") "]}")

/* Its claim may say Ready before the watch has told of the Sandbox. */
static struct fleet *open_unjoined(struct cluster *c, const char *claim)
{
	cluster_add(c, "sandboxclaims", "%s", claim);
	cluster_open(c, (struct engine_opts){ .connect.mode = CONNECT_IN_CLUSTER_POD_IP });
	cluster_sync(c);
	return engine_fleet(c->engine);
}

static struct fleet *open_all(struct cluster *c)
{
	cluster_add(c, "sandboxes", RUNNING);
	return open_unjoined(c, CLUSTER_CLAIM("a"));
}

static int set_up(void **state)
{
	n_done = 0;
	return cluster_set_up(state);
}

static int tear_down(void **state)
{
	setting_set("ready-timeout", "180s", NULL);
	return cluster_tear_down(state);
}

static void done_with(struct cluster *c, enum err_code code, const char *words)
{
	API_UNTIL(&c->api, n_done > 0, 9000);
	assert_int_equal(n_done, 1);
	n_done = 0;
	if (done_err.code != code || strcmp(done_err.msg, words) != 0)
		fail_msg("%s '%s'", err_name(&done_err), done_err.msg);
}

static const char *last_body(const struct cluster *c, const char *method)
{
	for (size_t i = c->api.n; i-- > 0;)
		if (strcmp(c->api.log[i].method, method) == 0)
			return c->api.log[i].body;
	return "";
}

static enum fleet_state state_of(const struct fleet *fleet, const char *uid)
{
	const struct fleet_row *row = fleet_find(fleet, uid);
	return row != NULL ? row->state : FLEET_STATE_COUNT;
}

/* ---- delete */

static void deletes(void **state)
{
	struct cluster *c = *state;
	struct fleet *fleet = open_all(c);
	struct err err = { 0 };
	assert_null(fleet_delete_start(fleet, "nope", on_done, &n_done, &err));
	assert_int_equal(err.code, ERR_CLAIM_NOT_FOUND);
	assert_string_equal(err.msg, "it is gone");
	/* another one has taken the name */
	cluster_can(c, "/sandboxclaims/a", 409,
		"{'kind':'Status','reason':'Conflict','message':'m'}");
	assert_non_null(fleet_delete_start(fleet, "claim-a", on_done, &n_done, &err));
	assert_int_equal(n_done, 0);
	done_with(c, ERR_CLAIM_REPLACED,
		"a is gone already; another one of that name was left alone");
	assert_non_null(
		strstr(last_body(c, "DELETE"), "\"preconditions\":{\"uid\":\"claim-a\"}"));
	assert_non_null(strstr(last_body(c, "DELETE"), "\"propagationPolicy\":\"Background\""));
	cluster_can(c, "/sandboxclaims/a", 404,
		"{'kind':'Status','reason':'NotFound','message':'m'}");
	assert_non_null(fleet_delete_start(fleet, "claim-a", on_done, &n_done, &err));
	done_with(c, ERR_NONE, "");
	cluster_can(c, "/sandboxclaims/a", 403,
		"{'kind':'Status','reason':'Forbidden','message':'m'}");
	assert_non_null(fleet_delete_start(fleet, "claim-a", on_done, &n_done, &err));
	API_UNTIL(&c->api, n_done, 9000);
	assert_int_equal(done_err.code, ERR_KUBE_FORBIDDEN);
	n_done = 0;
	assert_int_equal(state_of(fleet, "claim-a"), FLEET_READY);
	/* something still holds it: shown at once */
	cluster_can(c, "/sandboxclaims/a", 200,
		"{'kind':'SandboxClaim','metadata':{'name':'a','namespace':'demo','uid':'claim-a',"
		"'resourceVersion':'9RV','deletionTimestamp':'2026-01-01T00:00:09Z'},'spec':{}}");
	assert_non_null(fleet_delete_start(fleet, "claim-a", on_done, &n_done, &err));
	done_with(c, ERR_NONE, "");
	assert_int_equal(state_of(fleet, "claim-a"), FLEET_TERMINATING);
	/* what is cancelled calls nobody */
	fleet_op_cancel(fleet_delete_start(fleet, "claim-a", on_done, &n_done, &err));
	API_FOR(&c->api, 60);
	assert_int_equal(n_done, 0);
}

static void a_sandbox_without_a_claim(void **state)
{
	struct cluster *c = *state;
	struct err err = { 0 };
	cluster_add(c, "sandboxes", OBJECT("s", "sandbox-s", "1", "", "'spec':{},'status':{}"));
	cluster_can(c, "/sandboxes/s", 200, "{'kind':'Status','status':'Success'}");
	struct fleet *fleet = open_all(c);
	assert_non_null(fleet_delete_start(fleet, "sandbox-s", on_done, &n_done, &err));
	done_with(c, ERR_NONE, "");
	assert_non_null(strstr(last_body(c, "DELETE"), "\"uid\":\"sandbox-s\""));
	/* its time stands elsewhere */
	cluster_can(c, "/sandboxes/s", 200,
		OBJECT("s", "sandbox-s", "1", "",
			"'spec':{'shutdownTime':'2099-01-01T00:00:00Z'}"));
	assert_non_null(fleet_extend_start(fleet, "sandbox-s", 1000, on_done, &n_done, &err));
	done_with(c, ERR_CLAIM_UNCHANGED,
		"s lives until 2099-01-01T00:00:00Z already, and is never shortened");
	cluster_can(c, "/sandboxes/s", 200, OBJECT("s", "sandbox-s", "1", "", "'spec':{}"));
	assert_non_null(fleet_extend_start(fleet, "sandbox-s", 1000, on_done, &n_done, &err));
	done_with(c, ERR_NONE, "");
	assert_non_null(strstr(last_body(c, "PATCH"), "},\"spec\":{\"shutdownTime\":\"20"));
}

static void nothing_is_written_read_only(void **state)
{
	struct cluster *c = *state;
	struct err err = { 0 };
	cluster_add(c, "sandboxclaims", "%s", CLUSTER_CLAIM("a"));
	cluster_open(c, (struct engine_opts){
				.connect.mode = CONNECT_IN_CLUSTER_POD_IP, .read_only = true });
	cluster_sync(c);
	struct fleet *fleet = engine_fleet(c->engine);
	assert_null(fleet_delete_start(fleet, "claim-a", on_done, &n_done, &err));
	assert_string_equal(err.msg, "read-only: delete is refused");
	assert_null(fleet_suspend_start(fleet, "claim-a", true, on_done, &n_done, &err));
	assert_string_equal(err.msg, "read-only: suspend is refused");
	assert_null(fleet_suspend_start(fleet, "claim-a", false, on_done, &n_done, &err));
	assert_string_equal(err.msg, "read-only: resume is refused");
	assert_null(fleet_extend_start(fleet, "claim-a", 1, on_done, &n_done, &err));
	assert_string_equal(err.msg, "read-only: extend is refused");
	assert_int_equal(err.code, ERR_OP_READ_ONLY);
}

/* ---- suspend, resume */

static void start(struct cluster *c, struct fleet *fleet, bool suspend, const char *answer)
{
	struct err err = { 0 };
	enum fleet_state before = state_of(fleet, "claim-a");
	cluster_can(c, "/sandboxes/a", 200, "%s", answer);
	assert_non_null(fleet_suspend_start(fleet, "claim-a", suspend, on_done, &n_done, &err));
	/* the answer is shown */
	API_UNTIL(&c->api, state_of(fleet, "claim-a") != before, 9000);
}

static void suspends_and_resumes(void **state)
{
	struct cluster *c = *state;
	struct fleet *fleet = open_all(c);
	start(c, fleet, true, STOPPING);
	assert_int_equal(n_done, 0); /* it is on its way */
	assert_string_equal(last_body(c, "PATCH"),
		"{\"metadata\":{\"uid\":\"sandbox-a\"},\"spec\":{\"operatingMode\":\"Suspended\"}}");
	assert_int_equal(state_of(fleet, "claim-a"), FLEET_SUSPENDING);
	cluster_tell(c, "sandboxes", "MODIFIED", STOPPED);
	done_with(c, ERR_NONE, "");
	assert_int_equal(state_of(fleet, "claim-a"), FLEET_SUSPENDED);
	start(c, fleet, false, STARTING);
	assert_int_equal(n_done, 0);
	assert_string_equal(last_body(c, "PATCH"),
		"{\"metadata\":{\"uid\":\"sandbox-a\"},\"spec\":{\"operatingMode\":\"Running\"}}");
	cluster_tell(c, "sandboxes", "MODIFIED", RUNNING);
	done_with(c, ERR_NONE, "");
}

static void it_goes_meanwhile(void **state)
{
	struct cluster *c = *state;
	struct fleet *fleet = open_all(c);
	start(c, fleet, true, STOPPING);
	cluster_tell(c, "sandboxclaims", "MODIFIED",
		"{'metadata':{'name':'a','namespace':'demo','uid':'claim-a','generation':1,"
		"'resourceVersion':'9RV','deletionTimestamp':'2026-01-01T00:00:09Z'},'spec':{},"
		"'status':{'sandbox':{'name':'a'}}}");
	done_with(c, ERR_SANDBOX_DELETED, "a is being deleted");
}

static void it_is_another(void **state)
{
	struct cluster *c = *state;
	struct fleet *fleet = open_all(c);
	start(c, fleet, true, STOPPING);
	cluster_tell(c, "sandboxes", "DELETED", STOPPING);
	done_with(c, ERR_SANDBOX_DELETED, "Sandbox a was deleted meanwhile");
	struct err err = { 0 };
	cluster_can(
		c, "/sandboxes/a", 404, "{'kind':'Status','reason':'NotFound','message':'m'}");
	assert_non_null(fleet_suspend_start(fleet, "claim-a", true, on_done, &n_done, &err));
	done_with(c, ERR_SANDBOX_NOT_FOUND, "a has no Sandbox to suspend");
	assert_non_null(fleet_suspend_start(fleet, "claim-a", false, on_done, &n_done, &err));
	done_with(c, ERR_SANDBOX_NOT_FOUND, "a has no Sandbox to resume");
}

static void it_is_not_known_yet(void **state)
{
	struct cluster *c = *state;
	struct fleet *fleet = open_unjoined(c, CLUSTER_CLAIM("a"));
	assert_int_equal(state_of(fleet, "claim-a"), FLEET_READY);
	assert_string_equal(fleet_find(fleet, "claim-a")->sandbox_uid, "");
	struct err err = { 0 };
	cluster_can(c, "/sandboxes/a", 200, "%s", STOPPING);
	assert_non_null(fleet_suspend_start(fleet, "claim-a", true, on_done, &n_done, &err));
	API_UNTIL(&c->api, last_body(c, "PATCH")[0] != '\0', 9000);
	assert_string_equal(last_body(c, "PATCH"),
		"{\"metadata\":{\"uid\":\"sandbox-a\"},\"spec\":{\"operatingMode\":\"Suspended\"}}");
	cluster_tell(c, "sandboxes", "ADDED", STOPPING);
	API_UNTIL(&c->api, state_of(fleet, "claim-a") == FLEET_SUSPENDING, 9000);
	assert_int_equal(n_done, 0);
	cluster_tell(c, "sandboxes", "MODIFIED", STOPPED);
	done_with(c, ERR_NONE, "");
	assert_int_equal(state_of(fleet, "claim-a"), FLEET_SUSPENDED);
}

static void what_is_named_may_be_of_another(void **state)
{
	static const char *const others[] = {
		OBJECT("a", "s", "1", "'agents.x-k8s.io/claim-uid':'claim-b'", "'spec':{}"),
		"{'metadata':{'name':'a','namespace':'demo','uid':'s','ownerReferences':[{"
		"'controller':true,'kind':'SandboxWarmPool','name':'p','uid':'pool-p'}]}}",
	};
	struct cluster *c = *state;
	struct err err = { 0 };
	struct fleet *fleet = open_unjoined(c, CLUSTER_CLAIM("a"));
	for (size_t i = 0; i < COUNT(others); i++) {
		cluster_can(c, "/sandboxes/a", 200, "%s", others[i]);
		assert_non_null(
			fleet_suspend_start(fleet, "claim-a", true, on_done, &n_done, &err));
		done_with(c, ERR_SANDBOX_NOT_FOUND, "a has no Sandbox to suspend");
	}
	cluster_can(
		c, "/sandboxes/a", 403, "{'kind':'Status','reason':'Forbidden','message':'m'}");
	assert_non_null(fleet_suspend_start(fleet, "claim-a", true, on_done, &n_done, &err));
	API_UNTIL(&c->api, n_done, 9000);
	assert_int_equal(done_err.code, ERR_KUBE_FORBIDDEN);
	assert_string_equal(last_body(c, "PATCH"), ""); /* nothing was touched */
}

static void there_is_none_yet(void **state)
{
	struct cluster *c = *state;
	struct err err = { 0 };
	struct fleet *fleet = open_unjoined(c,
		"{'metadata':{'name':'a','namespace':'demo','uid':'claim-a','resourceVersion':'9RV'},"
		"'spec':{'warmPoolRef':{'name':'p'}}}");
	assert_null(fleet_suspend_start(fleet, "claim-a", true, on_done, &n_done, &err));
	assert_int_equal(err.code, ERR_SANDBOX_NOT_FOUND);
	const char *words = "a has no Sandbox to suspend yet";
	if (strncmp(err.msg, words, strlen(words)) != 0)
		fail_msg("%s", err.msg);
}

static void it_cannot_be_suspended(void **state)
{
	struct cluster *c = *state;
	struct err err = { 0 };
	struct fleet *fleet = open_all(c);
	cluster_can(
		c, "/sandboxes/a", 404, "{'kind':'Status','reason':'NotFound','message':'m'}");
	assert_non_null(fleet_suspend_start(fleet, "claim-a", true, on_done, &n_done, &err));
	done_with(c, ERR_SANDBOX_NOT_FOUND, "Sandbox a is gone");
	cluster_can(
		c, "/sandboxes/a", 403, "{'kind':'Status','reason':'Forbidden','message':'m'}");
	assert_non_null(fleet_suspend_start(fleet, "claim-a", true, on_done, &n_done, &err));
	API_UNTIL(&c->api, n_done, 9000);
	assert_int_equal(done_err.code, ERR_KUBE_FORBIDDEN);
}

static void it_takes_too_long(void **state)
{
	struct cluster *c = *state;
	struct fleet *fleet = open_all(c);
	assert_true(setting_set("ready-timeout", "1s", NULL));
	start(c, fleet, true, STOPPING);
	API_UNTIL(&c->api, n_done > 0, 9000);
	assert_int_equal(done_err.code, ERR_OP_TIMEOUT);
	assert_int_equal(strncmp(done_err.msg, "a is not suspended after 1 s: ", 30), 0);
	n_done = 0;
	start(c, fleet, false, STARTING);
	API_UNTIL(&c->api, n_done > 0, 9000);
	assert_int_equal(done_err.code, ERR_SANDBOX_NOT_READY);
	assert_int_equal(strncmp(done_err.msg, "a is not ready after 1 s: ", 26), 0);
}

/* What will never be Ready is not waited for. */
static void resuming_is_hopeless(void **state)
{
	static const struct {
		const char *conditions;
		enum err_code code;
	} rows[] = {
		{ CONDITION("Ready", "False", "SandboxExpired", "4"), ERR_CLAIM_EXPIRED },
		{ CONDITION("Finished", "True", "PodSucceeded", "4"), ERR_SANDBOX_FINISHED },
		{ CONDITION("Finished", "True", "PodFailed", "4"), ERR_SANDBOX_FINISHED },
	};
	struct cluster *c = *state;
	struct fleet *fleet = open_all(c);
	for (size_t i = 0; i < COUNT(rows); i++) {
		start(c, fleet, false, STARTING);
		assert_int_equal(n_done, 0);
		char *text = x_asprintf(
			OBJECT("a", "sandbox-a", "4", OF_A,
				"'spec':{'operatingMode':'Running'},'status':{'conditions':[%s]}"),
			rows[i].conditions);
		cluster_tell(c, "sandboxes", "MODIFIED", "%s", text);
		free(text);
		API_UNTIL(&c->api, n_done > 0, 9000);
		if (done_err.code != rows[i].code)
			fail_msg("row %zu: %s %s", i, err_name(&done_err), done_err.msg);
		n_done = 0;
	}
}

/* ---- extend */

static void extensions(void **state)
{
	static const struct {
		const char *object;
		enum err_code code;
		const char *words;
	} rows[] = {
		{ "{'metadata':{'uid':'other','resourceVersion':'1'}}", ERR_CLAIM_REPLACED,
			"a was deleted and created again" },
		{ "{'metadata':{'uid':'claim-a'}}", ERR_CLAIM_REPLACED,
			"a was deleted and created again" },
		{ "{'metadata':{'uid':'claim-a','resourceVersion':'1'},'status':{'conditions':[{},"
		  "{'reason':'ClaimExpired'}]}}",
			ERR_CLAIM_EXPIRED, "a has expired and cannot be extended" },
		{ "{'metadata':{'uid':'claim-a','resourceVersion':'1'},'status':{'conditions':["
		  "{'reason':'SandboxExpired'}]}}",
			ERR_CLAIM_EXPIRED, "a has expired and cannot be extended" },
		{ "{'metadata':{'uid':'claim-a','resourceVersion':'1'},'spec':{'lifecycle':{"
		  "'shutdownTime':'2026-01-01T00:00:00Z'}}}",
			ERR_CLAIM_EXPIRED, "a has expired and cannot be extended" },
		{ "{'metadata':{'uid':'claim-a','resourceVersion':'1'},'spec':{'lifecycle':{"
		  "'shutdownTime':'2099-01-01T00:00:00Z'}}}",
			ERR_CLAIM_UNCHANGED,
			"a lives until 2099-01-01T00:00:00Z already, and is never shortened" },
	};
	struct cluster *c = *state;
	struct err err = { 0 };
	struct fleet *fleet = open_all(c);
	for (size_t i = 0; i < COUNT(rows); i++) {
		cluster_can(c, "/sandboxclaims/a", 200, "%s", rows[i].object);
		assert_non_null(
			fleet_extend_start(fleet, "claim-a", 60000, on_done, &n_done, &err));
		done_with(c, rows[i].code, rows[i].words);
		assert_string_equal(last_body(c, "PATCH"), "");
	}
	cluster_can(c, "/sandboxclaims/a", 403,
		"{'kind':'Status','reason':'Forbidden','message':'m'}");
	assert_non_null(fleet_extend_start(fleet, "claim-a", 60000, on_done, &n_done, &err));
	API_UNTIL(&c->api, n_done, 9000);
	assert_int_equal(done_err.code, ERR_KUBE_FORBIDDEN);
	static const int64_t century_ms = (int64_t)100 * 366 * 24 * 3600 * 1000;
	static const int64_t wrong[] = { 0, -1, century_ms + 1 };
	for (size_t i = 0; i < COUNT(wrong); i++) {
		assert_null(
			fleet_extend_start(fleet, "claim-a", wrong[i], on_done, &n_done, &err));
		assert_int_equal(err.code, ERR_ARG_INVALID);
	}
	struct fleet_op *op =
		fleet_extend_start(fleet, "claim-a", century_ms, on_done, &n_done, &err);
	assert_non_null(op);
	fleet_op_cancel(op);
}

static void what_an_extension_sends(void **state)
{
	struct cluster *c = *state;
	struct err err = { 0 };
	struct fleet *fleet = open_all(c);
	cluster_can(c, "/sandboxclaims/a", 200,
		"{'metadata':{'name':'a','namespace':'demo','uid':'claim-a','resourceVersion':'77'"
		"},'spec':{'lifecycle':{'shutdownTime':'2026-12-31T00:00:00Z'}}}");
	int64_t now_s = clock_wall_ms() / 1000;
	assert_non_null(fleet_extend_start(
		fleet, "claim-a", (int64_t)90 * 24 * 3600 * 1000, on_done, &n_done, &err));
	done_with(c, ERR_NONE, "");
	cJSON *patch = json_parse(slice_of(last_body(c, "PATCH")), NULL);
	assert_string_equal(json_str(patch, "metadata", "resourceVersion", NULL), "77");
	int64_t when_ns = 0;
	assert_true(clock_parse_rfc3339(
		json_str(patch, "spec", "lifecycle", "shutdownTime", NULL), &when_ns));
	assert_in_range(when_ns / 1000000000 - now_s, (int64_t)90 * 24 * 3600,
		(int64_t)90 * 24 * 3600 + 30);
	cJSON_Delete(patch);
}

/* ---- what is told */

static void names(void **state)
{
	static const struct {
		const char *namespace_, *name, *uid; /* NULL: none */
	} rows[] = {
		{ "demo", "a", "claim-a" },
		{ "other", "a", NULL },
		{ "demo", "a.claim-a", NULL }, /* seven */
		{ "demo", "b.01234567", "01234567-b" },
		{ "demo", "b.0123456", NULL },
		{ "demo", "b.012345678", NULL },
		{ "demo", "b.11234567", NULL },
		{ "demo", "b.", NULL },
		{ "demo", "bb", NULL },
		{ "demo", "sandbox/a", "claim-a" },
		{ "demo", "sandbox/s", "sandbox-s" },
		{ "demo", "s", NULL }, /* no claim */
		{ "other", "sandbox/s", NULL },
		{ "demo", "sandbox/", NULL },
	};
	struct cluster *c = *state;
	cluster_add(c, "sandboxclaims", OBJECT("b", "01234567-b", "1", "", "'spec':{}"));
	cluster_add(c, "sandboxes", OBJECT("s", "sandbox-s", "1", "", "'spec':{}"));
	struct fleet *fleet = open_all(c);
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct err err = { 0 };
		const struct fleet_row *row =
			fleet_find_name(fleet, rows[i].namespace_, rows[i].name, &err);
		if ((row == NULL) != (rows[i].uid == NULL) ||
			(row != NULL && strcmp(row->uid, rows[i].uid) != 0))
			fail_msg("%s: %s", rows[i].name, row ? row->uid : "none");
		bool is_sandbox = strncmp(rows[i].name, "sandbox/", 8) == 0;
		assert_int_equal(err.code, row != NULL  ? ERR_NONE
					   : is_sandbox ? ERR_SANDBOX_NOT_FOUND
							: ERR_CLAIM_NOT_FOUND);
	}
	struct err err = { 0 };
	fleet_find_name(fleet, "demo", "x", &err);
	assert_string_equal(err.msg, "no claim is called x in namespace demo");
	fleet_find_name(fleet, "demo", "sandbox/x", &err);
	assert_string_equal(err.msg, "no sandbox is called x in namespace demo");
	assert_int_equal(fleet_count(fleet), 3);
	struct fleet_counters counters = fleet_counters_of(fleet);
	assert_int_equal(counters.by_state[FLEET_READY], 1);
	assert_int_equal(counters.expiring, 0);
}

static void what_ends_soon(void **state)
{
	struct cluster *c = *state;
	char soon[CLOCK_RFC3339_BYTES], later[CLOCK_RFC3339_BYTES];
	clock_format_rfc3339((clock_wall_ms() + 4 * 60000) * 1000000, 0, soon);
	clock_format_rfc3339((clock_wall_ms() + 6 * 60000) * 1000000, 0, later);
	cluster_add(c, "sandboxclaims",
		OBJECT("x", "claim-x", "1", "", "'spec':{'lifecycle':{'shutdownTime':'%s'}}"),
		soon);
	cluster_add(c, "sandboxclaims",
		OBJECT("y", "claim-y", "1", "", "'spec':{'lifecycle':{'shutdownTime':'%s'}}"),
		later);
	cluster_add(c, "sandboxclaims",
		OBJECT("z", "claim-z", "1", "",
			"'spec':{'lifecycle':{'shutdownTime':'2026-01-01T00:00:00Z'}},'status':{"
			"'conditions':[" CONDITION(
				"Ready", "False", "ClaimExpired", "1") "]}"));
	struct fleet *fleet = open_all(c);
	assert_int_equal(fleet_counters_of(fleet).expiring, 1);
	assert_int_equal(fleet_counters_of(fleet).by_state[FLEET_EXPIRED], 1);
}

static void pools(void **state)
{
	struct cluster *c = *state;
	cluster_add(c, "sandboxwarmpools",
		OBJECT("p", "pool-p", "1", "",
			"'spec':{'replicas':3,'sandboxTemplateRef':{'name':'t'}},'status':{'replicas':2,"
			"'readyReplicas':1}"));
	cluster_add(c, "sandboxwarmpools",
		OBJECT("q", "pool-q", "1", "",
			"'spec':{'sandboxTemplateRef':{'name':'nope'}}"));
	cluster_add(c, "sandboxtemplates", OBJECT("t", "template-t", "1", "", "'spec':{}"));
	struct fleet *fleet = open_all(c);
	API_UNTIL(&c->api,
		fleet_pool_count(fleet) == 2 && fleet_is_listed(fleet, FLEET_TEMPLATES), 9000);
	bool has_p = strcmp(fleet_pool_at(fleet, 0).name, "p") == 0;
	struct fleet_pool p = fleet_pool_at(fleet, has_p ? 0 : 1);
	struct fleet_pool q = fleet_pool_at(fleet, has_p ? 1 : 0);
	assert_string_equal(p.namespace_, "demo");
	assert_string_equal(p.template_, "t");
	assert_int_equal(p.desired, 3);
	assert_int_equal(p.ready, 1);
	assert_false(p.is_template_missing);
	assert_string_equal(q.name, "q");
	assert_true(q.is_template_missing);
}

#define EVENT_OF(name, kind, object, uid, second)                                              \
	"{'metadata':{'name':'" name "','namespace':'demo','uid':'event-" name                 \
	"','resourceVersion':'9RV'},'involvedObject':{'kind':'" kind "','name':'" object       \
	"','namespace':'demo','uid':'" uid "'},'type':'Normal','reason':'" name                \
	"','message':'m','count':2,'lastTimestamp':'2026-01-01T00:00:" second "Z'}"

static void events(void **state)
{
	struct cluster *c = *state;
	struct fleet_event out[6] = { { 0 } };
	cluster_add(c, "pods", CLUSTER_POD("a", "pod-a", "", "127.0.0.9"));
	cluster_add(c, "events", EVENT_OF("E1", "SandboxClaim", "a", "claim-a", "01"));
	cluster_add(c, "events", EVENT_OF("E4", "Sandbox", "a", "sandbox-a", "04"));
	cluster_add(c, "events", EVENT_OF("E2", "Pod", "a", "pod-a", "02"));
	cluster_add(c, "events", EVENT_OF("E3", "SandboxClaim", "a", "claim-a", "03"));
	cluster_add(c, "events", EVENT_OF("E9", "Sandbox", "x", "sandbox-x", "09"));
	struct fleet *fleet = open_all(c);
	API_UNTIL(&c->api, fleet_events(fleet, "claim-a", out, 5) == 4, 9000);
	for (int i = 0; i < 4; i++) { /* newest first */
		char name[3] = { 'E', (char)('4' - i), '\0' };
		assert_string_equal(out[i].reason, name);
		assert_int_equal(out[i].count, 2);
		assert_false(out[i].is_warning);
	}
	assert_string_equal(out[0].object, "Sandbox/a");
	assert_null(out[4].reason);
	/* the newest of them */
	memset(out, 0, sizeof out);
	assert_int_equal(fleet_events(fleet, "claim-a", out, 2), 2);
	assert_string_equal(out[0].reason, "E4");
	assert_string_equal(out[1].reason, "E3");
	assert_null(out[2].reason);
	assert_int_equal(fleet_events(fleet, "claim-a", out, 1), 1);
	assert_string_equal(out[0].reason, "E4");
	assert_int_equal(fleet_events(fleet, "claim-a", out, 0), 0);
	assert_int_equal(fleet_events(fleet, "nope", out, 5), 0);
}

#define CHANGE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CHANGE(deletes),
		CHANGE(a_sandbox_without_a_claim),
		CHANGE(nothing_is_written_read_only),
		CHANGE(suspends_and_resumes),
		CHANGE(it_goes_meanwhile),
		CHANGE(it_is_another),
		CHANGE(it_is_not_known_yet),
		CHANGE(what_is_named_may_be_of_another),
		CHANGE(there_is_none_yet),
		CHANGE(it_cannot_be_suspended),
		CHANGE(it_takes_too_long),
		CHANGE(resuming_is_hopeless),
		CHANGE(extensions),
		CHANGE(what_an_extension_sends),
		CHANGE(names),
		CHANGE(what_ends_soon),
		CHANGE(pools),
		CHANGE(events),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
