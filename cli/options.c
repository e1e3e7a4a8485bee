// SPDX-License-Identifier: Apache-2.0
/* From rows of options to what was on the command line. */
#include "cli/options.h"

#include "cli/cli.h"
#include "cli/expression.h"
#include "cli/verbs.h"
#include "engine/base/clock.h"
#include "engine/base/mem.h"
#include "engine/base/num.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

void cli_list_add(struct cli_list *list, const char *item)
{
	array_grow(&list->items, &list->capacity, list->n + 2, sizeof *list->items);
	list->items[list->n++] = item;
	list->items[list->n] = NULL;
}

void cli_options_deinit(struct cli_options *opt)
{
	cli_expression_free(opt->expression);
	free(opt->as_groups.items);
	free(opt->labels.items);
	free(opt->annotations.items);
	free(opt->volumes.items);
	free(opt->env.items);
	free(opt->pod_labels.items);
	free(opt->pod_annotations.items);
}

static bool parse_time(int64_t *out, const char *name, const char *text, struct err *err)
{
	if (clock_parse_duration(text, out) && *out > 0)
		return true;
	return err_set(err, ERR_ARG_INVALID, "--%s '%s' is not a time such as 30s, 5m, 1h30m",
		name, text);
}

static bool parse_bool(bool *is_off, const char *name, const char *text, struct err *err)
{
	*is_off = text != NULL && strcmp(text, "false") == 0;
	return text == NULL || *is_off || strcmp(text, "true") == 0 ||
	       err_set(err, ERR_ARG_INVALID, "--%s '%s' is neither true nor false", name, text);
}

static bool parse_size(int64_t *out, const char *name, const char *text, struct err *err)
{
	uint64_t bytes;
	if (!num_parse_size(text, INT64_MAX, &bytes) || bytes == 0)
		return err_set(err, ERR_ARG_INVALID,
			"--%s '%s' is not a size such as 64KiB, 8MiB", name, text);
	*out = (int64_t)bytes;
	return true;
}

static bool add_pair(struct cli_list *list, const char *name, const char *text, struct err *err)
{
	const char *equals = strchr(text, '=');
	if (equals == NULL || equals == text)
		return err_set(
			err, ERR_ARG_INVALID, "--%s %s needs a value: KEY=VALUE", name, text);
	cli_list_add(list, text);
	return true;
}

static bool apply(struct cli_options *opt, const struct cli_option *option, const char *value,
	struct err *err)
{
	void *field = (char *)opt + option->at;
	switch (option->kind) {
	case CLI_OPTION_SWITCH:
		*(bool *)field = true;
		return true;
	case CLI_OPTION_SWITCH_OFF:
		return parse_bool(field, option->name, value, err);
	case CLI_OPTION_TEXT:
		*(const char **)field = value;
		return true;
	case CLI_OPTION_LIST:
		cli_list_add(field, value);
		return true;
	case CLI_OPTION_PAIRS:
		return add_pair(field, option->name, value, err);
	case CLI_OPTION_TIME:
		return parse_time(field, option->name, value, err);
	case CLI_OPTION_SIZE:
		return parse_size(field, option->name, value, err);
	case CLI_OPTION_SETTER:
		return option->set(opt, value, err);
	}
	return false;
}

/* The getopt tables for a set of options, and the row behind each of its numbers. */
enum { FIRST_ID = 256 }; /* under it: letters */
struct tables {
	struct option longs[CLI_OPTIONS_MAX + 1];
	char shorts[2 * CLI_OPTIONS_MAX + 3];
	const struct cli_option *rows[CLI_OPTIONS_MAX];
	int n;
};

static int argument_of(const struct cli_option *option)
{
	if (option->kind == CLI_OPTION_SWITCH_OFF)
		return optional_argument;
	return option->value ? required_argument : no_argument;
}

static void fill_tables(struct tables *tables, unsigned sets, char order)
{
	size_t s = 0;
	tables->n = 0;
	tables->shorts[s++] = order; /* '+': stop at the first argument; '-' is not used */
	tables->shorts[s++] = ':';
	for (const struct cli_option *row = NULL; (row = cli_options_each(row, sets)) != NULL;
		tables->n++) {
		tables->rows[tables->n] = row;
		tables->longs[tables->n] = (struct option){ row->name, argument_of(row), NULL,
			FIRST_ID + tables->n };
		if (row->letter == 0)
			continue;
		tables->shorts[s++] = row->letter;
		if (row->value != NULL)
			tables->shorts[s++] = ':';
	}
	tables->longs[tables->n] = (struct option){ 0 };
	tables->shorts[s] = '\0';
}

static const struct cli_option *row_of(const struct tables *tables, int found)
{
	if (found >= FIRST_ID)
		return tables->rows[found - FIRST_ID];
	for (int i = 0; i < tables->n; i++)
		if (tables->rows[i]->letter == found)
			return tables->rows[i];
	return NULL;
}

static const char *nearest_option(const struct tables *tables, const char *argument)
{
	const char *nearest = NULL;
	size_t least = 3;
	for (int i = 0; i < tables->n && strncmp(argument, "--", 2) == 0; i++) {
		size_t edits = cli_word_distance(argument + 2, tables->rows[i]->name, least);
		if (edits < least && edits * 3 <= strlen(tables->rows[i]->name)) {
			least = edits;
			nearest = tables->rows[i]->name;
		}
	}
	return nearest;
}

/* getopt has set optopt: a letter, the number of an option that takes no value, or 0. */
static bool refuse_option(const struct tables *tables, const char *argument, struct err *err)
{
	if (optopt > 0 && optopt < FIRST_ID)
		return err_set(err, ERR_ARG_INVALID, "unknown option -%c", optopt);
	if (optopt != 0)
		return err_set(err, ERR_ARG_INVALID, "%s: --%s takes no value", argument,
			row_of(tables, optopt)->name);
	const char *nearest = nearest_option(tables, argument);
	return err_set(err, ERR_ARG_INVALID, "unknown option %s%s%s%s", argument,
		nearest ? "; did you mean --" : "", nearest ? nearest : "", nearest ? "?" : "");
}

static bool parse_part(struct cli_options *opt, int argc, char **argv, unsigned sets,
	char order, struct err *err)
{
	struct tables tables;
	fill_tables(&tables, sets, order);
	const char *shorts = order == '+' ? tables.shorts : tables.shorts + 1;
	optind = 0; /* glibc: start anew, with the new order */
	opterr = 0;
	for (;;) {
		int found = getopt_long(argc, argv, shorts, tables.longs, NULL);
		if (found == -1)
			return true;
		if (found == ':')
			return err_set(
				err, ERR_ARG_INVALID, "%s needs a value", argv[optind - 1]);
		const struct cli_option *row = found == '?' ? NULL : row_of(&tables, found);
		if (row == NULL)
			return refuse_option(&tables, argv[optind - 1], err);
		/* -o=json, as kubectl takes it */
		bool is_letter = found < FIRST_ID && optarg != NULL && optarg[0] == '=';
		if (!apply(opt, row, is_letter ? optarg + 1 : optarg, err))
			return false;
	}
}

static bool unknown_verb(const struct cli_verb *const *verbs, const char *name, struct err *err)
{
	struct str hint;
	str_init(&hint, ERR_MESSAGE_BYTES / 2);
	bool is_known = cli_verb_suggest(verbs, name, &hint);
	err_set(err, ERR_ARG_INVALID, "unknown verb '%s'%s%s", name, is_known ? "; " : "",
		hint.p);
	str_deinit(&hint);
	return false;
}

bool cli_parse(struct cli_options *opt, int argc, char **argv,
	const struct cli_verb *const *verbs, const struct cli_verb **verb_out, int *first,
	int *count, struct err *err)
{
	if (!parse_part(opt, argc, argv, CLI_OPT_GLOBAL | CLI_OPT_TUI | CLI_OPT_LIST, '+', err))
		return false;
	opt->engine.as_groups = opt->as_groups.items;
	if (optind >= argc) {
		*verb_out = verbs[0];
		*first = argc;
		*count = 0;
		return true;
	}
	int at = optind;
	const struct cli_verb *verb = cli_verb_find(verbs, argv[at]);
	if (verb == NULL)
		return unknown_verb(verbs, argv[at], err);
	*verb_out = verb;
	if (!parse_part(opt, argc - at, argv + at, verb->options | CLI_OPT_GLOBAL, 0, err)) {
		err_prefix(err, "%s", verb->name);
		return false;
	}
	opt->engine.as_groups = opt->as_groups.items;
	*first = at + optind;
	*count = argc - *first;
	if (opt->help)
		return true;
	if (*count < verb->min_args || (verb->max_args >= 0 && *count > verb->max_args))
		return err_set(err, ERR_ARG_INVALID, "usage: sandmux %s %s", verb->name,
			verb->arguments);
	return true;
}
