// SPDX-License-Identifier: Apache-2.0
/* SPDY/3.1 as kubectl and client-go speak it to pods/portforward, exec and attach (the SPDY Protocol draft 3.1, sections 2 and
 * 3), the server's side, without I/O. Streams are opened by the client alone.
 *
 * Header blocks are one zlib stream a direction, with the dictionary of the draft (section 2.6.10.1). Three names of them are
 * read: streamtype, port, requestid. There is no flow control in practice: Go's library neither keeps nor announces windows,
 * so whoever cannot take more stops reading the connection.
 *
 * Limits: frames of SPDY_MAX_CONTROL_BYTES for control, a header block of SPDY_MAX_HEADER_BYTES once inflated. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct evbuffer;
struct api_spdy;

enum {
	SPDY_MAX_CONTROL_BYTES = 32 << 10,
	SPDY_MAX_HEADER_BYTES = 64 << 10,
	SPDY_VALUE_BYTES = 64,
};

/* Values that are longer than fits are cut; "" if the name did not come. */
struct api_spdy_headers {
	char type[SPDY_VALUE_BYTES], port[SPDY_VALUE_BYTES], request_id[SPDY_VALUE_BYTES];
};

struct api_spdy_callbacks {
	/* A stream is opened; false: it is refused (reset). headers: borrowed. */
	bool (*on_stream)(void *arg, uint32_t id, const struct api_spdy_headers *headers);
	/* Bytes of any stream, also of one that is not known (any more): the caller looks. */
	void (*on_data)(void *arg, uint32_t id, const void *bytes, size_t n);
	void (*on_fin)(void *arg, uint32_t id); /* the client sends no more on it */
	void (*on_reset)(void *arg, uint32_t id);
	void (*on_goaway)(void *arg);
};

/* What is to be sent is added to out (borrowed). */
struct api_spdy *api_spdy_new(
	struct evbuffer *out, const struct api_spdy_callbacks *callbacks, void *arg);
void api_spdy_free(struct api_spdy *spdy);
/* Errors: ERR_PORTFWD_PROTOCOL. After it nothing more is read. */
bool api_spdy_receive(struct api_spdy *spdy, const void *bytes, size_t n, struct err *err);
void api_spdy_send(struct api_spdy *spdy, uint32_t id, const void *bytes, size_t n, bool fin);
void api_spdy_reset(struct api_spdy *spdy, uint32_t id);

/* ---- header blocks (spdy_headers.c) */

enum { SPDY_DICTIONARY_BYTES = 1423 };
void api_spdy_dictionary(unsigned char out[SPDY_DICTIONARY_BYTES]);
struct api_spdy_blocks; /* both directions */
struct api_spdy_blocks *api_spdy_blocks_new(void);
void api_spdy_blocks_free(struct api_spdy_blocks *blocks);
bool api_spdy_blocks_read(struct api_spdy_blocks *blocks, const void *block, size_t n,
	struct api_spdy_headers *headers, struct err *err);
/* A block without headers. */
void api_spdy_blocks_write_empty(struct api_spdy_blocks *blocks, struct evbuffer *out);
