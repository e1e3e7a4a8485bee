// SPDX-License-Identifier: Apache-2.0
/* YAML read into the same tree as JSON (one document; no anchors beyond 1,000 nodes of expansion, depth
 * 64, 1 MiB), so that kubeconfig, settings and themes share the look-ups of json.h. Scalars: quoted =
 * string; plain true/false/null and numbers typed as YAML 1.2 core; !!binary is the text that it encodes (bytes that are no
 * text are an error); everything else string.
 * Errors: ERR_CONFIG_FILE, those of engine/base/file.h. */
#pragma once

#include "engine/base/json.h"

cJSON *yaml_parse(
	struct slice bytes, struct err *err); /* ERR_CONFIG_FILE with line and column */
cJSON *yaml_parse_large(struct slice bytes, size_t max_bytes, struct err *err);
cJSON *yaml_parse_file(const char *path, size_t max_bytes, struct err *err);
/* Which line (from 1) the key at that path of mappings stands in; 0: there is none. bytes: what yaml_parse() took. keys end
 * with NULL. For messages about a file that somebody wrote. */
size_t yaml_line_of(struct slice bytes, const char *const *keys);
/* Writes a tree as YAML, keys in order. */
void yaml_format(const cJSON *value, struct str *out);
