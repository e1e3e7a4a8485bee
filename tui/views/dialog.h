// SPDX-License-Identifier: Apache-2.0
/* A dialog: text, fields, switches and buttons in a box. It answers once: with the number of the button, or
 * DIALOG_CANCELLED (Esc). The application owns the stack of them; the one on top has the keys. */
#pragma once

#include "tui/draw/input.h"
#include "tui/draw/theme.h"

enum { DIALOG_CANCELLED = -1, DIALOG_FIELDS_MAX = 10, DIALOG_BUTTONS_MAX = 6 };

struct dialog;
/* The dialog may be read during the call and is freed after it. */
typedef void dialog_done_fn(void *arg, struct dialog *dialog, int button);

/* arg_free may be NULL; called after done, or when the dialog is thrown away unanswered. */
struct dialog *dialog_new(
	const char *title, dialog_done_fn *done, void *arg, void (*arg_free)(void *arg));
void dialog_free(struct dialog *dialog);
/* Whose it is: when the owner goes, the application throws its dialogs away unanswered. */
void dialog_set_owner(struct dialog *dialog, const void *owner);
const void *dialog_owner(const struct dialog *dialog);
void dialog_set_error(struct dialog *dialog, bool is_error); /* drawn as an error */
/* Raw foreign text; '\n' begins a new line, long lines are folded. */
void dialog_add_text(struct dialog *dialog, const char *text);
void dialog_add_textf(struct dialog *dialog, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
int dialog_add_field(struct dialog *dialog, const char *label, const char *value);
int dialog_add_switch(struct dialog *dialog, const char *label, bool on);
/* '&' stands before the letter that presses it. The first one is pressed by Enter in a field. */
int dialog_add_button(struct dialog *dialog, const char *label);
void dialog_focus_button(
	struct dialog *dialog, int button); /* at first; else the first field or button */
const char *dialog_field(const struct dialog *dialog, int field);
bool dialog_switch(const struct dialog *dialog, int field);

void dialog_draw(struct dialog *dialog, struct region screen, const struct theme *theme);
/* True: it is answered; call dialog_answer() and free it. */
bool dialog_key(struct dialog *dialog, const struct key *key);
bool dialog_mouse(struct dialog *dialog, const struct mouse *mouse);
void dialog_paste(struct dialog *dialog, struct slice text);
void dialog_answer(struct dialog *dialog); /* calls done */
