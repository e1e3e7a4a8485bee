// SPDX-License-Identifier: Apache-2.0
/* Label selectors, equality- and set-based (Kubernetes labels.Parse grammar): checked here so that a typo
 * is a clear message, then sent as text; also matched locally for filters. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct err;
/* A DNS-1123 subdomain of at most 253 bytes: names of objects, prefixes of label keys. */
bool kube_is_dns_subdomain(const char *p, size_t n);

struct kube_selector;
struct kube_selector *kube_selector_parse(
	const char *text, struct err *err); /* ERR_ARG_INVALID with column */
void kube_selector_free(struct kube_selector *selector);
/* get(arg, key) gives the label's value or NULL. */
bool kube_selector_matches(const struct kube_selector *selector,
	const char *(*get)(void *arg, const char *key), void *arg);
