// SPDX-License-Identifier: Apache-2.0
/* What a front end remembers from one run to the next: pairs of text in one small file. Never a secret, never anything
 * that cannot be lost.
 *
 * The file may be old, damaged, hostile or not ours: nothing of it is believed but short pairs of printable text, and
 * what is wrong with it is said once. A damaged one is put aside (".damaged"), one of a newer version is left alone.
 * It is written whole and at once (engine/base/file.h), mode 0600. Two programs may share it: what this one has not
 * changed stays as the other one wrote it, of one key the last to write wins.
 *
 * Keys are words with dots: "theme", "files.hidden", "list.sort.sandboxes", "filter.NAME". One thread.
 * Errors: ERR_SYSTEM and those of engine/base/file.h. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct err;
struct state_store;

enum {
	STATE_STORE_VERSION = 1,
	STATE_STORE_KEY_BYTES = 128,
	STATE_STORE_VALUE_BYTES = 4096,
	STATE_STORE_PAIRS_MAX = 500,
};

/* Reads the file; one that is not there is empty. path NULL: nothing is read and nothing kept. Never NULL. */
struct state_store *state_store_new(const char *path);
/* Does not save. NULL is fine. */
void state_store_free(struct state_store *store);
/* What was wrong with the file and what came of it, for a person; "" if nothing. Borrowed. */
const char *state_store_problem(const struct state_store *store);

/* NULL: there is none. Borrowed until the key is set. A store that is NULL has nothing and takes nothing. */
const char *state_store_get(const struct state_store *store, const char *key);
/* value NULL forgets it. False: the pair is too long, not printable UTF-8, or one too many; nothing is changed. */
bool state_store_set(struct state_store *store, const char *key, const char *value);
bool state_store_is_on(const struct state_store *store, const char *key, bool otherwise);
bool state_store_set_on(struct state_store *store, const char *key, bool on);
/* In order of their keys, those that begin with prefix; what fn is given is the rest of the key. It must not set any. */
void state_store_each(const struct state_store *store, const char *prefix,
	void (*fn)(void *arg, const char *rest, const char *value), void *arg);
/* Called after each change, so that somebody saves in their own time. */
void state_store_on_change(struct state_store *store, void (*fn)(void *arg), void *arg);
/* Writes what has changed; true if there was nothing to write, or no file to keep it in. */
bool state_store_save(struct state_store *store, struct err *err);
