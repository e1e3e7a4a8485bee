// SPDX-License-Identifier: Apache-2.0
// From what is typed to the terms of a filter.
#include "engine/base/clock.h"
#include "engine/base/err.h"
#include "engine/base/mem.h"
#include "engine/base/num.h"
#include "engine/base/str.h"
#include "engine/k8s/quantity.h"
#include "engine/k8s/selector.h"
#include "engine/resource/filter_internal.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum {
	REGEX_BYTES_MAX = 256,
	REPEAT_MAX = 100, /* the product of a{n} in one: regcomp() writes them out */
	NAMES_BYTES_MAX = 256,
};

/* ---- words */

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* The slash that ends what this one begins: it ends a word. NULL: there is none, not yet or never. */
static const char *end_of_regex(const char *slash)
{
	for (const char *p = slash + 2; slash[1] && *p; p++)
		if (*p == '/' && (!p[1] || is_blank(p[1])))
			return p;
	return NULL;
}

/* A word up to the next blank that is in no quotes and in no regular expression, without the quotes. */
static char *take_word(const char **at)
{
	struct str word;
	char quote = 0;
	str_init(&word, RESOURCE_FILTER_BYTES_MAX + 1);
	const char *p = *at;
	while (*p && (quote || !is_blank(*p))) {
		const char *end =
			!quote && *p == ':' && p[1] == '/' ? end_of_regex(p + 1) : NULL;
		size_t n = end ? (size_t)(end + 1 - p) : 1;
		if (quote ? *p == quote : *p == '"' || *p == '\'')
			quote = quote ? 0 : *p;
		else
			str_add_bytes(&word, p, n);
		p += n;
	}
	*at = p;
	char *text = x_strdup(word.n ? word.p : "");
	str_deinit(&word);
	return text;
}

/* What stands between slashes; without the second one, to the next blank. */
static char *take_regex(const char **at)
{
	const char *begin = *at + 1, *end = end_of_regex(*at);
	size_t n = end ? (size_t)(end - begin) : strcspn(begin, " \t");
	*at = begin + n + (end ? 1 : 0);
	return x_strndup(begin, n);
}

/* ---- columns */

static bool is_called(const char *name, const char *text, size_t length)
{
	return name && strlen(name) == length && strncasecmp(name, text, length) == 0;
}

static int column_called(const struct resource_kind *kind, const char *text, size_t length)
{
	for (int i = 0; i < kind->n_columns; i++)
		if (is_called(kind->columns[i].name, text, length) ||
			is_called(kind->columns[i].alias, text, length))
			return i;
	return RESOURCE_ANY_COLUMN;
}

static bool no_such_column(
	const struct resource_kind *kind, const char *text, size_t length, struct err *err)
{
	struct str names;
	str_init(&names, NAMES_BYTES_MAX);
	for (int i = 0; i < kind->n_columns; i++)
		if (kind->columns[i].name)
			str_addf(&names, "%s%s", names.n ? ", " : "", kind->columns[i].name);
	err_set(err, ERR_ARG_INVALID,
		"there is no column '%.*s': there are %s; a label is written label:KEY=VALUE",
		(int)(length < 40 ? length : 40), text, names.n ? names.p : "none");
	str_deinit(&names);
	return false;
}

/* ---- the forms of a term */

static void lower(char *text)
{
	for (; *text; text++)
		*text = (char)tolower((unsigned char)*text);
}

/* What regcomp() or regexec() would not come back from in time: repetitions of repetitions, and references back. */
static bool is_harmless(const char *text, struct err *err)
{
	int64_t product = 1;
	if (strlen(text) > REGEX_BYTES_MAX)
		return err_set(err, ERR_ARG_INVALID,
			"a regular expression has at most %d bytes", (int)REGEX_BYTES_MAX);
	for (const char *p = text; *p; p++) {
		if (*p == '\\' && p[1]) {
			p++;
			if (isdigit((unsigned char)*p))
				return err_set(err, ERR_ARG_INVALID,
					"/%.40s/: references back (\\%c) are not taken", text,
					*p);
			continue;
		}
		if (*p != '{')
			continue;
		int64_t most = 0, number = 0;
		for (p++; *p && *p != '}'; p++) {
			number = isdigit((unsigned char)*p) ? number * 10 + (*p - '0') : 0;
			if (number > REPEAT_MAX)
				number = REPEAT_MAX + 1;
			most = number > most ? number : most;
		}
		product *= most > 1 ? most : 1;
		if (product > REPEAT_MAX)
			return err_set(err, ERR_ARG_INVALID,
				"/%.40s/: repetitions of more than %d in all are not taken",
				text, (int)REPEAT_MAX);
		if (!*p)
			break;
	}
	return true;
}

static bool parse_regex(struct resource_term *term, const char *text, struct err *err)
{
	char why[128];
	term->form = TERM_REGEX;
	if (!is_harmless(text, err))
		return false;
	int code = regcomp(&term->regex, text, REG_EXTENDED | REG_ICASE | REG_NOSUB);
	if (code != 0) {
		regerror(code, &term->regex, why, sizeof why);
		return err_set(err, ERR_ARG_INVALID, "/%.40s/: %s", text, why);
	}
	term->has_regex = true;
	term->text = x_strdup(text);
	return true;
}

static bool parse_selector(const struct resource_kind *kind, struct resource_term *term,
	const char *text, struct err *err)
{
	if (!kind->labels)
		return err_set(
			err, ERR_ARG_INVALID, "%s are not known by their labels", kind->name);
	term->form = TERM_SELECTOR;
	term->selector = k8s_label_selector_parse(text, err);
	if (!term->selector)
		return false;
	term->text = x_strdup(text);
	return true;
}

static bool parse_percent(const char *text, int64_t *out)
{
	size_t n = strlen(text);
	char *digits = x_strndup(text, n && text[n - 1] == '%' ? n - 1 : n);
	bool ok = num_parse_i64(digits, 0, 100000, out);
	free(digits);
	*out *= 10;
	return ok;
}

static bool parse_amount(enum resource_format format, const char *text, int64_t *out)
{
	if (strcmp(text, "0") == 0) {
		*out = 0;
		return true;
	}
	uint64_t milli = k8s_quantity_milli(text);
	*out = (int64_t)(format == RESOURCE_BYTES ? milli / 1000 : milli);
	return milli > 0;
}

static bool parse_truth(const char *text, int64_t *out)
{
	*out = strcasecmp(text, "true") == 0 || strcasecmp(text, "yes") == 0;
	return *out || strcasecmp(text, "false") == 0 || strcasecmp(text, "no") == 0;
}

/* The number in the column's unit; `wanted` says how it is written. */
static bool parse_number(const struct resource_column *column, const char *text,
	struct resource_term *term, const char **wanted)
{
	switch (column->format) {
	case RESOURCE_AGE:
	case RESOURCE_LEFT:
		*wanted = "a time such as 90s, 10m or 1h30m";
		return clock_parse_duration(text, &term->number);
	case RESOURCE_SHARE:
		*wanted = column->amount ? "per cent (50) or an amount (500m, 1Gi)"
					 : "per cent, such as 50";
		if (parse_percent(text, &term->number))
			return true;
		term->is_amount = column->amount != NULL;
		return term->is_amount &&
		       parse_amount(column->amount_format, text, &term->number);
	case RESOURCE_MILLI:
	case RESOURCE_BYTES:
		*wanted = "an amount, such as 500m or 1Gi";
		return parse_amount(column->format, text, &term->number);
	case RESOURCE_BOOL:
		*wanted = "true or false";
		return parse_truth(text, &term->number);
	case RESOURCE_COUNT:
		*wanted = "a number";
		return num_parse_i64(text, 0, INT64_MAX, &term->number);
	default:
		*wanted = "nothing that a filter knows";
		return false;
	}
}

static bool parse_comparison(const struct resource_column *column, struct resource_term *term,
	const char *operator_, const char *text, struct err *err)
{
	const char *wanted = "";
	term->form = TERM_COMPARISON;
	if (!parse_number(column, text, term, &wanted))
		return err_set(err, ERR_ARG_INVALID, "%s%s is compared with %s, not '%.40s'",
			column->name, operator_, wanted, text);
	bool is_equal = strchr(operator_, '=') || *operator_ == ':';
	term->comparison = *operator_ == '<'   ? (is_equal ? TERM_LESS_EQUAL : TERM_LESS)
			   : *operator_ == '>' ? (is_equal ? TERM_MORE_EQUAL : TERM_MORE)
					       : TERM_SAME;
	term->text = x_strdup(text);
	return true;
}

/* "name", an operator, and what it is asked about. */
struct field {
	size_t name;       /* its bytes; 0: there is none */
	char operator_[3]; /* ":", "=", "!=", "<", "<=", ">", ">=" */
	const char *value;
};

static struct field split_field(const char *word)
{
	struct field field = { 0 };
	size_t n = 0;
	while (isalnum((unsigned char)word[n]) || word[n] == '-' || word[n] == '_')
		n++;
	if (!n || !isalpha((unsigned char)*word) || !word[n])
		return field;
	const char *p = word + n;
	bool is_two = (*p == '<' || *p == '>' || *p == '!') && p[1] == '=';
	if (!strchr(":=<>", *p) && !is_two)
		return field;
	field.name = n;
	memcpy(field.operator_, p, is_two ? 2 : 1);
	field.value = p + (is_two ? 2 : 1);
	return field;
}

static bool parse_plain(struct resource_term *term, const char *word)
{
	term->form = TERM_TEXT;
	term->text = x_strdup(word);
	lower(term->text);
	return true;
}

static bool parse_text_field(const struct resource_column *column, struct resource_term *term,
	const struct field *field, struct err *err)
{
	size_t n = strlen(field->value);
	if (*field->operator_ == '<' || *field->operator_ == '>')
		return err_set(err, ERR_ARG_INVALID,
			"%s is a text: %s:WORD, %s=WORD or %s:/REGEX/", column->name,
			column->name, column->name, column->name);
	if (*field->operator_ == ':' && n > 2 && field->value[0] == '/' &&
		field->value[n - 1] == '/') {
		char *regex = x_strndup(field->value + 1, n - 2);
		bool ok = parse_regex(term, regex, err);
		free(regex);
		return ok;
	}
	parse_plain(term, field->value);
	if (*field->operator_ != ':')
		term->form = TERM_EQUAL;
	return true;
}

static bool is_label_word(const char *word, const struct field *field)
{
	return *field->operator_ == ':' && (is_called("label", word, field->name) ||
						   is_called("labels", word, field->name));
}

/* True without a text: it is not finished. */
static bool parse_word(const struct resource_kind *kind, struct resource_term *term,
	const char *word, struct err *err)
{
	const struct field field = split_field(word);
	if (!field.name)
		return !*word || parse_plain(term, word);
	if (is_label_word(word, &field))
		return !*field.value || parse_selector(kind, term, field.value, err);
	term->column = column_called(kind, word, field.name);
	if (term->column == RESOURCE_ANY_COLUMN && *field.operator_ == ':')
		return parse_plain(term, word); /* image:tag */
	if (term->column == RESOURCE_ANY_COLUMN)
		return no_such_column(kind, word, field.name, err);
	if (!*field.value)
		return true;
	if (*field.operator_ == '!')
		term->is_not = !term->is_not;
	const struct resource_column *column = &kind->columns[term->column];
	return column->format == RESOURCE_TEXT
		       ? parse_text_field(column, term, &field, err)
		       : parse_comparison(column, term, field.operator_, field.value, err);
}

/* ---- the whole */

static bool is_option_l(const char *at)
{
	return at[0] == '-' && at[1] == 'l' && (!at[2] || is_blank(at[2]));
}

static bool parse_selector_option(const struct resource_kind *kind, struct resource_term *term,
	const char **at, struct err *err)
{
	*at += strlen("-l");
	*at += strspn(*at, " \t");
	char *word = take_word(at);
	bool ok = !*word || parse_selector(kind, term, word, err);
	free(word);
	return ok;
}

static bool parse_term(const struct resource_kind *kind, struct resource_term *term,
	const char **at, struct err *err)
{
	term->is_not = **at == '!';
	*at += term->is_not;
	if (is_option_l(*at))
		return parse_selector_option(kind, term, at, err);
	bool is_regex = **at == '/', is_quoted = **at == '"' || **at == '\'';
	char *word = is_regex ? take_regex(at) : take_word(at);
	bool ok = is_regex    ? !*word || parse_regex(term, word, err)
		  : is_quoted ? !*word || parse_plain(term, word)
			      : parse_word(kind, term, word, err);
	free(word);
	return ok;
}

static void term_drop(struct resource_term *term)
{
	free(term->text);
	if (term->has_regex)
		regfree(&term->regex);
	k8s_selector_free(term->selector);
	memset(term, 0, sizeof *term);
}

struct resource_filter *resource_filter_parse(
	const struct resource_kind *kind, const char *text, struct err *err)
{
	if (strlen(text) > RESOURCE_FILTER_BYTES_MAX) {
		err_set(err, ERR_ARG_INVALID, "a filter has at most %d bytes",
			(int)RESOURCE_FILTER_BYTES_MAX);
		return NULL;
	}
	struct resource_filter *f = x_calloc(1, sizeof *f);
	f->kind = kind;
	int group = 0;
	bool is_begun = false; /* the group has a term */
	for (;;) {
		text += strspn(text, " \t");
		if (*text == '|' && (!text[1] || is_blank(text[1]))) {
			group += is_begun;
			is_begun = false;
			text++;
			continue;
		}
		if (!*text)
			break;
		if (f->n == RESOURCE_FILTER_TERMS_MAX) {
			err_set(err, ERR_ARG_INVALID, "a filter has at most %d words",
				(int)RESOURCE_FILTER_TERMS_MAX);
			resource_filter_free(f);
			return NULL;
		}
		struct resource_term *term = &f->terms[f->n];
		*term = (struct resource_term){ .column = RESOURCE_ANY_COLUMN, .group = group };
		if (!parse_term(kind, term, &text, err)) {
			term_drop(term);
			resource_filter_free(f);
			return NULL;
		}
		if (!term->text) {
			term_drop(term);
			continue;
		}
		f->n++;
		is_begun = true;
		f->n_groups = group + 1;
	}
	return f;
}
