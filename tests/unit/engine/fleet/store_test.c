// SPDX-License-Identifier: Apache-2.0
/* Joining in any order, lists compared, changes told, bounds kept. */
#include "objects.h"

static int told;

static void on_change(void *arg)
{
	(void)arg;
	told++;
}

static int setup(void **state)
{
	struct fleet_store *store = x_calloc(1, sizeof *store);
	fleet_store_init(store, on_change, NULL);
	*state = store;
	return 0;
}

static int teardown(void **state)
{
	struct fleet_store *store = *state;
	clock_set_for_tests(-1, -1);
	fleet_store_deinit(store);
	free(store);
	return 0;
}

static void synced(struct fleet_store *store, enum fleet_store_kind kind)
{
	fleet_store_sync(store, kind, true);
	fleet_store_sync(store, kind, false);
}

static size_t count(struct fleet_store *store)
{
	fleet_store_pack(store);
	return store->n_rows;
}

#define S_UID2 "22222222-0000-4000-8000-000000000002"
#define C_UID2 "11111111-0000-4000-8000-000000000002"

static void put_claim(struct fleet_store *store, const char *status)
{
	char *text = claim_json("", "", status);
	apply(store, STORE_CLAIMS, KUBE_MODIFIED, text);
	free(text);
}

static void put_sandbox(struct fleet_store *store, const char *extra)
{
	char *text = sandbox_json(extra, "", "'conditions':[]");
	apply(store, STORE_SANDBOXES, KUBE_MODIFIED, text);
	free(text);
}

static void any_order_gives_one_row(void **state)
{
	struct fleet_store *store = *state;
	put_sandbox(store, OF_CLAIM);
	assert_int_equal(0, count(store)); /* its claim may come with the next event */
	put_claim(store, "");
	assert_int_equal(1, count(store));
	const struct fleet_store_row *row = fleet_store_find(store, CLAIM_UID);
	assert_string_equal("c", row->shown.claim);
	assert_string_equal("s", row->shown.sandbox);
	assert_string_equal(SANDBOX_UID, row->shown.sandbox_uid);
	assert_null(fleet_store_find(store, SANDBOX_UID));
}

static void joined_by_owner_and_by_name(void **state)
{
	struct fleet_store *store = *state;
	put_claim(store, "");
	put_sandbox(store,
		",'ownerReferences':[{'kind':'SandboxClaim','name':'c','uid':'" CLAIM_UID
		"','controller':true}]");
	assert_int_equal(1, count(store));
	assert_string_equal("s", fleet_store_find(store, CLAIM_UID)->shown.sandbox);
	apply(store, STORE_SANDBOXES, KUBE_DELETED,
		"{'metadata':{'name':'s','namespace':'n','uid':'" SANDBOX_UID "'}}");
	put_sandbox(store, "");
	assert_int_equal(2, count(store)); /* standalone: nobody names it */
	put_claim(store, "'sandbox':{'name':'s','podIPs':['fd00::1','10.0.0.9']}");
	assert_int_equal(1, count(store));
	assert_string_equal(SANDBOX_UID, fleet_store_find(store, CLAIM_UID)->shown.sandbox_uid);
	put_claim(store, "'sandbox':{'name':'other','podIPs':['fd00::1','10.0.0.9']}");
	assert_int_equal(2, count(store));
	assert_string_equal("10.0.0.9", fleet_store_find(store, CLAIM_UID)->shown.pod_ip);
	assert_true(fleet_store_find(store, SANDBOX_UID)->shown.is_standalone);
}

static void adoption_moves_a_warm_sandbox_into_the_claim(void **state)
{
	struct fleet_store *store = *state;
	put_sandbox(store, OF_POOL);
	assert_int_equal(FLEET_WARM, fleet_store_find(store, SANDBOX_UID)->shown.state);
	assert_string_equal("p", fleet_store_find(store, SANDBOX_UID)->shown.pool);
	put_claim(store, "'sandbox':{'name':'s'}");
	assert_int_equal(2, count(store)); /* named, but not handed over yet */
	put_sandbox(store, OF_CLAIM);
	assert_int_equal(1, count(store));
	assert_int_equal(0, store->by_state[FLEET_WARM]);
	assert_string_equal(SANDBOX_UID, fleet_store_find(store, CLAIM_UID)->shown.sandbox_uid);
}

static void a_rebound_claim_follows_its_status(void **state)
{
	struct fleet_store *store = *state;
	put_claim(store, "'sandbox':{'name':'s'}");
	put_sandbox(store, OF_CLAIM ",'deletionTimestamp':'2026-01-01T00:00:09Z'");
	apply(store, STORE_SANDBOXES, KUBE_ADDED,
		"{'metadata':{'name':'s2','namespace':'n','uid':'" S_UID2
		"','labels':{'agents.x-k8s.io/claim-uid':'" CLAIM_UID "'}}}");
	assert_string_equal("s", fleet_store_find(store, CLAIM_UID)->shown.sandbox);
	put_claim(store, "'sandbox':{'name':'s2'}");
	assert_string_equal(S_UID2, fleet_store_find(store, CLAIM_UID)->shown.sandbox_uid);
	assert_int_equal(1, count(store));
	apply(store, STORE_SANDBOXES, KUBE_DELETED,
		"{'metadata':{'name':'s2','namespace':'n','uid':'" S_UID2 "'}}");
	assert_string_equal(SANDBOX_UID, fleet_store_find(store, CLAIM_UID)->shown.sandbox_uid);
}

static void answer(struct fleet_store *store, enum fleet_store_kind kind, char *text)
{
	cJSON *object = object_of(text);
	fleet_store_apply_answer(store, kind, object);
	cJSON_Delete(object);
	free(text);
}

/* The watch and the answer to a change come over two connections: what the watch took away first stays away. */
static void an_answer_brings_nothing_back(void **state)
{
	struct fleet_store *store = *state;
	put_claim(store, "");
	put_sandbox(store, "");
	assert_int_equal(2, count(store));
	answer(store, STORE_CLAIMS,
		claim_json(",'deletionTimestamp':'2026-01-01T00:00:09Z'", "", ""));
	answer(store, STORE_SANDBOXES,
		sandbox_json(",'deletionTimestamp':'2026-01-01T00:00:09Z'", "", ""));
	assert_int_equal(FLEET_TERMINATING, fleet_store_find(store, CLAIM_UID)->shown.state);
	assert_int_equal(FLEET_TERMINATING, fleet_store_find(store, SANDBOX_UID)->shown.state);
	apply(store, STORE_CLAIMS, KUBE_DELETED,
		"{'metadata':{'name':'c','namespace':'n','uid':'" CLAIM_UID "'}}");
	apply(store, STORE_SANDBOXES, KUBE_DELETED,
		"{'metadata':{'name':'s','namespace':'n','uid':'" SANDBOX_UID "'}}");
	assert_int_equal(0, count(store));
	answer(store, STORE_CLAIMS,
		claim_json(",'deletionTimestamp':'2026-01-01T00:00:09Z'", "", ""));
	answer(store, STORE_SANDBOXES,
		sandbox_json(",'deletionTimestamp':'2026-01-01T00:00:09Z'", "", ""));
	assert_int_equal(0, count(store));
}

static void a_sandbox_without_its_claim_shows_after_a_while(void **state)
{
	struct fleet_store *store = *state;
	clock_set_for_tests(
		1000000000, 1767225602 * (int64_t)1000000000); /* 2026-01-01 00:00:02 */
	synced(store, STORE_CLAIMS);
	put_sandbox(store, OF_CLAIM);
	assert_int_equal(0, count(store));
	assert_true(fleet_store_show_hidden(store));
	clock_set_for_tests(12 * (int64_t)1000000000, 1767225612 * (int64_t)1000000000);
	assert_false(fleet_store_show_hidden(store));
	assert_int_equal(1, count(store));
	put_claim(store, ""); /* it comes after all */
	assert_int_equal(1, count(store));
	assert_non_null(fleet_store_find(store, CLAIM_UID));
	/* a claim that goes takes its Sandbox out of sight for a moment */
	apply(store, STORE_CLAIMS, KUBE_DELETED,
		"{'metadata':{'name':'c','namespace':'n','uid':'" CLAIM_UID "'}}");
	assert_int_equal(0, count(store));
	assert_true(store->n_hidden > 0);
}

static void an_old_sandbox_without_a_claim_shows_at_once(void **state)
{
	struct fleet_store *store = *state;
	clock_set_for_tests(1000000000, 1767228000 * (int64_t)1000000000);
	put_sandbox(store, OF_CLAIM);
	assert_int_equal(0, count(store));
	synced(store, STORE_CLAIMS);
	assert_int_equal(1, count(store));
}

static void forbidden_claims_leave_sandboxes(void **state)
{
	struct fleet_store *store = *state;
	put_claim(store, "");
	put_sandbox(store, OF_CLAIM);
	assert_int_equal(1, count(store));
	fleet_store_set_forbidden(store, STORE_CLAIMS, true);
	assert_int_equal(1, count(store));
	assert_non_null(fleet_store_find(store, SANDBOX_UID));
}

static void forbidden_pods_are_only_unknown(void **state)
{
	struct fleet_store *store = *state;
	put_sandbox(store, "");
	synced(store, STORE_PODS);
	fleet_store_set_forbidden(store, STORE_PODS, true);
	const struct fleet_store_row *row = fleet_store_find(store, SANDBOX_UID);
	assert_string_equal("", row->shown.pod_uid);
	assert_null(strstr(row->shown.why, "does not exist"));
}

static void hidden_claims_are_told_from_none(void **state)
{
	struct fleet_store *store = *state;
	put_sandbox(store, OF_CLAIM);
	put_claim(store, "");
	fleet_store_set_forbidden(store, STORE_CLAIMS, true);
	assert_true(fleet_store_find(store, SANDBOX_UID)->shown.is_claim_hidden);
	assert_true(fleet_store_find(store, SANDBOX_UID)->shown.is_standalone);
	/* the right comes back */
	fleet_store_sync(store, STORE_CLAIMS, true);
	put_claim(store, "");
	fleet_store_sync(store, STORE_CLAIMS, false);
	assert_false(store->is_forbidden[STORE_CLAIMS]);
	assert_int_equal(1, count(store));
	assert_non_null(fleet_store_find(store, CLAIM_UID));
	put_sandbox(store, "");
	fleet_store_set_forbidden(store, STORE_CLAIMS, true);
	assert_false(fleet_store_find(store, SANDBOX_UID)->shown.is_claim_hidden);
}

#define POD_OF_S                                                                               \
	"{'metadata':{'name':'s','namespace':'n','uid':'" POD_UID                              \
	"','creationTimestamp':'2026-01-01T00:00:02Z','ownerReferences':[{'kind':'Sandbox',"   \
	"'name':'s','uid':'" SANDBOX_UID "','controller':true}]},"                             \
	"'status':{'phase':'%s','containerStatuses':[{'name':'m','restartCount':2}]}}"

static void put_pod(struct fleet_store *store, const char *phase)
{
	char *text = x_asprintf(POD_OF_S, phase);
	apply(store, STORE_PODS, KUBE_MODIFIED, text);
	free(text);
}

static void put_state(struct fleet_store *store, const char *conditions)
{
	char *text = sandbox_json("", "'operatingMode':'Running'", conditions);
	apply(store, STORE_SANDBOXES, KUBE_MODIFIED, text);
	free(text);
}

/* A pod that was seen and may not be seen any more has not gone: nothing is made of that. */
static void pods_out_of_sight_are_not_gone(void **state)
{
	struct fleet_store *store = *state;
	put_state(store, CONDS(COND("Ready", "True", "DependenciesReady")));
	synced(store, STORE_PODS);
	put_pod(store, "Running");
	const struct fleet_store_row *row = fleet_store_find(store, SANDBOX_UID);
	assert_int_equal(2, row->shown.restarts);
	fleet_store_set_forbidden(store, STORE_PODS, true);
	assert_int_equal(FLEET_READY, row->shown.state);
	assert_string_equal("", row->shown.why);
	assert_false(row->shown.is_pod_ending);
	assert_int_equal(0, row->shown.restarts);
	put_state(store, CONDS(COND("Ready", "False", "PodSucceeded") "," COND(
				 "Finished", "True", "PodSucceeded")));
	assert_int_equal(FLEET_FINISHED, row->shown.state);
	put_state(store, CONDS(COND("Ready", "False", "DependenciesNotReady")));
	assert_int_equal(FLEET_DEGRADED, row->shown.state);
	assert_null(strstr(row->shown.why, "does not exist"));
	/* they come back into sight, and this one is not among them */
	synced(store, STORE_PODS);
	assert_non_null(strstr(row->shown.why, "Pod s does not exist"));
	put_pod(store, "Pending");
	assert_int_equal(2, row->shown.restarts);
}

static void new_sandboxes_without_pods_in_sight_are_creating(void **state)
{
	struct fleet_store *store = *state;
	fleet_store_set_forbidden(store, STORE_PODS, true);
	put_state(store, CONDS(COND("Ready", "False", "DependenciesNotReady")));
	assert_int_equal(FLEET_CREATING, fleet_store_find(store, SANDBOX_UID)->shown.state);
	put_state(store, CONDS(COND("Ready", "True", "DependenciesReady")));
	assert_int_equal(FLEET_READY, fleet_store_find(store, SANDBOX_UID)->shown.state);
}

static void claims_stand_for_sandboxes_out_of_sight(void **state)
{
	struct fleet_store *store = *state;
	put_sandbox(store, OF_CLAIM);
	put_claim(store, "'sandbox':{'name':'s','podIPs':['10.0.0.9']}," CONDS(
				 COND("Ready", "True", "DependenciesReady")));
	fleet_store_set_forbidden(store, STORE_SANDBOXES, true);
	assert_int_equal(1, count(store));
	const struct fleet_store_row *row = fleet_store_find(store, CLAIM_UID);
	assert_int_equal(FLEET_READY, row->shown.state);
	assert_string_equal("s", row->shown.sandbox);
	assert_string_equal("", row->shown.sandbox_uid);
	assert_string_equal("10.0.0.9", row->shown.pod_ip);
	assert_string_equal("", row->shown.why);
	put_claim(store, "'sandbox':{'name':'s'}," CONDS(
				 COND("Ready", "False", "DependenciesNotReady")));
	assert_int_equal(FLEET_DEGRADED, row->shown.state);
}

static void pools_and_templates_out_of_sight_are_not_missing(void **state)
{
	struct fleet_store *store = *state;
	synced(store, STORE_POOLS);
	synced(store, STORE_TEMPLATES);
	put_claim(store, "");
	const struct fleet_store_row *row = fleet_store_find(store, CLAIM_UID);
	assert_non_null(strstr(row->shown.why, "SandboxWarmPool p does not exist"));
	fleet_store_set_forbidden(store, STORE_POOLS, true);
	fleet_store_set_forbidden(store, STORE_TEMPLATES, true);
	assert_null(strstr(row->shown.why, "does not exist"));
}

static void a_selector_hides_rows_without_a_claim(void **state)
{
	struct fleet_store *store = *state;
	store->is_filtered = true;
	synced(store, STORE_CLAIMS);
	put_sandbox(store, "");
	assert_int_equal(0, count(store));
	assert_int_equal(0, store->n_hidden);
}

struct seen {
	char uids[64][FLEET_UID_BYTES];
	bool gone[64];
	size_t n;
	bool rebuild;
};

static void note(void *arg, const char *uid, const struct fleet_row *row)
{
	struct seen *seen = arg;
	if (uid == NULL) {
		seen->rebuild = true;
		return;
	}
	assert_true(seen->n < 64);
	snprintf(seen->uids[seen->n], FLEET_UID_BYTES, "%s", uid);
	seen->gone[seen->n++] = row == NULL;
}

static void numbered(
	struct fleet_store *store, int i, enum kube_change change, const char *revision)
{
	char text[512];
	snprintf(text, sizeof text,
		"{'metadata':{'name':'c%d','namespace':'n','uid':'11111111-0000-4000-8000-%012d',"
		"'resourceVersion':'%s'},'spec':{'warmPoolRef':{'name':'p'}}}",
		i, i, revision);
	apply(store, STORE_CLAIMS, change, text);
}

static void changes_are_told_in_order_and_once(void **state)
{
	struct fleet_store *store = *state;
	for (int i = 0; i < 5; i++)
		numbered(store, i, KUBE_ADDED, "1");
	uint64_t since = store->revision;
	struct seen seen = { 0 };
	fleet_store_changes(store, since, note, &seen);
	assert_int_equal(0, seen.n);
	numbered(store, 3, KUBE_MODIFIED, "2"); /* nothing that shows has changed */
	fleet_store_changes(store, since, note, &seen);
	assert_int_equal(0, seen.n);
	apply(store, STORE_CLAIMS, KUBE_MODIFIED,
		"{'metadata':{'name':'c3','namespace':'n','uid':'11111111-0000-4000-8000-000000000003',"
		"'resourceVersion':'3','labels':{'agents.x-k8s.io/created-by':'me'}},"
		"'spec':{'warmPoolRef':{'name':'p'}}}");
	numbered(store, 1, KUBE_DELETED, "4");
	fleet_store_changes(store, since, note, &seen);
	assert_int_equal(2, seen.n);
	assert_true(seen.gone[0]);
	assert_string_equal("11111111-0000-4000-8000-000000000001", seen.uids[0]);
	assert_string_equal("11111111-0000-4000-8000-000000000003", seen.uids[1]);
	/* rows keep their order; the hole is closed */
	assert_int_equal(4, count(store));
	assert_string_equal("c0", store->rows[0]->shown.claim);
	assert_string_equal("c2", store->rows[1]->shown.claim);
	/* far behind: rebuild */
	for (int i = 0; i < STORE_REMOVALS + 10; i++) {
		numbered(store, 100, KUBE_ADDED, "5");
		numbered(store, 100, KUBE_DELETED, "6");
	}
	memset(&seen, 0, sizeof seen);
	fleet_store_changes(store, since, note, &seen);
	assert_true(seen.rebuild);
	assert_int_equal(0, seen.n);
}

static void a_relist_touches_only_what_differs(void **state)
{
	struct fleet_store *store = *state;
	fleet_store_sync(store, STORE_CLAIMS, true);
	for (int i = 0; i < 6; i++)
		numbered(store, i, KUBE_ADDED, "7");
	fleet_store_sync(store, STORE_CLAIMS, false);
	uint64_t since = store->revision;
	fleet_store_sync(store, STORE_CLAIMS, true);
	for (int i = 0; i < 6; i++) {
		if (i != 2)
			numbered(store, i, KUBE_ADDED, "7");
	}
	numbered(store, 9, KUBE_ADDED, "8");
	assert_int_equal(7, count(store)); /* nothing goes before the list is whole */
	fleet_store_sync(store, STORE_CLAIMS, false);
	struct seen seen = { 0 };
	fleet_store_changes(store, since, note, &seen);
	assert_int_equal(2, seen.n);
	assert_true(seen.gone[0]);
	assert_string_equal("11111111-0000-4000-8000-000000000002", seen.uids[0]);
	assert_string_equal("11111111-0000-4000-8000-000000000009", seen.uids[1]);
}

static void an_older_version_never_replaces_a_newer(void **state)
{
	struct fleet_store *store = *state;
	char *new = claim_json(",'resourceVersion':'20'", "",
		CONDS(COND("Ready", "True", "DependenciesReady")));
	char *old = claim_json(",'resourceVersion':'10'", "", "");
	apply(store, STORE_CLAIMS, KUBE_MODIFIED, new);
	apply(store, STORE_CLAIMS, KUBE_MODIFIED, old); /* a slow watch */
	assert_int_equal(FLEET_READY, fleet_store_find(store, CLAIM_UID)->shown.state);
	/* a list is the truth, whatever its numbers (a restored etcd) */
	fleet_store_sync(store, STORE_CLAIMS, true);
	apply(store, STORE_CLAIMS, KUBE_ADDED, old);
	fleet_store_sync(store, STORE_CLAIMS, false);
	assert_int_equal(FLEET_PENDING, fleet_store_find(store, CLAIM_UID)->shown.state);
	free(new);
	free(old);
}

static void events_are_bounded(void **state)
{
	struct fleet_store *store = *state;
	put_claim(store, "");
	char text[512];
	for (int i = 0; i < 200; i++) {
		snprintf(text, sizeof text,
			"{'metadata':{'uid':'e%d','name':'e'},'involvedObject':{'kind':'SandboxClaim',"
			"'name':'c','uid':'" CLAIM_UID "'},'reason':'R%d','lastTimestamp':"
			"'2026-01-01T00:%02d:%02dZ'}",
			i, i, i / 60, i % 60);
		apply(store, STORE_EVENTS, KUBE_ADDED, text);
	}
	assert_int_equal(STORE_MAX_EVENTS_EACH, store->n_events);
	struct fleet_uid uid = fleet_uid_parse(store, CLAIM_UID);
	const struct fleet_event_list *list = fleet_events_about(store, &uid);
	assert_string_equal("R199", list->events->reason);
	/* pods that nobody owns do not push it out */
	for (int i = 0; i < 20000; i++) {
		snprintf(text, sizeof text,
			"{'metadata':{'uid':'x%d','name':'e'},'involvedObject':{'kind':'Pod','name':'q',"
			"'uid':'q%d'},'reason':'R'}",
			i, i);
		apply(store, STORE_EVENTS, KUBE_ADDED, text);
	}
	assert_true(store->n_events <= STORE_MAX_EVENTS);
	assert_true(store->n_unknown_lists <= STORE_MAX_UNKNOWN_LISTS + 1);
	assert_non_null(fleet_events_about(store, &uid));
	/* other kinds are none of our business */
	size_t before = store->n_events;
	apply(store, STORE_EVENTS, KUBE_ADDED,
		"{'metadata':{'uid':'y','name':'e'},'involvedObject':{'kind':'Node','name':'q','uid':'z'}}");
	assert_int_equal(before, store->n_events);
}

static void foreign_shapes_are_survived(void **state)
{
	struct fleet_store *store = *state;
	static const char *const shapes[] = {
		"{}", "[]", "3", "{'metadata':3}", "{'metadata':{'uid':3,'name':[]}}",
		"{'metadata':{'uid':'x','name':''}}",
		"{'metadata':{'uid':'x','name':'y','namespace':{},'ownerReferences':[3,{'kind':3}],"
		"'labels':[],'annotations':'z','deletionTimestamp':7},'spec':[],'status':{"
		"'conditions':{'a':1},'podIPs':[3,'not an ip'],'sandbox':[],'containerStatuses':[3]}}",
		"{'metadata':{'uid':'0123456789012345678901234567890123456789','name':'y'}}",
		"{'metadata':{'uid':'odd uid','name':'y'},'status':{'conditions':[{'type':'Ready'}]}}"
	};
	for (int kind = 0; kind < STORE_KIND_COUNT; kind++) {
		for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
			apply(store, (enum fleet_store_kind)kind, KUBE_ADDED, shapes[i]);
			apply(store, (enum fleet_store_kind)kind, KUBE_MODIFIED, shapes[i]);
		}
	}
	assert_non_null(fleet_store_find(store, "odd uid"));
	for (int kind = 0; kind < STORE_KIND_COUNT; kind++)
		synced(store, (enum fleet_store_kind)kind);
	assert_int_equal(0, count(store));
}

static void put_end(struct fleet_store *store, int n, const char *at)
{
	char *text = x_asprintf(
		"{'metadata':{'name':'c%d','namespace':'n','uid':'11111111-0000-4000-8000-%012d',"
		"'creationTimestamp':'2026-01-01T00:00:00Z'},'spec':{'warmPoolRef':{'name':'p'}%s%s%s},"
		"'status':{}}",
		n, n, *at ? ",'lifecycle':{'shutdownTime':'" : "", at, *at ? "'}" : "");
	apply(store, STORE_CLAIMS, KUBE_MODIFIED, text);
	free(text);
}

/* Counted as ends come, move and go, for any time. */
static void those_that_end_soon_are_counted(void **state)
{
	enum { MANY = 3000 };
	static const int64_t base_ms = 4070908800000; /* 2099-01-01T00:00:00Z */
	struct fleet_store *store = *state;
	assert_int_equal(fleet_store_n_expiring(store, INT64_MAX), 0);
	for (int i = 0; i < MANY; i++) {
		char at[32];
		snprintf(at, sizeof at, "2099-01-01T%02d:%02d:%02dZ", i / 3600, i / 60 % 60,
			i % 60);
		put_end(store, i, at);
	}
	put_end(store, MANY, "");
	assert_int_equal(fleet_store_n_expiring(store, base_ms), 0);
	assert_int_equal(fleet_store_n_expiring(store, base_ms + 1), 1);
	assert_int_equal(fleet_store_n_expiring(store, base_ms + 1000 * 1000), 1000);
	assert_int_equal(fleet_store_n_expiring(store, INT64_MAX), MANY);
	put_end(store, 5, "2099-06-01T00:00:00Z");
	put_end(store, 6, "");
	assert_int_equal(fleet_store_n_expiring(store, base_ms + 1000 * 1000), 998);
	assert_int_equal(fleet_store_n_expiring(store, INT64_MAX), MANY - 1);
	/* an end that has passed: it is to be seen until the controller says that it is over */
	put_end(store, 7, "2020-01-01T00:00:00Z");
	assert_int_equal(fleet_store_n_expiring(store, base_ms), 1);
	apply(store, STORE_CLAIMS, KUBE_MODIFIED,
		"{'metadata':{'name':'c7','namespace':'n','uid':'11111111-0000-4000-8000-000000000007',"
		"'generation':3,'creationTimestamp':'2026-01-01T00:00:00Z'},'spec':{'warmPoolRef':{"
		"'name':'p'},'lifecycle':{'shutdownTime':'2020-01-01T00:00:00Z'}},'status':{" CONDS(
			COND("Ready", "False", "ClaimExpired")) "}}");
	assert_int_equal(
		fleet_store_find(store, "11111111-0000-4000-8000-000000000007")->shown.state,
		FLEET_EXPIRED);
	assert_int_equal(fleet_store_n_expiring(store, base_ms), 0);
	fleet_store_sync(store, STORE_CLAIMS, true);
	fleet_store_sync(store, STORE_CLAIMS, false);
	assert_int_equal(count(store), 0);
	assert_int_equal(fleet_store_n_expiring(store, INT64_MAX), 0);
}

static void a_row_stays_small(void **state)
{
	struct fleet_store *store = *state;
	(void)store;
	size_t facts = sizeof(struct fleet_store_row) + sizeof(struct fleet_claim) +
		       sizeof(struct fleet_sandbox);
	assert_true(facts < 900);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		CASE(any_order_gives_one_row),
		CASE(those_that_end_soon_are_counted),
		CASE(joined_by_owner_and_by_name),
		CASE(an_answer_brings_nothing_back),
		CASE(adoption_moves_a_warm_sandbox_into_the_claim),
		CASE(a_rebound_claim_follows_its_status),
		CASE(a_sandbox_without_its_claim_shows_after_a_while),
		CASE(an_old_sandbox_without_a_claim_shows_at_once),
		CASE(forbidden_claims_leave_sandboxes),
		CASE(forbidden_pods_are_only_unknown),
		CASE(hidden_claims_are_told_from_none),
		CASE(pods_out_of_sight_are_not_gone),
		CASE(new_sandboxes_without_pods_in_sight_are_creating),
		CASE(claims_stand_for_sandboxes_out_of_sight),
		CASE(pools_and_templates_out_of_sight_are_not_missing),
		CASE(a_selector_hides_rows_without_a_claim),
		CASE(changes_are_told_in_order_and_once),
		CASE(a_relist_touches_only_what_differs),
		CASE(an_older_version_never_replaces_a_newer),
		CASE(events_are_bounded),
		CASE(foreign_shapes_are_survived),
		CASE(a_row_stays_small),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
