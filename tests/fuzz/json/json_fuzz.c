// SPDX-License-Identifier: Apache-2.0
/* The first byte chooses mode and piece size, the rest is a stream. Cut in pieces and whole must give
 * the same values; each value goes through the parser, and names in it through the rules for names. */
#include "engine/base/digest.h"
#include "engine/base/err.h"
#include "engine/base/json.h"
#include "engine/base/path.h"
#include "engine/base/safe_text.h"

#include <locale.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void look_at_listing(const cJSON *value)
{
	const cJSON *entry;
	cJSON_ArrayForEach(entry, json_get(value, "entries", NULL))
	{
		const char *name = json_str(entry, "name", NULL);
		(void)json_int(entry, -1, "size", NULL);
		(void)json_bool(entry, false, "link", NULL);
		if (name == NULL || !path_is_safe_name(name, strlen(name)))
			continue;
		char *url = path_to_url(name);
		char *shown = safe_text_dup(name, 200);
		if (strstr(url, "..") == url + strlen("/v1/files/") && strcmp(name, "..") == 0)
			abort();
		if (!safe_text_is_clean(slice_of(shown)))
			abort();
		free(url);
		free(shown);
	}
}

static bool on_value(void *arg, struct slice value, struct err *err)
{
	(void)err;
	struct digest *digest = arg;
	digest_add(digest, value.p, value.n);
	digest_add(digest, "|", 1);
	struct err parse_err;
	cJSON *parsed = json_parse(value, &parse_err);
	look_at_listing(parsed);
	cJSON_Delete(parsed);
	return true;
}

static enum err_code split(
	enum json_split_mode mode, const uint8_t *data, size_t size, size_t piece, char *hex)
{
	struct err err = { .code = ERR_NONE };
	struct digest *digest = digest_new();
	struct json_split *splitter = json_split_new(mode, 4096, on_value, on_value, digest);
	bool ok = true;
	for (size_t i = 0; ok && i < size; i += piece)
		ok = json_split_feed(
			splitter, data + i, size - i < piece ? size - i : piece, &err);
	if (ok)
		json_split_finish(splitter, &err);
	json_split_free(splitter);
	digest_finish_hex(digest, hex);
	digest_free(digest);
	return err.code;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size == 0)
		return 0;
	setlocale(LC_CTYPE, "C.UTF-8");
	enum json_split_mode mode = data[0] & 1 ? JSON_SPLIT_ITEMS : JSON_SPLIT_VALUES;
	size_t piece = (size_t)(data[0] >> 1) + 1;
	char whole[DIGEST_SHA256_HEX], cut[DIGEST_SHA256_HEX];
	enum err_code code = split(mode, data + 1, size - 1, size, whole);
	if (split(mode, data + 1, size - 1, piece, cut) != code || strcmp(whole, cut) != 0)
		abort();
	return 0;
}
