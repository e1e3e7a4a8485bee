// SPDX-License-Identifier: Apache-2.0
/* What the files of a tree share: tree.c reads it, tree_lines.c tells it. */
#pragma once

#include "engine/base/map.h"
#include "engine/kinds/tree.h"

/* Its state in the tree. */
enum kinds_tree_state { WAITING, ASKED, THERE, MISSING, OTHER, FAILED, NAMED };

struct kinds_tree_node {
	struct kinds_tree *tree;
	struct kinds_tree_node *parent, *children; /* utlist */
	struct kinds_tree_node *prev, *next;
	const struct resource_kind *kind;
	char *api_kind, *namespace_, *name, *uid; /* uid: expected, then its own; NULL: any */
	char *label, *mention_path, *mentioned;   /* of a list; its objects take its place */
	bool is_list, is_reference, is_optional, must_be_owned, is_above;
	bool is_leaf; /* nothing below it is asked for */
	enum kinds_tree_state state;
	struct kube_call *call;
	void *row;
	char *problem;
	size_t n_more;
};

struct kinds_tree {
	struct kube_client *client;
	struct kinds_tree_opts opts;
	struct kinds_tree_node *root, *asked;
	struct net_loop_timer *deadline, *kick;
	size_t n_nodes, n_calls;
	bool is_done;
	struct err err; /* of the object itself */
};
