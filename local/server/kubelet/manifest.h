// SPDX-License-Identifier: Apache-2.0
/* A note beside each folder of a volume or a pod, "<state>/<kind>/<UID>.json": whose it is. It is not inside the folder,
 * which belongs to the sandbox. While the database is well nobody reads it. When the database is lost it names the
 * claim and the sandbox, and for a volume it holds their objects, so that they can be made again.
 *
 * Not synced: after a power cut it may be missing or old. */
#pragma once

#include "local/server/store/store.h"

struct server;

/* "volumes" or "pods"; NULL for kinds without a folder. */
const char *kubelet_manifest_kind_of(enum store_kind kind);
void kubelet_manifest_write(struct server *s, const struct store_object *o);
/* Writes again those that name what has changed: a sandbox found its claim, or another spec. */
void kubelet_manifest_on_change(struct server *s, const struct store_change *change);
void kubelet_manifest_remove(const char *state_dir, const char *kind, const char *uid);
/* The objects in it (borrowed from *manifest_out, which the caller deletes): claim, Sandbox and volume claim, in this
 * order, as far as they are there. NULL if there is no manifest that can be read. */
const cJSON *kubelet_manifest_objects(
	const char *state_dir, const char *kind, const char *uid, cJSON **manifest_out);
