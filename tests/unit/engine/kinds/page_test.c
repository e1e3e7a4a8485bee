// SPDX-License-Identifier: Apache-2.0
// The page about one object, and what an object leads to.
#include "tests/unit/unit.h"

#include "engine/base/json.h"
#include "engine/base/mem.h"
#include "engine/base/str.h"
#include "engine/kinds/object.h"
#include "engine/kinds/page.h"

#include <stdlib.h>

static void on_title(void *arg, const char *title)
{
	str_addf(arg, "[%s]\n", title);
}

static void on_line(void *arg, const char *label, enum resource_tone tone, const char *text,
	int64_t when_ms)
{
	str_addf(arg, "%s=%s%s%s\n", label, text, tone == RESOURCE_WARNING ? " !" : "",
		when_ms ? " @" : "");
}

static void add_ports(const struct resource_lines *lines, const void *row, const cJSON *object)
{
	(void)row;
	const char *port = kinds_text_at(object, "spec.port");
	if (port)
		lines->line(lines->arg, "port", RESOURCE_WARNING, port, 0);
}

static const struct resource_column columns[] = { KINDS_COLUMN_NAMESPACE, KINDS_COLUMN_NAME,
	KINDS_COLUMN_AGE };
static const int shown[] = { 0, 1, 2, RESOURCE_NONE };
static const struct resource_section sections[] = { { "Ports", add_ports }, { 0 } };
static const struct resource_relation relations[] = {
	{ RESOURCE_BY_OWNER, "Sandbox", NULL, false },
	{ RESOURCE_BY_FIELD, "Volume", "spec.volume", false },
	{ RESOURCE_BY_SELECTOR, "Pod", "spec.selector", false },
	{ 0 },
};
static const struct resource_kind kind = { .name = "things",
	.singular = "thing",
	.columns = columns,
	.n_columns = 3,
	.name_column = 1,
	.namespace_column = 0,
	.wide = shown,
	.sections = sections,
	.relations = relations };

static char *page_of(const void *row, const char *json)
{
	struct str out;
	str_init(&out, 1 << 16);
	const struct resource_lines lines = { on_title, on_line, &out };
	cJSON *object = json ? json_parse(slice_of(json), NULL) : NULL;
	kinds_page(&kind, row, object, &lines);
	cJSON_Delete(object);
	char *text = x_strdup(out.p);
	str_deinit(&out);
	return text;
}

static void test_page(void **state)
{
	static const struct kinds_object row = { "u", "a", "demo", "", 1767225600000, 0 };
	static const struct {
		bool has_row;
		const char *json, *page;
	} cases[] = {
		{ true, NULL, "namespace=demo\ncreated=2026-01-01T00:00:00Z @\n" },
		{ false, "{}", "" },
		{ true, "{\"spec\":{\"port\":\"80\"}}",
			"namespace=demo\ncreated=2026-01-01T00:00:00Z @\n[Ports]\nport=80 !\n" },
		{ false,
			"{\"metadata\":{\"labels\":{\"a\":\"b\",\"n\":1},\"annotations\":{\"c\":\"d\"},"
			"\"ownerReferences\":[{\"kind\":\"Sandbox\",\"name\":\"s\"}]},\"status\":{\"conditions\":"
			"[{\"type\":\"Ready\",\"status\":\"False\",\"reason\":\"No\",\"message\":\"why\","
			"\"lastTransitionTime\":\"2026-01-01T00:00:00Z\"},{},7]}}",
			"[Belongs to]\nSandbox=s\n[Conditions]\nReady=False  No: why @\n=  \n=  \n"
			"[Labels]\na=b\nn=?\n[Annotations]\nc=d\n" },
		{ false,
			"{\"metadata\":{\"labels\":[],\"ownerReferences\":{}},\"status\":\"x\",\"spec\":7}",
			"" },
	};
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		char *page = page_of(cases[i].has_row ? &row : NULL, cases[i].json);
		assert_string_equal(page, cases[i].page);
		free(page);
	}
}

static void test_relations(void **state)
{
	static const struct {
		size_t relation;
		const char *json, *text;
	} cases[] = {
		{ 0,
			"{\"metadata\":{\"ownerReferences\":[{\"kind\":\"Sandbox\",\"name\":\"a\"},"
			"{\"kind\":\"Pod\",\"name\":\"p\"},{\"kind\":\"Sandbox\"},{\"kind\":\"Sandbox\","
			"\"name\":\"b\"},7]}}",
			"a, b" },
		{ 0, "{}", "" },
		{ 1, "{\"spec\":{\"volume\":\"v\"}}", "v" },
		{ 1, "{\"spec\":{\"volume\":\"\"}}", "" },
		{ 1, "{\"spec\":{\"volume\":{}}}", "" },
		{ 2, "{\"spec\":{\"selector\":{\"app\":\"x\",\"tier\":\"y\",\"n\":3}}}",
			"app=x,tier=y" },
		{ 2, "{\"spec\":{\"selector\":\"x\"}}", "" },
	};
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct str text;
		cJSON *object = json_parse(slice_of(cases[i].json), NULL);
		assert_non_null(object);
		str_init(&text, 1000);
		kinds_relation_format(&relations[cases[i].relation], object, &text);
		assert_string_equal(text.p, cases[i].text);
		str_deinit(&text);
		cJSON_Delete(object);
	}
}

static void test_paths(void **state)
{
	cJSON *object = json_parse(slice_of("{\"a\":{\"b\":\"x\"},\"c\":\"y\"}"), NULL);
	(void)state;
	assert_string_equal(kinds_text_at(object, "a.b"), "x");
	assert_string_equal(kinds_text_at(object, "c"), "y");
	assert_null(kinds_text_at(object, "a"));
	assert_null(kinds_text_at(object, "c.b"));
	assert_null(kinds_text_at(object, "a.b.c"));
	assert_null(kinds_text_at(object, "A.b"));
	assert_null(kinds_text_at(NULL, "a"));
	assert_ptr_equal(kinds_at(object, ""), object);
	assert_int_equal(kinds_time("2026-01-01T00:00:00Z", 500), 1767225600000 - 500);
	assert_int_equal(kinds_time("no", 0), 0);
	assert_int_equal(kinds_time(NULL, 0), 0);
	cJSON_Delete(object);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_page),
		cmocka_unit_test(test_relations),
		cmocka_unit_test(test_paths),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
