// SPDX-License-Identifier: Apache-2.0
// PersistentVolumeClaims: what a row takes from an object, whatever the object is, and how it is shown.
#include "tests/unit/unit.h"

#include "engine/base/json.h"
#include "engine/base/mem.h"
#include "engine/base/str.h"
#include "engine/kinds/object.h"

#include <stdio.h>
#include <stdlib.h>

extern const struct resource_kind kinds_pvc;

static char *table_of(void *row, const char *json)
{
	struct str out;
	char cell[RESOURCE_CELL_BYTES];
	int i;
	cJSON *object = json_parse(slice_of(json), NULL);
	assert_non_null(object);
	kinds_object_read(row, object, 0);
	kinds_pvc.project(row, object, 0);
	str_init(&out, 4096);
	RESOURCE_EACH(i, kinds_pvc.wide)
		if (kinds_pvc.columns[i].format == RESOURCE_TEXT)
			str_addf(&out, "%s|",
				resource_text(&kinds_pvc.columns[i], row, 0, cell));
	char *text = x_strdup(out.p);
	str_deinit(&out);
	cJSON_Delete(object);
	return text;
}

static enum resource_tone tone_of(const void *row)
{
	return resource_tone(
		&kinds_pvc.columns[resource_find_column(&kinds_pvc, "status")], row);
}

static void test_rows(void **state)
{
	static const struct {
		const char *json, *cells;
		enum resource_tone tone;
	} cases[] = {
		{ "{\"metadata\":{\"name\":\"a\",\"namespace\":\"n\",\"ownerReferences\":[{\"kind\":\"Sandbox\","
		  "\"name\":\"s\"}]},\"spec\":{\"accessModes\":[\"ReadWriteOnce\",\"ReadOnlyMany\"],"
		  "\"storageClassName\":\"fast\",\"volumeName\":\"pv\",\"resources\":{\"requests\":{\"storage\":"
		  "\"1Gi\"}}},\"status\":{\"phase\":\"Bound\",\"capacity\":{\"storage\":\"2Gi\"}}}",
			"n|a|Bound|2Gi|s|fast|RWO,ROX|pv|", RESOURCE_GOOD },
		{ "{\"metadata\":{\"name\":\"a\"},\"spec\":{\"accessModes\":[\"ReadWriteMany\","
		  "\"ReadWriteOncePod\",\"Other\",7],\"resources\":{\"requests\":{\"storage\":\"1Gi\"}}},"
		  "\"status\":{\"phase\":\"Pending\"}}",
			"|a|Pending|1Gi|||RWX,RWOP||", RESOURCE_WARNING },
		{ "{\"metadata\":{\"name\":\"a\",\"deletionTimestamp\":\"2026-01-01T00:00:00Z\"},"
		  "\"status\":{\"phase\":\"Bound\"}}",
			"|a|Terminating||||||", RESOURCE_GONE },
		{ "{\"metadata\":{\"name\":\"a\"},\"status\":{\"phase\":\"Lost\"}}",
			"|a|Lost||||||", RESOURCE_BAD },
		{ "{\"metadata\":{\"name\":\"a\"},\"status\":{\"phase\":\"New\"}}",
			"|a|New||||||", RESOURCE_PLAIN },
		/* nothing is where it should be */
		{ "{\"metadata\":[],\"spec\":\"x\",\"status\":{\"phase\":{},\"capacity\":7}}",
			"||||||||", RESOURCE_PLAIN },
		{ "{\"spec\":{\"accessModes\":\"ReadWriteOnce\",\"storageClassName\":5,\"resources\":[]}}",
			"||||||||", RESOURCE_PLAIN },
	};
	/* one row for all: what an object does not say any more is gone */
	void *row = x_calloc(1, kinds_pvc.row_bytes);
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		char *cells = table_of(row, cases[i].json);
		assert_string_equal(cells, cases[i].cells);
		assert_int_equal(tone_of(row), cases[i].tone);
		free(cells);
	}
	kinds_pvc.drop(row);
	kinds_object_drop(row);
	free(row);
}

static void test_long_texts_are_cut(void **state)
{
	char longest[3001], json[10000];
	void *row = x_calloc(1, kinds_pvc.row_bytes);
	(void)state;
	memset(longest, 'x', sizeof longest - 1);
	longest[sizeof longest - 1] = 0;
	snprintf(json, sizeof json,
		"{\"metadata\":{\"name\":\"%s\",\"ownerReferences\":[{\"kind\":\"Sandbox\",\"name\":\"%s\"}]},"
		"\"spec\":{\"volumeName\":\"%s\"}}",
		longest, longest, longest);
	free(table_of(row, json));
	for (int i = 0; i < kinds_pvc.n_columns; i++)
		if (kinds_pvc.columns[i].format == RESOURCE_TEXT)
			assert_true(strlen(kinds_pvc.columns[i].value(row).text) <=
				    KINDS_TEXT_BYTES);
	kinds_pvc.drop(row);
	kinds_object_drop(row);
	free(row);
}

static void test_its_row_is_whole(void **state)
{
	int i;
	(void)state;
	assert_true(resource_is_called(&kinds_pvc, "pvc"));
	assert_true(resource_is_called(&kinds_pvc, "PersistentVolumeClaims"));
	assert_true(resource_is_called(&kinds_pvc, "persistentvolumeclaim"));
	assert_false(resource_is_called(&kinds_pvc, "pv"));
	RESOURCE_EACH(i, kinds_pvc.screen)
		assert_true(kinds_pvc.columns[i].title && kinds_pvc.columns[i].name);
	assert_int_equal(kinds_pvc.columns[kinds_pvc.name_column].cols, 0);
	assert_string_equal(resource_find_action(&kinds_pvc, "delete")->verb, "delete");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_long_texts_are_cut),
		cmocka_unit_test(test_its_row_is_whole),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
