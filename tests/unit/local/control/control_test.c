// SPDX-License-Identifier: Apache-2.0
/* The control library against the real sandmux-locald, without isolation and without a daemon token. */
#include "tests/unit/unit.h"

#include "engine/base/err.h"
#include "engine/net/loop.h"
#include "local/control/control.h"
#include "local/control/remove.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

static char dir[64];
static struct control_opts opts = { .isolation = "none", .locald = LOCALD };

static int setup(void **state)
{
	(void)state;
	snprintf(dir, sizeof dir, "/tmp/sandmux-control-XXXXXX");
	assert_non_null(mkdtemp(dir));
	opts.state_dir = dir;
	return 0;
}

static int teardown(void **state)
{
	struct err err = { 0 };
	(void)state;
	if (!control_reset(&opts, &err))
		fail_msg("%s", err.msg);
	assert_int_not_equal(access(dir, F_OK), 0);
	return 0;
}

static void must_run(struct control_status *status)
{
	struct err err = { 0 };
	if (!control_ensure_running(&opts, status, &err))
		fail_msg("%s", err.msg);
	assert_true(status->is_running && status->is_ready);
	assert_true(status->pid > 1 && status->port > 0);
	assert_int_equal(access(status->kubeconfig, R_OK), 0);
}

static void test_up_and_down(void **state)
{
	struct control_status status, again;
	struct stat st;
	struct err err = { 0 };
	(void)state;
	assert_true(control_get_status(&opts, &status, &err));
	assert_false(status.is_running);
	assert_true(control_down(&opts, &err));
	must_run(&status);
	assert_int_equal(stat(status.kubeconfig, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	must_run(&again);
	assert_int_equal(again.pid, status.pid);
	assert_true(control_down(&opts, &err));
	assert_true(control_get_status(&opts, &again, &err));
	assert_false(again.is_running);
	must_run(&again);
	assert_int_not_equal(again.pid, status.pid);
	assert_int_equal(again.port, status.port);
}

static void test_a_stale_pid_is_nobody(void **state)
{
	struct control_status status;
	struct err err = { 0 };
	(void)state;
	must_run(&status);
	kill(status.pid, SIGKILL);
	for (int i = 0; i < 500; i++) {
		assert_true(control_get_status(&opts, &status, &err));
		if (!status.is_running)
			break;
		usleep(10000);
	}
	assert_false(status.is_running);
	assert_true(control_down(&opts, &err));
	must_run(&status);
}

struct ups {
	struct net_loop *loop;
	int left;
	pid_t pid;
};

static void on_up(void *arg, const struct err *err, const struct control_status *status)
{
	struct ups *ups = arg;
	if (err)
		fail_msg("%s", err->msg);
	if (ups->pid)
		assert_int_equal(ups->pid, status->pid);
	ups->pid = status->pid;
	if (--ups->left == 0)
		net_loop_stop(ups->loop);
}

static void test_two_at_once_and_cancel(void **state)
{
	struct err err = { 0 };
	struct ups ups = { .loop = net_loop_new(&err), .left = 2 };
	(void)state;
	assert_non_null(control_up_start(ups.loop, &opts, on_up, &ups, &err));
	struct control_up *cancelled = control_up_start(ups.loop, &opts, on_up, &ups, &err);
	assert_non_null(cancelled);
	assert_non_null(control_up_start(ups.loop, &opts, on_up, &ups, &err));
	control_up_cancel(cancelled);
	net_loop_run(ups.loop);
	net_loop_free(ups.loop);
}

static void test_failures(void **state)
{
	struct control_opts bad = opts;
	struct control_status status;
	struct err err = { 0 };
	(void)state;
	bad.locald = "/nonexistent/locald";
	assert_false(control_ensure_running(&bad, &status, &err));
	assert_non_null(strstr(err.msg, "cannot run"));
	bad.locald = LOCALD;
	bad.isolation = "nonsense";
	assert_false(control_ensure_running(&bad, &status, &err));
	assert_int_equal(err.code, ERR_LOCAL_NOT_RUNNING);
	bad.state_dir = "/proc/nope";
	bad.isolation = "none";
	assert_false(control_ensure_running(&bad, &status, &err));
	assert_true(control_get_status(&opts, &status, &err));
	assert_false(status.is_running);
}

static void test_remove_follows_no_link(void **state)
{
	char path[160], target[160];
	(void)state;
	int fd = open(dir, O_RDONLY | O_DIRECTORY);
	close(openat(fd, "lock", O_WRONLY | O_CREAT, 0600));
	assert_int_equal(mkdirat(fd, "trash", 0700), 0);
	assert_int_equal(mkdirat(fd, "volumes", 0700), 0);
	assert_int_equal(mkdirat(fd, "volumes/deep", 0700), 0);
	snprintf(path, sizeof path, "%s/trash/kept", dir);
	close(open(path, O_WRONLY | O_CREAT, 0600));
	snprintf(target, sizeof target, "%s/trash", dir);
	assert_int_equal(symlinkat(target, fd, "volumes/deep/link"), 0);
	close(openat(fd, "volumes/deep/file", O_WRONLY | O_CREAT, 0000));
	assert_int_equal(fchmodat(fd, "volumes/deep", 0000, 0), 0);
	struct control_remove_report report = { 0 };
	assert_true(control_remove_tree(fd, "volumes", &report));
	assert_int_equal(report.n_left, 0);
	assert_int_not_equal(faccessat(fd, "volumes", F_OK, 0), 0);
	assert_int_equal(access(path, F_OK), 0);
	close(fd);
}

static void test_reset_says_what_is_left(void **state)
{
	struct err err = { 0 };
	char path[160];
	int flags = 0;
	(void)state;
	int fd = open(dir, O_RDONLY | O_DIRECTORY);
	assert_int_equal(mkdirat(fd, "volumes", 0700), 0);
	close(openat(fd, "volumes/fixed", O_WRONLY | O_CREAT, 0600));
	/* not a folder of ours: nothing is touched */
	assert_false(control_reset(&opts, &err));
	assert_non_null(strstr(err.msg, "is not a state folder"));
	assert_int_equal(faccessat(fd, "volumes/fixed", F_OK, 0), 0);
	close(openat(fd, "lock", O_WRONLY | O_CREAT, 0600));
	close(openat(fd, "token.tmp-0123456789ab", O_WRONLY | O_CREAT, 0600));
	snprintf(path, sizeof path, "%s/volumes/fixed", dir);
	int file = open(path, O_RDONLY);
	if (ioctl(file, FS_IOC_GETFLAGS, &flags) != 0)
		skip();
	flags |= FS_IMMUTABLE_FL;
	if (ioctl(file, FS_IOC_SETFLAGS, &flags) != 0)
		skip(); /* not root, or a file system without the flag */
	assert_false(control_reset(&opts, &err));
	flags &= ~FS_IMMUTABLE_FL;
	assert_int_equal(ioctl(file, FS_IOC_SETFLAGS, &flags), 0);
	assert_non_null(strstr(err.msg, "volumes/fixed"));
	close(file);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_up_and_down, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_stale_pid_is_nobody, setup, teardown),
		cmocka_unit_test_setup_teardown(test_two_at_once_and_cancel, setup, teardown),
		cmocka_unit_test_setup_teardown(test_failures, setup, teardown),
		cmocka_unit_test_setup_teardown(test_remove_follows_no_link, setup, teardown),
		cmocka_unit_test_setup_teardown(test_reset_says_what_is_left, setup, teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
