// SPDX-License-Identifier: Apache-2.0
/* Tables, JSON, YAML and errors. All foreign text passes safe_text; JSON escapes by itself. */
#include "cli/cli.h"
#include "cli/expression.h"

#include "engine/base/clock.h"
#include "engine/base/digest.h"
#include "engine/base/fatal_signal.h"
#include "engine/base/json.h"
#include "engine/base/mem.h"
#include "engine/base/safe_text.h"
#include "engine/base/yaml.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	MAX_CELL_BYTES = 512,
	EXPRESSION_CELL_BYTES = 64 << 10,
	GAP_COLS = 3,
	MAX_YAML_BYTES = 64 << 20,
};

struct cli_table {
	size_t columns;
	const char **titles;
	char **cells;         /* safe text, row by row */
	unsigned char *tones; /* enum resource_tone, one each */
	size_t tone_capacity;
	bool has_color;
	size_t n, capacity;
};

struct cli_table *cli_table_new(size_t columns, const char *const *titles)
{
	struct cli_table *table = x_calloc(1, sizeof *table);
	table->columns = columns;
	table->titles = x_calloc(columns, sizeof *titles);
	memcpy(table->titles, titles, columns * sizeof *titles);
	return table;
}

void cli_table_color(struct cli_table *table, bool has_color)
{
	table->has_color = has_color;
}

bool cli_has_color(const struct cli *cli)
{
	const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");
	if (cli->opt.color != CLI_COLOR_AUTO)
		return cli->opt.color == CLI_COLOR_ALWAYS;
	return isatty(STDOUT_FILENO) && (no_color == NULL || no_color[0] == '\0') &&
	       (term == NULL || strcmp(term, "dumb") != 0);
}

void cli_table_cell(struct cli_table *table, const char *text)
{
	cli_table_toned(table, RESOURCE_PLAIN, text);
}

void cli_table_toned(struct cli_table *table, enum resource_tone tone, const char *text)
{
	array_grow(&table->tones, &table->tone_capacity, table->n + 1, 1);
	table->tones[table->n] = (unsigned char)tone;
	array_grow(&table->cells, &table->capacity, table->n + 1, sizeof *table->cells);
	table->cells[table->n++] = safe_text_dup(text && text[0] ? text : "-", MAX_CELL_BYTES);
}

static void print_padded(const char *text, const char *color, int width, bool is_last)
{
	/* what is not last is followed by blanks, which have no colour */
	printf("%s%s%s", color, text, color[0] ? "\x1b[0m" : "");
	if (is_last)
		putchar('\n');
	else
		printf("%*s", width - safe_text_cols(slice_of(text)) + GAP_COLS, "");
}

/* SGR (ECMA-48): of the terminal's own sixteen colours, so that they fit its background. */
static const char *color_of(const struct cli_table *table, size_t cell)
{
	static const char *const colors[RESOURCE_TONE_COUNT] = {
		[RESOURCE_PLAIN] = "",
		[RESOURCE_DIM] = "\x1b[2m",
		[RESOURCE_GOOD] = "\x1b[32m",
		[RESOURCE_BUSY] = "\x1b[36m",
		[RESOURCE_WARNING] = "\x1b[33m",
		[RESOURCE_BAD] = "\x1b[31m",
		[RESOURCE_GONE] = "\x1b[2m",
	};
	return table->has_color ? colors[table->tones[cell]] : "";
}

void cli_table_print(struct cli_table *table, bool titles)
{
	int *widths = x_calloc(table->columns, sizeof *widths);
	for (size_t c = 0; titles && c < table->columns; c++)
		widths[c] = (int)strlen(table->titles[c]);
	for (size_t i = 0; i < table->n; i++) {
		int cols = safe_text_cols(slice_of(table->cells[i]));
		if (cols > widths[i % table->columns])
			widths[i % table->columns] = cols;
	}
	for (size_t c = 0; titles && c < table->columns; c++)
		print_padded(table->titles[c], table->has_color ? "\x1b[1m" : "", widths[c],
			c + 1 == table->columns);
	for (size_t i = 0; i < table->n; i++) {
		size_t c = i % table->columns;
		print_padded(table->cells[i], color_of(table, i), widths[c],
			c + 1 == table->columns);
		free(table->cells[i]);
	}
	fflush(stdout);
	free(table->cells);
	free(table->titles);
	free(table->tones);
	free(table);
	free(widths);
}

bool cli_is_structured(const struct cli *cli)
{
	return cli->opt.output == CLI_JSON || cli->opt.output == CLI_YAML ||
	       cli->opt.output == CLI_EXPRESSION || cli->opt.output == CLI_COLUMNS;
}

bool cli_is_table(const struct cli *cli)
{
	return cli->opt.output == CLI_TABLE || cli->opt.output == CLI_WIDE ||
	       cli->opt.output == CLI_COLUMNS;
}

static void put_escaped(FILE *file, struct slice unit)
{
	int32_t c;
	size_t n;
	for (; (n = safe_text_decode(unit, &c)) > 0; unit.p += n, unit.n -= n) {
		if (c > 0xffff)
			fprintf(file, "\\u%04x\\u%04x",
				(unsigned)(0xd800 + ((c - 0x10000) >> 10)),
				(unsigned)(0xdc00 + ((c - 0x10000) & 0x3ff)));
		else
			fprintf(file, "\\u%04x", (unsigned)c);
	}
}

/* Prints JSON or YAML. Line ends and tabs are the printer's; everything else that safe_text would not show as it is stands
 * inside a quoted text, and there an escape means the same. */
static void put_document(FILE *file, const char *text)
{
	struct slice rest = slice_of(text);
	char safe[SAFE_UNIT_BYTES];
	size_t safe_n;
	int cols;
	while (rest.n > 0) {
		size_t plain = 0;
		while (plain < rest.n &&
			((rest.p[plain] >= ' ' && rest.p[plain] <= '~') ||
				rest.p[plain] == '\n' || rest.p[plain] == '\t'))
			plain++;
		/* the last one may begin a cluster with combining marks */
		plain -= plain > 0 && plain < rest.n && rest.p[plain - 1] > ' ';
		fwrite(rest.p, 1, plain, file);
		rest = (struct slice){ rest.p + plain, rest.n - plain };
		size_t unit = safe_text_next_raw(rest, safe, &safe_n, &cols);
		if (unit == 0)
			break;
		if (safe_n == unit && memcmp(safe, rest.p, unit) == 0)
			fwrite(rest.p, 1, unit, file);
		else
			put_escaped(file, (struct slice){ rest.p, unit });
		rest = (struct slice){ rest.p + unit, rest.n - unit };
	}
}

void cli_print_json(const cJSON *value)
{
	char *text = cJSON_Print(value);
	put_document(stdout, text ? text : "null");
	putchar('\n');
	fflush(stdout);
	free(text);
}

void cli_print_json_line(const cJSON *value)
{
	char *text = cJSON_PrintUnformatted(value);
	put_document(stdout, text ? text : "null");
	putchar('\n');
	free(text);
}

void cli_print_yaml(const cJSON *value)
{
	struct str text;
	str_init(&text, MAX_YAML_BYTES);
	yaml_format(value, &text);
	put_document(stdout, text.p);
	fflush(stdout);
	str_deinit(&text);
}

/* What an expression says: for a program as it is, for eyes as every foreign text. */
static void print_expression(const struct cli *cli, const cJSON *value)
{
	struct err err = { 0 };
	struct str out;
	str_init(&out, MAX_YAML_BYTES);
	bool ok = cli_expression_format(cli->opt.expression, value, &out, &err);
	if (out.n > 0 && out.p[out.n - 1] != '\n')
		str_add_char(&out, '\n');
	if (isatty(STDOUT_FILENO))
		put_document(stdout, out.p);
	else
		fwrite(out.p, 1, out.n, stdout);
	fflush(stdout);
	str_deinit(&out);
	if (!ok)
		cli_expression_set_failed(
			cli->opt.expression, cli_fail((struct cli *)(uintptr_t)cli, &err));
}

void cli_table_add_columns(
	struct cli_table *table, const struct cli_expression *expression, const cJSON *value)
{
	struct str cell;
	str_init(&cell, EXPRESSION_CELL_BYTES);
	for (size_t i = 0; i < cli_expression_columns(expression); i++) {
		str_clear(&cell);
		cli_expression_cell(expression, i, value, &cell);
		cli_table_cell(table, cell.p);
	}
	str_deinit(&cell);
}

static void print_columns(const struct cli *cli, const cJSON *value)
{
	const struct cli_expression *expression = cli->opt.expression;
	struct cli_table *table = cli_table_new(
		cli_expression_columns(expression), cli_expression_titles(expression));
	cli_table_add_columns(table, expression, value);
	cli_table_print(table, !cli->opt.no_headers);
}

void cli_print_object(const struct cli *cli, const cJSON *value)
{
	if (cli->opt.output == CLI_YAML)
		cli_print_yaml(value);
	else if (cli->opt.output == CLI_EXPRESSION)
		print_expression(cli, value);
	else if (cli->opt.output == CLI_COLUMNS)
		print_columns(cli, value);
	else
		cli_print_json(value);
}

void cli_print_item(const struct cli *cli, const cJSON *value)
{
	const cJSON *object = json_get(value, "object", NULL);
	if (cli->opt.output == CLI_YAML) {
		puts("---");
		cli_print_yaml(value);
	} else if (cli->opt.output == CLI_JSON) {
		cli_print_json_line(value);
	} else {
		cli_print_object(cli, object ? object : value);
	}
}

void cli_put_safe(const char *text)
{
	char *safe = safe_text_dup(text, 4096);
	fputs(safe, stdout);
	free(safe);
}

void cli_note(const struct cli *cli, const char *format, ...)
{
	if (cli->opt.quiet)
		return;
	va_list args;
	va_start(args, format);
	char text[1024];
	vsnprintf(text, sizeof text, format, args);
	va_end(args);
	char *safe = safe_text_dup(text, sizeof text);
	fprintf(stderr, "%s\n", safe);
	free(safe);
}

/* ---- errors */

static void print_error_json(const struct err *err)
{
	cJSON *object = cJSON_CreateObject();
	cJSON_AddStringToObject(object, "code", err_name(err));
	cli_json_text(object, "message", err->msg);
	cJSON_AddBoolToObject(object, "retryable", err_retry(err) == ERR_RETRY_SAME);
	cJSON_AddStringToObject(object, "hint", err_hint(err));
	char *text = cJSON_PrintUnformatted(object);
	put_document(stderr, text ? text : "{}");
	fputc('\n', stderr);
	free(text);
	cJSON_Delete(object);
}

bool cli_is_reader_gone(void)
{
	struct pollfd out = { STDOUT_FILENO, POLLOUT, 0 };
	return poll(&out, 1, 0) > 0 && (out.revents & (POLLERR | POLLHUP)) != 0;
}

int cli_closed_status(void)
{
	return 128 + SIGPIPE;
}

int cli_signal_status(int signal_number)
{
	return 128 + signal_number;
}

int cli_fail(struct cli *cli, const struct err *err)
{
	fflush(stdout);
	if (err->sys == EPIPE && cli_is_reader_gone())
		return cli_closed_status();
	if (err->sys == EINTR && fatal_signal_last() != 0)
		return cli_signal_status(fatal_signal_last());
	if (cli->opt.output == CLI_JSON) {
		print_error_json(err);
		return (int)err_exit_status(err);
	}
	char *safe = safe_text_dup(err->msg, ERR_MESSAGE_BYTES * 4);
	const char *hint = err_hint(err);
	fprintf(stderr, "sandmux: %s: %s%s%s\n", err_name(err), safe, hint[0] ? "; " : "",
		hint);
	free(safe);
	return (int)err_exit_status(err);
}

int cli_fail_usage(struct cli *cli, const char *format, ...)
{
	struct err err = { 0 };
	va_list args;
	va_start(args, format);
	err_vset(&err, ERR_ARG_INVALID, format, args);
	va_end(args);
	return cli_fail(cli, &err);
}

/* ---- rows */

void cli_json_text(cJSON *object, const char *key, const char *text)
{
	cli_json_bytes(object, key, slice_of(text));
}

void cli_json_bytes(cJSON *object, const char *key, struct slice bytes)
{
	struct slice rest = bytes;
	struct str text;
	bool is_exact = true;
	str_init(&text, bytes.n * 3 + 1);
	while (rest.n > 0) {
		int32_t c;
		size_t n = safe_text_decode(rest, &c);
		bool ok = n > 0 && c != 0;
		if (ok)
			str_add_bytes(&text, rest.p, n);
		else
			str_add(&text, "\uFFFD");
		is_exact = is_exact && ok;
		n = n > 0 ? n : 1;
		rest = (struct slice){ rest.p + n, rest.n - n };
	}
	cJSON_AddStringToObject(object, key, text.p);
	str_deinit(&text);
	if (is_exact)
		return;
	char *name = x_asprintf("%sBase64", key);
	char *base64 = digest_base64_encode(bytes.p, bytes.n);
	cJSON_AddStringToObject(object, name, base64);
	free(base64);
	free(name);
}
