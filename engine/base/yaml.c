// SPDX-License-Identifier: Apache-2.0
/* YAML events of libyaml built into a cJSON tree, under limits. An alias is a copy of the finished
 * anchor, so a tree can neither contain itself nor grow without being counted. */
#include "engine/base/yaml.h"

#include "engine/base/digest.h"
#include "engine/base/err.h"
#include "engine/base/file.h"
#include "engine/base/mem.h"
#include "engine/base/safe_text.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <yaml.h>

enum { YAML_MAX_BYTES = 1 << 20, MAX_EXPANDED_NODES = 1000, MAX_ANCHORS = 256 };

#define BINARY_TAG "tag:yaml.org,2002:binary"

struct reader {
	yaml_parser_t parser;
	struct err *err;
	size_t expanded;
	size_t n_anchors;
	struct {
		char *name;
		const cJSON *value; /* in the tree being built */
	} anchors[MAX_ANCHORS];
};

static cJSON *fail_at(struct reader *reader, const yaml_mark_t *mark, const char *what)
{
	err_set(reader->err, ERR_CONFIG_FILE, "line %zu, column %zu: %s", mark->line + 1,
		mark->column + 1, what);
	return NULL;
}

static bool equals_any(const char *text, const char *const *words)
{
	for (; *words != NULL; words++)
		if (strcmp(text, *words) == 0)
			return true;
	return false;
}

/* Decimal, 0o and 0x integers and decimal floats as in the YAML 1.2 core schema. */
static bool parse_number(const char *text, double *out)
{
	const char *p = text + (*text == '-' || *text == '+');
	char *end;
	if (p[0] == '0' && (p[1] == 'x' || p[1] == 'o')) {
		const char *digits = p[1] == 'x' ? "0123456789abcdefABCDEF" : "01234567";
		if (p != text || p[2] == '\0' || strspn(p + 2, digits) != strlen(p + 2))
			return false;
		*out = (double)strtoull(p + 2, &end, p[1] == 'x' ? 16 : 8);
		return true;
	}
	size_t whole = strspn(p, "0123456789");
	const char *q = p + whole;
	size_t fraction = 0;
	if (*q == '.') {
		fraction = strspn(q + 1, "0123456789");
		q += 1 + fraction;
	}
	if (whole + fraction == 0)
		return false;
	if (*q == 'e' || *q == 'E') {
		q++;
		q += *q == '-' || *q == '+';
		size_t exponent = strspn(q, "0123456789");
		if (exponent == 0)
			return false;
		q += exponent;
	}
	if (*q != '\0')
		return false;
	*out = strtod(text, &end);
	return true;
}

static cJSON *plain_scalar(const char *text)
{
	static const char *const nulls[] = { "", "~", "null", "Null", "NULL", NULL };
	static const char *const trues[] = { "true", "True", "TRUE", NULL };
	static const char *const falses[] = { "false", "False", "FALSE", NULL };
	double number;
	if (equals_any(text, nulls))
		return cJSON_CreateNull();
	if (equals_any(text, trues))
		return cJSON_CreateTrue();
	if (equals_any(text, falses))
		return cJSON_CreateFalse();
	/* a number that a double would change stays text */
	if (parse_number(text, &number) && fabs(number) < 9007199254740992.0)
		return cJSON_CreateNumber(number);
	return cJSON_CreateString(text);
}

static size_t count_nodes(const cJSON *value)
{
	size_t n = 1;
	for (const cJSON *child = value->child; child != NULL; child = child->next)
		n += count_nodes(child);
	return n;
}

static size_t depth_of(const cJSON *value)
{
	size_t deepest = 0;
	for (const cJSON *child = value->child; child != NULL; child = child->next) {
		size_t depth = depth_of(child);
		deepest = depth > deepest ? depth : deepest;
	}
	return deepest + 1;
}

static cJSON *expand_alias(struct reader *reader, const yaml_event_t *event, size_t depth)
{
	const char *name = (const char *)event->data.alias.anchor;
	/* the newest anchor of that name counts */
	for (size_t i = reader->n_anchors; i-- > 0;) {
		if (strcmp(reader->anchors[i].name, name) != 0)
			continue;
		const cJSON *value = reader->anchors[i].value;
		reader->expanded += count_nodes(value);
		if (reader->expanded > MAX_EXPANDED_NODES)
			return fail_at(reader, &event->start_mark, "too many aliases");
		if (depth + depth_of(value) > JSON_MAX_DEPTH)
			return fail_at(reader, &event->start_mark, "nested too deeply");
		return cJSON_Duplicate(value, true);
	}
	return fail_at(reader, &event->start_mark, "unknown alias");
}

static bool add_anchor(struct reader *reader, const yaml_char_t *name, const cJSON *value,
	const yaml_mark_t *mark)
{
	if (name == NULL)
		return true;
	if (reader->n_anchors == MAX_ANCHORS)
		return fail_at(reader, mark, "too many anchors") != NULL;
	reader->anchors[reader->n_anchors].name = x_strdup((const char *)name);
	reader->anchors[reader->n_anchors++].value = value;
	return true;
}

static bool next_event(struct reader *reader, yaml_event_t *event)
{
	if (yaml_parser_parse(&reader->parser, event))
		return true;
	const yaml_parser_t *parser = &reader->parser;
	yaml_mark_t mark = parser->problem_mark;
	fail_at(reader, &mark, parser->problem ? parser->problem : "bad YAML");
	return false;
}

static int compare_names(const void *a, const void *b)
{
	const cJSON *const *left = a, *const *right = b;
	return strcmp((*left)->string, (*right)->string);
}

struct mark {
	size_t line, column;
};

/* The name of a key that occurs twice, and where it does for the second time (marks: of each key); or NULL. */
static const char *duplicate_key(
	const cJSON *object, const struct mark *marks, struct mark *where)
{
	size_t n = 0, capacity = 0;
	const cJSON **members = NULL;
	for (const cJSON *child = object->child; child != NULL; child = child->next) {
		array_grow(&members, &capacity, n + 1, sizeof(const cJSON *));
		members[n++] = child;
	}
	const char *found = NULL;
	if (n > 1)
		qsort(members, n, sizeof(const cJSON *), compare_names);
	for (size_t i = 1; i < n && found == NULL; i++)
		if (strcmp(members[i - 1]->string, members[i]->string) == 0)
			found = members[i]->string;
	free(members);
	bool is_second = false;
	for (const cJSON *child = object->child; found != NULL && child != NULL;
		child = child->next, marks++) {
		if (strcmp(child->string, found) != 0)
			continue;
		*where = *marks;
		if (is_second)
			break;
		is_second = true;
	}
	return found;
}

static cJSON *read_node(struct reader *reader, yaml_event_t *event, size_t depth);

/* !!binary (yaml.org/type/binary): base64, which may be broken over lines. JSON has text alone. */
static cJSON *read_binary(struct reader *reader, const yaml_event_t *event)
{
	struct str base64;
	size_t n = 0;
	str_init(&base64, event->data.scalar.length);
	for (const char *p = (const char *)event->data.scalar.value; *p; p++)
		if (!isspace((unsigned char)*p))
			str_add_char(&base64, *p);
	char *bytes = digest_base64_decode((struct slice){ base64.p, base64.n }, &n);
	explicit_bzero(base64.p, base64.n);
	str_deinit(&base64);
	if (bytes == NULL)
		return fail_at(reader, &event->start_mark, "!!binary that is not base64");
	size_t at = 0;
	while (at < n) {
		int32_t c;
		size_t used = safe_text_decode((struct slice){ bytes + at, n - at }, &c);
		if (used == 0 || c == 0)
			break;
		at += used;
	}
	char *text = x_strndup(bytes, n);
	explicit_bzero(bytes, n);
	free(bytes);
	cJSON *value =
		at == n ? cJSON_CreateString(text)
			: fail_at(reader, &event->start_mark, "!!binary that is not text");
	x_free_secret(text);
	return value;
}

static cJSON *read_scalar(struct reader *reader, const yaml_event_t *event)
{
	const char *text = (const char *)event->data.scalar.value;
	if (strlen(text) != event->data.scalar.length)
		return fail_at(reader, &event->start_mark, "a NUL character");
	const char *tag = (const char *)event->data.scalar.tag;
	bool is_binary = tag != NULL && strcmp(tag, BINARY_TAG) == 0;
	bool is_plain =
		event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE &&
		(tag == NULL || (strcmp(tag, YAML_STR_TAG) != 0 && strcmp(tag, "!") != 0));
	cJSON *value = is_binary  ? read_binary(reader, event)
		       : is_plain ? plain_scalar(text)
				  : cJSON_CreateString(text);
	if (value == NULL)
		return NULL;
	if (add_anchor(reader, event->data.scalar.anchor, value, &event->start_mark))
		return value;
	cJSON_Delete(value);
	return NULL;
}

static bool read_item(struct reader *reader, cJSON *into, yaml_event_t *event, size_t depth)
{
	cJSON *value = read_node(reader, event, depth);
	return value != NULL && cJSON_AddItemToArray(into, value);
}

/* event is the key's and is deleted here. */
static bool read_member(struct reader *reader, cJSON *into, yaml_event_t *event, size_t depth)
{
	const yaml_char_t *text = event->data.scalar.value;
	if (event->type != YAML_SCALAR_EVENT || event->data.scalar.anchor != NULL ||
		strlen((const char *)text) != event->data.scalar.length) {
		fail_at(reader, &event->start_mark, "a key must be plain text");
		yaml_event_delete(event);
		return false;
	}
	char *name = x_strdup((const char *)text);
	yaml_event_delete(event);
	cJSON *value = NULL;
	yaml_event_t value_event;
	if (next_event(reader, &value_event))
		value = read_node(reader, &value_event, depth);
	bool ok = value != NULL && cJSON_AddItemToObject(into, name, value);
	free(name);
	return ok;
}

static cJSON *read_collection(struct reader *reader, yaml_event_t *event, size_t depth)
{
	bool is_map = event->type == YAML_MAPPING_START_EVENT;
	yaml_mark_t mark = event->start_mark;
	yaml_char_t *anchor =
		is_map ? event->data.mapping_start.anchor : event->data.sequence_start.anchor;
	char *name = x_strdup((const char *)anchor);
	cJSON *value = is_map ? cJSON_CreateObject() : cJSON_CreateArray();
	struct mark *marks = NULL, twice_at = { 0 };
	size_t n_marks = 0, capacity = 0;
	bool ok = depth < JSON_MAX_DEPTH || fail_at(reader, &mark, "nested too deeply") != NULL;
	while (ok) {
		yaml_event_t inner;
		if (!next_event(reader, &inner)) {
			ok = false;
			break;
		}
		if (inner.type == YAML_MAPPING_END_EVENT ||
			inner.type == YAML_SEQUENCE_END_EVENT) {
			yaml_event_delete(&inner);
			break;
		}
		array_grow(&marks, &capacity, n_marks + 1, sizeof *marks);
		marks[n_marks++] =
			(struct mark){ inner.start_mark.line + 1, inner.start_mark.column + 1 };
		ok = is_map ? read_member(reader, value, &inner, depth + 1)
			    : read_item(reader, value, &inner, depth + 1);
	}
	const char *twice = ok && is_map ? duplicate_key(value, marks, &twice_at) : NULL;
	free(marks);
	if (twice != NULL) {
		err_set(reader->err, ERR_CONFIG_FILE,
			"line %zu, column %zu: the key \"%.64s\" occurs twice", twice_at.line,
			twice_at.column, twice);
		ok = false;
	}
	ok = ok && add_anchor(reader, (yaml_char_t *)name, value, &mark);
	free(name);
	if (ok)
		return value;
	cJSON_Delete(value);
	return NULL;
}

/* Reads the node that begins with event, and deletes the event. */
static cJSON *read_node(struct reader *reader, yaml_event_t *event, size_t depth)
{
	cJSON *value = NULL;
	if (event->type == YAML_SCALAR_EVENT)
		value = read_scalar(reader, event);
	else if (event->type == YAML_ALIAS_EVENT)
		value = expand_alias(reader, event, depth);
	else if (event->type == YAML_MAPPING_START_EVENT ||
		 event->type == YAML_SEQUENCE_START_EVENT)
		value = read_collection(reader, event, depth);
	else
		fail_at(reader, &event->start_mark, "unexpected end");
	yaml_event_delete(event);
	return value;
}

/* The single document of the stream; an empty stream is null. */
static cJSON *read_document(struct reader *reader)
{
	cJSON *value = NULL;
	size_t documents = 0;
	for (;;) {
		yaml_event_t event;
		if (!next_event(reader, &event))
			break;
		yaml_event_type_t type = event.type;
		yaml_mark_t mark = event.start_mark;
		if (type == YAML_STREAM_START_EVENT || type == YAML_DOCUMENT_END_EVENT) {
			yaml_event_delete(&event);
		} else if (type == YAML_DOCUMENT_START_EVENT) {
			yaml_event_delete(&event);
			if (++documents > 1) {
				fail_at(reader, &mark, "more than one document");
				break;
			}
		} else if (type == YAML_STREAM_END_EVENT) {
			yaml_event_delete(&event);
			return value != NULL ? value : cJSON_CreateNull();
		} else {
			value = read_node(reader, &event, 0);
			if (value == NULL)
				break;
		}
	}
	cJSON_Delete(value);
	return NULL;
}

cJSON *yaml_parse(struct slice bytes, struct err *err)
{
	return yaml_parse_large(bytes, YAML_MAX_BYTES, err);
}

cJSON *yaml_parse_large(struct slice bytes, size_t max_bytes, struct err *err)
{
	if (bytes.n > max_bytes) {
		err_set(err, ERR_CONFIG_FILE, "YAML of %zu bytes: more than %zu", bytes.n,
			max_bytes);
		return NULL;
	}
	struct reader *reader = x_calloc(1, sizeof *reader);
	reader->err = err;
	if (!yaml_parser_initialize(&reader->parser))
		abort();
	yaml_parser_set_input_string(
		&reader->parser, (const unsigned char *)(bytes.n ? bytes.p : ""), bytes.n);
	cJSON *value = read_document(reader);
	yaml_parser_delete(&reader->parser);
	for (size_t i = 0; i < reader->n_anchors; i++)
		free(reader->anchors[i].name);
	free(reader);
	return value;
}

cJSON *yaml_parse_file(const char *path, size_t max_bytes, struct err *err)
{
	size_t n;
	char *content = file_read(path, max_bytes, &n, err);
	if (content == NULL)
		return NULL;
	cJSON *value = yaml_parse((struct slice){ content, n }, err);
	if (value == NULL)
		err_prefix(err, "%s", path);
	free(content);
	return value;
}

/* --- writing --- */

static int collect(void *arg, unsigned char *bytes, size_t n)
{
	str_add_bytes(arg, bytes, n);
	return 1;
}

static void emit_text(yaml_emitter_t *emitter, const char *text, bool quoted)
{
	yaml_event_t event;
	yaml_scalar_style_t style = quoted ? YAML_DOUBLE_QUOTED_SCALAR_STYLE
				    : strchr(text, '\n') != NULL ? YAML_LITERAL_SCALAR_STYLE
								 : YAML_PLAIN_SCALAR_STYLE;
	if (yaml_scalar_event_initialize(&event, NULL, NULL, (const yaml_char_t *)text,
		    (int)strlen(text), 1, 1, style))
		yaml_emitter_emit(emitter, &event);
}

static bool is_shown_as_it_is(const char *text)
{
	for (size_t n = strcspn(text, "\n\t"); *text != '\0'; n = strcspn(text, "\n\t")) {
		if (!safe_text_is_clean((struct slice){ text, n }))
			return false;
		text += n;
		text += *text != '\0';
	}
	return true;
}

/* Text that would be read back as something else, or not be read at all, is quoted. */
static void emit_string(yaml_emitter_t *emitter, const char *text)
{
	cJSON *read = plain_scalar(text);
	bool quoted = !cJSON_IsString(read) || !is_shown_as_it_is(text);
	cJSON_Delete(read);
	emit_text(emitter, text, quoted);
}

static void emit_value(yaml_emitter_t *emitter, const cJSON *value)
{
	yaml_event_t event;
	if (cJSON_IsObject(value)) {
		yaml_mapping_start_event_initialize(&event, NULL, NULL, 1,
			value->child ? YAML_BLOCK_MAPPING_STYLE : YAML_FLOW_MAPPING_STYLE);
		yaml_emitter_emit(emitter, &event);
		for (const cJSON *child = value->child; child != NULL; child = child->next) {
			emit_string(emitter, child->string);
			emit_value(emitter, child);
		}
		yaml_mapping_end_event_initialize(&event);
		yaml_emitter_emit(emitter, &event);
	} else if (cJSON_IsArray(value)) {
		yaml_sequence_start_event_initialize(&event, NULL, NULL, 1,
			value->child ? YAML_BLOCK_SEQUENCE_STYLE : YAML_FLOW_SEQUENCE_STYLE);
		yaml_emitter_emit(emitter, &event);
		for (const cJSON *child = value->child; child != NULL; child = child->next)
			emit_value(emitter, child);
		yaml_sequence_end_event_initialize(&event);
		yaml_emitter_emit(emitter, &event);
	} else if (cJSON_IsString(value)) {
		emit_string(emitter, value->valuestring);
	} else {
		char *text = cJSON_PrintUnformatted(value);
		emit_text(emitter, text != NULL ? text : "null", false);
		cJSON_free(text);
	}
}

void yaml_format(const cJSON *value, struct str *out)
{
	yaml_emitter_t emitter;
	yaml_event_t event;
	if (!yaml_emitter_initialize(&emitter))
		abort();
	yaml_emitter_set_output(&emitter, collect, out);
	yaml_emitter_set_unicode(&emitter, 1);
	yaml_emitter_set_width(&emitter, -1);
	yaml_stream_start_event_initialize(&event, YAML_UTF8_ENCODING);
	yaml_emitter_emit(&emitter, &event);
	yaml_document_start_event_initialize(&event, NULL, NULL, NULL, 1);
	yaml_emitter_emit(&emitter, &event);
	emit_value(&emitter, value);
	yaml_document_end_event_initialize(&event, 1);
	yaml_emitter_emit(&emitter, &event);
	yaml_stream_end_event_initialize(&event);
	yaml_emitter_emit(&emitter, &event);
	yaml_emitter_delete(&emitter);
}
