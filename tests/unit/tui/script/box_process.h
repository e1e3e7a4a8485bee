// SPDX-License-Identifier: Apache-2.0
/* The daemon of a sandbox (box.c) as a process of its own, on two ports that are free. Header-only. */
#pragma once

#include "tests/unit/local/daemon/listen.h"
#include "tests/unit/unit.h"

#include "engine/base/mem.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

struct box {
	pid_t pid; /* 0: none */
	int end;   /* what keeps it */
	uint16_t rest, grpc;
};

static inline struct box box_start(const char *root)
{
	struct box box;
	int ends[2], rest_fd = listen_anywhere(&box.rest), grpc_fd = listen_anywhere(&box.grpc);
	assert_int_equal(0, pipe2(ends, O_CLOEXEC));
	char *rest_text = x_asprintf("%d", rest_fd), *grpc_text = x_asprintf("%d", grpc_fd);
	box.pid = fork();
	assert_true(box.pid >= 0);
	if (box.pid == 0) {
		dup2(ends[0], 0);
		fcntl(rest_fd, F_SETFD, 0);
		fcntl(grpc_fd, F_SETFD, 0);
		execl(STAGE_BOX, "box", root, rest_text, grpc_text, (char *)NULL);
		_exit(127);
	}
	box.end = ends[1];
	close(ends[0]);
	close(rest_fd);
	close(grpc_fd);
	free(rest_text);
	free(grpc_text);
	return box;
}

static inline void box_stop(struct box *box)
{
	if (!box->pid)
		return;
	close(box->end);
	assert_int_equal(box->pid, waitpid(box->pid, NULL, 0));
	box->pid = 0;
}
