// SPDX-License-Identifier: Apache-2.0
/* The way out when a start was refused because of the store (sandmux-locald --recover). */
#pragma once

#include <stdbool.h>

struct err;
struct str;

/* Moves the database aside, into "<state>/quarantine/store-<date>", and makes a new one of what can be read and of the
 * manifests beside the folders. Folders whose object is lost all the same go to the quarantine. Says in report, line
 * by line, what was done. The caller holds the lock; no backend runs. Cut short at any point, it can be repeated.
 * A database of a newer schema is left alone. */
bool server_recover_run(const char *state_dir, struct str *report, struct err *err);
