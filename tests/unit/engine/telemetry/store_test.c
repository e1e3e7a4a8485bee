// SPDX-License-Identifier: Apache-2.0
/* The one store: its order, its two bounds, our own log as a source, and what a million records cost. */
#include "tests/unit/unit.h"

#include "engine/base/clock.h"
#include "engine/base/log.h"
#include "engine/telemetry/span.h"
#include "engine/telemetry/store.h"

#include <stdio.h>
#include <string.h>

struct seen {
	size_t n;
	char text[1000];
	enum telemetry_severity severity;
	int64_t wall_ns;
	uint64_t sequence;
};

static bool look(void *arg, const struct telemetry_record *record)
{
	struct seen *seen = arg;
	size_t used = strlen(seen->text);
	if (seen->n++ == 0) {
		seen->severity = record->severity;
		seen->wall_ns = record->wall_ns;
		seen->sequence = record->sequence;
	}
	snprintf(seen->text + used, sizeof seen->text - used, "%s|%s|%s;", record->scope,
		record->name, record->body.p);
	return true;
}

static struct seen see(const struct telemetry *telemetry)
{
	struct seen seen = { 0 };
	telemetry_each(telemetry, look, &seen);
	return seen;
}

static void add_body(struct telemetry *telemetry, const char *body)
{
	const struct telemetry_record record = { .kind = TELEMETRY_LOG,
		.body = slice_of(body) };
	telemetry_add(telemetry, &record);
}

static void newest_first_with_open_spans_before(void **state)
{
	(void)state;
	struct telemetry *telemetry = telemetry_new(10, 1 << 20);
	struct telemetry_span *span = telemetry_span_start(telemetry, "a", NULL);
	add_body(telemetry, "one");
	add_body(telemetry, "two");
	assert_string_equal(see(telemetry).text, "|sandmux.a|;||two;||one;");
	assert_int_equal(see(telemetry).sequence, 1);
	telemetry_span_end(span, NULL);
	/* it ended last; its number is that of its start */
	assert_string_equal(see(telemetry).text, "|sandmux.a|;||two;||one;");
	add_body(telemetry, "three");
	assert_string_equal(see(telemetry).text, "||three;|sandmux.a|;||two;||one;");
	assert_int_equal(see(telemetry).sequence, 4);
	telemetry_free(telemetry);
	telemetry_add(NULL, &(struct telemetry_record){ 0 });
	telemetry_free(NULL);
}

static void both_bounds_hold(void **state)
{
	static char long_body[3000];
	(void)state;
	struct telemetry *telemetry = telemetry_new(3, 10000);
	for (int i = 0; i < 5; i++)
		add_body(telemetry, (const char *[]){ "a", "b", "c", "d", "e" }[i]);
	assert_string_equal(see(telemetry).text, "||e;||d;||c;");
	assert_int_equal(telemetry_dropped(telemetry), 2);
	assert_int_equal(telemetry_revision(telemetry), 5);
	size_t small_bytes = telemetry_bytes(telemetry);
	memset(long_body, 'x', sizeof long_body - 1);
	for (int i = 0; i < 4; i++) {
		add_body(telemetry, long_body);
		assert_true(telemetry_bytes(telemetry) <= 10000);
	}
	assert_int_equal(see(telemetry).n, 3);
	telemetry_free(telemetry);
	/* the newest one stays, also where it alone is too large */
	telemetry = telemetry_new(3, small_bytes / 2);
	add_body(telemetry, "a");
	add_body(telemetry, long_body);
	assert_int_equal(see(telemetry).n, 1);
	assert_true(telemetry_bytes(telemetry) > small_bytes / 2);
	add_body(telemetry, "b");
	assert_string_equal(see(telemetry).text, "||b;");
	assert_int_equal(telemetry_dropped(telemetry), 2);
	telemetry_free(telemetry);
}

static void our_own_log_is_a_source(void **state)
{
	(void)state;
	LOG("early", LOG_WARN, "before there was a store");
	struct telemetry *telemetry = telemetry_new(10, 1 << 20);
	clock_set_for_tests(1, 1767312000123456789);
	telemetry_add_log(telemetry);
	LOG("kube", LOG_ERROR, "raw \x1b\xff");
	LOG("kube", LOG_TRACE, "not on");
	clock_set_for_tests(-1, -1);
	struct seen seen = see(telemetry);
	assert_string_equal(seen.text, "kube||raw \x1b\xff;early||before there was a store;");
	assert_int_equal(seen.severity, TELEMETRY_SEVERITY_ERROR);
	assert_true(seen.wall_ns == 1767312000123456789);
	telemetry_free(telemetry);
	LOG("late", LOG_ERROR, "its store has gone");
}

static void a_million_records_stay_in_64_mib(void **state)
{
	enum { RECORDS = 1000000, BYTES = 64 << 20 };
	static const char body[] =
		"GET /apis/agents.x-k8s.io/v1alpha1/sandboxes: 200 audit-id 1";
	const struct telemetry_attr attrs[] = {
		{ .key = "sandbox.label", .string = { "team/box-1", 10 } },
		{ .key = "sandbox.file.size", .type = TELEMETRY_INT, .integer = 4096 },
		{ .key = "rate", .type = TELEMETRY_DOUBLE, .real = 0.5 },
	};
	const struct telemetry_record record = {
		.kind = TELEMETRY_LOG,
		.severity = TELEMETRY_SEVERITY_INFO,
		.scope = "kube",
		.body = { body, sizeof body - 1 },
		.attrs = attrs,
		.n_attrs = 3,
	};
	(void)state;
	struct telemetry *telemetry = telemetry_new(SIZE_MAX / 2, BYTES);
	int64_t start_ns = clock_mono_ns();
	size_t most_bytes = 0;
	for (int i = 0; i < RECORDS; i++) {
		telemetry_add(telemetry, &record);
		if (telemetry_bytes(telemetry) > most_bytes)
			most_bytes = telemetry_bytes(telemetry);
	}
	int64_t took_ns = clock_mono_ns() - start_ns;
	struct seen seen = see(telemetry);
	assert_true(most_bytes <= BYTES && most_bytes > BYTES - 1000);
	assert_int_equal(seen.n + telemetry_dropped(telemetry), RECORDS);
	assert_int_equal(seen.sequence, RECORDS);
	print_message("%zu kept of %d in %zu bytes, %zu bytes and %lld ns a record\n", seen.n,
		RECORDS, telemetry_bytes(telemetry), telemetry_bytes(telemetry) / seen.n,
		(long long)(took_ns / RECORDS));
	telemetry_free(telemetry);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(newest_first_with_open_spans_before),
		cmocka_unit_test(both_bounds_hold),
		cmocka_unit_test(our_own_log_is_a_source),
		cmocka_unit_test(a_million_records_stay_in_64_mib),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
