// SPDX-License-Identifier: Apache-2.0
/* Cuts JSON values out of a stream. It follows strings and brackets only; whether a value is good
 * JSON is decided by the parser that gets it.
 *
 *   VALUES:  between -> value -> between -> ...
 *   ITEMS:   before "{" -> envelope -- "items":[ --> elements -- ] --> envelope -- } --> after
 *
 * A value that lies whole within one feed is handed out without a copy. */
#include "engine/base/err.h"
#include "engine/base/json.h"
#include "engine/base/mem.h"

#include <stdlib.h>

enum place {
	PLACE_BETWEEN,      /* VALUES: outside every value */
	PLACE_BEFORE,       /* ITEMS: before the enclosing object */
	PLACE_ENVELOPE,     /* ITEMS: inside it, outside the array */
	PLACE_FIRST_OR_END, /* ITEMS: just after [ */
	PLACE_ELEMENT,      /* ITEMS: just after a comma */
	PLACE_COMMA_OR_END, /* ITEMS: just after an element */
	PLACE_VALUE,        /* inside a value that is handed out */
	PLACE_AFTER,        /* ITEMS: after the enclosing object */
	PLACE_DEAD,
};

/* Where in the envelope, at depth 1, the "items" key is looked for. */
enum key_state { KEY_NONE, KEY_EXPECTED, KEY_INSIDE, KEY_MATCHED, KEY_COLON };

static const char items_key[] = "items";

struct json_split {
	enum json_split_mode mode;
	size_t max_value_bytes;
	json_split_fn *on_value;
	json_split_fn *on_rest;
	void *arg;
	enum place place;
	struct str value; /* the beginning of a value that came in earlier feeds */
	struct str rest;
	bool in_string, after_backslash, is_scalar;
	size_t depth;
	char brackets[JSON_MAX_DEPTH]; /* the closing ones that are due */
	enum key_state key;
	size_t key_matched; /* bytes of items_key seen, SIZE_MAX once it differs */
};

struct json_split *json_split_new(enum json_split_mode mode, size_t max_value_bytes,
	json_split_fn *on_value, json_split_fn *on_rest, void *arg)
{
	struct json_split *split = x_calloc(1, sizeof *split);
	split->mode = mode;
	split->max_value_bytes = max_value_bytes ? max_value_bytes : JSON_MAX_BYTES;
	split->on_value = on_value;
	split->on_rest = on_rest;
	split->arg = arg;
	split->place = mode == JSON_SPLIT_VALUES ? PLACE_BETWEEN : PLACE_BEFORE;
	str_init(&split->value, split->max_value_bytes);
	str_init(&split->rest, split->max_value_bytes);
	return split;
}

void json_split_free(struct json_split *split)
{
	if (split == NULL)
		return;
	str_deinit(&split->value);
	str_deinit(&split->rest);
	free(split);
}

static bool fail(struct json_split *split, struct err *err, const char *what)
{
	split->place = PLACE_DEAD;
	return err_set(err, ERR_RUNTIME_PROTOCOL, "bad JSON stream: %s", what);
}

static bool fail_limit(struct json_split *split, struct err *err)
{
	split->place = PLACE_DEAD;
	return err_set(err, ERR_LIMIT_RESPONSE, "one JSON value has more than %zu bytes",
		split->max_value_bytes);
}

static bool is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static bool ends_scalar(char c)
{
	return is_space(c) || c == ',' || c == ']' || c == '}' || c == '{' || c == '[' ||
	       c == '"';
}

/* Follows one byte outside strings. False on brackets that do not match or are too deep. */
static bool follow_bracket(struct json_split *split, char c, struct err *err)
{
	if (c == '{' || c == '[') {
		if (split->depth == JSON_MAX_DEPTH) {
			split->place = PLACE_DEAD;
			return err_set(err, ERR_LIMIT_RESPONSE, "JSON is nested deeper than %d",
				JSON_MAX_DEPTH);
		}
		split->brackets[split->depth++] = c == '{' ? '}' : ']';
	} else if (c == '}' || c == ']') {
		if (split->depth == 0 || split->brackets[split->depth - 1] != c)
			return fail(split, err, "brackets do not match");
		split->depth--;
	}
	return true;
}

/* Follows one byte inside a string. */
static void follow_string(struct json_split *split, char c)
{
	if (split->after_backslash)
		split->after_backslash = false;
	else if (c == '\\')
		split->after_backslash = true;
	else if (c == '"')
		split->in_string = false;
}

static bool hand_out(struct json_split *split, const char *p, size_t n, struct err *err)
{
	struct slice value = { p, n };
	if (split->value.n > 0) {
		str_add_bytes(&split->value, p, n);
		value = (struct slice){ split->value.p, split->value.n };
	}
	if (split->value.truncated || value.n > split->max_value_bytes)
		return fail_limit(split, err);
	split->place = split->mode == JSON_SPLIT_VALUES ? PLACE_BETWEEN : PLACE_COMMA_OR_END;
	bool go_on = split->on_value(split->arg, value, err);
	str_clear(&split->value);
	if (!go_on)
		split->place = PLACE_DEAD;
	return go_on;
}

/* The depth at which a value of this mode is complete. */
static size_t floor_depth(const struct json_split *split)
{
	return split->mode == JSON_SPLIT_VALUES ? 0 : 2;
}

/* Most bytes of a list pass through the two loops here, so they look up one table a byte. */
enum { ENDS_RUN_INSIDE = 1, ENDS_RUN_OUTSIDE = 2 };
static const unsigned char run_ends[256] = {
	['"'] = ENDS_RUN_INSIDE | ENDS_RUN_OUTSIDE,
	['\\'] = ENDS_RUN_INSIDE,
	['{'] = ENDS_RUN_OUTSIDE,
	['}'] = ENDS_RUN_OUTSIDE,
	['['] = ENDS_RUN_OUTSIDE,
	[']'] = ENDS_RUN_OUTSIDE,
};

static size_t skip_run(const char *p, size_t i, size_t n, unsigned char ends)
{
	while (i < n && !(run_ends[(unsigned char)p[i]] & ends))
		i++;
	return i;
}

/* Inside a string; returns where it goes on, in_string false if it has ended. */
static size_t feed_string(struct json_split *split, const char *p, size_t i, size_t n)
{
	if (!split->after_backslash)
		i = skip_run(p, i, n, ENDS_RUN_INSIDE);
	if (i == n)
		return n;
	follow_string(split, p[i]);
	return i + 1;
}

static size_t feed_scalar(
	struct json_split *split, const char *p, size_t n, bool *ok, struct err *err)
{
	size_t i = 0;
	while (i < n && !ends_scalar(p[i]))
		i++;
	if (i == n) {
		str_add_bytes(&split->value, p, n);
		*ok = !split->value.truncated || fail_limit(split, err);
		return n;
	}
	split->is_scalar = false;
	*ok = hand_out(split, p, i, err);
	return i;
}

/* Takes bytes of a value; returns how many were used up (all, or up to its end). */
static size_t feed_value(
	struct json_split *split, const char *p, size_t n, bool *ok, struct err *err)
{
	if (split->is_scalar)
		return feed_scalar(split, p, n, ok, err);
	size_t i = 0;
	while (i < n) {
		if (split->in_string) {
			i = feed_string(split, p, i, n);
			if (split->in_string)
				continue;
		} else {
			i = skip_run(p, i, n, ENDS_RUN_OUTSIDE);
			if (i == n)
				break;
			char c = p[i++];
			if (c == '"') {
				split->in_string = true;
				continue;
			}
			if (!follow_bracket(split, c, err)) {
				*ok = false;
				return i;
			}
		}
		if (split->depth == floor_depth(split)) {
			*ok = hand_out(split, p, i, err);
			return i;
		}
	}
	str_add_bytes(&split->value, p, n);
	*ok = !split->value.truncated || fail_limit(split, err);
	return n;
}

static void begin_value(struct json_split *split, char c)
{
	split->place = PLACE_VALUE;
	split->is_scalar = c != '{' && c != '[' && c != '"';
	split->in_string = false;
}

/* One byte of the envelope, at any depth in it. */
static bool feed_envelope(struct json_split *split, char c, struct err *err)
{
	if (split->in_string) {
		if (split->key == KEY_INSIDE) {
			if (c == '"' && !split->after_backslash) {
				bool same = split->key_matched == sizeof items_key - 1;
				split->key = same ? KEY_MATCHED : KEY_NONE;
			} else if (split->key_matched < sizeof items_key - 1 &&
				   c == items_key[split->key_matched]) {
				split->key_matched++;
			} else {
				split->key_matched = SIZE_MAX;
			}
		}
		follow_string(split, c);
		str_add_char(&split->rest, c);
		return true;
	}
	if (split->key == KEY_COLON && split->depth == 1 && c == '[') {
		str_add_char(&split->rest, c);
		split->key = KEY_NONE;
		split->place = PLACE_FIRST_OR_END;
		return follow_bracket(split, c, err);
	}
	if (!is_space(c) && split->key == KEY_MATCHED)
		split->key = c == ':' ? KEY_COLON : KEY_NONE;
	else if (!is_space(c) && split->key == KEY_COLON)
		split->key = KEY_NONE;
	if (c == '"') {
		split->in_string = true;
		split->key = split->key == KEY_EXPECTED ? KEY_INSIDE : split->key;
		split->key_matched = 0;
	} else if (!follow_bracket(split, c, err)) {
		return false;
	} else if (split->depth == 1 && c == ',') {
		split->key = KEY_EXPECTED;
	}
	str_add_char(&split->rest, c);
	if (split->depth > 0)
		return true;
	split->place = PLACE_AFTER;
	if (split->rest.truncated)
		return fail_limit(split, err);
	struct slice rest = { split->rest.p, split->rest.n };
	if (split->on_rest != NULL && !split->on_rest(split->arg, rest, err)) {
		split->place = PLACE_DEAD;
		return false;
	}
	return true;
}

/* One byte between the elements of the array. */
static bool feed_array(struct json_split *split, char c, struct err *err)
{
	if (is_space(c))
		return true;
	if (c == ']' && split->place != PLACE_ELEMENT) {
		str_add_char(&split->rest, c);
		split->place = PLACE_ENVELOPE;
		return follow_bracket(split, c, err);
	}
	if (c == ',' && split->place == PLACE_COMMA_OR_END) {
		split->place = PLACE_ELEMENT;
		return true;
	}
	return fail(split, err, "unexpected byte between the elements of a list");
}

static bool starts_value(char c)
{
	return !is_space(c) && c != ',' && c != ']' && c != '}' && c != ':';
}

/* One byte that is not inside a value; *again if it begins one and must be seen there. */
static bool feed_outside(struct json_split *split, char c, bool *again, struct err *err)
{
	switch (split->place) {
	case PLACE_BETWEEN:
		if (is_space(c))
			return true;
		if (!starts_value(c))
			return fail(split, err, "unexpected byte between values");
		begin_value(split, c);
		*again = true;
		return true;
	case PLACE_BEFORE:
		if (is_space(c))
			return true;
		if (c != '{')
			return fail(split, err, "a list must be an object");
		split->place = PLACE_ENVELOPE;
		split->key = KEY_EXPECTED;
		str_add_char(&split->rest, c);
		return follow_bracket(split, c, err);
	case PLACE_ENVELOPE:
		return feed_envelope(split, c, err) &&
		       (!split->rest.truncated || fail_limit(split, err));
	case PLACE_FIRST_OR_END:
	case PLACE_ELEMENT:
		if (starts_value(c)) {
			begin_value(split, c);
			*again = true;
			return true;
		}
		return feed_array(split, c, err);
	case PLACE_COMMA_OR_END:
		return feed_array(split, c, err);
	case PLACE_AFTER:
		return is_space(c) || fail(split, err, "bytes after the end");
	case PLACE_VALUE:
	case PLACE_DEAD:
		break;
	}
	return fail(split, err, "it has failed before");
}

bool json_split_feed(struct json_split *split, const void *bytes, size_t n, struct err *err)
{
	const char *p = bytes;
	size_t i = 0;
	bool ok = true;
	while (ok && i < n) {
		if (split->place == PLACE_VALUE) {
			i += feed_value(split, p + i, n - i, &ok, err);
			continue;
		}
		bool again = false;
		ok = feed_outside(split, p[i], &again, err);
		i += !again;
	}
	return ok && split->place != PLACE_DEAD;
}

bool json_split_finish(struct json_split *split, struct err *err)
{
	if (split->mode == JSON_SPLIT_VALUES && split->place == PLACE_VALUE && split->is_scalar)
		return hand_out(split, "", 0, err);
	if (split->place == PLACE_BETWEEN || split->place == PLACE_AFTER)
		return true;
	return fail(split, err, "it ends inside a value");
}
