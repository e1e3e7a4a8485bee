// SPDX-License-Identifier: Apache-2.0
/* Verbs that ask the cluster, and those that ask nobody: exact words, forms and exit statuses. */
#include "tests/unit/cli/program.h"

#define SUSPENDED                                                                              \
	"{'metadata':{'name':'s','namespace':'demo','uid':'sandbox-s','generation':1,"         \
	"'resourceVersion':'9RV','creationTimestamp':'2026-01-01T00:00:00Z'},'spec':{"         \
	"'operatingMode':'Suspended'},'status':{'conditions':[{'type':'Suspended',"            \
	"'status':'True','reason':'R','message':'m','observedGeneration':1}]}}"
#define SUSPENDED_A                                                                            \
	"{'metadata':{'name':'a','namespace':'demo','uid':'sandbox-a','generation':2,"         \
	"'resourceVersion':'9RV','creationTimestamp':'2026-01-01T00:00:00Z',"                  \
	"'labels':{'agents.x-k8s.io/claim-uid':'claim-a'}},'spec':{'operatingMode':"           \
	"'Suspended'},'status':{'conditions':[{'type':'Suspended','status':'True',"            \
	"'reason':'R','message':'m','observedGeneration':2}]}}"
#define WARM                                                                                   \
	"{'metadata':{'name':'w','namespace':'demo','uid':'sandbox-w','generation':1,"         \
	"'resourceVersion':'9RV','creationTimestamp':'2026-01-01T00:00:00Z',"                  \
	"'ownerReferences':[{'kind':'SandboxWarmPool','name':'p','uid':'u','controller':"      \
	"true}]},'spec':{},'status':{'conditions':[{'type':'Ready','status':'True',"           \
	"'reason':'DependenciesReady','message':'m','observedGeneration':1}]}}"
#define EVENT                                                                                  \
	"{'metadata':{'name':'e','namespace':'demo','uid':'e','resourceVersion':'9RV'},"       \
	"'involvedObject':{'kind':'Pod','name':'a','namespace':'demo','uid':'pod-a'},"         \
	"'type':'Warning','reason':'BackOff','message':'again','count':2,"                     \
	"'lastTimestamp':'2026-01-01T00:00:00Z'}"

static void fill(struct cluster *c)
{
	cluster_add(c, "sandboxclaims", "%s", CLUSTER_CLAIM("b"));
	cluster_add(c, "sandboxclaims", "%s", CLUSTER_CLAIM("a"));
	cluster_add(c, "sandboxes",
		CLUSTER_SANDBOX("a", "'operatingMode':'Running'", "'10.0.0.1'", "True"));
	cluster_add(c, "sandboxes", WARM);
	cluster_add(c, "pods", CLUSTER_POD("a", "pod-a", "'nodeName':'k'", "10.0.0.1"));
	cluster_add(c, "events", EVENT);
	cluster_can(c, "/sandboxclaims/a", 200, "%s", CLUSTER_CLAIM("a"));
	cluster_can(c, "/sandboxes/a", 200,
		"{'metadata':{'name':'a','uid':'sandbox-a','labels':{'k':'v','l':''},"
		"'annotations':{'x':'y'}},'status':{'conditions':[]}}");
	cluster_can(c, "/pods/a", 200,
		"{'metadata':{'name':'a','uid':'pod-a','annotations':{'sandmux.local/limits':"
		"'[{\\'what\\':\\'memory\\',\\'value\\':\\'1 GiB\\',\\'how\\':\\'none\\'}]'}}}");
	for (char *p = c->canned[c->n_canned - 1].body; *p; p++) /* a text in a text */
		if (p[0] == '\\' && p[1] == '"')
			p++;
}

/* ---- lists */

static void lists(void **state)
{
	static const struct row rows[] = {
		{ "ls", 0,
			"~NAME   STATE   SANDBOX   POOL   AGE    WHY\n"
			"a      Ready   a         p      ",
			"" },
		{ "ls -o name", 0, "sandboxclaim/a\nsandboxclaim/b\n", "" },
		{ "ls -A", 0,
			"~NAMESPACE   NAME   STATE   SANDBOX   POOL   AGE    WHY\n"
			"demo        a      Ready   a         p      ",
			"" },
		{ "ls -o wide", 0, "~\nw      Warm    w         p      ", "" },
		{ "ls -o json", 0,
			"~{\n\t\"apiVersion\":\t\"sandmux/v1\",\n\t\"kind\":\t\"SandboxList\",\n"
			"\t\"items\":\t[{\n\t\t\t\"uid\":\t\"claim-a\",\n",
			"" },
		{ "ls -o json", 0, "~\"uid\":\t\"claim-b\",\n", "" },
		{ "ls -o yaml", 0,
			"~apiVersion: sandmux/v1\nkind: SandboxList\nitems:\n- uid: claim-a\n",
			"" },
		{ "ls --rest x", 2, "",
			"sandmux: arg.invalid: ls needs a cluster, not --rest/--grpc" SEE_HELP },
	};
	struct cluster *c = *state;
	fill(c);
	expect_all(c, rows, COUNT(rows));
}

static void nothing_to_list(void **state)
{
	struct cluster *c = *state;
	static const struct row rows[] = {
		{ "ls", 0, "", "No sandboxes found in namespace demo.\n" },
		{ "ls -n x", 0, "", "No sandboxes found in namespace x.\n" },
		{ "ls -A", 0, "", "No sandboxes found.\n" },
		{ "ls -q", 0, "", "" },
		{ "ls -o name", 0, "", "No sandboxes found in namespace demo.\n" },
		{ "ls -o yaml", 0, "apiVersion: sandmux/v1\nkind: SandboxList\nitems: []\n",
			"" },
	};
	expect_all(c, rows, COUNT(rows));
}

static void what_may_not_be_listed(void **state)
{
	struct cluster *c = *state;
	cluster_add(c, "sandboxclaims", "%s", CLUSTER_CLAIM("a"));
	cluster_collection(c, "sandboxes")->is_forbidden = true;
	program_expect(c, "ls -o name", NULL, 0, "sandboxclaim/a\n",
		"~Only claims are listed: User cannot list resource \"sandboxes\"");
	cluster_collection(c, "sandboxclaims")->is_forbidden = true;
	program_expect(c, "ls", NULL, 4, "", "~sandmux: kube.forbidden: ");
	cluster_collection(c, "sandboxes")->is_forbidden = false;
	program_expect(c, "ls -q", NULL, 0, "", "");
	program_expect(c, "ls", NULL, 0, "",
		"~Only Sandboxes are listed: User cannot list resource \"sandboxclaims\"");
}

static void end_watch(struct cluster *c, struct program *p)
{
	kill(p->pid, SIGTERM);
	program_end(c, p);
	assert_int_equal(p->status, 128 + SIGTERM);
}

static void a_watch_as_a_table(void **state)
{
	struct cluster *c = *state;
	struct program p = { 0 };
	cluster_add(c, "sandboxclaims", "%s", CLUSTER_CLAIM("a"));
	program_start(c, &p, "ls -w");
	program_until(c, &p, &p.out, "\na      Ready   ");
	cluster_tell(c, "sandboxclaims", "ADDED", "%s", CLUSTER_CLAIM("bb"));
	program_until(c, &p, &p.out, "\nbb   Ready   bb   p   ");
	/* what looks the same is not printed again */
	cluster_tell(c, "sandboxclaims", "MODIFIED", "%s", CLUSTER_CLAIM("bb"));
	cluster_tell(c, "sandboxclaims", "DELETED", "%s", CLUSTER_CLAIM("bb"));
	program_until(c, &p, &p.out, "\nbb   Deleted   bb   p   -   -\n");
	end_watch(c, &p);
	assert_null(strstr(strstr(p.out.p, "\nbb   Ready") + 1, "\nbb   Ready"));
	program_free(&p);
}

static void watches_for_scripts(void **state)
{
	struct cluster *c = *state;
	struct program p = { 0 };
	cluster_add(c, "sandboxclaims", "%s", CLUSTER_CLAIM("a"));
	program_start(c, &p, "ls -w -o json");
	program_until(c, &p, &p.out, "}\n");
	assert_int_equal(
		strncmp(p.out.p, "{\"type\":\"CHANGED\",\"object\":{\"uid\":\"claim-a\",", 44),
		0);
	cluster_tell(c, "sandboxclaims", "DELETED", "%s", CLUSTER_CLAIM("a"));
	program_until(c, &p, &p.out, "{\"type\":\"DELETED\",\"uid\":\"claim-a\"}\n");
	end_watch(c, &p);
	program_free(&p);

	program_start(c, &p, "ls -w -o yaml");
	program_until(c, &p, &p.out, "---\ntype: CHANGED\nobject:\n  uid: claim-a\n");
	end_watch(c, &p);
	program_free(&p);

	program_start(c, &p, "ls -w -o name");
	program_until(c, &p, &p.out, "sandboxclaim/a\n");
	cluster_tell(c, "sandboxclaims", "DELETED", "%s", CLUSTER_CLAIM("a"));
	cluster_tell(c, "sandboxclaims", "ADDED", "%s", CLUSTER_CLAIM("b"));
	program_until(c, &p, &p.out, "sandboxclaim/b\n");
	end_watch(c, &p);
	assert_string_equal(p.out.p, "sandboxclaim/a\nsandboxclaim/b\n");
	program_free(&p);
}

/* ---- one */

static void one_of_them(void **state)
{
	static const struct row rows[] = {
		{ "get a", 0, "~NAME   STATE   SANDBOX   POOL   AGE    WHY\na      Ready   ",
			"" },
		{ "get nope", 3, "",
			"sandmux: claim.not_found: no claim is called nope in namespace demo" NONE },
		{ "get a -o name", 0, "sandboxclaim/a\n", "" },
		{ "get sandboxclaim/a -o name", 0, "sandboxclaim/a\n", "" },
		{ "get a -o wide", 0,
			"~NAME   STATE   SANDBOX   POOL   POD   IP         NODE   TEMPLATE   "
			"RESTARTS   AGE    WHY\n"
			"a      Ready   a         p      a     10.0.0.1   k      -          0     "
			"     ",
			"" },
		{ "get a -o json", 0, "~{\n\t\"uid\":\t\"claim-a\",\n", "" },
		{ "get a -o json", 0, "~\"restarts\":\t0,\n", "" },
		{ "get a -o json", 0,
			"~\t\"claimObject\":\t{\n\t\t\"metadata\":\t{\n\t\t\t\"name\":\t\"a\"",
			"" },
		{ "get a -o json", 0,
			"~\t\"podObject\":\t{\n\t\t\"metadata\":\t{\n\t\t\t\"name\":\t\"a\"",
			"" },
		{ "get a -o json", 0, "~\t\"limits\":\t[{\n\t\t\t\"what\":\t\"memory\"", "" },
		{ "get a --rest x", 2, "",
			"sandmux: arg.invalid: a name needs a cluster, not --rest/--grpc" SEE_HELP },
		{ "describe a", 0,
			"~Name          a\nNamespace     demo\nState         Ready\n"
			"Claim UID     claim-a\nSandbox       a\nPod           a\n"
			"Pod IP        10.0.0.1\nNode          k\nPool          p\n"
			"Created       2026-01-01T00:00:00Z\n"
			"Story\n  2026-01-01T00:00:00Z  + created cold, of pool p\n"
			"  2026-01-01T00:00:01Z  ● ready\n"
			"Limits\n  WHAT     LIMIT   HELD BY   \n"
			"  memory   1 GiB   NOTHING   -\n"
			"Claim conditions\n  TYPE    STATUS   REASON              AGE    MESSAGE\n"
			"  Ready   True     DependenciesReady   ",
			"" },
		{ "describe a", 0, "~\nEvents\n  AGE    TYPE      REASON    OBJECT   MESSAGE\n",
			"" },
		{ "describe a", 0, "~   Warning   BackOff   ", "" },
		{ "status a", 0, "SandboxReady\n", "" },
		{ "status nope", 3, "SandboxNotFound\n", "" },
		{ "status a -o json", 0,
			"{\n\t\"status\":\t\"SandboxReady\",\n\t\"message\":\t\"\",\n\t\"why\":\t\"\"\n}\n",
			"" },
		{ "status nope -o yaml", 3,
			"status: SandboxNotFound\nmessage: \"\"\nwhy: \"\"\n", "" },
		{ "status a --rest x", 2, "",
			"sandmux: arg.invalid: status is the cluster's word: see health" SEE_HELP },
	};
	struct cluster *c = *state;
	fill(c);
	expect_all(c, rows, COUNT(rows));
}

#define PENDING                                                                                \
	"{'metadata':{'name':'a','namespace':'demo','uid':'claim-a','generation':1,"           \
	"'resourceVersion':'9RV','creationTimestamp':'2026-01-01T00:00:00Z','labels':"         \
	"{'k':'v','l':''},'annotations':{'x':'y'}},'spec':{'warmPoolRef':{'name':'p'}},"       \
	"'status':{'conditions':[{'type':'Ready','status':'False','reason':"                   \
	"'WarmPoolNotFound','message':'no pool p','observedGeneration':1}]}}"

static void one_that_is_not_ready(void **state)
{
	static const struct row rows[] = {
		{ "status a", 0, "~SandboxNotReady: ", "" },
		{ "describe a", 0,
			"~Labels\n  k = v\n  l = \nAnnotations\n  x = y\nClaim conditions\n",
			"" },
		{ "get sandbox/a", 3, "",
			"sandmux: sandbox.not_found: no sandbox is called a in namespace "
			"demo" NONE },
		{ "get a -o json", 0, "~\t\"sandboxObject\":\tnull,\n\t\"podObject\":\tnull\n}",
			"" },
	};
	struct cluster *c = *state;
	cluster_add(c, "sandboxclaims", PENDING);
	cluster_can(c, "/sandboxclaims/a", 200, PENDING);
	expect_all(c, rows, COUNT(rows));
	cluster_collection(c, "sandboxclaims")->is_forbidden = true;
	program_expect(c, "status a", NULL, 4, "", "~sandmux: kube.forbidden: ");
}

/* ---- changes */

static void what_is_not_changed(void **state)
{
	static const struct row rows[] = {
		{ "rm a", 2, "",
			"sandmux: arg.invalid: delete without a terminal needs --yes" SEE_HELP },
		{ "rm a --yes --rest x", 2, "",
			"sandmux: arg.invalid: a name needs a cluster, not --rest/--grpc" SEE_HELP },
		{ "resume a", 0, "a is running already\n", "" },
		{ "resume sandboxclaim/a", 0, "sandboxclaim/a is running already\n", "" },
		{ "resume a -o json", 0,
			"{\"kind\":\"sandboxclaim\",\"name\":\"a\",\"result\":\"is running "
			"already\",\"changed\":false}\n",
			"" },
		{ "resume a -o yaml", 0,
			"---\nkind: sandboxclaim\nname: a\nresult: is running already\nchanged: "
			"false\n",
			"" },
		{ "resume a -o name", 0, "sandboxclaim/a\n", "" },
		{ "suspend sandbox/s", 0, "sandbox/s is suspended already\n", "" },
		{ "extend a", 2, "",
			"sandmux: arg.invalid: extend needs --timeout TIME: how long it may still "
			"live" SEE_HELP },
		/* the first failure decides, the rest goes on */
		{ "resume nope a", 3, "a is running already\n",
			"sandmux: claim.not_found: no claim is called nope in namespace demo" NONE },
		{ "suspend a nope --read-only", 7, "", "~sandmux: op.read_only: " },
	};
	struct cluster *c = *state;
	fill(c);
	cluster_add(c, "sandboxes", SUSPENDED);
	expect_all(c, rows, COUNT(rows));
}

static int times_asked(const struct cluster *c, const char *method, const char *end)
{
	int times = 0;
	for (size_t i = 0; i < c->api.n; i++) {
		size_t n = strlen(c->api.log[i].path), m = strlen(end);
		times += strcmp(c->api.log[i].method, method) == 0 && n >= m &&
			 strcmp(c->api.log[i].path + n - m, end) == 0;
	}
	return times;
}

static void deleted(void **state)
{
	struct cluster *c = *state;
	struct program p = { 0 };
	fill(c);
	program_expect(c, "rm a --yes --wait=false", NULL, 0, "a is being deleted\n", "");
	assert_int_equal(1, times_asked(c, "DELETE", "/sandboxclaims/a"));
	program_expect(c, "rm nope a --yes --timeout 200ms", NULL, 3, "",
		"~\nsandmux: op.timeout: a is still being deleted");
	program_start(c, &p, "rm a --yes -o json");
	API_UNTIL(&c->api, times_asked(c, "DELETE", "/sandboxclaims/a") == 3, 9000);
	cluster_tell(c, "sandboxclaims", "DELETED", "%s", CLUSTER_CLAIM("a"));
	program_end(c, &p);
	assert_int_equal(p.status, 0);
	assert_string_equal(p.out.p, "{\"kind\":\"sandboxclaim\",\"name\":\"a\",\"result\":"
				     "\"deleted\",\"changed\":true}\n");
	program_free(&p);
}

static void extended(void **state)
{
	struct cluster *c = *state;
	fill(c);
	program_expect(c, "extend a --timeout 1h", NULL, 0, "~a extended", "");
	assert_int_equal(1, times_asked(c, "PATCH", "/sandboxclaims/a"));
	cluster_can(c, "/sandboxclaims/a", 403,
		"{'kind':'Status','reason':'Forbidden','message':'no'}");
	program_expect(c, "extend a --timeout 1h", NULL, 4, "", "~sandmux: kube.forbidden: ");
}

/* The answer says already that it has come to rest. */
static void suspended(void **state)
{
	struct cluster *c = *state;
	fill(c);
	cluster_can(c, "/sandboxes/a", 200, SUSPENDED_A);
	program_expect(c, "suspend a", NULL, 0, "a suspended\n", "");
	assert_int_equal(times_asked(c, "PATCH", "/sandboxes/a"), 1);
}

/* ---- create */

static void what_create_refuses(void **state)
{
	static const struct row rows[] = {
		{ "create", 2, "", "sandmux: arg.invalid: create needs --pool POOL" SEE_HELP },
		{ "create --pool p --adopt", 2, "",
			"sandmux: arg.invalid: --adopt needs the NAME of the claim" SEE_HELP },
		{ "create -A --pool p", 2, "",
			"sandmux: arg.invalid: create needs one namespace, not -A" SEE_HELP },
		{ "create --rest x --pool p", 2, "",
			"sandmux: arg.invalid: create needs a cluster, not --rest/--grpc" SEE_HELP },
		{ "create a --pool p --read-only", 7, "", "~sandmux: op.read_only: " },
	};
	struct cluster *c = *state;
	expect_all(c, rows, COUNT(rows));
	assert_int_equal(0, times_asked(c, "POST", "/sandboxclaims"));
}

static void what_create_prints(void **state)
{
	static const struct row rows[] = {
		{ "create a --pool p --no-wait", 0, "a\n", "" },
		{ "create sandboxclaim/a --pool p --no-wait -o name", 0, "sandboxclaim/a\n",
			"" },
		{ "create a --pool p --no-wait -o json", 0, "~\"claim\":\t\"a\"", "" },
		{ "create a --pool p --no-wait -o yaml", 0, "~claim: a\n", "" },
	};
	struct cluster *c = *state;
	cluster_can(c, "/sandboxclaims", 201, "%s", CLUSTER_CLAIM("a"));
	expect_all(c, rows, COUNT(rows));
	cluster_can(c, "/sandboxclaims", 409,
		"{'kind':'Status','reason':'AlreadyExists','message':'there is one'}");
	program_expect(c, "create a --pool p", NULL, 1, "",
		"sandmux: claim.exists: claim a exists already; adopt it or choose another "
		"name\n");
	/* it may have been made */
	cluster_can(c, "/sandboxclaims", 201, "{'kind':'Pod'}");
	program_expect(c, "create a --pool p", NULL, 1, "",
		"~\nclaim a may have been made; take it away with: sandmux rm a\n");
	assert_int_equal(strncmp(strstr(c->api.log[0].body, "\"metadata\":{\"name\":\"a\""),
				 "\"metadata\":{\"name\":\"a\"", 22),
		0);
}

/* What was made is taken back, or named: what the caller has named stays. */
static void a_create_that_is_given_up(void **state)
{
	struct cluster *c = *state;
	struct program p = { 0 };
	cluster_can(c, "/sandboxclaims/a", 200, "{'kind':'Status','status':'Success'}");
	cluster_can(c, "/sandboxclaims", 201, PENDING);
	program_start(c, &p, "create --pool p");
	API_UNTIL(&c->api, times_asked(c, "GET", "/sandboxclaims") > 0, 9000);
	kill(p.pid, SIGINT);
	program_end(c, &p);
	assert_int_equal(p.status, 130);
	assert_int_equal(times_asked(c, "DELETE", "/sandboxclaims/a"), 1);
	assert_string_equal(p.out.p, "");
	assert_non_null(strstr(p.err.p, "the create was cancelled; nothing is left of it"));
	program_free(&p);
	int asked = times_asked(c, "GET", "/sandboxclaims");
	program_start(c, &p, "create a --pool p");
	API_UNTIL(&c->api, times_asked(c, "GET", "/sandboxclaims") > asked, 9000);
	kill(p.pid, SIGTERM);
	program_end(c, &p);
	assert_int_equal(p.status, 143);
	assert_int_equal(times_asked(c, "DELETE", "/sandboxclaims/a"), 1);
	assert_non_null(strstr(p.err.p, "the create was cancelled"));
	assert_null(strstr(p.err.p, "nothing is left"));
	assert_non_null(strstr(p.err.p, "claim a is left; take it away with: sandmux rm a\n"));
	program_free(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_CLUSTER(lists),
		WITH_CLUSTER(nothing_to_list),
		WITH_CLUSTER(what_may_not_be_listed),
		WITH_CLUSTER(a_watch_as_a_table),
		WITH_CLUSTER(watches_for_scripts),
		WITH_CLUSTER(one_of_them),
		WITH_CLUSTER(one_that_is_not_ready),
		WITH_CLUSTER(what_is_not_changed),
		WITH_CLUSTER(deleted),
		WITH_CLUSTER(extended),
		WITH_CLUSTER(suspended),
		WITH_CLUSTER(what_create_refuses),
		WITH_CLUSTER(what_create_prints),
		WITH_CLUSTER(a_create_that_is_given_up),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
