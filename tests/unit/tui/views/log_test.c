// SPDX-License-Identifier: Apache-2.0
// The log: order, indent, filter, errors at the end, following and standing still.
#include "tests/unit/tui/views/fake.h"

#include "engine/base/log.h"
#include "tests/unit/tui/script/picture.h"

#include "tui/views/log/snapshot.h"

static struct telemetry *some_spans(void)
{
	struct telemetry *telemetry = telemetry_new(100, 1 << 20);
	struct err err;
	err_set(&err, ERR_FILE_DENIED, "no");
	struct telemetry_span *parent = telemetry_span_start(telemetry, "first", NULL);
	struct telemetry_span *child = telemetry_span_start(telemetry, "second", parent);
	struct telemetry_span *grandchild = telemetry_span_start(telemetry, "third", child);
	telemetry_span_set_str(grandchild, "sandbox.label", "evil\x1b[31m");
	telemetry_span_end(grandchild, &err);
	telemetry_span_end(child, NULL);
	telemetry_span_end(parent, NULL);
	telemetry_span_start(telemetry, "fourth", NULL);
	return telemetry;
}

static const struct views_log_snapshot_row *find(
	const struct views_log_snapshot *rows, const char *name)
{
	for (size_t i = 0; i < rows->n; i++)
		if (strstr(rows->rows[i].name, name))
			return &rows->rows[i];
	return NULL;
}

static void test_rows(void **state)
{
	struct telemetry *telemetry = some_spans();
	struct views_log_snapshot rows = { 0 };
	(void)state;
	views_log_snapshot_take(&rows, telemetry, "", false);
	assert_int_equal(rows.n_spans, 4);
	assert_int_equal(rows.n_failed, 1);
	assert_int_equal(find(&rows, "first")->depth, 0);
	assert_int_equal(find(&rows, "second")->depth, 1);
	assert_int_equal(find(&rows, "third")->depth, 2);
	assert_true(find(&rows, "third")->has_failed);
	assert_string_equal(find(&rows, "third")->code, "file.denied");
	assert_true(find(&rows, "fourth")->is_open);
	assert_true(find(&rows, "first") < find(&rows, "second"));
	views_log_snapshot_take(&rows, telemetry, "THIRD", false);
	assert_int_equal(rows.n, 1);
	assert_int_equal(rows.rows[0].depth, 0); /* its parents are not in the picture */
	views_log_snapshot_take(
		&rows, telemetry, "file.DENIED", false); /* what it failed with */
	assert_int_equal(rows.n, 1);
	views_log_snapshot_take(&rows, telemetry, "label=evil", false); /* what it says */
	assert_int_equal(rows.n, 1);
	views_log_snapshot_take(&rows, telemetry, "", true);
	assert_true(views_log_snapshot_row_is_bad(&rows.rows[rows.n - 1]));
	views_log_snapshot_take(&rows, NULL, "no such text", false);
	assert_int_equal(rows.n, 0);
	views_log_snapshot_clear(&rows);
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
		struct telemetry_span *span =
			telemetry_span_start(engine_telemetry(fake->host.engine), name, NULL);
		telemetry_span_set_int(span, "sandbox.file.count", i);
		telemetry_span_end(span, NULL);
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
	struct telemetry_span *span =
		telemetry_span_start(engine_telemetry(fake->host.engine), "run", NULL);
	telemetry_span_set_str(span, "sandbox.label", "a\x1b]0;title\x07\nb");
	telemetry_span_end(span, NULL);
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

/* One span that took so long, by clocks that stand. */
static void took(struct fake *fake, const char *name, int64_t ns, enum err_code code)
{
	struct err err;
	err_set(&err, code, "no");
	clock_set_for_tests(1000000000, 1767312000123000000);
	struct telemetry_span *span =
		telemetry_span_start(engine_telemetry(fake->host.engine), name, NULL);
	telemetry_span_set_int(span, "sandbox.file.count", 7);
	clock_set_for_tests(1000000000 + ns, 1767312000123000000 + ns);
	telemetry_span_end(span, code == ERR_NONE ? NULL : &err);
}

static char *picture_of(struct view *view, int cols, int rows)
{
	struct picture last = { 0 };
	struct str out;
	struct draw_surface *surface = draw_surface_new(cols, rows);
	str_init(&out, 1 << 16);
	draw_region_fill(draw_region_whole(surface), host_style(view->host, ROLE_TEXT));
	view->class->draw(view, draw_region_whole(surface), true);
	picture_add(&last, surface, &out);
	picture_deinit(&last);
	draw_surface_free(surface);
	char *text = str_take(&out);
	str_deinit(&out);
	return text;
}

static void test_every_kind_of_row(void **state)
{
	static const char want[] =
		" 0|11 lines  6 spans  2 failed\n"
		"  |ddddddddbbbbbbbbbxxxxxxxxxx\n"
		" 1|00:00:00.123      0µs sandmux.a                     ok sandbox.file.count=7\n"
		"  |bbbbbbbbbbbb......bbb...............................zz.bbbbbbbbbbbbbbbbbbbb\n"
		" 2|00:00:00.123    999µs sandmux.b                     ok sandbox.file.count=7\n"
		"  |bbbbbbbbbbbb....bbbbb...............................zz.bbbbbbbbbbbbbbbbbbbb\n"
		" 3|00:00:00.123      1ms sandmux.c                     file.denied sandbox.file.co…\n"
		"  |bbbbbbbbbbbb......bbb...............................xxxxxxxxxxx.xxxxxxxxxxxxxxxx\n"
		" 4|00:00:00.123   9999ms sandmux.d                     ok sandbox.file.count=7\n"
		"  |bbbbbbbbbbbb...bbbbbb...............................zz.bbbbbbbbbbbbbbbbbbbb\n"
		" 5|00:00:00.123      10s sandmux.e                     op.timeout sandbox.file.cou…\n"
		"  |bbbbbbbbbbbb......bbb...............................xxxxxxxxxx.bbbbbbbbbbbbbbbbb\n"
		" 6|00:00:20.000    error kube                          an error\n"
		"  |bbbbbbbbbbbb....xxxxx\n"
		" 7|00:00:20.000     warn kube                          a warning\n"
		"  |bbbbbbbbbbbb.....yyyy\n"
		" 8|00:00:20.000     info kube                          news\n"
		"  |bbbbbbbbbbbb.....bbbb\n"
		" 9|00:00:20.000    debug kube                          a detail\n"
		"  |bbbbbbbbbbbb....bbbbb\n"
		"10|00:00:20.000    trace kube                          a step\n"
		"  |bbbbbbbbbbbb....bbbbb\n"
		"11|00:00:20.000        … sandmux.open                  open\n"
		"  |jjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjj\n"
		"12|\n"
		"13|\n";
	struct fake *fake = *state;
	struct err err;
	struct view_args args = { 0 };
	setenv("TZ", "UTC", 1);
	picture_theme(&fake->theme);
	assert_true(log_configure("trace", &err));
	struct view *view = view_log.open(&fake->host, &args, &err);
	took(fake, "a", 999, ERR_NONE);
	took(fake, "b", 999999, ERR_NONE);
	took(fake, "c", 1000000, ERR_FILE_DENIED);
	took(fake, "d", 9999999999, ERR_NONE);
	took(fake, "e", 10000000000, ERR_OP_TIMEOUT);
	clock_set_for_tests(20000000000, 1767312020000000000);
	telemetry_span_start(engine_telemetry(fake->host.engine), "open", NULL);
	log_write("kube", LOG_ERROR, "an error");
	log_write("kube", LOG_WARN, "a warning");
	log_write("kube", LOG_INFO, "news");
	log_write("kube", LOG_DEBUG, "a detail");
	log_write("kube", LOG_TRACE, "a step");
	char *text = picture_of(view, 80, 14);
	assert_string_equal(text, want);
	free(text);
	clock_set_for_tests(-1, -1);
	view->class->free(view);
}

/* More than are kept: it is said how many went. */
static void test_older_ones_are_dropped(void **state)
{
	struct fake *fake = *state;
	struct err err;
	struct view_args args = { 0 };
	struct view *view = view_log.open(&fake->host, &args, &err);
	char words[64];
	add_spans(fake, 5000, "many");
	snprintf(words, sizeof words, "  %llu older ones dropped",
		(unsigned long long)telemetry_dropped(engine_telemetry(fake->host.engine)));
	char *text = fake_draw(view, 100, 12);
	assert_non_null(strstr(text, words));
	assert_null(strstr(text, "  0 older"));
	free(text);
	assert_int_equal(view->class->redraw_after_ms(view), 1000);
	add_spans(fake, 1, "news");
	assert_int_equal(view->class->redraw_after_ms(view), 100);
	view->class->free(view);
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows),
		CASE(test_it_follows_until_one_moves_up),
		CASE(test_hostile_attributes_and_the_strip),
		CASE(test_every_kind_of_row),
		CASE(test_older_ones_are_dropped),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
