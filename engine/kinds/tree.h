// SPDX-License-Identifier: Apache-2.0
/* An object between those that own it and those that it owns, each with its state: read from the API server once, with a
 * few requests at a time, for as long as the slowest takes (KINDS_TREE_MS at most). A claim leads to its Sandbox, that to
 * pod, Service and PVCs; a pool to its warm Sandboxes; a template to its NetworkPolicy and pools. Above the object that was
 * asked for stand its owners; beside each what it refers to.
 *
 * What is missing, is another object by now, or may not be read stands there as that. A reference that leads back ends
 * there. At most KINDS_TREE_NODES_MAX; what is more is counted.
 * Errors: ERR_ARG_INVALID, ERR_OP_TIMEOUT, those of engine/kube/client.h. */
#pragma once

#include "engine/resource/kind.h"

#include "engine/base/err.h"

struct kube_client;
struct net_loop;
struct kinds_tree;

enum { KINDS_TREE_MS = 30000, KINDS_TREE_NODES_MAX = 500, KINDS_TREE_DEPTH_MAX = 8 };

struct kinds_tree_opts {
	/* Kinds that are followed; the last is NULL. Others are only named. */
	const struct resource_kind *const *kinds;
	const struct resource_kind *kind;
	const char *namespace_, *name; /* of the object; copied */
	/* Exactly once; the tree may not be freed in it. err: the object itself could not be read; then there are no nodes. */
	void (*done)(void *arg, const struct err *err);
	void *arg;
};
struct kinds_tree *kinds_tree_start(struct net_loop *loop, struct kube_client *client,
	const struct kinds_tree_opts *opts, struct err *err);
void kinds_tree_free(struct kinds_tree *tree); /* NULL is fine; cancels */

/* One line of it. Texts are foreign bytes, as long-lived as the tree. */
struct kinds_tree_line {
	const char *prefix;               /* "│  ├─ " */
	int depth;                        /* the root: 0 */
	const struct resource_kind *kind; /* NULL: not one of those that are followed */
	const char *api_kind, *namespace_, *name, *uid;
	const void *row;     /* NULL: `problem` says why, or it is not followed */
	const char *problem; /* "does not exist"; NULL: none */
	size_t n_more; /* not 0: so many more like the one above; nothing else is said then */
	bool is_asked; /* the object that was asked for */
	bool is_reference; /* the one above refers to it and does not own it */
};
void kinds_tree_each(const struct kinds_tree *tree,
	void (*fn)(void *arg, const struct kinds_tree_line *line), void *arg);
struct str;
/* What its kind says in brief, "Running  1/1", and how that looks. */
enum resource_tone kinds_tree_brief(const struct kinds_tree_line *line, struct str *out);
