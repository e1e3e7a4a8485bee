// SPDX-License-Identifier: Apache-2.0
/* A volume's manifest brings back the objects that the database has lost. */
#include "tests/unit/local/server/recover.h"

#define CLAIM(name, uid)                                                                       \
	"{'apiVersion':'extensions.agents.x-k8s.io/v1beta1','kind':'SandboxClaim','metadata':" \
	"{'name':'" name "','namespace':'default','uid':'" uid "'},'spec':{}}"
#define SANDBOX(name, uid, owner)                                                              \
	"{'apiVersion':'agents.x-k8s.io/v1beta1','kind':'Sandbox','metadata':{'name':'" name   \
	"','namespace':'default','uid':'" uid "','ownerReferences':[{'uid':'" owner            \
	"'}]},'spec':{}}"
#define VOLUME(name, uid, owner)                                                               \
	"{'apiVersion':'v1','kind':'PersistentVolumeClaim','metadata':{'name':'" name          \
	"','namespace':'default','uid':'" uid "','ownerReferences':[{'uid':'" owner            \
	"'}]},'spec':{}}"

static void make_manifest(const char *uid, const char *objects)
{
	char name[200], text[4096];
	snprintf(name, sizeof name, "volumes/%s", uid);
	make_folder(name);
	snprintf(name, sizeof name, "volumes/%s.json", uid);
	snprintf(text, sizeof text, "{\"objects\":[%s]}", objects);
	for (char *p = text; *p; p++)
		if (*p == '\'')
			*p = '"';
	make_file(name, text);
}

/* A store with the namespace and what `before` says, damaged in one row. */
static void make_damaged(void (*before)(struct store *s))
{
	struct store *s = open_store(false);
	write_default(s);
	if (before)
		before(s);
	write_object(s, KIND_LEASE, "{'metadata':{'namespace':'a','name':'l','uid':'l'}}");
	store_close(s);
	run_sql("UPDATE objects SET json='{' WHERE name='l'");
}

static void test_volumes_bring_their_owners_back(void **state)
{
	char name[512];
	size_t n;
	(void)state;
	make_damaged(NULL);
	make_manifest("v1",
		CLAIM("c", "c1") "," SANDBOX("c", "s1", "c1") "," VOLUME("w-c", "v1", "s1"));
	make_manifest("v2",
		CLAIM("c", "c1") "," SANDBOX("c", "s1", "c1") "," VOLUME("x-c", "v2", "s1"));
	make_folder("volumes/.hidden");
	make_folder("volumes/none");
	must_recover();
	must_say("made again from its manifest: sandboxclaim default/c\n");
	must_say("made again from its manifest: sandbox default/c\n");
	must_say("made again from its manifest: persistentvolumeclaim default/w-c\n");
	must_say("made again from its manifest: persistentvolumeclaim default/x-c\n");
	struct store *s = open_store(true);
	assert_string_equal(store_get(s, KIND_CLAIM, "default", "c")->uid, "c1");
	assert_string_equal(store_get(s, KIND_SANDBOX, "default", "c")->uid, "s1");
	assert_string_equal(store_get(s, KIND_PVC, "default", "w-c")->uid, "v1");
	assert_string_equal(store_get(s, KIND_PVC, "default", "x-c")->uid, "v2");
	store_close(s);
	assert_int_equal(count_quarantine(true, name), 1);
	char *text = file_read(in_dir(name), 4096, &n, NULL);
	assert_non_null(strstr(text, "\"objects\":1,\"remade\":4}"));
	free(text);
}

static void with_deleted_claim(struct store *s)
{
	write_object(s, KIND_CLAIM, CLAIM("c", "c1"));
	assert_true(store_remove(s, store_get(s, KIND_CLAIM, "default", "c"), NULL));
}

static void with_deleted_volume(struct store *s)
{
	write_object(s, KIND_PVC, VOLUME("w-c", "v1", "s1"));
	assert_true(store_remove(s, store_get(s, KIND_PVC, "default", "w-c"), NULL));
}

static void with_another_claim(struct store *s)
{
	write_object(s, KIND_CLAIM, CLAIM("c", "c9"));
}

static void with_another_sandbox(struct store *s)
{
	write_object(s, KIND_SANDBOX, SANDBOX("c", "s9", "c9"));
}

static void with_the_claim(struct store *s)
{
	write_object(s, KIND_CLAIM, CLAIM("c", "c1"));
}

#define WHOLE CLAIM("c", "c1") "," SANDBOX("c", "s1", "c1") "," VOLUME("w-c", "v1", "s1")

/* A name or an owner that is not there any more ends the row: what follows would be nobody's. */
static const struct {
	void (*before)(struct store *s);
	const char *objects;
	size_t claims, sandboxes, volumes;
} manifests[] = {
	{ with_the_claim, WHOLE, 1, 1, 1 },
	{ NULL,
		"{'apiVersion':'v1','kind':'PersistentVolumeClaim','metadata':{'uid':'n',"
		"'namespace':'default'}}",
		0, 0, 0 },
	{ with_deleted_claim, WHOLE, 0, 0, 0 },
	{ with_deleted_volume, WHOLE, 1, 1, 0 },
	{ with_another_claim, WHOLE, 1, 0, 0 },
	{ with_another_sandbox, WHOLE, 1, 1, 0 },
	{ NULL, SANDBOX("c", "s1", "c1") "," VOLUME("w-c", "v1", "s1"), 0, 0, 0 },
	{ NULL, CLAIM("c", "c1") "," VOLUME("w-c", "v1", "s1"), 1, 0, 0 },
	{ NULL,
		"{'apiVersion':'v1','kind':'Nothing','metadata':{'uid':'n','namespace':"
		"'default','name':'n'}}," VOLUME("w-c", "v1", "s1"),
		0, 0, 0 },
	{ NULL,
		"{'kind':'PersistentVolumeClaim','metadata':{'uid':'n','namespace':"
		"'default','name':'n'}}",
		0, 0, 0 },
	{ NULL, "{'apiVersion':'v1','metadata':{'uid':'n','namespace':'default','name':'n'}}",
		0, 0, 0 },
	{ NULL,
		"{'apiVersion':'v1','kind':'PersistentVolumeClaim','metadata':{'namespace':"
		"'default','name':'n'}}",
		0, 0, 0 },
	{ NULL,
		"{'apiVersion':'v1','kind':'PersistentVolumeClaim','metadata':{'uid':'n',"
		"'name':'n'}}",
		0, 0, 0 },
	{ NULL,
		"{'apiVersion':'v1','kind':'PersistentVolumeClaim','metadata':{'uid':'n',"
		"'namespace':'lost','name':'n'}}",
		0, 0, 0 },
	{ NULL,
		"{'apiVersion':'v1','kind':'PersistentVolumeClaim','metadata':{'uid':'n',"
		"'namespace':'default','name':'n'}}",
		0, 0, 1 },
	{ NULL,
		"{'apiVersion':'v1','kind':'PersistentVolumeClaim','metadata':{'uid':'n',"
		"'namespace':'default','name':'n','ownerReferences':[{}]}}",
		0, 0, 0 },
};

static void test_what_a_manifest_does_not_bring_back(void **state)
{
	for (size_t i = 0; i < sizeof manifests / sizeof manifests[0]; i++) {
		setup(state);
		make_damaged(manifests[i].before);
		make_manifest("v1", manifests[i].objects);
		must_recover();
		struct store *s = open_store(true);
		if (store_count(s, KIND_CLAIM) != manifests[i].claims ||
			store_count(s, KIND_SANDBOX) != manifests[i].sandboxes ||
			store_count(s, KIND_PVC) != manifests[i].volumes)
			fail_msg("row %zu: %zu %zu %zu: %s", i, store_count(s, KIND_CLAIM),
				store_count(s, KIND_SANDBOX), store_count(s, KIND_PVC), said);
		store_close(s);
		teardown(state);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			test_volumes_bring_their_owners_back, setup, teardown),
		cmocka_unit_test(test_what_a_manifest_does_not_bring_back),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
