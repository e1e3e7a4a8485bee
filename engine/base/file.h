// SPDX-License-Identifier: Apache-2.0
/* Small local files, whole: read with a limit, write atomically (temp file in the same folder, fsync,
 * rename). XDG folders.
 * Errors: ERR_CONFIG_FILE, ERR_FILE_DENIED, ERR_FILE_NOT_DIR, ERR_LIMIT_RESPONSE, ERR_SYSTEM, errno. */
#pragma once

#include "engine/base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct err;
/* The content, NUL-terminated, *n without the NUL; free(). ERR_LIMIT_RESPONSE over max_bytes. */
char *file_read(const char *path, size_t max_bytes, size_t *n, struct err *err);
bool file_write_atomic(const char *path, struct slice content, mode_t mode, struct err *err);
/* The same for a file that is not there yet: ERR_SYSTEM where it is (EEXIST), and nothing is changed. */
bool file_write_new(const char *path, struct slice content, mode_t mode, struct err *err);
/* The same without waiting for the disk: whole or not there after a kill, maybe old after a power cut. */
bool file_write_replace(const char *path, struct slice content, mode_t mode, struct err *err);
/* Names made, moved and removed in the folder are on the disk. Some file systems cannot do that: no matter. */
void file_sync_dir(const char *dir);
/* Whether name is that of a temp file that file_write_atomic left when it was killed. */
bool file_is_temp(const char *name);
bool file_make_dirs(const char *path, mode_t mode, struct err *err); /* mkdir -p */
/* Ours below the XDG folder (created 0700): "<XDG_STATE_HOME or ~/.local/state>/sandmux". free(). */
enum file_xdg { FILE_CONFIG, FILE_STATE, FILE_CACHE, FILE_RUNTIME };
char *file_xdg_dir(enum file_xdg kind, struct err *err);
char *file_xdg_path(enum file_xdg kind, struct err *err); /* the same, not created */

/* Another program of ours: beside this one, or in ../libexec/sandmux, where an installation keeps what is not for people. Its
 * real path, free(); NULL with ERR_SYSTEM. */
char *file_find_program(const char *name, struct err *err);
