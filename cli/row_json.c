// SPDX-License-Identifier: Apache-2.0
/* A row as JSON: the stable schema of docs/cli.md. */
#include "cli/rows.h"

#include "engine/base/mem.h"

#include <cjson/cJSON.h>
#include <stdlib.h>
#include <string.h>

const char *cli_row_name(const struct resource_kind *kind, const void *row)
{
	return kind->columns[kind->name_column].value(row).text;
}

/* A field of -o json: null where nobody knows. */
void cli_row_add_field(cJSON *object, const struct resource_column *column, const void *row)
{
	struct resource_value value = column->value(row);
	char text[RESOURCE_CELL_BYTES];
	if (!value.is_known)
		cJSON_AddNullToObject(object, column->field);
	else if (column->format == RESOURCE_BOOL)
		cJSON_AddBoolToObject(object, column->field, value.number != 0);
	else if (column->format == RESOURCE_COUNT || RESOURCE_IS_MEASURED(column->format))
		cJSON_AddNumberToObject(object, column->field, (double)value.number);
	else
		cli_json_text(object, column->field, resource_text(column, row, 0, text));
}

/* What every object of the API has, under the names that it has there: for paths that people know by heart. */
static void add_metadata(cJSON *object, const struct resource_kind *kind, const void *row)
{
	cJSON *metadata = cJSON_AddObjectToObject(object, "metadata");
	const char *namespace_ =
		kind->namespace_column == RESOURCE_NONE
			? ""
			: kind->columns[kind->namespace_column].value(row).text;
	cli_json_text(metadata, "name", cli_row_name(kind, row));
	if (namespace_[0] != '\0')
		cli_json_text(metadata, "namespace", namespace_);
	if (kind->labels == NULL)
		return;
	cJSON *labels = cJSON_AddObjectToObject(metadata, "labels");
	for (const char *at = kind->labels(row); *at != '\0';) {
		size_t n = strcspn(at, ","), key = strcspn(at, "=");
		char *name = x_strndup(at, key), *value = x_strndup(at + key + 1, n - key - 1);
		cli_json_text(labels, name, value);
		free(name);
		free(value);
		at += n + (at[n] == ',');
	}
}

cJSON *cli_row_json(const struct resource_kind *kind, const void *row)
{
	cJSON *object = cJSON_CreateObject();
	for (int i = 0; i < kind->n_columns; i++)
		if (kind->columns[i].field)
			cli_row_add_field(object, &kind->columns[i], row);
	add_metadata(object, kind, row);
	return object;
}
