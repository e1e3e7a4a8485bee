// SPDX-License-Identifier: Apache-2.0
/* What pods use, asked of metrics.k8s.io/v1beta1 (k8s.io/metrics PodMetrics: containers[].usage with "cpu" and "memory"; the
 * local backend adds "ephemeral-storage", the bytes of the workspace) while somebody looks.
 *
 *   look ── list of the namespace ── table ── on_change ── … usage-interval … ── list …
 *                └─ refused, not served, hanging, broken ── the reason is kept, asked again after minutes
 *
 * The API has no watch and no pages: one answer has every pod of the namespace. It is parsed pod by pod as it comes, and
 * where it is long the next one waits longer (USAGE_BYTES_PER_S); the pods that are on a screen are asked for by name
 * meanwhile. Nothing else waits for any of this.
 * Errors: ERR_KUBE_PROTOCOL, those of engine/base/json.h, those of engine/kube/request.h. */
#pragma once

#include "engine/usage/table.h"

struct err;
struct kube_client;
struct usage_poll;

enum {
	USAGE_BYTES_PER_S =
		128 << 10,    /* of answers, on average: about a thousandth of a core */
	USAGE_SHOWN_MAX = 64, /* pods that are asked for by name */
};

struct usage_poll_opts {
	struct kube_client *client;
	const char *namespace_; /* "" or NULL = all */
	/* At most once an answer: the table's revision or the state is another one. */
	void (*on_change)(void *arg);
	void *arg;
};
struct usage_poll *usage_poll_new(const struct usage_poll_opts *opts);
void usage_poll_free(struct usage_poll *poll);
struct usage_table *usage_poll_table(struct usage_poll *poll); /* lives as long */
void usage_poll_set_namespace(struct usage_poll *poll, const char *namespace_);

/* Somebody looks: asked now if nobody has for a while, and again every usage-interval until nobody has looked for some
 * of them. To be called whenever it is drawn. */
void usage_poll_look(struct usage_poll *poll);
/* These are what is on a screen; at most USAGE_SHOWN_MAX. */
struct usage_pod {
	const char *namespace_, *name;
};
void usage_poll_shown(struct usage_poll *poll, const struct usage_pod *pods, size_t n);
/* Only the pods of usage_poll_shown() are wanted: nothing is listed. */
void usage_poll_only_shown(struct usage_poll *poll);

struct usage_poll_state {
	bool is_asked;    /* somebody looks */
	bool is_known;    /* the last question was answered */
	uint64_t n_lists; /* answers that had every pod */
	int64_t age_ms;   /* since that answer; -1: there was none */
	int64_t again_ms; /* until it is asked again; -1: not waited for */
	const struct err *
		err; /* why it is not known; NULL: not answered yet, or known. Borrowed for this turn */
};
struct usage_poll_state usage_poll_state_of(const struct usage_poll *poll);
