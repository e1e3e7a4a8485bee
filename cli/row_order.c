// SPDX-License-Identifier: Apache-2.0
#include "cli/row_order.h"

#include "cli/jsonpath.h"
#include "cli/rows.h"
#include "engine/base/mem.h"
#include "engine/k8s/selector.h"

#include <cjson/cJSON.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct cli_row_order {
	const struct resource_kind *kind;
	int column;                /* to sort by; RESOURCE_NONE: none */
	struct cli_jsonpath *path; /* or this */
	struct k8s_selector *selector;
};

/* A row, and what it is sorted by. */
struct keyed {
	const void *row;
	const char *namespace_, *name;
	char *text;
	double number;
	bool is_known, is_number;
};

/* ---- fields */

static int column_called(const struct resource_kind *kind, const char *name)
{
	for (int i = 0; i < kind->n_columns; i++) {
		const struct resource_column *column = &kind->columns[i];
		const char *const names[] = { column->name, column->field, column->title };
		for (size_t n = 0; n < sizeof names / sizeof *names; n++)
			if (names[n] != NULL && strcasecmp(names[n], name) == 0)
				return i;
	}
	return RESOURCE_NONE;
}

static void add_fields(const struct resource_kind *kind, struct str *out)
{
	for (int i = 0; i < kind->n_columns; i++)
		if (kind->columns[i].field != NULL)
			str_addf(out, "%s%s", out->n ? ", " : "", kind->columns[i].field);
}

static bool fail_field(const struct resource_kind *kind, const char *option, const char *field,
	struct err *err)
{
	struct str fields;
	str_init(&fields, ERR_MESSAGE_BYTES / 2);
	add_fields(kind, &fields);
	err_set(err, ERR_ARG_INVALID, "%s: %s have no field '%s', but %s", option, kind->name,
		field, fields.p);
	str_deinit(&fields);
	return false;
}

/* ---- --field-selector */

static const char *const metadata_fields[] = { "metadata.name", "metadata.namespace" };

static bool is_field(const void *arg, const char *field)
{
	const struct resource_kind *kind = arg;
	for (size_t i = 0; i < sizeof metadata_fields / sizeof *metadata_fields; i++)
		if (strcmp(field, metadata_fields[i]) == 0)
			return true;
	int column = column_called(kind, field);
	return column != RESOURCE_NONE && kind->columns[column].field != NULL;
}

struct selected {
	const struct resource_kind *kind;
	const void *row;
	char text[RESOURCE_CELL_BYTES];
};

static const char *field_of(const void *arg, const char *field)
{
	struct selected *one = (struct selected *)(uintptr_t)arg;
	if (strcmp(field, "metadata.name") == 0)
		return cli_row_name(one->kind, one->row);
	if (strcmp(field, "metadata.namespace") == 0)
		field = "namespace";
	int column = column_called(one->kind, field);
	return column == RESOURCE_NONE
		       ? ""
		       : resource_text(&one->kind->columns[column], one->row, 0, one->text);
}

bool cli_row_order_selects(const struct cli_row_order *order, const void *row)
{
	if (order == NULL)
		return true;
	struct selected one = { .kind = order->kind, .row = row };
	return k8s_selector_matches(order->selector, field_of, &one);
}

/* ---- --sort-by */

static bool set_sort(struct cli_row_order *order, const char *by, struct err *err)
{
	order->column = RESOURCE_NONE;
	if (by == NULL)
		return true;
	order->column = column_called(order->kind, by + (by[0] == '.'));
	if (order->column != RESOURCE_NONE)
		return true;
	if (strpbrk(by, ".{[") == NULL)
		return fail_field(order->kind, "--sort-by", by, err);
	order->path = cli_jsonpath_parse_path(by, err);
	return order->path != NULL || err_prefix(err, "--sort-by");
}

static void key_by_column(struct keyed *one, const struct resource_column *column)
{
	const struct resource_value value = column->value(one->row);
	one->is_known = value.is_known;
	one->is_number = column->order != NULL || column->format != RESOURCE_TEXT;
	if (one->is_number)
		one->number = (double)(column->order ? column->order(one->row) : value.number);
	else
		one->text = x_strdup(value.text);
}

static void key_by_path(struct keyed *one, const struct cli_row_order *order)
{
	cJSON *object = cli_row_json(order->kind, one->row);
	const cJSON *value = cli_jsonpath_first(order->path, object);
	one->is_known = cJSON_IsString(value) || cJSON_IsNumber(value) || cJSON_IsBool(value);
	one->is_number = one->is_known && !cJSON_IsString(value);
	if (cJSON_IsString(value))
		one->text = x_strdup(value->valuestring);
	else if (one->is_known)
		one->number = cJSON_IsNumber(value) ? value->valuedouble : cJSON_IsTrue(value);
	cJSON_Delete(object);
}

/* What is not known comes first, as for kubectl. */
static int compare_keys(const struct keyed *a, const struct keyed *b)
{
	if (a->is_known != b->is_known)
		return a->is_known ? 1 : -1;
	if (a->is_number != b->is_number)
		return a->is_number ? -1 : 1;
	if (a->is_number)
		return (a->number > b->number) - (a->number < b->number);
	return strcmp(a->text ? a->text : "", b->text ? b->text : "");
}

static int compare(const void *left, const void *right)
{
	const struct keyed *a = left, *b = right;
	int order = compare_keys(a, b);
	order = order ? order : strcmp(a->namespace_, b->namespace_);
	return order ? order : strcmp(a->name, b->name);
}

static const char *namespace_of(const struct resource_kind *kind, const void *row)
{
	return kind->namespace_column == RESOURCE_NONE
		       ? ""
		       : kind->columns[kind->namespace_column].value(row).text;
}

/* The order of the kind where none was asked for: the latest first. */
static void key_by_kind(struct keyed *one, const struct resource_kind *kind)
{
	key_by_column(one, &kind->columns[kind->order_column]);
	one->number = -one->number;
}

void cli_row_order_sort(const struct cli_row_order *order, const struct resource_kind *kind,
	const void **rows, size_t n)
{
	bool is_asked =
		order != NULL && (order->column != RESOURCE_NONE || order->path != NULL);
	struct keyed *keyed = x_calloc(n, sizeof *keyed);
	for (size_t i = 0; i < n; i++) {
		keyed[i].row = rows[i];
		keyed[i].namespace_ = namespace_of(kind, rows[i]);
		keyed[i].name = cli_row_name(kind, rows[i]);
		if (!is_asked && kind->order_column != 0)
			key_by_kind(&keyed[i], kind);
		if (!is_asked)
			continue;
		if (order->column != RESOURCE_NONE)
			key_by_column(&keyed[i], &kind->columns[order->column]);
		else if (order->path != NULL)
			key_by_path(&keyed[i], order);
	}
	if (n > 0)
		qsort(keyed, n, sizeof *keyed, compare);
	for (size_t i = 0; i < n; i++) {
		rows[i] = keyed[i].row;
		free(keyed[i].text);
	}
	free(keyed);
}

/* ---- both */

struct cli_row_order *cli_row_order_new(
	const struct cli_options *opt, const struct resource_kind *kind, struct err *err)
{
	struct cli_row_order *order = x_calloc(1, sizeof *order);
	order->kind = kind;
	bool ok = set_sort(order, opt->sort_by, err);
	if (ok && opt->field_selector != NULL) {
		order->selector =
			k8s_field_selector_parse(opt->field_selector, is_field, kind, err);
		ok = order->selector != NULL || err_prefix(err, "--field-selector");
	}
	if (ok)
		return order;
	cli_row_order_free(order);
	return NULL;
}

void cli_row_order_free(struct cli_row_order *order)
{
	if (order == NULL)
		return;
	cli_jsonpath_free(order->path);
	k8s_selector_free(order->selector);
	free(order);
}
