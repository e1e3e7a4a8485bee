// SPDX-License-Identifier: Apache-2.0
// The command `filter`, and filters that were given a name: "filter.NAME" of what is remembered.
#include "tui/app/internal.h"

#include "engine/base/err.h"
#include "engine/base/mem.h"
#include "engine/base/state_store.h"
#include "engine/base/str.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_BYTES = 48, KEY_BYTES = STATE_STORE_KEY_BYTES };
static const char PREFIX[] = "filter.";

/* One word of letters, digits, '-' and '_'. */
static bool name_is_good(const char *name)
{
	size_t n = 0;
	for (; name[n]; n++)
		if (!isalnum((unsigned char)name[n]) && name[n] != '-' && name[n] != '_')
			return false;
	return n > 0 && n < NAME_BYTES;
}

static char *key_of(const char *name)
{
	return x_asprintf("%s%s", PREFIX, name);
}

static const char *saved(const struct view_host *host, const char *name)
{
	if (!name_is_good(name))
		return NULL;
	char *key = key_of(name);
	const char *text = state_store_get(host->remembered, key);
	free(key);
	return text;
}

static bool keep(struct view_host *host, const char *name, const char *text, struct err *err)
{
	if (!name_is_good(name))
		return err_set(err, ERR_ARG_INVALID,
			"'%.40s' is no name: letters, digits, '-' and '_'", name);
	if (!host->remembered)
		return err_set(err, ERR_OP_UNSUPPORTED, "nothing is remembered here");
	char *key = key_of(name);
	bool ok = state_store_set(host->remembered, key, text);
	free(key);
	return ok || err_set(err, ERR_ARG_INVALID, "no room for one more filter");
}

static bool run_save(
	struct view_host *host, const struct view *view, const char *name, struct err *err)
{
	const char *text = view->class->filter_text ? view->class->filter_text(view) : "";
	if (!*text)
		return err_set(err, ERR_ARG_INVALID, "there is no filter to save: / types one");
	if (view->class->filter_error && *view->class->filter_error(view))
		return err_set(err, ERR_ARG_INVALID, "%s", view->class->filter_error(view));
	if (!keep(host, name, text, err))
		return false;
	view_host_notef(host, NOTE_OK, "filter %s is %s", name, text);
	return true;
}

static bool run_forget(struct view_host *host, const char *name, struct err *err)
{
	if (!saved(host, name))
		return err_set(err, ERR_ARG_INVALID, "there is no filter '%.40s'", name);
	return keep(host, name, NULL, err);
}

static void add_one(void *arg, const char *name, const char *text)
{
	struct str *out = arg;
	str_addf(out, "%s%s: %s", out->n ? "   " : "", name, text);
}

static bool run_list(struct view_host *host)
{
	struct str names;
	str_init(&names, 4096);
	state_store_each(host->remembered, PREFIX, add_one, &names);
	view_host_notef(host, NOTE_INFO, "%s",
		names.n ? names.p : "no filter is saved: filter save NAME keeps the one shown");
	str_deinit(&names);
	return true;
}

/* One that cannot be understood changes nothing. */
static bool apply(struct view *view, const char *text, struct err *err)
{
	char *before = x_strdup(view->class->filter_text ? view->class->filter_text(view) : "");
	view->class->filter(view, text);
	const char *error = view->class->filter_error ? view->class->filter_error(view) : "";
	bool ok = !*error;
	if (!ok) {
		err_set(err, ERR_ARG_INVALID, "%s", error);
		view->class->filter(view, before);
	}
	free(before);
	return ok;
}

/* What follows that word and a blank; NULL: it begins otherwise. */
static const char *after(const char *args, const char *word)
{
	size_t n = strlen(word);
	return strncmp(args, word, n) == 0 && args[n] == ' ' ? args + n + 1 : NULL;
}

bool app_run_filter(void *self, const char *args, struct err *err)
{
	struct workspace *ws = ((struct workspace_client *)self)->workspace;
	struct view_host *host = workspace_host(ws);
	struct view *view = workspace_focused(ws);
	if (strcmp(args, "list") == 0)
		return run_list(host);
	if (after(args, "forget"))
		return run_forget(host, after(args, "forget"), err);
	if (!view->class->filter)
		return err_set(
			err, ERR_OP_UNSUPPORTED, "%s cannot be filtered", view->class->name);
	if (after(args, "save"))
		return run_save(host, view, after(args, "save"), err);
	if (*args)
		return apply(view, saved(host, args) ? saved(host, args) : args, err);
	client_prompt_open(client_of(self), PROMPT_FILTER);
	return true;
}

struct names {
	void (*add)(void *add_arg, const char *candidate);
	void *add_arg;
	const char *before;
	size_t n;
};

static void add_name(void *arg, const char *name, const char *text)
{
	struct names *names = arg;
	(void)text;
	char *line = x_asprintf("%s%s", names->before, name);
	names->add(names->add_arg, line);
	names->n++;
	free(line);
}

void app_complete_filter(void *self, const char *args,
	void (*add)(void *add_arg, const char *candidate), void *add_arg)
{
	struct workspace *ws = ((struct workspace_client *)self)->workspace;
	const struct view_host *host = workspace_host(ws);
	const struct view *view = workspace_focused(ws);
	bool is_forgetting = after(args, "forget") != NULL;
	struct names names = { add, add_arg, is_forgetting ? "forget " : "", 0 };
	state_store_each(host->remembered, PREFIX, add_name, &names);
	if (is_forgetting || after(args, "save"))
		return;
	if (view->class->filter_complete)
		view->class->filter_complete(view, args, add, add_arg);
	add(add_arg, "list");
	add(add_arg, "save ");
	if (names.n)
		add(add_arg, "forget ");
}
