// SPDX-License-Identifier: Apache-2.0
// Questions about what is there already: one dialog at a time, the other files go on meanwhile.
#include "tui/views/transfers/internal.h"

#include "engine/base/num.h"
#include "tui/widgets/dialog.h"

#include <stdlib.h>

static void ask_next(struct views_transfers *copies);

static void question_free(struct views_transfers *copies, struct views_question *question)
{
	DL_DELETE(copies->questions, question);
	free(question->target);
	free(question);
}

void views_transfers_drop_questions(struct views_transfers *copies, unsigned id, ptrdiff_t item)
{
	struct views_question *question, *after;
	DL_FOREACH_SAFE(copies->questions, question, after)
		if (question->id == id &&
			(item == EVERY_ITEM || (size_t)item == question->item))
			question_free(copies, question);
}

size_t views_transfers_questions_of(const struct views_transfers *copies, unsigned id)
{
	size_t n = 0;
	const struct views_question *question;
	DL_FOREACH(copies->questions, question)
		n += question->id == id;
	return n;
}

void views_transfers_on_ask(void *arg)
{
	ask_next(arg);
}

static struct views_question *question_add(struct views_item *item, const char *target)
{
	struct views_transfers *copies = item->copy->copies;
	struct views_question *question = x_calloc(1, sizeof *question);
	question->id = item->copy->id;
	question->item = (size_t)(item - item->copy->items);
	question->target = x_strdup(target);
	DL_APPEND(copies->questions, question);
	views_transfers_changed(copies);
	net_loop_timer_arm(copies->ask, 0);
	net_loop_timer_arm(copies->step, 0);
	return question;
}

void views_transfers_on_conflict(
	void *arg, const char *target, int64_t existing_bytes, int64_t new_bytes)
{
	struct views_question *question = question_add(arg, target);
	question->existing_bytes = existing_bytes;
	question->new_bytes = new_bytes;
}

void views_transfers_on_limit(void *arg, uint64_t n)
{
	struct views_item *item = arg;
	question_add(item, item->path)->n_entries = n;
}

/* ---- conflicts */

struct answering {
	struct views_transfers *copies;
	unsigned id;
	size_t item;
	bool is_limit;
	int for_all; /* the switch */
};

enum { LIMIT_GO_ON, LIMIT_STOP };
enum { ANSWER_OVERWRITE, ANSWER_SKIP, ANSWER_RENAME, ANSWER_STOP };

static void answer_all(struct views_transfers *copies, struct views_transfer *copy,
	enum transfer_conflict answer)
{
	copy->conflict = answer;
	for (size_t i = 0; i < copy->n; i++)
		if (copy->items[i].transfer)
			transfer_answer(copy->items[i].transfer, answer, true);
	struct views_question *question, *after;
	DL_FOREACH_SAFE(copies->questions, question, after)
		if (question->id == copy->id && !question->n_entries)
			question_free(copies, question);
}

static struct views_question *question_of(const struct answering *answering)
{
	struct views_question *question;
	DL_FOREACH(answering->copies->questions, question)
		if (question->id == answering->id && question->item == answering->item &&
			(question->n_entries > 0) == answering->is_limit)
			return question;
	return NULL;
}

static void on_limit_answered(void *arg, struct widget_dialog *dialog, int button)
{
	struct answering *answering = arg;
	struct views_transfers *copies = answering->copies;
	struct views_transfer *copy = views_transfers_find(copies, answering->id);
	struct views_question *question = question_of(answering);
	(void)dialog;
	copies->has_dialog = false;
	if (copy && question && button != LIMIT_GO_ON) {
		views_transfers_cancel(copies, copy->id);
	} else if (copy && question) {
		struct transfer *transfer = copy->items[question->item].transfer;
		question_free(copies, question);
		if (transfer)
			transfer_go_on(transfer, true);
	}
	views_transfers_changed(copies);
	net_loop_timer_arm(copies->ask, 0);
}

static void on_answered(void *arg, struct widget_dialog *dialog, int button)
{
	struct answering *answering = arg;
	struct views_transfers *copies = answering->copies;
	struct views_transfer *copy = views_transfers_find(copies, answering->id);
	copies->has_dialog = false;
	struct views_question *question = question_of(answering);
	if (copy && question && (button == ANSWER_STOP || button == DIALOG_CANCELLED)) {
		views_transfers_cancel(copies, copy->id);
	} else if (copy && question) {
		enum transfer_conflict answer = button == ANSWER_OVERWRITE ? TRANSFER_OVERWRITE
						: button == ANSWER_RENAME  ? TRANSFER_RENAME
									   : TRANSFER_SKIP;
		struct transfer *transfer = copy->items[question->item].transfer;
		question_free(copies, question);
		if (widget_dialog_switch(dialog, answering->for_all))
			answer_all(copies, copy, answer);
		else if (transfer)
			transfer_answer(transfer, answer, false);
	}
	views_transfers_changed(copies);
	net_loop_timer_arm(copies->ask, 0);
}

static void ask_about_limit(struct views_transfers *copies,
	const struct views_question *question, const struct views_transfer *copy,
	struct answering *answering)
{
	struct widget_dialog *dialog =
		widget_dialog_new("A large tree", on_limit_answered, answering, free);
	widget_dialog_set_owner(dialog, copies);
	widget_dialog_add_textf(dialog, "%s on %s", question->target, copy->from.name);
	widget_dialog_add_textf(dialog,
		"It has more than %llu entries, perhaps by links in a circle.",
		(unsigned long long)question->n_entries);
	widget_dialog_add_text(dialog, "What has arrived stays in any case.");
	widget_dialog_add_button(dialog, "&Go on");
	widget_dialog_add_button(dialog, "S&top");
	widget_dialog_focus_button(dialog, LIMIT_STOP);
	copies->has_dialog = true;
	copies->host->ops->push_dialog(copies->host, dialog);
}

static void ask_next(struct views_transfers *copies)
{
	struct views_question *question = copies->questions;
	if (copies->has_dialog || !question)
		return;
	const struct views_transfer *copy = views_transfers_find(copies, question->id);
	struct answering *answering = x_calloc(1, sizeof *answering);
	*answering = (struct answering){ .copies = copies,
		.id = question->id,
		.item = question->item,
		.is_limit = question->n_entries > 0 };
	if (answering->is_limit) {
		ask_about_limit(copies, question, copy, answering);
		return;
	}
	struct widget_dialog *dialog =
		widget_dialog_new("It is there already", on_answered, answering, free);
	widget_dialog_set_owner(dialog, copies); /* its next question belongs to this one */
	char old_size[NUM_SIZE_BYTES], new_size[NUM_SIZE_BYTES];
	widget_dialog_add_textf(dialog, "%s on %s", question->target, copy->to.name);
	widget_dialog_add_textf(dialog, "there: %s   new: %s",
		question->existing_bytes < 0
			? "?"
			: num_format_size((uint64_t)question->existing_bytes, old_size),
		question->new_bytes < 0
			? "?"
			: num_format_size((uint64_t)question->new_bytes, new_size));
	widget_dialog_add_text(dialog, "The other files go on meanwhile.");
	answering->for_all =
		widget_dialog_add_switch(dialog, "the same for all others of this copy", false);
	widget_dialog_add_button(dialog, "&Overwrite");
	widget_dialog_add_button(dialog, "&Skip");
	widget_dialog_add_button(dialog, "&Keep both");
	widget_dialog_add_button(dialog, "S&top");
	widget_dialog_focus_button(dialog, ANSWER_SKIP);
	copies->has_dialog = true;
	copies->host->ops->push_dialog(copies->host, dialog);
}
