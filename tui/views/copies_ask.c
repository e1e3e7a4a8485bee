// SPDX-License-Identifier: Apache-2.0
// Questions about what is there already: one dialog at a time, the other files go on meanwhile.
#include "tui/views/copies_internal.h"

#include "engine/base/num.h"
#include "tui/views/dialog.h"

#include <stdlib.h>

static void ask_next(struct copies *copies);

static void question_free(struct copies *copies, struct question *question)
{
	DL_DELETE(copies->questions, question);
	free(question->target);
	free(question);
}

void copies_drop_questions(struct copies *copies, unsigned id, ptrdiff_t item)
{
	struct question *question, *after;
	DL_FOREACH_SAFE(copies->questions, question, after)
		if (question->id == id &&
			(item == EVERY_ITEM || (size_t)item == question->item))
			question_free(copies, question);
}

size_t copies_questions_of(const struct copies *copies, unsigned id)
{
	size_t n = 0;
	const struct question *question;
	DL_FOREACH(copies->questions, question)
		n += question->id == id;
	return n;
}

void copies_on_ask(void *arg)
{
	ask_next(arg);
}

static struct question *question_add(struct item *item, const char *target)
{
	struct copies *copies = item->copy->copies;
	struct question *question = x_calloc(1, sizeof *question);
	question->id = item->copy->id;
	question->item = (size_t)(item - item->copy->items);
	question->target = x_strdup(target);
	DL_APPEND(copies->questions, question);
	copies_changed(copies);
	loop_timer_arm(copies->ask, 0);
	loop_timer_arm(copies->step, 0);
	return question;
}

void copies_on_conflict(
	void *arg, const char *target, int64_t existing_bytes, int64_t new_bytes)
{
	struct question *question = question_add(arg, target);
	question->existing_bytes = existing_bytes;
	question->new_bytes = new_bytes;
}

void copies_on_limit(void *arg, uint64_t n)
{
	struct item *item = arg;
	question_add(item, item->path)->n_entries = n;
}

/* ---- conflicts */

struct answering {
	struct copies *copies;
	unsigned id;
	size_t item;
	bool is_limit;
	int for_all; /* the switch */
};

enum { LIMIT_GO_ON, LIMIT_STOP };
enum { ANSWER_OVERWRITE, ANSWER_SKIP, ANSWER_RENAME, ANSWER_STOP };

static void answer_all(struct copies *copies, struct copy *copy, enum transfer_conflict answer)
{
	copy->conflict = answer;
	for (size_t i = 0; i < copy->n; i++)
		if (copy->items[i].transfer)
			transfer_answer(copy->items[i].transfer, answer, true);
	struct question *question, *after;
	DL_FOREACH_SAFE(copies->questions, question, after)
		if (question->id == copy->id && !question->n_entries)
			question_free(copies, question);
}

static struct question *question_of(const struct answering *answering)
{
	struct question *question;
	DL_FOREACH(answering->copies->questions, question)
		if (question->id == answering->id && question->item == answering->item &&
			(question->n_entries > 0) == answering->is_limit)
			return question;
	return NULL;
}

static void on_limit_answered(void *arg, struct dialog *dialog, int button)
{
	struct answering *answering = arg;
	struct copies *copies = answering->copies;
	struct copy *copy = copies_find(copies, answering->id);
	struct question *question = question_of(answering);
	(void)dialog;
	copies->has_dialog = false;
	if (copy && question && button != LIMIT_GO_ON) {
		copies_cancel(copies, copy->id);
	} else if (copy && question) {
		struct transfer *transfer = copy->items[question->item].transfer;
		question_free(copies, question);
		if (transfer)
			transfer_go_on(transfer, true);
	}
	copies_changed(copies);
	loop_timer_arm(copies->ask, 0);
}

static void on_answered(void *arg, struct dialog *dialog, int button)
{
	struct answering *answering = arg;
	struct copies *copies = answering->copies;
	struct copy *copy = copies_find(copies, answering->id);
	copies->has_dialog = false;
	struct question *question = question_of(answering);
	if (copy && question && (button == ANSWER_STOP || button == DIALOG_CANCELLED)) {
		copies_cancel(copies, copy->id);
	} else if (copy && question) {
		enum transfer_conflict answer = button == ANSWER_OVERWRITE ? TRANSFER_OVERWRITE
						: button == ANSWER_RENAME  ? TRANSFER_RENAME
									   : TRANSFER_SKIP;
		struct transfer *transfer = copy->items[question->item].transfer;
		question_free(copies, question);
		if (dialog_switch(dialog, answering->for_all))
			answer_all(copies, copy, answer);
		else if (transfer)
			transfer_answer(transfer, answer, false);
	}
	copies_changed(copies);
	loop_timer_arm(copies->ask, 0);
}

static void ask_about_limit(struct copies *copies, const struct question *question,
	const struct copy *copy, struct answering *answering)
{
	struct dialog *dialog = dialog_new("A large tree", on_limit_answered, answering, free);
	dialog_set_owner(dialog, copies);
	dialog_add_textf(dialog, "%s on %s", question->target, copy->from.name);
	dialog_add_textf(dialog, "It has more than %llu entries, perhaps by links in a circle.",
		(unsigned long long)question->n_entries);
	dialog_add_text(dialog, "What has arrived stays in any case.");
	dialog_add_button(dialog, "&Go on");
	dialog_add_button(dialog, "S&top");
	dialog_focus_button(dialog, LIMIT_STOP);
	copies->has_dialog = true;
	copies->host->ops->push_dialog(copies->host, dialog);
}

static void ask_next(struct copies *copies)
{
	struct question *question = copies->questions;
	if (copies->has_dialog || !question)
		return;
	const struct copy *copy = copies_find(copies, question->id);
	struct answering *answering = x_calloc(1, sizeof *answering);
	*answering = (struct answering){ .copies = copies,
		.id = question->id,
		.item = question->item,
		.is_limit = question->n_entries > 0 };
	if (answering->is_limit) {
		ask_about_limit(copies, question, copy, answering);
		return;
	}
	struct dialog *dialog = dialog_new("It is there already", on_answered, answering, free);
	dialog_set_owner(dialog, copies); /* its next question belongs to this one */
	char old_size[NUM_SIZE_BYTES], new_size[NUM_SIZE_BYTES];
	dialog_add_textf(dialog, "%s on %s", question->target, copy->to.name);
	dialog_add_textf(dialog, "there: %s   new: %s",
		question->existing_bytes < 0
			? "?"
			: num_format_size((uint64_t)question->existing_bytes, old_size),
		question->new_bytes < 0
			? "?"
			: num_format_size((uint64_t)question->new_bytes, new_size));
	dialog_add_text(dialog, "The other files go on meanwhile.");
	answering->for_all =
		dialog_add_switch(dialog, "the same for all others of this copy", false);
	dialog_add_button(dialog, "&Overwrite");
	dialog_add_button(dialog, "&Skip");
	dialog_add_button(dialog, "&Keep both");
	dialog_add_button(dialog, "S&top");
	dialog_focus_button(dialog, ANSWER_SKIP);
	copies->has_dialog = true;
	copies->host->ops->push_dialog(copies->host, dialog);
}
