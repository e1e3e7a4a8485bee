// SPDX-License-Identifier: Apache-2.0
/* The Node object: this machine, as its pods name it. */
#pragma once

#include <stdbool.h>

struct err;
struct server;

/* Makes it, and says anew what the machine has. At each start. */
bool server_node_update(struct server *s, struct err *err);
