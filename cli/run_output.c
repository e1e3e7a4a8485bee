// SPDX-License-Identifier: Apache-2.0
#include "cli/run_output.h"

#include "cli/execute.h"
#include "cli/tty.h"
#include "engine/base/fatal_signal.h"
#include "engine/base/map.h"
#include "engine/base/mem.h"
#include "engine/base/num.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum {
	COLLECT_MAX_BYTES = 256 << 20,
	GATHER_BYTES = 256 << 10, /* more is written before the turn ends */
};

struct cli_run_piece {
	int fd;
	size_t n, sent;
	struct cli_run_piece *prev, *next;
	char bytes[];
};

/* What is deferred cannot be taken back. */
struct cli_run_turn {
	struct cli_run_output *output; /* NULL: it is gone */
};

/* How much went: less where a signal has come. */
static size_t write_some(struct cli_run_output *output, int fd, const char *bytes, size_t n)
{
	size_t done = 0;
	while (done < n && output->error == 0) {
		size_t piece = n - done;
		/* the loop must get on from here on: never more than fits (pipe(7)) */
		if (fatal_signal_last() != 0) {
			struct pollfd room = { fd, POLLOUT, 0 };
			if (poll(&room, 1, 0) <= 0)
				break;
			piece = piece < PIPE_BUF ? piece : PIPE_BUF;
		}
		ssize_t written = write(fd, bytes + done, piece);
		if (written >= 0)
			done += (size_t)written;
		else if (errno == EAGAIN)
			break; /* somebody has made our terminal or pipe so */
		else if (errno != EINTR)
			output->error = errno;
	}
	return done;
}

static void lose(struct cli_run_output *output)
{
	if (output->on_lost != NULL)
		output->on_lost(output->arg);
	output->on_lost = NULL;
}

static void drop_pieces(struct cli_run_output *output)
{
	while (output->pieces != NULL) {
		struct cli_run_piece *piece = output->pieces;
		DL_DELETE(output->pieces, piece);
		free(piece);
	}
}

static void on_later(void *arg)
{
	struct cli_run_output *output = arg;
	while (output->pieces != NULL) {
		struct cli_run_piece *piece = output->pieces;
		piece->sent += write_some(
			output, piece->fd, piece->bytes + piece->sent, piece->n - piece->sent);
		if (output->error != 0) {
			drop_pieces(output);
			lose(output);
			break;
		}
		if (piece->sent < piece->n) {
			net_loop_timer_arm(output->later, 10);
			return;
		}
		DL_DELETE(output->pieces, piece);
		free(piece);
	}
	if (!cli_run_output_is_waiting(output))
		output->on_flushed(output->arg);
}

static void hold(struct cli_run_output *output, int fd, const char *bytes, size_t n)
{
	struct cli_run_piece *piece = x_malloc(sizeof *piece + n);
	*piece = (struct cli_run_piece){ .fd = fd, .n = n };
	memcpy(piece->bytes, bytes, n);
	DL_APPEND(output->pieces, piece);
	net_loop_timer_arm(output->later, 10);
}

static void write_gathered(struct cli_run_output *output)
{
	struct slice bytes = { output->gathered.p, output->gathered.n };
	size_t done = 0;
	if (output->pieces == NULL && output->error == 0)
		done = write_some(output, output->gathered_fd, bytes.p, bytes.n);
	if (output->error != 0)
		lose(output);
	else if (done < bytes.n)
		hold(output, output->gathered_fd, bytes.p + done, bytes.n - done);
	str_clear(&output->gathered);
}

static void on_turn(void *arg)
{
	struct cli_run_turn *turn = arg;
	struct cli_run_output *output = turn->output;
	free(turn);
	if (output == NULL)
		return;
	output->turn = NULL;
	write_gathered(output);
	if (!cli_run_output_is_waiting(output))
		output->on_flushed(output->arg);
}

static void pass_on(struct cli_run_output *output, int fd, struct slice bytes)
{
	if (output->is_terminal)
		cli_tty_will_write(bytes.p, bytes.n);
	if (output->gathered_fd != fd || output->gathered.n + bytes.n > GATHER_BYTES)
		write_gathered(output);
	if (output->error != 0)
		return;
	output->gathered_fd = fd;
	str_add_bytes(&output->gathered, bytes.p, bytes.n);
	if (output->turn != NULL)
		return;
	output->turn = x_malloc(sizeof *output->turn);
	output->turn->output = output;
	net_loop_defer(output->cli->loop, on_turn, output->turn);
}

void cli_run_output_take(struct cli_run_output *output, int stream, struct slice bytes)
{
	if (cli_run_output_is_lost(output))
		return;
	if (output->limit_bytes > 0 &&
		(int64_t)bytes.n > output->limit_bytes - output->taken_bytes) {
		bytes.n = (size_t)(output->limit_bytes - output->taken_bytes);
		output->is_over_limit = true;
	}
	output->taken_bytes += (int64_t)bytes.n;
	if (output->collects)
		str_add_bytes(&output->collected[stream == 2], bytes.p, bytes.n);
	else
		pass_on(output, stream == 2 ? STDERR_FILENO : STDOUT_FILENO, bytes);
	if (output->is_over_limit)
		lose(output);
}

bool cli_run_output_is_lost(const struct cli_run_output *output)
{
	return output->error != 0 || output->is_over_limit;
}

bool cli_run_output_is_waiting(const struct cli_run_output *output)
{
	return output->pieces != NULL || output->turn != NULL;
}

void cli_run_output_print(
	const struct cli_run_output *output, int exit_code, int64_t duration_ms)
{
	const struct runtime_result result = {
		.exit_code = exit_code,
		.out = { output->collected[0].p, output->collected[0].n },
		.err_out = { output->collected[1].p, output->collected[1].n },
	};
	cli_print_result(output->cli, &result, duration_ms);
}

int cli_run_output_fail(const struct cli_run_output *output)
{
	char limit[NUM_SIZE_BYTES];
	struct err err = { 0 };
	if (output->error == EPIPE)
		return cli_closed_status();
	if (output->error != 0)
		err_set_errno(&err, output->error, "cannot write its output");
	else
		err_set(&err, ERR_LIMIT_OUTPUT, "it wrote more than %s and was killed",
			num_format_size((uint64_t)output->limit_bytes, limit));
	cli_fail(output->cli, &err);
	return STATUS_OWN_FAILURE;
}

void cli_run_output_init(struct cli_run_output *output)
{
	output->later = net_loop_timer_new(output->cli->loop, on_later, output);
	for (int i = 0; i < 2; i++)
		str_init(&output->collected[i], COLLECT_MAX_BYTES);
	str_init(&output->gathered, COLLECT_MAX_BYTES);
}

void cli_run_output_deinit(struct cli_run_output *output)
{
	drop_pieces(output);
	if (output->turn != NULL)
		output->turn->output = NULL;
	str_deinit(&output->gathered);
	net_loop_timer_free(output->later);
	for (int i = 0; i < 2; i++)
		str_deinit(&output->collected[i]);
}
