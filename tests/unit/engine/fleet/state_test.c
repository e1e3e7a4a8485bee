// SPDX-License-Identifier: Apache-2.0
/* The state table, one case a row and a reason, and the sentence that goes with it. */
#include "objects.h"

/* a table where what is not written is not there */
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

static int changes;

static void on_change(void *arg)
{
	(void)arg;
	changes++;
}

struct step {                                   /* objects of one moment; NULL: unchanged */
	const char *claim_extra, *claim_status; /* both NULL: no claim */
	const char *sandbox_extra, *sandbox_spec, *sandbox_status; /* all NULL: no Sandbox */
};

static void play(struct fleet_store *store, const struct step *step)
{
	if (step->claim_extra != NULL) {
		char *text = claim_json(step->claim_extra, "", step->claim_status);
		apply(store, STORE_CLAIMS, KUBE_MODIFIED, text);
		free(text);
	}
	if (step->sandbox_extra != NULL) {
		char *text = sandbox_json(
			step->sandbox_extra, step->sandbox_spec, step->sandbox_status);
		apply(store, STORE_SANDBOXES, KUBE_MODIFIED, text);
		free(text);
	}
}

#define RUN "'operatingMode':'Running'"
#define STOP "'operatingMode':'Suspended'"
#define NOT_SUSPENDED COND("Suspended", "False", "NotSuspended")
#define READY COND("Ready", "True", "DependenciesReady")
#define NOT_READY COND("Ready", "False", "DependenciesNotReady")
#define MUTE                                                                                   \
	"{'type':'Ready','status':'False','reason':'DependenciesNotReady','message':'',"       \
	"'observedGeneration':1}"
#define SUSPENDED COND("Suspended", "True", "PodTerminated")
#define NAMES_S "'sandbox':{'name':'s'}"

static const struct {
	const char *name;
	struct step steps[3];
	enum fleet_state state;
	const char *why; /* contained; "" = empty */
} rows[] = {
	/* 1 */
	{ "claim deleted",
		{ { ",'deletionTimestamp':'2026-01-03T00:00:00Z','finalizers':['f/1','f/2']",
			"" } },
		FLEET_TERMINATING, "SandboxClaim c is being deleted; it waits for f/1, f/2" },
	{ "claim deleted while ready",
		{ { ",'deletionTimestamp':'2026-01-03T00:00:00Z'", NAMES_S, OF_CLAIM, RUN,
			CONDS(READY) } },
		FLEET_TERMINATING, "SandboxClaim c is being deleted" },
	{ "Sandbox of a claim deleted: the claim stays",
		{ { "", NAMES_S, OF_CLAIM ",'deletionTimestamp':'2026-01-03T00:00:00Z'", RUN,
			CONDS(READY) } },
		FLEET_READY, NULL },
	{ "standalone deleted", { { NULL, NULL, ",'deletionTimestamp':'nonsense'", RUN, "" } },
		FLEET_TERMINATING, "Sandbox s is being deleted" },
	/* 2 */
	{ "claim expired", { { "", CONDS(COND("Ready", "False", "ClaimExpired")) } },
		FLEET_EXPIRED,
		"SandboxClaim c has reached its shutdown time (ClaimExpired): m" },
	{ "sandbox expired by itself",
		{ { "", NAMES_S, OF_CLAIM, RUN,
			CONDS(COND("Ready", "False", "SandboxExpired")) } },
		FLEET_EXPIRED, "Sandbox s has reached its shutdown time" },
	{ "claim says sandbox expired",
		{ { "", CONDS(COND("Ready", "False", "SandboxExpired")) } }, FLEET_EXPIRED,
		"SandboxClaim c" },
	{ "expired beats finished",
		{ { "", CONDS(COND("Ready", "False", "ClaimExpired") "," COND(
				"Finished", "True", "PodFailed")) } },
		FLEET_EXPIRED, "" },
	/* 3 */
	{ "metadata refused", { { "", CONDS(COND("Ready", "False", "InvalidMetadata")) } },
		FLEET_FAILED, "SandboxClaim c is rejected (InvalidMetadata): m" },
	{ "env refused", { { "", CONDS(COND("Ready", "False", "EnvVarsInjectionRejected")) } },
		FLEET_FAILED, "SandboxClaim c is rejected (EnvVarsInjectionRejected)" },
	{ "volumes refused",
		{ { "", CONDS(COND("Ready", "False", "VolumeClaimTemplatesError")) } },
		FLEET_FAILED, "SandboxClaim c is rejected (VolumeClaimTemplatesError)" },
	{ "two pods",
		{ { "", NAMES_S, OF_CLAIM, RUN,
			CONDS(COND("Ready", "False", "MultiplePods")) } },
		FLEET_FAILED, "Sandbox s has more than one pod" },
	{ "pod failed",
		{ { "", NAMES_S, OF_CLAIM, RUN,
			CONDS(COND("Ready", "False", "PodFailed") "," COND(
				"Finished", "True", "PodFailed")) } },
		FLEET_FAILED, "Pod s failed" },
	/* 4 */
	{ "no pool", { { "", CONDS(COND("Ready", "False", "WarmPoolNotFound")) } },
		FLEET_BLOCKED, "SandboxWarmPool p does not exist" },
	{ "no template", { { "", CONDS(COND("Ready", "False", "TemplateNotFound")) } },
		FLEET_BLOCKED, "SandboxTemplate of SandboxWarmPool p does not exist" },
	/* 5 */
	{ "pod succeeded",
		{ { "", NAMES_S, OF_CLAIM, RUN,
			CONDS(COND("Ready", "False", "PodSucceeded") "," COND(
				"Finished", "True", "PodSucceeded")) } },
		FLEET_FINISHED, "Pod s has ended successfully" },
	{ "finished in the claim only",
		{ { "", CONDS(COND("Finished", "True", "PodSucceeded")) } }, FLEET_FINISHED,
		"Its pod has ended successfully" },
	/* 6 */
	{ "suspended",
		{ { "", NAMES_S, OF_CLAIM, STOP,
			CONDS(SUSPENDED "," COND("Ready", "False", "SandboxSuspended")) } },
		FLEET_SUSPENDED, "Sandbox s is suspended" },
	/* 7 */
	{ "suspend asked, nothing done yet",
		{ { "", NAMES_S, OF_CLAIM, STOP,
			CONDS(NOT_SUSPENDED
				"," COND_OLD("Ready", "True", "DependenciesReady")) } },
		FLEET_SUSPENDING, "Sandbox s is being suspended" },
	{ "suspended, but of an older generation",
		{ { "", NAMES_S, OF_CLAIM, STOP,
			CONDS(COND_OLD("Suspended", "True", "PodTerminated")) } },
		FLEET_SUSPENDING, "is being suspended" },
	{ "pod ends while suspending",
		{ { "", NAMES_S, OF_CLAIM, STOP,
			CONDS(COND("Suspended", "False", "PodTerminating") "," COND(
				"Finished", "True", "PodFailed")) } },
		FLEET_SUSPENDING, "is being suspended (PodTerminating)" },
	{ "the claim's copy of Finished lags behind",
		{ { "", NAMES_S "," CONDS(COND("Finished", "True", "PodSucceeded")), OF_CLAIM,
			STOP, CONDS(SUSPENDED) } },
		FLEET_SUSPENDED, "Sandbox s is suspended" },
	/* 8 */
	{ "resume asked",
		{ { "", NAMES_S, OF_CLAIM, RUN,
			CONDS(COND_OLD("Suspended", "True", "PodTerminated")) } },
		FLEET_RESUMING, "Sandbox s is resuming" },
	{ "resume, ready reason still suspended",
		{ { "", NAMES_S, OF_CLAIM, RUN,
			CONDS(NOT_SUSPENDED "," COND("Ready", "False", "SandboxSuspended")) } },
		FLEET_RESUMING, "is resuming" },
	{ "resume, still Ready of the time before it was suspended",
		{ { "", NAMES_S, OF_CLAIM, STOP, CONDS(SUSPENDED) },
			{ "", NAMES_S, OF_CLAIM, RUN,
				CONDS(NOT_SUSPENDED
					"," COND_OLD("Ready", "True", "DependenciesReady")) } },
		FLEET_RESUMING, "is resuming" },
	{ "resumed, and Ready of now",
		{ { "", NAMES_S, OF_CLAIM, STOP, CONDS(SUSPENDED) },
			{ "", NAMES_S, OF_CLAIM, RUN, CONDS(NOT_SUSPENDED "," READY) } },
		FLEET_READY, "" },
	{ "resume reconciled: only we remember",
		{ { "", NAMES_S, OF_CLAIM, STOP, CONDS(SUSPENDED) },
			{ "", NAMES_S, OF_CLAIM, RUN, CONDS(NOT_SUSPENDED "," NOT_READY) } },
		FLEET_RESUMING, "is resuming" },
	{ "ready ends the memory",
		{ { "", NAMES_S, OF_CLAIM, STOP, CONDS(SUSPENDED) },
			{ "", NAMES_S, OF_CLAIM, RUN, CONDS(READY) },
			{ "", NAMES_S, OF_CLAIM, RUN, CONDS(NOT_SUSPENDED "," NOT_READY) } },
		FLEET_DEGRADED, "no longer ready" },
	/* 9 */
	{ "ready",
		{ { "", NAMES_S, OF_CLAIM, RUN,
			CONDS(READY "," NOT_SUSPENDED
				    "," COND("PodScheduled", "True", "PodScheduled")) } },
		FLEET_READY, "" },
	{ "ready by the claim, Sandbox unknown", { { "", NAMES_S "," CONDS(READY) } },
		FLEET_READY, "" },
	{ "the claim's generation is no gate",
		{ { ",'x':1",
			NAMES_S "," CONDS(COND_OLD("Ready", "True", "DependenciesReady")) } },
		FLEET_READY, "" },
	/* 10 */
	{ "reconciler error",
		{ { "", NAMES_S, OF_CLAIM, RUN,
			CONDS(COND("Ready", "False", "ReconcilerError")) } },
		FLEET_ERROR, "Sandbox s: m" },
	{ "claim's reconciler error",
		{ { "", CONDS(COND("Ready", "False", "ReconcilerError")) } }, FLEET_ERROR,
		"SandboxClaim c: m" },
	/* 11 */
	{ "nothing yet", { { "", "" } }, FLEET_PENDING,
		"SandboxClaim c waits for the controller" },
	{ "sandbox missing", { { "", CONDS(COND("Ready", "False", "SandboxMissing")) } },
		FLEET_PENDING, "SandboxClaim c: m" },
	{ "create pending", { { "", CONDS(COND("Ready", "False", "SandboxCreatePending")) } },
		FLEET_PENDING, "" },
	{ "adoption conflict", { { "", CONDS(COND("Ready", "False", "AdoptionConflict")) } },
		FLEET_PENDING, "" },
	{ "sandbox not ready", { { "", CONDS(COND("Ready", "False", "SandboxNotReady")) } },
		FLEET_PENDING, "" },
	{ "unschedulable",
		{ { "", NAMES_S, OF_CLAIM, RUN,
			CONDS(NOT_READY "," COND("PodScheduled", "False", "Unschedulable")) } },
		FLEET_PENDING, "no node takes it: m (Pod s, Unschedulable)" },
	{ "scheduling gated",
		{ { "", NAMES_S, OF_CLAIM, RUN,
			CONDS(NOT_READY
				"," COND("PodScheduled", "False", "SchedulingGated")) } },
		FLEET_PENDING, "SchedulingGated" },
	{ "scheduling unknown",
		{ { "", NAMES_S, OF_CLAIM, RUN,
			CONDS(NOT_READY "," COND(
				"PodScheduled", "Unknown", "PodSchedulingUnknown")) } },
		FLEET_PENDING, "PodSchedulingUnknown" },
	{ "Sandbox without a condition", { { "", NAMES_S, OF_CLAIM, RUN, "" } }, FLEET_PENDING,
		"Sandbox s waits for the controller" },
	/* 12 */
	{ "lost readiness, the claim remembers",
		{ { ",'annotations':{'agents.x-k8s.io/claim-first-ready-at':'2026-01-01T00:00:09Z'}",
			NAMES_S, OF_CLAIM, RUN, CONDS(NOT_READY) } },
		FLEET_DEGRADED, "no longer ready; Sandbox s: m" },
	{ "first ready unknown is not a date",
		{ { ",'annotations':{'agents.x-k8s.io/claim-first-ready-at':'unknown'}",
			NAMES_S, OF_CLAIM, RUN, CONDS(NOT_READY) } },
		FLEET_CREATING, "Sandbox s: m" },
	{ "lost readiness, we remember",
		{ { "", NAMES_S, OF_CLAIM, RUN, CONDS(READY) },
			{ "", NAMES_S, OF_CLAIM, RUN, CONDS(NOT_READY) } },
		FLEET_DEGRADED, "no longer ready" },
	/* 13 */
	{ "creating", { { "", NAMES_S, OF_CLAIM, RUN, CONDS(NOT_READY) } }, FLEET_CREATING,
		"Sandbox s: m" },
	{ "creating by the claim", { { "", NAMES_S "," CONDS(NOT_READY) } }, FLEET_CREATING,
		"SandboxClaim c: m" },
	/* 14 */
	{ "a reason of the future",
		{ { "", NAMES_S, OF_CLAIM, RUN, CONDS(COND("Ready", "False", "Meditating")) } },
		FLEET_UNKNOWN, "Sandbox s: m" },
	{ "ready of an older generation",
		{ { NULL, NULL, "", RUN,
			CONDS(COND_OLD("Ready", "True", "DependenciesReady")) } },
		FLEET_UNKNOWN, NULL },
	{ "ready, then an older generation: what was shown stays",
		{ { NULL, NULL, "", RUN, CONDS(READY) },
			{ NULL, NULL, "", RUN,
				CONDS(COND_OLD("Ready", "True", "DependenciesReady")) } },
		FLEET_READY, NULL },
	{ "suspended unknown",
		{ { "", NAMES_S, OF_CLAIM, RUN,
			CONDS(COND("Suspended", "Unknown", "PodStateUnknown") "," COND(
				"Ready", "Unknown", "x")) } },
		FLEET_UNKNOWN, "" },
	/* without a claim */
	{ "warm", { { NULL, NULL, OF_POOL, RUN, CONDS(READY) } }, FLEET_WARM, "" },
	{ "warm, not ready", { { NULL, NULL, OF_POOL, RUN, CONDS(NOT_READY) } }, FLEET_WARM,
		"Sandbox s: m" },
	{ "warm, not ready, and not a word", { { NULL, NULL, OF_POOL, RUN, CONDS(MUTE) } },
		FLEET_WARM, "Sandbox s" },
	{ "standalone", { { NULL, NULL, "", RUN, CONDS(READY) } }, FLEET_READY, "" },
	{ "standalone, and not a word", { { NULL, NULL, "", RUN, CONDS(MUTE) } },
		FLEET_CREATING, "Sandbox s" },
	{ "standalone suspended", { { NULL, NULL, "", STOP, CONDS(SUSPENDED) } },
		FLEET_SUSPENDED, "Sandbox s is suspended" },
};

/* Whatever parts it is made of: nothing is said of what is empty. */
static bool is_sentence(const char *why)
{
	size_t n = strlen(why);
	return strstr(why, ": :") == NULL && strstr(why, "()") == NULL &&
	       strstr(why, "  ") == NULL && strstr(why, "(null)") == NULL &&
	       (n == 0 || strchr(" :,(", why[n - 1]) == NULL);
}

static void each_row_of_the_table(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct fleet_store store;
		fleet_store_init(&store, on_change, NULL);
		for (size_t j = 0; j < 3; j++)
			play(&store, &rows[i].steps[j]);
		const char *uid = rows[i].steps[0].claim_extra ? CLAIM_UID : SANDBOX_UID;
		const struct fleet_store_row *row = fleet_store_find(&store, uid);
		if (row == NULL)
			fail_msg("%s: no row", rows[i].name);
		if (row->shown.state != rows[i].state)
			fail_msg("%s: %s (%s)", rows[i].name,
				fleet_state_name(row->shown.state), row->shown.why);
		bool is_well = rows[i].state == FLEET_READY || rows[i].state == FLEET_WARM;
		if (!is_sentence(row->shown.why))
			fail_msg("%s: '%s'", rows[i].name, row->shown.why);
		if (rows[i].why != NULL && strstr(row->shown.why, rows[i].why) == NULL)
			fail_msg("%s: '%s', wanted '%s'", rows[i].name, row->shown.why,
				rows[i].why);
		if (rows[i].why != NULL && rows[i].why[0] == '\0' && is_well)
			assert_string_equal("", row->shown.why);
		if (!is_well && row->shown.why[0] == '\0')
			fail_msg("%s: says nothing", rows[i].name);
		assert_int_equal(1, store.by_state[rows[i].state]);
		fleet_store_deinit(&store);
	}
}

static void every_state_has_a_row(void **state)
{
	(void)state;
	for (int s = 0; s < FLEET_STATE_COUNT; s++) {
		/* of a pod, see below; and of no object at all */
		if (s == FLEET_CRASHING || s == FLEET_DELETED)
			continue;
		bool found = false;
		for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
			found |= rows[i].state == (enum fleet_state)s;
		if (!found)
			fail_msg("%s", fleet_state_name((enum fleet_state)s));
	}
}

/* ---- what the pod says */

static char *pod_json(const char *extra, const char *status)
{
	return x_asprintf(
		"{'metadata':{'name':'s','namespace':'n','uid':'" POD_UID
		"','creationTimestamp':'2026-01-01T00:00:02Z','ownerReferences':[{'kind':'Sandbox',"
		"'name':'s','uid':'" SANDBOX_UID "','controller':true}]%s},"
		"'spec':{'nodeName':'node-1','runtimeClassName':'gvisor'},'status':{%s}}",
		extra, status);
}

static void the_pod_explains(void **state)
{
	(void)state;
	static const struct {
		const char *extra, *status, *ready, *why;
		enum fleet_state is;
		const char *next; /* contained */
	} cases[] = {
		{ "",
			"'phase':'Pending','containerStatuses':[{'name':'main','state':{'waiting':"
			"{'reason':'ImagePullBackOff','message':'Back-off pulling image \\'x\\'.'}}}]",
			NOT_READY,
			"the image cannot be pulled (Pod s, container main, ImagePullBackOff): Back-off" },
		{ "",
			"'phase':'Running','containerStatuses':[{'name':'main','restartCount':4,'state':"
			"{'waiting':{'reason':'CrashLoopBackOff','message':'back-off'}},'lastState':"
			"{'terminated':{'reason':'OOMKilled','exitCode':137}}}]",
			NOT_READY,
			"container main crashes: out of memory (OOMKilled), exit code 137, "
			"restarted 4 times (Pod s, CrashLoopBackOff)",
			FLEET_CRASHING, "raise the memory limit" },
		/* between two crashes it runs */
		{ "",
			"'phase':'Running','containerStatuses':[{'name':'main','restartCount':4,'state':"
			"{'running':{}},'lastState':{'terminated':{'reason':'Error','exitCode':3}}}]",
			NOT_READY,
			"container main crashes: Error, exit code 3, restarted 4 times",
			FLEET_CRASHING, "read the logs" },
		{ "",
			"'phase':'Pending','conditions':[{'type':'PodScheduled','status':'False',"
			"'reason':'Unschedulable','message':'0/3 nodes'}]",
			NOT_READY, "no node takes it: 0/3 nodes (Pod s, Unschedulable)" },
		{ "",
			"'phase':'Pending','containerStatuses':[{'name':'main','state':{'waiting':"
			"{'reason':'ContainerCreating'}}}]",
			NOT_READY, "Pod s is starting (ContainerCreating)" },
		{ "",
			"'phase':'Pending','initContainerStatuses':[{'name':'init','state':{'terminated':"
			"{'reason':'Error','exitCode':3}}}]",
			NOT_READY, "init container init fails: Error, exit code 3" },
		{ "", "'phase':'Running','conditions':[{'type':'Ready','status':'False'}]",
			NOT_READY, "Pod s is running but not ready" },
		{ ",'deletionTimestamp':'2026-01-02T00:00:00Z'", "'phase':'Running'", NOT_READY,
			"Pod s is terminating" },
		/* the condition says Ready */
		{ "",
			"'phase':'Running','conditions':[{'type':'Ready','status':'False','reason':"
			"'ContainersNotReady'}]",
			READY, "Ready, but Pod s is not (ContainersNotReady)" },
		{ ",'deletionTimestamp':'2026-01-02T00:00:00Z'", "'phase':'Running'", READY,
			"Ready, but Pod s is terminating" },
		{ "",
			"'phase':'Running','conditions':[{'type':'Ready','status':'True'}],"
			"'containerStatuses':[{'name':'main','restartCount':1,'lastState':{'terminated':"
			"{'reason':'OOMKilled','exitCode':137}}}]",
			READY,
			"container main has been restarted: out of memory (OOMKilled), exit code "
			"137, restarted 1 time (Pod s)" },
		{ "", "'phase':'Running','conditions':[{'type':'Ready','status':'True'}]",
			READY, "" },
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct fleet_store store;
		fleet_store_init(&store, on_change, NULL);
		fleet_store_sync(&store, STORE_PODS, true);
		fleet_store_sync(&store, STORE_PODS, false);
		char *status = x_asprintf("'conditions':[%s]", cases[i].ready);
		char *sandbox = sandbox_json("", RUN, status);
		char *pod = pod_json(cases[i].extra, cases[i].status);
		/* in either order */
		if (i % 2 == 0)
			apply(&store, STORE_PODS, KUBE_ADDED, pod);
		apply(&store, STORE_SANDBOXES, KUBE_ADDED, sandbox);
		if (i % 2 != 0)
			apply(&store, STORE_PODS, KUBE_ADDED, pod);
		const struct fleet_store_row *row = fleet_store_find(&store, SANDBOX_UID);
		assert_non_null(row);
		if (!is_sentence(row->shown.why))
			fail_msg("%zu: '%s'", i, row->shown.why);
		if (strstr(row->shown.why, cases[i].why) == NULL ||
			(cases[i].why[0] == '\0' && row->shown.why[0] != '\0'))
			fail_msg("%zu: '%s', wanted '%s'", i, row->shown.why, cases[i].why);
		if (cases[i].next != NULL) {
			assert_int_equal(cases[i].is, row->shown.state);
			assert_non_null(strstr(row->shown.next, cases[i].next));
		} else {
			assert_int_not_equal(FLEET_CRASHING, row->shown.state);
		}
		assert_string_equal(POD_UID, row->shown.pod_uid);
		assert_string_equal("s", row->shown.pod);
		assert_string_equal("node-1", row->shown.node);
		assert_string_equal("gvisor", row->shown.runtime_class);
		/* and when it goes */
		apply(&store, STORE_PODS, KUBE_DELETED, pod);
		assert_string_equal("", row->shown.pod_uid);
		assert_non_null(strstr(row->shown.why, "Pod s does not exist"));
		free(status);
		free(sandbox);
		free(pod);
		fleet_store_deinit(&store);
	}
}

/* Somebody deletes the pod of a running Sandbox: it ends well, is reported as Finished, goes, and another one comes. */
static void a_pod_that_is_replaced_ends_no_sandbox(void **state)
{
	(void)state;
	static const struct {
		enum kube_change change;
		const char *extra, *status;
		bool is_finished, is_ending;
	} cases[] = {
		{ KUBE_ADDED, "", "'phase':'Succeeded'", true, false },
		{ KUBE_MODIFIED, ",'deletionTimestamp':'2026-01-03T00:00:00Z'",
			"'phase':'Succeeded'", false, true },
		{ KUBE_DELETED, ",'deletionTimestamp':'2026-01-03T00:00:00Z'",
			"'phase':'Succeeded'", false, true },
		{ KUBE_ADDED, "", "'phase':'Pending'", false, false },
	};
	struct fleet_store store;
	fleet_store_init(&store, on_change, NULL);
	char *sandbox = sandbox_json("", RUN,
		CONDS(COND("Ready", "False", "PodSucceeded") "," COND(
			"Finished", "True", "PodSucceeded")));
	apply(&store, STORE_SANDBOXES, KUBE_ADDED, sandbox);
	const struct fleet_store_row *row = fleet_store_find(&store, SANDBOX_UID);
	assert_non_null(row);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char *pod = pod_json(cases[i].extra, cases[i].status);
		apply(&store, STORE_PODS, cases[i].change, pod);
		free(pod);
		assert_int_equal(cases[i].is_finished, row->shown.state == FLEET_FINISHED);
		assert_int_equal(cases[i].is_ending, row->shown.is_pod_ending);
	}
	free(sandbox);
	fleet_store_deinit(&store);
}

static void events_explain_what_the_pod_does_not(void **state)
{
	(void)state;
	struct fleet_store store;
	fleet_store_init(&store, on_change, NULL);
	char *sandbox = sandbox_json("", RUN, CONDS(NOT_READY));
	char *pod = pod_json("", "'phase':'Pending'");
	/* the event may come before its pod */
	apply(&store, STORE_EVENTS, KUBE_ADDED,
		"{'metadata':{'uid':'e1','name':'e1'},'involvedObject':{'kind':'Pod','name':'s','uid':'" POD_UID
		"'},'type':'Warning','reason':'FailedMount','message':'no such volume',"
		"'lastTimestamp':'2026-01-05T00:00:00Z','count':3}");
	apply(&store, STORE_EVENTS, KUBE_ADDED,
		"{'metadata':{'uid':'e2','name':'e2'},'involvedObject':{'kind':'Pod','name':'s','uid':'" POD_UID
		"'},'type':'Normal','reason':'Pulled','eventTime':'2026-01-06T00:00:00.000000Z'}");
	apply(&store, STORE_EVENTS, KUBE_ADDED,
		"{'metadata':{'uid':'e3','name':'e3'},'involvedObject':{'kind':'Pod','name':'s','uid':'" POD_UID
		"'},'type':'Warning','reason':'MissingClusterDNS','lastTimestamp':'2026-01-07T00:00:00Z'}");
	static const char *const repeated[] = { "DNSConfigForming", "CheckLimitsForResolvConf",
		"InvalidDiskCapacity" };
	for (int i = 0; i < 3; i++) {
		char *event = x_asprintf(
			"{'metadata':{'uid':'n%d','name':'n%d'},'involvedObject':{'kind':'Pod','name':'s','uid':'" POD_UID
			"'},'type':'Warning','reason':'%s','lastTimestamp':'2026-01-07T00:00:00Z'}",
			i, i, repeated[i]);
		apply(&store, STORE_EVENTS, KUBE_ADDED, event);
		free(event);
	}
	apply(&store, STORE_SANDBOXES, KUBE_ADDED, sandbox);
	apply(&store, STORE_PODS, KUBE_ADDED, pod);
	const struct fleet_store_row *row = fleet_store_find(&store, SANDBOX_UID);
	assert_string_equal("Pod s: FailedMount: no such volume", row->shown.why);
	int64_t ns;
	assert_true(clock_parse_rfc3339("2026-01-05T00:00:00Z", &ns));
	assert_int_equal(ns / 1000000, row->shown.why_since_ms);
	/* a newer one about the Sandbox itself does not hide it; a repeat of it moves the date */
	apply(&store, STORE_EVENTS, KUBE_MODIFIED,
		"{'metadata':{'uid':'e1','name':'e1'},'involvedObject':{'kind':'Pod','name':'s','uid':'" POD_UID
		"'},'type':'Warning','reason':'FailedMount','message':'still','series':{'count':9,"
		"'lastObservedTime':'2026-01-09T00:00:00Z'}}");
	assert_string_equal("Pod s: FailedMount: still", row->shown.why);
	free(sandbox);
	free(pod);
	fleet_store_deinit(&store);
}

static void warn(struct fleet_store *store, const char *uid, const char *kind, const char *when)
{
	char *text = x_asprintf(
		"{'metadata':{'uid':'w-%s','name':'w'},'involvedObject':{'kind':'%s',"
		"'name':'x','uid':'%s'},'type':'Warning','reason':'Old',"
		"'message':'story','lastTimestamp':'%s'}",
		when, kind, uid, when);
	apply(store, STORE_EVENTS, KUBE_ADDED, text);
	free(text);
}

/* A reason is never an older one's: not from before the object, nor from before the trouble it is in. */
static void old_events_are_not_blamed(void **state)
{
	(void)state;
	static const struct {
		const char *when, *pod_status;
		bool is_named;
	} pods[] = {
		{ "2026-01-01T00:00:01Z", "'phase':'Pending'", false }, /* the pod is younger */
		{ "2026-01-01T00:00:02Z", "'phase':'Pending'", true },
		{ "2026-01-01T00:00:03Z", "'phase':'Pending'", true },
		/* not ready since the second of January; the grace is a minute */
		{ "2026-01-01T12:00:00Z", "'phase':'Running'," CONDS(NOT_READY), false },
		{ "2026-01-01T23:58:59Z", "'phase':'Running'," CONDS(NOT_READY), false },
		{ "2026-01-01T23:59:00Z", "'phase':'Running'," CONDS(NOT_READY), true },
		{ "2026-01-02T00:00:10Z", "'phase':'Running'," CONDS(NOT_READY), true },
	};
	for (size_t i = 0; i < sizeof pods / sizeof *pods; i++) {
		struct fleet_store store;
		fleet_store_init(&store, on_change, NULL);
		char *sandbox = sandbox_json("", RUN, CONDS(NOT_READY));
		char *pod = pod_json("", pods[i].pod_status);
		apply(&store, STORE_SANDBOXES, KUBE_ADDED, sandbox);
		apply(&store, STORE_PODS, KUBE_ADDED, pod);
		warn(&store, POD_UID, "Pod", pods[i].when);
		apply(&store, STORE_PODS, KUBE_MODIFIED, pod);
		apply(&store, STORE_SANDBOXES, KUBE_MODIFIED, sandbox);
		const struct fleet_store_row *row = fleet_store_find(&store, SANDBOX_UID);
		bool is_named = strstr(row->shown.why, "Old: story") != NULL;
		if (is_named != pods[i].is_named)
			fail_msg("%s with %s: %s", pods[i].when, pods[i].pod_status,
				row->shown.why);
		free(sandbox);
		free(pod);
		fleet_store_deinit(&store);
	}
}

static void old_events_of_a_claim_are_not_blamed(void **state)
{
	(void)state;
	static const struct {
		const char *when;
		bool is_named;
	} cases[] = {
		{ "2025-12-31T23:59:59Z", false }, /* of one of its name before it */
		{ "2026-01-01T00:00:00Z", true },
		{ "2026-01-01T00:00:01Z", true },
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct fleet_store store;
		fleet_store_init(&store, on_change, NULL);
		char *claim = claim_json("", "", "");
		warn(&store, CLAIM_UID, "SandboxClaim", cases[i].when);
		apply(&store, STORE_CLAIMS, KUBE_ADDED, claim);
		const struct fleet_store_row *row = fleet_store_find(&store, CLAIM_UID);
		assert_int_equal(FLEET_PENDING, row->shown.state);
		if ((strstr(row->shown.why, "Old: story") != NULL) != cases[i].is_named)
			fail_msg("%s: %s", cases[i].when, row->shown.why);
		free(claim);
		fleet_store_deinit(&store);
	}
}

/* The Sandbox's own word about its pod may be of the pod before. */
static void a_pod_on_a_node_is_scheduled_whatever_the_sandbox_says(void **state)
{
	(void)state;
	struct fleet_store store;
	fleet_store_init(&store, on_change, NULL);
	char *sandbox = sandbox_json(
		"", RUN, CONDS(NOT_READY "," COND("PodScheduled", "False", "Unschedulable")));
	char *pod = pod_json("", "'phase':'Pending'");
	apply(&store, STORE_SANDBOXES, KUBE_ADDED, sandbox);
	const struct fleet_store_row *row = fleet_store_find(&store, SANDBOX_UID);
	apply(&store, STORE_PODS, KUBE_ADDED, pod);
	assert_null(strstr(row->shown.why, "not scheduled"));
	free(sandbox);
	free(pod);
	fleet_store_deinit(&store);
}

/* What a controller has not seen yet is not said to be missing when it is there. */
static void a_blocked_claim_is_explained_by_what_there_is(void **state)
{
	(void)state;
	struct fleet_store store;
	fleet_store_init(&store, on_change, NULL);
	char *no_pool = claim_json("", "", CONDS(COND("Ready", "False", "WarmPoolNotFound")));
	char *no_template =
		claim_json("", "", CONDS(COND("Ready", "False", "TemplateNotFound")));
	apply(&store, STORE_CLAIMS, KUBE_ADDED, no_pool);
	const struct fleet_store_row *row = fleet_store_find(&store, CLAIM_UID);
	assert_int_equal(FLEET_BLOCKED, row->shown.state);
	assert_string_equal("SandboxWarmPool p does not exist", row->shown.why);
	apply(&store, STORE_POOLS, KUBE_ADDED,
		"{'metadata':{'name':'p','namespace':'n','uid':'p1'},'spec':{'sandboxTemplateRef':"
		"{'name':'t'}}}");
	assert_non_null(
		strstr(row->shown.why, "the controller has not seen SandboxWarmPool p yet"));
	apply(&store, STORE_CLAIMS, KUBE_MODIFIED, no_template);
	assert_string_equal(
		"SandboxTemplate t of SandboxWarmPool p does not exist", row->shown.why);
	apply(&store, STORE_TEMPLATES, KUBE_ADDED,
		"{'metadata':{'name':'t','namespace':'n','uid':'t1'},'spec':{}}");
	assert_non_null(
		strstr(row->shown.why, "the controller has not seen SandboxTemplate t yet"));
	free(no_pool);
	free(no_template);
	fleet_store_deinit(&store);
}

static void pools_and_templates_explain_a_pending_claim(void **state)
{
	(void)state;
	struct fleet_store store;
	fleet_store_init(&store, on_change, NULL);
	char *claim = claim_json("", "", "");
	apply(&store, STORE_CLAIMS, KUBE_ADDED, claim);
	const struct fleet_store_row *row = fleet_store_find(&store, CLAIM_UID);
	assert_non_null(strstr(row->shown.why, "waits for the controller"));
	fleet_store_sync(&store, STORE_POOLS, true);
	fleet_store_sync(&store, STORE_POOLS, false);
	assert_string_equal("SandboxWarmPool p does not exist", row->shown.why);
	fleet_store_sync(&store, STORE_TEMPLATES, true);
	fleet_store_sync(&store, STORE_TEMPLATES, false);
	apply(&store, STORE_POOLS, KUBE_ADDED,
		"{'metadata':{'name':'p','namespace':'n','uid':'p1'},'spec':{'sandboxTemplateRef':"
		"{'name':'t'}}}");
	assert_string_equal(
		"SandboxTemplate t of SandboxWarmPool p does not exist", row->shown.why);
	assert_string_equal("t", row->shown.template_);
	apply(&store, STORE_TEMPLATES, KUBE_ADDED,
		"{'metadata':{'name':'t','namespace':'n','uid':'t1'},'spec':{'podTemplate':{'spec':"
		"{'runtimeClassName':'kata'}}}}");
	assert_non_null(strstr(row->shown.why, "waits for the controller"));
	assert_string_equal("kata", row->shown.runtime_class);
	apply(&store, STORE_POOLS, KUBE_DELETED,
		"{'metadata':{'name':'p','namespace':'n','uid':'p1'}}");
	assert_string_equal("SandboxWarmPool p does not exist", row->shown.why);
	free(claim);
	fleet_store_deinit(&store);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_row_of_the_table),
		cmocka_unit_test(every_state_has_a_row),
		cmocka_unit_test(the_pod_explains),
		cmocka_unit_test(a_pod_that_is_replaced_ends_no_sandbox),
		cmocka_unit_test(events_explain_what_the_pod_does_not),
		cmocka_unit_test(old_events_are_not_blamed),
		cmocka_unit_test(old_events_of_a_claim_are_not_blamed),
		cmocka_unit_test(a_pod_on_a_node_is_scheduled_whatever_the_sandbox_says),
		cmocka_unit_test(a_blocked_claim_is_explained_by_what_there_is),
		cmocka_unit_test(pools_and_templates_explain_a_pending_claim),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
