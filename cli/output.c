// SPDX-License-Identifier: Apache-2.0
/* Tables, JSON, YAML and errors. All foreign text passes safe_text; JSON escapes by itself. */
#include "cli/cli.h"

#include "engine/base/clock.h"
#include "engine/base/json.h"
#include "engine/base/mem.h"
#include "engine/base/safe_text.h"
#include "engine/base/yaml.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	MAX_CELL_BYTES = 512,
	GAP_COLS = 3,
	MAX_YAML_BYTES = 64 << 20,
};

struct cli_table {
	size_t columns;
	const char *const *titles;
	char **cells; /* safe text, row by row */
	size_t n, capacity;
};

struct cli_table *cli_table_new(size_t columns, const char *const *titles)
{
	struct cli_table *table = x_calloc(1, sizeof *table);
	table->columns = columns;
	table->titles = titles;
	return table;
}

void cli_table_cell(struct cli_table *table, const char *text)
{
	array_grow(&table->cells, &table->capacity, table->n + 1, sizeof *table->cells);
	table->cells[table->n++] = safe_text_dup(text && text[0] ? text : "-", MAX_CELL_BYTES);
}

static void print_padded(const char *text, int width, bool is_last)
{
	fputs(text, stdout);
	if (is_last)
		putchar('\n');
	else
		printf("%*s", width - safe_text_cols(slice_of(text)) + GAP_COLS, "");
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
		print_padded(table->titles[c], widths[c], c + 1 == table->columns);
	for (size_t i = 0; i < table->n; i++) {
		size_t c = i % table->columns;
		print_padded(table->cells[i], widths[c], c + 1 == table->columns);
		free(table->cells[i]);
	}
	fflush(stdout);
	free(table->cells);
	free(table);
	free(widths);
}

bool cli_is_structured(const struct cli *cli)
{
	return cli->opt.output == CLI_JSON || cli->opt.output == CLI_YAML;
}

void cli_print_json(const cJSON *value)
{
	char *text = cJSON_Print(value);
	puts(text ? text : "null");
	fflush(stdout);
	free(text);
}

void cli_print_yaml(const cJSON *value)
{
	struct str text;
	str_init(&text, MAX_YAML_BYTES);
	yaml_format(value, &text);
	fwrite(text.p, 1, text.n, stdout);
	fflush(stdout);
	str_deinit(&text);
}

void cli_print_object(const struct cli *cli, const cJSON *value)
{
	if (cli->opt.output == CLI_YAML)
		cli_print_yaml(value);
	else
		cli_print_json(value);
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
	char *safe = safe_text_dup(err->msg, ERR_MESSAGE_BYTES * 4);
	cJSON_AddStringToObject(object, "message", safe);
	cJSON_AddBoolToObject(object, "retryable", err_retry(err) == ERR_RETRY_SAME);
	cJSON_AddStringToObject(object, "hint", err_hint(err));
	char *text = cJSON_PrintUnformatted(object);
	fprintf(stderr, "%s\n", text ? text : "{}");
	free(text);
	free(safe);
	cJSON_Delete(object);
}

int cli_fail(struct cli *cli, const struct err *err)
{
	fflush(stdout);
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
	/* JSON is UTF-8: bytes that are not become visible escapes */
	char *safe =
		safe_text_is_clean(slice_of(text)) ? x_strdup(text) : safe_text_dup(text, 4096);
	cJSON_AddStringToObject(object, key, safe);
	free(safe);
}

static void add_text(cJSON *object, const char *key, const char *text)
{
	if (text == NULL || text[0] == '\0') {
		cJSON_AddNullToObject(object, key);
		return;
	}
	cli_json_text(object, key, text);
}

static void add_time(cJSON *object, const char *key, int64_t wall_ms)
{
	char text[CLOCK_RFC3339_BYTES];
	if (wall_ms == 0)
		cJSON_AddNullToObject(object, key);
	else
		cJSON_AddStringToObject(
			object, key, clock_format_rfc3339(wall_ms * 1000000, 0, text));
}

cJSON *cli_row_json(const struct fleet_row *row)
{
	cJSON *object = cJSON_CreateObject();
	add_text(object, "uid", row->uid);
	add_text(object, "namespace", row->namespace_);
	add_text(object, "claim", row->claim);
	add_text(object, "sandbox", row->sandbox);
	add_text(object, "state", fleet_state_name(row->state));
	add_text(object, "why", row->why);
	add_time(object, "whySince", row->why_since_ms);
	add_text(object, "pod", row->pod);
	add_text(object, "podIP", row->pod_ip);
	add_text(object, "node", row->node);
	add_text(object, "pool", row->pool);
	add_text(object, "template", row->template_);
	add_text(object, "createdBy", row->created_by);
	add_time(object, "createdAt", row->created_ms);
	add_time(object, "expiresAt", row->expires_ms);
	if (row->pod_uid[0] != '\0')
		cJSON_AddNumberToObject(object, "restarts", row->restarts);
	else /* no pod, or none that may be seen */
		cJSON_AddNullToObject(object, "restarts");
	cJSON_AddBoolToObject(object, "warmStart", row->is_warm_start);
	return object;
}
