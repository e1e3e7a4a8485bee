// SPDX-License-Identifier: Apache-2.0
// The detail view: objects as lines, hostile values, folding, the direct runtime; and folding itself.
#include "tests/unit/tui/views/fake.h"

#include "engine/base/json.h"
#include "tui/views/detail/sections.h"
#include "tui/widgets/wrap.h"

static const char claim_json[] =
	"{\"metadata\":{\"labels\":{\"app\":\"x\\u001b[31m\",\"very.long.example.com/label\":\"v\"}},"
	"\"status\":{\"conditions\":[{\"type\":\"Ready\",\"status\":\"False\",\"reason\":\"R\","
	"\"message\":\"m\\nn\",\"lastTransitionTime\":\"2026-01-02T03:04:05Z\"},"
	"{\"type\":\"Suspended\",\"status\":\"True\"},{\"type\":\"DisruptionTarget\",\"status\":"
	"\"False\"},7,{\"type\":5}]}}";
static const char pod_json[] =
	"{\"status\":{\"containerStatuses\":[{\"name\":\"main\",\"ready\":false,\"restartCount\":3,"
	"\"image\":\"img\",\"state\":{\"waiting\":{\"reason\":\"CrashLoopBackOff\"}},\"lastState\":"
	"{\"terminated\":{\"exitCode\":137,\"reason\":\"OOMKilled\"}}}]}}";

static const struct views_detail_line *find(
	const struct views_detail_lines *lines, const char *label)
{
	for (size_t i = 0; i < lines->n; i++)
		if (strcmp(lines->lines[i].label, label) == 0)
			return &lines->lines[i];
	return NULL;
}

static void sections_clear(struct views_detail_section sections[DETAIL_SECTIONS])
{
	for (int i = 0; i < DETAIL_SECTIONS; i++)
		views_detail_clear(&sections[i].lines);
}

static void test_objects(void **state)
{
	struct err err;
	cJSON *claim = json_parse(slice_of(claim_json), &err);
	cJSON *pod = json_parse(slice_of(pod_json), &err);
	struct fleet_detail objects = { .claim = claim, .pod = pod };
	struct views_detail_section sections[DETAIL_SECTIONS] = { 0 };
	(void)state;
	assert_non_null(claim);
	assert_non_null(pod);
	views_detail_read_objects(sections, &objects);
	const struct views_detail_section *conditions = &sections[DETAIL_CONDITIONS];
	/* what is not fine stands first, and stays */
	assert_int_equal(conditions->n, 3);
	assert_int_equal(conditions->n_bad, 2);
	assert_true(conditions->is_bad);
	const struct views_detail_line *ready = &conditions->lines.lines[0];
	assert_string_equal(ready->label, "Ready");
	assert_string_equal(ready->text, "False  R: m\nn (claim)");
	assert_int_equal(ready->role, ROLE_WARNING);
	assert_true(ready->when_ms == 1767323045000);
	assert_string_equal(conditions->lines.lines[1].label, "Suspended");
	assert_string_equal(conditions->lines.lines[2].label, "DisruptionTarget");
	assert_int_equal(conditions->lines.lines[2].role, ROLE_OK);
	const struct views_detail_section *containers = &sections[DETAIL_CONTAINERS];
	assert_true(containers->is_bad);
	assert_string_equal(find(&containers->lines, "main")->text,
		"waiting: CrashLoopBackOff , not ready  img  3 restarts, before that ended with 137 "
		"(OOMKilled)");
	assert_true(find(&sections[DETAIL_LABELS].lines, "app")->is_pair);
	assert_true(find(&sections[DETAIL_LABELS].lines, "of the claim")->is_title);
	assert_int_equal(sections[DETAIL_LABELS].n, 2);
	sections_clear(sections);
	cJSON_Delete(claim);
	cJSON_Delete(pod);
}

static void test_nothing_crashes_on_other_shapes(void **state)
{
	static const char *const shapes[] = { "{}", "{\"status\":7,\"metadata\":[]}",
		"{\"status\":{\"conditions\":{},\"containerStatuses\":[{},null,[]]}}",
		"{\"metadata\":{\"labels\":{\"a\":{}},\"annotations\":\"x\"}}" };
	(void)state;
	for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
		struct err err;
		cJSON *object = json_parse(slice_of(shapes[i]), &err);
		struct fleet_detail objects = {
			.claim = object, .sandbox = object, .pod = object
		};
		struct views_detail_section sections[DETAIL_SECTIONS] = { 0 };
		assert_non_null(object);
		views_detail_read_objects(sections, &objects);
		sections_clear(sections);
		cJSON_Delete(object);
	}
}

/* Every part can be walked to, turned, named; what is not there is left out. */
static void test_parts_fold(void **state)
{
	struct views_detail_section sections[DETAIL_SECTIONS] = { 0 };
	struct views_detail_folds folds = { .current = -1 };
	struct err err;
	(void)state;
	views_detail_add(&sections[DETAIL_EVENTS].lines, "e", ROLE_TEXT, "x", 0);
	views_detail_add(&sections[DETAIL_LABELS].lines, "l", ROLE_TEXT, "x", 0);
	sections[DETAIL_EVENTS].is_bad = true;
	assert_true(views_detail_unfold(&folds, sections, "next", &err));
	assert_int_equal(folds.current, DETAIL_EVENTS);
	assert_true(views_detail_unfold(&folds, sections, "", &err)); /* it was open */
	assert_int_equal(folds.closed, 1u << DETAIL_EVENTS);
	assert_true(views_detail_unfold(&folds, sections, "next", &err));
	assert_int_equal(folds.current, DETAIL_LABELS);
	assert_true(views_detail_unfold(&folds, sections, "next", &err));
	assert_int_equal(folds.current, DETAIL_EVENTS);
	assert_true(views_detail_unfold(&folds, sections, "previous", &err));
	assert_int_equal(folds.current, DETAIL_LABELS);
	assert_true(views_detail_unfold(&folds, sections, "labels", &err));
	assert_int_equal(folds.opened, 1u << DETAIL_LABELS);
	assert_true(views_detail_unfold(&folds, sections, "none", &err));
	assert_int_equal(folds.opened, 0);
	assert_false(views_detail_unfold(&folds, sections, "nothing", &err));
	assert_string_equal(err.msg, "unfold: there is no part 'nothing'");
	sections_clear(sections);
}

static void test_the_direct_runtime(void **state)
{
	struct fake *fake = fake_new(false);
	struct err err;
	struct view_args args = { 0 };
	(void)state;
	struct view *view = view_detail.open(&fake->host, &args, &err);
	assert_non_null(view);
	char *text = fake_draw(view, 60, 8);
	assert_string_equal(text, "http://127.0.0.1:1\n"
				  "  address          http://127.0.0.1:1\n"
				  "\n"
				  "Daemon\n"
				  "  health           asking …\n"
				  "\n\n\n");
	free(text);
	assert_true(fake_command(view, "refresh", "", &err));
	assert_true(fake_command(view, "move", "last", &err));
	assert_false(fake_command(view, "move", "sideways", &err));
	free(fake_draw(view, 40, 3));
	view->class->free(view); /* with questions to the daemon under way */
	fake_free(fake);
}

static void test_fold(void **state)
{
	static const struct {
		const char *text;
		int cols;
		const char *want;
	} cases[] = {
		{ "", 10, "|" }, { "short", 10, "short|" }, { "two words", 5, "two|words|" },
		{ "a bb ccc", 4, "a bb|ccc|" }, { "abcdefgh", 3, "abc|def|gh|" },
		{ "a\n\nb", 5, "a||b|" },
		{ "\x1b\x1b\x1b", 4, "\x1b\x1b|\x1b|" }, /* each is shown as ^[ */
		{ "字字字", 4, "字字|字|" },
		{ "x", 0, "x|" }, /* no room: it gets on all the same */
	};
	(void)state;
	setlocale(LC_CTYPE, "C.UTF-8");
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct slice rest = slice_of(cases[i].text);
		struct str out;
		int rows = 0;
		str_init(&out, 256);
		do {
			size_t skip, n = widget_wrap_next(rest, cases[i].cols, &skip);
			str_add_bytes(&out, rest.p, n);
			str_add_char(&out, '|');
			rest.p += n + skip;
			rest.n -= n + skip;
			rows++;
		} while (rest.n);
		assert_string_equal(out.p, cases[i].want);
		assert_int_equal(
			rows, widget_wrap_rows(slice_of(cases[i].text), cases[i].cols));
		str_deinit(&out);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_objects),
		cmocka_unit_test(test_parts_fold),
		cmocka_unit_test(test_nothing_crashes_on_other_shapes),
		cmocka_unit_test(test_the_direct_runtime),
		cmocka_unit_test(test_fold),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
