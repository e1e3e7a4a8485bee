// SPDX-License-Identifier: Apache-2.0
// Kinds as rows: what each takes from objects as real servers write them, and from objects that are nothing of the sort.
#include "tests/unit/unit.h"

#include "engine/base/clock.h"
#include "engine/base/err.h"
#include "engine/base/json.h"
#include "engine/base/mem.h"
#include "engine/base/str.h"
#include "engine/kinds/object.h"
#include "engine/resource/source.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const struct resource_kind kinds_pod, kinds_pool, kinds_template, kinds_event,
	kinds_lease, kinds_namespaces, kinds_claim, kinds_sandbox, kinds_service,
	kinds_networkpolicy, kinds_pvc;
static const struct resource_kind *const all[] = { &kinds_pod, &kinds_pool, &kinds_template,
	&kinds_event, &kinds_lease, &kinds_namespaces, &kinds_claim, &kinds_sandbox,
	&kinds_service, &kinds_networkpolicy, &kinds_pvc };
enum { N_KINDS = sizeof all / sizeof all[0] };

static void read_row(const struct resource_kind *kind, void *row, const char *json)
{
	char text[16384];
	size_t n = 0;
	for (; json[n]; n++) /* ' for " */
		text[n] = json[n] == '\'' ? '"' : json[n];
	text[n] = 0;
	cJSON *object = json_parse(slice_of(text), NULL);
	assert_non_null(object);
	kinds_object_read(row, object, 0);
	kind->project(row, object, 0);
	cJSON_Delete(object);
}

static void free_row(const struct resource_kind *kind, void *row)
{
	if (kind->drop)
		kind->drop(row);
	kinds_object_drop(row);
	free(row);
}

/* What its wide table says, but the times. */
static char *cells_of(const struct resource_kind *kind, const void *row)
{
	struct str out;
	char cell[RESOURCE_CELL_BYTES];
	int i;
	str_init(&out, 8192);
	RESOURCE_EACH(i, kind->wide)
		if (kind->columns[i].format == RESOURCE_TEXT ||
			kind->columns[i].format == RESOURCE_COUNT)
			str_addf(&out, "%s|", resource_text(&kind->columns[i], row, 0, cell));
	return out.p;
}

static enum resource_tone tone_of(const struct resource_kind *kind, const void *row)
{
	int status = resource_find_column(kind, "status");
	return status == RESOURCE_NONE ? RESOURCE_PLAIN
				       : resource_tone(&kind->columns[status], row);
}

struct row_case {
	const struct resource_kind *kind;
	const char *json, *cells;
	enum resource_tone tone;
};

static void check(const struct row_case *cases, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		void *row = x_calloc(1, cases[i].kind->row_bytes);
		read_row(cases[i].kind, row, cases[i].json);
		char *cells = cells_of(cases[i].kind, row);
		assert_string_equal(cells, cases[i].cells);
		assert_int_equal(tone_of(cases[i].kind, row), cases[i].tone);
		free(cells);
		free_row(cases[i].kind, row);
	}
}

#define POD(status, more)                                                                      \
	"{'metadata':{'name':'p','namespace':'n'" more                                         \
	"},'spec':{'nodeName':'k','containers':[{'name':'a'}]},'status':{" status "}}"
#define CONTAINER(state, more) "'containerStatuses':[{'name':'a','state':{" state "}" more "}]"

static const struct row_case pods[] = {
	{ &kinds_pod,
		POD("'phase':'Running','podIP':'10.0.0.1'," CONTAINER(
			    "'running':{}", ",'ready':true,'restartCount':2"),
			",'ownerReferences':[{'kind':'Other','name':'x'},"
			"{'kind':'Sandbox','name':'box','controller':true}]"),
		"n|p|1/1|Running|2|10.0.0.1|k|Sandbox/box||", RESOURCE_GOOD },
	{ &kinds_pod, POD("'phase':'Running'," CONTAINER("'running':{}", ",'ready':false"), ""),
		"n|p|0/1|Running|0||k|||", RESOURCE_WARNING },
	{ &kinds_pod,
		POD("'phase':'Pending','conditions':[{'type':'PodScheduled','status':'False',"
		    "'reason':'Unschedulable','message':'0/3 nodes are available'}]",
			""),
		"n|p|0/1|Pending|0||k||0/3 nodes are available|", RESOURCE_BUSY },
	{ &kinds_pod,
		POD("'phase':'Running'," CONTAINER(
			    "'waiting':{'reason':'CrashLoopBackOff','message':'back-off 5m0s'}",
			    ",'restartCount':7,'lastState':{'terminated':{'reason':'OOMKilled','exitCode':137}}"),
			""),
		"n|p|0/1|CrashLoopBackOff|7||k||ended last: OOMKilled, exit 137; back-off 5m0s|",
		RESOURCE_BAD },
	{ &kinds_pod,
		POD("'phase':'Pending'," CONTAINER(
			    "'waiting':{'reason':'ImagePullBackOff','message':'no such image'}",
			    ""),
			""),
		"n|p|0/1|ImagePullBackOff|0||k||no such image|", RESOURCE_BAD },
	{ &kinds_pod,
		POD("'phase':'Succeeded'," CONTAINER(
			    "'terminated':{'reason':'Completed','exitCode':0}", ""),
			""),
		"n|p|0/1|Completed|0||k|||", RESOURCE_DIM },
	{ &kinds_pod, POD("'phase':'Failed'," CONTAINER("'terminated':{'exitCode':3}", ""), ""),
		"n|p|0/1|ExitCode:3|0||k|||", RESOURCE_BAD },
	{ &kinds_pod, POD("'phase':'Failed'," CONTAINER("'terminated':{'signal':9}", ""), ""),
		"n|p|0/1|Signal:9|0||k|||", RESOURCE_BAD },
	{ &kinds_pod,
		POD("'phase':'Failed','reason':'Evicted','message':'The node was low on memory'",
			""),
		"n|p|0/1|Evicted|0||k||The node was low on memory|", RESOURCE_BAD },
	{ &kinds_pod,
		POD("'phase':'Running'," CONTAINER("'running':{}", ",'ready':true"),
			",'deletionTimestamp':'2026-01-01T00:00:00Z'"),
		"n|p|1/1|Terminating|0||k|||", RESOURCE_GONE },
	{ &kinds_pod,
		POD("'phase':'Running','reason':'NodeLost'",
			",'deletionTimestamp':'2026-01-01T00:00:00Z'"),
		"n|p|0/1|Unknown|0||k|||", RESOURCE_GONE },
	{ &kinds_pod,
		"{'metadata':{'name':'p'},'spec':{'initContainers':[{},{}],'containers':[{}]},"
		"'status':{'phase':'Pending','initContainerStatuses':[{'state':{'terminated':"
		"{'exitCode':0}}},{'state':{'running':{}}}]}}",
		"|p|0/1|Init:1/2|0|||||", RESOURCE_BUSY },
	{ &kinds_pod,
		"{'metadata':{'name':'p'},'spec':{'initContainers':[{'restartPolicy':'Always'}],"
		"'containers':[{}]},'status':{'phase':'Running','initContainerStatuses':"
		"[{'started':true,'ready':true,'state':{'running':{}}}]," CONTAINER(
			"'running':{}", ",'ready':true") "}}",
		"|p|2/2|Running|0|||||", RESOURCE_GOOD },
	{ &kinds_pod,
		"{'metadata':{'name':'p'},'spec':{'initContainers':[{}],'containers':[{}]},"
		"'status':{'phase':'Pending','initContainerStatuses':[{'state':{'waiting':"
		"{'reason':'ErrImagePull','message':'denied'}}}]}}",
		"|p|0/1|Init:ErrImagePull|0||||denied|", RESOURCE_BUSY },
	{ &kinds_pod,
		POD("'phase':'Pending','conditions':[{'type':'PodScheduled',"
		    "'status':'False','reason':'SchedulingGated'}]",
			""),
		"n|p|0/1|SchedulingGated|0||k|||", RESOURCE_BUSY },
};

static void test_pods_as_kubectl_prints_them(void **state)
{
	(void)state;
	check(pods, sizeof pods / sizeof pods[0]);
}

static void test_what_is_of_agent_sandbox(void **state)
{
	static const struct row_case cases[] = {
		/* absent counts are zero, an absent strategy is OnReplenish */
		{ &kinds_pool,
			"{'metadata':{'name':'p','namespace':'n'},'spec':{'replicas':2,'sandboxTemplateRef':"
			"{'name':'t'}},'status':{'readyReplicas':2,'replicas':2}}",
			"n|p|Full|2|2|t|OnReplenish||", RESOURCE_GOOD },
		{ &kinds_pool,
			"{'metadata':{'name':'p'},'spec':{'replicas':3,'updateStrategy':{'type':'Recreate'}}}",
			"|p|Empty|0|3||Recreate||", RESOURCE_WARNING },
		{ &kinds_pool,
			"{'metadata':{'name':'p'},'spec':{'replicas':3},'status':{'readyReplicas':2}}",
			"|p|Filling|2|3||OnReplenish||", RESOURCE_BUSY },
		{ &kinds_pool, "{'metadata':{'name':'p'},'spec':{'replicas':0}}",
			"|p|Off|0|0||OnReplenish||", RESOURCE_DIM },
		{ &kinds_template,
			"{'metadata':{'name':'t'},'spec':{'podTemplate':{'spec':{'runtimeClassName':'gvisor',"
			"'containers':[{'image':'a','ports':[{'containerPort':8080},{'containerPort':9090}],"
			"'resources':{'requests':{'cpu':'250m','memory':'1Gi'},'limits':{'memory':'4Gi'}}},"
			"{'image':'b'}]}}}}",
			"|t|a,b|8080,9090|cpu 250m mem 1Gi..4Gi|default|gvisor|Disallowed|Disallowed||",
			RESOURCE_PLAIN },
		{ &kinds_template,
			"{'metadata':{'name':'t'},'spec':{'networkPolicyManagement':'Unmanaged',"
			"'envVarsInjectionPolicy':'Overrides','volumeClaimTemplatesPolicy':'Allowed'}}",
			"|t||||unmanaged||Overrides|Allowed||", RESOURCE_PLAIN },
		{ &kinds_template,
			"{'metadata':{'name':'t'},'spec':{'networkPolicy':{'ingress':[{},{}],'egress':[{}]}}}",
			"|t||||2 in, 1 out||Disallowed|Disallowed||", RESOURCE_PLAIN },
		{ &kinds_claim,
			"{'metadata':{'name':'c','annotations':{'pai.dev/sandbox-binding-key':'k'}},'spec':"
			"{'warmPoolRef':{'name':'p'}},'status':{'sandbox':{'name':'s'},'conditions':[{'type':"
			"'Ready','status':'True','reason':'DependenciesReady','message':'Pod is Ready'}]}}",
			"|c|Ready|s|p|DependenciesReady|k||", RESOURCE_GOOD },
		{ &kinds_claim,
			"{'metadata':{'name':'c'},'status':{'conditions':[{'type':'Ready','status':'False',"
			"'reason':'WarmPoolNotFound','message':'SandboxWarmPool \\'x\\' not found'}]}}",
			"|c|NotReady|||WarmPoolNotFound||SandboxWarmPool \"x\" not found|",
			RESOURCE_WARNING },
		{ &kinds_sandbox,
			"{'metadata':{'name':'s','generation':2,'labels':{'agents.x-k8s.io/launch-type':'warm'},"
			"'ownerReferences':[{'kind':'SandboxClaim','name':'c','controller':true}]},'status':"
			"{'nodeName':'k','podIPs':['10.0.0.1'],'conditions':[{'type':'Ready','status':'True',"
			"'observedGeneration':2,'reason':'DependenciesReady'}]}}",
			"|s|Ready|SandboxClaim/c|DependenciesReady|k|10.0.0.1|warm||",
			RESOURCE_GOOD },
		/* the controller has not seen the switch yet */
		{ &kinds_sandbox,
			"{'metadata':{'name':'s','generation':3},'status':{'conditions':[{'type':'Ready',"
			"'status':'True','observedGeneration':2}]}}",
			"|s|NotReady|||||||", RESOURCE_WARNING },
		{ &kinds_sandbox,
			"{'metadata':{'name':'s'},'spec':{'operatingMode':'Suspended'},'status':{'conditions':"
			"[{'type':'Ready','status':'False','reason':'SandboxSuspended','message':'Sandbox is "
			"suspended'},{'type':'Suspended','status':'True'}]}}",
			"|s|Suspended||SandboxSuspended||||Sandbox is suspended|",
			RESOURCE_DIM },
	};
	(void)state;
	check(cases, sizeof cases / sizeof cases[0]);
}

static void test_what_is_of_kubernetes(void **state)
{
	static const struct row_case cases[] = {
		/* as events.k8s.io writes them: no count, no lastTimestamp */
		{ &kinds_event,
			"{'metadata':{'name':'e','namespace':'n'},'type':'Warning','reason':'BackOff','message':"
			"'again','involvedObject':{'kind':'Pod','name':'p'},'eventTime':"
			"'2026-01-01T00:00:00.000000Z','series':{'count':5,'lastObservedTime':"
			"'2026-01-01T01:00:00.000000Z'},'reportingComponent':'kubelet'}",
			"n|Warning|BackOff|Pod/p|5|again|kubelet|", RESOURCE_PLAIN },
		{ &kinds_event,
			"{'metadata':{'name':'e'},'type':'Normal','count':0,'source':{'component':'c'},"
			"'involvedObject':{'kind':'Pod'}}",
			"|Normal||Pod/|1||c|", RESOURCE_PLAIN },
		{ &kinds_namespaces, "{'metadata':{'name':'x'},'status':{'phase':'Active'}}",
			"x|Active|", RESOURCE_GOOD },
		{ &kinds_service,
			"{'metadata':{'name':'s'},'spec':{'type':'ClusterIP','clusterIP':'None','ports':"
			"[{'port':8080},{'port':53,'protocol':'UDP'}]}}",
			"|s|ClusterIP|None|8080/TCP,53/UDP||", RESOURCE_PLAIN },
		{ &kinds_networkpolicy,
			"{'metadata':{'name':'p'},'spec':{'podSelector':{'matchLabels':{'a':'b'}},"
			"'policyTypes':['Ingress'],'ingress':[{},{}]}}",
			"|p|a=b|2|||", RESOURCE_PLAIN },
	};
	(void)state;
	check(cases, sizeof cases / sizeof cases[0]);
}

static int64_t number_of(const struct resource_kind *kind, const void *row, const char *name)
{
	return kind->columns[resource_find_column(kind, name)].value(row).number;
}

static void test_when_an_event_was(void **state)
{
	void *row = x_calloc(1, kinds_event.row_bytes);
	(void)state;
	read_row(&kinds_event, row,
		"{'eventTime':'2026-01-01T00:00:00.000000Z','series':{'lastObservedTime':"
		"'2026-01-01T01:00:00.000000Z'},'metadata':{'creationTimestamp':'2026-01-01T00:00:09Z'}}");
	assert_int_equal(number_of(&kinds_event, row, "first"), 1767225600000);
	assert_int_equal(number_of(&kinds_event, row, "last"), 1767225600000 + 3600000);
	read_row(&kinds_event, row,
		"{'firstTimestamp':'2026-01-01T00:00:00Z','lastTimestamp':'2026-01-01T00:00:05Z',"
		"'eventTime':null}");
	assert_int_equal(number_of(&kinds_event, row, "first"), 1767225600000);
	assert_int_equal(number_of(&kinds_event, row, "last"), 1767225605000);
	free_row(&kinds_event, row);
}

/* ---- what stands beside it */

struct beside { /* a source of one row, or of none */
	const char *uid;
	const void *row;
};

static const void *find(const void *self, const char *uid)
{
	const struct beside *beside = self;
	return beside->uid && strcmp(uid, beside->uid) == 0 ? beside->row : NULL;
}

static void each(const void *self, resource_change_fn *fn, void *arg)
{
	const struct beside *beside = self;
	if (beside->row)
		fn(arg, beside->uid, beside->row);
}

static const struct resource_source_ops ops = { .find = find, .each = each };

static const char *status_of(const struct resource_kind *kind, const void *row)
{
	return kind->columns[resource_find_column(kind, "status")].value(row).text;
}

static void test_life_of_a_binding_key(void **state)
{
	static const char lease[] =
		"{'metadata':{'name':'pai-sandbox-binding-1'},'spec':{'holderIdentity':'c',"
		"'acquireTime':'2026-01-01T00:00:00.000000Z','leaseDurationSeconds':60}}";
	static const char held[] =
		"{'metadata':{'name':'pai-sandbox-binding-1','ownerReferences':[{'kind':'SandboxClaim',"
		"'uid':'u'}]},'spec':{'holderIdentity':'c'}}";
	static const char noted[] =
		"{'metadata':{'name':'pai-sandbox-binding-1','annotations':{'sandmux/claim-uid':'u'}},"
		"'spec':{'holderIdentity':'c'}}";
	void *row = x_calloc(1, kinds_lease.row_bytes);
	void *claim = x_calloc(1, kinds_claim.row_bytes);
	struct beside lives = { "u", claim }, none = { 0 };
	const struct resource_source with = { &ops, &lives }, without = { &ops, &none },
				     unknown = { 0 };
	(void)state;
	read_row(&kinds_claim, claim,
		"{'metadata':{'name':'c','annotations':{'pai.dev/sandbox-binding-key':'thread-1'}}}");
	clock_set_for_tests(0, 1767225630000000000);
	read_row(&kinds_lease, row, lease);
	kinds_lease.join(row, &kinds_claim, &without);
	assert_string_equal(status_of(&kinds_lease, row), "Reserved");
	clock_set_for_tests(0, 1767225661000000000);
	assert_string_equal(status_of(&kinds_lease, row), "Lapsed");
	read_row(&kinds_lease, row, held);
	assert_string_equal(status_of(&kinds_lease, row), "Held?");
	assert_true(kinds_lease.join(row, &kinds_claim, &with));
	assert_string_equal(status_of(&kinds_lease, row), "Held");
	assert_string_equal(
		kinds_lease.columns[resource_find_column(&kinds_lease, "key")].value(row).text,
		"thread-1");
	assert_false(kinds_lease.join(row, &kinds_claim, &with));
	assert_true(kinds_lease.join(row, &kinds_claim, &without));
	assert_string_equal(status_of(&kinds_lease, row), "Free");
	assert_true(kinds_lease.join(row, &kinds_claim, &unknown));
	assert_string_equal(status_of(&kinds_lease, row), "Held?");
	read_row(&kinds_claim, claim,
		"{'metadata':{'name':'c','deletionTimestamp':'2026-01-01T00:00:00Z'}}");
	read_row(&kinds_lease, row, noted);
	assert_true(kinds_lease.join(row, &kinds_claim, &with));
	assert_string_equal(status_of(&kinds_lease, row), "Ending");
	/* one of somebody else */
	assert_false(kinds_lease.is_aside(row));
	read_row(&kinds_lease, row, "{'metadata':{'name':'kube-scheduler'}}");
	assert_true(kinds_lease.is_aside(row));
	clock_set_for_tests(-1, -1);
	free_row(&kinds_lease, row);
	free_row(&kinds_claim, claim);
}

static void test_pools_and_templates_know_of_each_other(void **state)
{
	void *pool = x_calloc(1, kinds_pool.row_bytes);
	void *template_ = x_calloc(1, kinds_template.row_bytes);
	struct beside one_pool = { "p", pool }, one_template = { "t", template_ }, none = { 0 };
	const struct resource_source pools = { &ops, &one_pool },
				     templates = { &ops, &one_template },
				     nothing = { &ops, &none }, unknown = { 0 };
	(void)state;
	read_row(&kinds_pool, pool,
		"{'metadata':{'name':'p','namespace':'n'},'spec':{'sandboxTemplateRef':{'name':'t'}}}");
	read_row(&kinds_template, template_, "{'metadata':{'name':'t','namespace':'n'}}");
	assert_true(kinds_template.join(template_, &kinds_pool, &pools));
	assert_false(kinds_template.join(template_, &kinds_pool, &pools));
	const struct resource_column *of_pools =
		&kinds_template.columns[resource_find_column(&kinds_template, "pools")];
	assert_string_equal(of_pools->value(template_).text, "p");
	assert_true(kinds_template.join(template_, &kinds_pool, &nothing));
	assert_string_equal(of_pools->value(template_).text, "");

	assert_false(kinds_pool.join(pool, &kinds_template, &templates));
	assert_false(kinds_pool.join(pool, &kinds_template, &unknown));
	assert_true(kinds_pool.join(pool, &kinds_template, &nothing));
	assert_string_equal(status_of(&kinds_pool, pool), "Blocked");
	/* of another namespace */
	read_row(&kinds_template, template_, "{'metadata':{'name':'t','namespace':'other'}}");
	assert_false(kinds_pool.join(pool, &kinds_template, &templates));
	assert_true(kinds_pool.join(pool, &kinds_template, &unknown));
	assert_string_equal(status_of(&kinds_pool, pool), "Empty");
	free_row(&kinds_pool, pool);
	free_row(&kinds_template, template_);
}

static void test_scaling_says_from_where_to_where(void **state)
{
	void *pool = x_calloc(1, kinds_pool.row_bytes);
	const struct resource_action *scale = resource_find_action(&kinds_pool, "scale");
	static const char *const wrong[] = { "", "x", "-1", "1000001", "2 3" };
	struct resource_request request = { 0 };
	struct err err = { 0 };
	struct str plan;
	(void)state;
	read_row(&kinds_pool, pool,
		"{'metadata':{'name':'p'},'spec':{'replicas':2},'status':{'readyReplicas':1}}");
	str_init(&plan, 256);
	assert_true(scale->plan(pool, "5", &plan, &err));
	assert_string_equal(plan.p, "2 -> 5 (1 ready now)");
	assert_true(scale->request(pool, "5", &request, &err));
	char *body = cJSON_PrintUnformatted(request.body);
	assert_string_equal(body, "{\"spec\":{\"replicas\":5}}");
	assert_string_equal(request.method, "PATCH");
	for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
		assert_false(scale->plan(pool, wrong[i], &plan, &err));
		assert_int_equal(err.code, ERR_ARG_INVALID);
		assert_false(scale->request(pool, wrong[i], &request, &err));
	}
	cJSON_Delete(request.body);
	free(body);
	str_deinit(&plan);
	free_row(&kinds_pool, pool);
}

/* ---- anything at all */

static void test_nothing_is_where_it_should_be(void **state)
{
	static const char *const hostile[] = {
		"{}", "[]", "7", "'x'", "null", "{'metadata':7,'spec':[],'status':'x'}",
		"{'metadata':{'name':{},'namespace':[],'uid':1,'ownerReferences':{'kind':1},'labels':[1],"
		"'annotations':'x','creationTimestamp':5,'deletionTimestamp':'never'},'spec':"
		"{'containers':'x','initContainers':{'a':1},'replicas':'many','podTemplate':{'spec':"
		"{'containers':[7,{'ports':[[]],'image':[]},null]}},'ports':[null,{'port':'x'}],"
		"'sandboxTemplateRef':[],'warmPoolRef':'p','leaseDurationSeconds':-5,'acquireTime':7,"
		"'volumeClaimTemplates':'x','policyTypes':[1,null],'podSelector':[]},'status':"
		"{'conditions':[1,null,{'type':7}],'containerStatuses':[1,{'state':[]},{'state':"
		"{'waiting':'x','terminated':7}}],'initContainerStatuses':[null,{'state':{'terminated':"
		"{'exitCode':'x'}}}],'podIPs':{'a':1},'readyReplicas':1e300},'count':-1e300,'series':"
		"{'count':'x'},'involvedObject':[],'message':{},'type':[]}",
		"{'spec':{'replicas':9007199254740993},'status':{'readyReplicas':-3},'count':1e17}"
	};
	(void)state;
	for (int k = 0; k < N_KINDS; k++) {
		void *row = x_calloc(1, all[k]->row_bytes);
		for (size_t i = 0; i < sizeof hostile / sizeof hostile[0]; i++) {
			read_row(all[k], row, hostile[i]);
			for (int c = 0; c < all[k]->n_columns; c++) {
				char cell[RESOURCE_CELL_BYTES];
				assert_non_null(all[k]->columns[c].value(row).text);
				assert_non_null(resource_text(
					&all[k]->columns[c], row, clock_wall_ms(), cell));
				resource_tone(&all[k]->columns[c], row);
			}
		}
		free_row(all[k], row);
	}
}

static void test_long_texts_are_cut(void **state)
{
	static char text[3001], json[16384];
	(void)state;
	memset(text, 'x', sizeof text - 1);
	snprintf(json, sizeof json,
		"{'metadata':{'name':'%s','uid':'u'},'message':'%s','status':{'phase':'%s'},'spec':"
		"{'holderIdentity':'%s','sandboxTemplateRef':{'name':'%s'}}}",
		text, text, text, text, text);
	for (int k = 0; k < N_KINDS; k++) {
		void *row = x_calloc(1, all[k]->row_bytes);
		read_row(all[k], row, json);
		for (int c = 0; c < all[k]->n_columns; c++)
			assert_true(
				strlen(all[k]->columns[c].value(row).text) <= KINDS_TEXT_BYTES);
		free_row(all[k], row);
	}
}

static void test_rows_are_whole(void **state)
{
	int i;
	(void)state;
	for (int k = 0; k < N_KINDS; k++) {
		const struct resource_kind *kind = all[k];
		RESOURCE_EACH(i, kind->screen)
			assert_true(kind->columns[i].title && kind->columns[i].name);
		assert_non_null(kind->brief);
		assert_true(!kind->word || resource_is_called(kind, kind->word));
		for (const struct resource_action *a = kind->actions; a && a->name; a++)
			assert_true(a->help && a->verb && a->subresource && a->request &&
				    (a->wanted != NULL) == (a->args != NULL));
		for (int other = 0; other < N_KINDS; other++) /* no word is of two */
			for (const char *const *a = kind->aliases; a && *a; a++)
				assert_int_equal(
					resource_is_called(all[other], *a), other == k);
	}
	assert_true(kinds_event.order_column != 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pods_as_kubectl_prints_them),
		cmocka_unit_test(test_what_is_of_agent_sandbox),
		cmocka_unit_test(test_what_is_of_kubernetes),
		cmocka_unit_test(test_when_an_event_was),
		cmocka_unit_test(test_life_of_a_binding_key),
		cmocka_unit_test(test_pools_and_templates_know_of_each_other),
		cmocka_unit_test(test_scaling_says_from_where_to_where),
		cmocka_unit_test(test_nothing_is_where_it_should_be),
		cmocka_unit_test(test_long_texts_are_cut),
		cmocka_unit_test(test_rows_are_whole),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
