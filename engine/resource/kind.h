// SPDX-License-Identifier: Apache-2.0
/* A kind of thing that is listed, as one const row: its columns, and which of them stand where. Lists, sorting, filters,
 * tables of the command line and -o json read it, so that a column is one row and a kind one table. It knows nothing of
 * where rows come from: a row is whatever the kind's own functions take. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	RESOURCE_CELL_BYTES = 64,
	RESOURCE_COLUMNS_MAX = 32,
	RESOURCE_NONE = -1, /* ends a list of columns */
};

enum resource_format {
	RESOURCE_TEXT,
	RESOURCE_AGE,   /* of a time: how long ago */
	RESOURCE_LEFT,  /* of a time: how long until then */
	RESOURCE_TIME,  /* a time as it is, for programs */
	RESOURCE_COUNT, /* of what better does not happen: a screen leaves 0 blank */
	RESOURCE_BOOL,
};

/* What a colour is to say. Which one it is, is the theme's business. */
enum resource_tone {
	RESOURCE_PLAIN,
	RESOURCE_DIM,
	RESOURCE_GOOD,
	RESOURCE_BUSY,
	RESOURCE_WARNING,
	RESOURCE_BAD,
	RESOURCE_GONE,
	RESOURCE_TONE_COUNT,
};

/* Unknown: an empty text, is_known false for the rest. Times are of the wall clock, in ms. Texts are foreign bytes, as
 * long-lived as the row. */
struct resource_value {
	const char *text;
	int64_t number;
	bool is_known;
};

struct resource_column {
	const char *title;        /* over a table: "RESTARTS" */
	const char *screen_title; /* where there is less room; NULL: the same */
	const char *name;         /* in commands and filters: "restarts" */
	const char *alias;        /* in filters too: "ns"; or NULL */
	const char *field;        /* of -o json and -o yaml; NULL: it is not there */
	enum resource_format format;
	int cols; /* wanted on a screen; 0: it shares what is left */
	int rank; /* the highest goes first when it gets narrow; 0 stays */
	unsigned
		sources; /* bits, by the kind's own numbers: without these it tells less, or nothing */
	bool is_searched; /* a filter's word without a column looks here */
	struct resource_value (*value)(const void *row);
	const char *(*second)(
		const void *row); /* a filter's word may fit this as well; or NULL */
	int64_t (*order)(const void
			*row); /* sorted by this, the smallest first; NULL: by what it shows */
	enum resource_tone (*tone)(const void *row); /* NULL: plain */
};

struct resource_kind {
	const char *list_kind; /* "SandboxList" */
	const struct resource_column *columns;
	int n_columns;
	int name_column; /* what rows are called: the first order, and the one among equals */
	int namespace_column; /* RESOURCE_NONE: it has no namespaces */
	const int *screen; /* which columns in which order; each list ends with RESOURCE_NONE */
	const int *table, *wide;           /* the same for the command line */
	bool (*is_aside)(const void *row); /* shown only when asked for; NULL: none */
};

/* Each column of such a list, in its order: i is an int. */
#define RESOURCE_EACH(i, columns)                                                              \
	for (const int *at_ = (columns); ((i) = *at_) != RESOURCE_NONE; at_++)

/* What a cell says at that time of the wall clock; "" for nothing. May point into `buffer` or into the row. */
const char *resource_text(const struct resource_column *column, const void *row, int64_t now_ms,
	char buffer[RESOURCE_CELL_BYTES]);
bool resource_is_right(const struct resource_column *column); /* numbers and spans of time */
enum resource_tone resource_tone(const struct resource_column *column, const void *row);
/* By its name in commands; RESOURCE_NONE if there is none. */
int resource_find_column(const struct resource_kind *kind, const char *name);
bool resource_is_among(int column, const int *columns);
