// SPDX-License-Identifier: Apache-2.0
#include "engine/telemetry/span.h"

#include "engine/base/digest.h"
#include "engine/base/err.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

struct seen {
	size_t n;
	struct telemetry_record first;
	char first_attr[64], first_code[64];
	char names[512];
};

static void attr_text(const struct telemetry_attr *attr, char *out, size_t bytes)
{
	struct str text;
	str_init(&text, bytes - 1);
	str_addf(&text, "%s=", attr->key);
	telemetry_attr_add_text(&text, attr);
	memcpy(out, text.p, text.n + 1);
	str_deinit(&text);
}

static bool look(void *arg, const struct telemetry_record *record)
{
	struct seen *seen = arg;
	if (seen->n++ == 0) {
		seen->first = *record;
		snprintf(seen->first_code, sizeof seen->first_code, "%s", record->status_text);
		if (record->n_attrs > 0)
			attr_text(&record->attrs[0], seen->first_attr, sizeof seen->first_attr);
	}
	size_t used = strlen(seen->names);
	snprintf(seen->names + used, sizeof seen->names - used, "%s;", record->name);
	return true;
}

static void test_newest_first_and_parent(void **state)
{
	(void)state;
	struct telemetry *telemetry = telemetry_new(10, 1 << 20);
	struct telemetry_span *parent = telemetry_span_start(telemetry, "lifecycle", NULL);
	struct telemetry_span *child = telemetry_span_start(telemetry, "run", parent);
	struct seen seen = { 0 };
	telemetry_each(telemetry, look, &seen);
	assert_string_equal(seen.names, "sandmux.run;sandmux.lifecycle;");
	assert_int_equal(seen.first.duration_ns, -1);
	char traceparent[SPAN_TRACEPARENT_BYTES];
	telemetry_span_traceparent(parent, traceparent);
	assert_int_equal(strlen(traceparent), 55);
	char hex[33];
	digest_hex(seen.first.trace_id, 16, hex);
	assert_memory_equal(traceparent + 3, hex, 32);
	digest_hex(seen.first.parent_id, 8, hex);
	assert_memory_equal(traceparent + 36, hex, 16);
	assert_int_equal(seen.first.kind, TELEMETRY_SPAN);
	assert_int_equal(seen.first.span_kind, TELEMETRY_SPAN_INTERNAL);
	assert_int_equal(seen.first.status, TELEMETRY_STATUS_UNSET);
	telemetry_span_end(child, NULL);
	telemetry_span_end(parent, NULL);
	telemetry_free(telemetry);
}

static void test_failure_has_the_code(void **state)
{
	(void)state;
	struct telemetry *telemetry = telemetry_new(10, 1 << 20);
	struct telemetry_span *span = telemetry_span_start(telemetry, "files.read", NULL);
	struct err err = { 0 };
	err_set(&err, ERR_FILE_DENIED, "secret path");
	telemetry_span_end(span, &err);
	struct seen seen = { 0 };
	telemetry_each(telemetry, look, &seen);
	assert_int_equal(seen.first.status, TELEMETRY_STATUS_ERROR);
	assert_string_equal(seen.first_code, "file.denied");
	assert_string_equal(seen.first_attr, "sandbox.error.code=file.denied");
	assert_true(seen.first.duration_ns >= 0);
	telemetry_free(telemetry);
}

static void test_paths_only_when_asked(void **state)
{
	(void)state;
	struct telemetry *telemetry = telemetry_new(10, 1 << 20);
	struct telemetry_span *span = telemetry_span_start(telemetry, "files.read", NULL);
	telemetry_span_set_path(span, "sandbox.file.path", "secret.txt");
	struct seen seen = { 0 };
	telemetry_each(telemetry, look, &seen);
	assert_int_equal(seen.first.n_attrs, 0);
	telemetry_set_paths(telemetry, true);
	telemetry_span_set_path(span, "sandbox.file.path", "open.txt");
	seen = (struct seen){ 0 };
	telemetry_each(telemetry, look, &seen);
	assert_string_equal(seen.first_attr, "sandbox.file.path=open.txt");
	telemetry_span_end(span, NULL);
	telemetry_free(telemetry);
}

static void test_ring_drops_the_oldest_finished(void **state)
{
	(void)state;
	struct telemetry *telemetry = telemetry_new(3, 1 << 20);
	struct telemetry_span *open = telemetry_span_start(telemetry, "open", NULL);
	char name[8];
	for (int i = 0; i < 5; i++) {
		snprintf(name, sizeof name, "s%d", i);
		telemetry_span_end(telemetry_span_start(telemetry, name, NULL), NULL);
	}
	struct seen seen = { 0 };
	telemetry_each(telemetry, look, &seen);
	assert_string_equal(seen.names, "sandmux.open;sandmux.s4;sandmux.s3;");
	assert_int_equal(telemetry_dropped(telemetry), 3);
	telemetry_span_end(open, NULL);
	telemetry_free(telemetry);
}

static void test_null_is_fine(void **state)
{
	(void)state;
	struct telemetry_span *span = telemetry_span_start(NULL, "x", NULL);
	assert_null(span);
	telemetry_span_set_str(span, "k", "v");
	telemetry_span_set_int(span, "k", 1);
	telemetry_span_end(span, NULL);
	telemetry_free(NULL);
	assert_int_equal(telemetry_revision(NULL), 0);
}

struct copied {
	size_t n, n_attrs, n_dropped_attrs, n_wanted; /* n_wanted: it stops there; 0 never */
	char attrs[20][300];
	uint64_t sequences[10];
	char trace_ids[10][33], span_ids[10][17], parent_ids[10][17];
	int64_t duration_ns, start_wall_ns;
	bool failed;
};

static bool copy(void *arg, const struct telemetry_record *record)
{
	struct copied *copied = arg;

	copied->sequences[copied->n] = record->sequence;
	digest_hex(record->trace_id, 16, copied->trace_ids[copied->n]);
	digest_hex(record->span_id, 8, copied->span_ids[copied->n]);
	digest_hex(record->parent_id, 8, copied->parent_ids[copied->n]);
	copied->n_attrs = record->n_attrs;
	copied->n_dropped_attrs = record->n_dropped_attrs;
	for (size_t i = 0; i < record->n_attrs; i++)
		attr_text(&record->attrs[i], copied->attrs[i], 300);
	copied->duration_ns = record->duration_ns;
	copied->start_wall_ns = record->wall_ns;
	copied->failed = record->status == TELEMETRY_STATUS_ERROR;
	assert_true(record->duration_ns < 0 || !copied->failed || *record->status_text);
	return ++copied->n != copied->n_wanted;
}

static void test_attributes(void **state)
{
	char long_value[400], key[8];
	struct copied copied = { 0 };
	struct err err = { 0 };

	(void)state;
	struct telemetry *telemetry = telemetry_new(4, 1 << 20);
	struct telemetry_span *span = telemetry_span_start(telemetry, "x", NULL);
	memset(long_value, 'v', sizeof long_value - 1);
	long_value[sizeof long_value - 1] = 0;
	telemetry_span_set_str(span, "long", long_value);
	telemetry_span_set_str(span, "none", NULL);
	telemetry_span_set_int(span, "most", INT64_MAX);
	telemetry_span_set_int(span, "least", INT64_MIN);
	for (int i = 3; i < 16; i++) {
		snprintf(key, sizeof key, "k%d", i);
		telemetry_span_set_str(span, key, "");
	}
	uint64_t revision = telemetry_revision(telemetry);
	telemetry_span_set_str(span, "one more", "x");
	assert_int_equal(telemetry_revision(telemetry), revision);
	telemetry_each(telemetry, copy, &copied);
	assert_int_equal(copied.n_attrs, 16);
	long_value[256] = 0;
	assert_memory_equal(copied.attrs[0], "long=", 5);
	assert_string_equal(copied.attrs[0] + 5, long_value);
	assert_string_equal(copied.attrs[1], "most=9223372036854775807");
	assert_string_equal(copied.attrs[2], "least=-9223372036854775808");
	assert_string_equal(copied.attrs[15], "k15=");
	/* there is no room for the code among them, and it has failed all the same */
	err_set(&err, ERR_FILE_DENIED, "no");
	telemetry_span_end(span, &err);
	copied = (struct copied){ 0 };
	telemetry_each(telemetry, copy, &copied);
	assert_true(copied.failed);
	assert_int_equal(copied.n_attrs, 16);
	assert_int_equal(copied.n_dropped_attrs, 2);
	telemetry_free(telemetry);
}

static void test_what_is_counted(void **state)
{
	struct copied copied = { .n_wanted = 2 };

	(void)state;
	struct telemetry *telemetry = telemetry_new(0, 1 << 20); /* one is the least */
	assert_int_equal(telemetry_revision(telemetry), 0);
	assert_int_equal(telemetry_dropped(telemetry), 0);
	telemetry_each(telemetry, copy, &copied); /* none */
	assert_int_equal(copied.n, 0);
	telemetry_span_end(telemetry_span_start(telemetry, "a", NULL), NULL);
	assert_int_equal(telemetry_revision(telemetry), 2);
	struct telemetry_span *open = telemetry_span_start(telemetry, "b", NULL);
	assert_int_equal(telemetry_dropped(telemetry), 1);
	/* open ones stay, however many */
	struct telemetry_span *also_open = telemetry_span_start(telemetry, "c", open);
	assert_int_equal(telemetry_dropped(telemetry), 1);
	assert_int_equal(telemetry_revision(telemetry), 4);
	telemetry_span_set_str(open, "k", "v");
	telemetry_span_set_path(open, "path", "not wanted");
	assert_int_equal(telemetry_revision(telemetry), 5);
	telemetry_each(telemetry, copy, &copied);
	assert_int_equal(copied.n, 2);
	assert_int_equal(copied.sequences[0], 3);
	assert_int_equal(copied.sequences[1], 2);
	assert_string_equal(copied.trace_ids[0], copied.trace_ids[1]);
	assert_string_equal(copied.parent_ids[0], copied.span_ids[1]);
	assert_string_equal(copied.parent_ids[1], "0000000000000000");
	assert_int_equal(strlen(copied.trace_ids[0]), 32);
	assert_int_equal(strlen(copied.span_ids[0]), 16);
	assert_string_not_equal(copied.span_ids[0], copied.span_ids[1]);
	assert_true(copied.start_wall_ns > INT64_C(1600000000) * 1000000000);
	copied = (struct copied){ .n_wanted = 1 };
	telemetry_each(telemetry, copy, &copied); /* it stops when it is told to */
	assert_int_equal(copied.n, 1);
	telemetry_span_end(also_open, NULL);
	telemetry_span_end(open, NULL);
	telemetry_free(telemetry);
}

static void test_times(void **state)
{
	struct copied copied = { 0 };
	struct timespec before, after;

	(void)state;
	struct telemetry *telemetry = telemetry_new(1, 1 << 20);
	clock_gettime(CLOCK_MONOTONIC, &before);
	struct telemetry_span *span = telemetry_span_start(telemetry, "x", NULL);
	do {
		clock_gettime(CLOCK_MONOTONIC, &after);
	} while (after.tv_sec == before.tv_sec && after.tv_nsec - before.tv_nsec < 3000000);
	telemetry_span_end(span, NULL);
	clock_gettime(CLOCK_MONOTONIC, &after);
	telemetry_each(telemetry, copy, &copied);
	int64_t most = (int64_t)(after.tv_sec - before.tv_sec) * 1000000000 + after.tv_nsec -
		       before.tv_nsec;
	assert_true(copied.duration_ns > 0 && copied.duration_ns <= most);
	assert_false(copied.failed);
	telemetry_free(telemetry);
}

static void test_traceparent(void **state)
{
	char out[SPAN_TRACEPARENT_BYTES] = "old", wanted[100];
	struct copied copied = { 0 };

	(void)state;
	assert_string_equal(telemetry_span_traceparent(NULL, out), "");
	struct telemetry *telemetry = telemetry_new(1, 1 << 20);
	struct telemetry_span *span = telemetry_span_start(telemetry, "x", NULL);
	telemetry_each(telemetry, copy, &copied);
	snprintf(wanted, sizeof wanted, "00-%s-%s-01", copied.trace_ids[0], copied.span_ids[0]);
	assert_string_equal(telemetry_span_traceparent(span, out), wanted);
	assert_ptr_equal(telemetry_span_traceparent(span, out), out);
	telemetry_free(telemetry); /* with an open one */
	/* nobody listens */
	telemetry_each(NULL, copy, &copied);
	telemetry_set_paths(NULL, true);
	telemetry_span_set_path(NULL, "k", "v");
	assert_int_equal(telemetry_dropped(NULL), 0);
	assert_int_equal(copied.n, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_newest_first_and_parent),
		cmocka_unit_test(test_failure_has_the_code),
		cmocka_unit_test(test_paths_only_when_asked),
		cmocka_unit_test(test_ring_drops_the_oldest_finished),
		cmocka_unit_test(test_null_is_fine),
		cmocka_unit_test(test_attributes),
		cmocka_unit_test(test_what_is_counted),
		cmocka_unit_test(test_times),
		cmocka_unit_test(test_traceparent),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
