// SPDX-License-Identifier: Apache-2.0
/* What a sandbox uses, joined to its row by the name of its pod, against what the pod may use. */
#include "objects.h"

#include "engine/fleet/kind.h"
#include "engine/fleet/usage.h"
#include "engine/usage/table.h"

enum { NOW_S = 1767000000, MIB = 1 << 20 };

struct bed {
	struct fleet_store store; /* first */
	struct usage_table *table;
	int told;
};

static void on_change(void *arg)
{
	((struct bed *)arg)->told++;
}

static int set_up(void **state)
{
	struct bed *bed = x_calloc(1, sizeof *bed);
	fleet_store_init(&bed->store, on_change, bed);
	bed->table = bed->store.usage = usage_table_new();
	usage_table_set_now(bed->table, NOW_S, 60);
	*state = bed;
	return 0;
}

static int tear_down(void **state)
{
	struct bed *bed = *state;
	fleet_store_deinit(&bed->store);
	usage_table_free(bed->table);
	free(bed);
	return 0;
}

static void put_pod(struct bed *bed, const char *uid, const char *spec)
{
	char *text = x_asprintf(
		"{'metadata':{'name':'s','namespace':'n','uid':'%s','creationTimestamp':"
		"'2026-01-01T00:00:02Z','ownerReferences':[{'kind':'Sandbox','name':'s','uid':'" SANDBOX_UID
		"','controller':true}]},'spec':{%s},'status':{'phase':'Running'}}",
		uid, spec);
	apply(&bed->store, STORE_PODS, KUBE_MODIFIED, text);
	free(text);
}

static const struct fleet_row *put_all(struct bed *bed, const char *spec)
{
	char *claim = claim_json("", "", ""), *sandbox = sandbox_json(OF_CLAIM, "", CONDS(""));
	apply(&bed->store, STORE_CLAIMS, KUBE_MODIFIED, claim);
	apply(&bed->store, STORE_SANDBOXES, KUBE_MODIFIED, sandbox);
	free(claim);
	free(sandbox);
	put_pod(bed, POD_UID, spec);
	return &fleet_store_find(&bed->store, CLAIM_UID)->shown;
}

static bool measure(
	struct bed *bed, uint32_t at_s, uint32_t cpu_milli, int64_t memory, int64_t disk)
{
	struct usage_sample sample = { at_s, cpu_milli, memory, disk };
	return usage_table_add(bed->table, "n", "s", &sample);
}

#define LIMITS(list)                                                                           \
	"'resources':{'limits':{" list "},'requests':{'cpu':'100m','memory':'64Mi'}}"

static void a_row_shows_what_its_pod_uses(void **state)
{
	struct bed *bed = *state;
	int16_t history[RESOURCE_HISTORY_MAX];
	const struct fleet_row *row = put_all(bed,
		"'containers':[{" LIMITS("'cpu':'1500m','memory':'100Mi','ephemeral-storage':'10Gi'") "},{" LIMITS(
			"'cpu':'0.5','memory':'100Mi','ephemeral-storage':'10Gi'") "}]");
	assert_int_equal(row->limits.cpu_milli, 2000);
	assert_int_equal(row->limits.cpu_request_milli, 200);
	assert_int_equal(row->limits.memory_bytes, 200 * MIB);
	assert_int_equal(row->limits.memory_request_bytes, 128 * MIB);
	assert_int_equal(row->limits.disk_bytes, (int64_t)20 << 30);
	struct fleet_use use = fleet_use_of(row, USAGE_CPU);
	assert_false(use.is_known);
	assert_int_equal(use.limit, 2000);
	assert_int_equal(fleet_use_history(row, USAGE_CPU, history, RESOURCE_HISTORY_MAX), 0);
	assert_true(fleet_cpu_order(row) > 0); /* behind all that are known */

	int told = bed->told;
	uint64_t revision = bed->store.revision;
	assert_true(measure(bed, NOW_S - 15, 500, 100 * MIB, -1));
	assert_true(measure(bed, NOW_S, 1000, 190 * MIB, 5 * MIB));
	use = fleet_use_of(row, USAGE_CPU);
	assert_true(use.is_known);
	assert_int_equal(use.amount, 1000);
	assert_int_equal(use.request, 200);
	assert_int_equal(use.share, 500);
	assert_int_equal(fleet_use_of(row, USAGE_MEMORY).share, 950);
	assert_int_equal(fleet_memory_tone(row), RESOURCE_BAD);
	assert_int_equal(fleet_cpu_tone(row), RESOURCE_PLAIN);
	assert_int_equal(fleet_use_of(row, USAGE_DISK).amount, 5 * MIB);
	assert_int_equal(fleet_use_history(row, USAGE_CPU, history, RESOURCE_HISTORY_MAX), 2);
	assert_in_range(history[0], 235, 265);
	assert_in_range(history[1], 470, 530);
	assert_int_equal(fleet_cpu_order(row), -1000);
	/* no row has changed by it */
	assert_int_equal(bed->told, told);
	assert_int_equal(bed->store.revision, revision);
}

static void without_a_limit_it_is_a_number_and_a_shape(void **state)
{
	struct bed *bed = *state;
	int16_t history[RESOURCE_HISTORY_MAX];
	char text[RESOURCE_CELL_BYTES];
	int cpu = resource_find_column(&fleet_sandbox_kind, "cpu");
	/* one of the two has none: together they may use anything */
	const struct fleet_row *row = put_all(
		bed, "'containers':[{" LIMITS("'cpu':'1','memory':'1Gi'") "},{'name':'b'}]");
	assert_int_equal(row->limits.cpu_milli, 0);
	assert_int_equal(row->limits.memory_bytes, 0);
	assert_int_equal(row->limits.cpu_request_milli, 100);
	const struct resource_column *column = &fleet_sandbox_kind.columns[cpu];
	assert_string_equal(resource_text(column, row, 0, text), "-");
	measure(bed, NOW_S - 15, 4, MIB, -1);
	measure(bed, NOW_S, 8, MIB, -1);
	assert_int_equal(fleet_use_of(row, USAGE_CPU).share, -1);
	assert_false(column->value(row).is_known);
	assert_string_equal(resource_text(column, row, 0, text), "8m");
	assert_int_equal(column->history(row, history, RESOURCE_HISTORY_MAX), 2);
	assert_int_equal(history[0], 500);
	assert_int_equal(history[1], 1000);
	/* the backend here does not count what is in the workspace */
	assert_false(fleet_use_of(row, USAGE_DISK).is_known);
}

static void a_limit_of_the_pod_itself_counts(void **state)
{
	struct bed *bed = *state;
	const struct fleet_row *row = put_all(bed,
		"'resources':{'limits':{'cpu':'3'}},'containers':[{" LIMITS("'cpu':'1'") "}]");
	assert_int_equal(row->limits.cpu_milli, 3000);
	put_pod(bed, POD_UID, "'resources':7,'containers':{'x':[]}");
	assert_int_equal(row->limits.cpu_milli, 0);
}

static void another_pod_of_the_name_begins_anew(void **state)
{
	struct bed *bed = *state;
	const struct fleet_row *row = put_all(bed, "'containers':[]");
	measure(bed, NOW_S, 700, MIB, -1);
	assert_true(fleet_use_of(row, USAGE_CPU).is_known);
	apply(&bed->store, STORE_PODS, KUBE_DELETED,
		"{'metadata':{'name':'s','namespace':'n','uid':'" POD_UID "'}}");
	put_pod(bed, "33333333-0000-4000-8000-000000000002", "'containers':[]");
	assert_string_equal(row->pod_uid, "33333333-0000-4000-8000-000000000002");
	assert_false(fleet_use_of(row, USAGE_CPU).is_known);
	assert_false(measure(bed, NOW_S, 700, MIB, -1)); /* the old one's, told late */
	usage_table_set_now(bed->table, NOW_S + 20, 60);
	assert_true(measure(bed, NOW_S + 20, 5, MIB, -1));
	assert_int_equal(fleet_use_of(row, USAGE_CPU).amount, 5);
	/* the row goes: a sandbox of that name later is another one */
	apply(&bed->store, STORE_CLAIMS, KUBE_DELETED,
		"{'metadata':{'name':'c','namespace':'n','uid':'" CLAIM_UID "'}}");
	assert_null(usage_table_find(bed->table, "n", "s"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			a_row_shows_what_its_pod_uses, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			without_a_limit_it_is_a_number_and_a_shape, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			a_limit_of_the_pod_itself_counts, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			another_pod_of_the_name_begins_anew, set_up, tear_down),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
