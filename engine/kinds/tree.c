// SPDX-License-Identifier: Apache-2.0
// Nodes are made where a relation says so and wait in a queue; PARALLEL of them are asked for at a time. The answer to one
// makes more. The object that was asked for grows upwards as well: its owner becomes the root above it.
//
//   WAITING ── asked ──> ASKED ── answer ──> THERE | MISSING | OTHER | FAILED
#include "engine/kinds/tree_internal.h"

#include "engine/base/json.h"
#include "engine/base/mem.h"
#include "engine/base/str.h"
#include "engine/k8s/resource.h"
#include "engine/kinds/object.h"
#include "engine/kinds/related.h"
#include "engine/kube/client.h"
#include "engine/net/loop.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PARALLEL = 8, LIST_MAX = 300, GROWN_MAX = 20, PROBLEM_BYTES = 320 };

/* ---- nodes */

static void node_free(struct kinds_tree_node *node)
{
	struct kinds_tree_node *child, *next;
	DL_FOREACH_SAFE(node->children, child, next)
		node_free(child);
	if (node->call)
		kube_call_cancel(node->call);
	if (node->row) {
		if (node->kind->drop)
			node->kind->drop(node->row);
		kinds_object_drop(node->row);
		free(node->row);
	}
	node->tree->n_nodes--;
	free(node->api_kind);
	free(node->namespace_);
	free(node->name);
	free(node->uid);
	free(node->label);
	free(node->mention_path);
	free(node->mentioned);
	free(node->problem);
	free(node);
}

static void node_remove(struct kinds_tree_node *node)
{
	DL_DELETE(node->parent->children, node);
	node_free(node);
}

static const struct resource_kind *kind_of(const struct kinds_tree *tree, const char *api_kind)
{
	for (size_t i = 0; tree->opts.kinds[i]; i++)
		if (tree->opts.kinds[i]->resource &&
			strcmp(tree->opts.kinds[i]->resource->kind, api_kind) == 0)
			return tree->opts.kinds[i];
	return NULL;
}

static bool is_node(const struct kinds_tree_node *node, const char *api_kind,
	const char *namespace_, const char *name)
{
	return !node->is_list && strcmp(node->api_kind, api_kind) == 0 &&
	       strcmp(node->namespace_, namespace_) == 0 && strcmp(node->name, name) == 0;
}

static struct kinds_tree_node *node_new(
	struct kinds_tree *tree, const char *api_kind, const char *namespace_, const char *name)
{
	struct kinds_tree_node *node = x_calloc(1, sizeof *node);
	node->tree = tree;
	node->kind = kind_of(tree, api_kind);
	node->api_kind = x_strdup(api_kind);
	node->namespace_ = x_strdup(namespace_);
	node->name = x_strdup(name ? name : "");
	node->state = node->kind ? WAITING : NAMED;
	tree->n_nodes++;
	return node;
}

static void fail(struct kinds_tree_node *node, enum kinds_tree_state state, const char *problem)
{
	node->state = state;
	free(node->problem);
	node->problem = x_strndup(problem, PROBLEM_BYTES);
}

static int depth_of(const struct kinds_tree_node *node)
{
	int depth = 0;
	while ((node = node->parent) != NULL)
		depth++;
	return depth;
}

/* It stands above it already, or under it. */
static bool is_near(const struct kinds_tree_node *node, const struct kinds_question *question)
{
	const struct kinds_tree_node *child;
	if (!question->name)
		return false;
	DL_FOREACH(node->children, child)
		if (is_node(child, question->kind, question->namespace_, question->name))
			return true;
	for (; node; node = node->parent)
		if (is_node(node, question->kind, question->namespace_, question->name))
			return true;
	return false;
}

/* ---- growing */

static void on_question(void *arg, const struct kinds_question *question)
{
	struct kinds_tree_node *node = arg;
	struct kinds_tree *tree = node->tree;
	bool is_below = question->relation->is_below;
	bool is_end = node->parent == NULL || node == tree->asked;
	/* what it refers to: told of the two ends and of what is itself referred to */
	bool is_wanted = is_below ? !node->is_reference && !node->is_leaf &&
					    (question->name || !node->is_above)
				  : is_end || node->is_reference;
	if (!is_wanted || is_near(node, question) || !kind_of(tree, question->kind))
		return;
	if (tree->n_nodes >= KINDS_TREE_NODES_MAX || depth_of(node) >= KINDS_TREE_DEPTH_MAX) {
		node->n_more++;
		return;
	}
	struct kinds_tree_node *child =
		node_new(tree, question->kind, question->namespace_, question->name);
	child->parent = node;
	child->uid = x_strdup(question->uid);
	child->is_list = !question->name;
	child->is_reference = !is_below;
	child->is_optional = question->is_optional;
	child->must_be_owned = question->must_be_owned;
	child->label = x_strdup(question->label);
	if (question->mentioned) {
		child->mention_path = x_strdup(question->relation->path);
		child->mentioned = x_strdup(question->mentioned);
	}
	DL_APPEND(node->children, child);
}

/* A template is no owner of its pools: they stand under it, and nothing under them. */
static void take_in(struct kinds_tree_node *node, const cJSON *object)
{
	int64_t skew_ms = kube_client_clock_skew_ms(node->tree->client);
	struct kinds_object *row = x_calloc(1, node->kind->row_bytes);
	kinds_object_read(row, object, skew_ms);
	node->kind->project(row, object, skew_ms);
	node->row = row;
	node->state = THERE;
	free(node->uid);
	node->uid = x_strdup(row->uid);
	kinds_related_each(node->kind, object, on_question, node);
}

static void climb(struct kinds_tree *tree, const cJSON *object)
{
	struct kinds_question owner;
	struct kinds_tree_node *below = tree->root;
	if (!kinds_related_owner(object, &owner) ||
		depth_of(tree->asked) >= KINDS_TREE_DEPTH_MAX)
		return;
	const struct resource_kind *kind = kind_of(tree, owner.kind);
	if (kind && kind->namespace_column == RESOURCE_NONE)
		owner.namespace_ = "";
	for (const struct kinds_tree_node *at = tree->asked; at; at = at->parent)
		if (is_node(at, owner.kind, owner.namespace_, owner.name))
			return; /* owners in a ring */
	struct kinds_tree_node *node = node_new(tree, owner.kind, owner.namespace_, owner.name);
	node->uid = x_strdup(owner.uid);
	node->is_above = true;
	below->parent = node;
	DL_APPEND(node->children, below);
	tree->root = node;
}

/* ---- answers */

static void pump(struct kinds_tree *tree);

static bool is_of_list(const struct kinds_tree_node *list, const cJSON *object)
{
	const char *mentioned =
		list->mention_path ? kinds_text_at(object, list->mention_path) : NULL;
	if (list->mention_path)
		return mentioned && strcmp(mentioned, list->mentioned) == 0;
	return !list->must_be_owned ||
	       (list->parent->uid && kinds_related_is_owned(object, list->parent->uid));
}

/* The objects of a list stand where it stood. */
static void take_list(struct kinds_tree_node *list, const cJSON *answer)
{
	struct kinds_tree_node *parent = list->parent;
	struct kinds_tree *tree = list->tree;
	const cJSON *object, *items = kinds_at(answer, "items");
	bool is_leaf = list->mention_path || cJSON_GetArraySize(items) > GROWN_MAX;
	int64_t more = kinds_int_at(answer, "metadata.remainingItemCount", 0);
	parent->n_more += more > 0 ? (size_t)more : 0;
	cJSON_ArrayForEach(object, items)
	{
		const char *name = kinds_text_at(object, "metadata.name");
		if (!name || !is_of_list(list, object))
			continue;
		if (tree->n_nodes >= KINDS_TREE_NODES_MAX) {
			parent->n_more++;
			continue;
		}
		struct kinds_tree_node *node =
			node_new(tree, list->api_kind, list->namespace_, name);
		node->parent = parent;
		node->is_leaf = is_leaf;
		DL_PREPEND_ELEM(parent->children, list, node);
		take_in(node, object);
	}
	node_remove(list);
}

static void take_one(struct kinds_tree_node *node, const cJSON *object)
{
	const char *uid = kinds_text_at(object, "metadata.uid");
	struct kinds_tree *tree = node->tree;
	bool is_foreign =
		node->must_be_owned &&
		!(node->parent->uid && kinds_related_is_owned(object, node->parent->uid));
	if (is_foreign && node->is_optional)
		node_remove(node);
	else if (node->uid && (!uid || strcmp(uid, node->uid) != 0))
		fail(node, OTHER, "is gone; another one has its name now");
	else {
		/* first upwards: what is no end tells less */
		if (node == tree->root)
			climb(tree, object);
		take_in(node, object);
	}
}

static void take_failure(struct kinds_tree_node *node, const struct err *err)
{
	bool is_missing = err->code == ERR_KUBE_NOT_FOUND || err->code == ERR_KUBE_NOT_SERVED;
	if (node == node->tree->asked)
		node->tree->err = *err;
	if (is_missing && (node->is_optional || node->is_list))
		node_remove(node);
	else if (is_missing)
		fail(node, MISSING, "does not exist");
	else
		fail(node, FAILED, err->msg);
}

static void on_answer(void *arg, const struct err *err, const cJSON *object)
{
	struct kinds_tree_node *node = arg;
	struct kinds_tree *tree = node->tree;
	node->call = NULL;
	tree->n_calls--;
	if (err)
		take_failure(node, err);
	else if (node->is_list)
		take_list(node, object);
	else
		take_one(node, object);
	pump(tree);
}

static void ask_node(struct kinds_tree_node *node)
{
	struct kinds_tree *tree = node->tree;
	struct str query;
	struct err err = { 0 };
	char *path = kube_path(node->kind->resource, node->namespace_,
		node->is_list ? NULL : node->name, NULL);
	str_init(&query, 2048);
	if (node->is_list) {
		char limit[16];
		snprintf(limit, sizeof limit, "%d", (int)LIST_MAX);
		kube_query_add(&query, "limit", limit);
		if (node->label)
			kube_query_add(&query, "labelSelector", node->label);
	}
	const struct kube_call_opts opts = { .method = "GET",
		.path = path,
		.query = query.n ? query.p : NULL,
		.done = on_answer,
		.arg = node };
	node->state = ASKED;
	node->call = kube_call_start(tree->client, &opts, &err);
	if (node->call)
		tree->n_calls++;
	else
		fail(node, FAILED, err.msg);
	str_deinit(&query);
	free(path);
}

static struct kinds_tree_node *find_waiting(struct kinds_tree_node *node)
{
	struct kinds_tree_node *child, *found;
	if (node->state == WAITING)
		return node;
	DL_FOREACH(node->children, child) {
		found = find_waiting(child);
		if (found)
			return found;
	}
	return NULL;
}

static void finish(struct kinds_tree *tree)
{
	if (tree->is_done)
		return;
	tree->is_done = true;
	net_loop_timer_disarm(tree->deadline);
	tree->opts.done(tree->opts.arg, tree->err.code == ERR_NONE ? NULL : &tree->err);
}

static void pump(struct kinds_tree *tree)
{
	struct kinds_tree_node *node;
	while (tree->n_calls < PARALLEL && (node = find_waiting(tree->root)) != NULL)
		ask_node(node);
	if (!tree->n_calls)
		finish(tree);
}

static void give_up(struct kinds_tree_node *node)
{
	struct kinds_tree_node *child;
	if (node->call)
		kube_call_cancel(node->call);
	node->call = NULL;
	if (node->state == WAITING || node->state == ASKED)
		fail(node, FAILED, "no answer");
	DL_FOREACH(node->children, child)
		give_up(child);
}

static void on_deadline(void *arg)
{
	struct kinds_tree *tree = arg;
	if (tree->asked->state == WAITING || tree->asked->state == ASKED)
		err_set(&tree->err, ERR_OP_TIMEOUT, "no answer within %d s",
			KINDS_TREE_MS / 1000);
	give_up(tree->root);
	tree->n_calls = 0;
	finish(tree);
}

static void on_kick(void *arg)
{
	pump(arg);
}

struct kinds_tree *kinds_tree_start(struct net_loop *loop, struct kube_client *client,
	const struct kinds_tree_opts *opts, struct err *err)
{
	if (!*opts->name) {
		err_set(err, ERR_ARG_INVALID, "no name is given");
		return NULL;
	}
	struct kinds_tree *tree = x_calloc(1, sizeof *tree);
	tree->client = client;
	tree->opts = *opts;
	tree->opts.namespace_ = tree->opts.name = NULL; /* the node has them */
	bool has_any = opts->kind->namespace_column != RESOURCE_NONE;
	tree->root = tree->asked = node_new(tree, opts->kind->resource->kind,
		has_any && opts->namespace_ ? opts->namespace_ : "", opts->name);
	tree->deadline = net_loop_timer_new(loop, on_deadline, tree);
	tree->kick = net_loop_timer_new(loop, on_kick, tree);
	net_loop_timer_arm(tree->deadline, KINDS_TREE_MS);
	net_loop_timer_arm(tree->kick, 0);
	return tree;
}

void kinds_tree_free(struct kinds_tree *tree)
{
	if (!tree)
		return;
	net_loop_timer_free(tree->deadline);
	net_loop_timer_free(tree->kick);
	node_free(tree->root);
	free(tree);
}
