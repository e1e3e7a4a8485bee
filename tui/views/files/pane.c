// SPDX-License-Identifier: Apache-2.0
// One pane of the file browser: order, cursor, marks, names.
#include "tui/views/files/pane.h"

#include "engine/base/mem.h"
#include "engine/base/path.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { LIST_MS = 30 * 1000 };

static void set_string(char **at, const char *text)
{
	char *copy = x_strdup(text);
	free(*at);
	*at = copy;
}

/* ---- places and paths */

struct transfer_place views_files_pane_place(const struct views_files_pane *pane)
{
	return (struct transfer_place){ pane->is_local, pane->uid };
}

const char *views_files_pane_name(const struct views_files_pane *pane)
{
	if (pane->is_local)
		return "local";
	return pane->name ? pane->name : view_host_row_name(pane->host, pane->uid);
}

bool views_files_pane_is_same_place(
	const struct views_files_pane *pane, bool is_local, const char *uid)
{
	if (pane->is_local != is_local)
		return false;
	return is_local || strcmp(pane->uid ? pane->uid : "", uid ? uid : "") == 0;
}

bool views_files_pane_is_root(const struct views_files_pane *pane)
{
	return pane->is_local ? strcmp(pane->path, "/") == 0 : !*pane->path;
}

char *views_files_pane_join(const struct views_files_pane *pane, const char *name)
{
	return *pane->path ? path_join(pane->path, name) : x_strdup(name);
}

bool views_files_pane_place_now(
	const struct views_files_pane *pane, struct files_place *place, struct err *err)
{
	*place = (struct files_place){ .timeout_ms = LIST_MS };
	if (!pane->is_local)
		place->runtime = engine_runtime(pane->host->engine, pane->uid, err);
	return pane->is_local || place->runtime;
}

bool views_files_pane_may(
	const struct views_files_pane *pane, enum access_action action, struct err *err)
{
	struct engine *engine = pane->host->engine;
	if (!pane->is_local)
		return engine_may(engine, action, pane->uid, "", err);
	return !engine_is_read_only(engine) ||
	       err_set(err, ERR_OP_READ_ONLY, "%s is off",
		       action == ACCESS_DELETE_FILES ? "deleting" : "making folders");
}

char *views_files_pane_parent(const struct views_files_pane *pane)
{
	const char *slash = strrchr(pane->path, '/');
	if (!slash)
		return x_strdup("");
	if (slash == pane->path)
		return x_strdup("/");
	return x_strndup(pane->path, (size_t)(slash - pane->path));
}

/* "a/./b/../c" to "a/c". A ".." over the root stays at it, as in a shell. */
static char *flatten(const char *path, bool is_absolute)
{
	struct str out;
	str_init(&out, 64 << 10);
	if (is_absolute)
		str_add_char(&out, '/');
	size_t root = out.n;
	while (*path) {
		size_t n = strcspn(path, "/");
		if (n == 2 && memcmp(path, "..", 2) == 0) {
			while (out.n > root && out.p[out.n - 1] != '/')
				out.n--;
			if (out.n > root)
				out.n--;
			out.p[out.n] = 0;
		} else if (n && !(n == 1 && *path == '.')) {
			if (out.n > root)
				str_add_char(&out, '/');
			str_add_bytes(&out, path, n);
		}
		path += n;
		path += strspn(path, "/");
	}
	return str_take(&out);
}

char *views_files_pane_resolve(
	const struct views_files_pane *pane, const char *typed, struct err *err)
{
	const char *home = getenv("HOME");
	char *whole;
	if (pane->is_local && home && *typed == '~' && (typed[1] == '/' || !typed[1]))
		whole = x_asprintf("%s%s", home, typed + 1);
	else if (*typed == '/')
		whole = x_strdup(typed);
	else
		whole = x_asprintf("%s/%s", pane->path, typed);
	char *flat = flatten(whole, pane->is_local);
	free(whole);
	if (!pane->is_local && !path_check(flat, PATH_READ, err)) {
		free(flat);
		return NULL;
	}
	return flat;
}

/* ---- order */

bool views_files_is_folder(const struct files_entry *entry)
{
	return entry->kind == FILES_FOLDER || entry->kind == FILES_LINK_FOLDER;
}

static const struct files_entry *entry_of(const void *at)
{
	return *(const struct files_entry *const *)at;
}

static int by_folder(const struct files_entry *a, const struct files_entry *b)
{
	return (int)views_files_is_folder(b) - (int)views_files_is_folder(a);
}

static int by_name(const void *a, const void *b)
{
	int order = by_folder(entry_of(a), entry_of(b));
	return order ? order : strcmp(entry_of(a)->name, entry_of(b)->name);
}

static int by_number(const void *a, const void *b, int64_t x, int64_t y)
{
	int order = by_folder(entry_of(a), entry_of(b));
	if (!order) /* the largest first */
		order = (x < y) - (x > y);
	return order ? order : strcmp(entry_of(a)->name, entry_of(b)->name);
}

static int by_size(const void *a, const void *b)
{
	return by_number(a, b, entry_of(a)->size_bytes, entry_of(b)->size_bytes);
}

static int by_time(const void *a, const void *b)
{
	return by_number(a, b, entry_of(a)->modified_s, entry_of(b)->modified_s);
}

static int by_mode(const void *a, const void *b)
{
	return by_number(a, b, entry_of(a)->mode, entry_of(b)->mode);
}

static int (*const orders[])(const void *, const void *) = {
	[FILES_NAME] = by_name,
	[FILES_SIZE] = by_size,
	[FILES_TIME] = by_time,
	[FILES_MODE] = by_mode,
};
_Static_assert(
	sizeof orders / sizeof orders[0] == FILES_COLUMN_COUNT, "an order for each column");

static void turn_round(struct files_entry **entries, size_t n)
{
	for (size_t i = 0; i < n / 2; i++) {
		struct files_entry *kept = entries[i];
		entries[i] = entries[n - 1 - i];
		entries[n - 1 - i] = kept;
	}
}

static bool has_text(const char *name, const char *text)
{
	size_t n = strlen(text);
	for (; *name; name++)
		if (strncasecmp(name, text, n) == 0)
			return true;
	return n == 0;
}

static bool is_shown(const struct views_files_pane *pane, const struct files_entry *entry)
{
	return (pane->shows_hidden || entry->name[0] != '.') &&
	       has_text(entry->name, pane->filter);
}

/* Everything that is shown, in order; the cursor goes to `name` if it is there. */
static void arrange(struct views_files_pane *pane, const char *name)
{
	struct files_listing *listing = &pane->listing;
	free(pane->shown);
	pane->shown = x_calloc(listing->n + 1, sizeof(struct files_entry *));
	pane->n_shown = pane->n_marked = 0;
	for (size_t i = 0; i < listing->n; i++) {
		struct files_entry *entry = &listing->entries[i];
		if (is_shown(pane, entry))
			pane->shown[pane->n_shown++] = entry;
		else
			entry->is_marked = false; /* nothing is marked that cannot be seen */
		pane->n_marked += entry->is_marked;
	}
	qsort(pane->shown, pane->n_shown, sizeof(struct files_entry *), orders[pane->sort]);
	size_t n_folders = 0;
	while (n_folders < pane->n_shown && views_files_is_folder(pane->shown[n_folders]))
		n_folders++;
	if (pane->is_reversed) {
		turn_round(pane->shown, n_folders);
		turn_round(pane->shown + n_folders, pane->n_shown - n_folders);
	}
	for (size_t i = 0; name && i < pane->n_shown; i++)
		if (strcmp(pane->shown[i]->name, name) == 0)
			pane->cursor = i + !views_files_pane_is_root(pane);
	views_files_pane_move(pane, pane->cursor);
}

static char *cursor_name(const struct views_files_pane *pane)
{
	const struct files_entry *entry = views_files_pane_at(pane, pane->cursor);
	return entry ? x_strdup(entry->name) : NULL;
}

static void rearrange(struct views_files_pane *pane)
{
	char *name = cursor_name(pane);
	arrange(pane, name);
	free(name);
	host_dirty(pane->host);
}

void views_files_pane_sort(struct views_files_pane *pane, enum views_files_column column)
{
	pane->is_reversed = pane->sort == column && !pane->is_reversed;
	pane->sort = column;
	rearrange(pane);
}

void views_files_pane_show_hidden(struct views_files_pane *pane, bool on)
{
	pane->shows_hidden = on;
	rearrange(pane);
}

void views_files_pane_filter(struct views_files_pane *pane, const char *text)
{
	set_string(&pane->filter, text);
	rearrange(pane);
}

/* ---- rows, cursor, marks */

bool views_files_pane_is_parent_row(const struct views_files_pane *pane, size_t row)
{
	return row == 0 && !views_files_pane_is_root(pane);
}

size_t views_files_pane_rows(const struct views_files_pane *pane)
{
	return pane->n_shown + !views_files_pane_is_root(pane);
}

struct files_entry *views_files_pane_at(const struct views_files_pane *pane, size_t row)
{
	if (views_files_pane_is_parent_row(pane, row))
		return NULL;
	row -= !views_files_pane_is_root(pane);
	return row < pane->n_shown ? pane->shown[row] : NULL;
}

void views_files_pane_move(struct views_files_pane *pane, size_t row)
{
	size_t n = views_files_pane_rows(pane);
	pane->cursor = row < n ? row : n ? n - 1 : 0;
	host_dirty(pane->host);
}

void views_files_pane_mark(struct views_files_pane *pane, size_t row, bool on)
{
	struct files_entry *entry = views_files_pane_at(pane, row);
	if (!entry || entry->is_marked == on)
		return;
	entry->is_marked = on;
	pane->n_marked += on ? 1 : (size_t)-1;
	host_dirty(pane->host);
}

void views_files_pane_mark_all(struct views_files_pane *pane, bool on)
{
	for (size_t i = 0; i < pane->n_shown; i++)
		pane->shown[i]->is_marked = on;
	pane->n_marked = on ? pane->n_shown : 0;
	host_dirty(pane->host);
}

size_t views_files_pane_search(
	const struct views_files_pane *pane, size_t from, const char *text)
{
	size_t n = views_files_pane_rows(pane), length = strlen(text);
	for (int anywhere = 0; anywhere < 2; anywhere++)
		for (size_t i = 0; i < n; i++) {
			size_t row = (from + i) % n;
			const struct files_entry *entry = views_files_pane_at(pane, row);
			if (entry && (anywhere ? has_text(entry->name, text)
					       : strncasecmp(entry->name, text, length) == 0))
				return row;
		}
	return (size_t)-1;
}

struct files_entry **views_files_pane_chosen(const struct views_files_pane *pane, size_t *n)
{
	struct files_entry **chosen =
		x_calloc(pane->n_marked + 1, sizeof(struct files_entry *));
	struct files_entry *under = views_files_pane_at(pane, pane->cursor);
	*n = 0;
	for (size_t i = 0; i < pane->n_shown && *n < pane->n_marked; i++)
		if (pane->shown[i]->is_marked)
			chosen[(*n)++] = pane->shown[i];
	if (!*n && under)
		chosen[(*n)++] = under;
	return chosen;
}

/* ---- what has been read */

static int by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Marks belong to names. Mostly the folder is as it was and the names are in the same places. */
static void keep_marks(const struct views_files_pane *pane, struct files_listing *next)
{
	const struct files_listing *old = &pane->listing;
	const char **names = NULL;
	size_t n = 0;
	for (size_t i = 0; pane->n_marked && i < next->n; i++) {
		struct files_entry *entry = &next->entries[i];
		if (i < old->n && strcmp(old->entries[i].name, entry->name) == 0) {
			entry->is_marked = old->entries[i].is_marked;
			continue;
		}
		if (!names) {
			names = x_calloc(pane->n_marked, sizeof *names);
			for (size_t k = 0; k < old->n && n < pane->n_marked; k++)
				if (old->entries[k].is_marked)
					names[n++] = old->entries[k].name;
			qsort(names, n, sizeof *names, by_text);
		}
		entry->is_marked =
			bsearch(&entry->name, names, n, sizeof *names, by_text) != NULL;
	}
	free(names);
}

static void read_stop(struct views_files_pane *pane)
{
	files_cancel(pane->read);
	net_loop_timer_disarm(pane->unreachable);
	pane->read = NULL;
	pane->is_reading = false;
	pane->n_read = 0;
}

void views_files_pane_take(struct views_files_pane *pane, const struct err *err,
	struct files_listing *listing_take)
{
	read_stop(pane);
	if (err) {
		pane->err = *err;
		files_listing_clear(&pane->listing);
		arrange(pane, NULL);
		pane->is_complete = false;
	} else {
		char *name = pane->wanted ? pane->wanted : cursor_name(pane);
		pane->wanted = NULL;
		keep_marks(pane, listing_take);
		files_listing_clear(&pane->listing);
		pane->err.code = ERR_NONE;
		pane->listing = *listing_take;
		*listing_take = (struct files_listing){ 0 };
		pane->is_complete = true;
		arrange(pane, name);
		free(name);
	}
	host_dirty(pane->host);
}

static void on_read(void *arg, const struct err *err, struct files_listing *listing)
{
	struct views_files_pane *pane = arg;
	pane->read = NULL;
	if (err && !pane->is_local)
		engine_refused(pane->host->engine, err);
	views_files_pane_take(pane, err, listing);
}

static void on_reading(void *arg, size_t n)
{
	struct views_files_pane *pane = arg;
	pane->n_read = n;
	host_dirty(pane->host);
}

/* There is no runtime to ask: told in a turn of its own. */
static void on_unreachable(void *arg)
{
	struct views_files_pane *pane = arg;
	struct err err = pane->err;
	views_files_pane_take(pane, &err, NULL);
}

static const struct fleet_row *row_of(const struct views_files_pane *pane)
{
	const struct fleet *fleet = engine_fleet(pane->host->engine);
	return fleet && pane->uid ? fleet_find(fleet, pane->uid) : NULL;
}

static bool is_suspended(const struct fleet_row *row)
{
	return row->state == FLEET_SUSPENDED || row->state == FLEET_SUSPENDING;
}

void views_files_pane_read(struct views_files_pane *pane)
{
	const struct fleet_row *row = row_of(pane);
	pane->pod_uid[0] = 0;
	if (row) {
		memcpy(pane->pod_uid, row->pod_uid, sizeof pane->pod_uid);
		set_string(&pane->name, view_host_row_name(pane->host, pane->uid));
		set_string(&pane->namespace_, row->namespace_);
	}
	pane->was_suspended = row && is_suspended(row);
	pane->was_ready = row && row->state == FLEET_READY;
	if (!pane->is_local) /* here what was wrong stays on screen until it is known to be better */
		pane->err.code = ERR_NONE;
	read_stop(pane);
	pane->is_reading = true;
	struct files_place place;
	if (views_files_pane_place_now(pane, &place, &pane->err))
		pane->read = files_list_start(
			pane->host->loop, &place, pane->path, on_reading, on_read, pane);
	else
		net_loop_timer_arm(pane->unreachable, 0);
	host_dirty(pane->host);
}

void views_files_pane_follow(struct views_files_pane *pane)
{
	const struct fleet *fleet = engine_fleet(pane->host->engine);
	if (pane->is_local || !pane->uid || !fleet)
		return;
	const struct fleet_row *row = row_of(pane);
	const char *watched = engine_namespace(pane->host->engine);
	if (!row && *watched && pane->namespace_ && strcmp(watched, pane->namespace_) != 0)
		return; /* the fleet looks elsewhere: nothing is known */
	if (!row && fleet_is_synced(fleet) && pane->err.code != ERR_SANDBOX_DELETED) {
		struct err err;
		err_set(&err, ERR_SANDBOX_DELETED, "the sandbox was deleted");
		views_files_pane_take(pane, &err, NULL);
		return;
	}
	if (!row)
		return;
	bool is_other = is_suspended(row) != pane->was_suspended ||
			strcmp(row->pod_uid, pane->pod_uid) != 0;
	/* what could not be reached may be now */
	bool is_better =
		pane->err.code != ERR_NONE && row->state == FLEET_READY && !pane->was_ready;
	if (is_other || is_better)
		views_files_pane_read(pane);
}

void views_files_pane_go(struct views_files_pane *pane, const char *path, const char *wanted)
{
	char *name = x_strdup(wanted);
	char *where = x_strdup(path); /* it may be our own */
	read_stop(pane);
	files_listing_clear(&pane->listing);
	free(pane->path);
	pane->path = where;
	free(pane->wanted);
	pane->wanted = name;
	set_string(&pane->filter, "");
	pane->cursor = pane->top = 0;
	pane->is_complete = false;
	pane->err.code = ERR_NONE;
	arrange(pane, NULL);
	views_files_pane_read(pane);
}

void views_files_pane_connect(
	struct views_files_pane *pane, bool is_local, const char *uid, const char *path)
{
	char *kept = is_local ? NULL : x_strdup(uid);
	read_stop(pane);
	free(pane->uid);
	free(pane->name);
	free(pane->namespace_);
	pane->name = pane->namespace_ = NULL;
	pane->uid = kept;
	pane->is_local = is_local;
	const char *start =
		is_local ? (pane->host->local_dir ? pane->host->local_dir : "/") : "";
	views_files_pane_go(pane, path ? path : start, NULL);
}

void views_files_pane_poll(struct views_files_pane *pane)
{
	struct transfer_place place = views_files_pane_place(pane);
	if (transfer_queue_has_arrived(
		    pane->host->copies, &pane->seen_arrivals, &place, pane->path))
		views_files_pane_read(pane);
}

void views_files_pane_init(struct views_files_pane *pane, struct view_host *host, bool is_local,
	const char *uid, const char *path)
{
	*pane = (struct views_files_pane){ .host = host };
	pane->unreachable = net_loop_timer_new(host->loop, on_unreachable, pane);
	pane->path = x_strdup("");
	pane->filter = x_strdup("");
	views_files_pane_connect(pane, is_local, uid, path);
}

void views_files_pane_deinit(struct views_files_pane *pane)
{
	read_stop(pane);
	net_loop_timer_free(pane->unreachable);
	files_listing_clear(&pane->listing);
	free(pane->shown);
	free(pane->uid);
	free(pane->name);
	free(pane->namespace_);
	free(pane->path);
	free(pane->filter);
	free(pane->wanted);
}
