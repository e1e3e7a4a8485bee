// SPDX-License-Identifier: Apache-2.0
/* Whose the other end of a TCP connection on this machine is. */
#pragma once

#include <sys/types.h>

enum { PEER_UNKNOWN = -1 };

/* A netlink socket for api_peer_uid; −1 where there is none. */
int api_peer_open(void);
/* The uid that made the socket at the other end of fd; PEER_UNKNOWN if the kernel does not say (another network
 * namespace, no inet_diag). Some tens of microseconds. */
long api_peer_uid(int netlink, int fd);
