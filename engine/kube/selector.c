// SPDX-License-Identifier: Apache-2.0
/* Label selectors (grammar: k8s.io/apimachinery labels.Parse):
 *
 *   selector    = [ requirement { "," requirement } ]
 *   requirement = key | "!" key | key op value | key ("in"|"notin") "(" [value {"," value}] ")"
 *   op          = "=" | "==" | "!=" | ">" | "<"
 *
 * "a!=b" and "a notin (b)" also match objects without the label a. ">" and "<" compare integers. */
#include "engine/kube/selector.h"

#include "engine/base/err.h"
#include "engine/base/mem.h"
#include "engine/base/num.h"

#include <stdlib.h>
#include <string.h>

enum {
	MAX_SELECTOR_BYTES = 8 << 10,
	MAX_REQUIREMENTS = 256,
	MAX_VALUES = 1024,
	MAX_NAME_BYTES = 63,
	MAX_PREFIX_BYTES = 253,
};

enum op { OP_EXISTS, OP_MISSING, OP_IN, OP_NOT_IN, OP_GREATER, OP_LESS };

struct requirement {
	enum op op;
	char *key;
	char **values;
	size_t n_values, values_capacity;
};

struct kube_selector {
	struct requirement *requirements;
	size_t n, capacity;
};

struct parser {
	const char *text;
	const char *p;
	struct err *err;
};

static bool fail(const struct parser *parser, const char *at, const char *what)
{
	return err_set(parser->err, ERR_ARG_INVALID, "selector '%s', column %d: %s",
		parser->text, (int)(at - parser->text) + 1, what);
}

static void skip_space(struct parser *parser)
{
	while (*parser->p == ' ' || *parser->p == '\t' || *parser->p == '\n' ||
		*parser->p == '\r')
		parser->p++;
}

static bool is_special(char c)
{
	return strchr("=!(),<> \t\r\n", c) != NULL; /* the NUL too */
}

static bool is_alnum(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

/* [A-Za-z0-9] at both ends, [-A-Za-z0-9_.] between. */
static bool is_qualified(const char *p, size_t n)
{
	if (n == 0 || n > MAX_NAME_BYTES || !is_alnum(p[0]) || !is_alnum(p[n - 1]))
		return false;
	for (size_t i = 0; i < n; i++) {
		if (!is_alnum(p[i]) && strchr("-_.", p[i]) == NULL)
			return false;
	}
	return true;
}

bool kube_is_dns_subdomain(const char *p, size_t n)
{
	if (n == 0 || n > MAX_PREFIX_BYTES)
		return false;
	char before = '.';
	for (size_t i = 0; i < n; i++) {
		char c = p[i];
		bool alnum = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
		if (!alnum && c != '-' && c != '.')
			return false;
		if (!alnum && (before == '.' || (c == '.' && before == '-')))
			return false;
		before = c;
	}
	return before != '.' && before != '-';
}

static bool take_key(struct parser *parser, char **key)
{
	skip_space(parser);
	const char *start = parser->p;
	while (!is_special(*parser->p))
		parser->p++;
	size_t n = (size_t)(parser->p - start);
	if (n == 0)
		return fail(parser, start,
			*start ? "a label key is expected here"
			       : "a label key is missing at the end");
	const char *slash = memchr(start, '/', n);
	const char *name = slash ? slash + 1 : start;
	if (slash && !kube_is_dns_subdomain(start, (size_t)(slash - start)))
		return fail(parser, start, "the prefix of the key is not a DNS name");
	if (!is_qualified(name, n - (size_t)(name - start)))
		return fail(parser, name,
			"a key has 1 to 63 letters, digits, '-', '_' or '.', and begins and "
			"ends with a letter or digit");
	*key = x_strndup(start, n);
	return true;
}

static bool add_value(
	struct parser *parser, struct requirement *requirement, const char *start, size_t n)
{
	if (n > 0 && !is_qualified(start, n))
		return fail(parser, start,
			"a value has at most 63 letters, digits, '-', '_' or '.', and begins "
			"and ends with a letter or digit");
	if (requirement->n_values == MAX_VALUES)
		return fail(parser, start, "too many values");
	array_grow(&requirement->values, &requirement->values_capacity,
		requirement->n_values + 1, sizeof *requirement->values);
	requirement->values[requirement->n_values++] = x_strndup(start, n);
	return true;
}

static bool take_value(struct parser *parser, struct requirement *requirement)
{
	skip_space(parser);
	const char *start = parser->p;
	while (!is_special(*parser->p))
		parser->p++;
	return add_value(parser, requirement, start, (size_t)(parser->p - start));
}

static bool take_set(struct parser *parser, struct requirement *requirement)
{
	skip_space(parser);
	if (*parser->p != '(')
		return fail(parser, parser->p, "'(' is expected after in or notin");
	parser->p++;
	for (;;) {
		if (!take_value(parser, requirement))
			return false;
		skip_space(parser);
		if (*parser->p == ')')
			break;
		if (*parser->p != ',')
			return fail(parser, parser->p, "',' or ')' is expected in a set");
		parser->p++;
	}
	parser->p++;
	return true;
}

static bool take_word(struct parser *parser, const char *word)
{
	size_t n = strlen(word);
	if (strncmp(parser->p, word, n) != 0 || !is_special(parser->p[n]))
		return false;
	parser->p += n;
	return true;
}

static bool take_integer(struct parser *parser, struct requirement *requirement)
{
	skip_space(parser);
	const char *start = parser->p;
	if (!take_value(parser, requirement))
		return false;
	int64_t number;
	if (!num_parse_i64(requirement->values[0], INT64_MIN, INT64_MAX, &number))
		return fail(parser, start, "'>' and '<' compare with a whole number");
	return true;
}

static bool take_operator(struct parser *parser, struct requirement *requirement)
{
	skip_space(parser);
	const char *at = parser->p;
	if (*at == '\0' || *at == ',') {
		requirement->op = OP_EXISTS;
		return true;
	}
	if (*at == '=') {
		parser->p += at[1] == '=' ? 2 : 1;
		requirement->op = OP_IN;
		return take_value(parser, requirement);
	}
	if (at[0] == '!' && at[1] == '=') {
		parser->p += 2;
		requirement->op = OP_NOT_IN;
		return take_value(parser, requirement);
	}
	if (*at == '>' || *at == '<') {
		parser->p++;
		requirement->op = *at == '>' ? OP_GREATER : OP_LESS;
		return take_integer(parser, requirement);
	}
	if (take_word(parser, "in")) {
		requirement->op = OP_IN;
		return take_set(parser, requirement);
	}
	if (take_word(parser, "notin")) {
		requirement->op = OP_NOT_IN;
		return take_set(parser, requirement);
	}
	return fail(parser, at, "expected '=', '==', '!=', '<', '>', 'in', 'notin' or ','");
}

static bool take_requirement(struct parser *parser, struct requirement *requirement)
{
	skip_space(parser);
	if (*parser->p == '!') {
		parser->p++;
		requirement->op = OP_MISSING;
		return take_key(parser, &requirement->key);
	}
	return take_key(parser, &requirement->key) && take_operator(parser, requirement);
}

struct kube_selector *kube_selector_parse(const char *text, struct err *err)
{
	if (strlen(text) > MAX_SELECTOR_BYTES) {
		err_set(err, ERR_ARG_INVALID, "the selector is longer than %d bytes",
			MAX_SELECTOR_BYTES);
		return NULL;
	}
	struct kube_selector *selector = x_calloc(1, sizeof *selector);
	struct parser parser = { .text = text, .p = text, .err = err };
	skip_space(&parser);
	while (*parser.p != '\0' || selector->n > 0) {
		if (selector->n == MAX_REQUIREMENTS) {
			fail(&parser, parser.p, "too many requirements");
			goto bad;
		}
		array_grow(&selector->requirements, &selector->capacity, selector->n + 1,
			sizeof *selector->requirements);
		struct requirement *requirement = &selector->requirements[selector->n++];
		memset(requirement, 0, sizeof *requirement);
		if (!take_requirement(&parser, requirement))
			goto bad;
		skip_space(&parser);
		if (*parser.p == '\0')
			break;
		if (*parser.p != ',') {
			fail(&parser, parser.p, "',' is expected between requirements");
			goto bad;
		}
		parser.p++;
	}
	return selector;
bad:
	kube_selector_free(selector);
	return NULL;
}

void kube_selector_free(struct kube_selector *selector)
{
	if (selector == NULL)
		return;
	for (size_t i = 0; i < selector->n; i++) {
		struct requirement *requirement = &selector->requirements[i];
		for (size_t j = 0; j < requirement->n_values; j++)
			free(requirement->values[j]);
		free(requirement->values);
		free(requirement->key);
	}
	free(selector->requirements);
	free(selector);
}

static bool has_value(const struct requirement *requirement, const char *value)
{
	for (size_t i = 0; i < requirement->n_values; i++) {
		if (strcmp(requirement->values[i], value) == 0)
			return true;
	}
	return false;
}

static bool requirement_matches(const struct requirement *requirement, const char *value)
{
	int64_t is, than;
	switch (requirement->op) {
	case OP_EXISTS:
		return value != NULL;
	case OP_MISSING:
		return value == NULL;
	case OP_IN:
		return value != NULL && has_value(requirement, value);
	case OP_NOT_IN:
		return value == NULL || !has_value(requirement, value);
	case OP_GREATER:
	case OP_LESS:
		if (value == NULL || !num_parse_i64(value, INT64_MIN, INT64_MAX, &is) ||
			!num_parse_i64(requirement->values[0], INT64_MIN, INT64_MAX, &than))
			return false;
		return requirement->op == OP_GREATER ? is > than : is < than;
	}
	return false;
}

bool kube_selector_matches(const struct kube_selector *selector,
	const char *(*get)(void *arg, const char *key), void *arg)
{
	for (size_t i = 0; i < selector->n; i++) {
		const struct requirement *requirement = &selector->requirements[i];
		if (!requirement_matches(requirement, get(arg, requirement->key)))
			return false;
	}
	return true;
}
