// SPDX-License-Identifier: Apache-2.0
/* Asks GET /v1/health: every few milliseconds until the first answer, then every ten seconds. Three misses in
 * a row make a pod unready.
 *
 * Who answers is as hostile as what runs in the sandbox. Only the status line counts, RFC 9112 section 4: it
 * must come within HEAD_BYTES and DEADLINE_MS, counted from the connect and not from the last byte; what
 * comes after it is never read. No token is sent, health needs none. */
#include "local/server/kubelet/run.h"

#include "engine/base/mem.h"
#include "engine/net/loop.h"
#include "engine/net/watch.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { FIRST_MS = 15, SLOWEST_START_MS = 500, STEADY_MS = 10000, RETRY_MS = 500, MISSES = 3 };
enum { REST_PORT = 8080, DEADLINE_MS = 2000, HEAD_BYTES = 512 };

/* One question. */
struct kubelet_probe_call {
	struct kubelet_run *run;
	int fd;
	struct net_watch_fd *watch;
	struct net_loop_timer *deadline;
	char request[128], head[HEAD_BYTES];
	size_t n_request, n_sent, n_head;
};

static void schedule(struct kubelet_run *r)
{
	if (r->state == RUN_READY)
		r->probe_delay_ms = STEADY_MS;
	else if (r->probe_delay_ms < SLOWEST_START_MS)
		r->probe_delay_ms += r->probe_delay_ms / 2;
	net_loop_timer_arm(r->probe, r->probe_delay_ms);
}

static void call_free(void *arg)
{
	struct kubelet_probe_call *call = arg;
	net_watch_fd_free(call->watch);
	net_loop_timer_free(call->deadline);
	close(call->fd);
	free(call);
}

/* Ends the question under way, if there is one; freed at the end of the turn. */
static void drop_call(struct kubelet_run *r)
{
	struct kubelet_probe_call *call = r->probe_call;
	if (!call)
		return;
	r->probe_call = NULL;
	if (call->watch)
		net_watch_fd_want(call->watch, false, false);
	net_loop_timer_disarm(call->deadline);
	net_loop_defer(r->c->server->loop, call_free, call);
}

static void on_answer(struct kubelet_run *r, bool is_well)
{
	drop_call(r);
	r->probe_misses = is_well ? 0 : r->probe_misses + 1;
	if (is_well || r->probe_misses >= MISSES)
		r->probe_told(r, is_well);
	if (!is_well && r->state == RUN_READY)
		net_loop_timer_arm(r->probe, RETRY_MS);
	else
		schedule(r);
}

static void on_deadline(void *arg)
{
	struct kubelet_probe_call *call = arg;
	on_answer(call->run, false);
}

/* "HTTP/1.1 200 …": whole as soon as the status code and the space after it are there. */
static bool is_status_ok(const struct kubelet_probe_call *call)
{
	static const char start[] = "HTTP/1.";
	const char *p = call->head;
	size_t n = sizeof start - 1;
	return call->n_head >= n + 6 && memcmp(p, start, n) == 0 &&
	       (p[n] == '0' || p[n] == '1') && memcmp(p + n + 1, " 200", 4) == 0 &&
	       (p[n + 5] == ' ' || p[n + 5] == '\r');
}

static void send_more(struct kubelet_probe_call *call)
{
	ssize_t n = send(call->fd, call->request + call->n_sent, call->n_request - call->n_sent,
		MSG_NOSIGNAL);
	if (n < 0 && errno != EAGAIN && errno != EINTR) {
		on_answer(call->run, false);
		return;
	}
	call->n_sent += n > 0 ? (size_t)n : 0;
	if (call->n_sent == call->n_request)
		net_watch_fd_want(call->watch, true, false);
}

static void receive_more(struct kubelet_probe_call *call)
{
	ssize_t n = recv(call->fd, call->head + call->n_head, HEAD_BYTES - call->n_head, 0);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	call->n_head += n > 0 ? (size_t)n : 0;
	/* the line is whole, or will not come */
	if (n <= 0 || memchr(call->head, '\n', call->n_head) || call->n_head == HEAD_BYTES)
		on_answer(call->run, is_status_ok(call));
}

static void on_ready(void *arg, bool is_readable, bool is_writable)
{
	struct kubelet_probe_call *call = arg;
	if (call->run->probe_call != call)
		return;
	if (call->n_sent < call->n_request && is_writable)
		send_more(call);
	else if (is_readable)
		receive_more(call);
}

static int connect_to(const char *address)
{
	struct sockaddr_in in = { .sin_family = AF_INET, .sin_port = htons(REST_PORT) };
	if (inet_pton(AF_INET, address, &in.sin_addr) != 1)
		return -1;
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0 || connect(fd, (struct sockaddr *)&in, sizeof in) == 0 ||
		errno == EINPROGRESS)
		return fd;
	close(fd);
	return -1;
}

static void on_probe(void *arg)
{
	struct kubelet_run *r = arg;
	drop_call(r);
	int fd = connect_to(r->address);
	if (fd < 0) {
		on_answer(r, false);
		return;
	}
	struct net_loop *loop = r->c->server->loop;
	struct kubelet_probe_call *call = x_calloc(1, sizeof *call);
	call->run = r;
	call->fd = fd;
	call->n_request = (size_t)snprintf(call->request, sizeof call->request,
		"GET /v1/health HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n", r->address);
	call->deadline = net_loop_timer_new(loop, on_deadline, call);
	call->watch = net_watch_fd_new(loop, fd, on_ready, call, NULL);
	r->probe_call = call;
	if (!call->watch) {
		on_answer(r, false);
		return;
	}
	net_watch_fd_want(call->watch, false, true);
	net_loop_timer_arm(call->deadline, DEADLINE_MS);
}

void kubelet_probe_start(struct kubelet_run *r, kubelet_probe_fn *told)
{
	if (!r->probe)
		r->probe = net_loop_timer_new(r->c->server->loop, on_probe, r);
	r->probe_told = told;
	r->probe_misses = 0;
	r->probe_delay_ms = FIRST_MS;
	net_loop_timer_arm(r->probe, FIRST_MS);
}

void kubelet_probe_stop(struct kubelet_run *r)
{
	if (r->probe)
		net_loop_timer_disarm(r->probe);
	drop_call(r);
}
