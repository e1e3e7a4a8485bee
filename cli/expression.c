// SPDX-License-Identifier: Apache-2.0
#include "cli/expression.h"
#include "cli/jsonpath.h"

#include "engine/base/err.h"
#include "engine/base/mem.h"

#include <cjson/cJSON.h>
#include <jq.h>
#include <stdlib.h>
#include <string.h>

struct cli_expression {
	struct cli_jsonpath *path; /* of jsonpath */
	jq_state *jq;
	char **titles; /* of custom-columns, and a path each */
	struct cli_jsonpath **paths;
	size_t n;
	int status;
};

bool cli_expression_is_form(const char *form)
{
	return strcmp(form, "jsonpath") == 0 || strcmp(form, "jq") == 0 ||
	       strcmp(form, "custom-columns") == 0;
}

/* ---- jq */

/* The first thing that jq has to say; its first line is enough. */
static void on_jq_error(void *arg, jv message)
{
	struct str *said = arg;
	jv text = jq_format_error(message);
	if (said->n == 0)
		str_add_bytes(
			said, jv_string_value(text), strcspn(jv_string_value(text), "\n"));
	jv_free(text);
}

static bool parse_jq(struct cli_expression *made, const char *text, struct err *err)
{
	struct str said;
	str_init(&said, ERR_MESSAGE_BYTES);
	made->jq = jq_init();
	bool ok = made->jq != NULL;
	if (!ok) {
		err_set(err, ERR_SYSTEM, "libjq does not start");
	} else {
		jq_set_error_cb(made->jq, on_jq_error, &said);
		ok = jq_compile(made->jq, text) != 0 ||
		     err_set(err, ERR_ARG_INVALID, "-o jq: %s", said.p);
		jq_set_error_cb(made->jq, NULL, NULL);
	}
	str_deinit(&said);
	return ok;
}

static void add_jv(struct str *out, jv value)
{
	jv text = jv_get_kind(value) == JV_KIND_STRING ? value : jv_dump_string(value, 0);
	str_add_bytes(
		out, jv_string_value(text), (size_t)jv_string_length_bytes(jv_copy(text)));
	str_add_char(out, '\n');
	jv_free(text);
}

static bool format_jq(jq_state *jq, const cJSON *value, struct str *out, struct err *err)
{
	char *text = cJSON_PrintUnformatted(value);
	jv input = jv_parse(text ? text : "null");
	free(text);
	if (!jv_is_valid(input)) {
		jv_free(input);
		return err_set(err, ERR_ARG_INVALID, "-o jq: nested too deeply for jq");
	}
	jq_start(jq, input, 0);
	jv result = jq_next(jq);
	for (; jv_is_valid(result); result = jq_next(jq))
		add_jv(out, result);
	bool ok = !jv_invalid_has_msg(jv_copy(result));
	if (!ok) {
		jv message = jv_invalid_get_msg(result);
		bool is_text = jv_get_kind(message) == JV_KIND_STRING;
		err_set(err, ERR_ARG_INVALID, "-o jq: %s",
			is_text ? jv_string_value(message) : "the filter ended with an error");
		jv_free(message);
	} else {
		jv_free(result);
	}
	return ok;
}

/* ---- custom-columns */

static bool add_column(struct cli_expression *made, char *spec, struct err *err)
{
	char *colon = strchr(spec, ':');
	if (colon == NULL || colon == spec || colon[1] == '\0')
		return err_set(err, ERR_ARG_INVALID,
			"-o custom-columns: '%s' is not TITLE:PATH, such as NAME:.metadata.name",
			spec);
	*colon = '\0';
	struct cli_jsonpath *path = cli_jsonpath_parse_path(colon + 1, err);
	if (path == NULL)
		return false;
	made->titles = x_realloc(made->titles, made->n + 1, sizeof *made->titles);
	made->paths = x_realloc(made->paths, made->n + 1, sizeof *made->paths);
	made->titles[made->n] = x_strdup(spec);
	made->paths[made->n++] = path;
	return true;
}

/* Commas part columns, but not those in brackets or quotes of a path. */
static size_t column_bytes(const char *text)
{
	size_t n = 0;
	char quote = '\0';
	for (int depth = 0; text[n] != '\0' && (text[n] != ',' || depth > 0 || quote); n++) {
		if (quote != '\0') {
			quote = text[n] == quote ? '\0' : quote;
		} else if (text[n] == '\'' || text[n] == '"') {
			quote = text[n];
		} else if (strchr("[({", text[n]) != NULL) {
			depth++;
		} else if (strchr("])}", text[n]) != NULL) {
			depth--;
		}
	}
	return n;
}

static bool parse_columns(struct cli_expression *made, const char *text, struct err *err)
{
	bool ok = true;
	for (const char *at = text; ok;) {
		size_t n = column_bytes(at);
		char *spec = x_strndup(at, n);
		ok = add_column(made, spec, err);
		free(spec);
		if (at[n] == '\0')
			break;
		at += n + 1;
	}
	return ok;
}

/* ---- all of them */

struct cli_expression *cli_expression_parse(const char *form, const char *text, struct err *err)
{
	struct cli_expression *made = x_calloc(1, sizeof *made);
	bool ok;
	if (text[0] == '\0') {
		ok = err_set(
			err, ERR_ARG_INVALID, "-o %s needs an expression: -o %s=…", form, form);
	} else if (strcmp(form, "jsonpath") == 0) {
		made->path = cli_jsonpath_parse(text, err);
		ok = made->path != NULL;
	} else {
		ok = (strcmp(form, "jq") == 0 ? parse_jq : parse_columns)(made, text, err);
	}
	if (ok)
		return made;
	cli_expression_free(made);
	return NULL;
}

void cli_expression_free(struct cli_expression *expression)
{
	if (expression == NULL)
		return;
	for (size_t i = 0; i < expression->n; i++) {
		free(expression->titles[i]);
		cli_jsonpath_free(expression->paths[i]);
	}
	free(expression->titles);
	free(expression->paths);
	cli_jsonpath_free(expression->path);
	if (expression->jq != NULL)
		jq_teardown(&expression->jq);
	free(expression);
}

bool cli_expression_format(const struct cli_expression *expression, const cJSON *value,
	struct str *out, struct err *err)
{
	if (expression->jq != NULL)
		return format_jq(expression->jq, value, out, err);
	cli_jsonpath_format(expression->path, value, out);
	return true;
}

void cli_expression_set_failed(struct cli_expression *expression, int status)
{
	expression->status = status;
}

int cli_expression_status(const struct cli_expression *expression)
{
	return expression ? expression->status : 0;
}

size_t cli_expression_columns(const struct cli_expression *expression)
{
	return expression->n;
}

const char *const *cli_expression_titles(const struct cli_expression *expression)
{
	return (const char *const *)expression->titles;
}

void cli_expression_cell(const struct cli_expression *expression, size_t column,
	const cJSON *value, struct str *out)
{
	size_t before = out->n;
	cli_jsonpath_format(expression->paths[column], value, out);
	if (out->n == before)
		str_add(out, "<none>");
}
