// SPDX-License-Identifier: Apache-2.0
/* What WebSocket messages of pods/portforward mean, without I/O.
 *
 * Tunnel, chosen by API servers since 1.31 (SPDY/3.1+portforward.k8s.io): the messages are a byte stream, cut
 * anywhere, of SPDY/3.1 frames. Stream 1 carries the words of an error, stream 3 the bytes.
 * Channels, the older one (v4.channel.k8s.io): byte 0 of a message is the channel (0 bytes, 1 errors); the first
 * message of each is the port, two bytes little-endian. The container runtime takes each message apart byte by
 * byte and grows a buffer for it, which costs several times what the tunnel does.
 *
 * Either way one WebSocket is one TCP connection to the pod, so that TCP's flow control is enough. */
#pragma once

#include "engine/base/str.h"

#include <stdbool.h>
#include <stdint.h>

#define PORTFORWARD_TUNNEL "SPDY/3.1+portforward.k8s.io"
#define PORTFORWARD_CHANNELS "v4.channel.k8s.io"

enum {
	WIRE_HEAD_BYTES = 8,
	WIRE_OPENING_BYTES = 512,
	WIRE_MAX_WORDS_BYTES = 4096,
};

enum kube_wire_end {
	WIRE_CLOSED,   /* the pod closed its end */
	WIRE_REFUSED,  /* words: why */
	WIRE_BROKEN,   /* the stream was reset */
	WIRE_PROTOCOL, /* words: what is wrong */
};

struct kube_wire {
	bool is_tunnel;
	uint16_t port;
	bool is_over, has_port[2];
	/* a frame being read */
	unsigned char head[8], body[8];
	size_t head_bytes, body_bytes, left;
	struct str words;
	/* from wire_read(); after on_end nothing follows */
	void (*on_bytes)(void *arg, struct slice bytes);
	void (*on_answer)(void *arg, struct slice bytes); /* to be sent */
	void (*on_end)(void *arg, enum kube_wire_end end, struct slice words);
	void *arg;
};

void kube_wire_init(struct kube_wire *wire, uint16_t port);
void kube_wire_deinit(struct kube_wire *wire);
/* What to send first; its length, at most WIRE_OPENING_BYTES, or 0. */
size_t kube_wire_opening(const struct kube_wire *wire, unsigned char *into);
/* Writes what stands before n bytes of the user, right before them; its length, at most WIRE_HEAD_BYTES. */
size_t kube_wire_put_head(const struct kube_wire *wire, unsigned char *before, size_t n);
/* One message of the server. */
void kube_wire_read(struct kube_wire *wire, struct slice message);
