// SPDX-License-Identifier: Apache-2.0
/* The parts of the port proxy. Not for use outside of this folder.
 *
 * TCP on the host's loopback ─ accept ─> connection {tcp, local} ─ splice(2) through pipes, both ways
 *
 * Nothing is parsed: the process never looks at a byte that it moves. One thread, epoll, nothing blocks. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	MAX_CONNECTIONS = 512,      /* of one sandbox; more wait in the kernel's queue */
	CONNECTION_DESCRIPTORS = 6, /* two sockets, a pipe for each way */
	OWN_DESCRIPTORS = 64,       /* that are not of a connection */
	PIPE_BYTES = 64 << 10,      /* moved at once */
	TURN_BYTES = 512 << 10,     /* of one connection before the others have their turn */
	LINGER_MS = 2000,           /* how long a client is heard after the daemon has closed */
	SPARE_PIPES = 8,
};

/* What epoll hands back: the first member of everything that is watched. */
struct portproxy_watched {
	void (*ready)(struct portproxy_watched *watched, uint32_t events);
};

struct portproxy_proxy;
struct portproxy_connection;

struct portproxy_listener {
	struct portproxy_watched watched;
	struct portproxy_proxy *proxy;
	int fd; /* listening, TCP */
	int target; /* O_PATH of the daemon's Unix socket: a job may take its name away or over, but not this */
};

struct portproxy_proxy {
	int epoll;
	struct portproxy_listener listeners[2];
	struct portproxy_connection *connections;
	struct portproxy_connection
		*again; /* stopped in the middle for the sake of the others */
	struct portproxy_connection *dead; /* freed after the turn: epoll may still name them */
	size_t n_connections, max_connections;
	bool is_paused;
	int64_t now_ms;            /* monotonic, of this turn */
	int spare[SPARE_PIPES][2]; /* empty pipes */
	int n_spare;
};

/* Takes the accepted descriptor; refuses it (reset) when the daemon cannot be reached. */
void portproxy_connection_open_take(
	struct portproxy_proxy *proxy, const struct portproxy_listener *listener, int fd);
/* Goes on with what was stopped, ends what lingers too long, frees what is dead. Milliseconds until the next time,
 * -1: an event comes first. */
int portproxy_connection_turn(struct portproxy_proxy *proxy);

/* Gives away what the process does not need: privileges, files, system calls other than those that move bytes.
 * False: it is not confined, and must not go on. */
bool portproxy_confine(void);
