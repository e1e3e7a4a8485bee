// SPDX-License-Identifier: Apache-2.0
// What the keys of the file browser do.
#include "tui/views/files/view.h"

#include "engine/base/clock.h"
#include "engine/base/map.h"
#include "engine/base/num.h"
#include "engine/base/path.h"
#include "engine/base/state_store.h"
#include "tui/widgets/cursor_motion.h"
#include "tui/widgets/dialog.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAMES_IN_QUESTION = 8 };

/* A dialog's hold on the view: either may go first. */
struct views_files_ask {
	struct views_files_ask *prev, *next;
	struct views_files *files; /* NULL: it has gone */
	bool (*answer)(struct views_files *files, const char *text, struct err *err);
};

/* ---- dialogs with one field */

static void ask_free(void *arg)
{
	struct views_files_ask *ask = arg;
	if (ask->files)
		DL_DELETE(ask->files->asks, ask);
	free(ask);
}

void views_files_asks_forget(struct views_files *files)
{
	struct views_files_ask *ask, *after;
	DL_FOREACH_SAFE(files->asks, ask, after) {
		DL_DELETE(files->asks, ask);
		ask->files = NULL;
	}
}

/* What cannot be done keeps the question open, with what was typed and why. */
static bool do_it(void *arg, struct widget_dialog *dialog, int *field, struct err *err)
{
	struct views_files_ask *ask = arg;
	*field = 0;
	return !ask->files || ask->answer(ask->files, widget_dialog_field(dialog, 0), err);
}

static struct widget_dialog *text_dialog(struct views_files *files, const char *title,
	bool (*answer)(struct views_files *files, const char *text, struct err *err))
{
	struct views_files_ask *ask = x_calloc(1, sizeof *ask);
	ask->files = files;
	ask->answer = answer;
	DL_APPEND(files->asks, ask);
	struct widget_dialog *dialog = widget_dialog_new(title, NULL, ask, ask_free);
	widget_dialog_set_check(dialog, do_it);
	return dialog;
}

static void show_dialog(struct views_files *files, struct widget_dialog *dialog, const char *ok)
{
	widget_dialog_add_button(dialog, ok);
	widget_dialog_add_button(dialog, "&Cancel");
	files->view.host->ops->push_dialog(files->view.host, dialog);
}

/* ---- moving about */

static bool run_side(void *self, const char *args, struct err *err)
{
	struct views_files *files = self;
	(void)args;
	(void)err;
	files->active = !files->active;
	host_dirty(files->view.host);
	return true;
}

static void leave(struct views_files_pane *pane)
{
	if (views_files_pane_is_root(pane))
		return;
	char *parent = views_files_pane_parent(pane);
	char *name = x_strdup(path_base(pane->path));
	views_files_pane_go(pane, parent, name);
	free(parent);
	free(name);
}

static void show_entry(struct views_files *files, const struct files_entry *entry)
{
	struct views_files_pane *pane = files_active(files);
	char *path = views_files_pane_join(pane, entry->name);
	char size[NUM_SIZE_BYTES], date[CLOCK_RFC3339_BYTES];
	struct widget_dialog *dialog = widget_dialog_new(entry->name, NULL, NULL, NULL);
	widget_dialog_add_textf(dialog, "%s:%s%s", views_files_pane_name(pane),
		pane->is_local ? "" : "/", path);
	if (entry->size_bytes >= 0)
		widget_dialog_add_textf(dialog, "size      %s (%lld bytes)",
			num_format_size((uint64_t)entry->size_bytes, size),
			(long long)entry->size_bytes);
	if (entry->modified_s >= 0)
		widget_dialog_add_textf(dialog, "modified  %s",
			clock_format_rfc3339(entry->modified_s * 1000000000, 0, date));
	if (entry->mode >= 0)
		widget_dialog_add_textf(dialog, "mode      %04o", (unsigned)entry->mode);
	widget_dialog_add_button(dialog, "&Close");
	files->view.host->ops->push_dialog(files->view.host, dialog);
	free(path);
}

void views_files_enter(struct views_files *files)
{
	struct views_files_pane *pane = files_active(files);
	const struct files_entry *entry = views_files_pane_at(pane, pane->cursor);
	if (views_files_pane_is_parent_row(pane, pane->cursor)) {
		leave(pane);
	} else if (entry && views_files_is_folder(entry)) {
		char *path = views_files_pane_join(pane, entry->name);
		views_files_pane_go(pane, path, NULL);
		free(path);
	} else if (entry) {
		show_entry(files, entry);
	}
}

static bool run_enter(void *self, const char *args, struct err *err)
{
	(void)args;
	(void)err;
	views_files_enter(self);
	return true;
}

static bool run_leave(void *self, const char *args, struct err *err)
{
	(void)args;
	(void)err;
	leave(files_active(self));
	return true;
}

static bool go_to(struct views_files *files, const char *typed, struct err *err)
{
	struct views_files_pane *pane = files_active(files);
	char *path = views_files_pane_resolve(pane, *typed ? typed : "/", err);
	if (path)
		views_files_pane_go(pane, path, NULL);
	free(path);
	return path != NULL;
}

static bool run_cd(void *self, const char *args, struct err *err)
{
	struct views_files *files = self;
	struct views_files_pane *pane = files_active(files);
	if (*args)
		return go_to(files, args, err);
	struct widget_dialog *dialog = text_dialog(files, "Go to a folder", go_to);
	char *now = x_asprintf("%s%s", pane->is_local ? "" : "/", pane->path);
	widget_dialog_add_field(dialog, "path", now);
	free(now);
	show_dialog(files, dialog, "&Go");
	return true;
}

static bool run_move(void *self, const char *args, struct err *err)
{
	struct views_files_pane *pane = files_active(self);
	size_t at = pane->cursor;
	if (!widget_cursor_motion(args, pane->rows_shown, SIZE_MAX, &at, err))
		return false;
	views_files_pane_move(pane, at);
	return true;
}

static bool run_mark(void *self, const char *args, struct err *err)
{
	struct views_files_pane *pane = files_active(self);
	(void)err;
	if (strcmp(args, "all") == 0) { /* again: none */
		views_files_pane_mark_all(pane, pane->n_marked < pane->n_shown);
	} else if (strcmp(args, "none") == 0) {
		views_files_pane_mark_all(pane, false);
	} else {
		const struct files_entry *entry = views_files_pane_at(pane, pane->cursor);
		if (entry)
			views_files_pane_mark(pane, pane->cursor, !entry->is_marked);
		views_files_pane_move(pane, pane->cursor + 1);
	}
	return true;
}

static bool run_hidden(void *self, const char *args, struct err *err)
{
	struct views_files *files = self;
	bool on = !files_active(files)->shows_hidden;
	(void)args;
	(void)err;
	for (int i = 0; i < 2; i++)
		views_files_pane_show_hidden(&files->panes[i], on);
	state_store_set_on(files->view.host->remembered, FILES_HIDDEN_KEY, on);
	return true;
}

static bool run_refresh(void *self, const char *args, struct err *err)
{
	struct views_files *files = self;
	(void)args;
	(void)err;
	for (int i = 0; i < 2; i++)
		views_files_pane_read(&files->panes[i]);
	return true;
}

static bool run_sort(void *self, const char *args, struct err *err)
{
	static const char *const names[] = { "name", "size", "time", "mode" };
	_Static_assert(sizeof names / sizeof names[0] == FILES_COLUMN_COUNT, "a name for each");
	for (int i = 0; i < FILES_COLUMN_COUNT; i++)
		if (strcmp(args, names[i]) == 0) {
			views_files_pane_sort(files_active(self), (enum views_files_column)i);
			return true;
		}
	return err_set(err, ERR_ARG_INVALID, "sort name, size, time or mode");
}

void views_files_search_begin(struct views_files *files)
{
	files->is_searching = true;
	widget_edit_set(&files->search, "");
	host_dirty(files->view.host);
}

static bool run_search(void *self, const char *args, struct err *err)
{
	(void)args;
	(void)err;
	views_files_search_begin(self);
	return true;
}

/* ---- another sandbox on the other side */

/* "namespace/name", or a name in the namespace that is looked at; when that is all of them, in any. */
static const struct fleet_row *find_row(const struct view_host *host, const struct fleet *fleet,
	const char *name, struct err *err)
{
	const char *namespace_ = host->ops->namespace_(host), *slash = strchr(name, '/');
	if (*namespace_)
		return fleet_find_name(fleet, namespace_, name, err);
	if (slash && strncmp(name, "sandbox/", strlen("sandbox/")) != 0) {
		char *own = x_strndup(name, (size_t)(slash - name));
		const struct fleet_row *row = fleet_find_name(fleet, own, slash + 1, err);
		free(own);
		return row;
	}
	const struct fleet_row *found = NULL;
	for (size_t i = 0; i < fleet_count(fleet); i++) {
		const struct fleet_row *row = fleet_at(fleet, i);
		if (strcmp(*row->claim ? row->claim : row->sandbox, name) != 0)
			continue;
		if (found) {
			err_set(err, ERR_ARG_INVALID,
				"%s is in several namespaces: write %s/%s", name,
				row->namespace_, name);
			return NULL;
		}
		found = row;
	}
	if (!found)
		err_set(err, ERR_SANDBOX_NOT_FOUND,
			fleet_is_synced(fleet)
				? "there is no sandbox %s"
				: "the sandboxes have not been read yet: %s is not known",
			name);
	return found;
}

static bool connect_other_side(struct views_files *files, const char *name, struct err *err)
{
	struct view_host *host = files->view.host;
	struct fleet *fleet = engine_fleet(host->engine);
	struct views_files_pane *other = files_other(files);
	if (!*name || strcmp(name, "local") == 0) {
		views_files_pane_connect(other, true, NULL, NULL);
		return true;
	}
	if (!fleet) { /* there is only the one */
		views_files_pane_connect(other, false, NULL, NULL);
		return true;
	}
	const struct fleet_row *row = find_row(host, fleet, name, err);
	if (row)
		views_files_pane_connect(other, false, row->uid, NULL);
	return row != NULL;
}

static void complete_connect(void *self, const char *args,
	void (*add)(void *add_arg, const char *candidate), void *add_arg)
{
	const struct views_files *files = self;
	const struct view_host *host = files->view.host;
	const struct fleet *fleet = engine_fleet(host->engine);
	const char *namespace_ = host->ops->namespace_(host);
	(void)args;
	add(add_arg, "local");
	for (size_t i = 0; fleet && i < fleet_count(fleet); i++) {
		const struct fleet_row *row = fleet_at(fleet, i);
		bool is_here = !*namespace_ || strcmp(row->namespace_, namespace_) == 0;
		if (row->state == FLEET_READY && is_here)
			add(add_arg, fleet_row_name(row));
	}
}

static bool run_connect(void *self, const char *args, struct err *err)
{
	struct views_files *files = self;
	struct view_host *host = files->view.host;
	struct fleet *fleet = engine_fleet(host->engine);
	if (*args)
		return connect_other_side(files, args, err);
	if (!fleet) { /* one sandbox: nothing to choose */
		struct views_files_pane *other = files_other(files);
		views_files_pane_connect(other, !other->is_local, NULL, NULL);
		return true;
	}
	struct widget_dialog *dialog = text_dialog(files, "The other side", connect_other_side);
	const char *namespace_ = host->ops->namespace_(host);
	int shown = 0;
	widget_dialog_add_text(
		dialog, "A sandbox by its name; empty or 'local': this machine.");
	if (!fleet_is_synced(fleet))
		widget_dialog_add_text(dialog, "The sandboxes have not been read yet.");
	for (size_t i = 0; i < fleet_count(fleet) && shown < NAMES_IN_QUESTION; i++) {
		const struct fleet_row *row = fleet_at(fleet, i);
		bool is_here = !*namespace_ || strcmp(row->namespace_, namespace_) == 0;
		if (row->state != FLEET_READY || !is_here)
			continue;
		widget_dialog_add_textf(dialog, "  %s%s%s", *namespace_ ? "" : row->namespace_,
			*namespace_ ? "" : "/", view_host_row_name(host, row->uid));
		shown++;
	}
	widget_dialog_add_field(dialog, "name", "");
	show_dialog(files, dialog, "C&onnect");
	return true;
}

/* ---- copying, deleting, making */

static bool run_copy(void *self, const char *args, struct err *err)
{
	struct views_files *files = self;
	struct views_files_pane *from = files_active(files), *to = files_other(files);
	(void)args;
	size_t n;
	struct files_entry **chosen = views_files_pane_chosen(from, &n);
	char **paths = x_calloc(n + 1, sizeof *paths);
	int64_t *sizes = x_calloc(n + 1, sizeof *sizes);
	for (size_t i = 0; i < n; i++) {
		paths[i] = views_files_pane_join(from, chosen[i]->name);
		sizes[i] = views_files_is_folder(chosen[i]) ? -1 : chosen[i]->size_bytes;
	}
	struct transfer_request request = {
		.from = views_files_pane_place(from),
		.to = views_files_pane_place(to),
		.paths = (const char *const *)paths,
		.sizes = sizes,
		.n = n,
		.to_dir = to->path,
	};
	bool ok = transfer_queue_start(files->view.host->copies, &request, err);
	for (size_t i = 0; i < n; i++)
		free(paths[i]);
	free(paths);
	free(sizes);
	free(chosen);
	if (ok)
		views_files_pane_mark_all(from, false);
	return ok;
}

static void on_deleted(void *arg, size_t n_deleted)
{
	struct views_files *files = arg;
	(void)n_deleted;
	files->deletion = NULL;
	run_refresh(files, "", NULL);
}

static bool run_delete(void *self, const char *args, struct err *err)
{
	struct views_files *files = self;
	(void)args;
	if (files->deletion)
		return err_set(err, ERR_OP_BUSY, "still busy with the last deletion");
	files->deletion = views_files_delete_start(files_active(files), on_deleted, files, err);
	return files->deletion != NULL;
}

static void on_made(void *arg, const struct err *err)
{
	struct views_files *files = arg;
	struct views_files_pane *pane = &files->panes[files->making_in];
	files->making = NULL;
	if (err)
		view_host_failf(files->view.host, err, "Cannot make the folder");
	else if (pane->is_local && strcmp(pane->path, files->made_dir) == 0)
		views_files_pane_go(pane, pane->path, files->made_name);
	if (err || !pane->is_local)
		run_refresh(files, "", NULL);
}

/* What can be seen to be there is refused while the question is still open. */
static bool check_name(const struct views_files_pane *pane, const char *name, const char *path,
	struct err *err)
{
	if (!path_is_safe_name(name, strlen(name)))
		return err_set(err, ERR_ARG_INVALID, "'%s' is no name for a folder", name);
	for (size_t i = 0; pane->is_local && i < pane->listing.n; i++)
		if (strcmp(pane->listing.entries[i].name, name) == 0)
			return err_set_errno(err, EEXIST, "%s", path);
	return true;
}

static void keep_made(struct views_files *files, const char *dir, const char *name)
{
	free(files->made_dir);
	free(files->made_name);
	files->made_dir = x_strdup(dir);
	files->made_name = x_strdup(name);
	files->making_in = files->active;
}

static bool make_folder(struct views_files *files, const char *name, struct err *err)
{
	struct views_files_pane *pane = files_active(files);
	struct files_place place;
	if (!views_files_pane_may(pane, ACCESS_MAKE_FOLDER, err))
		return false;
	char *path = views_files_pane_join(pane, name);
	bool ok = check_name(pane, name, path, err);
	if (ok && files->making)
		ok = err_set(err, ERR_OP_BUSY, "still making another folder");
	if (ok && views_files_pane_place_now(pane, &place, err)) {
		keep_made(files, pane->path, name);
		files->making = files_mkdir_start(
			files->view.host->loop, &place, path, on_made, files, err);
	}
	free(path);
	return ok && files->making;
}

static bool run_mkdir(void *self, const char *args, struct err *err)
{
	struct views_files *files = self;
	if (*args)
		return make_folder(files, args, err);
	struct widget_dialog *dialog = text_dialog(files, "New folder", make_folder);
	widget_dialog_add_field(dialog, "name", "");
	show_dialog(files, dialog, "&Make");
	return true;
}

bool views_files_can(const struct view *view, const char *command, struct err *err)
{
	const struct views_files_pane *pane = files_active((const struct views_files *)view);
	if (strcmp(command, "delete") == 0)
		return views_files_pane_may(pane, ACCESS_DELETE_FILES, err);
	return strcmp(command, "mkdir") != 0 ||
	       views_files_pane_may(pane, ACCESS_MAKE_FOLDER, err);
}

const struct view_command views_files_commands[FILES_COMMANDS] = {
	{ "side", "", "the other side", .run = run_side },
	{ "enter", "", "open the folder, or look at the file", .run = run_enter },
	{ "leave", "", "the folder above", .run = run_leave },
	{ "cd", "[PATH]", "go to a folder", .run = run_cd },
	{ "move", "up|down|page-up|page-down|first|last", "move the cursor", .run = run_move },
	{ "mark", "[all|none]", "mark an entry, all that are shown, or none", .run = run_mark },
	{ "hidden", "", "show or hide dot files", .run = run_hidden },
	{ "refresh", "", "read both folders again", .run = run_refresh },
	{ "sort", "name|size|time|mode", "sort by a column; the same again reverses",
		.run = run_sort },
	{ "search", "", "go to a name while it is typed", .run = run_search },
	{ "connect", "[NAME|local]", "the other side becomes another sandbox, or this machine",
		.run = run_connect, .complete = complete_connect },
	{ "copy", "", "copy what is marked (or under the cursor) to the other side",
		.run = run_copy },
	{ "delete", "", "delete what is marked or under the cursor (asks)", .run = run_delete },
	{ "mkdir", "[NAME]", "make a folder", .run = run_mkdir },
};
