// SPDX-License-Identifier: Apache-2.0
// The clipboard policy: a program in a sandbox writes the person's clipboard (OSC 52) only when the person said so, once or
// for as long as the session lives.
#include "tui/views/shell/shell.h"

#include "engine/base/mem.h"
#include "tui/widgets/dialog.h"

#include <stdlib.h>
#include <string.h>

enum { BUTTON_ONCE, BUTTON_ALWAYS, BUTTON_NO, BUTTON_NEVER };

static void on_clipboard_answered(void *arg, struct widget_dialog *dialog, int button)
{
	struct views_shell *shell = arg;
	(void)dialog;
	shell->is_asking = false;
	if (button == BUTTON_ALWAYS)
		session_set_clipboard(shell->session, SESSION_CLIPBOARD_ALLOW);
	if (button == BUTTON_NEVER)
		session_set_clipboard(shell->session, SESSION_CLIPBOARD_DENY);
	if (button == BUTTON_ONCE || button == BUTTON_ALWAYS)
		shell->view.host->ops->copy_text(
			shell->view.host, (struct slice){ shell->clip, shell->n_clip });
	free(shell->clip);
	shell->clip = NULL;
	shell->n_clip = 0;
}

/* The sandbox wants to write the person's clipboard: what it holds may be pasted into any shell later. */
void views_shell_clipboard_ask(void *arg, struct slice bytes)
{
	enum { PREVIEW_BYTES = 300 };
	struct views_shell *shell = arg;
	struct view_host *host = shell->view.host;
	if (shell->is_asking)
		return;
	if (session_clipboard(shell->session) == SESSION_CLIPBOARD_ALLOW) {
		host->ops->copy_text(host, bytes);
		return;
	}
	shell->is_asking = true;
	shell->clip = x_malloc(bytes.n + 1);
	memcpy(shell->clip, bytes.p, bytes.n);
	shell->clip[bytes.n] = 0;
	shell->n_clip = bytes.n;
	struct widget_dialog *dialog = widget_dialog_new(
		"Write to your clipboard?", on_clipboard_answered, shell, NULL);
	widget_dialog_add_textf(dialog,
		"%s in %s wants to put %zu bytes there:", session_program(shell->session),
		session_name(shell->session), bytes.n);
	widget_dialog_add_textf(dialog, "%.*s%s",
		(int)(bytes.n < PREVIEW_BYTES ? bytes.n : PREVIEW_BYTES), shell->clip,
		bytes.n > PREVIEW_BYTES ? "…" : "");
	widget_dialog_add_button(dialog, "&Once");
	widget_dialog_add_button(dialog, "&Always");
	widget_dialog_add_button(dialog, "N&o");
	widget_dialog_add_button(dialog, "&Never");
	widget_dialog_focus_button(dialog, BUTTON_NO);
	widget_dialog_set_owner(dialog, shell);
	host->ops->push_dialog(host, dialog);
}
