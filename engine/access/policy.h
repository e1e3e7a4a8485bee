// SPDX-License-Identifier: Apache-2.0
/* The rights that what people do here needs, as rows: what the doctor asks about, what an action needs, and the words for
 * what is refused.
 * Errors: ERR_OP_READ_ONLY. */
#pragma once

#include "engine/access/access.h"

struct k8s_resource;
struct str;

enum access_action {
	ACCESS_CREATE,
	ACCESS_DELETE,
	ACCESS_SUSPEND, /* and resume */
	ACCESS_EXTEND,
	ACCESS_SHELL,
	ACCESS_FILES,
	ACCESS_MAKE_FOLDER,
	ACCESS_DELETE_FILES,
	ACCESS_ACTION_COUNT,
};
/* It changes what is in the cluster; the others go into a sandbox. */
bool access_is_cluster_change(enum access_action action);

/* A right, and what it is needed for. */
struct access_right {
	const char *verb;
	const struct k8s_resource *resource;
	const char *subresource; /* "" = none */
	const char *needed_for;
};
extern const struct access_right access_rights[];
extern const size_t access_n_rights;
struct access_attributes access_right_attributes(const struct access_right *right);

/* access_opts.first: what the commands of a person need; the others show by themselves in the watches. False: no more. */
bool access_first(size_t i, struct access_attributes *out);

/* False in read-only mode: ERR_OP_READ_ONLY. */
bool access_check_read_only(
	const struct access *access, enum access_action action, struct err *err);
/* Errors: ERR_KUBE_FORBIDDEN, ERR_PORTFWD_DENIED, with err->denied. */
struct access_target {
	const char *namespace_;
	bool is_sandbox;   /* a Sandbox without claim */
	bool is_tunnelled; /* reached by port-forward */
};
bool access_check_rights(struct access *access, enum access_action action,
	const struct access_target *target, struct err *err);

/* What may not be read: "not allowed: list pods in namespace x", and the rules that a Role needs for it. Nothing is added where
 * there is nothing. namespace_ "" = all. */
struct access_refusal {
	const struct k8s_resource *resource;
	const struct err *err; /* NULL: it may be read */
	bool is_polled;        /* it may be listed, and is listed again and again */
};
void access_refusals_format(const struct access_refusal *refusals, size_t n,
	const char *namespace_, struct str *out, struct str *fix);
