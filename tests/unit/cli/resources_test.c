// SPDX-License-Identifier: Apache-2.0
/* What belongs together, on the command line: trees, events of all that belongs to something, pools and binding keys. */
#include "tests/unit/cli/program.h"

#define META(name, uid_, more)                                                                 \
	"'metadata':{'name':'" name "','namespace':'demo','uid':'" uid_                        \
	"','resourceVersion':'9RV','creationTimestamp':'2026-01-01T00:00:00Z'" more "}"
#define OWNED(kind, name, uid)                                                                 \
	",'ownerReferences':[{'kind':'" kind "','name':'" name "','uid':'" uid                 \
	"','controller':true}]"
#define READY(is, reason)                                                                      \
	"'conditions':[{'type':'Ready','status':'" is "','reason':'" reason "'}]"
#define CLAIM                                                                                  \
	"{" META("c", "u-c", "") ",'spec':{'warmPoolRef':{'name':'p'}},'status':{'sandbox':"   \
				 "{'name':'s'}," READY("True", "DependenciesReady") "}}"
#define SANDBOX                                                                                            \
	"{" META("s", "u-s",                                                                               \
		",'annotations':{'agents.x-k8s.io/pod-name':'s','agents.x-k8s.io/"                         \
		"sandbox-template-ref':'t'}" OWNED("SandboxClaim", "c",                                    \
			"u-c")) ",'spec':{"                                                                \
				"'volumeClaimTemplates':[{'metadata':{'name':'data'}}]},'status':{" READY( \
					"True", "DependenciesReady") "}}"
#define POD                                                                                                       \
	"{" META("s", "u-pod",                                                                                    \
		OWNED("Sandbox", "s",                                                                             \
			"u-s")) ",'spec':{'containers':[{}]},"                                                    \
				"'status':{'phase':'Pending','containerStatuses':[{'state':{'waiting':{'reason':" \
				"'ImagePullBackOff','message':'no such image'}}}]}}"
#define POOL(name)                                                                             \
	"{" META(name, "u-" name,                                                              \
		"") ",'spec':{'replicas':2,'sandboxTemplateRef':{'name':'t'}}}"
#define EVENT(name, kind, object, reason, when)                                                \
	"{" META(name, "u-" name, "") ",'type':'Normal','reason':'" reason "','message':'m','" \
				      "lastTimestamp':'" when                                  \
				      "','involvedObject':{'kind':'" kind "','name':'" object  \
				      "'}}"

static void fill(struct cluster *c)
{
	static const char gone[] = "{'kind':'Status','status':'Failure','reason':'NotFound',"
				   "'code':404,'message':'it is not there'}";
	static const char *const missing[] = { "/services/s",
		"/networkpolicies/t-network-policy", "/persistentvolumeclaims/data-s",
		"/sandboxwarmpools/none", "/sandboxtemplates/t" };
	cluster_add(c, "sandboxclaims", "%s", CLAIM);
	cluster_add(c, "sandboxes", "%s", SANDBOX);
	cluster_add(c, "pods", "%s", POD);
	cluster_add(c, "sandboxwarmpools", "%s", POOL("p"));
	cluster_can(c, "/sandboxclaims/c", 200, "%s", CLAIM);
	cluster_can(c, "/sandboxes/s", 200, "%s", SANDBOX);
	cluster_can(c, "/pods/s", 200, "%s", POD);
	cluster_can(c, "/sandboxwarmpools/p", 200, "%s", POOL("p"));
	for (size_t i = 0; i < COUNT(missing); i++)
		cluster_can(c, missing[i], 404, "%s", gone);
}

static void trees(void **state)
{
	static const struct row rows[] = {
		{ "tree c", 0, "~SandboxClaim/c                       Ready  DependenciesReady",
			"" },
		{ "tree c", 0,
			"~\n├─ Sandbox/s                         Ready  DependenciesReady",
			"" },
		{ "tree c", 0,
			"~\n│  ├─ Pod/s                          ImagePullBackOff  0/1  no such image",
			"" },
		{ "tree c", 0, "~\n│  └─ PersistentVolumeClaim/data-s   does not exist", "" },
		{ "tree c", 0,
			"~\n└→ SandboxWarmPool/p                 Empty  ready 0  desired 2",
			"" },
		{ "tree c", 0, "~\n   └→ SandboxTemplate/t              does not exist", "" },
		{ "tree c -o name", 0,
			"sandboxclaim/c\nsandbox.agents.x-k8s.io/s\npod/s\nsandboxwarmpool/p\n",
			"" },
		/* from below: its owners above it, and what they have besides */
		{ "tree pod/s -o name", 0,
			"sandboxclaim/c\nsandbox.agents.x-k8s.io/s\npod/s\nsandboxwarmpool/p\n",
			"" },
		{ "tree po/s -o json", 0,
			"~\t\t\t\"kind\":\t\"Pod\",\n\t\t\t\"namespace\":\t\"demo\",\n\t\t\t\"name\":\t\"s\",\n"
			"\t\t\t\"uid\":\t\"u-pod\",\n\t\t\t\"status\":\t\"ImagePullBackOff  0/1  no such image\",\n"
			"\t\t\t\"problem\":\tnull,\n\t\t\t\"isReference\":\tfalse,\n\t\t\t\"isAsked\":\ttrue\n",
			"" },
		{ "tree pool/none", 3, "", "~sandmux: kube.not_found: " },
		{ "tree pool/", 2, "", "~sandmux: arg.invalid: no name is given" },
		{ "tree nothing", 3, "", "~sandmux: claim.not_found: " },
	};
	struct cluster *c = *state;
	fill(c);
	expect_all(c, rows, COUNT(rows));
}

/* The one that owned it is gone, and another one has its name. */
static void owners_that_are_others(void **state)
{
	static const struct row rows[] = {
		{ "tree pod/x", 0,
			"~OBJECT      STATUS                                  AGE\n"
			"Sandbox/s   is gone; another one has its name now   -\n"
			"└─ Pod/x    0/0 ",
			"" },
		{ "tree pod/y", 0,
			"~OBJECT         STATUS           AGE\n"
			"Sandbox/none   does not exist   -\n└─ Pod/y ",
			"" },
		/* of a kind that is not followed */
		{ "tree pod/z", 0, "~\nReplicaSet/r   -        -\n└─ Pod/z ", "" },
		/* its own owner */
		{ "tree sandbox.agents.x-k8s.io/ring -o name", 0,
			"sandbox.agents.x-k8s.io/ring\n", "" },
	};
	struct cluster *c = *state;
	cluster_can(c, "/sandboxes/s", 200, "%s", SANDBOX);
	cluster_can(c, "/sandboxes/none", 404,
		"{'kind':'Status','reason':'NotFound','code':404,'message':'not there'}");
	cluster_can(
		c, "/pods/x", 200, "{" META("x", "u-x", OWNED("Sandbox", "s", "other")) "}");
	cluster_can(c, "/pods/y", 200, "{" META("y", "u-y", OWNED("Sandbox", "none", "u")) "}");
	cluster_can(c, "/pods/z", 200, "{" META("z", "u-z", OWNED("ReplicaSet", "r", "u")) "}");
	cluster_can(c, "/sandboxes/ring", 200,
		"{" META("ring", "u-r", OWNED("Sandbox", "ring", "u-r")) "}");
	cluster_can(c, "/pods/ring", 404, "{'kind':'Status','reason':'NotFound','code':404}");
	cluster_can(
		c, "/services/ring", 404, "{'kind':'Status','reason':'NotFound','code':404}");
	expect_all(c, rows, COUNT(rows));
}

static void a_pool_with_more_than_is_shown(void **state)
{
	struct cluster *c = *state;
	struct str items;
	str_init(&items, 1 << 20);
	for (int i = 0; i < 600; i++)
		str_addf(&items,
			"%s{'metadata':{'name':'w%03d','namespace':'demo','uid':'u%d','ownerReferences':"
			"[{'kind':'SandboxWarmPool','name':'p','uid':'%s'}]}}",
			i ? "," : "", i, i, i % 2 ? "u-p" : "another");
	cluster_can(c, "/sandboxwarmpools/p", 200, "%s", POOL("p"));
	cluster_can(c, "/sandboxtemplates/t", 404,
		"{'kind':'Status','reason':'NotFound','code':404}");
	cluster_can(c, "/sandboxes", 200, "{'metadata':{'remainingItemCount':40},'items':[%s]}",
		items.p);
	/* those of another pool are not its own; no pod of so many is asked for */
	program_expect(c, "tree pool/p", NULL, 0, "~├─ Sandbox/w001 ", "");
	program_expect(c, "tree pool/p", NULL, 0, "~├─ Sandbox/w599 ", "");
	program_expect(c, "tree pool/p", NULL, 0, "~\n└─ and 40 more ", "");
	bool is_selected = false;
	for (size_t i = 0; i < c->api.n; i++)
		is_selected = is_selected ||
			      strstr(c->api.log[i].query,
				      "labelSelector=agents.x-k8s.io%2Fwarm-pool-sandbox%3D");
	assert_true(is_selected);
	str_deinit(&items);
}

static void fill_events(struct cluster *c)
{
	cluster_add(
		c, "events", "%s", EVENT("e1", "Pod", "s", "Pulling", "2026-01-01T00:00:01Z"));
	cluster_add(c, "events", "%s",
		EVENT("e2", "SandboxClaim", "c", "SandboxAdopted", "2026-01-01T00:00:03Z"));
	cluster_add(c, "events", "%s",
		EVENT("e3", "SandboxWarmPool", "p", "Progressing", "2026-01-01T00:00:02Z"));
	cluster_add(c, "events", "%s",
		EVENT("e4", "Pod", "other", "Killing", "2026-01-01T00:00:04Z"));
	/* called the same, and something else */
	cluster_add(c, "events", "%s",
		EVENT("e5", "Node", "s", "Rebooted", "2026-01-01T00:00:05Z"));
}

static void events_joined(void **state)
{
	static const struct row rows[] = {
		{ "events c -o name", 0, "event/e2\nevent/e3\nevent/e1\n", "" },
		{ "events c", 0, "~ REASON           OBJECT              COUNT   MESSAGE\n",
			"" },
		{ "events c --sort-by reason -o name", 0, "event/e3\nevent/e1\nevent/e2\n",
			"" },
		{ "events -o name", 0, "event/e5\nevent/e4\nevent/e2\nevent/e3\nevent/e1\n",
			"" },
		{ "events pool/p -o name", 0, "event/e3\n", "" },
	};
	struct cluster *c = *state;
	fill(c);
	fill_events(c);
	cluster_can(c, "/namespaces/demo/sandboxes", 200, "{'items':[]}");
	expect_all(c, rows, COUNT(rows));
}

static void events_as_they_come(void **state)
{
	struct cluster *c = *state;
	struct program p = { 0 };
	fill(c);
	fill_events(c);
	program_start(c, &p, "events pod/s -w -o json");
	program_until(c, &p, &p.out, "\"reason\":\"Pulling\"");
	program_until(c, &p, &p.out, "\"reason\":\"SandboxAdopted\"");
	/* the oldest first, so that it goes on below */
	assert_true(strstr(p.out.p, "Pulling") < strstr(p.out.p, "SandboxAdopted"));
	cluster_tell(c, "events", "ADDED", "%s",
		EVENT("e6", "Pod", "s", "Pulled", "2026-01-01T00:01:00Z"));
	program_until(c, &p, &p.out, "\"reason\":\"Pulled\"");
	assert_null(strstr(p.out.p, "Killing"));
	kill(p.pid, SIGTERM);
	program_end(c, &p);
	program_free(&p);
}

static void events_that_may_not_be_read(void **state)
{
	struct cluster *c = *state;
	fill(c);
	cluster_collection(c, "events")->is_forbidden = true;
	program_expect(c, "events c", NULL, 4, "",
		"~sandmux: kube.forbidden: not allowed: list events in namespace demo; a Role needs: ");
}

static void pools(void **state)
{
	static const struct row rows[] = {
		{ "pool ls", 0,
			"~NAME   STATUS    READY   DESIRED   TEMPLATE   AGE    WHY\n"
			"p      Blocked ",
			"" },
		{ "pool ls -o wide", 0, "~ template t does not exist\n", "" },
		{ "pool scale p 5", 0, "sandboxwarmpool/p scaled: 2 -> 5 (0 ready now)\n", "" },
		{ "pool scale sandboxwarmpool/p 5 -o name", 0, "sandboxwarmpool/p\n", "" },
		{ "pool scale p 5 -o json", 0,
			"{\n\t\"pool\":\t\"p\",\n\t\"from\":\t2,\n\t\"to\":\t5\n}\n", "" },
		{ "pool scale p many", 2, "",
			"~sandmux: arg.invalid: 'many' is no number of warm sandboxes" },
		{ "pool scale p", 2, "",
			"~sandmux: arg.invalid: pool has ls and scale NAME N" },
		{ "pool fill", 2, "", "~sandmux: arg.invalid: pool has ls and scale NAME N" },
		{ "pool scale none 5", 3, "", "~sandmux: kube.not_found: " },
		{ "pool scale p 5 --read-only", 7, "",
			"~sandmux: op.read_only: to patch sandboxwarmpools is off" },
		{ "template ls", 0, "", "No sandboxtemplates found in namespace demo.\n" },
		{ "template show", 2, "",
			"~sandmux: arg.invalid: template has ls, not 'show'" },
	};
	struct cluster *c = *state;
	fill(c);
	cluster_can(c, "/sandboxwarmpools/p/scale", 200, "{'kind':'Scale'}");
	expect_all(c, rows, COUNT(rows));
	size_t n = 0;
	for (size_t i = 0; i < c->api.n; i++)
		if (strcmp(c->api.log[i].method, "PATCH") == 0) {
			assert_string_equal(c->api.log[i].body, "{\"spec\":{\"replicas\":5}}");
			n++;
		}
	assert_int_equal(n, 3);
}

static void binding_keys(void **state)
{
	static const struct row rows[] = {
		{ "lease ls", 0,
			"~NAME                    STATUS   CLAIM   KEY   LAPSES   AGE\n"
			"pai-sandbox-binding-1   Held     c       -     -        ",
			"" },
		{ "lease ls", 0, "~\npai-sandbox-binding-2   Free     gone ", "" },
		{ "lease ls -o name", 0,
			"lease/pai-sandbox-binding-1\nlease/pai-sandbox-binding-2\n", "" },
		{ "lease ls -o wide", 0, "~\nscheduler               Lapsed   me ", "" },
		{ "lease rm", 2, "", "~sandmux: arg.invalid: lease has ls, not 'rm'" },
	};
	struct cluster *c = *state;
	fill(c);
	cluster_add(c, "leases",
		"{" META("pai-sandbox-binding-1", "l1",
			OWNED("SandboxClaim", "c", "u-c")) ",'spec':{'holderIdentity':'c'}}");
	cluster_add(c, "leases",
		"{" META("pai-sandbox-binding-2", "l2",
			OWNED("SandboxClaim", "gone",
				"u-gone")) ",'spec':{'holderIdentity':'gone'}}");
	cluster_add(c, "leases",
		"{" META("scheduler", "l3",
			"") ",'spec':{'holderIdentity':'me','renewTime':"
			    "'2026-01-01T00:00:00.000000Z','leaseDurationSeconds':15}}");
	expect_all(c, rows, COUNT(rows));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_CLUSTER(trees),
		WITH_CLUSTER(owners_that_are_others),
		WITH_CLUSTER(a_pool_with_more_than_is_shown),
		WITH_CLUSTER(events_joined),
		WITH_CLUSTER(events_as_they_come),
		WITH_CLUSTER(events_that_may_not_be_read),
		WITH_CLUSTER(pools),
		WITH_CLUSTER(binding_keys),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
