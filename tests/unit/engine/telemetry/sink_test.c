// SPDX-License-Identifier: Apache-2.0
/* Sinks: what each gets, and that none of them costs the store or its neighbours anything. */
#include "tests/unit/unit.h"

#include "engine/base/log.h"
#include "engine/telemetry/sink.h"
#include "engine/telemetry/span.h"
#include "engine/telemetry/store.h"

#include <stdio.h>
#include <string.h>

struct taker {
	char got[200];
	enum telemetry_sink_result answer;
	int n_calls, n_freed;
	bool is_talking, is_full;
};

static enum telemetry_sink_result write_one(void *arg, const struct telemetry_record *record)
{
	struct taker *taker = arg;
	size_t used = strlen(taker->got);
	taker->n_calls++;
	if (taker->is_talking)
		LOG("sink", LOG_ERROR, "about itself");
	if (taker->answer == TELEMETRY_SINK_TAKEN)
		snprintf(taker->got + used, sizeof taker->got - used, "%s%s;", record->name,
			record->body.p);
	return taker->answer;
}

static bool flush_one(void *arg)
{
	return !((struct taker *)arg)->is_full;
}

static void free_one(void *arg)
{
	((struct taker *)arg)->n_freed++;
}

static struct telemetry_sink_handle *add(struct telemetry *telemetry, struct taker *taker)
{
	const struct telemetry_sink sink = {
		.write = write_one, .flush = flush_one, .free = free_one, .arg = taker
	};
	return telemetry_sink_add(telemetry, &sink);
}

static void add_body(struct telemetry *telemetry, const char *body)
{
	const struct telemetry_record record = { .kind = TELEMETRY_LOG,
		.body = slice_of(body) };
	telemetry_add(telemetry, &record);
}

static bool count(void *arg, const struct telemetry_record *record)
{
	(void)record;
	++*(size_t *)arg;
	return true;
}

static size_t kept(const struct telemetry *telemetry)
{
	size_t n = 0;
	telemetry_each(telemetry, count, &n);
	return n;
}

static void everything_in_order_spans_at_their_end(void **state)
{
	struct taker taker = { 0 };
	(void)state;
	struct telemetry *telemetry = telemetry_new(100, 1 << 20);
	struct telemetry_span *span = telemetry_span_start(telemetry, "span", NULL);
	add_body(telemetry, "early");
	struct telemetry_sink_handle *handle = add(telemetry, &taker);
	assert_string_equal(taker.got, "early;");
	add_body(telemetry, "next");
	telemetry_span_end(span, NULL);
	assert_string_equal(taker.got, "early;next;sandmux.span;");
	assert_int_equal(telemetry_sink_counts(handle).taken, 3);
	assert_true(telemetry_flush(telemetry));
	taker.is_full = true;
	assert_false(telemetry_flush(telemetry));
	telemetry_sink_remove(telemetry, handle);
	assert_int_equal(taker.n_freed, 1);
	assert_true(telemetry_flush(telemetry));
	add_body(telemetry, "without it");
	assert_int_equal(taker.n_calls, 3);
	assert_true(telemetry_flush(NULL));
	telemetry_free(telemetry);
	assert_int_equal(taker.n_freed, 1);
}

static void a_busy_one_goes_on_from_where_it_is(void **state)
{
	struct taker busy = { .answer = TELEMETRY_SINK_BUSY }, other = { 0 };
	(void)state;
	struct telemetry *telemetry = telemetry_new(3, 1 << 20);
	struct telemetry_sink_handle *handle = add(telemetry, &busy);
	add(telemetry, &other);
	for (int i = 0; i < 5; i++)
		add_body(telemetry, (const char *[]){ "a", "b", "c", "d", "e" }[i]);
	assert_int_equal(kept(telemetry), 3);
	assert_string_equal(other.got, "a;b;c;d;e;");
	assert_string_equal(busy.got, "");
	assert_int_equal(telemetry_sink_counts(handle).lost, 2);
	assert_false(telemetry_flush(telemetry));
	busy.answer = TELEMETRY_SINK_TAKEN;
	assert_true(telemetry_flush(telemetry));
	assert_string_equal(busy.got, "c;d;e;");
	add_body(telemetry, "f");
	assert_string_equal(busy.got, "c;d;e;f;");
	assert_int_equal(telemetry_sink_counts(handle).lost, 2);
	assert_int_equal(telemetry_sink_counts(handle).taken, 4);
	telemetry_free(telemetry);
	assert_int_equal(busy.n_freed, 1);
	assert_int_equal(other.n_freed, 1);
}

static void a_failing_one_is_counted(void **state)
{
	struct taker failing = { .answer = TELEMETRY_SINK_FAILED };
	(void)state;
	struct telemetry *telemetry = telemetry_new(100, 1 << 20);
	struct telemetry_sink_handle *handle = add(telemetry, &failing);
	for (int i = 0; i < 5; i++)
		add_body(telemetry, "x");
	assert_int_equal(failing.n_calls, 5);
	assert_int_equal(telemetry_sink_counts(handle).failed, 5);
	assert_int_equal(telemetry_sink_counts(handle).lost, 0);
	assert_int_equal(kept(telemetry), 5);
	assert_int_equal(telemetry_dropped(telemetry), 0);
	assert_true(telemetry_flush(telemetry));
	telemetry_free(telemetry);
}

static void one_that_talks_about_itself_comes_to_an_end(void **state)
{
	struct taker talking = { .is_talking = true };
	(void)state;
	struct telemetry *telemetry = telemetry_new(100, 1 << 20);
	telemetry_add_log(telemetry);
	add(telemetry, &talking);
	add_body(telemetry, "x");
	add_body(telemetry, "y");
	assert_string_equal(talking.got, "x;y;");
	assert_int_equal(kept(telemetry), 2);
	assert_int_equal(telemetry_dropped(telemetry), 2);
	telemetry_free(telemetry);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(everything_in_order_spans_at_their_end),
		cmocka_unit_test(a_busy_one_goes_on_from_where_it_is),
		cmocka_unit_test(a_failing_one_is_counted),
		cmocka_unit_test(one_that_talks_about_itself_comes_to_an_end),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
