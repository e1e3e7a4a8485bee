// SPDX-License-Identifier: Apache-2.0
/* What transfers ask, in order. One question at a time is handed out; what is about a file that has been given up goes. */
#include "engine/base/mem.h"
#include "engine/transfer/queue_internal.h"

#include <stdlib.h>

static void drop(struct transfer_queue *queue, struct transfer_queue_question *question)
{
	DL_DELETE(queue->questions, question);
	question->item->copy->n_asking--;
	free(question->path);
	free(question);
}

void transfer_question_add(struct transfer_item *item, const char *path, int64_t existing_bytes,
	int64_t new_bytes, uint64_t n_entries)
{
	struct transfer_queue *queue = item->copy->queue;
	struct transfer_queue_question *question = x_calloc(1, sizeof *question);

	*question = (struct transfer_queue_question){
		.id = ++queue->last_question_id,
		.item = item,
		.path = x_strdup(path),
		.existing_bytes = existing_bytes,
		.new_bytes = new_bytes,
		.n_entries = n_entries,
	};
	item->copy->n_asking++;
	DL_APPEND(queue->questions, question);
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
	const struct transfer_queue_question *question = queue->questions;

	if (queue->asked || !question)
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
