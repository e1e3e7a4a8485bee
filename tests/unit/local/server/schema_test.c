// SPDX-License-Identifier: Apache-2.0
/* Every schema is of one piece, every resource has one, and checks report what they should. */
#include "tests/unit/unit.h"

#include "engine/base/json.h"
#include "local/server/store/resource.h"
#include "local/server/store/schema.h"

#include <string.h>

#define COUNT(a) (sizeof(a) / sizeof(a)[0])

static void check_references(const cJSON *schema)
{
	const cJSON *field;
	cJSON_ArrayForEach(field, schema)
	{
		if (field->string && strcmp(field->string, "$ref") == 0) {
			if (!store_schema_find(strrchr(field->valuestring, '/') + 1))
				fail_msg("%s leads nowhere", field->valuestring);
		}
		check_references(field);
	}
}

static void test_references(void **state)
{
	(void)state;
	check_references(store_schema_all());
	for (size_t i = 0; i < store_resource_count; i++)
		assert_non_null(store_schema_find(store_resource_table[i].schema));
}

static void test_reports(void **state)
{
	static const struct {
		const char *schema, *object;
		const char *field; /* of the one cause, or NULL */
		const char *reason;
		const char *unknown; /* or NULL */
	} cases[] = {
		{ "SandboxClaim", "{\"spec\":{\"warmPoolRef\":{\"name\":\"p\"}}}", NULL, NULL,
			NULL },
		{ "SandboxClaim", "{\"spec\":{}}", "spec.warmPoolRef", "FieldValueRequired",
			NULL },
		{ "SandboxClaim", "{}", "spec", "FieldValueRequired", NULL },
		{ "SandboxClaim", "{\"spec\":null}", "spec", "FieldValueRequired", NULL },
		{ "SandboxClaim",
			"{\"spec\":{\"warmPoolRef\":{\"name\":\"p\"},\"x\":{\"y\":1}}}", NULL,
			NULL, "spec.x" },
		{ "SandboxClaim", "{\"spec\":{\"warmPoolRef\":[]}}", "spec.warmPoolRef",
			"FieldValueTypeInvalid", NULL },
		{ "SandboxClaim",
			"{\"spec\":{\"warmPoolRef\":{\"name\":\"p\"},\"env\":[{\"name\":\"A\"}]}}",
			"spec.env[0].value", "FieldValueRequired", NULL },
		{ "SandboxClaim",
			"{\"spec\":{\"warmPoolRef\":{\"name\":\"p\"},"
			"\"lifecycle\":{\"shutdownTime\":\"tomorrow\"}}}",
			"spec.lifecycle.shutdownTime", "FieldValueTypeInvalid", NULL },
		{ "SandboxClaim",
			"{\"spec\":{\"warmPoolRef\":{\"name\":\"p\"},"
			"\"lifecycle\":{\"ttlSecondsAfterFinished\":-1}}}",
			"spec.lifecycle.ttlSecondsAfterFinished", "FieldValueInvalid", NULL },
		{ "SandboxWarmPool",
			"{\"spec\":{\"sandboxTemplateRef\":{\"name\":\"t\"},\"replicas\":1.5}}",
			"spec.replicas", "FieldValueTypeInvalid", NULL },
		{ "SandboxWarmPool",
			"{\"spec\":{\"sandboxTemplateRef\":{\"name\":\"t\"},\"replicas\":3000000000}}",
			"spec.replicas", "FieldValueInvalid", NULL },
		{ "SandboxWarmPool",
			"{\"metadata\":{\"labels\":{\"a\":1}},"
			"\"spec\":{\"sandboxTemplateRef\":{\"name\":\"t\"}}}",
			"metadata.labels.a", "FieldValueTypeInvalid", NULL },
		{ "Sandbox", "{\"spec\":{\"podTemplate\":{\"spec\":{\"containers\":[]}}}}",
			"spec.podTemplate.spec.containers", "FieldValueRequired", NULL },
		{ "Sandbox",
			"{\"spec\":{\"podTemplate\":{\"spec\":{\"containers\":[{\"name\":\"c\","
			"\"livenessProbe\":{\"anything\":[1]}}]}}}}",
			NULL, NULL, NULL },
		{ "Service", "{\"spec\":{\"ports\":[{\"port\":80,\"targetPort\":{}}]}}",
			"spec.ports[0].targetPort", "FieldValueTypeInvalid", NULL },
		{ "Lease", "{\"spec\":{\"renewTime\":\"2026-01-02T03:04:05.00001Z\"}}",
			"spec.renewTime", "FieldValueTypeInvalid", NULL },
		{ "Lease", "{\"spec\":{\"renewTime\":\"2026-01-02T03:04:05.000010Z\"}}", NULL,
			NULL, NULL },
	};
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct store_schema_check check;
		cJSON *o = cJSON_Parse(cases[i].object);
		assert_non_null(o);
		store_schema_check(&check, cases[i].schema, o);
		const char *field = json_str(check.causes->child, "field", NULL);
		const char *reason = json_str(check.causes->child, "reason", NULL);
		const char *unknown =
			check.unknown->child ? check.unknown->child->valuestring : NULL;
		if (cJSON_GetArraySize(check.causes) != (cases[i].field != NULL) ||
			(field && (strcmp(field, cases[i].field) != 0 ||
					  strcmp(reason, cases[i].reason) != 0)) ||
			(unknown == NULL) != (cases[i].unknown == NULL) ||
			(unknown && strcmp(unknown, cases[i].unknown) != 0))
			fail_msg("%s: %s %s, unknown %s", cases[i].object, field ? field : "-",
				reason ? reason : "-", unknown ? unknown : "-");
		store_schema_check_deinit(&check);
		cJSON_Delete(o);
	}
}

/* What a person reads, at each limit and one beyond. */
static void test_words(void **state)
{
#define CLAIM(more) "{\"spec\":{\"warmPoolRef\":{\"name\":\"p\"}," more "}}"
#define POOL(more) "{\"spec\":{\"sandboxTemplateRef\":{\"name\":\"t\"}," more "}}"
#define BOX(more)                                                                              \
	"{\"spec\":{\"podTemplate\":{\"spec\":{\"containers\":[{\"name\":\"c\"," more "}]}}}}"
	static const struct {
		const char *schema, *object, *message; /* NULL: nothing is said */
	} rows[] = {
		{ "SandboxClaim", "{\"spec\":{\"warmPoolRef\":{\"name\":\"\"}}}",
			"Invalid value: \"\": spec.warmPoolRef.name in body should be at least 1 chars"
			" long" },
		{ "SandboxClaim", CLAIM("\"lifecycle\":{\"ttlSecondsAfterFinished\":0}"),
			NULL },
		{ "SandboxClaim", CLAIM("\"lifecycle\":{\"ttlSecondsAfterFinished\":-1}"),
			"Invalid value: -1: spec.lifecycle.ttlSecondsAfterFinished in body should be"
			" greater than or equal to 0" },
		{ "SandboxClaim", CLAIM("\"lifecycle\":{\"shutdownPolicy\":\"Retain\"}"),
			NULL },
		{ "SandboxClaim", CLAIM("\"lifecycle\":{\"shutdownPolicy\":\"retain\"}"),
			"Unsupported value: \"retain\": supported values: \"Delete\","
			" \"DeleteForeground\", \"Retain\"" },
		{ "SandboxClaim", CLAIM("\"lifecycle\":{\"shutdownTime\":\"x\"}"),
			"Invalid value: \"x\": spec.lifecycle.shutdownTime in body must be of type"
			" date-time: \"x\"" },
		{ "SandboxClaim",
			CLAIM("\"lifecycle\":{\"shutdownTime\":\"2026-01-01T00:00:00Z\"}"),
			NULL },
		{ "SandboxWarmPool", POOL("\"replicas\":0"), NULL },
		{ "SandboxWarmPool", POOL("\"replicas\":2147483647"), NULL },
		{ "SandboxWarmPool", POOL("\"replicas\":2147483648"),
			"Invalid value: 2147483648: spec.replicas in body must be of type int32" },
		{ "SandboxWarmPool", POOL("\"replicas\":0.5"), "Invalid value:" },
		{ "SandboxWarmPool", POOL("\"replicas\":\"1\""), "Invalid value: \"string\":" },
		{ "Sandbox", BOX("\"ports\":[{\"containerPort\":1}]"), NULL },
		{ "Sandbox", BOX("\"ports\":[{\"containerPort\":65535}]"), NULL },
		{ "Sandbox", BOX("\"ports\":[{\"containerPort\":0}]"),
			"Invalid value: 0: spec.podTemplate.spec.containers[0].ports[0].containerPort"
			" in body should be greater than or equal to 1" },
		{ "Sandbox", BOX("\"ports\":[{\"containerPort\":65536}]"),
			"Invalid value: 65536: spec.podTemplate.spec.containers[0].ports[0]"
			".containerPort in body should be less than or equal to 65535" },
		{ "Lease", "{\"spec\":{\"renewTime\":\"2026-01-02T03:04:05Z\"}}",
			"Invalid value: \"2026-01-02T03:04:05Z\": spec.renewTime in body must be of"
			" type date-time: \"2026-01-02T03:04:05Z\"" },
		{ "Lease", "{\"spec\":{\"renewTime\":\"x.000000\"}}",
			"Invalid value: \"x.000000\": spec.renewTime in body must be of type" },
		{ "Lease", "{\"spec\":{\"renewTime\":\"2026-01-02T03:04:05.0000000Z\"}}",
			"Invalid value: \"2026-01-02T03:04:05.0000000Z\": spec.renewTime" },
	};
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct store_schema_check check;
		cJSON *o = cJSON_Parse(rows[i].object);
		assert_non_null(o);
		store_schema_check(&check, rows[i].schema, o);
		const char *message = json_str(check.causes->child, "message", NULL);
		if (cJSON_GetArraySize(check.causes) != (rows[i].message != NULL) ||
			(rows[i].message && strncmp(message, rows[i].message,
						    strlen(rows[i].message)) != 0))
			fail_msg("row %zu: %s", i, message ? message : "-");
		store_schema_check_deinit(&check);
		cJSON_Delete(o);
	}
}

static void test_prunes_and_fills(void **state)
{
	struct store_schema_check check;
	cJSON *o = cJSON_Parse(
		"{\"spec\":{\"warmPoolRef\":{\"name\":\"p\",\"x\":1},\"lifecycle\":{},"
		"\"env\":null}}");
	(void)state;
	store_schema_check(&check, "SandboxClaim", o);
	assert_string_equal(json_str(o, "spec", "lifecycle", "shutdownPolicy", NULL), "Retain");
	assert_null(json_get(o, "spec", "warmPoolRef", "x", NULL));
	assert_null(cJSON_GetObjectItem(cJSON_GetObjectItem(o, "spec"), "env"));
	store_schema_check_deinit(&check);
	cJSON_Delete(o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_references),
		cmocka_unit_test(test_reports),
		cmocka_unit_test(test_words),
		cmocka_unit_test(test_prunes_and_fills),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
