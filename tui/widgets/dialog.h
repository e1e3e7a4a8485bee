// SPDX-License-Identifier: Apache-2.0
/* A dialog: text, fields, switches and buttons in a box. It answers once: with the number of the button, or
 * DIALOG_CANCELLED (Esc). The application owns the stack of them; the one on top has the keys. */
#pragma once

#include "tui/draw/input.h"
#include "tui/draw/theme.h"

enum { DIALOG_CANCELLED = -1, DIALOG_FIELDS_MAX = 16, DIALOG_BUTTONS_MAX = 6 };

struct widget_dialog;
struct err;
/* The dialog may be read during the call and is freed after it. */
typedef void widget_dialog_done_fn(void *arg, struct widget_dialog *dialog, int button);

/* arg_free may be NULL; called after done, or when the dialog is thrown away unanswered. */
struct widget_dialog *widget_dialog_new(
	const char *title, widget_dialog_done_fn *done, void *arg, void (*arg_free)(void *arg));
void widget_dialog_free(struct widget_dialog *dialog);
/* Whose it is: when the owner goes, the application throws its dialogs away unanswered. */
void widget_dialog_set_owner(struct widget_dialog *dialog, const void *owner);
const void *widget_dialog_owner(const struct widget_dialog *dialog);
void widget_dialog_set_error(
	struct widget_dialog *dialog, bool is_error); /* drawn as an error */
/* One line of raw foreign text, folded where it is long. A line end in it is shown, never obeyed: a name cannot write
 * lines of the question. */
void widget_dialog_add_text(struct widget_dialog *dialog, const char *text);
void widget_dialog_add_textf(struct widget_dialog *dialog, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* What the text says may change while it is open: cleared, then added anew. */
void widget_dialog_clear_text(struct widget_dialog *dialog);
int widget_dialog_add_field(struct widget_dialog *dialog, const char *label, const char *value);
void widget_dialog_set_field(struct widget_dialog *dialog, int field, const char *value);
int widget_dialog_add_switch(struct widget_dialog *dialog, const char *label, bool on);
/* '&' stands before the letter that presses it; where another button has that letter already, it is the next one of the
 * label that is free. The first button is pressed by Enter in a field. */
int widget_dialog_add_button(struct widget_dialog *dialog, const char *label);
void widget_dialog_focus_button(struct widget_dialog *dialog,
	int button); /* at first; else the first field or button */
/* What is wrong with a field, shown below it; the focus goes there. NULL or "": nothing any more. */
void widget_dialog_set_field_error(struct widget_dialog *dialog, int field, const char *text);
/* Asked before the first button answers: false with *field (or -1) and *err keeps the dialog open, as it is filled in,
 * with the error at that field. */
typedef bool widget_dialog_check_fn(
	void *arg, struct widget_dialog *dialog, int *field, struct err *err);
void widget_dialog_set_check(struct widget_dialog *dialog, widget_dialog_check_fn *check);
const char *widget_dialog_field(const struct widget_dialog *dialog, int field);
bool widget_dialog_switch(const struct widget_dialog *dialog, int field);

/* ---- questions that the person did not ask for (tui/client/surprise.c shows them). Their text says who asks. */

/* A question that takes a while to be put is asked for all the same when the person has touched nothing meanwhile: what
 * host_input_serial() was when they gave the command. */
void widget_dialog_set_serial(struct widget_dialog *dialog, uint64_t serial);
uint64_t widget_dialog_serial(const struct widget_dialog *dialog); /* 0: none */
/* Nobody asked for it: no letter presses a button, Esc and Ctrl-C do not answer, the cursor stays where it is. footer is
 * the line at its lower border, suffix the end of its title; both copied. has_keys: keys are for it now. at_bottom: it
 * keeps to the last rows of the region, else to the first. */
struct widget_dialog_surprise {
	const char *footer, *suffix;
	bool has_keys, at_bottom;
};
void widget_dialog_set_surprise(
	struct widget_dialog *dialog, const struct widget_dialog_surprise *surprise);
bool widget_dialog_has_fields(const struct widget_dialog *dialog); /* to type in */
/* Nothing can be lost by closing it: it says something and has no more than one button. */
bool widget_dialog_is_notice(const struct widget_dialog *dialog);
/* Where it was drawn last. */
struct draw_region widget_dialog_place(const struct widget_dialog *dialog);

void widget_dialog_draw(struct widget_dialog *dialog, struct draw_region screen,
	const struct draw_theme *theme);
/* True: it is answered; call widget_dialog_answer() and free it. */
bool widget_dialog_key(struct widget_dialog *dialog, const struct draw_key *key);
bool widget_dialog_mouse(struct widget_dialog *dialog, const struct draw_mouse *mouse);
void widget_dialog_paste(struct widget_dialog *dialog, struct slice text);
void widget_dialog_answer(struct widget_dialog *dialog); /* calls done */
