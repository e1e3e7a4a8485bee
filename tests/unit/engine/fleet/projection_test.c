// SPDX-License-Identifier: Apache-2.0
/* What is read from objects, field by field; since when something is as it is; and the claim that a create sends. */
#include "objects.h"

#include "engine/fleet/op_create.h"
#include "engine/fleet/projection.h"

#define COUNT(a) (sizeof(a) / sizeof(a)[0])

static void on_change(void *arg)
{
	(void)arg;
}

static int64_t ms_of(const char *date)
{
	int64_t ns = 0;
	assert_true(clock_parse_rfc3339(date, &ns));
	return ns / 1000000;
}

static void texts_are(const char *row, const char *is, const char *wanted)
{
	if (strcmp(is ? is : "", wanted) != 0)
		fail_msg("%s: '%s', wanted '%s'", row, is ? is : "(null)", wanted);
}

/* ---- pods */

#define WAITS(name, reason)                                                                    \
	"{'name':'" name "','state':{'waiting':{'reason':'" reason "','message':'w'}}}"
#define ENDED(name, code)                                                                      \
	"{'name':'" name "','state':{'terminated':{'reason':'R','exitCode':" code "}}}"
#define CRASHED(name, code)                                                                    \
	"{'name':'" name                                                                       \
	"','restartCount':2,'lastState':{'terminated':{'reason':'L','exitCode':" code "}}}"
#define RUNS(name) "{'name':'" name "','restartCount':1,'state':{'running':{}}}"
#define OF(list) "'containerStatuses':[" list "]"
#define INIT(list) "'initContainerStatuses':[" list "]"

/* Of several containers the one that explains most; of equals the first. */
static void the_container_that_tells_most(void **state)
{
	static const struct {
		const char *status, *container, *waiting, *ended;
		int exit_code, restarts;
	} rows[] = {
		{ "'x':1", "", "", "", 0, 0 },
		{ OF(RUNS("a")), "", "", "", 0, 1 },
		{ OF(ENDED("a", "0")), "", "", "", 0, 0 },
		{ OF(ENDED("a", "3")), "a", "", "R", 3, 0 },
		{ OF(WAITS("a", "ContainerCreating")), "a", "ContainerCreating", "", 0, 0 },
		{ OF(RUNS("a") "," WAITS("b", "PodInitializing")), "b", "PodInitializing", "",
			0, 1 },
		{ OF(WAITS("a", "ContainerCreating") "," WAITS("b", "PodInitializing")), "a",
			"ContainerCreating", "", 0, 0 },
		{ OF(WAITS("a", "ContainerCreating") "," CRASHED("b", "1")), "b", "", "L", 1,
			2 },
		{ OF(CRASHED("a", "0")), "a", "", "L", 0, 2 },
		{ OF(CRASHED("a", "1") "," ENDED("b", "2")), "b", "", "R", 2, 2 },
		{ OF(ENDED("a", "2") "," WAITS("b", "ErrImagePull")), "b", "ErrImagePull", "",
			0, 0 },
		{ OF(WAITS("a", "X") "," WAITS("b", "Y")), "a", "X", "", 0, 0 },
		{ OF(WAITS("a", "ContainerCreating")) "," INIT(ENDED("i", "1")), "i", "", "R",
			1, 0 },
		/* restarts of init containers do not count */
		{ OF(RUNS("a")) "," INIT(CRASHED("i", "1")), "i", "", "L", 1, 1 },
		{ OF("{'name':'a','restartCount':-5}"), "", "", "", 0, 0 },
		{ OF("{'name':'a','restartCount':2147483646}"), "", "", "", 0, 2147483646 },
		{ OF("{'name':'a','restartCount':2147483647}"), "", "", "", 0, 0 },
		{ OF("{'name':'a','state':{'terminated':{'reason':'R','exitCode':99999999999}}}"),
			"a", "", "R", 0, 0 },
		{ OF("{'name':'a','state':{'terminated':{'reason':'R','exitCode':-7}}}"), "a",
			"", "R", -7, 0 },
		{ OF("5,[],null"), "", "", "", 0, 0 },
	};
	(void)state;
	struct fleet_store store;
	fleet_store_init(&store, on_change, NULL);
	struct fleet_pod pod = { .name = NULL };
	for (size_t i = 0; i < COUNT(rows); i++) {
		char text[600];
		snprintf(text, sizeof text, "{'metadata':{'name':'p'},'status':{%s}}",
			rows[i].status);
		cJSON *object = object_of(text);
		fleet_pod_read(&store, &pod, object);
		cJSON_Delete(object);
		texts_are(text, pod.trouble->container, rows[i].container);
		texts_are(text, pod.trouble->waiting, rows[i].waiting);
		texts_are(text, pod.trouble->waiting_message, rows[i].waiting[0] ? "w" : "");
		texts_are(text, pod.trouble->ended, rows[i].ended);
		if (pod.trouble->exit_code != rows[i].exit_code ||
			pod.restarts != rows[i].restarts)
			fail_msg("%s: %d %d", text, pod.trouble->exit_code, pod.restarts);
	}
	fleet_pod_drop(&store, &pod);
	fleet_store_deinit(&store);
}

static void phases_and_addresses(void **state)
{
	static const struct {
		const char *status;
		char phase;
		const char *ip;
	} rows[] = {
		{ "'phase':'Pending'", 'P', "" },
		{ "'phase':'Running','podIP':'10.0.0.1'", 'R', "10.0.0.1" },
		{ "'phase':'Succeeded','podIP':'x','podIPs':[{'ip':'10.0.0.2'}]", 'S',
			"10.0.0.2" },
		{ "'phase':'Failed','podIPs':[{'ip':'fd00::1'},{'ip':'10.0.0.3'}]", 'F',
			"10.0.0.3" },
		{ "'phase':'Unknown','podIPs':[{'ip':'fd00::1'},{'ip':'fd00::2'}]", 'U',
			"fd00::1" },
		{ "'phase':'','podIPs':[{'ip':'no'},{},5]", 'U', "" },
		{ "'phase':'x','podIPs':'10.0.0.1'", 'U', "" },
		{ "'phase':5", 'U', "" },
	};
	(void)state;
	struct fleet_store store;
	fleet_store_init(&store, on_change, NULL);
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct fleet_pod pod = { .name = NULL };
		char text[300];
		snprintf(text, sizeof text, "{'metadata':{'name':'p'},'status':{%s}}",
			rows[i].status);
		cJSON *object = object_of(text);
		fleet_pod_read(&store, &pod, object);
		cJSON_Delete(object);
		assert_int_equal(pod.phase, rows[i].phase);
		texts_are(text, pod.pod_ip, rows[i].ip);
		fleet_pod_drop(&store, &pod);
	}
	fleet_store_deinit(&store);
}

static void runtimes_by_their_ports(void **state)
{
	static const struct {
		const char *containers;
		enum fleet_declared is;
	} rows[] = {
		{ "[]", DECLARED_NOTHING },
		{ "[{'ports':[{'containerPort':8080},{'containerPort':9090}]}]",
			DECLARED_SANDBOXD },
		{ "[{'ports':[{'containerPort':8080}]},{'ports':[{'containerPort':9090}]}]",
			DECLARED_SANDBOXD },
		{ "[{'ports':[{'containerPort':8080}]}]", DECLARED_NOTHING },
		{ "[{'ports':[{'containerPort':9090}]}]", DECLARED_NOTHING },
		{ "[{'ports':[{'containerPort':8888}]}]", DECLARED_LEGACY },
		{ "[{'ports':[{'containerPort':8888},{'containerPort':8080}]}]",
			DECLARED_LEGACY },
		{ "[{'ports':[{'containerPort':8888},{'containerPort':8080},"
		  "{'containerPort':9090}]}]",
			DECLARED_SANDBOXD },
		{ "[{'ports':[{'containerPort':8081},{'containerPort':9091}]}]",
			DECLARED_NOTHING },
		{ "5", DECLARED_NOTHING },
	};
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		char text[300];
		snprintf(text, sizeof text, "{'containers':%s}", rows[i].containers);
		cJSON *spec = object_of(text);
		if (fleet_projection_runtime(spec) != rows[i].is)
			fail_msg("%s", text);
		cJSON_Delete(spec);
	}
	assert_int_equal(fleet_projection_runtime(NULL), DECLARED_NOTHING);
}

/* ---- conditions */

static void conditions(void **state)
{
	static const struct {
		const char *generation, *list;
		enum fleet_condition_status status;
		enum fleet_reason code;
		uint32_t since_s;
		bool is_current;
		const char *reason;
	} rows[] = {
		{ "3", "", CONDITION_ABSENT, REASON_OTHER, 0, true, "" },
		{ "3", "{'type':'Other','status':'True'}", CONDITION_ABSENT, REASON_OTHER, 0,
			true, "" },
		{ "3", "{'type':'Ready'}", CONDITION_ABSENT, REASON_OTHER, 0, true, "" },
		{ "3", "{'type':'Ready','status':'True','reason':'DependenciesReady'}",
			CONDITION_TRUE, REASON_DependenciesReady, 0, true,
			"DependenciesReady" },
		{ "3", "{'type':'Ready','status':'False','reason':'ClaimExpired'}",
			CONDITION_FALSE, REASON_ClaimExpired, 0, true, "ClaimExpired" },
		{ "3", "{'type':'Ready','status':'Unknown','reason':'Odd'}", CONDITION_UNKNOWN,
			REASON_OTHER, 0, true, "Odd" },
		{ "3", "{'type':'Ready','status':'true'}", CONDITION_UNKNOWN, REASON_OTHER, 0,
			true, "" },
		/* of two the first, as meta.FindStatusCondition of apimachinery takes it */
		{ "3", "{'type':'Ready','status':'False'},{'type':'Ready','status':'True'}",
			CONDITION_FALSE, REASON_OTHER, 0, true, "" },
		{ "3",
			"{'type':'Ready','status':'True','observedGeneration':3,"
			"'lastTransitionTime':'1970-01-01T00:00:01Z'}",
			CONDITION_TRUE, REASON_OTHER, 1, true, "" },
		{ "3",
			"{'type':'Ready','status':'True','observedGeneration':2,"
			"'lastTransitionTime':'1969-12-31T23:59:59Z'}",
			CONDITION_TRUE, REASON_OTHER, 0, false, "" },
		{ "3",
			"{'type':'Ready','status':'True','observedGeneration':4,"
			"'lastTransitionTime':'2106-02-07T06:28:15Z'}",
			CONDITION_TRUE, REASON_OTHER, UINT32_MAX, false, "" },
		{ "null",
			"{'type':'Ready','status':'True','observedGeneration':4,"
			"'lastTransitionTime':'2106-02-07T06:28:16Z'}",
			CONDITION_TRUE, REASON_OTHER, 0, true, "" },
		{ "0", "{'type':'Ready','status':'True','observedGeneration':1}",
			CONDITION_TRUE, REASON_OTHER, 0, false, "" },
	};
	(void)state;
	struct fleet_store store;
	fleet_store_init(&store, on_change, NULL);
	struct fleet_condition c = { .reason = NULL };
	for (size_t i = 0; i < COUNT(rows); i++) {
		char text[400];
		snprintf(text, sizeof text,
			"{'metadata':{'generation':%s},'status':{'conditions':[%s]}}",
			rows[i].generation, rows[i].list);
		cJSON *object = object_of(text);
		fleet_condition_read(&store, &c, object, "Ready");
		cJSON_Delete(object);
		texts_are(text, c.reason, rows[i].reason);
		if (c.status != rows[i].status || c.code != rows[i].code ||
			c.since_s != rows[i].since_s || c.is_current != rows[i].is_current)
			fail_msg("%s: %d %d %u %d", text, c.status, c.code, c.since_s,
				c.is_current);
	}
	fleet_condition_drop(&store, &c);
	fleet_store_deinit(&store);
}

/* ---- claims and Sandboxes */

static void the_sandbox_of_a_claim(void **state)
{
	static const struct {
		const char *metadata, *status, *sandbox, *ip;
		bool had_first_ready;
		int64_t deleted_ms;
		const char *finalizers;
	} rows[] = {
		{ "", "", "", "", false, 0, "" },
		{ "", "'sandbox':{'name':'a','Name':'b','podIPs':['10.0.0.1']}", "a",
			"10.0.0.1", false, 0, "" },
		{ "", "'sandbox':{'name':'','Name':'b'}", "b", "", false, 0, "" },
		{ ",'annotations':{'agents.x-k8s.io/sandbox-name':'n'}",
			"'sandbox':{'Name':''}", "n", "", false, 0, "" },
		{ ",'annotations':{'agents.x-k8s.io/sandbox-name':'n'}",
			"'sandbox':{'name':'a'}", "a", "", false, 0, "" },
		{ ",'annotations':{'agents.x-k8s.io/claim-first-ready-at':'2026-01-01T00:00:00Z'}",
			"", "", "", true, 0, "" },
		{ ",'annotations':{'agents.x-k8s.io/claim-first-ready-at':'soon'}", "", "", "",
			false, 0, "" },
		{ ",'deletionTimestamp':'1970-01-01T00:00:02Z','finalizers':['a',5,'b']", "",
			"", "", false, 2000, "a, b" },
		{ ",'deletionTimestamp':'nonsense'", "", "", "", false, 1, "" },
		{ ",'finalizers':['a']", "", "", "", false, 0, "" },
	};
	(void)state;
	struct fleet_store store;
	fleet_store_init(&store, on_change, NULL);
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct fleet_claim claim = { .name = NULL };
		char *text = claim_json(rows[i].metadata, "", rows[i].status);
		cJSON *object = object_of(text);
		fleet_claim_read(&store, &claim, object);
		texts_are(text, claim.sandbox, rows[i].sandbox);
		texts_are(text, claim.pod_ip, rows[i].ip);
		texts_are(text, claim.finalizers, rows[i].finalizers);
		if ((claim.first_ready_s != 0) != rows[i].had_first_ready ||
			claim.deleted_ms != rows[i].deleted_ms)
			fail_msg("%s", text);
		fleet_claim_drop(&store, &claim);
		cJSON_Delete(object);
		free(text);
	}
	fleet_store_deinit(&store);
}

#define OWNER(kind, name, is_controller)                                                       \
	"{'kind':'" kind "','name':'" name "','uid':'" CLAIM_UID                               \
	"','controller':" is_controller "}"

static void whose_a_sandbox_is(void **state)
{
	static const struct {
		const char *metadata;
		enum fleet_owner owner;
		const char *pool, *claim_uid;
	} rows[] = {
		{ "", OWNER_NONE, "", "" },
		{ ",'ownerReferences':[" OWNER("SandboxClaim", "c", "true") "]", OWNER_CLAIM,
			"", CLAIM_UID },
		{ ",'ownerReferences':[" OWNER("SandboxClaim", "c", "false") "]", OWNER_NONE,
			"", "" },
		{ ",'ownerReferences':[" OWNER("SandboxWarmPool", "p", "true") "]", OWNER_POOL,
			"p", "" },
		{ ",'ownerReferences':[" OWNER("Deployment", "d", "true") "]", OWNER_OTHER, "",
			"" },
		{ ",'ownerReferences':[" OWNER("Deployment", "d", "false") "," OWNER(
			  "SandboxWarmPool", "p", "true") "]",
			OWNER_POOL, "p", "" },
		{ ",'labels':{'agents.x-k8s.io/claim-uid':'" POD_UID
		  "'},'ownerReferences':[" OWNER("SandboxClaim", "c", "true") "]",
			OWNER_CLAIM, "", POD_UID },
		{ ",'labels':{'agents.x-k8s.io/claim-uid':''},'ownerReferences':[" OWNER(
			  "SandboxClaim", "c", "true") "]",
			OWNER_CLAIM, "", CLAIM_UID },
		{ ",'ownerReferences':[{'controller':true}]", OWNER_NONE, "", "" },
	};
	(void)state;
	struct fleet_store store;
	fleet_store_init(&store, on_change, NULL);
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct fleet_sandbox sandbox = { .name = NULL };
		char uid[FLEET_UID_BYTES], *text = sandbox_json(rows[i].metadata, "", "");
		cJSON *object = object_of(text);
		fleet_sandbox_read(&store, &sandbox, object);
		texts_are(text, sandbox.pool, rows[i].pool);
		texts_are(text, fleet_uid_format(&sandbox.claim_uid, uid), rows[i].claim_uid);
		if (sandbox.owner != rows[i].owner)
			fail_msg("%s: %d", text, sandbox.owner);
		fleet_sandbox_drop(&store, &sandbox);
		cJSON_Delete(object);
		free(text);
	}
	fleet_store_deinit(&store);
}

/* Any text is a UID; those that are UUIDs take no memory. */
static void uids(void **state)
{
	static const char *const texts[] = { "", "11111111-0000-4000-8000-00000000000f",
		"abcdef01-2345-6789-abcd-ef0123456789", "ABCDEF01-2345-6789-abcd-ef0123456789",
		"gbcdef01-2345-6789-abcd-ef0123456789", "abcdef01-2345-6789-abcd-ef012345678",
		"abcdef01+2345-6789-abcd-ef0123456789", "abcdef01-2345-6789-abcd+ef0123456789",
		"abcdef0102345-6789-abcd-ef0123456789", "abcdef01-2345-6789-ffff-ffffffffffff",
		"00000000-0000-0000-0000-000000000001", "x", "any text" };
	(void)state;
	struct fleet_store store;
	fleet_store_init(&store, on_change, NULL);
	struct fleet_uid all[COUNT(texts)];
	for (size_t i = 0; i < COUNT(texts); i++) {
		char out[FLEET_UID_BYTES];
		all[i] = fleet_uid_parse(&store, texts[i]);
		assert_string_equal(fleet_uid_format(&all[i], out), texts[i]);
		assert_int_equal(fleet_uid_is_none(&all[i]), i == 0);
	}
	for (size_t i = 0; i < COUNT(texts); i++) {
		struct fleet_uid again = fleet_uid_parse(&store, texts[i]);
		for (size_t j = 0; j < COUNT(texts); j++)
			assert_int_equal(fleet_uid_equals(&again, &all[j]), i == j);
		assert_int_equal(fleet_uid_hash(&again), fleet_uid_hash(&all[i]));
		fleet_uid_drop(&store, &again);
		assert_true(fleet_uid_is_none(&again));
	}
	for (size_t i = 0; i < COUNT(texts); i++)
		fleet_uid_drop(&store, &all[i]);
	/* longer ones are told apart wherever they differ, and their short form is them */
	char a[254], b[254], out[FLEET_UID_BYTES];
	memset(a, 'u', sizeof a - 1);
	a[sizeof a - 1] = '\0';
	for (size_t at = 0; at < sizeof a - 1; at += 36) {
		memcpy(b, a, sizeof a);
		b[at] = 'v';
		struct fleet_uid one = fleet_uid_parse(&store, a),
				 other = fleet_uid_parse(&store, b);
		assert_false(fleet_uid_equals(&one, &other));
		struct fleet_uid again = fleet_uid_parse(&store, fleet_uid_format(&one, out));
		assert_true(fleet_uid_equals(&one, &again));
		fleet_uid_drop(&store, &one);
		fleet_uid_drop(&store, &other);
		fleet_uid_drop(&store, &again);
	}
	struct fleet_uid none = fleet_uid_parse(&store, NULL);
	assert_true(fleet_uid_is_none(&none));
	fleet_store_deinit(&store);
}

/* ---- since when */

#define MADE_C "2026-01-01T00:00:00Z"
#define MADE_S "2026-01-01T00:00:01Z"
#define GONE "2026-01-03T00:00:00Z"
#define TURNED "2026-01-02T00:00:00Z" /* of COND */
#define DELETED ",'deletionTimestamp':'" GONE "'"
#define RUN "'operatingMode':'Running'"
#define STOP "'operatingMode':'Suspended'"
#define SINCE(type, status, reason, date)                                                      \
	"{'type':'" type "','status':'" status "','reason':'" reason                           \
	"','message':'m','lastTransitionTime':'" date "','observedGeneration':3}"

static void since_when_it_is_so(void **state)
{
	static const struct {
		const char *claim_extra, *claim_status; /* NULL: no claim */
		const char *box_extra, *box_spec, *box_status;
		enum fleet_state state;
		const char *since;
	} rows[] = {
		{ DELETED, "", NULL, NULL, NULL, FLEET_TERMINATING, GONE },
		{ NULL, NULL, DELETED, RUN, "", FLEET_TERMINATING, GONE },
		{ "", "", NULL, NULL, NULL, FLEET_PENDING, MADE_C },
		{ NULL, NULL, "", RUN, "", FLEET_PENDING, MADE_S },
		{ "", CONDS(COND("Ready", "False", "SandboxMissing")), NULL, NULL, NULL,
			FLEET_PENDING, TURNED },
		{ "", CONDS(COND("Ready", "False", "ClaimExpired")), NULL, NULL, NULL,
			FLEET_EXPIRED, TURNED },
		{ NULL, NULL, "", RUN, CONDS(COND("Ready", "False", "SandboxExpired")),
			FLEET_EXPIRED, TURNED },
		{ "", CONDS(COND("Ready", "False", "InvalidMetadata")), NULL, NULL, NULL,
			FLEET_FAILED, TURNED },
		{ NULL, NULL, "", RUN,
			CONDS(COND("Ready", "False", "PodFailed") "," SINCE(
				"Finished", "True", "PodFailed", MADE_S)),
			FLEET_FAILED, MADE_S },
		{ "", CONDS(COND("Ready", "False", "WarmPoolNotFound")), NULL, NULL, NULL,
			FLEET_BLOCKED, TURNED },
		{ NULL, NULL, "", RUN,
			CONDS(COND("Ready", "False", "PodSucceeded") "," SINCE(
				"Finished", "True", "PodSucceeded", MADE_S)),
			FLEET_FINISHED, MADE_S },
		{ NULL, NULL, "", STOP,
			CONDS(SINCE("Suspended", "True", "PodTerminated", MADE_S) "," COND(
				"Ready", "False", "SandboxSuspended")),
			FLEET_SUSPENDED, MADE_S },
		{ NULL, NULL, "", STOP,
			CONDS(SINCE("Suspended", "False", "PodTerminating", MADE_S) "," COND(
				"Ready", "False", "DependenciesNotReady")),
			FLEET_SUSPENDING, TURNED },
		{ NULL, NULL, "", RUN,
			CONDS(COND("Ready", "False", "DependenciesNotReady") "," SINCE(
				"PodScheduled", "False", "Unschedulable", MADE_S)),
			FLEET_PENDING, MADE_S },
		{ NULL, NULL, "", RUN, CONDS(COND("Ready", "False", "DependenciesNotReady")),
			FLEET_CREATING, TURNED },
		{ NULL, NULL, "", RUN, CONDS(COND("Ready", "False", "ReconcilerError")),
			FLEET_ERROR, TURNED },
		{ NULL, NULL, "", RUN, CONDS(COND("Ready", "True", "DependenciesReady")),
			FLEET_READY, NULL },
	};
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct fleet_store store;
		fleet_store_init(&store, on_change, NULL);
		char *claim = rows[i].claim_extra ? claim_json(rows[i].claim_extra, "",
							    rows[i].claim_status)
						  : NULL;
		char *box = rows[i].box_extra ? sandbox_json(rows[i].box_extra,
							rows[i].box_spec, rows[i].box_status)
					      : NULL;
		if (claim != NULL)
			apply(&store, STORE_CLAIMS, KUBE_ADDED, claim);
		if (box != NULL)
			apply(&store, STORE_SANDBOXES, KUBE_ADDED, box);
		const struct fleet_store_row *row =
			fleet_store_find(&store, claim ? CLAIM_UID : SANDBOX_UID);
		assert_non_null(row);
		int64_t since = rows[i].since ? ms_of(rows[i].since) : 0;
		if (row->shown.state != rows[i].state || row->shown.why_since_ms != since)
			fail_msg("row %zu: %s since %lld, wanted %lld", i,
				fleet_state_name(row->shown.state),
				(long long)row->shown.why_since_ms, (long long)since);
		assert_int_equal(row->shown.created_ms, ms_of(claim ? MADE_C : MADE_S));
		free(claim);
		free(box);
		fleet_store_deinit(&store);
	}
}

/* Foreign words: without their end of a sentence, and up to 480 bytes; longer ones lose their middle, between characters. */
static void how_much_of_a_message_is_shown(void **state)
{
	static const struct {
		int n; /* letters, then */
		const char *middle;
		int after;
		const char *end;
		int shown; /* letters */
		const char *between;
		int shown_after;
	} rows[] = {
		{ 3, "", 0, "", 3, "", 0 },
		{ 3, ". \\n\\t", 0, "", 3, "", 0 },
		{ 3, ".b", 0, ".", 3, ".b", 0 },
		{ 480, "", 0, "", 480, "", 0 },
		{ 480, "", 0, ".", 480, "", 0 },
		{ 481, "", 0, "", 300, " \xe2\x80\xa6 ", 180 },
		/* a character that does not fit whole goes */
		{ 299, "\xc3\xbc", 300, "", 299, " \xe2\x80\xa6 ", 180 },
		{ 298, "\xe2\x82\xac", 300, "", 298, " \xe2\x80\xa6 ", 180 },
		/* and one at the beginning of the tail stays whole */
		{ 400, "\xc3\xbc", 179, "", 300, " \xe2\x80\xa6 \xc3\xbc", 179 },
	};
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct fleet_store store;
		char letters[600], wanted[800], status[1000];
		memset(letters, 'x', sizeof letters);
		fleet_store_init(&store, on_change, NULL);
		snprintf(status, sizeof status,
			"'conditions':[{'type':'Ready','status':'False','reason':'SandboxMissing',"
			"'message':'%.*s%s%.*s%s'}]",
			rows[i].n, letters, rows[i].middle, rows[i].after, letters,
			rows[i].end);
		snprintf(wanted, sizeof wanted, "SandboxClaim c: %.*s%s%.*s", rows[i].shown,
			letters, rows[i].between, rows[i].shown_after, letters);
		char *claim = claim_json("", "", status);
		apply(&store, STORE_CLAIMS, KUBE_ADDED, claim);
		assert_string_equal(fleet_store_find(&store, CLAIM_UID)->shown.why, wanted);
		free(claim);
		fleet_store_deinit(&store);
	}
}

/* The earlier of both ends. */
static void when_it_expires(void **state)
{
	static const struct {
		const char *of_claim, *of_sandbox; /* NULL: none */
		const char *is;
	} rows[] = {
		{ NULL, NULL, NULL },
		{ MADE_C, NULL, MADE_C },
		{ NULL, MADE_S, MADE_S },
		{ MADE_C, MADE_S, MADE_C },
		{ GONE, MADE_S, MADE_S },
		{ GONE, GONE, GONE },
	};
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct fleet_store store;
		char spec[200] = "", of[200] = RUN;
		fleet_store_init(&store, on_change, NULL);
		if (rows[i].of_claim)
			snprintf(spec, sizeof spec, ",'lifecycle':{'shutdownTime':'%s'}",
				rows[i].of_claim);
		if (rows[i].of_sandbox)
			snprintf(of, sizeof of, RUN ",'shutdownTime':'%s'", rows[i].of_sandbox);
		char *claim = claim_json("", spec, "'sandbox':{'name':'s'}");
		char *box = sandbox_json(OF_CLAIM, of, "");
		apply(&store, STORE_CLAIMS, KUBE_ADDED, claim);
		apply(&store, STORE_SANDBOXES, KUBE_ADDED, box);
		const struct fleet_store_row *row = fleet_store_find(&store, CLAIM_UID);
		assert_int_equal(row->shown.expires_ms, rows[i].is ? ms_of(rows[i].is) : 0);
		assert_string_equal(row->shown.sandbox_uid, SANDBOX_UID);
		free(claim);
		free(box);
		fleet_store_deinit(&store);
	}
}

/* ---- the pod of a Sandbox */

static void tell_pod(struct fleet_store *store, enum kube_change change, const char *uid,
	const char *owner, const char *created, bool is_deleted)
{
	char *text = x_asprintf(
		"{'metadata':{'name':'s','namespace':'n','uid':'%s','creationTimestamp':'%s'%s,"
		"'ownerReferences':[{'kind':'Sandbox','uid':'%s','controller':true}]},"
		"'spec':{},'status':{'phase':'Running'}}",
		uid, created, is_deleted ? DELETED : "", owner);
	apply(store, STORE_PODS, change, text);
	free(text);
}

/* The one that lives; of two the newer. */
static void of_several_pods_one_is_shown(void **state)
{
	(void)state;
	struct fleet_store store;
	fleet_store_init(&store, on_change, NULL);
	char *box = sandbox_json("", RUN, "");
	apply(&store, STORE_SANDBOXES, KUBE_ADDED, box);
	const struct fleet_store_row *row = fleet_store_find(&store, SANDBOX_UID);
	tell_pod(&store, KUBE_ADDED, "pod-old", SANDBOX_UID, MADE_C, false);
	assert_string_equal(row->shown.pod_uid, "pod-old");
	tell_pod(&store, KUBE_ADDED, "pod-foreign", CLAIM_UID, GONE, false);
	assert_string_equal(row->shown.pod_uid, "pod-old");
	tell_pod(&store, KUBE_ADDED, "pod-new", SANDBOX_UID, TURNED, false);
	assert_string_equal(row->shown.pod_uid, "pod-new");
	tell_pod(&store, KUBE_ADDED, "pod-between", SANDBOX_UID, MADE_S, false);
	assert_string_equal(row->shown.pod_uid, "pod-new");
	/* one that is being deleted gives way to any that is not */
	tell_pod(&store, KUBE_MODIFIED, "pod-new", SANDBOX_UID, TURNED, true);
	assert_string_equal(row->shown.pod_uid, "pod-between");
	tell_pod(&store, KUBE_MODIFIED, "pod-between", SANDBOX_UID, MADE_S, true);
	assert_string_equal(row->shown.pod_uid, "pod-old");
	tell_pod(&store, KUBE_MODIFIED, "pod-old", SANDBOX_UID, MADE_C, true);
	assert_string_equal(row->shown.pod_uid, "pod-new");
	/* one that goes, or turns out to be of another, is shown no more */
	tell_pod(&store, KUBE_DELETED, "pod-new", SANDBOX_UID, TURNED, true);
	assert_string_equal(row->shown.pod_uid, "pod-between");
	tell_pod(&store, KUBE_MODIFIED, "pod-between", CLAIM_UID, MADE_S, true);
	assert_string_equal(row->shown.pod_uid, "pod-old");
	tell_pod(&store, KUBE_DELETED, "pod-old", SANDBOX_UID, MADE_C, true);
	assert_string_equal(row->shown.pod_uid, "");
	tell_pod(&store, KUBE_MODIFIED, "pod-between", SANDBOX_UID, MADE_S, false);
	assert_string_equal(row->shown.pod_uid, "pod-between");
	free(box);
	fleet_store_deinit(&store);
}

/* ---- the claim of a create */

static const char *const none[] = { NULL };

static void the_body_of_a_create(void **state)
{
	static const char *const labels[] = { "a=1", "a=2", "agents.x-k8s.io/created-by=me",
		"sandmux/request-id=mine", "e=", NULL };
	static const char *const pod_labels[] = { "sandbox.users.io/p=q", NULL };
	static const char *const annotations[] = { "x=any text, = too", NULL };
	static const char *const env[] = { "K=v=w", "EMPTY=", NULL };
	struct err err = { 0 };
	(void)state;
	struct fleet_create_opts opts = { .namespace_ = "n",
		.pool = "p",
		.labels = labels,
		.pod_labels = pod_labels,
		.pod_annotations = annotations,
		.env = env,
		.shutdown_after_ms = 1 };
	cJSON *claim = fleet_create_body(&opts, "r1", "00-t-s-01", 1000000000, &err);
	assert_non_null(claim);
	cJSON *wanted = object_of(
		"{'apiVersion':'extensions.agents.x-k8s.io/v1beta1','kind':'SandboxClaim',"
		"'metadata':{'generateName':'sandbox-claim-','namespace':'n','labels':{'a':'2',"
		"'e':'','agents.x-k8s.io/created-by':'sandmux','sandmux/request-id':'r1'},"
		"'annotations':{'agents.x-k8s.io/client-first-requested-at':"
		"'1970-01-01T00:00:01.000000000Z','opentelemetry.io/trace-context':"
		"'{\\'traceparent\\':\\'00-t-s-01\\'}'}},'spec':{'warmPoolRef':{'name':'p'},"
		"'additionalPodMetadata':{'labels':{'sandbox.users.io/p':'q'},'annotations':{'x':'any text, = too'}"
		"},'env':[{'name':'K','value':'v=w'},{'name':'EMPTY','value':''}],'lifecycle':{"
		"'shutdownTime':'1970-01-01T00:00:02Z','shutdownPolicy':'Delete'}}}");
	if (!cJSON_Compare(claim, wanted, true)) {
		char *text = cJSON_PrintUnformatted(claim);
		fail_msg("%s", text);
	}
	cJSON_Delete(claim);
	cJSON_Delete(wanted);
	/* whole seconds stay, and what is not asked for is not there */
	opts = (struct fleet_create_opts){ .namespace_ = "n",
		.pool = "p",
		.name = "mine",
		.labels = none,
		.pod_labels = none,
		.pod_annotations = none,
		.env = none,
		.shutdown_after_ms = 1000 };
	claim = fleet_create_body(&opts, "r1", "", 1000000000, &err);
	assert_string_equal(json_str(claim, "metadata", "name", NULL), "mine");
	assert_null(json_get(claim, "metadata", "generateName", NULL));
	assert_string_equal(json_str(claim, "spec", "lifecycle", "shutdownTime", NULL),
		"1970-01-01T00:00:02Z");
	assert_int_equal(cJSON_GetArraySize(json_get(claim, "spec", NULL)), 2);
	assert_int_equal(
		cJSON_GetArraySize(json_get(claim, "metadata", "annotations", NULL)), 1);
	cJSON_Delete(claim);
	opts.shutdown_after_ms = 0;
	opts.pod_annotations = annotations;
	claim = fleet_create_body(&opts, "r1", "", 1000000000, &err);
	assert_null(json_get(claim, "spec", "lifecycle", NULL));
	assert_null(json_get(claim, "spec", "additionalPodMetadata", "labels", NULL));
	assert_non_null(json_get(claim, "spec", "additionalPodMetadata", "annotations", NULL));
	cJSON_Delete(claim);
}

static void what_a_create_refuses(void **state)
{
	static const struct {
		const char *label, *pod_label, *annotation, *env, *message;
	} rows[] = {
		{ "x", NULL, NULL, NULL, "label 'x' is not KEY=VALUE" },
		{ "=x", NULL, NULL, NULL, "label '=x' is not KEY=VALUE" },
		{ "a=b c", NULL, NULL, NULL, "letters, digits" },
		{ "a b=c", NULL, NULL, NULL, "letters, digits" },
		{ "a!=c", NULL, NULL, NULL, "letters, digits" },
		{ "a=-", NULL, NULL, NULL, "label 'a=-': " },
		{ "-=a", NULL, NULL, NULL, "label '-=a': " },
		{ NULL, "x", NULL, NULL, "pod label 'x'" },
		{ NULL, "a=b c", NULL, NULL, "pod label 'a=b c'" },
		{ NULL, NULL, "x", NULL, "pod annotation 'x'" },
		{ NULL, NULL, NULL, "SECRET", "an environment variable is not NAME=VALUE" },
		{ NULL, NULL, NULL, "=v", "an environment variable is not NAME=VALUE" },
	};
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		const char *const labels[] = { rows[i].label, NULL };
		const char *const pod_labels[] = { rows[i].pod_label, NULL };
		const char *const annotations[] = { rows[i].annotation, NULL };
		const char *const env[] = { rows[i].env, NULL };
		const struct fleet_create_opts opts = { .namespace_ = "n",
			.pool = "p",
			.labels = labels,
			.pod_labels = pod_labels,
			.pod_annotations = annotations,
			.env = env };
		struct err err = { 0 };
		assert_null(fleet_create_body(&opts, "r", "", 0, &err));
		assert_int_equal(err.code, ERR_ARG_INVALID);
		if (strstr(err.msg, rows[i].message) == NULL)
			fail_msg("row %zu: %s", i, err.msg);
	}
	/* all together are at most 64 KiB */
	static char variable[70000];
	const char *const env[] = { variable, NULL };
	const struct fleet_create_opts opts = { .namespace_ = "n", .pool = "p", .env = env };
	memset(variable, 'a', sizeof variable - 1);
	variable[1] = '=';
	struct err err = { 0 };
	assert_null(fleet_create_body(&opts, "r", "", 0, &err));
	assert_non_null(strstr(err.msg, "are over 64"));
	variable[60000] = '\0';
	cJSON *claim = fleet_create_body(&opts, "r", "", 0, &err);
	assert_non_null(claim);
	cJSON_Delete(claim);
}

static void what_can_be_told_before(void **state)
{
	static char longest[254], too_long[255];
	memset(longest, 'a', sizeof longest - 1);
	memset(too_long, 'a', sizeof too_long - 1);
	const int64_t century_ms = (int64_t)100 * 366 * 24 * 3600 * 1000;
	const struct {
		struct fleet_create_opts opts;
		const char *message; /* NULL: fine */
	} rows[] = {
		{ { .namespace_ = "n", .pool = "p" }, NULL },
		{ { .pool = "p" }, "a namespace is needed" },
		{ { .namespace_ = "", .pool = "p" }, "a namespace is needed" },
		{ { .namespace_ = "n" }, "'' is not the name of a warm pool" },
		{ { .namespace_ = "n", .pool = "P" }, "'P' is not the name of a warm pool" },
		{ { .namespace_ = "n", .pool = "p", .name = "a_b" }, "at most 253" },
		{ { .namespace_ = "n", .pool = "p", .name = longest }, NULL },
		{ { .namespace_ = "n", .pool = "p", .name = too_long }, "at most 253" },
		{ { .namespace_ = "n", .pool = "p", .adopt = true }, "to adopt a claim" },
		{ { .namespace_ = "n", .pool = "p", .name = "a", .adopt = true }, NULL },
		{ { .namespace_ = "n", .pool = "p", .shutdown_after_ms = -1 }, "the lifetime" },
		{ { .namespace_ = "n", .pool = "p", .shutdown_after_ms = century_ms }, NULL },
		{ { .namespace_ = "n", .pool = "p", .shutdown_after_ms = century_ms + 1 },
			"the lifetime" },
		{ { .namespace_ = "n", .pool = "p", .ready_timeout_ms = -1 }, "the timeout" },
		{ { .namespace_ = "n", .pool = "p", .ready_timeout_ms = 1 }, NULL },
	};
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct err err = { 0 };
		bool ok = fleet_create_check(&rows[i].opts, &err);
		if (ok != (rows[i].message == NULL) ||
			(!ok && strstr(err.msg, rows[i].message) == NULL))
			fail_msg("row %zu: %s", i, err.msg);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_container_that_tells_most),
		cmocka_unit_test(phases_and_addresses),
		cmocka_unit_test(runtimes_by_their_ports),
		cmocka_unit_test(conditions),
		cmocka_unit_test(the_sandbox_of_a_claim),
		cmocka_unit_test(whose_a_sandbox_is),
		cmocka_unit_test(uids),
		cmocka_unit_test(since_when_it_is_so),
		cmocka_unit_test(how_much_of_a_message_is_shown),
		cmocka_unit_test(when_it_expires),
		cmocka_unit_test(of_several_pods_one_is_shown),
		cmocka_unit_test(the_body_of_a_create),
		cmocka_unit_test(what_a_create_refuses),
		cmocka_unit_test(what_can_be_told_before),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
