// SPDX-License-Identifier: Apache-2.0
// Kinds: what cells say, and that the sandboxes' own table makes sense.
#include "tests/unit/unit.h"

#include "engine/fleet/kind.h"

#include <string.h>

#define COUNT(a) (sizeof(a) / sizeof(a)[0])

enum { NOW_MS = 1000000000 };

struct thing {
	int64_t number;
	bool is_known;
};

static struct resource_value value_of(const void *row)
{
	const struct thing *thing = row;
	return (struct resource_value){ .text = thing->is_known ? "words" : "",
		.number = thing->number,
		.is_known = thing->is_known };
}

static void what_a_cell_says(void **state)
{
	static const struct {
		enum resource_format format;
		struct thing thing;
		const char *says;
		bool is_right;
	} rows[] = {
		{ RESOURCE_TEXT, { 7, true }, "words", false },
		{ RESOURCE_TEXT, { 7, false }, "", false },
		{ RESOURCE_AGE, { NOW_MS - 3000, true }, "3s", true },
		{ RESOURCE_AGE, { NOW_MS, true }, "0s", true },
		{ RESOURCE_AGE, { NOW_MS + 3000, true }, "0s",
			true }, /* the server's clock is ahead */
		{ RESOURCE_AGE, { NOW_MS - 3000, false }, "", true },
		{ RESOURCE_LEFT, { NOW_MS + 61000, true }, "61s", true },
		{ RESOURCE_LEFT, { NOW_MS + 1000, true }, "1s", true },
		{ RESOURCE_LEFT, { NOW_MS, true }, "over", true },
		{ RESOURCE_LEFT, { NOW_MS - 1, true }, "over", true },
		{ RESOURCE_LEFT, { 0, false }, "", true },
		{ RESOURCE_TIME, { 1700000000000, true }, "2023-11-14T22:13:20Z", false },
		{ RESOURCE_TIME, { 1700000000000, false }, "", false },
		{ RESOURCE_COUNT, { 0, true }, "0", true },
		{ RESOURCE_COUNT, { 12345678901, true }, "12345678901", true },
		{ RESOURCE_COUNT, { 3, false }, "", true },
		{ RESOURCE_SHARE, { 414, true }, "41%", true },
		{ RESOURCE_SHARE, { 1250, true }, "125%", true },
		{ RESOURCE_SHARE, { 414, false }, "-", true },
		{ RESOURCE_MILLI, { 0, true }, "0m", true },
		{ RESOURCE_MILLI, { 1800, true }, "1800m", true },
		{ RESOURCE_MILLI, { 1800, false }, "-", true },
		{ RESOURCE_BYTES, { 0, true }, "0", true },
		{ RESOURCE_BYTES, { 999, true }, "999", true },
		{ RESOURCE_BYTES, { 1000, true }, "1.0Ki", true },
		{ RESOURCE_BYTES, { 1536, true }, "1.5Ki", true },
		{ RESOURCE_BYTES, { 10189, true }, "10Ki", true },
		{ RESOURCE_BYTES, { 300 << 20, true }, "300Mi", true },
		{ RESOURCE_BYTES, { 1500000000, true }, "1.4Gi", true },
		{ RESOURCE_BYTES, { 1023 << 20, true }, "1.0Gi", true },
		{ RESOURCE_BYTES, { INT64_MAX, true }, "8.0Ei", true },
		{ RESOURCE_BYTES, { 5, false }, "-", true },
		{ RESOURCE_BOOL, { 1, true }, "true", false },
		{ RESOURCE_BOOL, { 0, true }, "false", false },
		{ RESOURCE_BOOL, { 1, false }, "", false },
	};
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		char buffer[RESOURCE_CELL_BYTES];
		struct resource_column column = { .format = rows[i].format, .value = value_of };
		assert_string_equal(
			resource_text(&column, &rows[i].thing, NOW_MS, buffer), rows[i].says);
		assert_int_equal(resource_is_right(&column), rows[i].is_right);
		assert_int_equal(resource_tone(&column, &rows[i].thing), RESOURCE_PLAIN);
	}
}

static struct resource_value five(const void *row)
{
	(void)row;
	return (struct resource_value){ "", 5 << 20, true };
}

/* A share of nothing is the number itself. */
static void a_share_without_a_limit_is_an_amount(void **state)
{
	char buffer[RESOURCE_CELL_BYTES];
	struct resource_column column = { .format = RESOURCE_SHARE,
		.value = value_of,
		.amount = five,
		.amount_format = RESOURCE_BYTES };
	struct thing thing = { 250, true };
	(void)state;
	assert_string_equal(resource_text(&column, &thing, NOW_MS, buffer), "25%");
	thing.is_known = false;
	assert_string_equal(resource_text(&column, &thing, NOW_MS, buffer), "5.0Mi");
	column.amount = value_of;
	assert_string_equal(resource_text(&column, &thing, NOW_MS, buffer), "-");
}

static void columns_by_name(void **state)
{
	const struct resource_kind *kind = &fleet_sandbox_kind;
	(void)state;
	assert_int_equal(resource_find_column(kind, "name"), kind->name_column);
	assert_int_equal(resource_find_column(kind, "namespace"), kind->namespace_column);
	assert_int_equal(resource_find_column(kind, ""), RESOURCE_NONE);
	assert_int_equal(resource_find_column(kind, "nam"), RESOURCE_NONE);
	assert_int_equal(
		resource_find_column(kind, "ns"), RESOURCE_NONE); /* of filters alone */
	assert_true(resource_is_among(resource_find_column(kind, "why"), kind->screen));
	assert_false(resource_is_among(resource_find_column(kind, "node"), kind->screen));
	assert_true(resource_is_among(resource_find_column(kind, "node"), kind->wide));
	assert_false(resource_is_among(resource_find_column(kind, "node"), kind->table));
	assert_false(resource_is_among(RESOURCE_NONE, kind->table));
}

/* Whoever adds a column and forgets half of it is told here. */
static void the_table_of_sandboxes(void **state)
{
	const struct resource_kind *kind = &fleet_sandbox_kind;
	const int *const lists[] = { kind->screen, kind->table, kind->wide };
	(void)state;
	assert_true(kind->n_columns <= RESOURCE_COLUMNS_MAX);
	for (int i = 0; i < kind->n_columns; i++) {
		const struct resource_column *column = &kind->columns[i];
		assert_non_null(column->value);
		assert_true(column->title || column->field);
		for (int k = 0; k < i; k++) {
			const struct resource_column *other = &kind->columns[k];
			assert_false(column->name && other->name &&
				     !strcmp(column->name, other->name));
			assert_false(column->field && other->field &&
				     !strcmp(column->field, other->field));
		}
	}
	for (size_t l = 0; l < COUNT(lists); l++) {
		int i, n = 0;
		RESOURCE_EACH(i, lists[l]) {
			assert_in_range(i, 0, kind->n_columns - 1);
			assert_non_null(kind->columns[i].title);
			n++;
		}
		assert_in_range(n, 1, RESOURCE_COLUMNS_MAX);
		assert_true(resource_is_among(kind->name_column, lists[l]));
	}
	int i, n_flexible = 0;
	RESOURCE_EACH(i, kind->screen) {
		assert_non_null(kind->columns[i].name); /* it is sorted by that */
		n_flexible += !kind->columns[i].cols;
	}
	assert_in_range(n_flexible, 1, 3);
}

static const struct fleet_row told = { .uid = "u-1",
	.namespace_ = "space",
	.claim = "claim",
	.sandbox = "box",
	.pod = "pod",
	.pool = "pool",
	.template_ = "template",
	.node = "node",
	.pod_ip = "10.0.0.1",
	.service_fqdn = "",
	.created_by = "me",
	.runtime_class = "",
	.pod_uid = "p-1",
	.state = FLEET_DEGRADED,
	.why = "because",
	.next = "do this",
	.why_since_ms = NOW_MS,
	.created_ms = NOW_MS - 5000,
	.expires_ms = NOW_MS + 7000,
	.restarts = 4,
	.limits = { .cpu_milli = 1500, .cpu_request_milli = 500, .memory_bytes = 1 << 30 } };

/* Texts that tell the columns from each other, in each form. */
static void what_is_known_of_a_sandbox(void **state)
{
	static const struct {
		const char *field, *says;
	} known[] = { { "uid", "u-1" }, { "namespace", "space" }, { "claim", "claim" },
		{ "sandbox", "box" }, { "state", "Degraded" }, { "why", "because" },
		{ "whySince", "1970-01-12T13:46:40Z" }, { "next", "do this" }, { "pod", "pod" },
		{ "podIP", "10.0.0.1" }, { "node", "node" }, { "pool", "pool" },
		{ "template", "template" }, { "createdBy", "me" },
		{ "createdAt", "1970-01-12T13:46:35Z" },
		{ "expiresAt", "1970-01-12T13:46:47Z" }, { "restarts", "4" },
		{ "warmStart", "false" }, { "cpuMillis", "-" }, { "cpuLimitMillis", "1500m" },
		{ "cpuRequestMillis", "500m" }, { "memoryBytes", "-" },
		{ "memoryLimitBytes", "1.0Gi" }, { "memoryRequestBytes", "-" },
		{ "diskBytes", "-" }, { "diskLimitBytes", "-" }, { NULL, "-" }, { NULL, "-" },
		{ NULL, "-" }, { NULL, "" }, { NULL, "claim" }, { NULL, "5s" },
		{ NULL, "7s" } };
	const struct resource_kind *kind = &fleet_sandbox_kind;
	char buffer[RESOURCE_CELL_BYTES];
	(void)state;
	assert_int_equal(kind->n_columns, COUNT(known));
	for (int i = 0; i < kind->n_columns; i++) {
		if (known[i].field)
			assert_string_equal(kind->columns[i].field, known[i].field);
		else
			assert_null(kind->columns[i].field);
		assert_string_equal(
			resource_text(&kind->columns[i], &told, NOW_MS, buffer), known[i].says);
	}
}

static void what_is_not_known_is_blank(void **state)
{
	const struct resource_kind *kind = &fleet_sandbox_kind;
	char buffer[RESOURCE_CELL_BYTES];
	(void)state;
	struct fleet_row bare = told;
	bare.claim = "";
	bare.pod_uid[0] = 0;
	bare.created_ms = bare.expires_ms = bare.why_since_ms = 0;
	bare.state = FLEET_WARM;
	assert_string_equal(fleet_row_name(&bare), "box");
	assert_false(
		kind->columns[resource_find_column(kind, "restarts")].value(&bare).is_known);
	assert_string_equal(resource_text(&kind->columns[resource_find_column(kind, "age")],
				    &bare, NOW_MS, buffer),
		"");
	assert_string_equal(resource_text(&kind->columns[resource_find_column(kind, "expires")],
				    &bare, NOW_MS, buffer),
		"");
	assert_true(kind->is_aside(&bare));
	assert_false(kind->is_aside(&told));
}

static void colours_of_states(void **state)
{
	static const enum resource_tone tones[FLEET_STATE_COUNT] = {
		[FLEET_TERMINATING] = RESOURCE_GONE,
		[FLEET_EXPIRED] = RESOURCE_BAD,
		[FLEET_FAILED] = RESOURCE_BAD,
		[FLEET_BLOCKED] = RESOURCE_BAD,
		[FLEET_FINISHED] = RESOURCE_GONE,
		[FLEET_SUSPENDED] = RESOURCE_GONE,
		[FLEET_SUSPENDING] = RESOURCE_BUSY,
		[FLEET_RESUMING] = RESOURCE_BUSY,
		[FLEET_READY] = RESOURCE_GOOD,
		[FLEET_ERROR] = RESOURCE_BAD,
		[FLEET_PENDING] = RESOURCE_WARNING,
		[FLEET_DEGRADED] = RESOURCE_WARNING,
		[FLEET_CREATING] = RESOURCE_BUSY,
		[FLEET_UNKNOWN] = RESOURCE_WARNING,
		[FLEET_WARM] = RESOURCE_GONE,
		[FLEET_CRASHING] = RESOURCE_BAD,
		[FLEET_DELETED] = RESOURCE_GONE,
	};
	const struct resource_kind *kind = &fleet_sandbox_kind;
	const struct resource_column *restarts =
		&kind->columns[resource_find_column(kind, "restarts")];
	(void)state;
	for (int i = 0; i < FLEET_STATE_COUNT; i++) {
		struct fleet_row row = { .state = (enum fleet_state)i };
		assert_int_equal(fleet_state_tone((enum fleet_state)i), tones[i]);
		assert_int_equal(
			resource_tone(
				&kind->columns[resource_find_column(kind, "state")], &row),
			tones[i]);
	}
	struct fleet_row row = { .restarts = 0 };
	assert_int_equal(resource_tone(restarts, &row), RESOURCE_PLAIN);
	row.restarts = 1;
	assert_int_equal(resource_tone(restarts, &row), RESOURCE_WARNING);
	assert_int_equal(resource_tone(&kind->columns[resource_find_column(kind, "why")], &row),
		RESOURCE_DIM);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_a_cell_says),
		cmocka_unit_test(a_share_without_a_limit_is_an_amount),
		cmocka_unit_test(columns_by_name),
		cmocka_unit_test(the_table_of_sandboxes),
		cmocka_unit_test(what_is_known_of_a_sandbox),
		cmocka_unit_test(what_is_not_known_is_blank),
		cmocka_unit_test(colours_of_states),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
