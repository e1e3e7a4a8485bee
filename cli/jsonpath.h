// SPDX-License-Identifier: Apache-2.0
/* JSONPath templates as kubectl reads them (kubernetes.io/docs/reference/kubectl/jsonpath): text, and in braces
 * `$`, `@`, `.field`, `['field']`, `[0]`, `[-1]`, `[1:3]`, `[0,2]`, `[*]`, `.*`, `..field`, `[?(@.field=="x")]`,
 * `range` … `end`, and quoted text with \n and \t. What is not there is nothing, as for `kubectl get`.
 * Errors: ERR_ARG_INVALID with the place. */
#pragma once

#include "engine/base/str.h"

struct cJSON;
struct err;
struct cli_jsonpath;

/* A template without a brace that begins with `.` or `$` is one path. */
struct cli_jsonpath *cli_jsonpath_parse(const char *text, struct err *err);
/* One path, with or without braces and its first dot: columns and sorting. */
struct cli_jsonpath *cli_jsonpath_parse_path(const char *text, struct err *err);
void cli_jsonpath_free(struct cli_jsonpath *path); /* NULL is fine */

/* Several values stand side by side with a space between; texts as they are, objects and lists as JSON. */
void cli_jsonpath_format(
	const struct cli_jsonpath *path, const struct cJSON *root, struct str *out);
/* The first value of a path; NULL: there is none. Borrowed from root. */
const struct cJSON *cli_jsonpath_first(
	const struct cli_jsonpath *path, const struct cJSON *root);
