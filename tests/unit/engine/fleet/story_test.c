// SPDX-License-Identifier: Apache-2.0
/* The time line of one sandbox: from what the API tells, from what is seen to change, and from both without saying anything
 * twice. */
#include "objects.h"

#include "engine/base/clock.h"
#include "engine/fleet/story.h"

static void on_change(void *arg)
{
	(void)arg;
}

/* "0 created | 3 ready after 2.1 s": seconds since the claim was made, and the texts */
static void told(const struct fleet_story_entry *entries, size_t n, int64_t from_ms, char *out,
	size_t size)
{
	struct str text;
	str_init(&text, size);
	for (size_t i = 0; i < n; i++)
		str_addf(&text, "%s%lld %s", i ? " | " : "",
			(long long)(entries[i].wall_ms - from_ms) / 1000, entries[i].text);
	snprintf(out, size, "%s", text.p);
	str_deinit(&text);
}

static void in_order_and_nothing_twice(void **state)
{
	(void)state;
	static const struct {
		struct fleet_story_entry in[6];
		size_t n, max;
		const char *out;
	} rows[] = {
		{ { { 9000, FLEET_STORY_READY, "b" }, { 1000, FLEET_STORY_CREATED, "a" } }, 2,
			8, "1 a | 9 b" },
		/* seen and told: the one that says more, at the time of the first */
		{ { { 1000, FLEET_STORY_READY, "ready" },
			  { 2500, FLEET_STORY_READY, "ready after 2 s" } },
			2, 8, "1 ready after 2 s" },
		{ { { 1000, FLEET_STORY_READY, "a" }, { 9000, FLEET_STORY_READY, "b" } }, 2, 8,
			"1 a | 9 b" },
		/* with something else in between */
		{ { { 1000, FLEET_STORY_RESTARTED, "a" }, { 2000, FLEET_STORY_READY, "r" },
			  { 3000, FLEET_STORY_RESTARTED, "a2" } },
			3, 8, "1 a2 | 2 r" },
		/* of one second: as things go */
		{ { { 1000, FLEET_STORY_READY, "r" }, { 1000, FLEET_STORY_CREATED, "c" } }, 2,
			8, "1 c | 1 r" },
		/* too many: the first and the last */
		{ { { 1000, FLEET_STORY_CREATED, "c" }, { 10000, FLEET_STORY_READY, "1" },
			  { 20000, FLEET_STORY_READY, "2" }, { 30000, FLEET_STORY_READY, "3" },
			  { 40000, FLEET_STORY_READY, "4" } },
			5, 3, "1 c | 30 3 | 40 4" },
		{ { { 0 } }, 0, 3, "" },
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct fleet_story_entry entries[6];
		char text[400];
		memcpy(entries, rows[i].in, sizeof entries);
		size_t n = fleet_story_order(entries, rows[i].n, rows[i].max);
		told(entries, n, 0, text, sizeof text);
		assert_string_equal(rows[i].out, text);
	}
}

#define MADE 1767225600000 /* 2026-01-01T00:00:00Z, of claim_json() */
#define AT(type, status, reason, time)                                                         \
	"{'type':'" type "','status':'" status "','reason':'" reason                           \
	"','message':'','lastTransitionTime':'2026-01-01T" time "Z','observedGeneration':3}"
#define TIMES                                                                                  \
	",'annotations':{'agents.x-k8s.io/controller-first-observed-at':"                      \
	"'2026-01-01T00:00:00.100000000Z','agents.x-k8s.io/claim-first-ready-at':"             \
	"'2026-01-01T00:00:02.250000000Z'}"
#define WARM                                                                                   \
	",'labels':{'agents.x-k8s.io/claim-uid':'" CLAIM_UID                                   \
	"','agents.x-k8s.io/launch-type':'warm'}"
#define POD(status)                                                                            \
	"{'metadata':{'name':'s','namespace':'n','uid':'" POD_UID                              \
	"','creationTimestamp':'2026-01-01T00:00:02Z','ownerReferences':[{'kind':'Sandbox',"   \
	"'name':'s','uid':'" SANDBOX_UID "','controller':true}]},'spec':{'nodeName':'node-1'}" \
	",'status':{" status "}}"
#define RUNS(restarts, more)                                                                   \
	"'phase':'Running','conditions':[{'type':'Ready','status':'True'}],"                   \
	"'containerStatuses':[{'name':'main','restartCount':" restarts more "}]"
#define KILLED(time)                                                                           \
	",'lastState':{'terminated':{'reason':'OOMKilled','exitCode':137,'finishedAt':'2026-"  \
	"01-01T" time "Z'}}"

static void give(struct fleet_store *store, enum fleet_store_kind kind, char *object)
{
	apply(store, kind, KUBE_MODIFIED, object);
	free(object);
}

static void give_claim(struct fleet_store *store, const char *extra, const char *conditions)
{
	char *status = x_asprintf("'sandbox':{'name':'s'},'conditions':[%s]", conditions);
	give(store, STORE_CLAIMS, claim_json(extra, "", status));
	free(status);
}

static void give_sandbox(
	struct fleet_store *store, const char *extra, const char *spec, const char *conditions)
{
	char *status = x_asprintf("'conditions':[%s]", conditions);
	give(store, STORE_SANDBOXES, sandbox_json(extra, spec, status));
	free(status);
}

static void is_told(struct fleet_store *store, const char *wanted)
{
	struct fleet_story_entry entries[FLEET_STORY_MAX];
	char text[2000];
	const struct fleet_store_row *row = fleet_store_find(store, CLAIM_UID);
	assert_non_null(row);
	size_t n = fleet_story_of(store, row, entries, FLEET_STORY_MAX);
	told(entries, n, MADE, text, sizeof text);
	assert_string_equal(wanted, text);
}

/* Nobody has looked before: all of it is of the API. */
static void what_the_api_tells(void **state)
{
	(void)state;
	struct fleet_store store;
	fleet_store_init(&store, on_change, NULL);
	give_claim(&store, TIMES, AT("Ready", "True", "DependenciesReady", "00:00:02"));
	give_sandbox(&store, WARM, "'operatingMode':'Running'",
		AT("Ready", "True", "DependenciesReady", "00:00:02"));
	is_told(&store, "0 adopted from warm pool p, 2150 ms | 2 ready");
	give_sandbox(&store, OF_CLAIM, "'operatingMode':'Running'",
		AT("Ready", "True", "DependenciesReady", "00:10:00") "," AT(
			"Suspended", "False", "NotSuspended", "00:09:50"));
	is_told(&store, "0 created cold, of pool p | 2 ready after 2.1 s | 600 resumed");
	apply(&store, STORE_PODS, KUBE_ADDED, POD(RUNS("2", KILLED("00:20:00"))));
	is_told(&store,
		"0 created cold, of pool p | 2 ready after 2.1 s | 600 resumed | 1200 container "
		"main restarted: OOMKilled, exit code 137 (2×); its processes are lost");
	/* a clock that is wrong by an hour is corrected */
	store.clock_skew_ms = 3600000;
	struct fleet_story_entry entries[4];
	assert_int_equal(
		4, fleet_story_of(&store, fleet_store_find(&store, CLAIM_UID), entries, 4));
	assert_int_equal(MADE - 3600000, entries[0].wall_ms);
	fleet_store_deinit(&store);
}

/* What the API forgets: that it was suspended before, each restart, an earlier end of its life. */
static void what_is_seen(void **state)
{
	(void)state;
	struct fleet_store store;
	fleet_store_init(&store, on_change, NULL);
	const char *running = "'operatingMode':'Running'";
	give_claim(&store, TIMES, AT("Ready", "True", "DependenciesReady", "00:00:02"));
	give_sandbox(
		&store, WARM, running, AT("Ready", "True", "DependenciesReady", "00:00:02"));
	apply(&store, STORE_PODS, KUBE_ADDED, POD(RUNS("0", "")));
	assert_null(fleet_store_find(&store, CLAIM_UID)
			    ->seen); /* no memory before something happens */
	apply(&store, STORE_PODS, KUBE_MODIFIED, POD(RUNS("1", KILLED("00:01:00"))));
	apply(&store, STORE_PODS, KUBE_MODIFIED, POD(RUNS("2", KILLED("00:02:00"))));
	give_sandbox(&store, WARM, "'operatingMode':'Suspended'",
		AT("Ready", "False", "SandboxSuspended", "00:03:00") "," AT(
			"Suspended", "True", "PodTerminated", "00:03:00"));
	is_told(&store,
		"0 adopted from warm pool p, 2150 ms | 2 ready | 60 container main restarted: "
		"OOMKilled, exit code 137 (1×); its processes are lost | 120 container main "
		"restarted: OOMKilled, exit code 137 (2×); its processes are lost | 180 suspended");
	apply(&store, STORE_PODS, KUBE_DELETED, POD(RUNS("2", "")));
	give_sandbox(&store, WARM, running,
		AT("Ready", "True", "DependenciesReady", "00:04:00") "," AT(
			"Suspended", "False", "NotSuspended", "00:03:50"));
	const struct fleet_store_row *row = fleet_store_find(&store, CLAIM_UID);
	struct fleet_story_entry entries[FLEET_STORY_MAX];
	size_t n = fleet_story_of(&store, row, entries, FLEET_STORY_MAX);
	assert_int_equal(6, n);
	assert_int_equal(FLEET_STORY_RESUMED, entries[5].kind);
	assert_int_equal(MADE + 240000, entries[5].wall_ms);
	fleet_store_deinit(&store);
}

static void a_ring_holds_the_last(void **state)
{
	(void)state;
	struct fleet_store store;
	fleet_store_init(&store, on_change, NULL);
	give_claim(&store, "", AT("Ready", "True", "DependenciesReady", "00:00:02"));
	give_sandbox(&store, WARM, "", AT("Ready", "True", "DependenciesReady", "00:00:02"));
	apply(&store, STORE_PODS, KUBE_ADDED, POD(RUNS("0", "")));
	for (int i = 1; i <= 40; i++) {
		char *pod =
			x_asprintf(POD("'phase':'Running','conditions':[{'type':'Ready',"
				       "'status':'True'}],'containerStatuses':[{'name':'main',"
				       "'restartCount':%d,'lastState':{'terminated':{'reason':"
				       "'Error','exitCode':%d,'finishedAt':'2026-01-01T00:%02d:"
				       "00Z'}}}]"),
				i, i, i);
		give(&store, STORE_PODS, pod);
	}
	struct fleet_story_entry entries[FLEET_STORY_MAX];
	size_t n = fleet_story_of(
		&store, fleet_store_find(&store, CLAIM_UID), entries, FLEET_STORY_MAX);
	assert_int_equal(2 + 16, n);
	assert_string_equal(
		"container main restarted: Error, exit code 40 (40×); its processes are lost",
		entries[n - 1].text);
	assert_int_equal(MADE + 25 * 60000, entries[2].wall_ms);
	fleet_store_deinit(&store);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(in_order_and_nothing_twice),
		cmocka_unit_test(what_the_api_tells),
		cmocka_unit_test(what_is_seen),
		cmocka_unit_test(a_ring_holds_the_last),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
