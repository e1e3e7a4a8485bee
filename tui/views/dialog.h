// SPDX-License-Identifier: Apache-2.0
/* A dialog: text, fields, switches and buttons in a box. It answers once: with the number of the button, or
 * DIALOG_CANCELLED (Esc). The application owns the stack of them; the one on top has the keys. */
#pragma once

#include "tui/draw/input.h"
#include "tui/draw/theme.h"

enum { DIALOG_CANCELLED = -1, DIALOG_FIELDS_MAX = 10, DIALOG_BUTTONS_MAX = 6 };

struct dialog;
struct err;
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
/* One line of raw foreign text, folded where it is long. A line end in it is shown, never obeyed: a name cannot write
 * lines of the question. */
void dialog_add_text(struct dialog *dialog, const char *text);
void dialog_add_textf(struct dialog *dialog, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
int dialog_add_field(struct dialog *dialog, const char *label, const char *value);
int dialog_add_switch(struct dialog *dialog, const char *label, bool on);
/* '&' stands before the letter that presses it; where another button has that letter already, it is the next one of the
 * label that is free. The first button is pressed by Enter in a field. */
int dialog_add_button(struct dialog *dialog, const char *label);
void dialog_focus_button(
	struct dialog *dialog, int button); /* at first; else the first field or button */
/* What is wrong with a field, shown below it; the focus goes there. NULL or "": nothing any more. */
void dialog_set_field_error(struct dialog *dialog, int field, const char *text);
/* Asked before the first button answers: false with *field (or -1) and *err keeps the dialog open, as it is filled in,
 * with the error at that field. */
typedef bool dialog_check_fn(void *arg, struct dialog *dialog, int *field, struct err *err);
void dialog_set_check(struct dialog *dialog, dialog_check_fn *check);
const char *dialog_field(const struct dialog *dialog, int field);
bool dialog_switch(const struct dialog *dialog, int field);

/* ---- questions that the person did not ask for (tui/app/surprise.c shows them). Their text says who asks. */

/* A question that takes a while to be put is asked for all the same when the person has touched nothing meanwhile: what
 * host_input_serial() was when they gave the command. */
void dialog_set_serial(struct dialog *dialog, uint64_t serial);
uint64_t dialog_serial(const struct dialog *dialog); /* 0: none */
/* Nobody asked for it: no letter presses a button, Esc and Ctrl-C do not answer, the cursor stays where it is. footer is
 * the line at its lower border, suffix the end of its title; both copied. has_keys: keys are for it now. at_bottom: it
 * keeps to the last rows of the region, else to the first. */
struct dialog_surprise {
	const char *footer, *suffix;
	bool has_keys, at_bottom;
};
void dialog_set_surprise(struct dialog *dialog, const struct dialog_surprise *surprise);
bool dialog_has_fields(const struct dialog *dialog); /* to type in */
/* Nothing can be lost by closing it: it says something and has no more than one button. */
bool dialog_is_notice(const struct dialog *dialog);
/* Where it was drawn last. */
struct region dialog_place(const struct dialog *dialog);

void dialog_draw(struct dialog *dialog, struct region screen, const struct theme *theme);
/* True: it is answered; call dialog_answer() and free it. */
bool dialog_key(struct dialog *dialog, const struct key *key);
bool dialog_mouse(struct dialog *dialog, const struct mouse *mouse);
void dialog_paste(struct dialog *dialog, struct slice text);
void dialog_answer(struct dialog *dialog); /* calls done */
