// SPDX-License-Identifier: Apache-2.0
/* The pool of threads for what blocks.
 *
 *   WAITING ─(a place in its kind)─> READY ─(a thread)─> RUNNING ─> FINISHED ─(the loop)─> done
 *
 * Places are given out when they come free, so whatever is READY may run, and there is a thread for each of them: a
 * thread more is started when READY work outnumbers the threads that look for some. The pool is freed by whoever is last
 * of the loop and the threads. */
#include "engine/net/work_pool.h"

#include "engine/base/err.h"
#include "engine/base/map.h"
#include "engine/net/loop_internal.h"

#include <errno.h>
#include <event2/event.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
#include <utlist.h>

enum { IDLE_S = 2, RETRY_MS = 100, STACK_BYTES = 8 << 20, MAX_DONE_A_TURN = 64 };

enum work_state { WORK_WAITING, WORK_READY, WORK_RUNNING, WORK_FINISHED };

struct net_work {
	struct net_work_pool *pool;
	struct net_work_places *places;
	void *arg;
	enum work_state state;
	atomic_bool is_cancelled;
	struct net_work *prev, *next;
};

/* Of one kind. */
struct net_work_places {
	const struct net_work_kind *kind;
	unsigned n_taken;         /* READY and RUNNING */
	unsigned n_abandoned;     /* cancelled, and RUNNING nevertheless */
	struct net_work *waiting; /* utlist */
	struct net_work_places *next;
};

struct net_work_pool {
	/* only the loop's thread */
	int wake_read_fd;
	struct event *wake;
	struct net_loop_timer *retry; /* no thread could be started */

	pthread_mutex_t lock;
	pthread_cond_t has_ready;
	/* all others under lock */
	struct net_work_places *places; /* utlist */
	struct net_work *ready, *running, *finished;
	unsigned n_ready, n_threads, n_refs; /* of the loop and each thread */
	unsigned n_looking; /* threads that are idle, or have not got here yet */
	bool is_woken;      /* a byte is in the pipe */
	bool keeps_thread, is_ended;
	int wake_write_fd;
};

static void free_work(struct net_work *work)
{
	work->places->kind->free_arg(work->arg);
	free(work);
}

static void unref_pool(struct net_work_pool *pool)
{
	pthread_mutex_lock(&pool->lock);
	bool is_last = --pool->n_refs == 0;
	pthread_mutex_unlock(&pool->lock);
	if (!is_last)
		return;
	struct net_work_places *places, *next;
	LL_FOREACH_SAFE(pool->places, places, next)
	{
		free(places);
	}
	close(pool->wake_write_fd);
	pthread_cond_destroy(&pool->has_ready);
	pthread_mutex_destroy(&pool->lock);
	free(pool);
}

/* ---- under lock */

/* Gives the free places of a kind to those who wait. */
static void fill_places(struct net_work_pool *pool, struct net_work_places *places)
{
	unsigned most = places->kind->max_running;
	while (places->waiting != NULL && places->n_taken < most &&
		places->n_taken + places->n_abandoned < most + NET_WORK_MAX_ABANDONED) {
		struct net_work *work = places->waiting;
		DL_DELETE(places->waiting, work);
		DL_APPEND(pool->ready, work);
		work->state = WORK_READY;
		places->n_taken++;
		pool->n_ready++;
		pthread_cond_signal(&pool->has_ready);
	}
}

static void remove_ready(struct net_work_pool *pool, struct net_work *work)
{
	DL_DELETE(pool->ready, work);
	pool->n_ready--;
}

static void wake_loop(struct net_work_pool *pool)
{
	if (!pool->is_woken)
		pool->is_woken = write(pool->wake_write_fd, "", 1) == 1;
}

static void end_run(struct net_work_pool *pool, struct net_work *work)
{
	DL_DELETE(pool->running, work);
	if (pool->is_ended) { /* the loop has gone */
		pthread_mutex_unlock(&pool->lock);
		free_work(work);
		pthread_mutex_lock(&pool->lock);
		return;
	}
	if (atomic_load(&work->is_cancelled))
		work->places->n_abandoned--;
	else
		work->places->n_taken--;
	work->state = WORK_FINISHED;
	DL_APPEND(pool->finished, work);
	fill_places(pool, work->places);
	wake_loop(pool);
}

/* NULL: nothing came in a long time, or the pool has ended. */
static struct net_work *wait_for_ready(struct net_work_pool *pool)
{
	struct timespec until;
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += IDLE_S;
	bool is_late = false;
	while (pool->ready == NULL && !pool->is_ended && !is_late) {
		bool stays = pool->keeps_thread && pool->n_threads == 1;
		int error =
			stays ? pthread_cond_wait(&pool->has_ready, &pool->lock)
			      : pthread_cond_timedwait(&pool->has_ready, &pool->lock, &until);
		is_late = error == ETIMEDOUT && !(pool->keeps_thread && pool->n_threads == 1);
	}
	return pool->ready;
}

/* ---- a thread */
static void *thread_main(void *arg)
{
	struct net_work_pool *pool = arg;
	struct net_work *work;
	pthread_mutex_lock(&pool->lock);
	while ((work = wait_for_ready(pool)) != NULL) {
		pool->n_looking--;
		remove_ready(pool, work);
		DL_APPEND(pool->running, work);
		work->state = WORK_RUNNING;
		pthread_mutex_unlock(&pool->lock);
		work->places->kind->run(work->arg, &work->is_cancelled);
		pthread_mutex_lock(&pool->lock);
		end_run(pool, work);
		pool->n_looking++;
	}
	pool->n_looking--;
	pool->n_threads--;
	pthread_mutex_unlock(&pool->lock);
	unref_pool(pool);
	return NULL;
}

static bool start_thread(struct net_work_pool *pool)
{
	pthread_t thread;
	pthread_attr_t attr;
	sigset_t all, old;
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	sigfillset(&all); /* signals belong to the loop */
	pthread_sigmask(SIG_SETMASK, &all, &old);
	bool ok = pthread_create(&thread, &attr, thread_main, pool) == 0;
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	pthread_attr_destroy(&attr);
	return ok;
}

/* ---- the loop's thread, under lock */
static void start_threads(struct net_work_pool *pool)
{
	while (pool->n_ready > pool->n_looking) {
		/* counted first: it may run at once */
		pool->n_refs++;
		pool->n_threads++;
		pool->n_looking++;
		if (start_thread(pool))
			continue;
		pool->n_refs--;
		pool->n_threads--;
		pool->n_looking--;
		net_loop_timer_arm(pool->retry, RETRY_MS);
		return;
	}
}

/* ---- the loop's thread */
static void on_retry(void *arg)
{
	struct net_work_pool *pool = arg;
	pthread_mutex_lock(&pool->lock);
	start_threads(pool);
	pthread_mutex_unlock(&pool->lock);
}

static struct net_work *take_finished(struct net_work_pool *pool)
{
	pthread_mutex_lock(&pool->lock);
	struct net_work *work = pool->finished;
	if (work != NULL)
		DL_DELETE(pool->finished, work);
	pthread_mutex_unlock(&pool->lock);
	return work;
}

static void on_wake(evutil_socket_t fd, short what, void *arg)
{
	struct net_work_pool *pool = arg;
	char byte;
	(void)what;
	pthread_mutex_lock(&pool->lock);
	bool has_byte = read(fd, &byte, 1) == 1;
	pool->is_woken = pool->is_woken && !has_byte;
	pthread_mutex_unlock(&pool->lock);
	for (int i = 0; i < MAX_DONE_A_TURN; i++) {
		struct net_work *work = take_finished(pool);
		if (work == NULL)
			return;
		if (!atomic_load(&work->is_cancelled))
			work->places->kind->done(work->arg);
		free_work(work);
	}
	event_active(pool->wake, EV_READ, 1); /* keys are seen in between */
}

struct net_work_pool *net_work_pool_new(struct net_loop *loop, struct err *err)
{
	int ends[2];
	if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) {
		err_set_errno(err, errno, "pipe");
		return NULL;
	}
	struct net_work_pool *pool = x_calloc(1, sizeof *pool);
	pool->n_refs = 1;
	pool->wake_read_fd = ends[0];
	pool->wake_write_fd = ends[1];
	pthread_mutex_init(&pool->lock, NULL);
	pthread_cond_init(&pool->has_ready, NULL);
	pool->retry = net_loop_timer_new(loop, on_retry, pool);
	pool->wake = event_new(loop->base, ends[0], EV_READ | EV_PERSIST, on_wake, pool);
	if (pool->wake == NULL || event_add(pool->wake, NULL) != 0)
		abort();
	return pool;
}

/* What has not begun, and what nobody has been told of. */
static struct net_work *take_rest(struct net_work_pool *pool)
{
	struct net_work *rest = NULL, *work;
	struct net_work_places *places;
	LL_FOREACH(pool->places, places)
	{
		DL_CONCAT(rest, places->waiting);
		places->waiting = NULL;
	}
	DL_CONCAT(rest, pool->ready);
	DL_CONCAT(rest, pool->finished);
	pool->ready = pool->finished = NULL;
	pool->n_ready = 0;
	DL_FOREACH(pool->running, work)
		atomic_store(&work->is_cancelled, true);
	return rest;
}

/* Nobody waits for what runs. */
void net_work_pool_free(struct net_work_pool *pool)
{
	struct net_work *work, *next;
	if (pool == NULL)
		return;
	event_free(pool->wake);
	close(pool->wake_read_fd);
	net_loop_timer_free(pool->retry);
	pthread_mutex_lock(&pool->lock);
	struct net_work *rest = take_rest(pool);
	pool->is_ended = true;
	pthread_cond_broadcast(&pool->has_ready);
	pthread_mutex_unlock(&pool->lock);
	DL_FOREACH_SAFE(rest, work, next)
		free_work(work);
	unref_pool(pool);
}

static struct net_work_places *places_of(
	struct net_work_pool *pool, const struct net_work_kind *kind)
{
	struct net_work_places *places;
	LL_SEARCH_SCALAR(pool->places, places, kind, kind);
	if (places == NULL) {
		places = x_calloc(1, sizeof *places);
		places->kind = kind;
		LL_PREPEND(pool->places, places);
	}
	return places;
}

struct net_work *net_work_start(
	struct net_loop *loop, const struct net_work_kind *kind, void *arg_take)
{
	struct net_work_pool *pool = loop->work;
	struct net_work *work = x_calloc(1, sizeof *work);
	work->pool = pool;
	work->arg = arg_take;
	pthread_mutex_lock(&pool->lock);
	work->places = places_of(pool, kind);
	DL_APPEND(work->places->waiting, work);
	fill_places(pool, work->places);
	start_threads(pool);
	pthread_mutex_unlock(&pool->lock);
	return work;
}

void net_work_cancel(struct net_work *work)
{
	if (work == NULL)
		return;
	struct net_work_pool *pool = work->pool;
	struct net_work_places *places = work->places;
	pthread_mutex_lock(&pool->lock);
	enum work_state state = work->state;
	if (state == WORK_WAITING) {
		DL_DELETE(places->waiting, work);
	} else if (state == WORK_READY) {
		remove_ready(pool, work);
		places->n_taken--;
	} else if (state == WORK_RUNNING) {
		atomic_store(&work->is_cancelled, true);
		places->n_taken--;
		places->n_abandoned++;
	} else {
		DL_DELETE(pool->finished, work);
	}
	fill_places(pool, places);
	start_threads(pool);
	pthread_mutex_unlock(&pool->lock);
	if (state != WORK_RUNNING)
		free_work(work);
}

void net_work_keep_thread(struct net_loop *loop)
{
	pthread_mutex_lock(&loop->work->lock);
	loop->work->keeps_thread = true;
	pthread_mutex_unlock(&loop->work->lock);
}
