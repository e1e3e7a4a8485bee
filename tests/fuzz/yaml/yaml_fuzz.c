// SPDX-License-Identifier: Apache-2.0
/* Any bytes as YAML. What is read is written and read again, and must be the same tree. */
#include "engine/base/err.h"
#include "engine/base/yaml.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char *print(const cJSON *value)
{
	char *text = cJSON_PrintUnformatted(value);
	if (text == NULL)
		abort();
	return text;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct err err = { .code = ERR_NONE };
	cJSON *value = yaml_parse((struct slice){ (const char *)data, size }, &err);
	if (value == NULL) {
		if (err.code != ERR_CONFIG_FILE)
			abort();
		return 0;
	}
	struct str text;
	str_init(&text, 8 << 20);
	yaml_format(value, &text);
	cJSON *again = yaml_parse((struct slice){ text.p, text.n }, &err);
	char *one = print(value);
	char *two = again != NULL ? print(again) : NULL;
	/* more than the reader takes: only what was written too large may fail */
	if (text.n <= 1 << 20 && (two == NULL || strcmp(one, two) != 0))
		abort();
	free(one);
	free(two);
	cJSON_Delete(value);
	cJSON_Delete(again);
	str_deinit(&text);
	return 0;
}
