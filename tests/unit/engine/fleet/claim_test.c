// SPDX-License-Identifier: Apache-2.0
/* The claim that a create sends: each option where the API has it, what is refused before anything is sent, and the file that
 * says what to create. */
#include "engine/base/mem.h"
#include "engine/fleet/create_file.h"
#include "engine/fleet/op_create.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

static char *last_body;

static void body_of(struct fleet_create_opts opts)
{
	struct err err = { 0 };
	opts.namespace_ = "demo";
	opts.pool = "pool";
	if (!fleet_create_check(&opts, &err))
		fail_msg("%s", err.msg);
	cJSON *body = fleet_create_body(&opts, "id", "", 0, &err);
	if (body == NULL)
		fail_msg("%s", err.msg);
	free(last_body);
	last_body = cJSON_PrintUnformatted(body);
	cJSON_Delete(body);
}

/* Each option is where the API has it. */
static void every_option_is_in_the_claim(void **state)
{
	static const char *const wanted[] = {
		"\"annotations\":{\"note\":\"hi there\",",
		"\"additionalPodMetadata\":{\"labels\":{\"sandbox.users.io/a\":\"b\","
		"\"x.sandbox.users.io/c\":\"d\"},\"annotations\":{\"example.com/n\":\"1=2\","
		"\"cluster-autoscaler.kubernetes.io/safe-to-evict\":\"true\"}}",
		"\"env\":[{\"name\":\"A\",\"value\":\"2\"},"
		"{\"name\":\"A\",\"value\":\"b=c:d\",\"containerName\":\"side\"}]",
		"\"volumeClaimTemplates\":[{\"metadata\":{\"name\":\"data\"},\"spec\":{"
		"\"accessModes\":[\"ReadWriteOnce\"],\"resources\":{\"requests\":{"
		"\"storage\":\"1Gi\"}},\"storageClassName\":\"fast\"}}]",
		"\"ttlSecondsAfterFinished\":2,\"shutdownPolicy\":\"DeleteForeground\"",
	};
	(void)state;
	body_of((struct fleet_create_opts){
		.annotations = (const char *const[]){ "note=hi there", NULL },
		.pod_labels = (const char *const[]){ "sandbox.users.io/a=b",
			"x.sandbox.users.io/c=d", NULL },
		.pod_annotations = (const char *const[]){ "example.com/n=1=2",
			"cluster-autoscaler.kubernetes.io/safe-to-evict=true", NULL },
		.env = (const char *const[]){ "A=1", "A=2", "side:A=b=c:d", NULL },
		.volumes = (const char *const[]){ "data:1Gi:fast", NULL },
		.has_ttl = true,
		.ttl_ms = 1001,
		.shutdown_policy = "DeleteForeground" });
	for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
		if (strstr(last_body, wanted[i]) == NULL)
			fail_msg("%s is not in %s", wanted[i], last_body);
}

/* An end without a policy deletes; what was asked for stays as it was asked for. */
static void an_end_deletes_unless_told_otherwise(void **state)
{
	(void)state;
	body_of((struct fleet_create_opts){ .has_ttl = true });
	assert_non_null(strstr(last_body,
		"\"lifecycle\":{\"ttlSecondsAfterFinished\":0,\"shutdownPolicy\":\"Delete\"}"));
}

/* What is said beside a file wins over it; the rest of the file stays. */
static void options_win_over_a_file(void **state)
{
	static const char file[] =
		"kind: SandboxClaim\n"
		"metadata:\n  name: of-the-file\n  uid: x\n  labels: {a: file, b: file}\n"
		"  annotations: {agents.x-k8s.io/sandbox-name: old, mine: yes please}\n"
		"spec:\n  warmPoolRef: {name: other}\n  env: [{name: A, value: file}]\n"
		"  lifecycle: {shutdownPolicy: Retain, shutdownTime: '2030-01-01T00:00:00Z'}\n"
		"status: {}\n";
	struct fleet_create_file read;
	struct err err = { 0 };
	assert_true(fleet_create_file_parse(slice_of(file), &read, &err));
	(void)state;
	body_of((struct fleet_create_opts){ .base = read.claim,
		.name = "mine",
		.labels = (const char *const[]){ "a=option", NULL },
		.env = (const char *const[]){ "A=option", "B=option", NULL } });
	fleet_create_file_deinit(&read);
	cJSON *body = cJSON_Parse(last_body);
	assert_string_equal("mine", json_str(body, "metadata", "name", NULL));
	assert_string_equal("option", json_str(body, "metadata", "labels", "a", NULL));
	assert_string_equal("file", json_str(body, "metadata", "labels", "b", NULL));
	assert_string_equal(
		"yes please", json_str(body, "metadata", "annotations", "mine", NULL));
	assert_null(json_str(
		body, "metadata", "annotations", "agents.x-k8s.io/sandbox-name", NULL));
	assert_string_equal("pool", json_str(body, "spec", "warmPoolRef", "name", NULL));
	assert_string_equal(
		"Retain", json_str(body, "spec", "lifecycle", "shutdownPolicy", NULL));
	assert_int_equal(2, cJSON_GetArraySize(json_get(body, "spec", "env", NULL)));
	assert_null(json_get(body, "status", NULL));
	cJSON_Delete(body);
}

static void a_short_file(void **state)
{
	static const char file[] =
		"name: box\npool: workers\nlabels: {team: blue, n: 7}\nannotations: {note: hi}\n"
		"podLabels: {sandbox.users.io/a: b}\npodAnnotations: {example.com/c: d}\n"
		"env: {A: 1, B: two}\nvolumes: ['data:1Gi']\nshutdownAfter: 1h\n"
		"shutdownPolicy: Retain\nttlSecondsAfterFinished: 5\ntimeout: 3m\nadopt: true\n"
		"namespace: elsewhere\n";
	static const char *const bad[] = { "nothing: 1\n", "[]\n", "kind: Pod\n", "adopt: 7\n",
		"labels: [a]\n", "shutdownAfter: never\n", "volumes: data\n", "name: {}\n",
		"ttlSecondsAfterFinished: -1\n", "env: {A: [1]}\n", "a: [\n",
		"kind: SandboxClaim\napiVersion: v1\n" };
	struct fleet_create_file read;
	struct err err = { 0 };
	(void)state;
	if (!fleet_create_file_parse(slice_of(file), &read, &err))
		fail_msg("%s", err.msg);
	assert_string_equal("7", json_str(read.claim, "metadata", "labels", "n", NULL));
	assert_string_equal(
		"1", json_str(cJSON_GetArrayItem(json_get(read.claim, "spec", "env", NULL), 0),
			     "value", NULL));
	assert_string_equal("data:1Gi", read.volumes[0]);
	assert_null(read.volumes[1]);
	assert_string_equal("elsewhere", read.namespace_);
	assert_string_equal("Retain", read.shutdown_policy);
	assert_true(read.adopt && read.has_ttl && read.ttl_ms == 5000);
	assert_true(read.shutdown_after_ms == 3600000 && read.timeout_ms == 180000);
	fleet_create_file_deinit(&read);
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		if (fleet_create_file_parse(slice_of(bad[i]), &read, &err))
			fail_msg("%s was taken", bad[i]);
}

/* And which option it is about. */
static void what_would_be_refused_is_not_sent(void **state)
{
	const struct {
		struct fleet_create_opts opts;
		enum fleet_create_part part;
	} rows[] = {
		{ { .env = (const char *const[]){ "Upper:A=b", NULL } }, FLEET_PART_ENV },
		{ { .env = (const char *const[]){ "c:=b", NULL } }, FLEET_PART_ENV },
		{ { .pod_labels = (const char *const[]){ "team=blue", NULL } },
			FLEET_PART_POD_LABELS },
		{ { .pod_labels = (const char *const[]){ "evilsandbox.users.io/a=b", NULL } },
			FLEET_PART_POD_LABELS },
		{ { .pod_annotations = (const char *const[]){ "k8s.io/a=b", NULL } },
			FLEET_PART_POD_ANNOTATIONS },
		{ { .pod_annotations = (const char *const[]){ "x.kubernetes.io/a=b", NULL } },
			FLEET_PART_POD_ANNOTATIONS },
		{ { .annotations = (const char *const[]){ "a b=c", NULL } },
			FLEET_PART_ANNOTATIONS },
		{ { .volumes = (const char *const[]){ "data", NULL } }, FLEET_PART_VOLUMES },
		{ { .volumes = (const char *const[]){ "data:none", NULL } },
			FLEET_PART_VOLUMES },
		{ { .volumes = (const char *const[]){ "data:1Gi:Not A Class", NULL } },
			FLEET_PART_VOLUMES },
		{ { .shutdown_policy = "delete" }, FLEET_PART_SHUTDOWN_POLICY },
		{ { .has_ttl = true, .ttl_ms = -1 }, FLEET_PART_TTL },
		{ { .has_ttl = true, .ttl_ms = (int64_t)INT32_MAX * 1000 + 1000 },
			FLEET_PART_TTL },
		{ { .binding_key = "" }, FLEET_PART_BINDING_KEY },
		{ { .binding_key = "k", .name = "mine" }, FLEET_PART_BINDING_KEY },
		{ { .labels = (const char *const[]){ "a=b c", NULL } }, FLEET_PART_LABELS },
		{ { .shutdown_after_ms = -1 }, FLEET_PART_LIFETIME },
		{ { .name = "Upper" }, FLEET_PART_NAME },
		{ { .pool = "../x" }, FLEET_PART_POOL },
	};
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct fleet_create_opts opts = rows[i].opts;
		enum fleet_create_part part = FLEET_PART_NONE;
		struct err err = { 0 };
		cJSON *body = NULL;
		opts.namespace_ = "demo";
		opts.pool = opts.pool ? opts.pool : "pool";
		opts.part = &part;
		if (fleet_create_check(&opts, &err))
			body = fleet_create_body(&opts, "id", "", 0, &err);
		if (body != NULL)
			fail_msg("row %zu was taken", i);
		assert_int_equal(err.code, ERR_ARG_INVALID);
		if (part != rows[i].part)
			fail_msg("row %zu (%s) is about %d", i, err.msg, (int)part);
	}
}

/* What the server or the controller refuses is shown at the option that it is about. */
static void an_error_of_the_server_is_about_an_option(void **state)
{
	static const struct {
		enum err_code code;
		const char *msg;
		enum fleet_create_part part;
	} rows[] = {
		{ ERR_POOL_NOT_FOUND, "", FLEET_PART_POOL },
		{ ERR_CLAIM_EXISTS, "", FLEET_PART_NAME },
		{ ERR_BIND_CONTENDED, "", FLEET_PART_BINDING_KEY },
		{ ERR_CLAIM_REJECTED, "x is rejected (EnvVarsInjectionRejected): no",
			FLEET_PART_ENV },
		{ ERR_CLAIM_REJECTED, "x is rejected (VolumeClaimTemplatesError): no",
			FLEET_PART_VOLUMES },
		{ ERR_CLAIM_REJECTED, "x is rejected (InvalidMetadata): no",
			FLEET_PART_POD_LABELS },
		{ ERR_KUBE_INVALID, "metadata.labels: Invalid value", FLEET_PART_LABELS },
		{ ERR_KUBE_SERVER, "metadata.labels", FLEET_PART_NONE },
	};
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct err err = { 0 };
		err_set(&err, rows[i].code, "%s", rows[i].msg);
		assert_int_equal(rows[i].part, fleet_create_part_of(&err));
	}
}

static int forget(void **state)
{
	(void)state;
	free(last_body);
	last_body = NULL;
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(every_option_is_in_the_claim, forget),
		cmocka_unit_test_teardown(an_end_deletes_unless_told_otherwise, forget),
		cmocka_unit_test_teardown(options_win_over_a_file, forget),
		cmocka_unit_test(a_short_file),
		cmocka_unit_test(what_would_be_refused_is_not_sent),
		cmocka_unit_test(an_error_of_the_server_is_about_an_option),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
