// SPDX-License-Identifier: Apache-2.0
// Questions of the queue as dialogs: about what is there already, and about large trees.
#include "tui/views/transfers/transfers.h"

#include "engine/base/mem.h"
#include "engine/base/num.h"
#include "tui/widgets/dialog.h"

#include <stdlib.h>

struct answering {
	struct transfer_queue *copies;
	unsigned question;
	bool is_limit;
	int for_all; /* the switch */
};

enum { LIMIT_GO_ON, LIMIT_STOP };
enum { ANSWER_OVERWRITE, ANSWER_SKIP, ANSWER_RENAME, ANSWER_STOP };

static void on_limit_answered(void *arg, struct widget_dialog *dialog, int button)
{
	const struct answering *answering = arg;
	(void)dialog;
	transfer_queue_answer(answering->copies, answering->question,
		button == LIMIT_GO_ON ? TRANSFER_CHOOSE_GO_ON : TRANSFER_CHOOSE_STOP, false);
}

static void on_answered(void *arg, struct widget_dialog *dialog, int button)
{
	static const enum transfer_choice choices[] = {
		[ANSWER_OVERWRITE] = TRANSFER_CHOOSE_OVERWRITE,
		[ANSWER_SKIP] = TRANSFER_CHOOSE_SKIP,
		[ANSWER_RENAME] = TRANSFER_CHOOSE_RENAME,
		[ANSWER_STOP] = TRANSFER_CHOOSE_STOP,
	};
	const struct answering *answering = arg;
	transfer_queue_answer(answering->copies, answering->question,
		button == DIALOG_CANCELLED ? TRANSFER_CHOOSE_STOP : choices[button],
		widget_dialog_switch(dialog, answering->for_all));
}

static struct widget_dialog *limit_dialog(
	struct answering *answering, const struct transfer_question *question)
{
	struct widget_dialog *dialog =
		widget_dialog_new("A large tree", on_limit_answered, answering, free);
	widget_dialog_add_textf(dialog, "%s on %s", question->path, question->place);
	widget_dialog_add_textf(dialog,
		"It has more than %llu entries, perhaps by links in a circle.",
		(unsigned long long)question->n_entries);
	widget_dialog_add_text(dialog, "What has arrived stays in any case.");
	widget_dialog_add_button(dialog, "&Go on");
	widget_dialog_add_button(dialog, "S&top");
	widget_dialog_focus_button(dialog, LIMIT_STOP);
	return dialog;
}

static const char *size_text(int64_t bytes, char out[NUM_SIZE_BYTES])
{
	return bytes < 0 ? "?" : num_format_size((uint64_t)bytes, out);
}

static struct widget_dialog *conflict_dialog(
	struct answering *answering, const struct transfer_question *question)
{
	struct widget_dialog *dialog =
		widget_dialog_new("It is there already", on_answered, answering, free);
	char old_size[NUM_SIZE_BYTES], new_size[NUM_SIZE_BYTES];
	widget_dialog_add_textf(dialog, "%s on %s", question->path, question->place);
	widget_dialog_add_textf(dialog, "there: %s   new: %s",
		size_text(question->existing_bytes, old_size),
		size_text(question->new_bytes, new_size));
	widget_dialog_add_text(dialog, "The other files go on meanwhile.");
	answering->for_all =
		widget_dialog_add_switch(dialog, "the same for all others of this copy", false);
	widget_dialog_add_button(dialog, "&Overwrite");
	widget_dialog_add_button(dialog, "&Skip");
	widget_dialog_add_button(dialog, "&Keep both");
	widget_dialog_add_button(dialog, "S&top");
	widget_dialog_focus_button(dialog, ANSWER_SKIP);
	return dialog;
}

void views_transfers_on_question(void *arg, const struct transfer_question *question)
{
	struct view_host *host = arg;
	struct answering *answering = x_calloc(1, sizeof *answering);
	*answering = (struct answering){ .copies = host->copies, .question = question->id };
	struct widget_dialog *dialog = question->n_entries
					       ? limit_dialog(answering, question)
					       : conflict_dialog(answering, question);
	/* its next question belongs to this one */
	widget_dialog_set_owner(dialog, host->copies);
	host->ops->push_dialog(host, dialog);
}
