// SPDX-License-Identifier: Apache-2.0
// Where a key stands in a text that has been parsed already: its events are read again, and mappings walked into.
#include "engine/base/yaml.h"

#include <stdlib.h>
#include <string.h>
#include <yaml.h>

struct walk {
	yaml_parser_t parser;
	const char *const *keys;
	size_t line;
};

static bool next(struct walk *walk, yaml_event_t *event)
{
	return yaml_parser_parse(&walk->parser, event) != 0;
}

static bool is_start(yaml_event_type_t type)
{
	return type == YAML_MAPPING_START_EVENT || type == YAML_SEQUENCE_START_EVENT;
}

static bool is_end(yaml_event_type_t type)
{
	return type == YAML_MAPPING_END_EVENT || type == YAML_SEQUENCE_END_EVENT;
}

/* The rest of the node whose first event that was. */
static bool skip(struct walk *walk, yaml_event_type_t type)
{
	int depth = is_start(type);
	while (depth > 0) {
		yaml_event_t event;
		if (!next(walk, &event))
			return false;
		depth += is_start(event.type) - is_end(event.type);
		yaml_event_delete(&event);
	}
	return true;
}

/* Goes into the mapping whose start has been read, as far as the path leads. */
static bool look(struct walk *walk)
{
	for (;;) {
		yaml_event_t key, value;
		if (!next(walk, &key))
			return false;
		bool is_key = key.type == YAML_SCALAR_EVENT;
		bool is_it =
			is_key && strcmp((const char *)key.data.scalar.value, *walk->keys) == 0;
		size_t line = key.start_mark.line + 1;
		yaml_event_delete(&key);
		if (!is_key || !next(walk, &value))
			return false;
		yaml_event_type_t type = value.type;
		yaml_event_delete(&value);
		if (is_it) {
			walk->line = line;
			walk->keys++;
			return *walk->keys == NULL ||
			       (type == YAML_MAPPING_START_EVENT && look(walk));
		}
		if (!skip(walk, type))
			return false;
	}
}

size_t yaml_line_of(struct slice bytes, const char *const *keys)
{
	struct walk walk = { .keys = keys };
	bool is_found = false, is_over = *keys == NULL;
	if (!yaml_parser_initialize(&walk.parser))
		abort();
	yaml_parser_set_input_string(
		&walk.parser, (const unsigned char *)(bytes.n ? bytes.p : ""), bytes.n);
	while (!is_over) {
		yaml_event_t event;
		if (!next(&walk, &event))
			break;
		yaml_event_type_t type = event.type;
		yaml_event_delete(&event);
		is_over = type != YAML_STREAM_START_EVENT && type != YAML_DOCUMENT_START_EVENT;
		if (type == YAML_MAPPING_START_EVENT)
			is_found = look(&walk);
	}
	yaml_parser_delete(&walk.parser);
	return is_found ? walk.line : 0;
}
