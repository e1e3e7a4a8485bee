// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/unit.h"

#include "engine/base/err.h"
#include "engine/base/json.h"
#include "engine/runtime/errors.h"
#include "engine/runtime/legacy.h"

#include <stdlib.h>

static void expect_url(const char *path, const char *url)
{
	char *got = runtime_legacy_url("list", path);
	assert_string_equal(got, url);
	free(got);
}

static void urls_outlive_two_decodings(void **state)
{
	(void)state;
	expect_url("", "/list/%2E");
	expect_url("a.b", "/list/a.b");
	expect_url("a/b c", "/list/a%2Fb%20c");
	expect_url("100%41", "/list/100%252541");
	expect_url("\xc3\xbc", "/list/%C3%BC");
}

static void expect_command(
	const char *const *argv, const char *const *env, const char *cwd, const char *command)
{
	struct err err = { 0 };
	char *body = runtime_legacy_execute_body(argv, env, cwd, &err);
	assert_non_null(body);
	cJSON *json = json_parse(slice_of(body), NULL);
	assert_string_equal(json_str(json, "command", NULL), command);
	cJSON_Delete(json);
	free(body);
}

static void commands_are_quoted_twice(void **state)
{
	(void)state;
	const char *const plain[] = { "echo", "a b", NULL };
	const char *const env[] = { "K=v w", NULL };
	expect_command(plain, NULL, NULL, "/bin/sh -c 'exec '\\''echo'\\'' '\\''a b'\\'''");
	expect_command(plain, env, "-d",
		"/bin/sh -c 'cd -- '\\''./-d'\\'' && exec env '\\''K=v w'\\'' '\\''echo'\\'' "
		"'\\''a b'\\'''");
}

static void commands_that_cannot_be_sent(void **state)
{
	(void)state;
	static const char *const bad[] = { "\xff", "\xc0\x80", "\xed\xa0\x80",
		"\xf4\x90\x80\x80", "\xe2\x98", "\xf0\x80\x80\x80" };
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		const char *const argv[] = { "echo", bad[i], NULL };
		struct err err = { 0 };
		assert_null(runtime_legacy_execute_body(argv, NULL, NULL, &err));
		assert_int_equal(err.code, ERR_ARG_INVALID);
	}
	const char *const argv[] = { "a=b", NULL };
	const char *const env[] = { "K=v", NULL };
	assert_null(runtime_legacy_execute_body(argv, env, NULL, NULL));
}

static enum err_code result_code(const char *body)
{
	struct runtime_legacy_result result;
	struct err err = { 0 };
	bool ok = runtime_legacy_result_parse(slice_of(body), &result, &err);
	runtime_legacy_result_deinit(&result);
	assert_int_equal(ok, err.code == ERR_NONE);
	return err.code;
}

static void results(void **state)
{
	(void)state;
	struct runtime_legacy_result result;
	assert_true(runtime_legacy_result_parse(
		slice_of("{\"stdout\":\"o\",\"stderr\":\"e\",\"exit_code\":-9}"), &result,
		NULL));
	assert_int_equal(result.exit_code, -9);
	assert_string_equal(result.out, "o");
	assert_string_equal(result.err_out, "e");
	runtime_legacy_result_deinit(&result);
	assert_int_equal(
		result_code("{\"stdout\":\"\",\"stderr\":\"Failed to execute command: No such "
			    "file\",\"exit_code\":1}"),
		ERR_PROC_COMMAND_NOT_FOUND);
	assert_int_equal(
		result_code("{\"stdout\":\"x\",\"stderr\":\"Failed to execute command: No "
			    "such file\",\"exit_code\":1}"),
		ERR_NONE);
	assert_int_equal(
		result_code("{\"stdout\":\"\",\"exit_code\":1}"), ERR_RUNTIME_PROTOCOL);
	assert_int_equal(result_code("{\"stdout\":\"\",\"stderr\":\"\",\"exit_code\":1e9}"),
		ERR_RUNTIME_PROTOCOL);
	assert_int_equal(result_code("[]"), ERR_RUNTIME_PROTOCOL);
	assert_int_not_equal(result_code("<html>"), ERR_NONE);
}

static void forms(void **state)
{
	(void)state;
	struct runtime_legacy_form form;
	assert_true(runtime_legacy_form_init(&form, "d/a\"b\\c", NULL));
	assert_non_null(strstr(form.head, "; filename=\"d/a\\\"b\\\\c\"\r\n"));
	assert_memory_equal(form.tail, "\r\n--", 4);
	runtime_legacy_form_deinit(&form);
	char *too_long = malloc(70000);
	memset(too_long, 'x', 69999);
	too_long[69999] = 0;
	static const char *const bad[] = { "a\nb", "\\x", "c:\\x", "\xff", "a\x7f", "\x1f" };
	struct err why = { 0 };
	assert_false(runtime_legacy_form_init(&form, too_long, &why));
	assert_int_equal(why.code, ERR_ARG_PATH);
	assert_string_equal(why.msg, "the path is too long");
	runtime_legacy_form_deinit(&form);
	free(too_long);
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		struct err err = { 0 };
		assert_false(runtime_legacy_form_init(&form, bad[i], &err));
		assert_int_equal(err.code, ERR_ARG_PATH);
		runtime_legacy_form_deinit(&form);
	}
}

static enum err_code router_code(int status, const char *body)
{
	struct err err = { 0 };
	return runtime_errors_is_router(&err, status, slice_of(body)) ? err.code : ERR_NONE;
}

static void a_router_answers_for_itself(void **state)
{
	(void)state;
	assert_int_equal(router_code(400, "{\"detail\":\"x\"}"), ERR_ROUTER_REJECTED);
	assert_int_equal(router_code(403, "{\"detail\":\"x\"}"), ERR_ROUTER_REJECTED);
	assert_int_equal(router_code(502, "{\"detail\":\"x\"}"), ERR_ROUTER_BACKEND);
	assert_int_equal(router_code(504, "<html>"), ERR_ROUTER_BACKEND);
	assert_int_equal(router_code(403, "{\"message\":\"Access denied\"}"), ERR_NONE);
	assert_int_equal(router_code(404, "{\"detail\":\"Not Found\"}"), ERR_NONE);
	assert_int_equal(router_code(422, "{\"detail\":[]}"), ERR_NONE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(urls_outlive_two_decodings),
		cmocka_unit_test(commands_are_quoted_twice),
		cmocka_unit_test(commands_that_cannot_be_sent),
		cmocka_unit_test(results),
		cmocka_unit_test(forms),
		cmocka_unit_test(a_router_answers_for_itself),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
