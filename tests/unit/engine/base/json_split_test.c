// SPDX-License-Identifier: Apache-2.0
/* Every case is fed whole, byte by byte, and cut in two at every place: the result is the same. */
#include "tests/unit/unit.h"

#include "engine/base/err.h"
#include "engine/base/json.h"
#include "engine/base/mem.h"

#include <stdlib.h>
#include <string.h>

#define COUNT(a) (sizeof(a) / sizeof(a)[0])

struct seen {
	struct str log; /* "value|value|#rest" */
	unsigned stop_after;
	unsigned n;
};

static bool on_value(void *arg, struct slice value, struct err *err)
{
	struct seen *seen = arg;
	str_add_bytes(&seen->log, value.p, value.n);
	str_add_char(&seen->log, '|');
	if (++seen->n != seen->stop_after)
		return true;
	return err_set(err, ERR_OP_CANCELLED, "enough");
}

static bool on_rest(void *arg, struct slice value, struct err *err)
{
	(void)err;
	struct seen *seen = arg;
	str_add_char(&seen->log, '#');
	str_add_bytes(&seen->log, value.p, value.n);
	return true;
}

static const struct split_case {
	enum json_split_mode mode;
	const char *input;
	const char *log;
	enum err_code code; /* what feed or finish says */
} cases[] = {
	{ JSON_SPLIT_VALUES, "", "", ERR_NONE },
	{ JSON_SPLIT_VALUES, " \r\n\t", "", ERR_NONE },
	{ JSON_SPLIT_VALUES, "{}", "{}|", ERR_NONE },
	{ JSON_SPLIT_VALUES, "{\"a\":1}\n{\"b\":[1,2,{}]}\n", "{\"a\":1}|{\"b\":[1,2,{}]}|",
		ERR_NONE },
	{ JSON_SPLIT_VALUES, "{}{}[]", "{}|{}|[]|", ERR_NONE },
	{ JSON_SPLIT_VALUES, "1 true\n\"x\" null", "1|true|\"x\"|null|", ERR_NONE },
	{ JSON_SPLIT_VALUES, "{\"a\":\"}\\\"]{\\\\\"}", "{\"a\":\"}\\\"]{\\\\\"}|", ERR_NONE },
	{ JSON_SPLIT_VALUES, "{\"a\":1", "", ERR_RUNTIME_PROTOCOL },
	{ JSON_SPLIT_VALUES, "{} {\"a\":\"", "{}|", ERR_RUNTIME_PROTOCOL },
	{ JSON_SPLIT_VALUES, "{}}", "{}|", ERR_RUNTIME_PROTOCOL },
	{ JSON_SPLIT_VALUES, "{]", "", ERR_RUNTIME_PROTOCOL },
	{ JSON_SPLIT_VALUES, "[}", "", ERR_RUNTIME_PROTOCOL },
	{ JSON_SPLIT_VALUES, ",", "", ERR_RUNTIME_PROTOCOL },
	{ JSON_SPLIT_ITEMS, "{\"items\":[]}", "#{\"items\":[]}", ERR_NONE },
	{ JSON_SPLIT_ITEMS,
		"{\"kind\":\"L\",\"metadata\":{\"continue\":\"x\"},\"items\":[{\"a\":1},{\"b\":2}]}\n",
		"{\"a\":1}|{\"b\":2}|#{\"kind\":\"L\",\"metadata\":{\"continue\":\"x\"},\"items\":[]}",
		ERR_NONE },
	{ JSON_SPLIT_ITEMS, "{\"items\":[1,\"a,]\",[2,[]],null],\"metadata\":{}}",
		"1|\"a,]\"|[2,[]]|null|#{\"items\":[],\"metadata\":{}}", ERR_NONE },
	{ JSON_SPLIT_ITEMS, " { \"items\" : [ {} , {} ] } ", "{}|{}|#{ \"items\" : [] }",
		ERR_NONE },
	/* only the key at the top, and only as a key */
	{ JSON_SPLIT_ITEMS,
		"{\"x\":{\"items\":[1]},\"y\":\"items\",\"z\":[\"items\"],\"items\":[2]}",
		"2|#{\"x\":{\"items\":[1]},\"y\":\"items\",\"z\":[\"items\"],\"items\":[]}",
		ERR_NONE },
	{ JSON_SPLIT_ITEMS, "{\"item\":[1],\"itemss\":[2],\"items\\\"\":[3]}",
		"#{\"item\":[1],\"itemss\":[2],\"items\\\"\":[3]}", ERR_NONE },
	{ JSON_SPLIT_ITEMS, "{\"items\":null,\"a\":[1]}", "#{\"items\":null,\"a\":[1]}",
		ERR_NONE },
	{ JSON_SPLIT_ITEMS, "{\"items\":{\"items\":[1]}}", "#{\"items\":{\"items\":[1]}}",
		ERR_NONE },
	/* what stands between the key and its list is not skipped */
	{ JSON_SPLIT_ITEMS, "{\"items\":1,\"a\":[2]}", "#{\"items\":1,\"a\":[2]}", ERR_NONE },
	{ JSON_SPLIT_ITEMS, "{\"items\":x[1]}", "#{\"items\":x[1]}", ERR_NONE },
	{ JSON_SPLIT_ITEMS, "{\"items\" x:[1]}", "#{\"items\" x:[1]}", ERR_NONE },
	{ JSON_SPLIT_ITEMS, "{\"items\":\"x\",\"b\":[1]}", "#{\"items\":\"x\",\"b\":[1]}",
		ERR_NONE },
	{ JSON_SPLIT_ITEMS, "{\"a\":1,\"items\":[5]}", "5|#{\"a\":1,\"items\":[]}", ERR_NONE },
	{ JSON_SPLIT_ITEMS, "{\"a\":[1,\"items\"],\"items\":[5]}",
		"5|#{\"a\":[1,\"items\"],\"items\":[]}", ERR_NONE },
	{ JSON_SPLIT_ITEMS, "{\"a\":{\"b\":1,\"items\":[1]},\"items\":[5]}",
		"5|#{\"a\":{\"b\":1,\"items\":[1]},\"items\":[]}", ERR_NONE },
	{ JSON_SPLIT_ITEMS, "{\"\\\"items\":[1],\"itens\":[2],\"items\":[5]}",
		"5|#{\"\\\"items\":[1],\"itens\":[2],\"items\":[]}", ERR_NONE },
	{ JSON_SPLIT_ITEMS, "{\"items\":[1 2]}", "1|", ERR_RUNTIME_PROTOCOL },
	{ JSON_SPLIT_ITEMS, "{\"items\":[1}", "1|", ERR_RUNTIME_PROTOCOL },
	{ JSON_SPLIT_ITEMS, "{\"items\":[}", "", ERR_RUNTIME_PROTOCOL },
	{ JSON_SPLIT_ITEMS, "{\"items\":[:]}", "", ERR_RUNTIME_PROTOCOL },
	{ JSON_SPLIT_ITEMS, "{\"items\":[1,]}", "1|", ERR_RUNTIME_PROTOCOL },
	{ JSON_SPLIT_ITEMS, "{\"items\":[1]", "1|", ERR_RUNTIME_PROTOCOL },
	{ JSON_SPLIT_ITEMS, "{\"a\":1", "", ERR_RUNTIME_PROTOCOL },
	{ JSON_SPLIT_ITEMS, "", "", ERR_RUNTIME_PROTOCOL },
	{ JSON_SPLIT_VALUES, ":", "", ERR_RUNTIME_PROTOCOL },
	{ JSON_SPLIT_VALUES, "]", "", ERR_RUNTIME_PROTOCOL },
	{ JSON_SPLIT_VALUES, "1{}2[]3\"x\"4", "1|{}|2|[]|3|\"x\"|4|", ERR_NONE },
	{ JSON_SPLIT_VALUES, "1,2", "1|", ERR_RUNTIME_PROTOCOL },
	{ JSON_SPLIT_VALUES, "\"a", "", ERR_RUNTIME_PROTOCOL },
	{ JSON_SPLIT_ITEMS, "{\"kind\":\"Status\",\"code\":410}",
		"#{\"kind\":\"Status\",\"code\":410}", ERR_NONE },
	{ JSON_SPLIT_ITEMS, "", "", ERR_RUNTIME_PROTOCOL },
	{ JSON_SPLIT_ITEMS, "[]", "", ERR_RUNTIME_PROTOCOL },
	{ JSON_SPLIT_ITEMS, "{\"items\":[{}", "{}|", ERR_RUNTIME_PROTOCOL },
	{ JSON_SPLIT_ITEMS, "{\"items\":[{}]", "{}|", ERR_RUNTIME_PROTOCOL },
	{ JSON_SPLIT_ITEMS, "{\"items\":[{},]}", "{}|", ERR_RUNTIME_PROTOCOL },
	{ JSON_SPLIT_ITEMS, "{\"items\":[{}{}]}", "{}|", ERR_RUNTIME_PROTOCOL },
	{ JSON_SPLIT_ITEMS, "{\"items\":[,]}", "", ERR_RUNTIME_PROTOCOL },
	{ JSON_SPLIT_ITEMS, "{\"items\":[}", "", ERR_RUNTIME_PROTOCOL },
	{ JSON_SPLIT_ITEMS, "{\"items\":[]}x", "#{\"items\":[]}", ERR_RUNTIME_PROTOCOL },
	{ JSON_SPLIT_ITEMS, "{\"items\":[]]", "", ERR_RUNTIME_PROTOCOL },
};

static bool feed_copy(struct json_split *split, const char *p, size_t n, struct err *err)
{
	char *copy = malloc(n ? n : 1); /* exact, so that one byte too far is seen */
	assert_non_null(copy);
	memcpy(copy, p, n);
	bool ok = json_split_feed(split, copy, n, err);
	free(copy);
	return ok;
}

static void run(const struct split_case *c, size_t first, size_t step)
{
	struct seen seen = { .n = 0 };
	struct err err = { .code = ERR_NONE };
	size_t n = strlen(c->input);
	str_init(&seen.log, 10000);
	struct json_split *split = json_split_new(c->mode, 0, on_value, on_rest, &seen);
	bool ok = feed_copy(split, c->input, first, &err);
	for (size_t i = first; ok && i < n; i += step)
		ok = feed_copy(split, c->input + i, n - i < step ? n - i : step, &err);
	if (ok)
		ok = json_split_finish(split, &err);
	if (ok != (c->code == ERR_NONE) || err.code != c->code ||
		strcmp(seen.log.p, c->log) != 0)
		fail_msg("%s cut at %zu: \"%s\" %s", c->input, first, seen.log.p,
			err_code_name(err.code));
	if (!ok) /* a failed one stays failed */
		assert_false(json_split_feed(split, "{}", 2, &err));
	json_split_free(split);
	str_deinit(&seen.log);
}

static void test_cut_at_every_byte(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		size_t n = strlen(cases[i].input);
		run(&cases[i], 0, 1);
		for (size_t cut = 0; cut <= n; cut++)
			run(&cases[i], cut, n + 1);
	}
}

static void test_the_consumer_can_stop(void **state)
{
	(void)state;
	struct seen seen = { .stop_after = 2 };
	struct err err = { .code = ERR_NONE };
	str_init(&seen.log, 100);
	struct json_split *split = json_split_new(JSON_SPLIT_VALUES, 0, on_value, NULL, &seen);
	assert_false(json_split_feed(split, "1 2 3 4 ", 8, &err));
	assert_int_equal(err.code, ERR_OP_CANCELLED);
	assert_string_equal(seen.log.p, "1|2|");
	json_split_free(split);
	json_split_free(NULL);
	str_deinit(&seen.log);
}

static enum err_code feed_much(
	enum json_split_mode mode, const char *head, const char *more, size_t times)
{
	struct seen seen = { .n = 0 };
	struct err err = { .code = ERR_NONE };
	str_init(&seen.log, 1);
	struct json_split *split = json_split_new(mode, 1000, on_value, on_rest, &seen);
	bool ok = json_split_feed(split, head, strlen(head), &err);
	while (ok && times-- > 0)
		ok = json_split_feed(split, more, strlen(more), &err);
	json_split_free(split);
	str_deinit(&seen.log);
	return err.code;
}

static void test_limits(void **state)
{
	(void)state;
	/* one value, the rest of a list, an endless scalar */
	assert_int_equal(
		feed_much(JSON_SPLIT_VALUES, "{\"a\":\"", "x", 5000), ERR_LIMIT_RESPONSE);
	assert_int_equal(feed_much(JSON_SPLIT_VALUES, "", "1", 5000), ERR_LIMIT_RESPONSE);
	assert_int_equal(
		feed_much(JSON_SPLIT_ITEMS, "{\"a\":\"", "x", 5000), ERR_LIMIT_RESPONSE);
	assert_int_equal(
		feed_much(JSON_SPLIT_ITEMS, "{\"items\":[\"", "x", 5000), ERR_LIMIT_RESPONSE);
	/* but any number of small ones */
	assert_int_equal(feed_much(JSON_SPLIT_VALUES, "", "{\"a\":1}\n", 5000), ERR_NONE);
	assert_int_equal(
		feed_much(JSON_SPLIT_ITEMS, "{\"items\":[1", ",{\"a\":1}", 5000), ERR_NONE);
	/* depth */
	assert_int_equal(feed_much(JSON_SPLIT_VALUES, "", "[", 65), ERR_LIMIT_RESPONSE);
	assert_int_equal(feed_much(JSON_SPLIT_VALUES, "", "[", 64), ERR_NONE);
	assert_int_equal(feed_much(JSON_SPLIT_ITEMS, "{\"a\":", "[", 64), ERR_LIMIT_RESPONSE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cut_at_every_byte),
		cmocka_unit_test(test_the_consumer_can_stop),
		cmocka_unit_test(test_limits),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
