// SPDX-License-Identifier: Apache-2.0
// Words of the list's filter.
#include "tui/views/filter.h"

#include "engine/base/mem.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS_MAX = 16 };

enum field {
	FIELD_ANY,
	FIELD_STATE,
	FIELD_NAMESPACE,
	FIELD_POOL,
	FIELD_POD,
	FIELD_NODE,
	FIELD_SANDBOX,
	FIELD_NAME,
	FIELD_WHY
};
static const struct {
	const char *name;
	enum field field;
} fields[] = {
	{ "state", FIELD_STATE },
	{ "ns", FIELD_NAMESPACE },
	{ "namespace", FIELD_NAMESPACE },
	{ "pool", FIELD_POOL },
	{ "pod", FIELD_POD },
	{ "node", FIELD_NODE },
	{ "sandbox", FIELD_SANDBOX },
	{ "name", FIELD_NAME },
	{ "why", FIELD_WHY },
};

struct word {
	enum field field;
	bool is_not;
	char *text; /* lower case */
};

struct filter {
	size_t n;
	struct word words[WORDS_MAX];
};

struct filter *filter_parse(const char *text)
{
	struct filter *f = x_calloc(1, sizeof *f);
	while (f->n < WORDS_MAX) {
		text += strspn(text, " \t");
		size_t length = strcspn(text, " \t");
		if (!length)
			break;
		char *word = x_strndup(text, length);
		text += length;
		struct word *w = &f->words[f->n];
		const char *rest = word;
		w->is_not = *rest == '!';
		rest += w->is_not;
		const char *colon = strchr(rest, ':');
		for (size_t i = 0; colon && i < sizeof fields / sizeof fields[0]; i++)
			if (strlen(fields[i].name) == (size_t)(colon - rest) &&
				strncmp(fields[i].name, rest, (size_t)(colon - rest)) == 0) {
				w->field = fields[i].field;
				rest = colon + 1;
				break;
			}
		if (*rest) {
			w->text = x_strdup(rest);
			for (char *c = w->text; *c; c++)
				*c = (char)tolower((unsigned char)*c);
			f->n++;
		} else {
			memset(w, 0, sizeof *w); /* "state:" alone, while it is being typed */
		}
		free(word);
	}
	return f;
}

void filter_free(struct filter *f)
{
	if (!f)
		return;
	for (size_t i = 0; i < f->n; i++)
		free(f->words[i].text);
	free(f);
}

bool filter_is_empty(const struct filter *f)
{
	return f->n == 0;
}

static bool contains(const char *text, const char *word)
{
	size_t n = strlen(word);
	for (; *text; text++) {
		size_t i = 0;
		while (i < n && text[i] &&
			tolower((unsigned char)text[i]) == (unsigned char)word[i])
			i++;
		if (i == n)
			return true;
	}
	return false;
}

static bool word_fits(const struct word *w, const struct fleet_row *row)
{
	const char *state = fleet_state_name(row->state);
	switch (w->field) {
	case FIELD_STATE:
		return contains(state, w->text);
	case FIELD_NAMESPACE:
		return contains(row->namespace_, w->text);
	case FIELD_POOL:
		return contains(row->pool, w->text);
	case FIELD_POD:
		return contains(row->pod, w->text);
	case FIELD_NODE:
		return contains(row->node, w->text);
	case FIELD_SANDBOX:
		return contains(row->sandbox, w->text);
	case FIELD_NAME:
		return contains(row->claim, w->text) || contains(row->sandbox, w->text);
	case FIELD_WHY:
		return contains(row->why, w->text);
	case FIELD_ANY:
		break;
	}
	const char *const all[] = { row->claim, row->namespace_, row->sandbox, row->pod,
		row->pool, row->node, row->template_, row->why, state };
	for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
		if (contains(all[i], w->text))
			return true;
	return false;
}

bool filter_fits(const struct filter *f, const struct fleet_row *row)
{
	for (size_t i = 0; i < f->n; i++)
		if (word_fits(&f->words[i], row) == f->words[i].is_not)
			return false;
	return true;
}

bool filter_narrows(const struct filter *now, const struct filter *next)
{
	if (next->n < now->n)
		return false;
	for (size_t i = 0; i < now->n; i++) {
		const struct word *a = &now->words[i], *b = &next->words[i];
		if (a->field != b->field || a->is_not != b->is_not)
			return false;
		/* "rea" then "read": fewer rows. With `!` a longer word hides fewer: only the same word will do. */
		if (a->is_not ? strcmp(a->text, b->text) != 0
			      : strncmp(a->text, b->text, strlen(a->text)) != 0)
			return false;
	}
	return true;
}
