// SPDX-License-Identifier: Apache-2.0
/* A kind of thing that is listed, as one const row: its names, where it is listed and watched, how an object becomes a
 * row, its columns and which of them stand where, what a page about one says, what it belongs to, what can be done to it.
 * Lists, sorting, filters, tables of the command line, -o json and completion read it, so that a column is one row and a
 * kind one table. A row is whatever the kind's own functions take: lists never look into one.
 * Errors: ERR_ARG_INVALID. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cJSON;
struct err;
struct str;
struct resource_source;
struct k8s_resource; /* engine/k8s/resource.h: a row of it is only passed on here */

enum {
	RESOURCE_UID_BYTES = 64,
	RESOURCE_CELL_BYTES = 64,
	RESOURCE_COLUMNS_MAX = 48,
	RESOURCE_HISTORY_MAX = 32,
	RESOURCE_NONE = -1, /* ends a list of columns */
};

enum resource_format {
	RESOURCE_TEXT,
	RESOURCE_AGE,   /* of a time: how long ago */
	RESOURCE_LEFT,  /* of a time: how long until then */
	RESOURCE_TIME,  /* a time as it is, for programs */
	RESOURCE_COUNT, /* of what better does not happen: a screen leaves 0 blank */
	RESOURCE_BOOL,
	RESOURCE_RATE, /* in a minute, in thousandths: "2.4/min" */
	RESOURCE_SHARE, /* parts in a thousand of what there is: "41%"; a screen draws a picture beside it */
	RESOURCE_MILLI, /* thousandths of a core: "180m" */
	RESOURCE_BYTES, /* "1.4Gi" */
};

/* Measured, so a dash stands where it is not known. */
#define RESOURCE_IS_MEASURED(format) ((format) >= RESOURCE_SHARE)

/* How a screen draws a share. */
enum resource_picture {
	RESOURCE_NO_PICTURE,
	RESOURCE_SPARKLINE, /* of its history */
	RESOURCE_GAUGE,
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
	/* At most on a screen, where it is as wide as what it holds; 0: a sentence, which gets what is left over, or the name. */
	int cols;
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
	const char *(*glyph)(
		const void *row); /* one cell before its text on a screen; NULL: none */
	/* A few cells of warning behind its text on a screen, such as "↻2"; "" for nothing. May point into `buffer`. NULL: none. */
	const char *(*note)(const void *row, char buffer[RESOURCE_CELL_BYTES]);
	enum resource_picture picture;
	/* Of a share: how much that is, and how it is written, for where it is a share of nothing (its value is not known,
	 * this is); NULL: a share is all there is. */
	struct resource_value (*amount)(const void *row);
	enum resource_format amount_format;
	/* The last of its values, the oldest first, in parts of a thousand, -1 where it was not known; at most `max`. Returns
	 * how many. NULL: there is no history. */
	int (*history)(const void *row, int16_t *out, int max);
};

/* Where lines about one object go: a view, or the command line. Texts are foreign bytes, and taken over or shown before
 * the call returns. */
struct resource_lines {
	void (*title)(void *arg, const char *title);
	/* when_ms: wall clock, since when it is so; 0: not said */
	void (*line)(void *arg, const char *label, enum resource_tone tone, const char *text,
		int64_t when_ms);
	void *arg;
};

/* A part of the page about one object, after its columns. One that adds no line has no title either. */
struct resource_section {
	const char *title;
	void (*add)(const struct resource_lines *lines, const void *row,
		const struct cJSON *object);
};

/* What else an object leads to. */
enum resource_relation_by {
	RESOURCE_BY_OWNER,    /* its metadata.ownerReferences of that kind */
	RESOURCE_BY_FIELD,    /* named in one of its fields */
	RESOURCE_BY_SELECTOR, /* those whose labels fit the map in one of its fields */
	RESOURCE_BY_REFERENCE, /* an object in one of its fields has kind, namespace and name (core/v1 ObjectReference) */
	RESOURCE_BY_NAME, /* called as this one is, with "path" behind it; there need be none */
	RESOURCE_BY_LABEL,   /* those whose label "path" is the hash of this one's name */
	RESOURCE_BY_MENTION, /* those whose field "path" has this one's name */
	RESOURCE_BY_VOLUMES, /* PVCs of the volumeClaimTemplates in one of its fields: "<template>-<name>" */
};
struct resource_relation {
	enum resource_relation_by by;
	const char *
		kind; /* the other's, as the API says it: "Sandbox"; NULL: the reference says it */
	const char *path; /* of the field: "spec.volumeName"; NULL for owners */
	bool is_below; /* in a tree it stands under this one: this one made it, or keeps it */
};

/* A call to the API that changes one object. */
struct resource_request {
	const char *method;       /* "DELETE", "PATCH", … */
	const char *content_type; /* NULL: application/json */
	struct cJSON *body;       /* the receiver's to delete; NULL: none */
};
struct resource_action {
	const char *name; /* the command, in lists and on pages of that kind */
	const char *help; /* one line */
	const char *
		question; /* what it means, for the question before it is done; NULL: not asked */
	const char *verb, *subresource; /* the right that it needs; subresource "" = none */
	/* What it is to be told: "N"; NULL: nothing. Where it is not said, a person is asked `wanted`. */
	const char *args, *wanted;
	/* What it would do to that row, in a line: "2 -> 5"; NULL: its name says it. False with *err as request(). */
	bool (*plan)(const void *row, const char *args, struct str *out, struct err *err);
	/* False with *err: not with these arguments. */
	bool (*request)(const void *row, const char *args, struct resource_request *out,
		struct err *err);
};

struct resource_kind {
	const char *name;           /* in commands, as the API's plural: "sandboxes" */
	const char *singular;       /* of one: "sandbox"; as kubectl says it before a slash */
	const char *const *aliases; /* either, shorter; ends with NULL; NULL: none */
	const char *word; /* of the aliases: what a person says, "pools"; NULL: the name */
	/* What is listed and watched; NULL: whoever has the rows joins them from several. The next three are then NULL too. */
	const struct k8s_resource *resource;
	size_t row_bytes;
	/* Fills what the kind has beyond a struct kinds_object (engine/kinds/object.h), which begins its rows and is filled
	 * already; anything may be missing in the object, or be of another type. skew_ms: the server's clock minus ours. */
	void (*project)(void *row, const struct cJSON *object, int64_t skew_ms);
	void (*drop)(void *row); /* frees what project() has made; NULL: nothing to free */

	const char *list_kind; /* "SandboxList" */
	const struct resource_column *columns;
	int n_columns;
	int name_column; /* what rows are called: the first order, and the one among equals */
	int namespace_column; /* RESOURCE_NONE: it has no namespaces */
	const int *screen; /* which columns in which order; each list ends with RESOURCE_NONE */
	const int *table, *wide; /* the same for the command line */
	/* Its labels, "key=value,key=value"; borrowed from the row; NULL: rows do not keep them. */
	const char *(*labels)(const void *row);
	const int *brief; /* beside a name where there is one line for it; NULL: nothing */
	int order_column; /* the first order; 0: by name */
	bool (*is_aside)(const void *row); /* shown only when asked for; NULL: none */
	bool (*is_gone)(const void
			*row); /* it is no more, and only remembered: drawn dim; NULL: none */
	const char *aside;     /* what those are called: "other leases" */

	/* What is listed beside it, since its rows tell of that as well: looked at after a change of either. others: rows of
	 * that kind; their self is NULL where it is not known. True: the row shows something else now. NULL: nothing. */
	const struct k8s_resource *beside;
	bool (*join)(void *row, const struct resource_kind *kind,
		const struct resource_source *others);

	/* Each ends with a row of NULL; NULL: there are none. */
	const struct resource_section *sections;
	const struct resource_relation *relations;
	const struct resource_action *actions;
};

/* By its name, its singular or an alias, in any case. */
bool resource_is_called(const struct resource_kind *kind, const char *name);
const struct resource_action *resource_find_action(
	const struct resource_kind *kind, const char *name); /* NULL: it has none */

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
