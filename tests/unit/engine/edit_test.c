// SPDX-License-Identifier: Apache-2.0
// An edit against a scripted API server: what is sent and in which order, refusals, somebody else who was faster.
#include "engine/engine.h"
#include "engine/internal.h"
#include "engine/k8s/resource.h"
#include "tests/unit/engine/kube/api.h"

enum { ANSWERS = 8 };

struct bench {
	struct api api;
	struct engine *engine;
	struct engine_edit *edit;
	const char *object; /* as it is read */
	int codes[ANSWERS]; /* of the writes, in order */
	const char *bodies[ANSWERS];
	size_t n_writes;
	/* what was told */
	int n_told;
	enum engine_edit_step step;
	char *text;
	struct err err;
};

static void answer(
	struct api *api, struct evhttp_request *request, const struct api_request *is)
{
	struct bench *bench = api->test;
	if (strstr(is->path, "selfsubject")) {
		api_reply(request, 201, "{\"status\":{\"allowed\":true}}");
	} else if (strcmp(is->method, "GET") == 0) {
		api_reply(request, 200, "%s", bench->object);
	} else {
		size_t i = bench->n_writes++;
		assert_true(i < ANSWERS && bench->codes[i]);
		api_reply(request, bench->codes[i], "%s",
			bench->bodies[i] ? bench->bodies[i] : bench->object);
	}
}

static void told(void *arg, enum engine_edit_step step, const char *text, const struct err *err)
{
	struct bench *bench = arg;
	bench->n_told++;
	bench->step = step;
	free(bench->text);
	bench->text = text ? strdup(text) : NULL;
	bench->err = err ? *err : (struct err){ 0 };
}

#define BASE                                                                                       \
	"{\"apiVersion\":\"v1\",\"kind\":\"Thing\",\"metadata\":{\"name\":\"box\","                \
	"\"namespace\":\"demo\",\"uid\":\"u1\",\"resourceVersion\":\"7\",\"managedFields\":[{}]}," \
	"\"spec\":{\"a\":1,\"b\":1},\"status\":{\"phase\":\"fine\"}}"
#define OTHER(rv, uid, a, b)                                                                   \
	"{\"apiVersion\":\"v1\",\"kind\":\"Thing\",\"metadata\":{\"name\":\"box\","            \
	"\"namespace\":\"demo\",\"uid\":\"" uid "\",\"resourceVersion\":\"" rv "\"},"          \
	"\"spec\":{\"a\":" a ",\"b\":" b "}}"
#define STATUS(code, reason, message)                                                          \
	"{\"kind\":\"Status\",\"status\":\"Failure\",\"reason\":\"" reason                     \
	"\",\"message\":\"" message "\",\"code\":" code "}"

static void begin(struct bench *bench, bool read_only)
{
	struct err err = { 0 };
	memset(bench, 0, sizeof *bench);
	api_start(&bench->api, "    username: u\n    password: p", answer, bench);
	bench->object = BASE;
	char *path = x_asprintf("%s/config", bench->api.dir);
	const struct engine_opts opts = {
		.kubeconfig = path, .no_fleet = true, .read_only = read_only
	};
	bench->engine = engine_new(bench->api.loop, &opts, &err);
	assert_non_null(bench->engine);
	free(path);
}

static const struct engine_object_id box = { &k8s_sandboxclaims, "demo", "box", "claim" };

static void wait_told(struct bench *bench, int n)
{
	API_UNTIL(&bench->api, bench->n_told == n, 10000);
}

static void open_text(struct bench *bench)
{
	struct err err = { 0 };
	begin(bench, false);
	bench->edit = engine_edit_start(bench->engine, &box, told, bench, &err);
	assert_non_null(bench->edit);
	wait_told(bench, 1);
	assert_int_equal(bench->step, ENGINE_EDIT_TEXT);
}

/* The text that was given with one word for another, as an editor leaves it. */
static void save(struct bench *bench, const char *from, const char *to)
{
	const char *at = strstr(bench->text, from);
	if (!at)
		fail_msg("no %s in %s", from, bench->text);
	char *text = x_asprintf(
		"%.*s%s%s", (int)(at - bench->text), bench->text, to, at + strlen(from));
	engine_edit_save(bench->edit, slice_of(text), true);
	free(text);
}

/* The nth request that was no GET and no review. */
static const struct api_request *write_of(const struct bench *bench, size_t nth)
{
	for (size_t i = 0; i < bench->api.n; i++)
		if (strcmp(bench->api.log[i].method, "GET") != 0 &&
			!strstr(bench->api.log[i].path, "selfsubject") && !nth--)
			return &bench->api.log[i];
	fail_msg("not so many writes");
	return NULL;
}

static void end(struct bench *bench)
{
	engine_edit_free(bench->edit);
	engine_free(bench->engine);
	api_stop(&bench->api);
	free(bench->text);
}

static void test_a_change(void **state)
{
	struct bench bench;
	(void)state;
	open_text(&bench);
	assert_null(strstr(bench.text, "managedFields"));
	assert_null(strstr(bench.text, "status"));
	bench.codes[0] = bench.codes[1] = 200;
	save(&bench, "a: 1", "a: 5");
	wait_told(&bench, 2);
	assert_int_equal(bench.step, ENGINE_EDIT_DONE);
	const struct api_request *trial = write_of(&bench, 0), *real = write_of(&bench, 1);
	const char *patch =
		"{\"spec\":{\"a\":5},\"metadata\":{\"uid\":\"u1\",\"resourceVersion\":\"7\"}}";
	assert_string_equal(trial->method, "PATCH");
	assert_string_equal(
		trial->query, "dryRun=All&fieldManager=sandmux-edit&fieldValidation=Strict");
	assert_string_equal(trial->body, patch);
	assert_string_equal(real->query, "fieldManager=sandmux-edit&fieldValidation=Strict");
	assert_string_equal(real->body, patch);
	assert_int_equal(bench.n_writes, 2);
	end(&bench);
}

static void test_nothing_to_change(void **state)
{
	struct bench bench;
	(void)state;
	open_text(&bench);
	engine_edit_save(bench.edit, slice_of(bench.text), false);
	wait_told(&bench, 2);
	assert_int_equal(bench.step, ENGINE_EDIT_UNCHANGED);
	end(&bench);
	open_text(&bench);
	save(&bench, "a: 1", "a:   1 # as it was");
	wait_told(&bench, 2);
	assert_int_equal(bench.step, ENGINE_EDIT_UNCHANGED);
	assert_int_equal(bench.n_writes, 0);
	end(&bench);
}

static void test_what_is_no_object(void **state)
{
	struct bench bench;
	(void)state;
	open_text(&bench);
	save(&bench, "spec:", "spec: [");
	wait_told(&bench, 2);
	assert_int_equal(bench.step, ENGINE_EDIT_TEXT);
	assert_non_null(strstr(bench.text, "# Not changed (config.file):"));
	assert_non_null(strstr(bench.text, "spec: ["));
	save(&bench, "spec: [", "spec:");
	wait_told(&bench, 3);
	assert_int_equal(bench.step, ENGINE_EDIT_UNCHANGED);
	end(&bench);
}

static void test_another_object(void **state)
{
	struct bench bench;
	(void)state;
	open_text(&bench);
	save(&bench, "name: box", "name: bag");
	wait_told(&bench, 2);
	assert_int_equal(bench.step, ENGINE_EDIT_TEXT);
	assert_non_null(strstr(bench.text, "metadata.name cannot be changed"));
	assert_int_equal(bench.n_writes, 0);
	end(&bench);
}

static void test_the_server_says_no(void **state)
{
	struct bench bench;
	(void)state;
	open_text(&bench);
	bench.codes[0] = 422;
	bench.bodies[0] = STATUS("422", "Invalid", "spec.a: 5 is too much");
	bench.codes[1] = bench.codes[2] = 200;
	save(&bench, "a: 1", "a: 5 # mine");
	wait_told(&bench, 2);
	assert_int_equal(bench.step, ENGINE_EDIT_TEXT);
	assert_non_null(strstr(bench.text, "# spec.a: 5 is too much\n"));
	assert_non_null(strstr(bench.text, "a: 5 # mine"));
	/* mended: the head of the refusal is no part of it */
	save(&bench, "\n  a: 5", "\n  a: 4");
	wait_told(&bench, 3);
	assert_int_equal(bench.step, ENGINE_EDIT_DONE);
	assert_non_null(strstr(write_of(&bench, 2)->body, "{\"a\":4}"));
	end(&bench);
	/* left as it is: given up */
	open_text(&bench);
	bench.codes[0] = 422;
	bench.bodies[0] = STATUS("422", "Invalid", "no");
	save(&bench, "a: 1", "a: 5");
	wait_told(&bench, 2);
	engine_edit_save(bench.edit, slice_of(bench.text), true);
	wait_told(&bench, 3);
	assert_int_equal(bench.step, ENGINE_EDIT_FAILED);
	assert_int_equal(bench.err.code, ERR_KUBE_INVALID);
	end(&bench);
}

static void test_other_failures(void **state)
{
	struct bench bench;
	(void)state;
	open_text(&bench);
	bench.codes[0] = 404;
	bench.bodies[0] = STATUS("404", "NotFound", "gone");
	save(&bench, "a: 1", "a: 5");
	wait_told(&bench, 2);
	assert_int_equal(bench.step, ENGINE_EDIT_FAILED);
	assert_int_equal(bench.err.code, ERR_KUBE_NOT_FOUND);
	end(&bench);
}

static void test_changes_are_joined(void **state)
{
	struct bench bench;
	(void)state;
	open_text(&bench);
	bench.codes[0] = 409;
	bench.bodies[0] = STATUS("409", "Conflict", "the object has been modified");
	bench.codes[1] = bench.codes[2] = 200;
	bench.object = OTHER("9", "u1", "1", "6");
	save(&bench, "a: 1", "a: 5");
	wait_told(&bench, 2);
	assert_int_equal(bench.step, ENGINE_EDIT_DONE);
	assert_string_equal(write_of(&bench, 2)->body,
		"{\"spec\":{\"a\":5},\"metadata\":{\"uid\":\"u1\",\"resourceVersion\":\"9\"}}");
	end(&bench);
}

static void test_changes_collide(void **state)
{
	struct bench bench;
	(void)state;
	open_text(&bench);
	bench.codes[0] = 409;
	bench.bodies[0] = STATUS("409", "Conflict", "the object has been modified");
	bench.object = OTHER("9", "u1", "3", "6");
	save(&bench, "a: 1", "a: 5");
	wait_told(&bench, 2);
	assert_int_equal(bench.step, ENGINE_EDIT_TEXT);
	assert_non_null(
		strstr(bench.text, "spec.a\n#     yours:        5\n#     the server's: 3"));
	assert_non_null(strstr(bench.text, "\n  a: 5\n  b: 6\n"));
	assert_int_equal(bench.n_writes, 1);
	/* written again: yours */
	bench.codes[1] = bench.codes[2] = 200;
	engine_edit_save(bench.edit, slice_of(bench.text), true);
	wait_told(&bench, 3);
	assert_int_equal(bench.step, ENGINE_EDIT_DONE);
	assert_string_equal(write_of(&bench, 2)->body,
		"{\"spec\":{\"a\":5},\"metadata\":{\"uid\":\"u1\",\"resourceVersion\":\"9\"}}");
	end(&bench);
	/* left: nothing is sent */
	open_text(&bench);
	bench.codes[0] = 409;
	bench.bodies[0] = STATUS("409", "Conflict", "the object has been modified");
	bench.object = OTHER("9", "u1", "3", "6");
	save(&bench, "a: 1", "a: 5");
	wait_told(&bench, 2);
	engine_edit_save(bench.edit, slice_of(bench.text), false);
	wait_told(&bench, 3);
	assert_int_equal(bench.step, ENGINE_EDIT_FAILED);
	assert_int_equal(bench.n_writes, 1);
	end(&bench);
}

static void test_made_anew(void **state)
{
	struct bench bench;
	(void)state;
	open_text(&bench);
	bench.codes[0] = 409;
	bench.bodies[0] = STATUS("409", "Conflict", "the UID in the precondition");
	bench.object = OTHER("9", "u2", "1", "1");
	save(&bench, "a: 1", "a: 5");
	wait_told(&bench, 2);
	assert_int_equal(bench.step, ENGINE_EDIT_FAILED);
	assert_int_equal(bench.err.code, ERR_KUBE_CONFLICT);
	end(&bench);
}

static void test_read_only(void **state)
{
	struct bench bench;
	struct err err = { 0 };
	(void)state;
	begin(&bench, true);
	assert_null(engine_edit_start(bench.engine, &box, told, &bench, &err));
	assert_int_equal(err.code, ERR_OP_READ_ONLY);
	end(&bench);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_change),
		cmocka_unit_test(test_nothing_to_change),
		cmocka_unit_test(test_what_is_no_object),
		cmocka_unit_test(test_another_object),
		cmocka_unit_test(test_the_server_says_no),
		cmocka_unit_test(test_other_failures),
		cmocka_unit_test(test_changes_are_joined),
		cmocka_unit_test(test_changes_collide),
		cmocka_unit_test(test_made_anew),
		cmocka_unit_test(test_read_only),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
