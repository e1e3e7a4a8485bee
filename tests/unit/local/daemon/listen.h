// SPDX-License-Identifier: Apache-2.0
/* A listening socket on loopback, at a port that is free. Header-only. */
#pragma once

#include "tests/unit/unit.h"

#include <arpa/inet.h>
#include <sys/socket.h>

static inline int listen_anywhere(uint16_t *port)
{
	struct sockaddr_in address = { .sin_family = AF_INET };
	socklen_t n = sizeof address;
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	assert_int_equal(bind(fd, (struct sockaddr *)&address, n), 0);
	assert_int_equal(listen(fd, 64), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &n), 0);
	*port = ntohs(address.sin_port);
	return fd;
}
