// SPDX-License-Identifier: Apache-2.0
// A terminal's descriptors on the loop.
//
// O_NONBLOCK belongs to the open file, which the user's shell shares with us, so the terminal is opened again by
// its name; only where that cannot be done (a passed descriptor in another namespace) the shared one is switched
// and switched back at the end. A terminal that stops reading leaves bytes queued here; the caller draws its next
// frame only when they have left, so at most one frame waits.
#include "tui/draw/terminal.h"

#include "engine/base/err.h"
#include "engine/base/fatal_signal.h"
#include "engine/base/mem.h"
#include "engine/net/watch.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

enum { READ_BYTES = 16 << 10, END_WAIT_MS = 300, QUEUE_BYTES_MAX = 64 << 20 };

struct draw_end { /* one descriptor of the terminal */
	int fd;
	bool is_own;
	int old_flags; /* of a shared one */
};

struct draw_terminal {
	struct draw_terminal_opts opts;
	struct draw_end in, out;
	struct net_watch_fd *in_watch, *out_watch;
	struct termios old_modes;
	bool has_modes;
	bool is_gone;
	char *queue;
	size_t n_queue, sent, capacity;
	char end_bytes[FATAL_SIGNAL_BYTES];
};

static struct draw_end open_end(int fd, int mode)
{
	struct draw_end end = { .fd = -1, .is_own = true };
	char name[128];
	if (ttyname_r(fd, name, sizeof name) == 0)
		end.fd = open(name, mode | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
	if (end.fd >= 0)
		return end;
	end.is_own = false;
	end.fd = fd;
	end.old_flags = fcntl(fd, F_GETFL);
	fcntl(fd, F_SETFL, end.old_flags | O_NONBLOCK);
	return end;
}

static void close_end(struct draw_end *end)
{
	if (end->is_own && end->fd >= 0)
		close(end->fd);
	else if (end->fd >= 0)
		fcntl(end->fd, F_SETFL, end->old_flags);
	end->fd = -1;
}

static void gone(struct draw_terminal *terminal)
{
	if (terminal->is_gone)
		return;
	terminal->is_gone = true;
	net_watch_fd_want(terminal->in_watch, false, false);
	net_watch_fd_want(terminal->out_watch, false, false);
	terminal->n_queue = terminal->sent = 0;
	fatal_signal_set_terminal(-1, NULL, NULL);
	terminal->opts.on_gone(terminal->opts.arg);
}

static void on_input(void *arg, bool is_readable, bool is_writable)
{
	struct draw_terminal *terminal = arg;
	(void)is_writable;
	if (!is_readable)
		return;
	char bytes[READ_BYTES];
	ssize_t n = read(terminal->in.fd, bytes, sizeof bytes);
	if (n > 0)
		terminal->opts.on_bytes(terminal->opts.arg, (struct slice){ bytes, (size_t)n });
	else if (n == 0 || (errno != EAGAIN && errno != EINTR))
		gone(terminal);
}

static bool flush_queue(struct draw_terminal *terminal)
{
	while (terminal->sent < terminal->n_queue) {
		ssize_t n = write(terminal->out.fd, terminal->queue + terminal->sent,
			terminal->n_queue - terminal->sent);
		if (n > 0) {
			terminal->sent += (size_t)n;
			continue;
		}
		if (n < 0 && errno == EINTR)
			continue;
		return n < 0 && errno == EAGAIN;
	}
	terminal->n_queue = terminal->sent = 0;
	return true;
}

static void on_output(void *arg, bool is_readable, bool is_writable)
{
	struct draw_terminal *terminal = arg;
	(void)is_readable;
	if (!is_writable)
		return;
	if (!flush_queue(terminal)) {
		gone(terminal);
		return;
	}
	if (!terminal->n_queue) {
		net_watch_fd_want(terminal->out_watch, false, false);
		terminal->opts.on_sent(terminal->opts.arg);
	}
}

static void set_raw(struct draw_terminal *terminal)
{
	if (!terminal->has_modes)
		return;
	struct termios raw = terminal->old_modes;
	cfmakeraw(&raw);
	raw.c_cc[VMIN] = 1;
	raw.c_cc[VTIME] = 0;
	tcsetattr(terminal->in.fd, TCSADRAIN, &raw);
}

static void arm_crash(const struct draw_terminal *terminal)
{
	fatal_signal_set_terminal(terminal->out.fd,
		terminal->has_modes ? &terminal->old_modes : NULL, terminal->end_bytes);
}

struct draw_terminal *draw_terminal_open(
	struct net_loop *loop, const struct draw_terminal_opts *opts, struct err *err)
{
	if (!isatty(opts->in_fd) || !isatty(opts->out_fd)) {
		err_set(err, ERR_TTY_NONE, "standard input and output are not a terminal");
		return NULL;
	}
	struct draw_terminal *terminal = x_calloc(1, sizeof *terminal);
	terminal->opts = *opts;
	terminal->opts.end_bytes = NULL;
	snprintf(terminal->end_bytes, sizeof terminal->end_bytes, "%s", opts->end_bytes);
	terminal->in = open_end(opts->in_fd, O_RDWR);
	terminal->out = open_end(opts->out_fd, O_RDWR);
	terminal->in_watch = net_watch_fd_new(loop, terminal->in.fd, on_input, terminal, err);
	terminal->out_watch = terminal->in_watch ? net_watch_fd_new(loop, terminal->out.fd,
							   on_output, terminal, err)
						 : NULL;
	if (!terminal->out_watch) {
		net_watch_fd_free(terminal->in_watch);
		close_end(&terminal->in);
		close_end(&terminal->out);
		free(terminal);
		return NULL;
	}
	net_watch_fd_set_urgent(terminal->in_watch);
	net_watch_fd_set_urgent(terminal->out_watch);
	terminal->has_modes = tcgetattr(terminal->in.fd, &terminal->old_modes) == 0;
	arm_crash(terminal);
	set_raw(terminal);
	net_watch_fd_want(terminal->in_watch, true, false);
	return terminal;
}

/* The last bytes, with a little patience: a frame half sent is finished or cut by them. */
static void send_end(struct draw_terminal *terminal)
{
	draw_terminal_send(terminal, slice_of(terminal->end_bytes));
	for (int waited = 0; terminal->n_queue && waited < END_WAIT_MS; waited += 20) {
		struct pollfd wait = { terminal->out.fd, POLLOUT, 0 };
		poll(&wait, 1, 20);
		if (!flush_queue(terminal))
			break;
	}
	terminal->n_queue = terminal->sent = 0;
}

void draw_terminal_leave(struct draw_terminal *terminal)
{
	if (terminal->is_gone)
		return;
	send_end(terminal);
	net_watch_fd_want(terminal->in_watch, false, false);
	net_watch_fd_want(terminal->out_watch, false, false);
	if (terminal->has_modes)
		tcsetattr(terminal->in.fd, TCSADRAIN, &terminal->old_modes);
	fatal_signal_set_terminal(-1, NULL, NULL);
}

void draw_terminal_enter(struct draw_terminal *terminal, const char *begin_bytes)
{
	if (terminal->is_gone)
		return;
	terminal->has_modes = tcgetattr(terminal->in.fd, &terminal->old_modes) == 0;
	arm_crash(terminal);
	set_raw(terminal);
	net_watch_fd_want(terminal->in_watch, true, false);
	draw_terminal_send(terminal, slice_of(begin_bytes));
}

void draw_terminal_close(struct draw_terminal *terminal)
{
	if (!terminal)
		return;
	draw_terminal_leave(terminal);
	net_watch_fd_free(terminal->in_watch);
	net_watch_fd_free(terminal->out_watch);
	close_end(&terminal->in);
	close_end(&terminal->out);
	free(terminal->queue);
	free(terminal);
}

bool draw_terminal_size(const struct draw_terminal *terminal, int *cols, int *rows)
{
	struct winsize size;
	if (terminal->is_gone || ioctl(terminal->out.fd, TIOCGWINSZ, &size) != 0 ||
		!size.ws_col || !size.ws_row)
		return false;
	*cols = size.ws_col;
	*rows = size.ws_row;
	return true;
}

bool draw_terminal_is_sending(const struct draw_terminal *terminal)
{
	return terminal->n_queue > 0;
}

void draw_terminal_send(struct draw_terminal *terminal, struct slice bytes)
{
	if (terminal->is_gone || !bytes.n || terminal->n_queue + bytes.n > QUEUE_BYTES_MAX)
		return;
	array_grow(&terminal->queue, &terminal->capacity, terminal->n_queue + bytes.n, 1);
	memcpy(terminal->queue + terminal->n_queue, bytes.p, bytes.n);
	terminal->n_queue += bytes.n;
	/* Try at once: the usual frame fits into the pty's buffer and needs no turn of the loop. An error is told
	 * from the loop, never from inside this call. */
	if (!flush_queue(terminal) || terminal->n_queue)
		net_watch_fd_want(terminal->out_watch, false, true);
}
