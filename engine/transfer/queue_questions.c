// SPDX-License-Identifier: Apache-2.0
/* What transfers ask, in order. One question at a time is handed out; what is about a file that has been given up goes.
 *
 * Looks at what is in the way end in any order, and people are asked in the order in which they named the files: a file's
 * first question has the place at which the file was started, and waits while a file before it is looked at. It waits only
 * for those that go from the same folder into the same one: a place that does not answer holds up no other's questions.
 * Later questions (of a tree) come in the order in which they come up. */
#include "engine/base/mem.h"
#include "engine/transfer/queue_internal.h"

#include <stdlib.h>
#include <string.h>

static void drop(struct transfer_queue *queue, struct transfer_queue_question *question)
{
	DL_DELETE(queue->questions, question);
	question->item->copy->n_asking--;
	free(question->path);
	free(question);
}

/* ---- items that may ask yet */

void transfer_question_expect(struct transfer_item *item)
{
	struct transfer_queue *queue = item->copy->queue;

	item->order = ++queue->last_order;
	item->is_looking = true;
	DL_APPEND(queue->looking, item);
}

void transfer_question_forget(struct transfer_item *item)
{
	struct transfer_queue *queue = item->copy->queue;

	if (!item->is_looking)
		return;
	item->is_looking = false;
	DL_DELETE(queue->looking, item);
	transfer_question_look(queue);
}

void transfer_question_look(struct transfer_queue *queue)
{
	if (queue->questions && !queue->asked)
		net_loop_timer_arm(queue->ask, 0);
}

static void forget_what_is_known(struct transfer_queue *queue)
{
	struct transfer_item *item, *after;

	DL_FOREACH_SAFE(queue->looking, item, after)
		if (!transfer_is_looking(item->transfer)) {
			item->is_looking = false;
			DL_DELETE(queue->looking, item);
		}
}

static size_t folder_bytes(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? (size_t)(slash - path) : 0;
}

static bool is_same_way(const struct transfer_item *a, const struct transfer_item *b)
{
	size_t n = folder_bytes(a->path);

	return transfer_is_same_place(transfer_end_place(&a->copy->from),
		       transfer_end_place(&b->copy->from)) &&
	       transfer_is_same_place(
		       transfer_end_place(&a->copy->to), transfer_end_place(&b->copy->to)) &&
	       strcmp(a->copy->to_dir, b->copy->to_dir) == 0 && folder_bytes(b->path) == n &&
	       strncmp(a->path, b->path, n) == 0;
}

static bool must_wait(
	const struct transfer_queue *queue, const struct transfer_queue_question *question)
{
	const struct transfer_item *item;

	DL_FOREACH(queue->looking, item) {
		if (item->order > question->order)
			break;
		if (item->copy->state == TRANSFER_COPY_RUNNING &&
			is_same_way(item, question->item))
			return true;
	}
	return false;
}

/* ---- questions */

static int by_order(
	const struct transfer_queue_question *a, const struct transfer_queue_question *b)
{
	return a->order < b->order ? -1 : a->order > b->order;
}

void transfer_question_add(struct transfer_item *item, const char *path, int64_t existing_bytes,
	int64_t new_bytes, uint64_t n_entries)
{
	struct transfer_queue *queue = item->copy->queue;
	struct transfer_queue_question *question = x_calloc(1, sizeof *question);

	*question = (struct transfer_queue_question){
		.id = ++queue->last_question_id,
		.order = item->order ? item->order : ++queue->last_order,
		.item = item,
		.path = x_strdup(path),
		.existing_bytes = existing_bytes,
		.new_bytes = new_bytes,
		.n_entries = n_entries,
	};
	item->copy->n_asking++;
	item->order = 0;
	transfer_question_forget(item);
	DL_INSERT_INORDER(queue->questions, question, by_order);
	transfer_queue_changed(queue);
	net_loop_timer_arm(queue->ask, 0);
	net_loop_timer_arm(queue->step, 0);
}

void transfer_question_drop(
	struct transfer_copy *copy, const struct transfer_item *item, bool conflicts_only)
{
	struct transfer_queue *queue = copy->queue;
	struct transfer_queue_question *question, *after;

	DL_FOREACH_SAFE(queue->questions, question, after)
		if (question->item->copy == copy && (!item || question->item == item) &&
			!(conflicts_only && question->n_entries))
			drop(queue, question);
}

struct transfer_item *transfer_question_take(
	struct transfer_queue *queue, unsigned id, bool *is_limit)
{
	struct transfer_queue_question *question;

	DL_FOREACH(queue->questions, question) {
		if (question->id != id)
			continue;
		struct transfer_item *item = question->item;
		*is_limit = question->n_entries > 0;
		drop(queue, question);
		return item;
	}
	return NULL;
}

void transfer_question_ask(void *arg)
{
	struct transfer_queue *queue = arg;
	const struct transfer_queue_question *question;

	if (queue->asked)
		return;
	forget_what_is_known(queue);
	DL_FOREACH(queue->questions, question)
		if (!must_wait(queue, question))
			break;
	if (!question)
		return;
	const struct transfer_copy *copy = question->item->copy;
	struct transfer_question said = {
		.id = question->id,
		.path = question->path,
		.place = question->n_entries ? copy->from.name : copy->to.name,
		.existing_bytes = question->existing_bytes,
		.new_bytes = question->new_bytes,
		.n_entries = question->n_entries,
	};
	queue->asked = question->id;
	queue->opts.on_question(queue->opts.arg, &said);
}
