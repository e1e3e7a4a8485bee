// SPDX-License-Identifier: Apache-2.0
/* What clients of the local API send: the first byte chooses the parser, the rest is for it.
 * l label selector, f field selector, p protobuf body, j JSON patch (document, NUL, operations),
 * m merge patch (the same), s object against every schema. */
#include "engine/base/err.h"
#include "engine/base/json.h"
#include "engine/base/mem.h"
#include "local/server/api/protobuf.h"
#include "local/server/store/metadata.h"
#include "local/server/store/patch.h"
#include "local/server/store/schema.h"
#include "local/server/store/selector.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void selectors(bool labels, const char *text)
{
	bool ok;
	struct err err = { 0 };
	cJSON *o = cJSON_Parse(
		"{\"metadata\":{\"name\":\"n\",\"labels\":{\"a\":\"b\",\"n\":\"5\"}}}");
	for (size_t i = 0; i < store_resource_count; i++) {
		struct k8s_selector *s = labels ? store_selector_parse_labels(text, &ok, &err)
						: store_selector_parse_fields(text,
							  &store_resource_table[i], &ok, &err);
		if (!ok && err.code == ERR_NONE)
			abort();
		store_selector_matches_labels(s, o);
		store_selector_matches_fields(s, o);
		store_selector_name(s);
		k8s_selector_free(s);
	}
	cJSON_Delete(o);
}

static void patches(bool is_json, struct slice text)
{
	struct err err = { 0 };
	const char *cut = memchr(text.p, 0, text.n);
	if (!cut)
		return;
	struct slice first = { text.p, (size_t)(cut - text.p) };
	struct slice second = { cut + 1, text.n - first.n - 1 };
	cJSON *doc = json_parse(first, NULL), *patch = doc ? json_parse(second, NULL) : NULL;
	if (patch && is_json) {
		char *before = cJSON_PrintUnformatted(doc);
		if (!store_patch_json(&doc, patch, &err)) {
			char *after = cJSON_PrintUnformatted(doc);
			if (strcmp(before, after) != 0)
				abort(); /* all or nothing */
			free(after);
		}
		free(before);
	} else if (patch) {
		doc = store_patch_merge(doc, patch);
	}
	cJSON_Delete(patch);
	cJSON_Delete(doc);
}

static void schemas(struct slice text)
{
	for (size_t i = 0; i < store_resource_count; i++) {
		struct store_schema_check check;
		cJSON *o = json_parse(text, NULL);
		if (!o)
			return;
		store_schema_check(&check, store_resource_table[i].schema, o);
		store_metadata_check(o, check.causes);
		for (size_t c = 0; c < store_resource_table[i].n_columns; c++) {
			cJSON *cells = cJSON_CreateArray();
			store_column_add(&store_resource_table[i].columns[c], o, cells);
			if (cJSON_GetArraySize(cells) != 1)
				abort();
			cJSON_Delete(cells);
		}
		store_schema_check_deinit(&check);
		cJSON_Delete(o);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size < 1 || size > 65536)
		return 0;
	char *copy = x_malloc(size);
	memcpy(copy, data + 1, size - 1);
	copy[size - 1] = '\0';
	struct slice text = { copy, size - 1 };
	switch (data[0]) {
	case 'l':
	case 'f':
		selectors(data[0] == 'l', copy);
		break;
	case 'p':
		cJSON_Delete(api_protobuf_namespace(text));
		break;
	case 'j':
	case 'm':
		patches(data[0] == 'j', text);
		break;
	case 's':
		schemas(text);
		break;
	default:
		break;
	}
	free(copy);
	return 0;
}
