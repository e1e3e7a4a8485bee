// SPDX-License-Identifier: Apache-2.0
/* What names may look like (k8s.io/apimachinery/pkg/util/validation): objects, label keys and label values. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* A DNS-1123 subdomain of at most 253 bytes: names of objects, prefixes of label keys. */
bool k8s_is_dns_subdomain(const char *p, size_t n);
/* 1 to 63 of [-A-Za-z0-9_.] with a letter or digit at both ends: the name part of a key, a value that is not empty. */
bool k8s_is_qualified_name(const char *p, size_t n);
/* "[prefix/]name": keys of labels and annotations, finalizers. */
bool k8s_is_label_key(const char *p, size_t n);
bool k8s_is_label_value(const char *p, size_t n);
