// SPDX-License-Identifier: Apache-2.0
/* Writes that are told and not made: of one client, all of them, since every request passes here. A write is what is neither GET nor
 * HEAD nor a review of rights.
 *   client: nothing is sent; the answer is the body itself as far as it goes, so that whoever asks goes on to its next request
 *   server: it is sent with dryRun=All (Kubernetes API conventions): admission and validation look at it, nothing is kept
 * Errors: none. */
#pragma once

#include "engine/base/str.h"

#include <stdbool.h>

enum kube_dry_run { KUBE_DRY_RUN_OFF, KUBE_DRY_RUN_CLIENT, KUBE_DRY_RUN_SERVER };

/* As it would be sent; query without '?', "" for none. Borrowed for the call. */
struct kube_write {
	const char *method, *path, *query, *content_type;
	struct slice body;
	struct slice answer; /* server: what it has said to it, also a refusal; n 0: nothing */
};
/* client: when it would be sent; server: when it is answered. */
typedef void kube_write_fn(void *arg, const struct kube_write *write);

bool kube_is_write(const char *method, const char *path);
/* The query with dryRun=All; free(). query may be NULL. */
char *kube_dry_run_query(const char *query);
/* A body with options (DeleteOptions) beats the query: then they have dryRun as well. NULL: the body stays as it is; free(). */
char *kube_dry_run_body(const char *method, struct slice body);
/* What the client answers itself to a write, as JSON; free(). */
char *kube_dry_run_answer(const struct kube_write *write);
