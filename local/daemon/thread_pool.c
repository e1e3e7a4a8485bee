// SPDX-License-Identifier: Apache-2.0
#include "local/daemon/thread_pool.h"

#include "engine/base/err.h"
#include "engine/base/map.h"
#include "engine/net/loop.h"
#include "engine/net/watch.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum { MAX_THREADS = 4, STACK_BYTES = 8 << 20 };

struct work {
	void (*run)(void *arg);
	void (*done)(void *arg);
	void *arg;
	struct work *prev, *next;
};

struct daemon_thread_pool {
	pthread_mutex_t lock;
	pthread_cond_t has_work;
	struct work *waiting, *finished; /* utlist, under lock */
	unsigned idle;                   /* under lock */
	bool is_ending;                  /* under lock */
	pthread_t threads[MAX_THREADS];
	unsigned n_threads;
	int wake_fd;
	struct net_watch_fd *watch;
};

static void *thread_main(void *arg)
{
	struct daemon_thread_pool *pool = arg;
	pthread_mutex_lock(&pool->lock);
	for (;;) {
		while (pool->waiting == NULL && !pool->is_ending) {
			pool->idle++;
			pthread_cond_wait(&pool->has_work, &pool->lock);
			pool->idle--;
		}
		if (pool->is_ending)
			break;
		struct work *work = pool->waiting;
		DL_DELETE(pool->waiting, work);
		pthread_mutex_unlock(&pool->lock);
		work->run(work->arg);
		pthread_mutex_lock(&pool->lock);
		DL_APPEND(pool->finished, work);
		eventfd_write(pool->wake_fd, 1);
	}
	pthread_mutex_unlock(&pool->lock);
	return NULL;
}

static void finish_all(struct daemon_thread_pool *pool)
{
	for (;;) {
		pthread_mutex_lock(&pool->lock);
		struct work *work = pool->finished;
		if (work != NULL)
			DL_DELETE(pool->finished, work);
		pthread_mutex_unlock(&pool->lock);
		if (work == NULL)
			return;
		work->done(work->arg);
		free(work);
	}
}

static void on_wake(void *arg, bool is_readable, bool is_writable)
{
	struct daemon_thread_pool *pool = arg;
	eventfd_t n;
	(void)is_readable;
	(void)is_writable;
	eventfd_read(pool->wake_fd, &n);
	finish_all(pool);
}

struct daemon_thread_pool *daemon_thread_pool_new(struct net_loop *loop, struct err *err)
{
	struct daemon_thread_pool *pool = x_calloc(1, sizeof *pool);
	pthread_mutex_init(&pool->lock, NULL);
	pthread_cond_init(&pool->has_work, NULL);
	pool->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (pool->wake_fd < 0) {
		err_set_errno(err, errno, "eventfd");
		daemon_thread_pool_free(pool);
		return NULL;
	}
	pool->watch = net_watch_fd_new(loop, pool->wake_fd, on_wake, pool, err);
	if (pool->watch == NULL) {
		daemon_thread_pool_free(pool);
		return NULL;
	}
	net_watch_fd_want(pool->watch, true, false);
	return pool;
}

void daemon_thread_pool_free(struct daemon_thread_pool *pool)
{
	if (pool == NULL)
		return;
	pthread_mutex_lock(&pool->lock);
	pool->is_ending = true;
	pthread_cond_broadcast(&pool->has_work);
	pthread_mutex_unlock(&pool->lock);
	for (unsigned i = 0; i < pool->n_threads; i++)
		pthread_join(pool->threads[i], NULL);
	DL_CONCAT(pool->finished, pool->waiting);
	finish_all(pool);
	net_watch_fd_free(pool->watch);
	if (pool->wake_fd >= 0)
		close(pool->wake_fd);
	pthread_cond_destroy(&pool->has_work);
	pthread_mutex_destroy(&pool->lock);
	free(pool);
}

static void add_thread(struct daemon_thread_pool *pool)
{
	sigset_t all, old;
	pthread_attr_t attr;
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	sigfillset(&all); /* signals belong to the loop */
	pthread_sigmask(SIG_SETMASK, &all, &old);
	if (pthread_create(&pool->threads[pool->n_threads], &attr, thread_main, pool) == 0)
		pool->n_threads++;
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	pthread_attr_destroy(&attr);
}

void daemon_thread_pool_start(struct daemon_thread_pool *pool, void (*run)(void *arg),
	void (*done)(void *arg), void *arg)
{
	struct work *work = x_calloc(1, sizeof *work);
	*work = (struct work){ .run = run, .done = done, .arg = arg };
	pthread_mutex_lock(&pool->lock);
	DL_APPEND(pool->waiting, work);
	bool wants_thread = pool->idle == 0 && pool->n_threads < MAX_THREADS;
	pthread_cond_signal(&pool->has_work);
	pthread_mutex_unlock(&pool->lock);
	if (wants_thread)
		add_thread(pool);
	if (pool->n_threads > 0)
		return;
	/* no thread can be had (limits): late is better than never */
	pthread_mutex_lock(&pool->lock);
	DL_DELETE(pool->waiting, work);
	pthread_mutex_unlock(&pool->lock);
	work->run(work->arg);
	pthread_mutex_lock(&pool->lock);
	DL_APPEND(pool->finished, work);
	eventfd_write(pool->wake_fd, 1);
	pthread_mutex_unlock(&pool->lock);
}
