// SPDX-License-Identifier: Apache-2.0
/* The log of one container of a pod, line by line (core/v1 pods/log): what there is, and what comes as long as it is followed.
 *
 *   the pod ─▶ which container ─▶ the log ─ its end ─▶ over; followed: the pod again ─▶ the log from the last line on, or why not
 *
 * Lines are asked for with their times. sinceTime counts in seconds, so a log that goes on begins with lines that are there already:
 * they are left out by their times, those of the very same time by how many there were. A container that was started again is told,
 * and followed; one that has ended for good, or a pod that is gone, is the end.
 * Errors: ERR_KUBE_NOT_FOUND, ERR_OP_BUSY, ERR_OP_READ_ONLY, those of engine/kube/client.h. */
#pragma once

#include "engine/base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct kube_client;
struct podlog;

enum { PODLOG_LINE_BYTES = 64 << 10 /* what is longer comes in pieces */ };

enum podlog_state {
	PODLOG_ASKING, /* for the pod */
	PODLOG_READING,
	PODLOG_WAITING, /* until its container runs, or the server answers */
	PODLOG_ENDED,
};

struct podlog_line {
	int64_t wall_ns;   /* when it was written, by the node's clock; 0: not known */
	struct slice text; /* raw, without its end; borrowed for the call */
	bool is_piece;     /* of a line that goes on in the next */
};

struct podlog_opts {
	const char *namespace_, *pod;
	const char *container; /* NULL: the pod's default one, or its first */
	bool is_following;
	bool is_previous;       /* of the container before it was started again */
	int64_t since_ms;       /* only what is younger; 0: all */
	const char *since_time; /* RFC 3339; NULL: all */
	int64_t tail_lines;     /* -1: all */
	int64_t limit_bytes;    /* 0: none */
	void (*on_line)(void *arg, const struct podlog_line *line);
	void (*on_note)(
		void *arg, const char *text); /* what happened to the container; foreign text */
	void (*on_state)(void *arg);
	void *arg;
};

/* Nothing is called before it returns. It may be stopped in on_line() alone. NULL with *err: it cannot be asked for. */
struct podlog *podlog_start(
	struct kube_client *client, const struct podlog_opts *opts, struct err *err);
void podlog_stop(struct podlog *log); /* frees; NULL is fine */

enum podlog_state podlog_state(const struct podlog *log);
const struct err *podlog_err(
	const struct podlog *log); /* why it ended or waits; NULL: by itself */
const char *podlog_container(const struct podlog *log); /* "" as long as it is not known */
size_t podlog_n_containers(const struct podlog *log);
const char *podlog_container_at(const struct podlog *log, size_t index);
