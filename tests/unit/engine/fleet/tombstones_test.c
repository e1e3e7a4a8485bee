// SPDX-License-Identifier: Apache-2.0
/* What stays of a sandbox that is no more: its row in lists and nowhere else, its events, its story; for a time and a
 * number, until dismissed. */
#include "objects.h"

#include "engine/fleet/fleet_internal.h"
#include "engine/fleet/source.h"
#include "engine/fleet/story.h"
#include "engine/fleet/tombstones.h"

static struct fleet fleet;

static void on_change(void *arg)
{
	(void)arg;
}

static int set_up(void **state)
{
	(void)state;
	memset(&fleet, 0, sizeof fleet);
	fleet_store_init(&fleet.store, on_change, NULL);
	for (int i = 0; i < STORE_KIND_COUNT; i++)
		fleet.store.is_synced[i] = true;
	fleet.store.max_tombstones = 3;
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	fleet_store_deinit(&fleet.store);
	return 0;
}

/* n: a digit of its uid and of its name */
static void claim(int n, enum kube_change change, const char *extra)
{
	char *text = x_asprintf(
		"{'metadata':{'name':'c%d','namespace':'n','uid':'11111111-0000-4000-8000-00000000000%d"
		"','creationTimestamp':'2026-01-01T00:00:00Z'%s},'spec':{'warmPoolRef':{'name':'p'}},"
		"'status':{'conditions':[{'type':'Ready','status':'True','reason':'DependenciesReady',"
		"'lastTransitionTime':'2026-01-01T00:00:02Z'}]}}",
		n, n, extra);
	apply(&fleet.store, STORE_CLAIMS, change, text);
	free(text);
}

static const char *uid(int n)
{
	static char text[FLEET_UID_BYTES];
	snprintf(text, sizeof text, "11111111-0000-4000-8000-00000000000%d", n);
	return text;
}

struct seen {
	int n_rows, n_gone;
	char states[200];
};

static void see(void *arg, const char *which, const void *row)
{
	struct seen *seen = arg;
	const struct fleet_row *r = row;
	size_t n = strlen(seen->states);
	assert_non_null(which);
	if (row == NULL)
		seen->n_gone++;
	else
		seen->n_rows++;
	snprintf(seen->states + n, sizeof seen->states - n, "%s=%s ", which + 35,
		r ? fleet_state_name(r->state) : "gone");
}

static struct seen changes(uint64_t since)
{
	struct seen seen = { 0 };
	struct resource_source source = fleet_source(&fleet);
	source.ops->changes(source.self, since, see, &seen);
	return seen;
}

static void it_stays_in_lists_and_nowhere_else(void **state)
{
	(void)state;
	claim(1, KUBE_ADDED, "");
	claim(2, KUBE_ADDED, "");
	uint64_t before = fleet_revision(&fleet);
	claim(1, KUBE_MODIFIED, ",'deletionTimestamp':'2026-01-01T00:01:00Z'");
	claim(1, KUBE_DELETED, ",'deletionTimestamp':'2026-01-01T00:01:00Z'");
	/* for a list it has changed: no jump */
	assert_string_equal("1=Deleted ", changes(before).states);
	assert_int_equal(0, changes(fleet_revision(&fleet)).n_rows);
	struct resource_source source = fleet_source(&fleet);
	const struct fleet_row *row = source.ops->find(source.self, uid(1));
	assert_non_null(row);
	assert_string_equal("c1", row->claim);
	assert_string_equal("deletion was asked for; it was Ready", row->why);
	assert_string_equal("", row->next);
	assert_int_equal(1, fleet.store.by_state[FLEET_DELETED]);
	/* operations, names and the headless do not know it */
	struct err err = { 0 };
	assert_null(fleet_find(&fleet, uid(1)));
	assert_null(fleet_find_name(&fleet, "n", "c1", &err));
	assert_null(fleet_op_row(&fleet, uid(1), &err));
	assert_int_equal(1, fleet_count(&fleet));
	struct seen all = { 0 };
	source.ops->each(source.self, see, &all);
	assert_string_equal("2=Ready 1=Deleted ", all.states);
	/* its story has an end */
	struct fleet_story_entry story[FLEET_STORY_MAX];
	size_t n = fleet_story(&fleet, uid(1), story, FLEET_STORY_MAX);
	assert_int_equal(4, n);
	assert_int_equal(FLEET_STORY_CREATED, story[0].kind);
	assert_string_equal("deletion was asked for; it was Ready", story[2].text);
	assert_string_equal("it is gone", story[3].text);
	/* one of that name is another one */
	claim(3, KUBE_ADDED, "");
	assert_int_equal(1, fleet_tombstone_count(&fleet));
}

static void its_events_stay(void **state)
{
	(void)state;
	struct fleet_event events[8];
	claim(1, KUBE_ADDED, "");
	apply(&fleet.store, STORE_EVENTS, KUBE_ADDED,
		"{'metadata':{'name':'e','uid':'e1'},'type':'Warning','reason':'Odd','message':'why',"
		"'lastTimestamp':'2026-01-01T00:00:30Z','involvedObject':{'kind':'SandboxClaim',"
		"'name':'c1','uid':'11111111-0000-4000-8000-000000000001'}}");
	assert_int_equal(1, fleet_events(&fleet, uid(1), events, 8));
	/* the server's hour is over, and then the claim goes */
	apply(&fleet.store, STORE_EVENTS, KUBE_DELETED,
		"{'metadata':{'name':'e','uid':'e1'},'involvedObject':{'kind':'SandboxClaim',"
		"'name':'c1','uid':'11111111-0000-4000-8000-000000000001'}}");
	claim(1, KUBE_DELETED, "");
	assert_int_equal(1, fleet_events(&fleet, uid(1), events, 8));
	assert_string_equal("why", events[0].message);
}

/* However long they are, all of them together stay within a bound; those of the objects unheard of for longest go. */
static void events_are_bounded_by_bytes(void **state)
{
	(void)state;
	char *words = x_calloc(1, 1001);
	memset(words, 'x', 1000);
	for (int i = 0; i < 9000; i++) {
		char *event = x_asprintf(
			"{'metadata':{'name':'e%d','uid':'e%d'},'type':'Warning','reason':'R','message':'%d%s',"
			"'lastTimestamp':'2026-01-01T00:00:30Z','involvedObject':{'kind':'SandboxClaim',"
			"'name':'c%d','uid':'u%d'}}",
			i, i, i, words, i / 10, i / 10);
		apply(&fleet.store, STORE_EVENTS, KUBE_ADDED, event);
		free(event);
	}
	free(words);
	assert_in_range(
		fleet.store.event_bytes, STORE_MAX_EVENT_BYTES / 2, STORE_MAX_EVENT_BYTES);
	assert_in_range(fleet.store.n_events, 4000, 8200);
}

static void for_a_number_and_until_dismissed(void **state)
{
	(void)state;
	for (int i = 1; i <= 5; i++)
		claim(i, KUBE_ADDED, "");
	for (int i = 1; i <= 5; i++)
		claim(i, KUBE_DELETED, "");
	assert_int_equal(3, fleet_tombstone_count(&fleet));
	assert_null(fleet_find_any(&fleet, uid(2)));
	assert_non_null(fleet_find_any(&fleet, uid(3)));
	uint64_t before = fleet_revision(&fleet);
	assert_true(fleet_tombstone_dismiss(&fleet, uid(3)));
	assert_false(fleet_tombstone_dismiss(&fleet, uid(3)));
	assert_string_equal("3=gone ", changes(before).states);
	/* hidden and shown again */
	before = fleet_revision(&fleet);
	fleet_tombstones_show(&fleet, false);
	assert_string_equal("4=gone 5=gone ", changes(before).states);
	assert_int_equal(0, fleet.store.by_state[FLEET_DELETED]);
	before = fleet_revision(&fleet);
	fleet_tombstones_show(&fleet, true);
	assert_string_equal("4=Deleted 5=Deleted ", changes(before).states);
	assert_true(fleet_tombstone_dismiss(&fleet, NULL));
	assert_int_equal(0, fleet_tombstone_count(&fleet));
	assert_int_equal(0, fleet.store.by_state[FLEET_DELETED]);
}

static void for_a_time(void **state)
{
	(void)state;
	claim(1, KUBE_ADDED, "");
	claim(1, KUBE_DELETED, "");
	int64_t left = fleet_tombstones_expire(&fleet.store, 60000);
	assert_in_range(left, 50000, 60000);
	fleet.store.tombstones->gone_mono_ms -= 59990;
	assert_in_range(fleet_tombstones_expire(&fleet.store, 60000), 1, 10);
	fleet.store.tombstones->gone_mono_ms -= 10;
	assert_int_equal(-1, fleet_tombstones_expire(&fleet.store, 60000));
	assert_int_equal(0, fleet_tombstone_count(&fleet));
}

/* What was only taken out of sight has not gone; and a Sandbox that outlives its claim for a moment is no second one. */
static void what_leaves_none(void **state)
{
	(void)state;
	claim(1, KUBE_ADDED, "");
	fleet_store_set_forbidden(&fleet.store, STORE_CLAIMS, true);
	assert_int_equal(0, fleet_tombstone_count(&fleet));
	fleet_store_set_forbidden(&fleet.store, STORE_CLAIMS, false);
	fleet.store.is_synced[STORE_CLAIMS] = true;
	char *warm = sandbox_json(OF_POOL, "", "'conditions':[]");
	apply(&fleet.store, STORE_SANDBOXES, KUBE_ADDED, warm);
	assert_int_equal(1, fleet_count(&fleet));
	apply(&fleet.store, STORE_SANDBOXES, KUBE_DELETED, warm);
	assert_int_equal(0, fleet_tombstone_count(&fleet));
	free(warm);
	char *own = claim_json("", "", "'sandbox':{'name':'s'}");
	char *box = sandbox_json(OF_CLAIM, "", "'conditions':[]");
	apply(&fleet.store, STORE_CLAIMS, KUBE_ADDED, own);
	apply(&fleet.store, STORE_SANDBOXES, KUBE_ADDED, box);
	apply(&fleet.store, STORE_CLAIMS, KUBE_DELETED, own);
	apply(&fleet.store, STORE_SANDBOXES, KUBE_DELETED, box);
	assert_int_equal(1, fleet_tombstone_count(&fleet));
	free(own);
	free(box);
	/* and none are kept where nobody asks for them */
	fleet.store.max_tombstones = 0;
	claim(2, KUBE_ADDED, "");
	claim(2, KUBE_DELETED, "");
	assert_int_equal(1, fleet_tombstone_count(&fleet));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			it_stays_in_lists_and_nowhere_else, set_up, tear_down),
		cmocka_unit_test_setup_teardown(its_events_stay, set_up, tear_down),
		cmocka_unit_test_setup_teardown(events_are_bounded_by_bytes, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			for_a_number_and_until_dismissed, set_up, tear_down),
		cmocka_unit_test_setup_teardown(for_a_time, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_leaves_none, set_up, tear_down),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
