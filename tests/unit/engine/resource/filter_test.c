// SPDX-License-Identifier: Apache-2.0
// The words of a filter.
#include "tests/unit/unit.h"

#include "engine/fleet/kind.h"
#include "engine/resource/filter.h"

#include "engine/base/clock.h"
#include "engine/base/err.h"

#include <string.h>

enum { REGEX_LONG = 300 };

#define COUNT(a) (sizeof(a) / sizeof(a)[0])

static struct fleet_row a_row = { .namespace_ = "Spaces",
	.claim = "claimed",
	.sandbox = "boxed",
	.pod = "podded",
	.pod_uid = "pod-uid",
	.pool = "pooled",
	.template_ = "templated",
	.node = "noded",
	.why = "whyever it is",
	.next = "wait",
	.labels = "app=Web,tier=front,empty=",
	.restarts = 3,
	.state = FLEET_READY };

static struct resource_filter *parse(const char *text)
{
	struct err err;
	struct resource_filter *filter = resource_filter_parse(&fleet_sandbox_kind, text, &err);
	if (!filter)
		fail_msg("'%s': %s", text, err.msg);
	return filter;
}

static void words_of_the_filter(void **state)
{
	static const struct {
		const char *text;
		bool fits, is_empty;
	} rows[] = {
		{ "", true, true },
		{ " \t ", true, true },
		{ "claimed", true, false },
		{ "CLAIM", true, false },
		{ "aim", true, false },
		{ "claimedx", false, false },
		{ "spaces", true, false },
		{ "boxed", true, false },
		{ "podded", true, false },
		{ "pooled", true, false },
		{ "noded", true, false },
		{ "templated", true, false },
		{ "whyever", true, false },
		{ "ready", true, false },
		{ "nothing", false, false },
		{ "claimed nothing", false, false },
		{ "claimed\tboxed", true, false },
		{ "!claimed", false, false },
		{ "!nothing", true, false },
		{ "!", true, true },
		{ "state:ready", true, false },
		{ "state:READY", true, false },
		{ "state:claimed", false, false },
		{ "!state:ready", false, false },
		{ "ns:spaces", true, false },
		{ "namespace:spaces", true, false },
		{ "ns:boxed", false, false },
		{ "pool:pooled", true, false },
		{ "pool:podded", false, false },
		{ "pod:podded", true, false },
		{ "pod:pooled", false, false },
		{ "node:noded", true, false },
		{ "node:boxed", false, false },
		{ "sandbox:boxed", true, false },
		{ "sandbox:claimed", false, false },
		{ "name:claimed", true, false },
		{ "name:boxed", true, false },
		{ "name:podded", false, false },
		{ "why:whyever", true, false },
		{ "why:boxed", false, false },
		{ "pods:podded", false, false },
		{ "po:podded", false, false },
		{ ":podded", false, false },
		/* while it is typed */
		{ "state:", true, true },
		{ "!pool:", true, true },
		{ "pool: podded", true, false },
		{ "1:2", false, false },
	};
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct resource_filter *filter = parse(rows[i].text);
		if (resource_filter_fits(filter, &a_row) != rows[i].fits ||
			resource_filter_is_empty(filter) != rows[i].is_empty)
			fail_msg("'%s'", rows[i].text);
		resource_filter_free(filter);
	}
	resource_filter_free(NULL);
}

static void a_filter_that_hides_more(void **state)
{
	static const struct {
		const char *now, *next;
		bool narrows;
	} rows[] = { { "", "", true }, { "", "a", true }, { "a", "", false },
		{ "a", "a", true }, { "rea", "read", true }, { "read", "rea", false },
		{ "a", "b", false }, { "a", "a b", true }, { "a b", "a", false },
		{ "a b", "b a", false }, { "!rea", "!read", false }, { "!rea", "!rea", true },
		{ "!a", "a", false }, { "a", "!a", false }, { "pod:a", "pod:ab", true },
		{ "pod:a", "pool:a", false }, { "pod:a", "a", false }, { "a", "ba", true },
		{ "a | b", "a | bc", true }, { "a | b", "ac | b", true },
		{ "a | b", "a", false }, { "a", "a | b", false },
		{ "a | b", "a x | b y", true }, { "a | b", "a | b | c", false },
		{ "age>1h", "age>1h x", true }, { "age>1h", "age>2h", false },
		{ "age>1h", "age<1h", false }, { "/a/", "/a/ b", true },
		{ "/a/", "/ab/", false }, { "-l app=x", "-l app=x b", true },
		{ "-l app=x", "-l app=y", false }, { "state=ready", "state:ready", false } };
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct resource_filter *now = parse(rows[i].now);
		struct resource_filter *next = parse(rows[i].next);
		if (resource_filter_narrows(now, next) != rows[i].narrows)
			fail_msg("'%s', '%s'", rows[i].now, rows[i].next);
		resource_filter_free(now);
		resource_filter_free(next);
	}
}

/* What a language of filters is for. */
static const struct {
	const char *text;
	bool fits;
} forms[] = {
	{ "\"claimed boxed\"", false },
	{ "\"whyever it\"", true },
	{ "'ever it is'", true },
	{ "why:\"ever it\"", true },
	{ "why:\"ever  it\"", false },
	{ "\"\"", true },
	{ "\"unfinished", false },
	{ "/^claimed$/", true },
	{ "/^CLAIM/", true },
	{ "/^aimed/", false },
	{ "/whyever it/ claimed", true },
	{ "/whyever it/ nothing", false },
	{ "!/^claimed$/", false },
	{ "/^cl", true },
	{ "/[a-c]l.i/", true },
	{ "why:/^whyever it/", true },
	{ "why:/^it/", false },
	{ "state=ready", true },
	{ "state=read", false },
	{ "state!=ready", false },
	{ "state!=blocked", true },
	{ "!state!=ready", true },
	{ "nothing | claimed", true },
	{ "claimed | nothing", true },
	{ "nothing | never", false },
	{ "claimed nothing | boxed podded", true },
	{ "claimed nothing | boxed never", false },
	{ "nothing |", false },
	{ "| claimed", true },
	{ "| |", true },
	{ "claimed|boxed", false }, /* no blanks: a word */
	{ "label:app=Web", true },
	{ "label:app=web", false }, /* as kubectl: case matters */
	{ "labels:app", true },
	{ "label:!app", false },
	{ "label:!nope", true },
	{ "label:app=Web,tier=front", true },
	{ "label:app=Web,tier=back", false },
	{ "label:empty=", true },
	{ "-l app=Web", true },
	{ "-l \"app in (Api, Web)\"", true },
	{ "-l \"tier notin (front)\"", false },
	{ "!-l app=Web", false },
	{ "-l app=Web claimed", true },
	{ "-l", true },
	{ "/", true },
	{ "nothing /", false },
	{ "claimed / boxed", true },
	{ "label:", true },
	{ "-lx", false }, /* a word */
	{ "age>1h", true },
	{ "age>3h", false },
	{ "age<3h", true },
	{ "age>=2h", true },
	{ "age>", true },
	{ "ends<10m", true },
	{ "ends<4m", false },
	{ "expires>4m", true },
	{ "restarts>2", true },
	{ "restarts=3", true },
	{ "restarts:3", true },
	{ "restarts!=3", false },
	{ "restarts<3", false },
	{ "cpu>0", false }, /* not known */
	{ "!cpu>0", true },
	{ "cpu>500m", false },
	{ "mem>1Gi", false },
	{ "STATE:ready", true },
};

static void forms_of_the_filter(void **state)
{
	(void)state;
	clock_set_for_tests(1, 1000000000000LL * 1000000);
	a_row.created_ms = 1000000000000LL - 2 * 3600000;
	a_row.expires_ms = 1000000000000LL + 5 * 60000;
	for (size_t i = 0; i < COUNT(forms); i++) {
		struct resource_filter *filter = parse(forms[i].text);
		if (resource_filter_fits(filter, &a_row) != forms[i].fits)
			fail_msg("'%s'", forms[i].text);
		resource_filter_free(filter);
	}
	a_row.expires_ms = 0; /* without an end nothing is said of it */
	struct resource_filter *filter = parse("ends<10m | ends>10m");
	assert_false(resource_filter_fits(filter, &a_row));
	resource_filter_free(filter);
	clock_set_for_tests(-1, -1);
}

static void what_cannot_be_understood_is_named(void **state)
{
	static const struct {
		const char *text, *says;
	} rows[] = {
		{ "/(/", "/(/: " },
		{ "why:/[/", "/[/: " },
		{ "app=x", "there is no column 'app'" },
		{ "app=x", "label:KEY=VALUE" },
		{ "nope>3", "there is no column 'nope'" },
		{ "age>soon", "age> is compared with a time" },
		{ "age:old", "age: is compared with a time" },
		{ "cpu>much", "cpu> is compared with per cent (50) or an amount" },
		{ "restarts>-1", "restarts> is compared with a number" },
		{ "restarts>99999999999999999999", "a number" },
		{ "state>ready", "state is a text" },
		{ "label:app==,", "" },
		{ "-l =x", "" },
		/* hostile ones */
		{ "/(a{60}){60}/", "repetitions" },
		{ "/a{1,99999}/", "repetitions" },
		{ "/((a{9}){9}){9}/", "repetitions" },
		{ "/(a)\\1/", "references back" },
	};
	struct err err;
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct resource_filter *filter =
			resource_filter_parse(&fleet_sandbox_kind, rows[i].text, &err);
		if (filter || err.code != ERR_ARG_INVALID || !strstr(err.msg, rows[i].says))
			fail_msg("'%s': %s", rows[i].text, filter ? "taken" : err.msg);
	}
	char text[RESOURCE_FILTER_BYTES_MAX + 3];
	memset(text, 'a', sizeof text);
	text[sizeof text - 1] = 0;
	assert_null(resource_filter_parse(&fleet_sandbox_kind, text, &err));
	memset(text, '(', REGEX_LONG);
	text[0] = text[REGEX_LONG] = '/';
	text[REGEX_LONG + 1] = 0;
	assert_null(resource_filter_parse(&fleet_sandbox_kind, text, &err));
	for (size_t i = 0; i < 33; i++)
		memcpy(text + 2 * i, "a ", 3);
	assert_null(resource_filter_parse(&fleet_sandbox_kind, text, &err));
	assert_non_null(strstr(err.msg, "32 words"));
	text[2 * 32] = 0;
	resource_filter_free(parse(text));
}

/* Every text is taken or refused, and asked about without harm. */
static void any_bytes(void **state)
{
	static const char bytes[] = "a/\"'|!:=<>-l (){}[]*\\1,\x01\x80\xff\t";
	unsigned seed = 1;
	(void)state;
	for (int round = 0; round < 20000; round++) {
		char text[24];
		size_t n = 0;
		for (; n < sizeof text - 1; n++) {
			seed = seed * 1103515245u + 12345u;
			text[n] = bytes[(seed >> 16) % (sizeof bytes - 1)];
		}
		text[(seed >> 20) % sizeof text] = 0;
		text[n] = 0;
		struct resource_filter *filter =
			resource_filter_parse(&fleet_sandbox_kind, text, NULL);
		if (filter)
			resource_filter_fits(filter, &a_row);
		resource_filter_free(filter);
	}
}

static void kinds_without_labels(void **state)
{
	struct resource_kind kind = fleet_sandbox_kind;
	struct err err;
	(void)state;
	kind.labels = NULL;
	assert_null(resource_filter_parse(&kind, "-l app=x", &err));
	assert_non_null(strstr(err.msg, "labels"));
}

static void what_changes_with_time(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		bool is_timed;
	} rows[] = { { "age>1h", true }, { "a | ends<5m", true }, { "restarts>1", false },
		{ "a", false }, { "", false } };
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct resource_filter *filter = parse(rows[i].text);
		assert_int_equal(resource_filter_is_timed(filter), rows[i].is_timed);
		resource_filter_free(filter);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words_of_the_filter),
		cmocka_unit_test(a_filter_that_hides_more),
		cmocka_unit_test(forms_of_the_filter),
		cmocka_unit_test(what_cannot_be_understood_is_named),
		cmocka_unit_test(any_bytes),
		cmocka_unit_test(kinds_without_labels),
		cmocka_unit_test(what_changes_with_time),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
