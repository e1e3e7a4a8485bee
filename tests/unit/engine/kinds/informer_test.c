// SPDX-License-Identifier: Apache-2.0
// Rows of any kind follow the server: shared by all who look, bounded, and with words for what may not be read.
#include "tests/unit/engine/cluster.h"

#include "engine/k8s/resource.h"
#include "engine/kinds/object.h"
#include "engine/kinds/request.h"

#define SERVICE(name, type)                                                                    \
	"{'metadata':{'name':'" name "','namespace':'demo','uid':'uid-" name                   \
	"','resourceVersion':'9RV','creationTimestamp':'2026-01-01T00:00:00Z'},"               \
	"'spec':{'type':'" type "'}}"

struct service {
	struct kinds_object object; /* first */
	const char *type;
};

static int n_rows; /* that have been made and not been dropped */

static void project(void *row, const cJSON *object, int64_t skew_ms)
{
	struct service *service = row;
	(void)skew_ms;
	n_rows += service->type == NULL;
	kinds_text_set(&service->type, kinds_text_at(object, "spec.type"));
}

static void drop(void *row)
{
	kinds_text_drop(&((struct service *)row)->type);
	n_rows--;
}

static bool refuse(
	const void *row, const char *args, struct resource_request *out, struct err *err)
{
	(void)row;
	(void)out;
	return err_set(err, ERR_ARG_INVALID, "not with '%s'", args);
}

static const struct resource_column columns[] = { KINDS_COLUMN_NAMESPACE, KINDS_COLUMN_NAME };
static const int shown[] = { 0, 1, RESOURCE_NONE };
static const struct resource_action actions[] = {
	{ .name = "delete",
		.help = "",
		.verb = "delete",
		.subresource = "",
		.request = kinds_request_delete },
	{ .name = "refuse",
		.help = "",
		.verb = "patch",
		.subresource = "status",
		.request = refuse },
	{ 0 },
};
static const struct resource_kind kind = { .name = "services",
	.singular = "service",
	.resource = &k8s_services,
	.row_bytes = sizeof(struct service),
	.project = project,
	.drop = drop,
	.columns = columns,
	.n_columns = 2,
	.name_column = 1,
	.namespace_column = 0,
	.screen = shown,
	.table = shown,
	.wide = shown,
	.actions = actions };

static struct kinds_informer *watch(struct cluster *c, const char *namespace_)
{
	struct err err = { 0 };
	struct kinds_informer *informer =
		engine_watch_kind(c->engine, &kind, namespace_, NULL, &err);
	if (!informer)
		fail_msg("%s", err.msg);
	return informer;
}

static void wait_synced(struct cluster *c, struct kinds_informer *informer)
{
	API_UNTIL(&c->api, kinds_informer_state_of(informer).is_synced, 10000);
}

static const struct service *find(struct kinds_informer *informer, const char *uid)
{
	struct resource_source source = kinds_informer_source(informer);
	return resource_source_find(&source, uid);
}

static uint64_t revision(struct kinds_informer *informer)
{
	struct resource_source source = kinds_informer_source(informer);
	return resource_source_revision(&source);
}

struct seen {
	int n_rows, n_gone, n_lost;
};

static void see(void *arg, const char *uid, const void *row)
{
	struct seen *seen = arg;
	seen->n_lost += uid == NULL;
	seen->n_gone += uid != NULL && row == NULL;
	seen->n_rows += row != NULL;
}

static struct seen changes(struct kinds_informer *informer, uint64_t since)
{
	struct seen seen = { 0 };
	struct resource_source source = kinds_informer_source(informer);
	source.ops->changes(source.self, since, see, &seen);
	return seen;
}

static void rows_follow_the_server(void **state)
{
	struct cluster *c = *state;
	cluster_add(c, "services", SERVICE("a", "ClusterIP"));
	cluster_add(c, "services", SERVICE("b", "NodePort"));
	cluster_open(c, (struct engine_opts){ .all_namespaces = true });
	struct kinds_informer *informer = watch(c, "");
	assert_false(kinds_informer_state_of(informer).is_synced);
	wait_synced(c, informer);
	assert_string_equal(find(informer, "uid-a")->type, "ClusterIP");
	assert_string_equal(find(informer, "uid-a")->object.name, "a");
	assert_string_equal(find(informer, "uid-a")->object.namespace_, "demo");
	assert_int_not_equal(find(informer, "uid-a")->object.created_ms, 0);
	assert_int_equal(changes(informer, 0).n_rows, 2);

	uint64_t before = revision(informer);
	cluster_tell(c, "services", "MODIFIED", SERVICE("a", "ExternalName"));
	API_UNTIL(&c->api, strcmp(find(informer, "uid-a")->type, "ExternalName") == 0, 5000);
	struct seen seen = changes(informer, before);
	assert_int_equal(seen.n_rows, 1);
	assert_int_equal(seen.n_gone, 0);
	/* older than what is known */
	cluster_tell(c, "services", "MODIFIED",
		"{'metadata':{'name':'a','namespace':'demo','uid':'uid-a','resourceVersion':'3'},"
		"'spec':{'type':'Old'}}");
	before = revision(informer);
	cluster_tell(c, "services", "DELETED", SERVICE("b", "NodePort"));
	API_UNTIL(&c->api, find(informer, "uid-b") == NULL, 5000);
	assert_string_equal(find(informer, "uid-a")->type, "ExternalName");
	seen = changes(informer, before);
	assert_int_equal(seen.n_rows, 0);
	assert_int_equal(seen.n_gone, 1);
	assert_int_equal(n_rows, 1);
	engine_unwatch_kind(c->engine, informer);
	assert_int_equal(n_rows, 0);
}

static void one_informer_for_all_who_look(void **state)
{
	struct cluster *c = *state;
	struct collection *services = cluster_collection(c, "services");
	cluster_add(c, "services", SERVICE("a", "ClusterIP"));
	cluster_open(c, (struct engine_opts){ .all_namespaces = true });
	assert_int_equal(services->lists, 0); /* nobody looks */
	struct kinds_informer *first = watch(c, ""), *second = watch(c, "");
	assert_ptr_equal(first, second);
	struct kinds_informer *other = watch(c, "demo");
	assert_ptr_not_equal(first, other);
	engine_unwatch_kind(c->engine, other);
	wait_synced(c, first);
	API_UNTIL(&c->api, services->watch != NULL, 5000);
	int lists = services->lists;
	engine_unwatch_kind(c->engine, first);
	assert_non_null(find(second, "uid-a"));
	engine_unwatch_kind(c->engine, second);
	API_UNTIL(&c->api, services->watches == 0, 5000);
	first = watch(c, "");
	wait_synced(c, first);
	assert_true(services->lists > lists);
	engine_unwatch_kind(c->engine, first);
	engine_unwatch_kind(c->engine, NULL);
}

static bool was_asked_by_name(const struct cluster *c)
{
	for (size_t i = 0; i < c->api.n; i++)
		if (strstr(c->api.log[i].query, "fieldSelector=metadata.name%3Da"))
			return true;
	return false;
}

/* A page about one object does not list thousands, unless somebody looks at them anyway. */
static void one_object_without_the_others(void **state)
{
	struct cluster *c = *state;
	struct err err = { 0 };
	cluster_add(c, "services", SERVICE("a", "ClusterIP"));
	cluster_add(c, "services", SERVICE("b", "ClusterIP"));
	cluster_open(c, (struct engine_opts){ .all_namespaces = true });
	struct kinds_informer *all = watch(c, "");
	struct kinds_informer *one = engine_watch_object(c->engine, &kind, "demo", "a", &err);
	assert_ptr_equal(all, one);
	engine_unwatch_kind(c->engine, all);
	wait_synced(c, one);
	assert_non_null(find(one, "uid-b"));
	assert_false(was_asked_by_name(c));
	assert_ptr_equal(engine_watch_again(c->engine, one), one);
	engine_unwatch_kind(c->engine, one);
	engine_unwatch_kind(c->engine, one);
	assert_int_equal(n_rows, 0);
	one = engine_watch_object(c->engine, &kind, "demo", "a", &err);
	wait_synced(c, one);
	assert_true(was_asked_by_name(c));
	assert_non_null(find(one, "uid-a"));
	assert_null(find(one, "uid-b"));
	engine_unwatch_kind(c->engine, one);
}

static const char *pool_status(struct kinds_informer *informer)
{
	struct resource_source source = kinds_informer_source(informer);
	const struct resource_kind *pools = engine_kind_find("pools");
	const void *row = resource_source_find(&source, "uid-p");
	return row ? pools->columns[resource_find_column(pools, "status")].value(row).text : "";
}

/* What is listed beside a kind shows in its rows, and is not known where it may not be read. */
static void what_stands_beside_it(void **state)
{
	struct cluster *c = *state;
	struct err err = { 0 };
	cluster_add(c, "sandboxwarmpools",
		"{'metadata':{'name':'p','namespace':'demo','uid':'uid-p','resourceVersion':'9RV'},"
		"'spec':{'replicas':1,'sandboxTemplateRef':{'name':'t'}}}");
	/* the fleet watches templates as well */
	cluster_open(c, (struct engine_opts){ .all_namespaces = true, .no_fleet = true });
	const struct resource_kind *pools = engine_kind_find("pools");
	struct kinds_informer *informer =
		engine_watch_kind(c->engine, pools, "demo", NULL, &err);
	API_UNTIL(&c->api, strcmp(pool_status(informer), "Blocked") == 0, 10000);
	uint64_t before = revision(informer);
	cluster_tell(c, "sandboxtemplates", "ADDED",
		"{'metadata':{'name':'t','namespace':'demo','uid':'uid-t','resourceVersion':'9RV'}}");
	API_UNTIL(&c->api, strcmp(pool_status(informer), "Empty") == 0, 10000);
	assert_int_equal(changes(informer, before).n_rows, 1);
	engine_unwatch_kind(c->engine, informer);
	cluster_collection(c, "sandboxtemplates")->is_forbidden = true;
	informer = engine_watch_kind(c->engine, pools, "demo", NULL, &err);
	wait_synced(c, informer);
	assert_string_equal(pool_status(informer), "Empty");
	engine_unwatch_kind(c->engine, informer);
}

static void what_is_gone_from_a_list_is_gone(void **state)
{
	enum { MANY = 1200 };
	struct cluster *c = *state;
	struct collection *services = cluster_collection(c, "services");
	struct str items;
	str_init(&items, 1 << 20);
	for (int i = 0; i < MANY; i++)
		str_addf(&items,
			"%s{\"metadata\":{\"name\":\"s%d\",\"uid\":\"u%d\",\"resourceVersion\":\"%d\"}}",
			i ? "," : "", i, i, i + 1);
	services->items = x_strdup(items.p);
	str_deinit(&items);
	cluster_open(c, (struct engine_opts){ .all_namespaces = true });
	struct kinds_informer *informer = watch(c, "");
	wait_synced(c, informer);
	assert_int_equal(changes(informer, 0).n_rows, MANY);
	uint64_t before = revision(informer);
	API_UNTIL(&c->api, services->watch != NULL, 5000);

	kinds_informer_resync(informer); /* the same again: nothing has changed */
	int lists = services->lists;
	API_UNTIL(&c->api, services->lists > lists && kinds_informer_state_of(informer).is_live,
		5000);
	assert_int_equal(changes(informer, before).n_rows, 0);

	free(services->items);
	services->items = x_strdup("{\"metadata\":{\"name\":\"s0\",\"uid\":\"u0\","
				   "\"resourceVersion\":\"1\"}}");
	kinds_informer_resync(informer);
	API_UNTIL(&c->api, find(informer, "u1") == NULL, 5000);
	assert_non_null(find(informer, "u0"));
	assert_int_equal(changes(informer, before).n_lost, 1); /* more than is remembered */
	assert_int_equal(changes(informer, revision(informer)).n_lost, 0);
	assert_int_equal(n_rows, 1);
	engine_unwatch_kind(c->engine, informer);
}

static void hostile_objects_make_bounded_rows(void **state)
{
	struct cluster *c = *state;
	char longest[2001];
	memset(longest, 'x', sizeof longest - 1);
	longest[sizeof longest - 1] = '\0';
	cluster_add(c, "services", "{'metadata':{'name':'no-uid'}}");
	cluster_add(c, "services", "{'metadata':{'name':'no-uid','uid':''}}");
	cluster_add(c, "services", "{'metadata':{'name':'number','uid':7}}");
	cluster_add(c, "services", "{'metadata':'text'}");
	cluster_add(c, "services",
		"{'metadata':{'name':5,'namespace':[],'uid':'odd',"
		"'creationTimestamp':'no date','resourceVersion':'x'},'spec':[]}");
	cluster_add(c, "services", "{'metadata':{'name':'%s','uid':'%s'},'spec':{'type':'%s'}}",
		longest, longest, longest);
	cluster_open(c, (struct engine_opts){ .all_namespaces = true });
	struct kinds_informer *informer = watch(c, "");
	wait_synced(c, informer);
	assert_int_equal(n_rows, 2);
	assert_string_equal(find(informer, "odd")->object.name, "");
	assert_string_equal(find(informer, "odd")->type, "");
	assert_int_equal(find(informer, "odd")->object.created_ms, 0);
	longest[RESOURCE_UID_BYTES - 1] = '\0';
	const struct service *large = find(informer, longest);
	assert_non_null(large);
	assert_int_equal(strlen(large->object.name), KINDS_TEXT_BYTES);
	assert_int_equal(strlen(large->type), KINDS_TEXT_BYTES);
	engine_unwatch_kind(c->engine, informer);
}

static void what_may_not_be_read_is_said(void **state)
{
	struct cluster *c = *state;
	struct str what, fix;
	cluster_collection(c, "services")->is_forbidden = true;
	cluster_open(c, (struct engine_opts){ .all_namespaces = true });
	struct kinds_informer *all = watch(c, ""), *one = watch(c, "demo");
	API_UNTIL(&c->api,
		kinds_informer_state_of(all).is_forbidden &&
			kinds_informer_state_of(one).is_forbidden,
		5000);
	str_init(&what, 500);
	str_init(&fix, 500);
	engine_kind_forbidden_format(all, &what, &fix);
	assert_string_equal(what.p, "not allowed: list services in all namespaces");
	assert_string_equal(fix.p, "a ClusterRole needs: get, list, watch on services");
	str_clear(&what);
	str_clear(&fix);
	engine_kind_forbidden_format(one, &what, &fix);
	assert_string_equal(what.p, "not allowed: list services in namespace demo");
	assert_string_equal(fix.p, "a Role needs: get, list, watch on services");
	assert_int_equal(kinds_informer_state_of(one).err->code, ERR_KUBE_FORBIDDEN);
	engine_unwatch_kind(c->engine, one);

	cluster_collection(c, "services")->is_forbidden = false;
	str_clear(&what);
	one = watch(c, "demo");
	wait_synced(c, one);
	engine_kind_forbidden_format(one, &what, &fix);
	assert_string_equal(what.p, "");
	str_deinit(&what);
	str_deinit(&fix);
	engine_unwatch_kind(c->engine, one);
	engine_unwatch_kind(c->engine, all);
}

static void some_cannot_be_looked_at(void **state)
{
	struct cluster *c = *state;
	struct err err = { 0 };
	cluster_open(c, (struct engine_opts){ .all_namespaces = true });
	assert_null(engine_watch_kind(c->engine, &kind, "", "a in (", &err));
	assert_int_equal(err.code, ERR_ARG_INVALID);
	assert_null(engine_watch_kind(c->engine, &fleet_sandbox_kind, "", NULL, &err));
	assert_int_equal(err.code, ERR_OP_UNSUPPORTED);
}

struct answer {
	int n;
	enum err_code code;
	char name[32];
};

static void on_answer(void *arg, const struct err *err, const cJSON *object)
{
	struct answer *answer = arg;
	const char *name = json_str(object, "metadata", "name", NULL);
	answer->n++;
	answer->code = err ? err->code : ERR_NONE;
	snprintf(answer->name, sizeof answer->name, "%s", name ? name : "");
}

static void one_object_is_read_and_acted_on(void **state)
{
	struct cluster *c = *state;
	struct answer answer = { 0 };
	struct err err = { 0 };
	cluster_add(c, "services", SERVICE("a", "ClusterIP"));
	cluster_can(c, "/api/v1/namespaces/demo/services/a", 200, SERVICE("a", "ClusterIP"));
	cluster_can(c, "/services/none", 404,
		"{'kind':'Status','status':'Failure','reason':'NotFound','code':404}");
	cluster_open(c, (struct engine_opts){ .all_namespaces = true });
	struct kinds_informer *informer = watch(c, "");
	wait_synced(c, informer);
	assert_non_null(
		engine_object_start(c->engine, &kind, "demo", "a", on_answer, &answer, &err));
	API_UNTIL(&c->api, answer.n == 1, 5000);
	assert_string_equal(answer.name, "a");
	assert_non_null(engine_object_start(
		c->engine, &kind, "demo", "none", on_answer, &answer, &err));
	API_UNTIL(&c->api, answer.n == 2, 5000);
	assert_int_equal(answer.code, ERR_KUBE_NOT_FOUND);

	const void *row = find(informer, "uid-a");
	assert_non_null(engine_object_act(c->engine, &kind,
		resource_find_action(&kind, "delete"), row, "", on_answer, &answer, &err));
	API_UNTIL(&c->api, answer.n == 3, 5000);
	assert_int_equal(answer.code, ERR_NONE);
	const struct api_request *sent = &c->api.log[c->api.n - 1];
	while (strcmp(sent->method, "DELETE") != 0) /* others are reviews of rights */
		sent--;
	assert_non_null(strstr(sent->body, "\"preconditions\":{\"uid\":\"uid-a\"}"));

	assert_null(engine_object_act(c->engine, &kind, resource_find_action(&kind, "refuse"),
		row, "that", on_answer, &answer, &err));
	assert_string_equal(err.msg, "not with 'that'");
	assert_null(resource_find_action(&kind, "none"));
	engine_object_cancel(
		engine_object_start(c->engine, &kind, "demo", "a", on_answer, &answer, &err));
	engine_object_cancel(NULL);
	engine_unwatch_kind(c->engine, informer);
	assert_int_equal(answer.n, 3);
}

static int n_deletes(const struct cluster *c)
{
	int n = 0;
	for (size_t i = 0; i < c->api.n; i++)
		n += strcmp(c->api.log[i].method, "DELETE") == 0;
	return n;
}

/* What is known to be refused is not tried; and what the server refuses is known from then on. */
static void an_action_needs_its_right(void **state)
{
	struct cluster *c = *state;
	struct answer answer = { 0 };
	struct err err = { 0 };
	cluster_add(c, "services", SERVICE("a", "ClusterIP"));
	cluster_can(c, "/api/v1/namespaces/demo/services/a", 403,
		"{'kind':'Status','status':'Failure','reason':'Forbidden','code':403,'message':"
		"'User cannot delete resource \\'services\\' in API group'}");
	cluster_open(c, (struct engine_opts){ 0 });
	struct kinds_informer *informer = watch(c, "demo");
	wait_synced(c, informer);
	const struct resource_action *action = resource_find_action(&kind, "delete");
	const void *row = find(informer, "uid-a");
	assert_true(engine_object_may(c->engine, &kind, action, "demo", &err));
	/* the reviews say yes, and the server no */
	API_UNTIL(&c->api, engine_access_revision(c->engine) >= 8, 9000);
	assert_non_null(
		engine_object_act(c->engine, &kind, action, row, "", on_answer, &answer, &err));
	API_UNTIL(&c->api, answer.n == 1, 5000);
	assert_int_equal(answer.code, ERR_KUBE_FORBIDDEN);
	assert_int_equal(n_deletes(c), 1);
	assert_null(
		engine_object_act(c->engine, &kind, action, row, "", on_answer, &answer, &err));
	assert_int_equal(err.code, ERR_KUBE_FORBIDDEN);
	assert_string_equal(err.msg,
		"you may not delete services in namespace demo; a Role needs: delete on services");
	assert_string_equal(err.denied.resource, "services");
	API_FOR(&c->api, 30);
	assert_int_equal(n_deletes(c), 1);
	engine_unwatch_kind(c->engine, informer);
}

static int set_up(void **state)
{
	n_rows = 0;
	return cluster_set_up(state);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, cluster_tear_down)
	const struct CMUnitTest tests[] = {
		CASE(rows_follow_the_server),
		CASE(one_informer_for_all_who_look),
		CASE(one_object_without_the_others),
		CASE(what_stands_beside_it),
		CASE(what_is_gone_from_a_list_is_gone),
		CASE(hostile_objects_make_bounded_rows),
		CASE(what_may_not_be_read_is_said),
		CASE(some_cannot_be_looked_at),
		CASE(one_object_is_read_and_acted_on),
		CASE(an_action_needs_its_right),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
