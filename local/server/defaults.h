// SPDX-License-Identifier: Apache-2.0
/* What a new backend begins with: the namespace default, a template and a warm pool called local. */
#pragma once

#include <stdbool.h>

struct err;
struct server;

/* Creates the namespace if it is missing; the rest only once in the life of a state directory, so that a
 * template someone deleted stays deleted. */
bool server_defaults_create(struct server *s, struct err *err);
