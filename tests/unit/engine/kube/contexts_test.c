// SPDX-License-Identifier: Apache-2.0
// The contexts of kubeconfig files, and which one is current: what is written, and what stays as it was.
#include "engine/kube/contexts.h"
#include "tests/unit/engine/kube/api.h"

static char dir[64];

static char *path_of(const char *name)
{
	return x_asprintf("%s/%s", dir, name);
}

static void write_file(const char *name, const char *text)
{
	struct err err = { 0 };
	char *path = path_of(name);
	assert_true(file_write_atomic(path, slice_of(text), 0600, &err));
	free(path);
}

static void is_file(const char *name, const char *want)
{
	size_t n;
	struct err err = { 0 };
	char *path = path_of(name), *text = file_read(path, 1 << 20, &n, &err);
	assert_non_null(text);
	assert_string_equal(text, want);
	free(text);
	free(path);
}

#define CLUSTERS                                                                               \
	"clusters:\n- name: c\n  cluster: {server: 'https://one:6443', certificate-authority: /no/such}\n"
#define CONTEXTS                                                                               \
	"contexts: # mine\n- name: a\n  context: {cluster: c, user: u, namespace: demo}\n"

static int set_up(void **state)
{
	(void)state;
	snprintf(dir, sizeof dir, "/tmp/sandmux-contexts-XXXXXX");
	assert_non_null(mkdtemp(dir));
	char *list = x_asprintf("%s/one:%s/none:%s/two", dir, dir, dir);
	setenv("KUBECONFIG", list, 1);
	free(list);
	return 0;
}

static int tear_down(void **state)
{
	static const char *const names[] = { "one", "two", "one.lock", "link" };
	(void)state;
	for (size_t i = 0; i < 4; i++) {
		char *path = path_of(names[i]);
		unlink(path);
		free(path);
	}
	return rmdir(dir);
}

static void test_they_are_read(void **state)
{
	struct err err = { 0 };
	(void)state;
	write_file("one", CLUSTERS CONTEXTS);
	write_file("two", "contexts:\n- name: a\n  context: {cluster: x}\n- name: b\n"
			  "  context: {cluster: gone}\ncurrent-context: b\n");
	struct kube_contexts *all = kube_contexts_read(NULL, &err);
	assert_non_null(all);
	assert_int_equal(kube_contexts_count(all), 2);
	const struct kube_context *a = kube_contexts_at(all, 0), *b = kube_contexts_at(all, 1);
	assert_string_equal(a->name, "a");
	assert_string_equal(a->server, "https://one:6443");
	assert_string_equal(a->namespace_, "demo");
	assert_false(a->is_current);
	assert_string_equal(b->name, "b");
	assert_string_equal(b->server, "");
	assert_true(b->is_current);
	kube_contexts_free(all);
}

static void test_one_becomes_current(void **state)
{
	struct err err = { 0 };
	(void)state;
	write_file("one", CLUSTERS CONTEXTS);
	write_file("two",
		"# kept\ncurrent-context: old # gone\ncontexts:\n- name: b\n  context: {}\n");
	assert_true(kube_contexts_use(NULL, "a", &err));
	is_file("one", CLUSTERS CONTEXTS);
	is_file("two", "# kept\ncurrent-context: \"a\"\ncontexts:\n- name: b\n  context: {}\n");
	/* nobody says it: the first file does from now on */
	write_file("two", "contexts:\n- name: b\n  context: {}");
	assert_true(kube_contexts_use(NULL, "b", &err));
	is_file("one", CLUSTERS CONTEXTS "current-context: \"b\"\n");
	struct kube_contexts *all = kube_contexts_read(NULL, &err);
	assert_true(kube_contexts_at(all, 1)->is_current);
	kube_contexts_free(all);
}

static void test_refusals(void **state)
{
	struct err err = { 0 };
	(void)state;
	write_file("one", CLUSTERS CONTEXTS);
	write_file("two", "");
	assert_false(kube_contexts_use(NULL, "nobody", &err));
	assert_int_equal(err.code, ERR_CONFIG_KUBECONFIG);
	write_file("one.lock", "");
	assert_false(kube_contexts_use(NULL, "a", &err));
	assert_int_equal(err.code, ERR_OP_BUSY);
	is_file("one", CLUSTERS CONTEXTS);
	is_file("one.lock", ""); /* it is not ours */
	char *lock = path_of("one.lock");
	unlink(lock);
	free(lock);
	write_file("one", "{\"contexts\":[{\"name\":\"a\",\"context\":{}}]}");
	assert_false(kube_contexts_use(NULL, "a", &err));
	is_file("one", "{\"contexts\":[{\"name\":\"a\",\"context\":{}}]}");
}

static void test_a_link_stays_one(void **state)
{
	struct err err = { 0 };
	(void)state;
	write_file("one", CLUSTERS CONTEXTS);
	char *from = path_of("one"), *link = path_of("link");
	assert_int_equal(symlink(from, link), 0);
	assert_true(kube_contexts_use(link, "a", &err));
	char to[128] = "";
	assert_true(readlink(link, to, sizeof to - 1) > 0);
	assert_string_equal(to, from);
	is_file("one", CLUSTERS CONTEXTS "current-context: \"a\"\n");
	free(from);
	free(link);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_they_are_read, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_one_becomes_current, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_refusals, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_a_link_stays_one, set_up, tear_down),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
