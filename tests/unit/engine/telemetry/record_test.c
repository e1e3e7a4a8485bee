// SPDX-License-Identifier: Apache-2.0
/* A record in one piece: everything is copied, what is too much is cut and counted. */
#include "tests/unit/unit.h"

#include "engine/telemetry/record.h"

#include <stdlib.h>
#include <string.h>

static void assert_text(struct slice is, const char *wanted)
{
	assert_int_equal(is.n, strlen(wanted));
	assert_string_equal(is.p, wanted);
}

static void assert_arrays(const struct telemetry_record *copy)
{
	assert_int_equal(copy->n_attrs, 5);
	assert_int_equal(copy->n_dropped_attrs, 0);
	for (int i = 0; i < 2; i++) {
		const struct telemetry_attr *at = i ? copy->events[0].attrs : copy->attrs;
		assert_string_equal(at[0].key, "key");
		assert_int_equal(at[0].string.n, 6);
		assert_memory_equal(at[0].string.p, "val\0ue", 7);
		assert_int_equal(at[1].integer, INT64_MIN);
		assert_true(at[2].real == 0.5);
		assert_true(at[3].boolean);
		assert_string_equal(at[4].key, "");
		assert_text(at[4].string, "");
	}
	assert_string_equal(copy->events[0].name, "first");
	assert_int_equal(copy->events[0].n_attrs, 5);
	assert_int_equal(copy->events[1].wall_ns, 8);
	assert_string_equal(copy->events[1].name, "");
	assert_int_equal(copy->events[1].n_attrs, 0);
	assert_int_equal(copy->events[1].n_dropped_attrs, 3);
	assert_int_equal(copy->links[0].trace_id[0], 1);
	assert_int_equal(copy->links[0].span_id[0], 2);
	assert_int_equal(copy->n_dropped_links, 9);
}

static void everything_is_copied(void **state)
{
	char key[] = "key", value[] = "val\0ue", body[] = "a body", name[] = "a name";
	struct telemetry_attr attrs[] = {
		{ .key = key, .string = { value, 6 } },
		{ .key = "int", .type = TELEMETRY_INT, .integer = INT64_MIN },
		{ .key = "real", .type = TELEMETRY_DOUBLE, .real = 0.5 },
		{ .key = "flag", .type = TELEMETRY_BOOL, .boolean = true },
		{ .key = NULL, .string = { NULL, 0 } },
	};
	struct telemetry_span_event events[] = {
		{ .wall_ns = 7, .name = "first", .attrs = attrs, .n_attrs = 5 },
		{ .wall_ns = 8, .name = NULL, .n_dropped_attrs = 3 },
	};
	struct telemetry_span_link links[] = { { .trace_id = { 1 }, .span_id = { 2 } } };
	const struct telemetry_record record = {
		.kind = TELEMETRY_SPAN,
		.wall_ns = 5,
		.duration_ns = 6,
		.trace_id = { 3 },
		.name = name,
		.scope = "scope",
		.body = { body, 6 },
		.attrs = attrs,
		.n_attrs = 5,
		.events = events,
		.n_events = 2,
		.links = links,
		.n_links = 1,
		.n_dropped_links = 9,
	};
	size_t bytes;
	(void)state;
	struct telemetry_record *copy = telemetry_record_copy(&record, &bytes);
	memset(key, 'x', 3);
	memset(value, 'x', 6);
	memset(body, 'x', 6);
	memset(name, 'x', 6);
	memset(attrs, 0, sizeof attrs);
	memset(events, 0, sizeof events);
	memset(links, 0, sizeof links);
	assert_true(bytes > sizeof record && bytes < sizeof record + 1000);
	assert_int_equal(copy->wall_ns, 5);
	assert_string_equal(copy->name, "a name");
	assert_string_equal(copy->scope, "scope");
	assert_string_equal(copy->service, "");
	assert_string_equal(copy->status_text, "");
	assert_text(copy->body, "a body");
	assert_arrays(copy);
	free(copy);
}

static void what_is_too_much_is_cut(void **state)
{
	enum { MANY = 40, LONG = 9000 };
	static char text[LONG + 1];
	struct telemetry_attr attrs[MANY];
	struct telemetry_span_event events[MANY];
	struct telemetry_span_link links[MANY] = { 0 };
	size_t bytes;
	(void)state;
	memset(text, 'v', LONG);
	for (size_t i = 0; i < MANY; i++) {
		attrs[i] = (struct telemetry_attr){ .key = text, .string = { text, LONG } };
		events[i] = (struct telemetry_span_event){
			.name = text, .attrs = attrs, .n_attrs = MANY, .n_dropped_attrs = 1
		};
	}
	struct telemetry_record record = { .name = text,
		.body = { text, LONG },
		.attrs = attrs,
		.n_attrs = 3,
		.events = events,
		.n_events = MANY,
		.links = links,
		.n_links = MANY,
		.n_dropped_events = 2 };
	struct telemetry_record *copy = telemetry_record_copy(&record, &bytes);
	assert_int_equal(strlen(copy->name), TELEMETRY_NAME_BYTES_MAX);
	assert_int_equal(copy->body.n, TELEMETRY_TEXT_BYTES_MAX);
	assert_int_equal(strlen(copy->attrs[2].key), TELEMETRY_NAME_BYTES_MAX);
	assert_int_equal(copy->attrs[2].string.n, TELEMETRY_TEXT_BYTES_MAX);
	assert_int_equal(copy->n_events, TELEMETRY_EVENTS_MAX);
	assert_int_equal(copy->n_dropped_events, 2 + MANY - TELEMETRY_EVENTS_MAX);
	assert_int_equal(copy->n_links, TELEMETRY_LINKS_MAX);
	assert_int_equal(copy->n_dropped_links, MANY - TELEMETRY_LINKS_MAX);
	assert_int_equal(copy->events[0].n_attrs, TELEMETRY_ATTRS_MAX);
	assert_int_equal(copy->events[0].n_dropped_attrs, 1 + MANY - TELEMETRY_ATTRS_MAX);
	/* the text of all of it has a limit of its own: what comes last is empty */
	assert_string_equal(copy->events[TELEMETRY_EVENTS_MAX - 1].name, "");
	assert_true(bytes > TELEMETRY_RECORD_TEXT_BYTES_MAX);
	assert_true(bytes < 2 * TELEMETRY_RECORD_TEXT_BYTES_MAX);
	free(copy);
	record.n_attrs = MANY;
	copy = telemetry_record_copy(&record, &bytes);
	assert_int_equal(copy->n_attrs, TELEMETRY_ATTRS_MAX);
	assert_int_equal(copy->n_dropped_attrs, MANY - TELEMETRY_ATTRS_MAX);
	free(copy);
}

static void values_as_text(void **state)
{
	static const struct {
		struct telemetry_attr attr;
		const char *text;
	} rows[] = {
		{ { .type = TELEMETRY_STRING, .string = { "a\x1b", 2 } }, "a\x1b" },
		{ { .type = TELEMETRY_INT, .integer = INT64_MIN }, "-9223372036854775808" },
		{ { .type = TELEMETRY_DOUBLE, .real = 0.25 }, "0.25" },
		{ { .type = TELEMETRY_BOOL, .boolean = true }, "true" },
		{ { .type = TELEMETRY_BOOL }, "false" },
	};
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct str out;
		str_init(&out, 100);
		telemetry_attr_add_text(&out, &rows[i].attr);
		assert_string_equal(out.p, rows[i].text);
		str_deinit(&out);
	}
}

static void severities(void **state)
{
	static const enum log_level levels[25] = { LOG_DEBUG, LOG_TRACE, LOG_TRACE, LOG_TRACE,
		LOG_TRACE, LOG_DEBUG, LOG_DEBUG, LOG_DEBUG, LOG_DEBUG, LOG_INFO, LOG_INFO,
		LOG_INFO, LOG_INFO, LOG_WARN, LOG_WARN, LOG_WARN, LOG_WARN, LOG_ERROR,
		LOG_ERROR, LOG_ERROR, LOG_ERROR, LOG_ERROR, LOG_ERROR, LOG_ERROR, LOG_ERROR };
	static const uint8_t none[8] = { 0 }, some[8] = { [7] = 1 };
	(void)state;
	for (int i = 0; i < 25; i++)
		assert_int_equal(
			telemetry_severity_log_level((enum telemetry_severity)i), levels[i]);
	for (int i = 0; i < LOG_LEVEL_COUNT; i++)
		assert_int_equal(telemetry_severity_log_level(
					 telemetry_severity_of_log((enum log_level)i)),
			i);
	assert_int_equal(telemetry_severity_of_log(LOG_WARN), 13);
	assert_false(telemetry_id_is_set(none, 8));
	assert_true(telemetry_id_is_set(some, 8));
	assert_false(telemetry_id_is_set(some, 7));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(everything_is_copied),
		cmocka_unit_test(what_is_too_much_is_cut),
		cmocka_unit_test(values_as_text),
		cmocka_unit_test(severities),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
