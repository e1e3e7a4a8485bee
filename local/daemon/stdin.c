// SPDX-License-Identifier: Apache-2.0
/* WriteStdin: a call is answered when its bytes are in the pipe. While the pipe is full calls wait in
 * order, bounded; one that its client gives up is dropped with what it has not written. */
#include "local/daemon/service_internal.h"

#include "engine/base/map.h"
#include "engine/net/loop.h"
#include "local/daemon/quote.h"

#include <errno.h>
#include <event2/event.h>
#include <sys/uio.h>
#include <termios.h>
#include <unistd.h>

enum { MAX_QUEUED_BYTES = 8 << 20 };

struct daemon_stdin_write {
	struct daemon_stdin_channel *channel;
	struct daemon_h2_call *call;
	bool is_end;
	char *bytes;
	size_t n, done;
	struct daemon_stdin_write *prev, *next;
};

static const char *name_of(const struct daemon_stdin_channel *channel)
{
	return channel->is_tty ? "/dev/ptmx" : "|1";
}

static void reply_empty(struct daemon_h2_call *call)
{
	Process__V1__WriteStdinResponse response = PROCESS__V1__WRITE_STDIN_RESPONSE__INIT;
	daemon_rpc_reply(call, &response.base);
}

static void drop(struct daemon_stdin_write *write)
{
	struct daemon_stdin_channel *channel = write->channel;
	DL_DELETE(channel->writes, write);
	channel->queued_bytes -= write->n;
	free(write->bytes);
	free(write);
}

static void close_pipe(struct daemon_stdin_channel *channel)
{
	event_free(channel->event);
	channel->event = NULL;
	if (!channel->is_tty)
		close(channel->fd);
	channel->fd = -1;
}

static void fail_all(struct daemon_stdin_channel *channel, const char *why)
{
	while (channel->writes != NULL) {
		struct daemon_h2_call *call = channel->writes->call;
		bool is_end = channel->writes->is_end;
		drop(channel->writes);
		daemon_h2_call_finish(call, RPC_INTERNAL, "failed to %s stdin: %s %s: %s",
			is_end ? "close" : "write", is_end ? "close" : "write",
			name_of(channel), why);
	}
}

/* Writes what the pipe takes. True when all is gone. */
static bool push(
	struct daemon_stdin_channel *channel, const char *bytes, size_t n, size_t *done)
{
	while (*done < n) {
		ssize_t put = write(channel->fd, bytes + *done, n - *done);
		if (put < 0 && errno == EINTR)
			continue;
		if (put <= 0)
			return false;
		*done += (size_t)put;
	}
	return true;
}

/* A terminal has no end of file of its own; its EOF character is what a person would type. */
static void type_eof(struct daemon_stdin_channel *channel)
{
	struct termios t;
	if (tcgetattr(channel->fd, &t) == 0 && (t.c_lflag & ICANON)) {
		char eof = (char)t.c_cc[VEOF];
		size_t done = 0;
		push(channel, &eof, 1, &done);
	}
}

static void end_now(struct daemon_stdin_channel *channel, struct daemon_h2_call *call)
{
	if (channel->is_tty)
		type_eof(channel);
	else
		close_pipe(channel);
	reply_empty(call);
}

static void on_writable(evutil_socket_t fd, short what, void *arg)
{
	struct daemon_stdin_channel *channel = arg;
	(void)fd;
	(void)what;
	while (channel->writes != NULL) {
		struct daemon_stdin_write *write = channel->writes;
		struct daemon_h2_call *call = write->call;
		if (!write->is_end && !push(channel, write->bytes, write->n, &write->done)) {
			if (errno == EAGAIN)
				event_add(channel->event, NULL);
			else
				fail_all(channel, daemon_quote_errno(errno));
			return;
		}
		bool is_end = write->is_end;
		drop(write);
		if (is_end)
			end_now(channel, call);
		else
			reply_empty(call);
		if (channel->fd < 0) {
			fail_all(channel, "file already closed");
			return;
		}
	}
}

void daemon_stdin_init(
	struct daemon_stdin_channel *channel, struct net_loop *loop, int fd, bool is_tty)
{
	*channel = (struct daemon_stdin_channel){ .loop = loop, .fd = fd, .is_tty = is_tty };
	channel->event = event_new(net_loop_base(loop), fd, EV_WRITE, on_writable, channel);
}

static void on_call_closed(void *owner)
{
	drop(owner);
}

static void wait_turn(struct daemon_stdin_channel *channel, struct daemon_h2_call *call,
	const char *bytes, size_t n, bool is_end)
{
	struct daemon_stdin_write *write = x_calloc(1, sizeof *write);
	write->channel = channel;
	write->call = call;
	write->is_end = is_end;
	write->n = n;
	if (n > 0) {
		write->bytes = x_malloc(n);
		memcpy(write->bytes, bytes, n);
	}
	channel->queued_bytes += n;
	DL_APPEND(channel->writes, write);
	daemon_h2_call_keep(call, on_call_closed, NULL, write);
	event_add(channel->event, NULL);
}

void daemon_stdin_write(
	struct daemon_stdin_channel *channel, struct daemon_h2_call *call, struct slice bytes)
{
	size_t done = 0;
	if (bytes.n == 0) {
		reply_empty(call);
	} else if (channel->fd < 0 || channel->is_closing) {
		daemon_h2_call_finish(call, RPC_INTERNAL,
			"failed to write stdin: write %s: file already closed",
			name_of(channel));
	} else if (channel->queued_bytes + bytes.n > MAX_QUEUED_BYTES) {
		daemon_h2_call_finish(call, RPC_RESOURCE_EXHAUSTED,
			"too much input is waiting for this process");
	} else if (channel->writes != NULL) {
		wait_turn(channel, call, bytes.p, bytes.n, false);
	} else if (push(channel, bytes.p, bytes.n, &done)) {
		reply_empty(call);
	} else if (errno == EAGAIN) {
		wait_turn(channel, call, bytes.p + done, bytes.n - done, false);
	} else {
		daemon_h2_call_finish(call, RPC_INTERNAL, "failed to write stdin: write %s: %s",
			name_of(channel), daemon_quote_errno(errno));
	}
}

void daemon_stdin_end(struct daemon_stdin_channel *channel, struct daemon_h2_call *call)
{
	if (channel->fd < 0 || channel->is_closing) {
		daemon_h2_call_finish(call, RPC_INTERNAL,
			"failed to close stdin: close %s: file already closed",
			name_of(channel));
	} else if (channel->writes != NULL) {
		channel->is_closing = !channel->is_tty;
		wait_turn(channel, call, NULL, 0, true);
	} else {
		end_now(channel, call);
	}
}

void daemon_stdin_deinit(struct daemon_stdin_channel *channel)
{
	if (channel->event != NULL)
		close_pipe(channel);
	fail_all(channel, "file already closed");
}
