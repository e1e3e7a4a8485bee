// SPDX-License-Identifier: Apache-2.0
/* What to say when a collection is not served: the group's discovery document knows whether it is missing or has other
 * versions only. */
#pragma once

#include <stdbool.h>

struct err;
struct k8s_resource;
struct kube_call;
struct kube_client;

struct kube_version_question {
	const struct k8s_resource *resource;
	void (*done)(
		void *arg, const struct err *why); /* ERR_KUBE_NOT_SERVED, with the words */
	void *arg;
	struct kube_call *call; /* under way */
};

/* False: it cannot be asked; no done() comes. Otherwise one, unless it is cancelled. */
bool kube_version_question_ask(
	struct kube_version_question *question, struct kube_client *client);
void kube_version_question_cancel(struct kube_version_question *question);
