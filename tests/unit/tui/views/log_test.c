// SPDX-License-Identifier: Apache-2.0
// The log: order, indent, filter, errors at the end, following and standing still.
#include "tests/unit/tui/views/fake.h"

#include "tui/views/log_rows.h"

static struct telemetry *some_spans(void)
{
	struct telemetry *telemetry = telemetry_new(100);
	struct err err;
	err_set(&err, ERR_FILE_DENIED, "no");
	struct span *parent = span_start(telemetry, "first", NULL);
	struct span *child = span_start(telemetry, "second", parent);
	struct span *grandchild = span_start(telemetry, "third", child);
	span_set_str(grandchild, "sandbox.label", "evil\x1b[31m");
	span_end(grandchild, &err);
	span_end(child, NULL);
	span_end(parent, NULL);
	span_start(telemetry, "fourth", NULL);
	return telemetry;
}

static const struct log_row *find(const struct log_rows *rows, const char *name)
{
	for (size_t i = 0; i < rows->n; i++)
		if (strstr(rows->rows[i].name, name))
			return &rows->rows[i];
	return NULL;
}

static void test_rows(void **state)
{
	struct telemetry *telemetry = some_spans();
	struct log_rows rows = { 0 };
	(void)state;
	log_rows_take(&rows, telemetry, "", false);
	assert_int_equal(rows.n_spans, 4);
	assert_int_equal(rows.n_failed, 1);
	assert_int_equal(find(&rows, "first")->depth, 0);
	assert_int_equal(find(&rows, "second")->depth, 1);
	assert_int_equal(find(&rows, "third")->depth, 2);
	assert_true(find(&rows, "third")->has_failed);
	assert_string_equal(find(&rows, "third")->code, "file.denied");
	assert_true(find(&rows, "fourth")->is_open);
	assert_true(find(&rows, "first") < find(&rows, "second"));
	log_rows_take(&rows, telemetry, "THIRD", false);
	assert_int_equal(rows.n, 1);
	assert_int_equal(rows.rows[0].depth, 0); /* its parents are not in the picture */
	log_rows_take(&rows, telemetry, "", true);
	assert_true(log_row_is_bad(&rows.rows[rows.n - 1]));
	log_rows_take(&rows, NULL, "no such text", false);
	assert_int_equal(rows.n, 0);
	log_rows_clear(&rows);
	telemetry_free(telemetry);
}

static int setup(void **state)
{
	*state = fake_new(false);
	return 0;
}

static int teardown(void **state)
{
	fake_free(*state);
	return 0;
}

static void add_spans(struct fake *fake, int n, const char *name)
{
	for (int i = 0; i < n; i++) {
		struct span *span = span_start(engine_telemetry(fake->host.engine), name, NULL);
		span_set_int(span, "sandbox.file.count", i);
		span_end(span, NULL);
	}
}

static void test_it_follows_until_one_moves_up(void **state)
{
	struct fake *fake = *state;
	struct err err;
	struct view_args args = { 0 };
	struct view *view = view_log.open(&fake->host, &args, &err);
	add_spans(fake, 30, "early");
	free(fake_draw(view, 100, 12));
	assert_true(fake_command(view, "move", "up", &err));
	add_spans(fake, 5, "late");
	char *text = fake_draw(view, 100, 12);
	assert_null(strstr(text, "sandmux.late"));
	assert_non_null(strstr(text, "paused, there is more"));
	free(text);
	assert_true(fake_command(view, "pause", "", &err)); /* go on */
	text = fake_draw(view, 100, 12);
	assert_non_null(strstr(text, "sandmux.late"));
	assert_null(strstr(text, "paused"));
	free(text);
	view->class->filter(view, "count=3");
	text = fake_draw(view, 100, 12);
	assert_null(strstr(text, "count=4"));
	assert_non_null(strstr(text, "count=3"));
	free(text);
	view->class->filter(view, "no such thing");
	text = fake_draw(view, 100, 12);
	assert_non_null(strstr(text, "Nothing fits the filter."));
	free(text);
	view->class->free(view);
}

static void test_hostile_attributes_and_the_strip(void **state)
{
	struct fake *fake = *state;
	struct err err;
	struct view_args args = { 0 };
	struct view *view = view_log.open(&fake->host, &args, &err);
	struct span *span = span_start(engine_telemetry(fake->host.engine), "run", NULL);
	span_set_str(span, "sandbox.label", "a\x1b]0;title\x07\nb");
	span_end(span, NULL);
	char *text = fake_draw(view, 100, 4);
	assert_null(strchr(text, '\x1b'));
	assert_null(strchr(text, '\x07'));
	assert_null(strstr(text, "1 spans")); /* no head in a strip */
	assert_non_null(strstr(text, "sandmux.run"));
	free(text);
	assert_true(fake_command(view, "show", "", &err));
	text = fake_draw_dialog(fake, 80, 20);
	assert_null(strchr(text, '\x1b'));
	assert_non_null(strstr(text, "status    ok"));
	free(text);
	view->class->free(view);
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows),
		CASE(test_it_follows_until_one_moves_up),
		CASE(test_hostile_attributes_and_the_strip),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
