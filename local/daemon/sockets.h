// SPDX-License-Identifier: Apache-2.0
/* Where the program listens: in a folder, on descriptors that it was given, or at an address. */
#pragma once

#include "local/daemon/arguments.h"

#include <stdbool.h>

/* Sets both descriptors of args->daemon. False: a line on stderr has said why. */
bool daemon_sockets_open(struct daemon_arguments *args);
/* "rest=127.0.0.1:8080 grpc=127.0.0.1:9090" on stdout. */
void daemon_sockets_print(const struct daemon_arguments *args);
