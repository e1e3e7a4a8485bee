// SPDX-License-Identifier: Apache-2.0
/* A dialog: text, fields, switches and buttons in a box. It answers once: with the number of the button, or
 * DIALOG_CANCELLED (Esc). The application owns the stack of them; the one on top has the keys. */
#pragma once

#include "tui/draw/input.h"
#include "tui/draw/theme.h"

enum { DIALOG_CANCELLED = -1, DIALOG_FIELDS_MAX = 10, DIALOG_BUTTONS_MAX = 6 };

struct views_dialog;
struct err;
/* The dialog may be read during the call and is freed after it. */
typedef void views_dialog_done_fn(void *arg, struct views_dialog *dialog, int button);

/* arg_free may be NULL; called after done, or when the dialog is thrown away unanswered. */
struct views_dialog *views_dialog_new(
	const char *title, views_dialog_done_fn *done, void *arg, void (*arg_free)(void *arg));
void views_dialog_free(struct views_dialog *dialog);
/* Whose it is: when the owner goes, the application throws its dialogs away unanswered. */
void views_dialog_set_owner(struct views_dialog *dialog, const void *owner);
const void *views_dialog_owner(const struct views_dialog *dialog);
void views_dialog_set_error(struct views_dialog *dialog, bool is_error); /* drawn as an error */
/* One line of raw foreign text, folded where it is long. A line end in it is shown, never obeyed: a name cannot write
 * lines of the question. */
void views_dialog_add_text(struct views_dialog *dialog, const char *text);
void views_dialog_add_textf(struct views_dialog *dialog, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
int views_dialog_add_field(struct views_dialog *dialog, const char *label, const char *value);
int views_dialog_add_switch(struct views_dialog *dialog, const char *label, bool on);
/* '&' stands before the letter that presses it; where another button has that letter already, it is the next one of the
 * label that is free. The first button is pressed by Enter in a field. */
int views_dialog_add_button(struct views_dialog *dialog, const char *label);
void views_dialog_focus_button(
	struct views_dialog *dialog, int button); /* at first; else the first field or button */
/* What is wrong with a field, shown below it; the focus goes there. NULL or "": nothing any more. */
void views_dialog_set_field_error(struct views_dialog *dialog, int field, const char *text);
/* Asked before the first button answers: false with *field (or -1) and *err keeps the dialog open, as it is filled in,
 * with the error at that field. */
typedef bool views_dialog_check_fn(
	void *arg, struct views_dialog *dialog, int *field, struct err *err);
void views_dialog_set_check(struct views_dialog *dialog, views_dialog_check_fn *check);
const char *views_dialog_field(const struct views_dialog *dialog, int field);
bool views_dialog_switch(const struct views_dialog *dialog, int field);

/* ---- questions that the person did not ask for (tui/app/surprise.c shows them). Their text says who asks. */

/* A question that takes a while to be put is asked for all the same when the person has touched nothing meanwhile: what
 * host_input_serial() was when they gave the command. */
void views_dialog_set_serial(struct views_dialog *dialog, uint64_t serial);
uint64_t views_dialog_serial(const struct views_dialog *dialog); /* 0: none */
/* Nobody asked for it: no letter presses a button, Esc and Ctrl-C do not answer, the cursor stays where it is. footer is
 * the line at its lower border, suffix the end of its title; both copied. has_keys: keys are for it now. at_bottom: it
 * keeps to the last rows of the region, else to the first. */
struct views_dialog_surprise {
	const char *footer, *suffix;
	bool has_keys, at_bottom;
};
void views_dialog_set_surprise(
	struct views_dialog *dialog, const struct views_dialog_surprise *surprise);
bool views_dialog_has_fields(const struct views_dialog *dialog); /* to type in */
/* Nothing can be lost by closing it: it says something and has no more than one button. */
bool views_dialog_is_notice(const struct views_dialog *dialog);
/* Where it was drawn last. */
struct draw_region views_dialog_place(const struct views_dialog *dialog);

void views_dialog_draw(
	struct views_dialog *dialog, struct draw_region screen, const struct draw_theme *theme);
/* True: it is answered; call views_dialog_answer() and free it. */
bool views_dialog_key(struct views_dialog *dialog, const struct draw_key *key);
bool views_dialog_mouse(struct views_dialog *dialog, const struct draw_mouse *mouse);
void views_dialog_paste(struct views_dialog *dialog, struct slice text);
void views_dialog_answer(struct views_dialog *dialog); /* calls done */
