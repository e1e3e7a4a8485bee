// SPDX-License-Identifier: Apache-2.0
/* -o jsonpath=, jq= and custom-columns=: what people copy from kubectl's pages gives what kubectl gives. */
#include "tests/unit/unit.h"

#include "cli/expression.h"
#include "cli/jsonpath.h"
#include "engine/base/err.h"
#include "engine/base/json.h"
#include "engine/base/mem.h"

#include <stdlib.h>
#include <string.h>

static const char document[] =
	"{\"kind\":\"List\",\"items\":["
	"{\"kind\":\"None\",\"metadata\":{\"name\":\"127.0.0.1\",\"labels\":{\"kubernetes.io/hostname\":\"127.0.0.1\",\"app\":\"a b\"}},"
	"\"status\":{\"capacity\":{\"cpu\":\"4\"},\"addresses\":[{\"type\":\"LegacyHostIP\",\"address\":\"127.0.0.1\"}],\"n\":7}},"
	"{\"kind\":\"None\",\"metadata\":{\"name\":\"127.0.0.2\"},"
	"\"status\":{\"capacity\":{\"cpu\":\"8\"},\"addresses\":[{\"type\":\"LegacyHostIP\",\"address\":\"127.0.0.2\"},{\"type\":\"another\",\"address\":\"127.0.0.3\"}],\"ready\":true,\"n\":12,\"none\":null}}"
	"],\"users\":[{\"name\":\"myself\",\"user\":{}},{\"name\":\"e2e\",\"user\":{\"username\":\"admin\",\"password\":\"secret\"}},{\"name\":\"third\"}]}";

static char *format_as(const char *form, const char *text, struct err *err)
{
	struct cli_expression *expression = cli_expression_parse(form, text, err);
	struct str out;
	if (expression == NULL)
		return NULL;
	cJSON *value = json_parse(slice_of(document), NULL);
	assert_non_null(value);
	str_init(&out, 1 << 20);
	bool ok = cli_expression_format(expression, value, &out, err);
	cJSON_Delete(value);
	cli_expression_free(expression);
	char *said = str_take(&out);
	if (ok)
		return said;
	free(said);
	return NULL;
}

static void expect(const char *form, const char *text, const char *wanted)
{
	struct err err = { 0 };
	char *said = format_as(form, text, &err);
	if (said == NULL || strcmp(said, wanted) != 0)
		print_error("%s=%s gives '%s' (%s)\n", form, text, said ? said : "", err.msg);
	assert_non_null(said);
	assert_string_equal(said, wanted);
	free(said);
}

/* The table of kubernetes.io/docs/reference/kubectl/jsonpath, and what people ask about. */
static void jsonpath_as_kubectl(void **state)
{
	static const char *const rows[][2] = {
		{ "kind is {.kind}", "kind is List" },
		{ "the object is {@.kind}", "the object is List" },
		{ "{.kind}", "List" },
		{ "{['kind']}", "List" },
		{ ".kind", "List" },
		{ "$.kind", "List" },
		{ "{..name}", "127.0.0.1 127.0.0.2 myself e2e third" },
		{ "{.items[*].metadata.name}", "127.0.0.1 127.0.0.2" },
		{ "{.users[0].name}", "myself" },
		{ "{.users[-1].name}", "third" },
		{ "{.users[-2].name}", "e2e" },
		{ "{.users[0:2].name}", "myself e2e" },
		{ "{.users[1:].name}", "e2e third" },
		{ "{.users[:-1].name}", "myself e2e" },
		{ "{.users[0:3:2].name}", "myself third" },
		{ "{.users[0,2].name}", "myself third" },
		{ "{.items[*]['metadata.name','kind']}", "None None" },
		{ "{.items[*].metadata['name','none']}", "127.0.0.1 127.0.0.2" },
		{ "{.users[?(@.name==\"e2e\")].user.password}", "secret" },
		{ "{.users[?(@.name!=\"e2e\")].name}", "myself third" },
		{ "{.items[?(@.status.n>7)].metadata.name}", "127.0.0.2" },
		{ "{.items[?(@.status.n >= 7)].metadata.name}", "127.0.0.1 127.0.0.2" },
		{ "{.items[?(@.status.ready==true)].metadata.name}", "127.0.0.2" },
		{ "{.items[?(@.status.ready)].metadata.name}", "127.0.0.2" },
		{ "{.items[?(@.kind==$.items[1].kind)].status.n}", "7 12" },
		{ "{range .items[*]}[{.metadata.name}, {.status.capacity.cpu}] {end}",
			"[127.0.0.1, 4] [127.0.0.2, 8] " },
		{ "{range .items[*]}{.metadata.name}{'\\t'}{.status.n}{\"\\n\"}{end}",
			"127.0.0.1\t7\n127.0.0.2\t12\n" },
		{ "{range .items[*]}{.metadata.name}:{range .status.addresses[*]}{.address};{end}{end}",
			"127.0.0.1:127.0.0.1;127.0.0.2:127.0.0.2;127.0.0.3;" },
		{ "{range .items[*]}{$.kind}{end}", "ListList" },
		{ "{.items[0].metadata.labels.kubernetes\\.io/hostname}", "127.0.0.1" },
		{ "{.items[0].metadata.labels['kubernetes.io/hostname']}", "127.0.0.1" },
		{ "{.items[0].status.capacity}", "{\"cpu\":\"4\"}" },
		{ "{.items[1].status.none}", "" },
		{ "{.nothing.at.all}", "" },
		{ "{.users[7].name}", "" },
		{ "{.items[*].metadata.name} {.kind}", "127.0.0.1 127.0.0.2 List" },
		{ "{.kind}{'}'}", "List}" },
	};
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		expect("jsonpath", rows[i][0], rows[i][1]);
}

static void jq_filters(void **state)
{
	(void)state;
	expect("jq", ".items[].metadata.name", "127.0.0.1\n127.0.0.2\n");
	expect("jq", "[.items[] | select(.status.n > 7) | .status.n]", "[12]\n");
	expect("jq", ".items | length", "2\n");
	expect("jq", "empty", "");
}

static void what_is_wrong_is_said(void **state)
{
	static const char *const rows[][3] = {
		{ "jsonpath", "{.kind", "column 7" },
		{ "jsonpath", "{.users[}", "column 9" },
		{ "jsonpath", "{.users[?(@.name==]}", "column 19" },
		{ "jsonpath", "{.users[?(1==1)]}", "compares a path" },
		{ "jsonpath", "{range .items[*]}{.x}", "without end" },
		{ "jsonpath", "{.x}{end}", "without range" },
		{ "jsonpath", "{kind}", "begins with" },
		{ "jsonpath", "{'open}", "not closed" },
		{ "jsonpath", "", "needs an expression" },
		{ "jsonpath", "{.users[0:3:0]}", "1 or more" },
		{ "jq", ".items[", "-o jq: " },
		{ "jq", ".items | foo", "foo/0 is not defined" },
		{ "jq", ".kind | .[0]", "Cannot index string" },
		{ "jq", "error(\"mine\")", "mine" },
		{ "jq", "error({})", "ended with an error" },
		{ "custom-columns", "NAME", "TITLE:PATH" },
		{ "custom-columns", "NAME:", "TITLE:PATH" },
		{ "custom-columns", ":.x", "TITLE:PATH" },
		{ "custom-columns", "NAME:.x,", "TITLE:PATH" },
		{ "custom-columns", "NAME:.x[", "column" },
	};
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct err err = { 0 };
		char *said = format_as(rows[i][0], rows[i][1], &err);
		if (said != NULL || strstr(err.msg, rows[i][2]) == NULL)
			print_error("%s=%s says '%s'\n", rows[i][0], rows[i][1], err.msg);
		assert_null(said);
		assert_non_null(strstr(err.msg, rows[i][2]));
		assert_int_equal(err.code, ERR_ARG_INVALID);
	}
}

static void columns(void **state)
{
	(void)state;
	struct err err = { 0 };
	struct cli_expression *expression = cli_expression_parse("custom-columns",
		"KIND:.kind,FIRST:{.users[0,1].name},N:items[?(@.kind=='None,')].x", &err);
	assert_non_null(expression);
	assert_int_equal(cli_expression_columns(expression), 3);
	assert_string_equal(cli_expression_titles(expression)[1], "FIRST");
	cJSON *value = json_parse(slice_of(document), NULL);
	static const char *const wanted[] = { "List", "myself e2e", "<none>" };
	for (size_t i = 0; i < 3; i++) {
		struct str cell;
		str_init(&cell, 256);
		cli_expression_cell(expression, i, value, &cell);
		assert_string_equal(cell.p, wanted[i]);
		str_deinit(&cell);
	}
	cJSON_Delete(value);
	cli_expression_free(expression);
}

/* As deep as the parser lets a template be; one more is refused and not a crash. */
static void depth_has_an_end(void **state)
{
	struct str text;
	struct err err = { 0 };
	(void)state;
	str_init(&text, 1 << 20);
	for (int i = 0; i < 1000; i++)
		str_add(&text, "{range .x[?(@.y[?(@.z)])]}");
	assert_null(cli_jsonpath_parse(text.p, &err));
	assert_non_null(strstr(err.msg, "too deep"));
	str_deinit(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(jsonpath_as_kubectl),
		cmocka_unit_test(jq_filters),
		cmocka_unit_test(what_is_wrong_is_said),
		cmocka_unit_test(columns),
		cmocka_unit_test(depth_has_an_end),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
