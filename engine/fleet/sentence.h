// SPDX-License-Identifier: Apache-2.0
/* A diagnosis under construction: why a sandbox is as it is, in one sentence whose beginning matters most (a list cuts
 * its end), since when, and what to do next. Not for use outside of this folder. */
#pragma once

#include "engine/fleet/store.h"

struct str;

struct fleet_sentence {
	const struct fleet_store *store;
	const struct fleet_claim *claim;
	const struct fleet_sandbox *sandbox;
	const struct fleet_pod *pod;
	struct str *out, *next;
	int64_t *since_ms; /* server's clock; 0: unknown */
};

/* A foreign message without what only repeats; a long one loses its middle, since its cause stands at either end. */
void fleet_sentence_add_message(struct fleet_sentence *s, const char *message);
void fleet_sentence_add_colon(
	struct fleet_sentence *s, const char *message); /* ": " before it; nothing if empty */
/* What to do, instead of what was said before. */
void fleet_sentence_advise(struct fleet_sentence *s, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
const char *fleet_sentence_pod(const struct fleet_sentence *s); /* its name; "" */
/* "SandboxTemplate t", or what else the pod is made from. */
void fleet_sentence_template(const struct fleet_sentence *s, char *out, size_t size);
bool fleet_sentence_has(const char *message, const char *words); /* in any case of letters */

/* refusal.c: what an API server, its webhooks, policies and quotas refused. False if it is none of that. */
bool fleet_refusal_say(struct fleet_sentence *s, const char *message);

/* pod_diagnosis.c: each false if there is nothing to say. */
bool fleet_pod_diagnosis_unscheduled(struct fleet_sentence *s);
bool fleet_pod_diagnosis_container(struct fleet_sentence *s); /* one that waits, or has ended */
bool fleet_pod_diagnosis_verdict(struct fleet_sentence *s);   /* evicted, preempted, lost */
/* The end of a container: "OOMKilled, exit code 137, restarted 4 times". */
void fleet_pod_diagnosis_end(struct fleet_sentence *s);
void fleet_pod_diagnosis_advise_end(struct fleet_sentence *s);

/* event_diagnosis.c: the last warning about an object that is no older than the trouble, which condition dates. */
bool fleet_event_diagnosis_say(struct fleet_sentence *s, const struct fleet_uid *about,
	int64_t created_ms, const struct fleet_condition *condition);
const struct fleet_store_event *fleet_event_diagnosis_last(
	const struct fleet_store *store, const struct fleet_uid *about, const char *reason);
