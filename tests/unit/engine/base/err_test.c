// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/unit.h"

#include "engine/base/err.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static void test_every_code_has_a_row(void **state)
{
	(void)state;
	for (int i = 0; i < ERR_CODE_COUNT; i++) {
		struct err err = { .code = (enum err_code)i };
		const char *name = err_code_name(err.code);
		assert_non_null(name);
		assert_true(strlen(name) > 1 &&
			    strspn(name, "abcdefghijklmnopqrstuvwxyz._") == strlen(name));
		assert_non_null(err_hint(&err));
		if (i > 0)
			assert_in_range(err_exit_status(&err), 1, 8);
		for (int j = 0; j < i; j++)
			assert_string_not_equal(name, err_code_name((enum err_code)j));
	}
	assert_string_equal(err_code_name(ERR_CODE_COUNT), "internal");
}

/* What ends a whole tree of files: by code or by family of codes, and nothing else does. */
static void test_what_ends_with_a_code(void **state)
{
	static const char *const all[] = { "conn.", "portfwd.", "sandbox.", "file.no_space",
		"limit.entries", "op.read_only", "op.unsupported", "op.closed",
		"kube.transport", "runtime.auth", "runtime.unavailable", "proc.lost" };
	(void)state;
	for (int i = 0; i < ERR_CODE_COUNT; i++) {
		const char *name = err_code_name((enum err_code)i);
		bool is_all = false;
		for (size_t j = 0; j < sizeof all / sizeof all[0]; j++)
			is_all = is_all || strncmp(name, all[j], strlen(all[j])) == 0;
		if (is_all != (err_code_scope((enum err_code)i) == ERR_SCOPE_ALL))
			fail_msg("%s", name);
		assert_int_equal(
			err_code_is_rpc((enum err_code)i), strncmp(name, "rpc.", 4) == 0);
	}
}

static void test_messages(void **state)
{
	(void)state;
	struct err err = { .sys = 5 };
	assert_false(err_set(&err, ERR_CONN_DNS, "no %s", "name"));
	assert_string_equal(err.msg, "no name");
	assert_int_equal(err.sys, 0);
	err_set(&err, ERR_CONN_LOST, "again: %s", err.msg); /* its own text as an argument */
	assert_string_equal(err.msg, "again: no name");
	err_prefix(&err, "while %s", "testing");
	assert_string_equal(err.msg, "while testing: again: no name");
	assert_int_equal(err.code, ERR_CONN_LOST);
	char large[2000];
	memset(large, 'x', sizeof large);
	large[sizeof large - 1] = '\0';
	err_prefix(&err, "%s", large);
	assert_int_equal(strlen(err.msg), ERR_MESSAGE_BYTES - 1);
	assert_false(err_set(NULL, ERR_INTERNAL, "nobody listens"));
	assert_false(err_set_errno(NULL, EIO, "x"));
	assert_false(err_prefix(NULL, "x"));
	struct err copy = { .code = ERR_NONE };
	err_copy(&copy, NULL);
	err_copy(NULL, &err);
	assert_int_equal(copy.code, ERR_NONE);
	err_copy(&copy, &err);
	assert_int_equal(copy.code, ERR_CONN_LOST);
}

static void test_errno(void **state)
{
	(void)state;
	static const struct {
		int errnum;
		enum err_code code;
	} cases[] = { { ENOENT, ERR_FILE_NOT_FOUND }, { EACCES, ERR_FILE_DENIED },
		{ EROFS, ERR_FILE_DENIED }, { ENOSPC, ERR_FILE_NO_SPACE },
		{ EISDIR, ERR_FILE_IS_DIR }, { ELOOP, ERR_FILE_LOOP },
		{ ECONNREFUSED, ERR_CONN_REFUSED }, { ECONNRESET, ERR_CONN_LOST },
		{ EIO, ERR_SYSTEM } };
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct err err;
		err_set_errno(&err, cases[i].errnum, "f%d", 1);
		assert_int_equal(err.code, cases[i].code);
		assert_int_equal(err.sys, cases[i].errnum);
		assert_true(strncmp(err.msg, "f1: ", 4) == 0 && strlen(err.msg) > 8);
	}
}

static void test_http_and_grpc_codes(void **state)
{
	(void)state;
	struct err err;
	err_set(&err, ERR_HTTP_STATUS, "x");
	err.sys = 418;
	assert_string_equal(err_name(&err), "http.418");
	assert_int_equal(err_retry(&err), ERR_RETRY_NO);
	err.sys = 503;
	assert_int_equal(err_retry(&err), ERR_RETRY_SAME);
	static const char *const names[] = { NULL, "rpc.cancelled", "rpc.unknown",
		"rpc.invalid_argument", "rpc.deadline_exceeded", "rpc.not_found",
		"rpc.already_exists", "rpc.permission_denied", "rpc.resource_exhausted",
		"rpc.failed_precondition", "rpc.aborted", "rpc.out_of_range",
		"rpc.unimplemented", "rpc.internal", "rpc.unavailable", "rpc.data_loss",
		"rpc.unauthenticated" };
	for (int i = 1; i <= 16; i++)
		assert_string_equal(err_code_name(err_code_of_grpc(i)), names[i]);
	assert_int_equal(err_code_of_grpc(17), ERR_RPC_UNKNOWN);
	assert_int_equal(err_code_of_grpc(-1), ERR_RPC_UNKNOWN);
	assert_int_equal(err_code_of_grpc(0), ERR_RPC_UNKNOWN);
}

static void test_every_errno(void **state)
{
	static const struct {
		int errnum;
		enum err_code code;
	} rows[] = {
		{ ENOENT, ERR_FILE_NOT_FOUND },
		{ EACCES, ERR_FILE_DENIED },
		{ EPERM, ERR_FILE_DENIED },
		{ EROFS, ERR_FILE_DENIED },
		{ EEXIST, ERR_FILE_EXISTS },
		{ EISDIR, ERR_FILE_IS_DIR },
		{ ENOTDIR, ERR_FILE_NOT_DIR },
		{ ENOTEMPTY, ERR_FILE_NOT_EMPTY },
		{ ELOOP, ERR_FILE_LOOP },
		{ ENOSPC, ERR_FILE_NO_SPACE },
		{ EDQUOT, ERR_FILE_NO_SPACE },
		{ ECONNREFUSED, ERR_CONN_REFUSED },
		{ ECONNRESET, ERR_CONN_LOST },
		{ EPIPE, ERR_CONN_LOST },
		{ ENETUNREACH, ERR_CONN_LOST },
		{ EHOSTUNREACH, ERR_CONN_LOST },
		{ ETIMEDOUT, ERR_OP_TIMEOUT },
		{ EIO, ERR_SYSTEM },
		{ EBADF, ERR_SYSTEM },
	};
	char wanted[200];
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct err err = { 0 };
		assert_false(err_set_errno(&err, rows[i].errnum, "%s", "it"));
		assert_int_equal(err.code, rows[i].code);
		assert_int_equal(err.sys, rows[i].errnum);
		snprintf(wanted, sizeof wanted, "it: %s", strerror(rows[i].errnum));
		assert_string_equal(err.msg, wanted);
	}
	assert_false(err_set_errno(NULL, EIO, "x"));
	assert_false(err_prefix(NULL, "x"));
	assert_false(err_set(NULL, ERR_SYSTEM, "x"));
}

/* Nothing is given: the one error stays as it is. */
static void test_copies(void **state)
{
	struct err one = { 0 }, two = { 0 };
	(void)state;
	err_set(&one, ERR_FILE_DENIED, "one");
	err_copy(&two, NULL);
	assert_int_equal(two.code, ERR_NONE);
	err_copy(NULL, &one);
	err_copy(&one, &one);
	err_copy(&two, &one);
	assert_int_equal(two.code, ERR_FILE_DENIED);
	assert_string_equal(two.msg, "one");
	two.sys = 5;
	err_set(&two, ERR_SYSTEM, "again %s", two.msg);
	assert_string_equal(two.msg, "again one");
	assert_int_equal(two.sys, 0);
	/* by the status of an answer */
	two.code = ERR_HTTP_STATUS;
	two.sys = 500;
	assert_int_equal(err_retry(&two), ERR_RETRY_SAME);
	assert_string_equal(err_name(&two), "http.500");
	two.sys = 499;
	assert_int_equal(err_retry(&two), ERR_RETRY_NO);
	assert_string_equal(err_code_name((enum err_code)ERR_CODE_COUNT), "internal");
}

/* The right that is missing goes where its error goes, and not further. */
static void test_denied(void **state)
{
	struct err one = { 0 }, two = { 0 };
	char longest[200];
	(void)state;
	err_set(&one, ERR_KUBE_FORBIDDEN, "no");
	assert_false(err_set_denied(&one, "get", "apps", "pods", "log", "demo"));
	err_prefix(&one, "why");
	err_copy(&two, &one);
	assert_string_equal(two.denied.verb, "get");
	assert_string_equal(two.denied.group, "apps");
	assert_string_equal(two.denied.resource, "pods");
	assert_string_equal(two.denied.subresource, "log");
	assert_string_equal(two.denied.namespace_, "demo");
	err_set(&two, ERR_KUBE_NOT_FOUND, "another");
	assert_string_equal(two.denied.verb, "");
	/* half a name would be another right */
	memset(longest, 'x', sizeof longest - 1);
	longest[sizeof longest - 1] = '\0';
	err_set_denied(&one, "get", longest, "pods", "", "");
	assert_string_equal(one.denied.verb, "");
	err_set_denied(&one, longest, "", "pods", "", "");
	assert_string_equal(one.denied.verb, "");
	assert_false(err_set_denied(NULL, "get", "", "pods", "", ""));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_code_has_a_row),
		cmocka_unit_test(test_what_ends_with_a_code),
		cmocka_unit_test(test_messages),
		cmocka_unit_test(test_errno),
		cmocka_unit_test(test_http_and_grpc_codes),
		cmocka_unit_test(test_every_errno),
		cmocka_unit_test(test_copies),
		cmocka_unit_test(test_denied),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
