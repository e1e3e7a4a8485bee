// SPDX-License-Identifier: Apache-2.0
//   engine_edit: TEXT ─▶ file ─▶ session: the editor ─ its end ─▶ file ─▶ engine_edit_save ─▶ DONE … or TEXT again
//
// The pane is a shell pane that shows the session: it closes when the edit is over, and the edit is over when it closes.
#include "tui/views/edit/edit.h"

#include "engine/base/map.h"
#include "engine/base/mem.h"
#include "engine/base/path.h"
#include "tui/session/session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct views_editing {
	struct views_edits *edits;
	struct engine_edit *edit;
	struct session *session; /* of its pane; NULL: there is none */
	char *what;              /* "claim api-1" */
	struct engine_draft *draft;
	bool is_over; /* the pane is closing */
	struct views_editing *prev, *next;
};

struct views_edits {
	struct view_host *host;
	struct views_editing *list;
};

static void editing_free(struct views_editing *one)
{
	DL_DELETE(one->edits->list, one);
	engine_edit_free(one->edit);
	free(one->what);
	engine_draft_free(one->draft);
	free(one);
}

/* ---- its end */

static void finish(struct views_editing *one)
{
	one->is_over = true;
	if (one->session)
		session_dismiss(one->session); /* on_end() follows with its last viewer */
	else
		editing_free(one);
}

/* The file stays if there is something in it that is nowhere else. keeps: also where it is as it was given. */
static void give_up(struct views_editing *one, const struct err *err, bool keeps)
{
	struct view_host *host = one->edits->host;
	struct err why = *err;
	if (keeps || engine_draft_has_changes(one->draft)) {
		size_t n = strlen(why.msg);
		snprintf(why.msg + n, sizeof why.msg - n, "; your text is in %s",
			engine_draft_path(one->draft));
	} else {
		engine_draft_remove(one->draft);
	}
	view_host_failf(host, &why, "Cannot change %s", one->what);
	finish(one);
}

/* ---- the editor */

static void on_editor_end(void *arg, struct session *session)
{
	struct views_editing *one = arg;
	struct view_host *host = one->edits->host;
	struct err err = { 0 };
	size_t n;
	if (!session) { /* its pane was closed */
		one->session = NULL;
		if (!one->is_over && engine_draft_has_changes(one->draft))
			view_host_notef(host, NOTE_WARNING,
				"%s was not changed; what you had saved is in %s", one->what,
				engine_draft_path(one->draft));
		else if (!one->is_over)
			engine_draft_remove(one->draft);
		editing_free(one);
		return;
	}
	if (!session_ended_well(session)) {
		err_set(&err, ERR_OP_CANCELLED, "the editor (%s) ended without success",
			engine_draft_editor());
		give_up(one, &err, false);
		return;
	}
	char *text = engine_draft_read(one->draft, &n, &err);
	if (text)
		engine_edit_save(one->edit, (struct slice){ text, n },
			engine_draft_was_written(one->draft));
	else
		give_up(one, &err, true);
	free(text);
}

static bool open_editor(struct views_editing *one, struct err *err)
{
	struct view_host *host = one->edits->host;
	char *word = x_strndup(engine_draft_editor(), strcspn(engine_draft_editor(), " "));
	const struct session_opts opts = {
		.name = one->what,
		.argv = engine_draft_argv(one->draft),
		.is_local = true,
		.program = path_base(word),
		.on_end = on_editor_end,
		.arg = one,
	};
	one->session = session_open(host->sessions, &opts, err);
	free(word);
	if (!one->session)
		return false;
	struct session *session = one->session;
	const struct view_args args = { .session = session };
	host->ops->open(host, "shell", &args);
	session_unref(session); /* the pane's alone now; with none, this was its end */
	return true;
}

static void take_text(struct views_editing *one, const char *text)
{
	struct err err = { 0 };
	bool ok = engine_draft_write(one->draft, text, &err);
	if (ok && one->session)
		ok = session_run_again(one->session, &err);
	else if (ok)
		ok = open_editor(one, &err);
	if (!ok)
		give_up(one, &err, true);
}

static void on_step(
	void *arg, enum engine_edit_step step, const char *text, const struct err *err)
{
	struct views_editing *one = arg;
	struct view_host *host = one->edits->host;
	if (step == ENGINE_EDIT_TEXT) {
		take_text(one, text);
		return;
	}
	if (step == ENGINE_EDIT_FAILED) {
		give_up(one, err, one->session != NULL);
		return;
	}
	engine_draft_remove(one->draft);
	view_host_notef(host, step == ENGINE_EDIT_DONE ? NOTE_OK : NOTE_INFO,
		step == ENGINE_EDIT_DONE ? "changed %s" : "nothing was changed in %s",
		one->what);
	finish(one);
}

/* ---- life */

bool views_edits_start(
	struct view_host *host, const struct engine_object_id *id, struct err *err)
{
	struct views_editing *one = x_calloc(1, sizeof *one);
	one->edits = host->edits;
	one->what = x_asprintf("%s %s", id->word, id->name);
	DL_APPEND(host->edits->list, one);
	one->draft = engine_draft_new(id->name, err);
	if (one->draft)
		one->edit = engine_edit_start(host->engine, id, on_step, one, err);
	if (one->edit) {
		view_host_notef(host, NOTE_INFO, "reading %s …", one->what);
		return true;
	}
	editing_free(one);
	return false;
}

struct views_edits *views_edits_new(struct view_host *host)
{
	struct views_edits *edits = x_calloc(1, sizeof *edits);
	edits->host = host;
	return edits;
}

void views_edits_free(struct views_edits *edits)
{
	if (!edits)
		return;
	while (edits->list)
		editing_free(edits->list);
	free(edits);
}
