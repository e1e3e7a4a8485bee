// SPDX-License-Identifier: Apache-2.0
#include "engine/telemetry/span.h"

#include "engine/base/err.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

struct seen {
	size_t n;
	struct span_record first;
	char first_attr[64];
	char names[512];
};

static bool look(void *arg, const struct span_record *record)
{
	struct seen *seen = arg;
	if (seen->n++ == 0) {
		seen->first = *record;
		if (record->n_attrs > 0)
			snprintf(seen->first_attr, sizeof seen->first_attr, "%s=%s",
				record->attrs[0].key, record->attrs[0].value);
	}
	size_t used = strlen(seen->names);
	snprintf(seen->names + used, sizeof seen->names - used, "%s;", record->name);
	return true;
}

static void test_newest_first_and_parent(void **state)
{
	(void)state;
	struct telemetry *telemetry = telemetry_new(10);
	struct span *parent = span_start(telemetry, "lifecycle", NULL);
	struct span *child = span_start(telemetry, "run", parent);
	struct seen seen = { 0 };
	telemetry_each(telemetry, look, &seen);
	assert_string_equal(seen.names, "sandmux.run;sandmux.lifecycle;");
	assert_int_equal(seen.first.duration_ns, -1);
	char traceparent[SPAN_TRACEPARENT_BYTES];
	span_traceparent(parent, traceparent);
	assert_int_equal(strlen(traceparent), 55);
	assert_memory_equal(traceparent + 3, seen.first.trace_id, 32);
	assert_memory_equal(traceparent + 36, seen.first.parent_id, 16);
	span_end(child, NULL);
	span_end(parent, NULL);
	telemetry_free(telemetry);
}

static void test_failure_has_the_code(void **state)
{
	(void)state;
	struct telemetry *telemetry = telemetry_new(10);
	struct span *span = span_start(telemetry, "files.read", NULL);
	struct err err = { 0 };
	err_set(&err, ERR_FILE_DENIED, "secret path");
	span_end(span, &err);
	struct seen seen = { 0 };
	telemetry_each(telemetry, look, &seen);
	assert_true(seen.first.failed);
	assert_string_equal(seen.first.error_code, "file.denied");
	assert_string_equal(seen.first_attr, "sandbox.error.code=file.denied");
	assert_true(seen.first.duration_ns >= 0);
	telemetry_free(telemetry);
}

static void test_paths_only_when_asked(void **state)
{
	(void)state;
	struct telemetry *telemetry = telemetry_new(10);
	struct span *span = span_start(telemetry, "files.read", NULL);
	span_set_path(span, "sandbox.file.path", "secret.txt");
	struct seen seen = { 0 };
	telemetry_each(telemetry, look, &seen);
	assert_int_equal(seen.first.n_attrs, 0);
	telemetry_set_paths(telemetry, true);
	span_set_path(span, "sandbox.file.path", "open.txt");
	seen = (struct seen){ 0 };
	telemetry_each(telemetry, look, &seen);
	assert_string_equal(seen.first_attr, "sandbox.file.path=open.txt");
	span_end(span, NULL);
	telemetry_free(telemetry);
}

static void test_ring_drops_the_oldest_finished(void **state)
{
	(void)state;
	struct telemetry *telemetry = telemetry_new(3);
	struct span *open = span_start(telemetry, "open", NULL);
	char name[8];
	for (int i = 0; i < 5; i++) {
		snprintf(name, sizeof name, "s%d", i);
		span_end(span_start(telemetry, name, NULL), NULL);
	}
	struct seen seen = { 0 };
	telemetry_each(telemetry, look, &seen);
	assert_string_equal(seen.names, "sandmux.s4;sandmux.s3;sandmux.open;");
	assert_int_equal(telemetry_dropped(telemetry), 3);
	span_end(open, NULL);
	telemetry_free(telemetry);
}

static void test_null_is_fine(void **state)
{
	(void)state;
	struct span *span = span_start(NULL, "x", NULL);
	assert_null(span);
	span_set_str(span, "k", "v");
	span_set_int(span, "k", 1);
	span_end(span, NULL);
	telemetry_free(NULL);
	assert_int_equal(telemetry_revision(NULL), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_newest_first_and_parent),
		cmocka_unit_test(test_failure_has_the_code),
		cmocka_unit_test(test_paths_only_when_asked),
		cmocka_unit_test(test_ring_drops_the_oldest_finished),
		cmocka_unit_test(test_null_is_fine),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
