// SPDX-License-Identifier: Apache-2.0
/* How things are printed: tables, JSON and YAML, errors, remarks; foreign text in all of them. */
#include "tests/unit/unit.h"

#include "cli/cli.h"
#include "cli/execute.h"
#include "cli/limits.h"
#include "engine/base/err.h"
#include "engine/base/json.h"
#include "engine/base/mem.h"
#include "tests/unit/cli/written.h"

#include <errno.h>
#include <locale.h>
#include <string.h>

#define COUNT(a) (sizeof(a) / sizeof(a)[0])

/* What fn writes to stdout; what it writes to stderr must be `err`. */
#define EXPECT(call, out_text, err_text)                                                       \
	do {                                                                                   \
		struct written written_;                                                       \
		written_begin(&written_);                                                      \
		call;                                                                          \
		written_end(&written_);                                                        \
		assert_string_equal(written_.out, out_text);                                   \
		assert_string_equal(written_.err, err_text);                                   \
		free(written_.out);                                                            \
		free(written_.err);                                                            \
	} while (0)

static void print_table(const char *const *cells, size_t n, bool titles)
{
	static const char *const names[] = { "A", "LONG", "C" };
	struct cli_table *table = cli_table_new(3, names);
	for (size_t i = 0; i < n; i++)
		cli_table_cell(table, cells[i]);
	cli_table_print(table, titles);
}

static void tables(void **state)
{
	static const char *const cells[] = { "aa", "b", "c", "", NULL, "\033[2J", "\u4e16", "x",
		"d" };
	(void)state;
	EXPECT(print_table(cells, 9, true),
		"A    LONG   C\n"
		"aa   b      c\n"
		"-    -      ^[[2J\n"
		"\u4e16   x      d\n",
		"");
	/* without titles a column is as wide as its cells */
	EXPECT(print_table(cells, 3, false), "aa   b   c\n", "");
	EXPECT(print_table(cells, 0, true), "A   LONG   C\n", "");
	EXPECT(print_table(cells, 0, false), "", "");
}

static void long_cells_are_cut(void **state)
{
	static char text[600];
	static const char *const names[] = { "A" };
	struct written written;
	(void)state;
	memset(text, 'x', sizeof text - 1);
	written_begin(&written);
	struct cli_table *table = cli_table_new(1, names);
	cli_table_cell(table, text);
	cli_table_print(table, false);
	written_end(&written);
	assert_in_range(strlen(written.out), 500, 513);
	assert_non_null(strstr(written.out, "xx…\n"));
	free(written.out);
	free(written.err);
}

/* Everything that a terminal would obey is an escape of JSON; what it shows stays. */
static void documents(void **state)
{
	static const struct {
		const char *text, *shown;
	} rows[] = {
		{ "a b~", "\"a b~\"\n" },
		{ "\u00e9\u4e16", "\"\u00e9\u4e16\"\n" },
		{ "e\u0301x", "\"e\u0301x\"\n" },
		{ "\x7f", "\"\\u007f\"\n" },
		{ "\u202e", "\"\\u202e\"\n" },
		{ "\xc2\x85", "\"\\u0085\"\n" },
		{ "a\u200bb", "\"a\\u200bb\"\n" },
		{ "\U000e0041", "\"\\udb40\\udc41\"\n" },
		{ "\U0001F600", "\"\U0001F600\"\n" },
		{ "\n\t\033", "\"\\n\\t\\u001b\"\n" },
	};
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		cJSON *value = cJSON_CreateString(rows[i].text);
		EXPECT(cli_print_json(value), rows[i].shown, "");
		EXPECT(cli_print_json_line(value), rows[i].shown, "");
		cJSON_Delete(value);
	}
	cJSON *object = json_parse(slice_of("{\"a\":[1,\"\xc2\x85\"]}"), NULL);
	struct cli cli = { 0 };
	EXPECT(cli_print_json_line(object), "{\"a\":[1,\"\\u0085\"]}\n", "");
	cli.opt.output = CLI_YAML;
	EXPECT(cli_print_object(&cli, object), "a:\n- 1\n- \"\\N\"\n", "");
	cli.opt.output = CLI_JSON;
	EXPECT(cli_print_object(&cli, object), "{\n\t\"a\":\t[1, \"\\u0085\"]\n}\n", "");
	cJSON_Delete(object);
}

static void structured_forms(void **state)
{
	static const bool is[CLI_OUTPUT_COUNT] = {
		[CLI_JSON] = true,
		[CLI_YAML] = true,
		[CLI_EXPRESSION] = true,
		[CLI_COLUMNS] = true,
	};
	(void)state;
	for (int i = 0; i < CLI_OUTPUT_COUNT; i++) {
		const struct cli cli = { .opt.output = (enum cli_output)i };
		assert_int_equal(cli_is_structured(&cli), is[i]);
	}
}

static void bytes_in_json(void **state)
{
	static const struct {
		const char *bytes;
		size_t n;
		const char *text;
	} rows[] = {
		{ "", 0, "{\"k\":\"\"}" },
		{ "ab", 2, "{\"k\":\"ab\"}" },
		{ "\xc3\xa9", 2, "{\"k\":\"\u00e9\"}" },
		{ "a\0b", 3, "{\"k\":\"a\uFFFDb\",\"kBase64\":\"YQBi\"}" },
		{ "\xff", 1, "{\"k\":\"\uFFFD\",\"kBase64\":\"/w==\"}" },
		{ "\xff\xfeok", 4, "{\"k\":\"\uFFFD\uFFFDok\",\"kBase64\":\"//5vaw==\"}" },
		{ "\xc3", 1, "{\"k\":\"\uFFFD\",\"kBase64\":\"ww==\"}" },
	};
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		cJSON *object = cJSON_CreateObject();
		cli_json_bytes(object, "k", (struct slice){ rows[i].bytes, rows[i].n });
		char *text = cJSON_PrintUnformatted(object);
		assert_string_equal(text, rows[i].text);
		free(text);
		cJSON_Delete(object);
	}
}

static void remarks(void **state)
{
	struct cli cli = { 0 };
	(void)state;
	EXPECT(cli_note(&cli, "%s %d", "a\033b", 7), "", "a^[b 7\n");
	cli.opt.quiet = true;
	EXPECT(cli_note(&cli, "%s", "a"), "", "");
	EXPECT(cli_put_safe("a\nb\033"), "a^Jb^[", "");
}

static int status_of;
static void refuse(enum cli_output output, enum err_code code, int sys)
{
	struct cli cli = { .opt.output = output };
	struct err err = { 0 };
	err_set(&err, code, "it\033 went %s", "wrong");
	err.sys = sys;
	status_of = cli_fail(&cli, &err);
}

static void refuse_usage(void)
{
	struct cli cli = { 0 };
	status_of = cli_fail_usage(&cli, "%d is wrong", 3);
}

static void errors(void **state)
{
	static const struct err timeout = { .code = ERR_OP_TIMEOUT },
				lost = { .code = ERR_CONN_LOST },
				bad = { .code = ERR_ARG_INVALID };
	(void)state;
	char *text = x_asprintf("sandmux: op.timeout: it^[ went wrong%s%s\n",
		err_hint(&timeout)[0] ? "; " : "", err_hint(&timeout));
	EXPECT(refuse(CLI_TABLE, ERR_OP_TIMEOUT, 0), "", text);
	assert_int_equal(status_of, 5);
	EXPECT(refuse(CLI_YAML, ERR_OP_TIMEOUT, 0), "", text);
	free(text);
	text = x_asprintf("{\"code\":\"conn.lost\",\"message\":\"it\\u001b went wrong\","
			  "\"retryable\":%s,\"hint\":\"%s\"}\n",
		err_retry(&lost) == ERR_RETRY_SAME ? "true" : "false", err_hint(&lost));
	EXPECT(refuse(CLI_JSON, ERR_CONN_LOST, 0), "", text);
	assert_int_equal(status_of, 6);
	free(text);
	/* somebody reads our stdout: then a broken pipe was another */
	text = x_asprintf("{\"code\":\"arg.invalid\",\"message\":\"it\\u001b went wrong\","
			  "\"retryable\":false,\"hint\":\"%s\"}\n",
		err_hint(&bad));
	EXPECT(refuse(CLI_JSON, ERR_ARG_INVALID, EPIPE), "", text);
	assert_int_equal(status_of, 2);
	/* no signal has come */
	EXPECT(refuse(CLI_JSON, ERR_ARG_INVALID, EINTR), "", text);
	assert_int_equal(status_of, 2);
	free(text);
	text = x_asprintf("sandmux: arg.invalid: 3 is wrong%s%s\n",
		err_hint(&bad)[0] ? "; " : "", err_hint(&bad));
	EXPECT(refuse_usage(), "", text);
	assert_int_equal(status_of, 2);
	free(text);
	assert_int_equal(cli_closed_status(), 141);
	assert_int_equal(cli_signal_status(2), 130);
}

/* ---- rows */

static void a_row(void **state)
{
	struct fleet_row row = { .uid = "u",
		.namespace_ = "n",
		.claim = "c",
		.sandbox = "s",
		.state = FLEET_READY,
		.why = "",
		.next = "",
		.pod = "",
		.pod_ip = "",
		.node = "k",
		.pool = "p",
		.template_ = "t",
		.created_by = "me",
		.labels = "app=x,empty=",
		.created_ms = 1767225600000,
		.restarts = 3,
		.is_warm_start = true };
	(void)state;
	cJSON *object = cli_row_json(&fleet_sandbox_kind, &row);
	char *text = cJSON_PrintUnformatted(object);
	assert_string_equal(text,
		"{\"uid\":\"u\",\"namespace\":\"n\",\"claim\":\"c\",\"sandbox\":\"s\","
		"\"state\":\"Ready\",\"why\":null,\"whySince\":null,\"next\":null,\"pod\":null,\"podIP\":null,"
		"\"node\":\"k\",\"pool\":\"p\",\"template\":\"t\",\"createdBy\":\"me\","
		"\"createdAt\":\"2026-01-01T00:00:00Z\",\"expiresAt\":null,\"restarts\":null,"
		"\"warmStart\":true,\"cpuMillis\":null,\"cpuLimitMillis\":null,"
		"\"cpuRequestMillis\":null,\"memoryBytes\":null,\"memoryLimitBytes\":null,"
		"\"memoryRequestBytes\":null,\"diskBytes\":null,\"diskLimitBytes\":null,\"metadata\":{\"name\":\"c\",\"namespace\":\"n\","
		"\"labels\":{\"app\":\"x\",\"empty\":\"\"}}}");
	free(text);
	cJSON_Delete(object);
	snprintf(row.pod_uid, sizeof row.pod_uid, "p");
	row.is_warm_start = false;
	object = cli_row_json(&fleet_sandbox_kind, &row);
	assert_int_equal(json_get(object, "restarts", NULL)->valueint, 3);
	assert_true(cJSON_IsFalse(json_get(object, "warmStart", NULL)));
	cJSON_Delete(object);
}

/* ---- limits */

static void print_limits(const char *text)
{
	cJSON *rows = json_parse(slice_of(text), NULL);
	cli_limits_print("Limits", rows);
	cJSON_Delete(rows);
}

static void limits(void **state)
{
	(void)state;
	EXPECT(print_limits("[]"), "", "");
	EXPECT(print_limits("{\"what\":\"a\"}"), "", "");
	EXPECT(cli_limits_print("Limits", NULL), "", "");
	EXPECT(print_limits(
		       "[{\"what\":\"a\",\"value\":\"1\",\"how\":\"cgroup\"},"
		       "{\"what\":\"b\",\"value\":\"2\",\"how\":\"rlimit\",\"why\":\"w\"},"
		       "{\"what\":\"c\",\"how\":\"tmpfs\"},{\"what\":\"d\",\"how\":\"watched\"},"
		       "{\"what\":\"e\",\"how\":\"none\"},{\"what\":\"f\",\"how\":\"other\"},"
		       "{}]"),
		"Limits\n"
		"  WHAT   LIMIT   HELD BY                                \n"
		"  a      1       the kernel, by a cgroup                -\n"
		"  b      2       the kernel, by a resource limit        w\n"
		"  c      -       the kernel, by the size of the mount   -\n"
		"  d      -       watching                               -\n"
		"  e      -       NOTHING                                -\n"
		"  f      -       other                                  -\n"
		"         -       -                                      -\n",
		"");
}

static void where_limits_are_told(void **state)
{
	static const struct {
		const char *text;
		bool is;
	} rows[] = {
		{ "{\"metadata\":{\"annotations\":{\"sandmux.local/limits\":\"[1]\"}}}", true },
		{ "{\"metadata\":{\"annotations\":{\"sandmux.local/limits\":\"{}\"}}}", false },
		{ "{\"metadata\":{\"annotations\":{\"sandmux.local/limits\":\"[\"}}}", false },
		{ "{\"metadata\":{\"annotations\":{}}}", false },
	};
	(void)state;
	assert_null(cli_limits_of(NULL));
	for (size_t i = 0; i < COUNT(rows); i++) {
		cJSON *object = json_parse(slice_of(rows[i].text), NULL);
		cJSON *limits = cli_limits_of(object);
		assert_int_equal(limits != NULL, rows[i].is);
		cJSON_Delete(limits);
		cJSON_Delete(object);
	}
}

/* ---- a command's result */

static void results(void **state)
{
	const struct cli cli = { .opt.output = CLI_JSON };
	struct runtime_result result = {
		.exit_code = 7, .out = slice_of("o\n"), .err_out = slice_of("e")
	};
	(void)state;
	EXPECT(cli_print_result(&cli, &result, 1500),
		"{\n\t\"stdout\":\t\"o\\n\",\n\t\"stderr\":\t\"e\",\n\t\"exitCode\":\t7,\n"
		"\t\"duration\":\t1.5\n}\n",
		"");
	result.exit_code = 0;
	EXPECT(cli_print_result(&cli, &result, 0),
		"{\n\t\"stdout\":\t\"o\\n\",\n\t\"stderr\":\t\"e\",\n\t\"exitCode\":\t0,\n"
		"\t\"duration\":\t0\n}\n",
		"");
	result.exit_code = -1;
	EXPECT(cli_print_result(&cli, &result, 0),
		"{\n\t\"stdout\":\t\"o\\n\",\n\t\"stderr\":\t\"e\",\n\t\"exitCode\":\tnull,\n"
		"\t\"duration\":\t0\n}\n",
		"");
	static const struct {
		enum err_code code;
		int status;
	} rows[] = { { ERR_PROC_COMMAND_NOT_FOUND, 127 }, { ERR_PROC_DENIED, 126 },
		{ ERR_CONN_LOST, 125 }, { ERR_OP_TIMEOUT, 125 } };
	for (size_t i = 0; i < COUNT(rows); i++) {
		const struct err err = { .code = rows[i].code };
		assert_int_equal(cli_execute_status(&err), rows[i].status);
	}
}

int main(void)
{
	setlocale(LC_CTYPE, "C.UTF-8");
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tables),
		cmocka_unit_test(long_cells_are_cut),
		cmocka_unit_test(documents),
		cmocka_unit_test(structured_forms),
		cmocka_unit_test(bytes_in_json),
		cmocka_unit_test(remarks),
		cmocka_unit_test(errors),
		cmocka_unit_test(a_row),
		cmocka_unit_test(limits),
		cmocka_unit_test(where_limits_are_told),
		cmocka_unit_test(results),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
