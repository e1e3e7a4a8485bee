// SPDX-License-Identifier: Apache-2.0
/* What waits for the disk waits off the loop, and nothing else waits for it. */
#include "tests/unit/engine/transfer/box.h"

#include "engine/net/work_pool.h"
#include "engine/transfer/internal.h"

#include <stdatomic.h>
#include <sys/resource.h>

static int n_synced, sync_error;

static void on_synced(void *arg, int error)
{
	assert_ptr_equal(arg, &n_synced);
	n_synced++;
	sync_error = error;
}

static void what_is_synced(void **state)
{
	struct rlimit old, low;
	struct err err = { 0 };
	int ends[2];

	(void)state;
	here_fill("f=text");
	int fd = open(here("f"), O_RDWR | O_CLOEXEC);
	n_synced = 0;
	struct net_work *sync = transfer_fsync_start(box_loop, fd, on_synced, &n_synced, &err);
	assert_non_null(sync);
	assert_int_equal(n_synced, 0); /* not before it returns */
	BOX_UNTIL(n_synced);
	assert_int_equal(sync_error, 0);
	/* what cannot be synced has nothing to lose */
	assert_int_equal(pipe(ends), 0);
	assert_non_null(transfer_fsync_start(box_loop, ends[1], on_synced, &n_synced, &err));
	BOX_UNTIL(n_synced == 2);
	assert_int_equal(sync_error, 0);
	close(ends[0]);
	close(ends[1]);
	/* nobody is told after a cancel */
	sync = transfer_fsync_start(box_loop, fd, on_synced, &n_synced, &err);
	net_work_cancel(sync);
	box_turns(10);
	assert_int_equal(n_synced, 2);
	/* it cannot begin */
	assert_null(transfer_fsync_start(box_loop, -1, on_synced, &n_synced, &err));
	assert_memory_equal(err.msg, "cannot sync the file: ", 22);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &old), 0);
	low = old;
	low.rlim_cur = (rlim_t)fd + 1;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &low), 0);
	err = (struct err){ 0 };
	sync = transfer_fsync_start(box_loop, fd, on_synced, &n_synced, &err);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &old), 0);
	assert_null(sync);
	assert_memory_equal(err.msg, "cannot sync the file: ", 22);
	box_turns(5);
	assert_int_equal(n_synced, 2);
	close(fd);
}

/* A disk that hangs: fsync waits for a byte in the gate, and none ever comes. */
static int gate[2] = { -1, -1 };
static atomic_int n_in_fsync;

int __real_fsync(int fd);
int __wrap_fsync(int fd);

int __wrap_fsync(int fd)
{
	char byte;

	if (gate[0] < 0)
		return __real_fsync(fd);
	n_in_fsync++;
	return read(gate[0], &byte, 1) == 1 ? __real_fsync(fd) : -1;
}

static void on_tick(void *arg)
{
	++*(int *)arg;
}

static void a_disk_that_hangs_stops_nothing_else(void **state)
{
	int n_ticks = 0;

	(void)state;
	box_put(&box, "f", "new");
	box_put(&box, "g", "other");
	here_fill("f=old");
	assert_int_equal(pipe(gate), 0);
	n_in_fsync = 0;
	struct transfer_opts opts = copy_opts(&box, "f", NULL, here("f"));
	opts.conflict = TRANSFER_OVERWRITE;
	copy_begin(&opts);
	BOX_UNTIL(n_in_fsync == 1);
	struct transfer *hung = copy.transfer;
	/* the loop goes on, and so does a copy that needs no sync */
	struct net_loop_timer *ticks = net_loop_timer_new(box_loop, on_tick, &n_ticks);
	net_loop_timer_arm_every(ticks, 1);
	opts = copy_opts(&box, "g", NULL, here("g"));
	copy_run(&opts);
	assert_int_equal(copy.code, ERR_NONE);
	BOX_UNTIL(n_ticks >= 20);
	net_loop_timer_free(ticks);
	/* given up it ends at once, and leaves what was there; the end of the loop and of the program do not wait for it */
	transfer_cancel(hung);
	box_turns(5);
	assert_string_equal(here_text(), "f=old g=other");
	assert_int_equal(n_in_fsync, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		BOX_TEST(what_is_synced),
		BOX_TEST(a_disk_that_hangs_stops_nothing_else),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
