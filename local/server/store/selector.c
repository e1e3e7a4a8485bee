// SPDX-License-Identifier: Apache-2.0
/* Both selectors are a list of requirements; they differ in how a key finds its value. */
#include "local/server/store/selector.h"

#include "engine/base/err.h"
#include "engine/base/json.h"
#include "engine/base/mem.h"
#include "engine/base/num.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum op { OP_IN, OP_NOT_IN, OP_EXISTS, OP_NOT_EXISTS, OP_GREATER, OP_LESS };
enum { MAX_SELECTOR_BYTES = 16384, MAX_REQUIREMENTS = 256, MAX_VALUES = 1024 };

struct requirement {
	enum op op;
	char *key;
	char **values;
	size_t n_values, capacity;
};

struct selector {
	struct requirement *v;
	size_t n, capacity;
};

struct cursor {
	const char *p;
	struct err *err;
	const char *whole;
};

static void skip_spaces(struct cursor *c)
{
	while (*c->p == ' ' || *c->p == '\t')
		c->p++;
}

static bool fail(struct cursor *c, const char *what)
{
	return err_set(c->err, ERR_KUBE_BAD_REQUEST,
		"unable to parse requirement: %s at \"%.40s\" in \"%.200s\"", what, c->p,
		c->whole);
}

static bool is_word(char ch)
{
	return isalnum((unsigned char)ch) || ch == '-' || ch == '_' || ch == '.' || ch == '/';
}

static char *take_word(struct cursor *c)
{
	const char *from = c->p;
	while (is_word(*c->p))
		c->p++;
	return x_strndup(from, (size_t)(c->p - from));
}

/* A label key: [prefix/]name, name ≤ 63 with alphanumeric ends. */
static bool is_key(const char *key)
{
	const char *slash = strchr(key, '/');
	const char *name = slash ? slash + 1 : key;
	size_t n = strlen(name);
	if (n == 0 || n > 63 || strchr(name, '/'))
		return false;
	if (slash && (slash == key || slash - key > 253))
		return false;
	return isalnum((unsigned char)name[0]) && isalnum((unsigned char)name[n - 1]);
}

static bool is_value(const char *value)
{
	size_t n = strlen(value);
	return n == 0 || (n <= 63 && !strchr(value, '/') && isalnum((unsigned char)value[0]) &&
				 isalnum((unsigned char)value[n - 1]));
}

static bool add_value(struct cursor *c, struct requirement *r, char *value_take)
{
	if (r->n_values == MAX_VALUES || !is_value(value_take)) {
		free(value_take);
		return fail(c, "invalid label value");
	}
	array_grow(&r->values, &r->capacity, r->n_values + 1, sizeof(char *));
	r->values[r->n_values++] = value_take;
	return true;
}

/* "(a,b)" after in and notin */
static bool parse_set(struct cursor *c, struct requirement *r)
{
	skip_spaces(c);
	if (*c->p != '(')
		return fail(c, "expected '('");
	c->p++;
	for (;;) {
		skip_spaces(c);
		if (!add_value(c, r, take_word(c)))
			return false;
		skip_spaces(c);
		if (*c->p == ')')
			break;
		if (*c->p != ',')
			return fail(c, "expected ',' or ')'");
		c->p++;
	}
	c->p++;
	return true;
}

static bool parse_operator(struct cursor *c, struct requirement *r)
{
	skip_spaces(c);
	if (*c->p == '\0' || *c->p == ',') {
		r->op = OP_EXISTS;
		return true;
	}
	if (*c->p == '=' || *c->p == '!' || *c->p == '>' || *c->p == '<') {
		char first = *c->p++;
		r->op = first == '!'   ? OP_NOT_IN
			: first == '>' ? OP_GREATER
			: first == '<' ? OP_LESS
				       : OP_IN;
		if (first == '!' && *c->p != '=')
			return fail(c, "expected '!='");
		if (*c->p == '=' && first != '>' && first != '<')
			c->p++;
		skip_spaces(c);
		char *value = take_word(c);
		int64_t number;
		if ((first == '>' || first == '<') &&
			!num_parse_i64(value, INT64_MIN, INT64_MAX, &number)) {
			free(value);
			return fail(c, "'>' and '<' need a number");
		}
		return add_value(c, r, value);
	}
	char *word = take_word(c);
	bool is_in = strcmp(word, "in") == 0, is_notin = strcmp(word, "notin") == 0;
	free(word);
	if (!is_in && !is_notin)
		return fail(c, "expected an operator");
	r->op = is_in ? OP_IN : OP_NOT_IN;
	return parse_set(c, r);
}

static bool parse_requirement(struct cursor *c, struct requirement *r)
{
	bool negated = false;
	skip_spaces(c);
	if (*c->p == '!') {
		negated = true;
		c->p++;
		skip_spaces(c);
	}
	r->key = take_word(c);
	if (!is_key(r->key))
		return fail(c, "invalid label key");
	if (negated) {
		r->op = OP_NOT_EXISTS;
		return true;
	}
	return parse_operator(c, r);
}

static struct requirement *add_requirement(struct selector *sel)
{
	array_grow(&sel->v, &sel->capacity, sel->n + 1, sizeof *sel->v);
	memset(&sel->v[sel->n], 0, sizeof sel->v[0]);
	return &sel->v[sel->n++];
}

struct selector *selector_parse_labels(const char *text, bool *ok, struct err *err)
{
	struct cursor c = { text, err, text };
	*ok = true;
	if (!text)
		return NULL;
	skip_spaces(&c);
	if (!*c.p)
		return NULL;
	struct selector *sel = x_calloc(1, sizeof *sel);
	if (strlen(text) > MAX_SELECTOR_BYTES) {
		*ok = fail(&c, "too long");
		goto out;
	}
	for (;;) {
		*ok = sel->n < MAX_REQUIREMENTS ? parse_requirement(&c, add_requirement(sel))
						: fail(&c, "too many requirements");
		skip_spaces(&c);
		if (!*ok || !*c.p)
			break;
		if (*c.p != ',') {
			*ok = fail(&c, "expected ','");
			break;
		}
		c.p++;
	}
out:
	if (*ok)
		return sel;
	selector_free(sel);
	return NULL;
}

static bool is_supported_field(const struct resource *r, const char *field)
{
	static const char *const pod[] = { "status.phase", "spec.nodeName", "status.podIP",
		"spec.restartPolicy", "spec.serviceAccountName", "spec.schedulerName", NULL };
	static const char *const core_event[] = { "involvedObject.kind",
		"involvedObject.namespace", "involvedObject.name", "involvedObject.uid",
		"involvedObject.apiVersion", "involvedObject.resourceVersion",
		"involvedObject.fieldPath", "reason", "reportingComponent", "source", "type",
		NULL };
	static const char *const new_event[] = { "regarding.kind", "regarding.namespace",
		"regarding.name", "regarding.uid", "regarding.apiVersion",
		"regarding.resourceVersion", "regarding.fieldPath", "reason",
		"reportingController", "type", NULL };
	static const char *const namespace[] = { "status.phase", NULL };
	const char *const *more = r->kind == KIND_POD         ? pod
				  : r->kind == KIND_NAMESPACE ? namespace
				  : r->kind != KIND_EVENT     ? NULL
				  : r->is_view                ? new_event
							      : core_event;
	if (strcmp(field, "metadata.name") == 0 || strcmp(field, "metadata.namespace") == 0)
		return true;
	for (; more && *more; more++)
		if (strcmp(*more, field) == 0)
			return true;
	return false;
}

/* One "field=value"; backslash escapes ',', '=' and itself. */
static bool parse_field(struct cursor *c, struct requirement *r, const struct resource *res)
{
	const char *from = c->p;
	size_t n = strcspn(from, "=!,");
	r->key = x_strndup(from, n);
	c->p = from + n;
	r->op = *c->p == '!' ? OP_NOT_IN : OP_IN;
	if (*c->p == '!')
		c->p++;
	if (*c->p != '=')
		return err_set(c->err, ERR_KUBE_BAD_REQUEST,
			"invalid field selector: \"%.200s\"; can't understand \"%.100s\"",
			c->whole, from);
	c->p++;
	if (*c->p == '=')
		c->p++;
	if (!is_supported_field(res, r->key))
		return err_set(c->err, ERR_KUBE_BAD_REQUEST,
			"field label not supported: %.200s", r->key);
	char *value = x_malloc(strlen(c->p) + 1);
	size_t used = 0;
	for (; *c->p && *c->p != ','; c->p++) {
		if (*c->p == '\\' && c->p[1])
			c->p++;
		value[used++] = *c->p;
	}
	value[used] = '\0';
	array_grow(&r->values, &r->capacity, 1, sizeof(char *));
	r->values[r->n_values++] = value;
	return true;
}

struct selector *selector_parse_fields(
	const char *text, const struct resource *r, bool *ok, struct err *err)
{
	struct cursor c = { text, err, text };
	*ok = true;
	if (!text || !*text)
		return NULL;
	struct selector *sel = x_calloc(1, sizeof *sel);
	*ok = strlen(text) <= MAX_SELECTOR_BYTES || fail(&c, "too long");
	while (*ok) {
		*ok = sel->n < MAX_REQUIREMENTS ? parse_field(&c, add_requirement(sel), r)
						: fail(&c, "too many fields");
		if (!*c.p)
			break;
		c.p++;
	}
	if (*ok)
		return sel;
	selector_free(sel);
	return NULL;
}

void selector_free(struct selector *sel)
{
	if (!sel)
		return;
	for (size_t i = 0; i < sel->n; i++) {
		free(sel->v[i].key);
		for (size_t j = 0; j < sel->v[i].n_values; j++)
			free(sel->v[i].values[j]);
		free(sel->v[i].values);
	}
	free(sel->v);
	free(sel);
}

static bool requirement_matches(const struct requirement *r, const char *value)
{
	int64_t have, want;
	switch (r->op) {
	case OP_EXISTS:
		return value != NULL;
	case OP_NOT_EXISTS:
		return value == NULL;
	case OP_GREATER:
	case OP_LESS:
		return value && num_parse_i64(value, INT64_MIN, INT64_MAX, &have) &&
		       num_parse_i64(r->values[0], INT64_MIN, INT64_MAX, &want) &&
		       (r->op == OP_GREATER ? have > want : have < want);
	case OP_IN:
	case OP_NOT_IN:
		break;
	}
	for (size_t i = 0; value && i < r->n_values; i++)
		if (strcmp(value, r->values[i]) == 0)
			return r->op == OP_IN;
	return r->op == OP_NOT_IN;
}

bool selector_matches_labels(const struct selector *sel, const cJSON *object)
{
	if (!sel)
		return true;
	const cJSON *labels = json_get(object, "metadata", "labels", NULL);
	for (size_t i = 0; i < sel->n; i++) {
		const char *value = labels ? json_str(labels, sel->v[i].key, NULL) : NULL;
		if (!requirement_matches(&sel->v[i], value))
			return false;
	}
	return true;
}

/* A missing field counts as empty. */
static const char *field_value(const cJSON *object, const char *path)
{
	char part[64];
	while (object) {
		size_t n = strcspn(path, ".");
		if (n >= sizeof part)
			return "";
		memcpy(part, path, n);
		part[n] = '\0';
		object = cJSON_GetObjectItemCaseSensitive(object, part);
		if (!path[n])
			break;
		path += n + 1;
	}
	return cJSON_IsString(object) ? object->valuestring : "";
}

bool selector_matches_fields(const struct selector *sel, const cJSON *object)
{
	if (!sel)
		return true;
	for (size_t i = 0; i < sel->n; i++) {
		const char *key = sel->v[i].key;
		const char *value = strcmp(key, "source") == 0
					    ? field_value(object, "source.component")
					    : field_value(object, key);
		if (!requirement_matches(&sel->v[i], value))
			return false;
	}
	return true;
}

const char *selector_name(const struct selector *sel)
{
	for (size_t i = 0; sel && i < sel->n; i++)
		if (sel->v[i].op == OP_IN && strcmp(sel->v[i].key, "metadata.name") == 0)
			return sel->v[i].values[0];
	return NULL;
}
