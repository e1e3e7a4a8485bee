// SPDX-License-Identifier: Apache-2.0
/* The forms of -o that carry an expression: jsonpath=TEMPLATE, jq=FILTER (libjq), custom-columns=TITLE:PATH,… They are
 * applied to what -o json prints.
 * Errors: ERR_ARG_INVALID: the expression; the value, where jq says so. */
#pragma once

#include "engine/base/str.h"

struct cJSON;
struct err;
struct cli_expression;

/* jsonpath, jq, custom-columns; NULL: none of them. */
struct cli_expression *cli_expression_parse(
	const char *form, const char *text, struct err *err);
/* A value that it had no answer for: the exit status of the whole call. */
void cli_expression_set_failed(struct cli_expression *expression, int status);
int cli_expression_status(
	const struct cli_expression *expression); /* 0: all went well; NULL is fine */
void cli_expression_free(struct cli_expression *expression); /* NULL is fine */
bool cli_expression_is_form(const char *form);

/* Of jsonpath and jq: what it says of that value. jq ends each result with a line end, jsonpath as its template says. */
bool cli_expression_format(const struct cli_expression *expression, const struct cJSON *value,
	struct str *out, struct err *err);
/* Of custom-columns. */
size_t cli_expression_columns(const struct cli_expression *expression); /* 0: it is another */
const char *const *cli_expression_titles(const struct cli_expression *expression);
void cli_expression_cell(const struct cli_expression *expression, size_t column,
	const struct cJSON *value, struct str *out);
