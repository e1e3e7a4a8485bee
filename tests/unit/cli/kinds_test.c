// SPDX-License-Identifier: Apache-2.0
/* Other kinds than sandboxes on the command line: lists, one object, watches, and what may not be read. */
#include "tests/unit/cli/program.h"

#define PVC(name, phase)                                                                       \
	"{'metadata':{'name':'" name "','namespace':'demo','uid':'uid-" name                   \
	"','resourceVersion':'9RV','creationTimestamp':'2026-01-01T00:00:00Z','labels':"       \
	"{'app':'x'},'ownerReferences':[{'kind':'Sandbox','name':'box','uid':'u'}]},'spec':"   \
	"{'accessModes':['ReadWriteOnce'],'storageClassName':'fast','volumeName':'pv-" name    \
	"','resources':{'requests':{'storage':'1Gi'}}},'status':{'phase':'" phase "'}}"

static void fill(struct cluster *c)
{
	cluster_add(c, "persistentvolumeclaims", "%s", PVC("logs", "Pending"));
	cluster_add(c, "persistentvolumeclaims", "%s", PVC("data", "Bound"));
	cluster_can(c, "/persistentvolumeclaims/data", 200, "%s", PVC("data", "Bound"));
	cluster_can(c, "/persistentvolumeclaims/none", 404,
		"{'kind':'Status','status':'Failure','reason':'NotFound','code':404,"
		"'message':'it is not there'}");
}

static void lists(void **state)
{
	static const struct row rows[] = {
		{ "ls pvc", 0,
			"~NAME   STATUS    CAPACITY   SANDBOX   CLASS   AGE\n"
			"data   Bound     1Gi        box       fast    ",
			"" },
		{ "ls persistentvolumeclaims", 0, "~\nlogs   Pending   1Gi ", "" },
		{ "ls PersistentVolumeClaim -o name", 0,
			"persistentvolumeclaim/data\npersistentvolumeclaim/logs\n", "" },
		{ "ls pvc -A", 0, "~NAMESPACE   NAME   STATUS ", "" },
		{ "ls pvc -o wide", 0, "~ RWO     pv-data ", "" },
		{ "ls pvc -o json", 0,
			"~{\n\t\"apiVersion\":\t\"sandmux/v1\",\n\t\"kind\":\t\"PersistentVolumeClaimList\",\n"
			"\t\"items\":\t[{\n\t\t\t\"uid\":\t\"uid-data\",\n\t\t\t\"namespace\":\t\"demo\",\n"
			"\t\t\t\"name\":\t\"data\",\n\t\t\t\"status\":\t\"Bound\",\n",
			"" },
		{ "ls pvc -o yaml", 0,
			"~apiVersion: sandmux/v1\nkind: PersistentVolumeClaimList\nitems:\n- uid: "
			"uid-data\n",
			"" },
		{ "ls nothing", 2, "",
			"sandmux: arg.invalid: there is no kind 'nothing'" SEE_HELP },
		{ "ls pvc -l x=(", 2, "", "~sandmux: arg.invalid: " },
		{ "ls sandboxes", 0, "", "No sandboxes found in namespace demo.\n" },
		{ "ls sb -A", 0, "", "No sandboxes found.\n" },
	};
	struct cluster *c = *state;
	fill(c);
	expect_all(c, rows, COUNT(rows));
	program_expect(c, "ls pvc -l app=x", NULL, 0, NULL, "");
	bool is_selected = false;
	for (size_t i = 0; i < c->api.n; i++)
		is_selected =
			is_selected || strstr(c->api.log[i].query, "labelSelector=app%3Dx");
	assert_true(is_selected);
}

static void nothing_to_list(void **state)
{
	static const struct row rows[] = {
		{ "ls pvc", 0, "", "No persistentvolumeclaims found in namespace demo.\n" },
		{ "ls pvc -A", 0, "", "No persistentvolumeclaims found.\n" },
	};
	expect_all(*state, rows, COUNT(rows));
}

static void what_may_not_be_listed(void **state)
{
	struct cluster *c = *state;
	cluster_collection(c, "persistentvolumeclaims")->is_forbidden = true;
	program_expect(c, "ls pvc", NULL, 4, "",
		"~sandmux: kube.forbidden: not allowed: list persistentvolumeclaims in namespace demo; "
		"a Role needs: get, list, watch on persistentvolumeclaims");
}

static void one(void **state)
{
	static const struct row rows[] = {
		{ "get pvc data", 0,
			"~NAME   STATUS   CAPACITY   SANDBOX   CLASS   AGE\ndata   Bound ",
			"" },
		{ "get pvc/data -o name", 0, "persistentvolumeclaim/data\n", "" },
		{ "get persistentvolumeclaim/data -o json", 0,
			"~\"object\":\t{\n\t\t\"metadata\":\t{", "" },
		{ "get pvc data -o json", 0, "~{\n\t\"uid\":\t\"uid-data\",\n", "" },
		{ "get pvc data -o yaml", 0, "~uid: uid-data\n", "" },
		{ "describe pvc data", 0,
			"~data\n  namespace: demo\n  status: Bound\n  capacity: 1Gi\n", "" },
		{ "describe pvc/data", 0,
			"~\nSize\n  asked for: 1Gi\n  has: nothing yet\nBelongs to\n  Sandbox: box\n",
			"" },
		{ "get pvc none", 3, "", "~sandmux: kube.not_found: " },
		{ "get nothing data", 3, "",
			"~sandmux: claim.not_found: no claim is called nothing " },
		{ "get pvc a/b", 2, "",
			"sandmux: arg.invalid: 'a/b' is no name of one of the "
			"persistentvolumeclaims" SEE_HELP },
		{ "get pvc/", 2, "",
			"sandmux: arg.invalid: 'pvc/' is no name of one of the "
			"persistentvolumeclaims" SEE_HELP },
		/* what is there is shown all the same */
		{ "get pvc data none pvc/data -o jsonpath={.items[*].metadata.name}", 3,
			"data data\n", "~sandmux: kube.not_found: " },
		{ "get pvc a -l x=y", 2, "",
			"sandmux: arg.invalid: names, or a selector: sandmux ls has selectors" SEE_HELP },
		{ "get pvc a b -w", 2, "",
			"sandmux: arg.invalid: -w follows one NAME" SEE_HELP },
		{ "get pvc data none -o name", 3, "persistentvolumeclaim/data\n",
			"~sandmux: kube.not_found: " },
		/* a sandbox of that name */
		{ "get pvc", 3, "", "~sandmux: claim.not_found: " },
		{ "get pvc", 3, "", "~\nThere is a kind of that name: sandmux ls pvc\n" },
	};
	struct cluster *c = *state;
	fill(c);
	expect_all(c, rows, COUNT(rows));
}

static void end_watch(struct cluster *c, struct program *p)
{
	kill(p->pid, SIGTERM);
	program_end(c, p);
	assert_int_equal(p->status, 128 + SIGTERM);
}

static void watches(void **state)
{
	struct cluster *c = *state;
	struct program p = { 0 };
	fill(c);
	program_start(c, &p, "ls pvc -w");
	program_until(c, &p, &p.out, "\nlogs   Pending   ");
	cluster_tell(c, "persistentvolumeclaims", "MODIFIED", "%s", PVC("logs", "Bound"));
	program_until(c, &p, &p.out, "\nlogs   Bound   ");
	cluster_tell(c, "persistentvolumeclaims", "DELETED", "%s", PVC("logs", "Bound"));
	program_until(c, &p, &p.out, "\nlogs   Deleted   -   box   -   -\n");
	end_watch(c, &p);
	program_free(&p);

	program_start(c, &p, "ls pvc -w -o json");
	program_until(c, &p, &p.out, "{\"type\":\"CHANGED\",\"object\":{\"uid\":\"uid-logs\"");
	cluster_tell(c, "persistentvolumeclaims", "DELETED", "%s", PVC("logs", "Bound"));
	program_until(c, &p, &p.out, "{\"type\":\"DELETED\",\"uid\":\"uid-logs\"}\n");
	end_watch(c, &p);
	program_free(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_CLUSTER(lists),
		WITH_CLUSTER(nothing_to_list),
		WITH_CLUSTER(what_may_not_be_listed),
		WITH_CLUSTER(one),
		WITH_CLUSTER(watches),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
