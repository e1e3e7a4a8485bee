// SPDX-License-Identifier: Apache-2.0
/* May this user do that? By read-only mode, and by the server's own access reviews, whose verdicts are kept for each
 * namespace and any resource; a "no" is asked about again after some minutes. Also what a refusal taught.
 * Errors: ERR_KUBE_FORBIDDEN, ERR_OP_READ_ONLY. */
#pragma once

#include "engine/access/review.h"
#include "engine/base/err.h"

#include <stddef.h>
#include <stdint.h>

struct access;
struct net_loop;

struct access_opts {
	struct net_loop *loop;
	struct kube_client *kube; /* NULL: nobody to ask, so nothing is known */
	bool read_only;
	/* What is asked about each namespace as soon as anything is, before it is needed: the i-th; false: no more. NULL:
	 * nothing. */
	bool (*first)(size_t i, struct access_attributes *out);
	void (*on_change)(void *arg); /* a verdict is another; in a turn of its own */
	void *arg;
};
struct access *access_new(const struct access_opts *opts);
void access_free(struct access *access);
bool access_is_read_only(const struct access *access);
/* What is looked at, "" = all namespaces: who looks at all mostly has the same rights in all of them, and one question for
 * all comes first. */
void access_set_scope(struct access *access, const char *namespace_);

/* As far as is known; asks if it is not. namespace_ "" = all. */
bool access_is_denied(
	struct access *access, const char *namespace_, const struct access_attributes *about);
/* A refusal of the server (struct err's denied): a "no" from now on. */
void access_learn(struct access *access, const struct err_denied *denied);
uint64_t access_revision(const struct access *access); /* grows with each change */
void access_forget(struct access *access);             /* everything is asked again */

/* May I VERB that in namespace_ ("" = all; of a resource without namespaces: "")? True also while nothing is known, and where
 * the server answers no reviews: whoever tries is told then. False: ERR_OP_READ_ONLY (verbs that change something), or
 * ERR_KUBE_FORBIDDEN with err->denied. */
bool access_may(struct access *access, const char *namespace_,
	const struct access_attributes *about, struct err *err);
/* The same of rights alone, with another code (ERR_PORTFWD_DENIED). */
bool access_may_as(struct access *access, const char *namespace_,
	const struct access_attributes *about, enum err_code code, struct err *err);
