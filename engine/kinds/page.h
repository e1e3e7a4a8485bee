// SPDX-License-Identifier: Apache-2.0
/* The page about one object of any kind, for a view or the command line: its columns, its kind's sections, what it belongs
 * to, conditions, labels and annotations. */
#pragma once

#include "engine/resource/kind.h"

/* row: NULL if it is not known; object: as the API has it, NULL if it has not been read. */
void kinds_page(const struct resource_kind *kind, const void *row, const struct cJSON *object,
	const struct resource_lines *lines);

struct str;
/* What the object has to do with that other kind: "data-0, data-1", or the labels that it selects by, "app=x"; nothing is
 * added where it has nothing. */
void kinds_relation_format(
	const struct resource_relation *relation, const struct cJSON *object, struct str *out);
