// SPDX-License-Identifier: Apache-2.0
/* Label selectors (grammar: k8s.io/apimachinery labels.Parse):
 *
 *   selector    = [ requirement { "," requirement } ]
 *   requirement = key | "!" key | key op value | key ("in"|"notin") "(" [value {"," value}] ")"
 *   op          = "=" | "==" | "!=" | ">" | "<"
 *
 * "a!=b" and "a notin (b)" also match objects without the label a. ">" and "<" compare integers. */
#include "engine/base/err.h"
#include "engine/base/mem.h"
#include "engine/base/num.h"
#include "engine/k8s/name.h"
#include "engine/k8s/requirement.h"

#include <string.h>

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
	if (slash && !k8s_is_dns_subdomain(start, (size_t)(slash - start)))
		return fail(parser, start, "the prefix of the key is not a DNS name");
	if (!k8s_is_qualified_name(name, n - (size_t)(name - start)))
		return fail(parser, name,
			"a key has 1 to 63 letters, digits, '-', '_' or '.', and begins and "
			"ends with a letter or digit");
	*key = x_strndup(start, n);
	return true;
}

static bool add_value(
	struct parser *parser, struct k8s_requirement *requirement, const char *start, size_t n)
{
	if (!k8s_is_label_value(start, n))
		return fail(parser, start,
			"a value has at most 63 letters, digits, '-', '_' or '.', and begins "
			"and ends with a letter or digit");
	return k8s_requirement_add_value(requirement, x_strndup(start, n)) ||
	       fail(parser, start, "too many values");
}

static bool take_value(struct parser *parser, struct k8s_requirement *requirement)
{
	skip_space(parser);
	const char *start = parser->p;
	while (!is_special(*parser->p))
		parser->p++;
	return add_value(parser, requirement, start, (size_t)(parser->p - start));
}

static bool take_set(struct parser *parser, struct k8s_requirement *requirement)
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

static bool take_integer(struct parser *parser, struct k8s_requirement *requirement)
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

static bool take_operator(struct parser *parser, struct k8s_requirement *requirement)
{
	skip_space(parser);
	const char *at = parser->p;
	if (*at == '\0' || *at == ',') {
		requirement->op = K8S_OP_EXISTS;
		return true;
	}
	if (*at == '=') {
		parser->p += at[1] == '=' ? 2 : 1;
		requirement->op = K8S_OP_IN;
		return take_value(parser, requirement);
	}
	if (at[0] == '!' && at[1] == '=') {
		parser->p += 2;
		requirement->op = K8S_OP_NOT_IN;
		return take_value(parser, requirement);
	}
	if (*at == '>' || *at == '<') {
		parser->p++;
		requirement->op = *at == '>' ? K8S_OP_GREATER : K8S_OP_LESS;
		return take_integer(parser, requirement);
	}
	if (take_word(parser, "in")) {
		requirement->op = K8S_OP_IN;
		return take_set(parser, requirement);
	}
	if (take_word(parser, "notin")) {
		requirement->op = K8S_OP_NOT_IN;
		return take_set(parser, requirement);
	}
	return fail(parser, at, "expected '=', '==', '!=', '<', '>', 'in', 'notin' or ','");
}

static bool take_requirement(struct parser *parser, struct k8s_requirement *requirement)
{
	skip_space(parser);
	if (*parser->p == '!') {
		parser->p++;
		requirement->op = K8S_OP_MISSING;
		return take_key(parser, &requirement->key);
	}
	return take_key(parser, &requirement->key) && take_operator(parser, requirement);
}

struct k8s_selector *k8s_label_selector_parse(const char *text, struct err *err)
{
	struct k8s_selector *selector = k8s_selector_new(text, err);
	if (selector == NULL)
		return NULL;
	struct parser parser = { .text = text, .p = text, .err = err };
	skip_space(&parser);
	while (*parser.p != '\0' || !k8s_selector_is_empty(selector)) {
		struct k8s_requirement *requirement = k8s_selector_add(selector);
		if (requirement == NULL) {
			fail(&parser, parser.p, "too many requirements");
			goto bad;
		}
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
	k8s_selector_free(selector);
	return NULL;
}
