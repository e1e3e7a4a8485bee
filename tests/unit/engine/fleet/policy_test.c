// SPDX-License-Identifier: Apache-2.0
/* The template policy: what is read, what is refused, which rows may be operated on. */
#include "engine/base/err.h"
#include "engine/base/json.h"
#include "engine/fleet/row.h"
#include "engine/fleet/template_policy.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

static const char two[] = "defaultTemplate: b\nlabels: {domain: x}\n"
			  "templates:\n- {name: a, network: {access: full}, containerName: c,"
			  " defaultCwd: /w, rootDir: /w, labels: {tier: one}}\n- {name: b}\n";

static void what_it_says(void **state)
{
	struct err err = { 0 };
	struct fleet_policy *policy = fleet_policy_parse(slice_of(two), &err);
	(void)state;
	if (policy == NULL)
		fail_msg("%s", err.msg);
	const struct fleet_policy_template *a = fleet_policy_find(policy, "a", &err);
	assert_string_equal("full", a->network);
	assert_string_equal("c", a->container);
	assert_string_equal("/w", a->cwd);
	assert_string_equal("/w", a->root);
	assert_string_equal("b", fleet_policy_default(policy)->name);
	assert_ptr_equal(a, fleet_policy_at(policy, 0));
	assert_null(fleet_policy_at(policy, 2));
	assert_null(fleet_policy_find(policy, "c", &err));
	assert_int_equal(ERR_TEMPLATE_UNDECLARED, err.code);
	assert_true(fleet_policy_check_network(a, NULL, &err));
	assert_true(fleet_policy_check_network(a, "full", &err));
	assert_false(fleet_policy_check_network(a, "none", &err));
	assert_int_equal(ERR_POLICY_MISMATCH, err.code);
	assert_false(fleet_policy_check_network(fleet_policy_default(policy), "none", &err));
	cJSON *labels = fleet_policy_labels(policy, a);
	assert_int_equal(2, cJSON_GetArraySize(labels));
	cJSON_Delete(labels);
	fleet_policy_free(policy);
}

static void what_it_refuses(void **state)
{
	static const char *const bad[] = { "", "templates: []\n", "templates: {a: b}\n",
		"templates: [{}]\n", "templates: [{name: A}]\n",
		"templates: [{name: a}, {name: b}]\n",
		"templates: [{name: a}, {name: a}]\ndefaultTemplate: a\n",
		"templates: [{name: a}]\ndefaultTemplate: c\n",
		"templates: [{name: a, network: {access: some}}]\n",
		"templates: [{name: a, network: none}]\n", "templates: [{name: a, cwd: /}]\n",
		"templates: [{name: a, rootDir: w}]\n", "templates: [{name: a, labels: [x]}]\n",
		"templates: [{name: a, labels: {x: 1}}]\n", "templates: [{name: a}]\nelse: 1\n",
		"templates: [{name: a}]\nlabels: {'a b': c}\n" };
	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		struct err err = { 0 };
		if (fleet_policy_parse(slice_of(bad[i]), &err) != NULL)
			fail_msg("%s was taken", bad[i]);
		assert_int_not_equal(ERR_NONE, err.code);
	}
}

static void whom_it_admits(void **state)
{
	static const struct {
		const char *template_, *labels;
		bool is_admitted;
	} rows[] = {
		{ "b", "domain=x", true },
		{ "b", "a=b,domain=x", true },
		{ "b", "domain=xy", false },
		{ "b", "mydomain=x", false },
		{ "b", "", false },
		{ "a", "domain=x", false },
		{ "a", "domain=x,tier=one", true },
		{ "c", "domain=x", false },
		{ "", "domain=x", false },
	};
	struct fleet_policy *policy = fleet_policy_parse(slice_of(two), NULL);
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct err err = { 0 };
		const struct fleet_row row = { .claim = "n",
			.sandbox = "",
			.template_ = rows[i].template_,
			.labels = rows[i].labels };
		assert_int_equal(rows[i].is_admitted, fleet_policy_admits(policy, &row, &err));
		assert_int_equal(
			rows[i].is_admitted ? ERR_NONE : ERR_POLICY_MISMATCH, err.code);
		assert_true(fleet_policy_admits(NULL, &row, &err));
	}
	fleet_policy_free(policy);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_it_says),
		cmocka_unit_test(what_it_refuses),
		cmocka_unit_test(whom_it_admits),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
