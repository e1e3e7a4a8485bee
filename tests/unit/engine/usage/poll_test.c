// SPDX-License-Identifier: Apache-2.0
// The metrics API asked while somebody looks: served, by name, missing, forbidden, hanging, broken, huge.
#include "tests/unit/engine/kube/api.h"

#include "engine/base/settings.h"
#include "engine/usage/poll.h"

enum answer { GOOD, MISSING, FORBIDDEN, SILENT, GARBAGE, NO_LIST, CUT, HUGE_ITEM, TEXT };

struct bed {
	struct api api; /* first */
	struct usage_poll *poll;
	enum answer answer;
	int n_pods;  /* of the list */
	int padding; /* bytes more of each */
	int lists, pods, changes;
	char last_path[256];
	uint32_t cpu;
};

static void reply_pod(struct str *out, const struct bed *bed, const char *name)
{
	str_addf(out,
		"{\"metadata\":{\"namespace\":\"demo\",\"name\":\"%s\",\"labels\":{\"pad\":\"%*s\"}},"
		"\"containers\":[{\"name\":\"c\",\"usage\":{\"cpu\":\"%um\",\"memory\":\"1Mi\"}}]}",
		name, bed->padding, "", bed->cpu);
}

static void reply_list(struct bed *bed, struct evhttp_request *request)
{
	struct str out;
	char name[32];
	str_init(&out, 64 << 20);
	str_add(&out, "{\"kind\":\"PodMetricsList\",\"items\":[");
	for (int i = 0; i < bed->n_pods; i++) {
		snprintf(name, sizeof name, "pod-%d", i);
		str_add(&out, i ? "," : "");
		reply_pod(&out, bed, name);
	}
	str_add(&out, "]}");
	api_reply(request, 200, "%s", out.p);
	str_deinit(&out);
}

static void handle(
	struct api *api, struct evhttp_request *request, const struct api_request *is)
{
	struct bed *bed = api->test;
	static const char prefix[] = "/apis/metrics.k8s.io/v1beta1/";
	assert_int_equal(strncmp(is->path, prefix, sizeof prefix - 1), 0);
	snprintf(bed->last_path, sizeof bed->last_path, "%s", is->path);
	bool is_list = strcmp(strrchr(is->path, '/'), "/pods") == 0;
	bed->lists += is_list;
	bed->pods += !is_list;
	switch (bed->answer) {
	case GOOD:
		if (is_list) {
			reply_list(bed, request);
		} else {
			struct str out;
			str_init(&out, 4096);
			reply_pod(&out, bed, strrchr(is->path, '/') + 1);
			api_reply(request, 200, "%s", out.p);
			str_deinit(&out);
		}
		break;
	case MISSING: /* as kube-apiserver answers for a group that nobody serves */
		api_reply(request, 404, "404 page not found\n");
		break;
	case FORBIDDEN:
		api_status(request, 403, "Forbidden", "pods.metrics.k8s.io is forbidden");
		break;
	case SILENT:
		break;
	case GARBAGE:
		api_reply(request, 200, "{\"items\":[{\"metadata\":{\"name\":\"pod-0\"]]");
		break;
	case NO_LIST:
		api_reply(request, 200, "[1,2,3]");
		break;
	case CUT:
		api_cut(request);
		break;
	case HUGE_ITEM:
		bed->padding = 300 << 10;
		reply_list(bed, request);
		break;
	case TEXT:
		api_reply(request, 200, "<html>log in first</html>");
		break;
	}
}

static void on_change(void *arg)
{
	((struct bed *)arg)->changes++;
}

static int set_up(void **state)
{
	struct bed *bed = x_calloc(1, sizeof *bed);
	struct err err = { 0 };
	assert_true(setting_set("usage-interval", "1s", &err));
	api_start(&bed->api, NULL, handle, bed);
	const struct usage_poll_opts opts = { bed->api.client, "demo", on_change, bed };
	bed->poll = usage_poll_new(&opts);
	bed->n_pods = 3;
	bed->cpu = 100;
	*state = bed;
	return 0;
}

static int tear_down(void **state)
{
	struct bed *bed = *state;
	usage_poll_free(bed->poll);
	usage_poll_free(NULL);
	api_stop(&bed->api);
	free(bed);
	return 0;
}

static const struct usage_series *find(const struct bed *bed, const char *pod)
{
	return usage_table_find(usage_poll_table(bed->poll), "demo", pod);
}

static void nobody_is_asked_before_somebody_looks(void **state)
{
	struct bed *bed = *state;
	API_FOR(&bed->api, 50);
	assert_int_equal(bed->lists, 0);
	struct usage_poll_state how = usage_poll_state_of(bed->poll);
	assert_false(how.is_asked || how.is_known);
	assert_int_equal(how.age_ms, -1);
	assert_int_equal(how.again_ms, -1);
	usage_poll_look(bed->poll);
	assert_int_equal(bed->lists, 0); /* not from within the call */
	API_UNTIL(&bed->api, find(bed, "pod-2"), 5000);
	assert_string_equal(
		bed->last_path, "/apis/metrics.k8s.io/v1beta1/namespaces/demo/pods");
	assert_int_equal(bed->changes, 1); /* for all of them */
	assert_int_equal(find(bed, "pod-2")->last.cpu_milli, 100);
	assert_int_equal(find(bed, "pod-2")->last.memory_bytes, 1 << 20);
	assert_int_equal(find(bed, "pod-2")->last.disk_bytes, -1);
	how = usage_poll_state_of(bed->poll);
	assert_true(how.is_asked && how.is_known);
	assert_null(how.err);
	bed->cpu = 250;
	uint64_t before = usage_table_revision(usage_poll_table(bed->poll));
	API_UNTIL(&bed->api, find(bed, "pod-0")->last.cpu_milli == 250, 5000);
	assert_true(usage_table_revision(usage_poll_table(bed->poll)) > before);
	usage_poll_look(bed->poll);
	usage_poll_set_namespace(bed->poll, "");
	int lists = bed->lists;
	API_UNTIL(&bed->api, bed->lists > lists, 5000);
	assert_string_equal(bed->last_path, "/apis/metrics.k8s.io/v1beta1/pods");
}

/* A long list is not asked for every second; those on the screen are. */
static void the_screen_is_asked_for_by_name_where_the_list_is_long(void **state)
{
	struct bed *bed = *state;
	static const struct usage_pod shown[] = { { "demo", "pod-7" }, { "demo", "pod-9" },
		{ "demo", "" } };
	bed->n_pods = 2000;
	bed->padding = 1000;
	usage_poll_shown(bed->poll, shown, 3);
	usage_poll_look(bed->poll);
	API_UNTIL(&bed->api, find(bed, "pod-1999"), 20000);
	assert_int_equal(bed->pods, 0);
	bed->cpu = 700;
	API_UNTIL(&bed->api,
		find(bed, "pod-7")->last.cpu_milli == 700 &&
			find(bed, "pod-9")->last.cpu_milli == 700,
		10000);
	assert_int_equal(bed->lists, 1);
	assert_int_equal(usage_poll_state_of(bed->poll).n_lists, 1);
	assert_int_equal(find(bed, "pod-8")->last.cpu_milli, 100);
}

static void only_the_named_are_asked_for(void **state)
{
	struct bed *bed = *state;
	const struct usage_pod shown = { "demo", "pod-1" };
	usage_poll_only_shown(bed->poll);
	usage_poll_shown(bed->poll, &shown, 1);
	usage_poll_look(bed->poll);
	API_UNTIL(&bed->api, find(bed, "pod-1"), 5000);
	assert_int_equal(bed->lists, 0);
	/* one that has not been measured yet is no failure */
	bed->answer = MISSING;
	int pods = bed->pods;
	API_UNTIL(&bed->api, bed->pods >= pods + 2, 5000);
	assert_null(usage_poll_state_of(bed->poll).err);
}

static void what_is_not_known_has_a_reason_and_is_asked_again_later(void **state)
{
	static const struct {
		enum answer answer;
		enum err_code code;
		int64_t min_ms, max_ms;
	} rows[] = {
		{ MISSING, ERR_KUBE_NOT_SERVED, 140000, 210000 },
		{ FORBIDDEN, ERR_KUBE_FORBIDDEN, 140000, 210000 },
		{ GARBAGE, ERR_KUBE_PROTOCOL, 20000, 60000 },
		{ NO_LIST, ERR_KUBE_PROTOCOL, 20000, 60000 },
		{ TEXT, ERR_KUBE_PROTOCOL, 20000, 60000 },
		{ CUT, ERR_KUBE_TRANSPORT, 20000, 60000 },
		{ HUGE_ITEM, ERR_LIMIT_RESPONSE, 20000, 60000 },
	};
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct bed *bed;
		set_up((void **)&bed);
		bed->answer = rows[i].answer;
		usage_poll_look(bed->poll);
		API_UNTIL(&bed->api, usage_poll_state_of(bed->poll).err, 10000);
		struct usage_poll_state how = usage_poll_state_of(bed->poll);
		if (how.err->code != rows[i].code)
			fail_msg("%zu: %s", i, how.err->msg);
		assert_false(how.is_known);
		assert_true(how.again_ms >= rows[i].min_ms && how.again_ms <= rows[i].max_ms);
		assert_int_equal(bed->changes, 1);
		tear_down((void **)&bed);
	}
}

/* What was known stays while it is not old, and a server that hangs is given up by the program's own clock. */
static void a_silent_server_costs_nothing_but_its_numbers(void **state)
{
	struct bed *bed = *state;
	usage_poll_look(bed->poll);
	API_UNTIL(&bed->api, find(bed, "pod-0"), 5000);
	bed->answer = SILENT;
	API_UNTIL(&bed->api, bed->lists == 2, 5000);
	usage_poll_look(bed->poll); /* as often as one likes */
	usage_poll_look(bed->poll);
	API_UNTIL(&bed->api, usage_poll_state_of(bed->poll).err, 20000);
	assert_int_equal(usage_poll_state_of(bed->poll).err->code, ERR_OP_TIMEOUT);
	assert_int_equal(bed->lists, 2);
	assert_non_null(find(bed, "pod-0"));
	/* another namespace may be answered: it is asked at once */
	bed->answer = GOOD;
	usage_poll_set_namespace(bed->poll, "other");
	API_UNTIL(&bed->api, usage_poll_state_of(bed->poll).is_known, 5000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			nobody_is_asked_before_somebody_looks, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			the_screen_is_asked_for_by_name_where_the_list_is_long, set_up,
			tear_down),
		cmocka_unit_test_setup_teardown(
			only_the_named_are_asked_for, set_up, tear_down),
		cmocka_unit_test(what_is_not_known_has_a_reason_and_is_asked_again_later),
		cmocka_unit_test_setup_teardown(
			a_silent_server_costs_nothing_but_its_numbers, set_up, tear_down),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
