// SPDX-License-Identifier: Apache-2.0
/* fsync takes as long as the disk wants, so it runs on a thread of its own, which shares nothing with the loop but
 * one end of a socket pair: cancelling is closing the other end. */
#include "engine/base/mem.h"
#include "engine/transfer/internal.h"

#include <errno.h>
#include <event2/event.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

struct transfer_fsync {
	struct event *event;
	int socket;
	void (*done)(void *arg, int error);
	void *arg;
};

struct transfer_task {
	int fd, socket; /* the thread's own */
};

static void *run(void *arg)
{
	struct transfer_task *task = arg;
	int error, result;

	do {
		result = fsync(task->fd);
		error = result < 0 ? errno : 0;
	} while (error == EINTR);
	/* file systems and descriptors that cannot sync have nothing to lose */
	if (error == EINVAL || error == EROFS || error == ENOSYS)
		error = 0;
	/* a cancelled sync has nobody listening: no signal for that */
	send(task->socket, &error, sizeof error, MSG_NOSIGNAL);
	close(task->socket);
	close(task->fd);
	free(task);
	return NULL;
}

void transfer_fsync_cancel(struct transfer_fsync *sync)
{
	if (!sync)
		return;
	event_free(sync->event);
	close(sync->socket);
	free(sync);
}

static void on_readable(evutil_socket_t fd, short what, void *arg)
{
	struct transfer_fsync *sync = arg;
	void (*done)(void *arg, int error) = sync->done;
	void *done_arg = sync->arg;
	int error = EIO;

	(void)what;
	if (read(fd, &error, sizeof error) != (ssize_t)sizeof error)
		error = EIO;
	transfer_fsync_cancel(sync);
	done(done_arg, error);
}

static bool start_thread(struct transfer_task *task)
{
	pthread_t thread;
	pthread_attr_t attr;
	sigset_t all, old;

	/* signals are the main thread's */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	int error = pthread_create(&thread, &attr, run, task);
	pthread_attr_destroy(&attr);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return error == 0;
}

struct transfer_fsync *transfer_fsync_start(struct net_loop *loop, int fd,
	void (*done)(void *arg, int error), void *arg, struct err *err)
{
	int pair[2];

	if (evutil_socketpair(AF_UNIX, SOCK_STREAM, 0, pair) < 0) {
		err_set_errno(err, errno, "cannot sync the file");
		return NULL;
	}
	evutil_make_socket_closeonexec(pair[0]);
	evutil_make_socket_closeonexec(pair[1]);
	struct transfer_fsync *sync = x_calloc(1, sizeof *sync);
	struct transfer_task *task = x_calloc(1, sizeof *task);
	*sync = (struct transfer_fsync){ .socket = pair[0], .done = done, .arg = arg };
	*task = (struct transfer_task){ .fd = fcntl(fd, F_DUPFD_CLOEXEC, 0),
		.socket = pair[1] };
	sync->event = event_new(net_loop_base(loop), pair[0], EV_READ, on_readable, sync);
	event_add(sync->event, NULL);
	if (task->fd >= 0 && start_thread(task))
		return sync;
	err_set(err, ERR_SYSTEM, "cannot sync the file: no thread for it");
	transfer_fsync_cancel(sync);
	if (task->fd >= 0)
		close(task->fd);
	close(pair[1]);
	free(task);
	return NULL;
}
