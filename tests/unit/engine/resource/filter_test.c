// SPDX-License-Identifier: Apache-2.0
// The words of a filter.
#include "tests/unit/unit.h"

#include "engine/fleet/kind.h"
#include "engine/resource/filter.h"

#define COUNT(a) (sizeof(a) / sizeof(a)[0])

static const struct fleet_row a_row = { .namespace_ = "Spaces",
	.claim = "claimed",
	.sandbox = "boxed",
	.pod = "podded",
	.pool = "pooled",
	.template_ = "templated",
	.node = "noded",
	.why = "whyever",
	.next = "",
	.state = FLEET_READY };

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
		struct resource_filter *filter =
			resource_filter_parse(&fleet_sandbox_kind, rows[i].text);
		if (resource_filter_fits(filter, &a_row) != rows[i].fits ||
			resource_filter_is_empty(filter) != rows[i].is_empty)
			fail_msg("'%s'", rows[i].text);
		resource_filter_free(filter);
	}
	resource_filter_free(NULL);
	/* sixteen words count */
	struct resource_filter *filter = resource_filter_parse(
		&fleet_sandbox_kind, "a a a a a a a a a a a a a a a nothing");
	assert_false(resource_filter_fits(filter, &a_row));
	resource_filter_free(filter);
	filter = resource_filter_parse(
		&fleet_sandbox_kind, "a a a a a a a a a a a a a a a a nothing");
	assert_true(resource_filter_fits(filter, &a_row));
	resource_filter_free(filter);
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
		{ "pod:a", "pool:a", false }, { "pod:a", "a", false }, { "a", "ba", false } };
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct resource_filter *now =
			resource_filter_parse(&fleet_sandbox_kind, rows[i].now);
		struct resource_filter *next =
			resource_filter_parse(&fleet_sandbox_kind, rows[i].next);
		if (resource_filter_narrows(now, next) != rows[i].narrows)
			fail_msg("'%s', '%s'", rows[i].now, rows[i].next);
		resource_filter_free(now);
		resource_filter_free(next);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words_of_the_filter),
		cmocka_unit_test(a_filter_that_hides_more),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
