// SPDX-License-Identifier: Apache-2.0
// Key to frame while programs in panes flood, on a loop with priorities and on one that serves everything in the order in
// which it becomes ready, in turns. One process writes to the sockets of all panes without pause, and each piece is fed to a
// terminal of its own; another one presses a key, waits for the frame and presses the next. Prints JSON lines; no figure
// passes or fails.
#include "engine/net/loop_internal.h"
#include "engine/net/watch.h"
#include "tui/term/term.h"

#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
	PANES = 12,
	PIECE_BYTES = 64 << 10,
	ROUNDS = 4,
	ROUND_MS = 1500,
	MAX_KEYS = 20000,
	THINK_US = 2000,
};

struct pane {
	int ends[2];
	struct net_watch_fd *watch;
	struct term *term;
	uint64_t *fed;
};

/* Shared with the process that presses keys. */
struct presses {
	double cpu_ms, fed_bytes; /* of the process with the loop */
	size_t n;
	double ms[MAX_KEYS];
};

static struct net_loop *loop;
static struct net_loop_timer *frame;
static int keyboard[2];

static double ms_of(clockid_t clock)
{
	struct timespec ts;
	clock_gettime(clock, &ts);
	return (double)ts.tv_sec * 1e3 + (double)ts.tv_nsec / 1e6;
}

static void on_output(void *arg, bool is_readable, bool is_writable)
{
	static char bytes[PIECE_BYTES];
	struct pane *pane = arg;
	(void)is_readable;
	(void)is_writable;
	ssize_t n = read(pane->ends[0], bytes, sizeof bytes);
	if (n <= 0)
		return;
	term_feed(pane->term, bytes, (size_t)n);
	*pane->fed += (uint64_t)n;
}

static void on_key(void *arg, bool is_readable, bool is_writable)
{
	char key;
	(void)arg;
	(void)is_readable;
	(void)is_writable;
	if (read(keyboard[0], &key, 1) == 1)
		net_loop_timer_arm(frame, 0); /* the answer to a key is drawn at once */
}

static void on_frame(void *arg)
{
	(void)arg;
	if (write(keyboard[0], "f", 1) != 1)
		net_loop_stop(loop);
}

static void on_end(void *arg)
{
	(void)arg;
	net_loop_stop(loop);
}

static pid_t start_child(void)
{
	pid_t child = fork();
	if (child == 0)
		prctl(PR_SET_PDEATHSIG, SIGKILL);
	return child;
}

static pid_t start_flood(const struct pane *panes)
{
	static char text[PIECE_BYTES];
	struct pollfd fds[PANES];
	pid_t child = start_child();
	if (child != 0)
		return child;
	for (size_t i = 0; i < sizeof text; i++)
		text[i] = i % 80 == 79 ? '\n' : (char)('a' + i * 7 % 26);
	for (int i = 0; i < PANES; i++)
		fds[i] = (struct pollfd){ .fd = panes[i].ends[1], .events = POLLOUT };
	for (;;) {
		poll(fds, PANES, -1);
		for (int i = 0; i < PANES; i++)
			if (fds[i].revents & POLLOUT)
				send(fds[i].fd, text, sizeof text, MSG_DONTWAIT | MSG_NOSIGNAL);
	}
}

static pid_t start_keys(struct presses *presses)
{
	char byte;
	pid_t child = start_child();
	if (child != 0)
		return child;
	while (presses->n < MAX_KEYS) {
		usleep(THINK_US +
			(useconds_t)(presses->n % 7) * 300); /* not in step with anybody */
		double start = ms_of(CLOCK_MONOTONIC);
		if (write(keyboard[1], "k", 1) != 1 || read(keyboard[1], &byte, 1) != 1)
			break;
		presses->ms[presses->n++] = ms_of(CLOCK_MONOTONIC) - start;
	}
	_exit(0);
}

static void end_child(pid_t child)
{
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}

static void run_round(bool has_priorities, struct presses *presses)
{
	static const struct term_opts opts = {
		.cols = 200, .rows = 50, .history_bytes = 1 << 20
	};
	struct pane panes[PANES];
	uint64_t fed = 0;
	double cpu_ms = ms_of(CLOCK_PROCESS_CPUTIME_ID);
	loop = net_loop_new_with(has_priorities, NULL);
	for (int i = 0; i < PANES; i++) {
		panes[i] = (struct pane){ .term = term_new(&opts), .fed = &fed };
		if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, panes[i].ends) != 0)
			abort();
		panes[i].watch =
			net_watch_fd_new(loop, panes[i].ends[0], on_output, &panes[i], NULL);
		net_watch_fd_want(panes[i].watch, true, false);
	}
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, keyboard) != 0)
		abort();
	struct net_watch_fd *keys = net_watch_fd_new(loop, keyboard[0], on_key, NULL, NULL);
	struct net_loop_timer *end = net_loop_timer_new(loop, on_end, NULL);
	frame = net_loop_timer_new(loop, on_frame, NULL);
	net_watch_fd_set_urgent(keys);
	net_loop_timer_set_urgent(frame);
	net_watch_fd_want(keys, true, false);
	net_loop_timer_arm(end, ROUND_MS);
	pid_t flood = start_flood(panes), presser = start_keys(presses);
	net_loop_run(loop);
	end_child(presser);
	end_child(flood);
	net_watch_fd_free(keys);
	net_loop_timer_free(frame);
	net_loop_timer_free(end);
	for (int i = 0; i < PANES; i++) {
		net_watch_fd_free(panes[i].watch);
		term_free(panes[i].term);
		close(panes[i].ends[0]);
		close(panes[i].ends[1]);
	}
	close(keyboard[0]);
	close(keyboard[1]);
	net_loop_free(loop);
	presses->cpu_ms += ms_of(CLOCK_PROCESS_CPUTIME_ID) - cpu_ms;
	presses->fed_bytes += (double)fed;
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

int main(void)
{
	static const char *const names[] = { "flat", "priorities" };
	setlocale(LC_CTYPE, "");
	struct presses *all = mmap(NULL, 2 * sizeof *all, PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (all == MAP_FAILED)
		return 1;
	for (int i = 0; i < 2 * ROUNDS; i++)
		run_round(i % 2 == 1, &all[i % 2]);
	for (int i = 0; i < 2; i++) {
		struct presses *presses = &all[i];
		size_t n = presses->n;
		if (n == 0)
			return 1;
		qsort(presses->ms, n, sizeof *presses->ms, by_size);
		printf("{\"bench\": \"key_to_frame\", \"loop\": \"%s\", \"flooding_panes\": %d, \"keys\": %zu, "
		       "\"p50_ms\": %.2f, \"p99_ms\": %.2f, \"max_ms\": %.2f, \"mb_per_cpu_s\": %.0f}\n",
			names[i], PANES, n, presses->ms[n / 2], presses->ms[n * 99 / 100],
			presses->ms[n - 1], presses->fed_bytes / presses->cpu_ms / 1e3);
	}
	return 0;
}
