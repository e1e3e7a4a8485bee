// SPDX-License-Identifier: Apache-2.0
#include "engine/base/json.h"
#include "engine/base/json_merge.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static cJSON *read_json(const char *text)
{
	char copy[512];
	snprintf(copy, sizeof copy, "%s", text);
	for (char *p = copy; *p; p++)
		*p = *p == '\'' ? '"' : *p;
	cJSON *object = json_parse(slice_of(copy), NULL);
	if (!object)
		fail_msg("%s", text);
	return object;
}

static void is_json(cJSON *take, const char *want)
{
	char *text = cJSON_PrintUnformatted(take);
	for (char *p = text; *p; p++)
		*p = *p == '"' ? '\'' : *p;
	assert_string_equal(text, want);
	free(text);
	cJSON_Delete(take);
}

static void diff(const char *from, const char *to, const char *want)
{
	cJSON *a = read_json(from), *b = read_json(to);
	is_json(json_merge_diff(a, b), want);
	cJSON_Delete(a);
	cJSON_Delete(b);
}

static void test_diff(void **state)
{
	(void)state;
	diff("{'a':1,'b':{'c':2}}", "{'b':{'c':2},'a':1}", "{}");
	diff("{'a':1,'b':{'c':2,'d':3}}", "{'a':2,'b':{'c':2}}", "{'a':2,'b':{'d':null}}");
	diff("{'a':[1,2]}", "{'a':[1,2,3],'n':{}}", "{'a':[1,2,3],'n':{}}");
	diff("{'a':{'b':1}}", "{'a':7}", "{'a':7}");
	diff("{'a':7}", "{'a':{'b':1}}", "{'a':{'b':1}}");
	diff("{'A':1}", "{'a':1}", "{'a':1,'A':null}"); /* names have a case */
}

static void on_conflict(void *arg, const char *path, const cJSON *ours, const cJSON *theirs)
{
	struct str *told = arg;
	char *a = ours ? cJSON_PrintUnformatted(ours) : NULL;
	char *b = theirs ? cJSON_PrintUnformatted(theirs) : NULL;
	str_addf(told, "%s %s|%s;", path, a ? a : "-", b ? b : "-");
	free(a);
	free(b);
}

static void three(const char *base, const char *ours, const char *theirs, const char *want,
	const char *conflicts)
{
	cJSON *b = read_json(base), *o = read_json(ours), *t = read_json(theirs);
	struct str told;
	str_init(&told, 1024);
	is_json(json_merge_three(b, o, t, on_conflict, &told), want);
	assert_string_equal(told.p, conflicts);
	str_deinit(&told);
	cJSON_Delete(b);
	cJSON_Delete(o);
	cJSON_Delete(t);
}

static void test_three_ways(void **state)
{
	(void)state;
	three("{'a':1,'b':1}", "{'a':2,'b':1}", "{'a':1,'b':2}", "{'a':2,'b':2}", "");
	three("{'a':1,'b':{'c':1}}", "{'b':{'c':1,'d':2}}", "{'a':1,'b':{'c':3}}",
		"{'b':{'c':3,'d':2}}", "");
	/* both the same, both taken away */
	three("{'a':1,'b':1}", "{'a':2}", "{'a':2}", "{'a':2}", "");
	/* the same place, to something else: ours is taken, and told */
	three("{'s':{'a':1}}", "{'s':{'a':2}}", "{'s':{'a':3}}", "{'s':{'a':2}}", "s.a 2|3;");
	three("{'a':1}", "{}", "{'a':3}", "{}", "a -|3;");
	three("{'a':1}", "{'a':3}", "{}", "{'a':3}", "a 3|-;");
	three("{}", "{'a':{'x':1}}", "{'a':{'y':2}}", "{'a':{'y':2,'x':1}}", "");
}

static void test_arrays(void **state)
{
	(void)state;
	three("{'a':[1]}", "{'a':[1,2]}", "{'a':[1,3]}", "{'a':[1,2]}", "a [1,2]|[1,3];");
	/* those that have names are joined one by one */
	three("{'c':[{'name':'x','v':1},{'name':'y','v':1}]}",
		"{'c':[{'name':'x','v':2},{'name':'y','v':1}]}",
		"{'c':[{'name':'x','v':1},{'name':'z','v':5}]}",
		"{'c':[{'name':'x','v':2},{'name':'z','v':5}]}", "");
	three("{'c':[{'name':'x','v':1}]}", "{'c':[{'name':'x','v':2}]}",
		"{'c':[{'name':'x','v':3}]}", "{'c':[{'name':'x','v':2}]}", "c.x.v 2|3;");
	/* a name twice: it is one value */
	three("{'c':[{'name':'x'}]}", "{'c':[{'name':'x'},{'name':'x'}]}",
		"{'c':[{'name':'y'}]}", "{'c':[{'name':'x'},{'name':'x'}]}",
		"c [{\"name\":\"x\"},{\"name\":\"x\"}]|[{\"name\":\"y\"}];");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_diff),
		cmocka_unit_test(test_three_ways),
		cmocka_unit_test(test_arrays),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
