// SPDX-License-Identifier: Apache-2.0
// PodMetrics as servers send them, and as they should not.
#include "tests/unit/unit.h"

#include "engine/base/json.h"
#include "engine/usage/sample.h"

enum { NOW_S = 1800000000, MEASURED_S = 1767323045 };

#define TIME "\"timestamp\":\"2026-01-02T03:04:05Z\","
#define USAGE(usage) "{\"name\":\"c\",\"usage\":{" usage "}}"
static const struct {
	const char *json;
	bool is_one;
	uint32_t at_s, cpu_milli;
	int64_t memory_bytes, disk_bytes;
} rows[] = {
	/* metrics-server: nanocores and KiB */
	{ "{" TIME "\"containers\":[" USAGE("\"cpu\":\"41234567n\",\"memory\":\"2048Ki\"") "]}",
		true, MEASURED_S, 41, 2 << 20, -1 },
	/* several containers; the local backend tells the workspace */
	{ "{" TIME "\"containers\":[" USAGE("\"cpu\":\"250m\",\"memory\":\"1Mi\"") "," USAGE(
		  "\"cpu\":\"1\",\"memory\":\"1048576\",\"ephemeral-storage\":\"4Ki\"") "]}",
		true, MEASURED_S, 1250, 2 << 20, 4096 },
	{ "{" TIME "\"containers\":[" USAGE("\"cpu\":\"0\",\"memory\":\"0\"") "]}", true,
		MEASURED_S, 0, 0, -1 },
	{ "{" TIME "\"containers\":[" USAGE("\"cpu\":\"900u\"") "]}", true, MEASURED_S, 0, 0,
		-1 },
	{ "{" TIME "\"containers\":[" USAGE("\"cpu\":2") "]}", true, MEASURED_S, 2000, 0, -1 },
	/* no time, or one that is yet to come */
	{ "{\"containers\":[" USAGE("\"cpu\":\"1m\"") "]}", true, NOW_S, 1, 0, -1 },
	{ "{\"timestamp\":\"2999-01-02T03:04:05Z\",\"containers\":[" USAGE(
		  "\"cpu\":\"1m\"") "]}",
		true, NOW_S, 1, 0, -1 },
	{ "{\"timestamp\":\"yesterday\",\"containers\":[" USAGE("\"cpu\":\"1m\"") "]}", true,
		NOW_S, 1, 0, -1 },
	/* no quantity is nothing used, and a huge one no overflow */
	{ "{" TIME "\"containers\":[" USAGE("\"cpu\":\"much\",\"memory\":\"-5\"") "]}", true,
		MEASURED_S, 0, 0, -1 },
	{ "{" TIME "\"containers\":[" USAGE("\"cpu\":\"900T\",\"memory\":\"900T\"") "," USAGE(
		  "\"cpu\":\"900T\",\"memory\":\"900T\"") "]}",
		true, MEASURED_S, UINT32_MAX, 1800000000000000, -1 },
	{ "{" TIME "\"containers\":[" USAGE("\"network\":\"5\"") "]}", false, 0, 0, 0, 0 },
	{ "{" TIME "\"containers\":[]}", false, 0, 0, 0, 0 },
	{ "{" TIME "\"containers\":{\"usage\":{\"cpu\":[]}}}", false, 0, 0, 0, 0 },
	{ "{" TIME "\"containers\":[7,null,\"x\",{\"usage\":[]}]}", false, 0, 0, 0, 0 },
	{ "{}", false, 0, 0, 0, 0 },
	{ "[]", false, 0, 0, 0, 0 },
	{ "\"text\"", false, 0, 0, 0, 0 },
};

static void objects_become_samples(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct usage_sample sample = { 0 };
		cJSON *object = json_parse(slice_of(rows[i].json), NULL);
		assert_non_null(object);
		if (usage_sample_read(object, NOW_S, &sample) != rows[i].is_one)
			fail_msg("%s", rows[i].json);
		assert_int_equal(sample.at_s, rows[i].at_s);
		assert_int_equal(sample.cpu_milli, rows[i].cpu_milli);
		assert_int_equal(sample.memory_bytes, rows[i].memory_bytes);
		assert_int_equal(sample.disk_bytes, rows[i].disk_bytes);
		cJSON_Delete(object);
	}
	struct usage_sample sample;
	assert_false(usage_sample_read(NULL, NOW_S, &sample));
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(objects_become_samples) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
