// SPDX-License-Identifier: Apache-2.0
/* Every cause of tests/cases/causes.json: what the objects say, in the shapes that the API has, and the sentence, its age
 * and the next step that come of them. (The program is asked the same by tests/tui/causes_test.py.) */
#include "objects.h"

#include "engine/base/file.h"

static void on_change(void *arg)
{
	(void)arg;
}

static void set(cJSON *object, const char *name, const char *text)
{
	if (cJSON_GetObjectItemCaseSensitive(object, name) == NULL)
		cJSON_AddStringToObject(object, name, text);
}

static void uid_of(char out[FLEET_UID_BYTES], int kind, int n)
{
	snprintf(
		out, FLEET_UID_BYTES, "%08x-0000-4000-8000-%012x", (unsigned)kind, (unsigned)n);
}

enum about { CLAIM = 1, SANDBOX, POD, POOL, VOLUME, EVENT };

static cJSON *new_object(const char *name, enum about kind, int n, cJSON **metadata)
{
	char uid[FLEET_UID_BYTES];
	cJSON *object = cJSON_CreateObject();
	*metadata = cJSON_AddObjectToObject(object, "metadata");
	uid_of(uid, (int)kind, n);
	set(*metadata, "name", name);
	set(*metadata, "namespace", "default");
	set(*metadata, "uid", uid);
	set(*metadata, "creationTimestamp", "2026-01-02T03:04:05Z");
	cJSON_AddNumberToObject(*metadata, "generation", 1);
	return object;
}

static void move(cJSON *to, const cJSON *from, const char *name)
{
	const cJSON *item = cJSON_GetObjectItemCaseSensitive(from, name);
	if (item != NULL)
		cJSON_AddItemToObject(to, name, cJSON_Duplicate(item, true));
}

static void give(struct fleet_store *store, enum fleet_store_kind kind, cJSON *object)
{
	fleet_store_apply(store, kind, KUBE_ADDED, object);
	cJSON_Delete(object);
}

static void give_claim(struct fleet_store *store, const cJSON *cause, const char *name, int n)
{
	const cJSON *said = json_get(cause, "claim", NULL);
	const cJSON *conditions = json_get(said, "conditions", NULL);
	const char *pool = json_str(said, "pool", NULL);
	cJSON *metadata, *object = new_object(name, CLAIM, n, &metadata);
	move(metadata, said, "deletionTimestamp");
	move(metadata, said, "finalizers");
	move(metadata, said, "annotations");
	cJSON *spec = cJSON_AddObjectToObject(object, "spec");
	set(cJSON_AddObjectToObject(spec, "warmPoolRef"), "name", pool ? pool : "tools");
	cJSON *status = cJSON_AddObjectToObject(object, "status");
	if (conditions == NULL)
		conditions = json_get(cause, "sandbox", "conditions", NULL);
	cJSON_AddItemToObject(status, "conditions", cJSON_Duplicate(conditions, true));
	if (json_get(cause, "sandbox", NULL) != NULL)
		set(cJSON_AddObjectToObject(status, "sandbox"), "name", name);
	give(store, STORE_CLAIMS, object);
}

static void give_sandbox(struct fleet_store *store, const cJSON *cause, const char *name, int n)
{
	const cJSON *said = json_get(cause, "sandbox", NULL);
	char claim[FLEET_UID_BYTES];
	if (said == NULL)
		return;
	cJSON *metadata, *object = new_object(name, SANDBOX, n, &metadata);
	uid_of(claim, CLAIM, n);
	set(cJSON_AddObjectToObject(metadata, "labels"), "agents.x-k8s.io/claim-uid", claim);
	set(cJSON_AddObjectToObject(metadata, "annotations"),
		"agents.x-k8s.io/sandbox-template-ref", "tool");
	move(cJSON_AddObjectToObject(object, "spec"), said, "operatingMode");
	move(cJSON_AddObjectToObject(object, "status"), said, "conditions");
	give(store, STORE_SANDBOXES, object);
}

static void give_pod(struct fleet_store *store, const cJSON *cause, const char *name, int n)
{
	const cJSON *said = json_get(cause, "pod", NULL);
	char sandbox[FLEET_UID_BYTES];
	if (said == NULL)
		return;
	cJSON *metadata, *object = new_object(name, POD, n, &metadata);
	cJSON *owner = cJSON_CreateObject();
	uid_of(sandbox, SANDBOX, n);
	set(owner, "kind", "Sandbox");
	set(owner, "uid", sandbox);
	cJSON_AddItemToArray(cJSON_AddArrayToObject(metadata, "ownerReferences"), owner);
	move(metadata, said, "deletionTimestamp");
	move(object, said, "spec");
	move(object, said, "status");
	give(store, STORE_PODS, object);
}

static void give_pool(struct fleet_store *store, const char *name, const char *template_, int n)
{
	cJSON *metadata, *object = new_object(name, POOL, n, &metadata);
	cJSON *spec = cJSON_AddObjectToObject(object, "spec");
	set(cJSON_AddObjectToObject(spec, "sandboxTemplateRef"), "name", template_);
	give(store, STORE_POOLS, object);
}

static void give_events(struct fleet_store *store, const cJSON *cause, const char *name, int n)
{
	static const struct {
		const char *about, *kind;
		enum about which;
	} kinds[] = { { "claim", "SandboxClaim", CLAIM }, { "sandbox", "Sandbox", SANDBOX },
		{ "pod", "Pod", POD }, { "pool", "SandboxWarmPool", POOL },
		{ "pvc:", "PersistentVolumeClaim", VOLUME } };
	const cJSON *said;
	int i = 0;
	cJSON_ArrayForEach(said, json_get(cause, "events", NULL))
	{
		char uid[FLEET_UID_BYTES];
		const char *about = json_str(said, "about", NULL);
		cJSON *metadata, *object = new_object(name, EVENT, n * 100 + i++, &metadata);
		cJSON *of = cJSON_AddObjectToObject(object, "involvedObject");
		for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
			size_t length = strlen(kinds[k].about);
			if (strncmp(about, kinds[k].about, length) != 0)
				continue;
			uid_of(uid, (int)kinds[k].which, n);
			set(of, "kind", kinds[k].kind);
			set(of, "uid", uid);
			set(of, "namespace", "default");
			set(of, "name", about[length] ? about + length : name);
		}
		set(object, "lastTimestamp", json_str(said, "at", NULL));
		move(object, said, "type");
		move(object, said, "reason");
		move(object, said, "message");
		move(object, said, "count");
		give(store, STORE_EVENTS, object);
	}
}

static void check(const struct fleet_row *row, const cJSON *cause, const char *name)
{
	const char *state = json_str(cause, "state", NULL), *why = json_str(cause, "why", NULL),
		   *next = json_str(cause, "next", NULL);
	int64_t ns = 0;
	assert_true(clock_parse_rfc3339(json_str(cause, "since", NULL), &ns));
	if (strcmp(fleet_state_name(row->state), state) != 0)
		fail_msg("%s: it is %s, not %s (%s)", name, fleet_state_name(row->state), state,
			row->why);
	if (strcmp(row->why, why) != 0)
		fail_msg("%s:\n   it says '%s'\ninstead of '%s'", name, row->why, why);
	if (strcmp(row->next, next) != 0)
		fail_msg(
			"%s: next is\n           '%s'\ninstead of '%s'", name, row->next, next);
	if (row->why_since_ms != ns / 1000000)
		fail_msg("%s: since %lld instead of %lld", name, (long long)row->why_since_ms,
			(long long)(ns / 1000000));
}

static void sync_all(struct fleet_store *store, bool begin)
{
	for (int kind = 0; kind < STORE_KIND_COUNT; kind++)
		fleet_store_sync(store, (enum fleet_store_kind)kind, begin);
}

/* In the order in which a row grows, and in the other. */
static void tell(struct fleet_store *store, const cJSON *cause, int n, bool is_backwards)
{
	const char *name = json_str(cause, "name", NULL);
	const char *pool = json_str(cause, "pool", "name", NULL);
	cJSON *metadata, *object = new_object("tool", POOL, 1, &metadata);
	sync_all(store, true);
	give_pool(store, "tools", "tool", 0);
	give(store, STORE_TEMPLATES, object);
	if (pool != NULL)
		give_pool(store, pool, json_str(cause, "pool", "template", NULL), n);
	if (is_backwards) {
		give_events(store, cause, name, n);
		give_pod(store, cause, name, n);
		give_sandbox(store, cause, name, n);
		give_claim(store, cause, name, n);
	} else {
		give_claim(store, cause, name, n);
		give_sandbox(store, cause, name, n);
		give_pod(store, cause, name, n);
		give_events(store, cause, name, n);
	}
	sync_all(store, false);
}

/* A pool's warning that comes last changes the sentence of the claims that wait for it. */
static void a_pool_that_warns_later_is_heard(void **state)
{
	(void)state;
	struct fleet_store store;
	char uid[FLEET_UID_BYTES];
	cJSON *cause =
		object_of("{'name':'late','claim':{'pool':'late','conditions':[{'type':'Ready',"
			  "'status':'False','reason':'SandboxMissing','message':'m'}]},"
			  "'pool':{'name':'late','template':'tool'},'events':[{'about':'pool',"
			  "'type':'Warning','reason':'WarmPoolNotProgressing','message':'why',"
			  "'at':'2026-03-01T10:00:00Z','count':1}]}");
	fleet_store_init(&store, on_change, NULL);
	give_pool(&store, "late", "tool", 7);
	give_claim(&store, cause, "late", 7);
	uid_of(uid, CLAIM, 7);
	const struct fleet_row *row = &fleet_store_find(&store, uid)->shown;
	assert_string_equal("SandboxClaim late: m", row->why);
	give_events(&store, cause, "late", 7);
	assert_string_equal("SandboxWarmPool late: WarmPoolNotProgressing: why", row->why);
	cJSON_Delete(cause);
	fleet_store_deinit(&store);
}

static void each_cause_has_its_sentence_its_age_and_its_next_step(void **state)
{
	struct err err = { 0 };
	size_t length;
	(void)state;
	char *text = file_read("tests/cases/causes.json", 1 << 20, &length, &err);
	assert_non_null(text);
	cJSON *causes = json_parse((struct slice){ text, length }, &err);
	assert_non_null(causes);
	assert_in_range(cJSON_GetArraySize(causes), 40, 1000);
	const cJSON *cause;
	int n = 10;
	cJSON_ArrayForEach(cause, causes)
	{
		n++;
		for (int backwards = 0; backwards < 2; backwards++) {
			struct fleet_store store;
			char uid[FLEET_UID_BYTES];
			fleet_store_init(&store, on_change, NULL);
			tell(&store, cause, n, backwards);
			uid_of(uid, CLAIM, n);
			const struct fleet_store_row *row = fleet_store_find(&store, uid);
			assert_non_null(row);
			check(&row->shown, cause, json_str(cause, "name", NULL));
			fleet_store_deinit(&store);
		}
	}
	cJSON_Delete(causes);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_pool_that_warns_later_is_heard),
		cmocka_unit_test(each_cause_has_its_sentence_its_age_and_its_next_step),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
