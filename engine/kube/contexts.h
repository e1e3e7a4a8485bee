// SPDX-License-Identifier: Apache-2.0
/* All contexts of the kubeconfig files, as they stand there: read without certificates and credentials, which nobody needs to choose
 * one. Which one is current is written as kubectl does it: into the first file that says so (else the first file), under its lock
 * file, whole or not at all; nothing else in the file changes. Source: client-go clientcmd ModifyConfig, lockFile.
 * Errors: ERR_ARG_INVALID, ERR_CONFIG_KUBECONFIG, ERR_CONFIG_NONE, ERR_OP_BUSY (somebody else is at it), errno, those of
 * engine/base/file.h, those of engine/kube/config.h. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct err;

struct kube_context {
	const char *name, *cluster, *user, *namespace_, *server; /* "" where it is not said */
	bool is_current;
};
struct kube_contexts;
/* kubeconfig: one file, instead of KUBECONFIG; or NULL. */
struct kube_contexts *kube_contexts_read(const char *kubeconfig, struct err *err);
void kube_contexts_free(struct kube_contexts *contexts); /* NULL is fine */
size_t kube_contexts_count(const struct kube_contexts *contexts);
const struct kube_context *kube_contexts_at(const struct kube_contexts *contexts, size_t index);
bool kube_contexts_use(const char *kubeconfig, const char *name, struct err *err);
