// SPDX-License-Identifier: Apache-2.0
/* JSONPath templates, taken apart. */
#include "cli/jsonpath.h"
#include "cli/jsonpath_tree.h"

#include "engine/base/err.h"
#include "engine/base/mem.h"

#include <cjson/cJSON.h>
#include <ctype.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_BYTES_MAX = 64 << 10, DEPTH_MAX = 16 };

struct jsonpath_parser {
	const char *text, *at;
	struct err *err;
	int depth;
};

static bool fail(struct jsonpath_parser *p, const char *what)
{
	return err_set(p->err, ERR_ARG_INVALID, "JSONPath: %s at column %d of '%s'", what,
		(int)(p->at - p->text) + 1, p->text);
}

static void skip_blanks(struct jsonpath_parser *p)
{
	p->at += strspn(p->at, " \t\n");
}

static bool take(struct jsonpath_parser *p, const char *word)
{
	size_t n = strlen(word);
	if (strncmp(p->at, word, n) != 0)
		return false;
	p->at += n;
	return true;
}

/* ---- freeing */

static void free_steps(struct cli_jsonpath_step *step);

static void free_operand(struct cli_jsonpath_operand *operand)
{
	free_steps(operand->steps);
	cJSON_Delete(operand->literal);
}

static void free_steps(struct cli_jsonpath_step *step)
{
	while (step != NULL) {
		struct cli_jsonpath_step *next = step->next;
		for (struct cli_jsonpath_step *part = step->parts; part != NULL;) {
			struct cli_jsonpath_step *after = part->next_part;
			free_steps(part);
			part = after;
		}
		free_operand(&step->left);
		free_operand(&step->right);
		free(step->name);
		free(step);
		step = next;
	}
}

static void free_nodes(struct cli_jsonpath_node *node)
{
	while (node != NULL) {
		struct cli_jsonpath_node *next = node->next;
		free_steps(node->steps);
		free_nodes(node->body);
		free(node->text);
		free(node);
		node = next;
	}
}

void cli_jsonpath_free(struct cli_jsonpath *path)
{
	if (path == NULL)
		return;
	free_nodes(path->nodes);
	free(path);
}

/* ---- words */

/* 'text' or "text", with escapes; NULL with *err. */
static char *parse_quoted(struct jsonpath_parser *p)
{
	struct str text;
	const char quote = *p->at++;
	str_init(&text, TEXT_BYTES_MAX);
	for (; *p->at != quote; p->at++) {
		char c = *p->at;
		if (c == '\0') {
			str_deinit(&text);
			fail(p, "a quote that is not closed");
			return NULL;
		}
		if (c == '\\' && p->at[1] != '\0') {
			c = *++p->at;
			c = c == 'n' ? '\n' : c == 't' ? '\t' : c == 'r' ? '\r' : c;
		}
		str_add_char(&text, c);
	}
	p->at++;
	return str_take(&text);
}

/* A field after its dot: up to what ends one; a backslash takes the next character as it is ("app\.kubernetes\.io/name"). */
static char *parse_field(struct jsonpath_parser *p)
{
	struct str name;
	str_init(&name, TEXT_BYTES_MAX);
	for (; *p->at != '\0' && strchr(" \t\n.[](){}'\"=!<>,|&", *p->at) == NULL; p->at++) {
		if (*p->at == '\\' && p->at[1] != '\0')
			p->at++;
		str_add_char(&name, *p->at);
	}
	return str_take(&name);
}

static bool parse_long(struct jsonpath_parser *p, long *out, bool *is_there)
{
	char *end;
	*is_there = *p->at == '-' || isdigit((unsigned char)*p->at);
	if (!*is_there)
		return true;
	*out = strtol(p->at, &end, 10);
	if (end == p->at || *out > INT32_MAX || *out < INT32_MIN)
		return fail(p, "not an index");
	p->at = end;
	return true;
}

/* ---- steps */

static bool parse_steps(struct jsonpath_parser *p, struct cli_jsonpath_step **out);

static struct cli_jsonpath_step *step_new(enum cli_jsonpath_step_kind kind, char *name)
{
	struct cli_jsonpath_step *step = x_calloc(1, sizeof *step);
	step->kind = kind;
	step->name = name;
	step->by = 1;
	return step;
}

static bool parse_literal(struct jsonpath_parser *p, cJSON **out)
{
	if (*p->at == '\'' || *p->at == '"') {
		char *text = parse_quoted(p);
		*out = text ? cJSON_CreateString(text) : NULL;
		free(text);
		return *out != NULL;
	}
	if (take(p, "true") || take(p, "false")) {
		*out = cJSON_CreateBool(p->at[-2] == 'u');
		return true;
	}
	if (take(p, "null")) {
		*out = cJSON_CreateNull();
		return true;
	}
	char *end;
	double number = strtod(p->at, &end);
	if (end == p->at)
		return fail(p, "neither a path, a number nor a quoted text");
	p->at = end;
	*out = cJSON_CreateNumber(number);
	return true;
}

static bool parse_operand(struct jsonpath_parser *p, struct cli_jsonpath_operand *out)
{
	skip_blanks(p);
	out->is_from_root = *p->at == '$';
	bool is_path = *p->at == '@' || *p->at == '$';
	p->at += is_path;
	bool ok = is_path ? parse_steps(p, &out->steps) : parse_literal(p, &out->literal);
	skip_blanks(p);
	return ok;
}

static bool parse_filter(struct jsonpath_parser *p, struct cli_jsonpath_step *step)
{
	static const struct {
		const char *text;
		enum cli_jsonpath_op op;
	} ops[] = { { "==", JSONPATH_EQ }, { "!=", JSONPATH_NE }, { "<=", JSONPATH_LE },
		{ ">=", JSONPATH_GE }, { "<", JSONPATH_LT }, { ">", JSONPATH_GT } };
	if (!parse_operand(p, &step->left))
		return false;
	for (size_t i = 0; i < sizeof ops / sizeof *ops && step->op == JSONPATH_EXISTS; i++)
		if (take(p, ops[i].text))
			step->op = ops[i].op;
	if (step->op != JSONPATH_EXISTS && !parse_operand(p, &step->right))
		return false;
	if (step->left.literal != NULL)
		return fail(p, "a filter compares a path such as @.field");
	return take(p, ")") || fail(p, "')' is missing");
}

static bool parse_index(struct jsonpath_parser *p, struct cli_jsonpath_step *step)
{
	bool is_there;
	step->kind = JSONPATH_SLICE;
	if (!parse_long(p, &step->from, &step->has_from))
		return false;
	if (!take(p, ":")) {
		if (!step->has_from)
			return fail(
				p, "an index, a slice, a name in quotes, * or ?() is missing");
		step->to = step->from + 1;
		step->has_to = step->from != -1;
		return true;
	}
	if (!parse_long(p, &step->to, &step->has_to))
		return false;
	if (take(p, ":") && (!parse_long(p, &step->by, &is_there) || !is_there || step->by < 1))
		return fail(p, "the step of a slice is 1 or more");
	return true;
}

/* One of what stands between commas in brackets. */
static struct cli_jsonpath_step *parse_part(struct jsonpath_parser *p)
{
	struct cli_jsonpath_step *step = step_new(JSONPATH_ALL, NULL);
	bool ok = true;
	skip_blanks(p);
	if (take(p, "?(")) {
		step->kind = JSONPATH_FILTER;
		ok = parse_filter(p, step);
	} else if (*p->at == '\'' || *p->at == '"') {
		step->kind = JSONPATH_FIELD;
		step->name = parse_quoted(p);
		ok = step->name != NULL;
	} else if (!take(p, "*")) {
		ok = parse_index(p, step);
	}
	skip_blanks(p);
	if (ok)
		return step;
	free_steps(step);
	return NULL;
}

static struct cli_jsonpath_step *parse_brackets(struct jsonpath_parser *p)
{
	struct cli_jsonpath_step *first = parse_part(p);
	if (first == NULL)
		return NULL;
	if (*p->at != ',') {
		if (take(p, "]"))
			return first;
		free_steps(first);
		fail(p, "']' is missing");
		return NULL;
	}
	struct cli_jsonpath_step *all = step_new(JSONPATH_UNION, NULL), *last = first;
	all->parts = first;
	while (take(p, ",")) {
		last->next_part = parse_part(p);
		last = last->next_part;
		if (last == NULL)
			break;
	}
	if (last != NULL && take(p, "]"))
		return all;
	if (last != NULL)
		fail(p, "']' is missing");
	free_steps(all);
	return NULL;
}

static struct cli_jsonpath_step *parse_step(struct jsonpath_parser *p)
{
	if (take(p, "["))
		return parse_brackets(p);
	if (take(p, "..")) {
		struct cli_jsonpath_step *step = step_new(JSONPATH_DESCEND, NULL);
		if (*p->at == '[' || *p->at == '\0')
			return step;
		step->next = take(p, "*") ? step_new(JSONPATH_ALL, NULL)
					  : step_new(JSONPATH_FIELD, parse_field(p));
		return step;
	}
	p->at++; /* the dot */
	if (take(p, "*"))
		return step_new(JSONPATH_ALL, NULL);
	char *name = parse_field(p);
	if (name[0] != '\0')
		return step_new(JSONPATH_FIELD, name);
	free(name);
	fail(p, "a field is missing");
	return NULL;
}

static bool parse_steps(struct jsonpath_parser *p, struct cli_jsonpath_step **out)
{
	struct cli_jsonpath_step **end = out;
	bool ok = ++p->depth <= DEPTH_MAX || fail(p, "too deep");
	while (ok &&
		(*p->at == '[' || (*p->at == '.' && strchr(" }\t\n)", p->at[1]) == NULL))) {
		*end = parse_step(p);
		ok = *end != NULL;
		while (ok && *end != NULL)
			end = &(*end)->next;
	}
	if (ok && *p->at == '.') /* the thing itself */
		p->at++;
	p->depth--;
	return ok;
}

/* ---- templates */

static struct cli_jsonpath_node *node_new(enum cli_jsonpath_node_kind kind)
{
	struct cli_jsonpath_node *node = x_calloc(1, sizeof *node);
	node->kind = kind;
	return node;
}

static bool parse_path(struct jsonpath_parser *p, struct cli_jsonpath_node *node)
{
	node->is_from_root = *p->at == '$';
	if (*p->at == '$' || *p->at == '@')
		p->at++;
	else if (*p->at != '.' && *p->at != '[')
		return fail(p, "a path begins with '.', '[', '$' or '@'");
	return parse_steps(p, &node->steps);
}

static bool parse_nodes(
	struct jsonpath_parser *p, struct cli_jsonpath_node **out, bool is_range);

/* In braces, up to their end; *is_end: it was "end". */
static bool parse_braces(
	struct jsonpath_parser *p, struct cli_jsonpath_node ***end, bool *is_end)
{
	for (;;) {
		skip_blanks(p);
		if (take(p, "}"))
			return true;
		if (*p->at == '\0')
			return fail(p, "'}' is missing");
		if (take(p, "end")) {
			skip_blanks(p);
			*is_end = true;
			return take(p, "}") || fail(p, "'}' is missing");
		}
		bool is_text = *p->at == '\'' || *p->at == '"';
		bool is_range = !is_text && take(p, "range ");
		struct cli_jsonpath_node *node = node_new(is_text    ? JSONPATH_TEXT
							  : is_range ? JSONPATH_RANGE
								     : JSONPATH_PATH);
		**end = node;
		*end = &node->next;
		skip_blanks(p);
		if (is_text) {
			node->text = parse_quoted(p);
			if (node->text == NULL)
				return false;
			continue;
		}
		if (!parse_path(p, node))
			return false;
		if (!is_range)
			continue;
		skip_blanks(p);
		if (!take(p, "}"))
			return fail(p, "'}' is missing");
		return parse_nodes(p, &node->body, true);
	}
}

static bool parse_nodes(
	struct jsonpath_parser *p, struct cli_jsonpath_node **out, bool is_range)
{
	struct cli_jsonpath_node **end = out;
	bool is_end = false;
	if (++p->depth > DEPTH_MAX)
		return fail(p, "too deep");
	while (*p->at != '\0' && !is_end) {
		size_t n = strcspn(p->at, "{");
		if (n > 0) {
			*end = node_new(JSONPATH_TEXT);
			(*end)->text = x_strndup(p->at, n);
			end = &(*end)->next;
			p->at += n;
		} else {
			p->at++;
			if (!parse_braces(p, &end, &is_end))
				return false;
		}
	}
	p->depth--;
	if (is_end != is_range)
		return fail(p, is_range ? "a range without end" : "an end without range");
	return true;
}

static struct cli_jsonpath *finish(struct cli_jsonpath *path, bool ok)
{
	if (ok)
		return path;
	cli_jsonpath_free(path);
	return NULL;
}

struct cli_jsonpath *cli_jsonpath_parse(const char *text, struct err *err)
{
	if (strchr(text, '{') == NULL && (text[0] == '.' || text[0] == '$'))
		return cli_jsonpath_parse_path(text, err);
	struct cli_jsonpath *path = x_calloc(1, sizeof *path);
	struct jsonpath_parser p = { .text = text, .at = text, .err = err };
	if (strlen(text) > TEXT_BYTES_MAX)
		return finish(path, err_set(err, ERR_ARG_INVALID, "the JSONPath is too long"));
	if (text[0] == '\0')
		return finish(path, fail(&p, "nothing"));
	return finish(path, parse_nodes(&p, &path->nodes, false));
}

struct cli_jsonpath *cli_jsonpath_parse_path(const char *text, struct err *err)
{
	size_t n = strlen(text);
	bool has_braces = n >= 2 && text[0] == '{' && text[n - 1] == '}';
	const char *inner = text + has_braces;
	n -= has_braces ? 2 : 0;
	bool has_start = n > 0 && strchr(".[$@", inner[0]) != NULL;
	char *whole = x_asprintf(
		"%s%.*s", has_start ? "" : ".", n > TEXT_BYTES_MAX ? 0 : (int)n, inner);
	struct cli_jsonpath *path = x_calloc(1, sizeof *path);
	struct jsonpath_parser p = { .text = whole, .at = whole, .err = err };
	path->nodes = node_new(JSONPATH_PATH);
	bool ok = n > 0 || fail(&p, "nothing");
	ok = ok && parse_path(&p, path->nodes) && (*p.at == '\0' || fail(&p, "not a path"));
	free(whole);
	return finish(path, ok);
}
