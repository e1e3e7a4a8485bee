// SPDX-License-Identifier: Apache-2.0
/* Folders of pods and volumes below the state directory. What they contain was written by sandboxes. */
#pragma once

#include "local/server/controller/controller.h"

/* Whether there are files of sandboxes, before anything else is known. */
bool kubelet_volumes_are_there(const char *state_dir);
void kubelet_volumes_on_change(struct controller *c, const struct store_change *change);
/* Sorts what is there against the store: deleted by name, kept, or quarantined. Sweeps our temporary files. */
bool kubelet_volumes_open(struct server *s, struct err *err);
/* "<state>/<kind>/<uid>", made if it is missing; free(). A volume that was made before and is missing now is
 * ERR_FILE_NOT_FOUND. */
char *kubelet_volumes_folder(
	struct server *s, const char *kind, const char *uid, struct err *err);
/* Moves it to the trash at once and deletes it in a process of its own. */
void kubelet_volumes_remove(struct server *s, const char *kind, const char *uid);
