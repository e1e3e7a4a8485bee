// SPDX-License-Identifier: Apache-2.0
/*   reading ─▶ editing ─ save ─▶ trying (dryRun) ─▶ writing ─▶ done
 *                 ▲                 │ 409               │ 409
 *                 │                 ▼                   ▼
 *                 └── conflict ── joining (reads it again, joins the changes, tries again)            */
#include "engine/edit.h"

#include "engine/base/json.h"
#include "engine/base/json_merge.h"
#include "engine/base/mem.h"
#include "engine/base/yaml.h"
#include "engine/internal.h"
#include "engine/k8s/resource.h"
#include "engine/kube/client.h"

#include <stdlib.h>
#include <string.h>

enum { JOINS_MAX = 5, CONFLICTS_SHOWN = 20, VALUE_BYTES = 200, TEXT_BYTES_MAX = 64 << 20 };

#define MERGE_PATCH "application/merge-patch+json"
#define WRITE_QUERY "fieldManager=sandmux-edit&fieldValidation=Strict"

struct engine_edit {
	struct engine *engine;
	struct engine_object_id id; /* the texts are ours */
	engine_edit_fn *told;
	void *arg;
	struct engine_object_call *call;
	cJSON *base;       /* the object that was read last, as far as it is edited */
	cJSON *edited;     /* as it is to be */
	char *given;       /* the last text that was given */
	struct err reason; /* why it was given again */
	bool is_trying, was_written;
	int n_joins;
	char *saved; /* to be looked at in the next turn */
	size_t n_saved;
	struct net_loop_timer *later;
	struct str conflicts;
	int n_conflicts;
};

static void tell(struct engine_edit *edit, enum engine_edit_step step, const char *text,
	const struct err *err)
{
	edit->told(edit->arg, step, text, err);
}

/* What nobody edits: whose writes the server notes itself, and what controllers report. */
static cJSON *editable(const cJSON *object)
{
	cJSON *own = cJSON_Duplicate(object, true);
	cJSON *metadata = cJSON_GetObjectItemCaseSensitive(own, "metadata");
	cJSON_DeleteItemFromObjectCaseSensitive(metadata, "managedFields");
	cJSON_DeleteItemFromObjectCaseSensitive(own, "status");
	return own;
}

/* ---- the text */

static void add_comment(struct str *out, const char *text)
{
	str_add(out, "# ");
	for (; *text; text++) {
		str_add_char(out, (unsigned char)*text < ' ' && *text != '\n' ? ' ' : *text);
		if (*text == '\n')
			str_add(out, "# ");
	}
	str_add(out, "\n");
}

/* The lines of an earlier head go: the new one says what is so now. */
static const char *without_head(const char *text)
{
	while (*text == '#' || *text == '\n') {
		const char *end = strchr(text, '\n');
		text = end ? end + 1 : text + strlen(text);
	}
	return text;
}

/* body NULL: of the object. */
static void give(struct engine_edit *edit, const char *body, const struct err *reason)
{
	struct str text, line;
	str_init(&text, TEXT_BYTES_MAX);
	str_init(&line, 8192);
	str_addf(&line, "%s %s", edit->id.word, edit->id.name);
	if (*edit->id.namespace_)
		str_addf(&line, " in namespace %s", edit->id.namespace_);
	str_add(&line,
		"\nSave and leave: the server checks what you have changed. Lines with # in front\n"
		"do not count. Without a change nothing is sent.");
	add_comment(&text, line.p);
	edit->reason = (struct err){ 0 };
	if (reason) {
		edit->reason = *reason;
		str_clear(&line);
		str_addf(&line, "\nNot changed (%s):\n%s", err_name(reason), reason->msg);
		if (edit->n_conflicts)
			str_addf(&line, "\n%s", edit->conflicts.p);
		str_add(&line, "\nMend it and save, or leave without a change to give up.\n");
		add_comment(&text, line.p);
	}
	if (body)
		str_add(&text, without_head(body));
	else
		yaml_format(edit->base, &text);
	free(edit->given);
	edit->given = str_take(&text);
	str_deinit(&line);
	str_deinit(&text);
	tell(edit, ENGINE_EDIT_TEXT, edit->given, reason ? &edit->reason : NULL);
}

static void fail(struct engine_edit *edit, const struct err *err)
{
	tell(edit, ENGINE_EDIT_FAILED, NULL, err);
}

/* ---- what is sent */

static const char *text_at(const cJSON *object, const char *name)
{
	const char *text = json_str(object, "metadata", name, NULL);
	return text ? text : "";
}

/* NULL: there is nothing to change. */
static cJSON *make_patch(const struct engine_edit *edit)
{
	cJSON *patch = json_merge_diff(edit->base, edit->edited);
	cJSON *metadata = cJSON_GetObjectItemCaseSensitive(patch, "metadata");
	cJSON_DeleteItemFromObjectCaseSensitive(metadata, "resourceVersion");
	if (metadata && !metadata->child)
		cJSON_DeleteItemFromObjectCaseSensitive(patch, "metadata");
	if (!patch->child) {
		cJSON_Delete(patch);
		return NULL;
	}
	metadata = cJSON_GetObjectItemCaseSensitive(patch, "metadata");
	if (!cJSON_IsObject(metadata))
		metadata = cJSON_AddObjectToObject(patch, "metadata");
	cJSON_AddStringToObject(metadata, "uid", text_at(edit->base, "uid"));
	cJSON_AddStringToObject(
		metadata, "resourceVersion", text_at(edit->base, "resourceVersion"));
	return patch;
}

static void on_written(void *arg, const struct err *err, const cJSON *object);

static void write_it(struct engine_edit *edit, bool is_trial)
{
	struct err err = { 0 };
	cJSON *patch = make_patch(edit);
	if (!patch) {
		tell(edit, ENGINE_EDIT_UNCHANGED, NULL, NULL);
		return;
	}
	char *body = cJSON_PrintUnformatted(patch);
	char *path = kube_path(edit->id.resource, edit->id.namespace_, edit->id.name, NULL);
	const struct kube_call_opts opts = {
		.method = "PATCH",
		.path = path,
		.query = is_trial ? "dryRun=All&" WRITE_QUERY : WRITE_QUERY,
		.content_type = MERGE_PATCH,
		.body = slice_of(body),
	};
	edit->is_trying = is_trial;
	edit->call = engine_object_call_start(edit->engine, &opts, on_written, edit, &err);
	free(path);
	free(body);
	cJSON_Delete(patch);
	if (!edit->call)
		fail(edit, &err);
}

/* ---- somebody else was faster */

static void on_conflict(void *arg, const char *path, const cJSON *ours, const cJSON *theirs)
{
	struct engine_edit *edit = arg;
	if (edit->n_conflicts++ >= CONFLICTS_SHOWN)
		return;
	char *own = ours ? cJSON_PrintUnformatted(ours) : x_strdup("(removed)");
	char *other = theirs ? cJSON_PrintUnformatted(theirs) : x_strdup("(removed)");
	str_addf(&edit->conflicts, "  %s\n    yours:        %.*s\n    the server's: %.*s\n",
		path, VALUE_BYTES, own, VALUE_BYTES, other);
	free(own);
	free(other);
}

static void on_read_again(void *arg, const struct err *err, const cJSON *object)
{
	struct engine_edit *edit = arg;
	struct err why = { 0 };
	edit->call = NULL;
	if (err) {
		fail(edit, err);
		return;
	}
	if (strcmp(text_at(object, "uid"), text_at(edit->base, "uid")) != 0) {
		err_set(&why, ERR_KUBE_CONFLICT,
			"%s was deleted and made anew while it was edited", edit->id.name);
		fail(edit, &why);
		return;
	}
	cJSON *theirs = editable(object);
	str_clear(&edit->conflicts);
	edit->n_conflicts = 0;
	cJSON *all = json_merge_three(edit->base, edit->edited, theirs, on_conflict, edit);
	cJSON_Delete(edit->base);
	cJSON_Delete(edit->edited);
	edit->base = theirs;
	edit->edited = all;
	if (!edit->n_conflicts) {
		write_it(edit, true);
		return;
	}
	struct str body;
	str_init(&body, TEXT_BYTES_MAX);
	yaml_format(all, &body);
	err_set(&why, ERR_KUBE_CONFLICT,
		"%d of these fields %s changed by somebody else while you edited it.\n"
		"Below is the server's object with your changes. Write the file again to take yours:",
		edit->n_conflicts, edit->n_conflicts == 1 ? "was" : "were");
	give(edit, body.p, &why);
	str_deinit(&body);
}

/* What a person can mend in the text. */
static bool is_about_text(const struct err *err)
{
	return err->code == ERR_KUBE_INVALID || err->code == ERR_KUBE_BAD_REQUEST ||
	       err->code == ERR_KUBE_TOO_LARGE || err->code == ERR_KUBE_QUOTA ||
	       (err->code == ERR_KUBE_FORBIDDEN && !err->denied.verb[0]);
}

static void on_written(void *arg, const struct err *err, const cJSON *object)
{
	struct engine_edit *edit = arg;
	(void)object;
	edit->call = NULL;
	edit->n_conflicts = 0;
	if (!err && edit->is_trying) {
		write_it(edit, false);
	} else if (!err) {
		tell(edit, ENGINE_EDIT_DONE, NULL, NULL);
	} else if (err->code == ERR_KUBE_CONFLICT && edit->n_joins++ < JOINS_MAX) {
		struct err why = { 0 };
		edit->call =
			engine_object_read(edit->engine, &edit->id, on_read_again, edit, &why);
		if (!edit->call)
			fail(edit, &why);
	} else if (is_about_text(err)) {
		give(edit, edit->saved, err);
	} else {
		fail(edit, err);
	}
}

/* ---- what comes from the editor */

static bool is_same_object(const struct engine_edit *edit, const cJSON *read, struct err *err)
{
	static const char *const fields[] = { "apiVersion", "kind", "name", "namespace" };
	for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
		const cJSON *was = i < 2 ? edit->base : json_get(edit->base, "metadata", NULL);
		const cJSON *is = i < 2 ? read : json_get(read, "metadata", NULL);
		const char *a = json_str(was, fields[i], NULL),
			   *b = json_str(is, fields[i], NULL);
		if (a && (!b || strcmp(a, b) != 0))
			return err_set(err, ERR_ARG_INVALID,
				"%s%s cannot be changed: it would be another object",
				i < 2 ? "" : "metadata.", fields[i]);
	}
	return true;
}

static void look(void *arg)
{
	struct engine_edit *edit = arg;
	struct err err = { 0 };
	bool is_as_given = strcmp(without_head(edit->saved), without_head(edit->given)) == 0;
	bool is_insisted = edit->reason.code == ERR_KUBE_CONFLICT && edit->was_written;
	if (is_as_given && edit->reason.code != ERR_NONE && !is_insisted) {
		fail(edit, &edit->reason);
		return;
	}
	if (is_as_given && !is_insisted) {
		tell(edit, ENGINE_EDIT_UNCHANGED, NULL, NULL);
		return;
	}
	const struct slice text = { edit->saved, edit->n_saved };
	cJSON *read = yaml_parse_large(text, ENGINE_EDIT_BYTES_MAX, &err);
	if (read && !cJSON_IsObject(read))
		err_set(&err, ERR_ARG_INVALID, "the text is no object any more");
	else if (read)
		is_same_object(edit, read, &err);
	if (err.code != ERR_NONE) {
		cJSON_Delete(read);
		edit->n_conflicts = 0;
		give(edit, edit->saved, &err);
		return;
	}
	cJSON_Delete(edit->edited);
	edit->edited = editable(read);
	cJSON_Delete(read);
	edit->n_joins = 0;
	write_it(edit, true);
}

void engine_edit_save(struct engine_edit *edit, struct slice text, bool was_written)
{
	edit->was_written = was_written;
	free(edit->saved);
	edit->saved = x_strndup(text.p, text.n);
	edit->n_saved = text.n;
	net_loop_timer_arm(edit->later, 0);
}

/* ---- life */

static void on_read(void *arg, const struct err *err, const cJSON *object)
{
	struct engine_edit *edit = arg;
	edit->call = NULL;
	if (err) {
		fail(edit, err);
		return;
	}
	edit->base = editable(object);
	give(edit, NULL, NULL);
}

struct engine_edit *engine_edit_start(struct engine *engine, const struct engine_object_id *id,
	engine_edit_fn *told, void *arg, struct err *err)
{
	if (!engine_object_may_verb(engine, id, "patch", "", err))
		return NULL;
	struct engine_edit *edit = x_calloc(1, sizeof *edit);
	edit->engine = engine;
	edit->id = (struct engine_object_id){ id->resource,
		x_strdup(id->namespace_ ? id->namespace_ : ""), x_strdup(id->name),
		x_strdup(id->word) };
	edit->told = told;
	edit->arg = arg;
	edit->later = net_loop_timer_new(engine->loop, look, edit);
	str_init(&edit->conflicts, 64 << 10);
	edit->call = engine_object_read(engine, &edit->id, on_read, edit, err);
	if (edit->call)
		return edit;
	engine_edit_free(edit);
	return NULL;
}

void engine_edit_free(struct engine_edit *edit)
{
	if (!edit)
		return;
	engine_object_cancel(edit->call);
	net_loop_timer_free(edit->later);
	cJSON_Delete(edit->base);
	cJSON_Delete(edit->edited);
	str_deinit(&edit->conflicts);
	free((char *)(uintptr_t)edit->id.namespace_);
	free((char *)(uintptr_t)edit->id.name);
	free((char *)(uintptr_t)edit->id.word);
	free(edit->given);
	free(edit->saved);
	free(edit);
}
