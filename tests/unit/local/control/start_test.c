// SPDX-License-Identifier: Apache-2.0
/* How the backend is started and asked, with a script in its place that says how it was called. */
#include "tests/unit/unit.h"

#include "engine/base/err.h"
#include "engine/base/file.h"
#include "engine/base/mem.h"
#include "engine/base/str.h"
#include "local/control/control.h"
#include "local/control/remove.h"
#include "local/control/scope.h"
#include "local/control/state.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SOMEBODY = 12001 };

static char top[64], dir[80];
static struct control_opts opts;

static const char *at(const char *name)
{
	static char path[4][300];
	static unsigned next;
	char *out = path[next++ % 4];
	snprintf(out, sizeof path[0], "%s/%s", top, name);
	return out;
}

static void put(const char *name, mode_t mode, const char *text)
{
	assert_true(file_write_atomic(at(name), slice_of(text), mode, NULL));
}

static char *content(const char *name)
{
	size_t n;
	char *text = file_read(at(name), 65536, &n, NULL);
	return text ? text : x_strdup("");
}

static int setup(void **state)
{
	static char locald[100];
	(void)state;
	snprintf(top, sizeof top, "/tmp/sandmux-start-XXXXXX");
	assert_non_null(mkdtemp(top));
	snprintf(dir, sizeof dir, "%s/state", top);
	snprintf(locald, sizeof locald, "%s/sandmux-locald", top);
	opts = (struct control_opts){ .state_dir = dir, .locald = locald, .timeout_ms = 8000 };
	return 0;
}

static int teardown(void **state)
{
	struct err err = { 0 };
	(void)state;
	if (!control_down(&opts, &err))
		fail_msg("%s", err.msg);
	int fd = open(top, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(control_remove_content(fd, NULL));
	close(fd);
	return rmdir(top);
}

/* What it does before it says "ready"; "$4" is where it says that. */
#define SERVES                                                                                 \
	"umask 077; exec 9>$2/lock; flock -x 9; echo \"$$ 1234\" >$2/pid\n"                    \
	"echo ready >/proc/self/fd/$4\n"                                                       \
	"while [ -e $2/lock ]; do sleep 0.05 9>&-; done\n"

static void test_how_it_is_called(void **state)
{
	struct control_status status;
	struct err err = { 0 };
	struct stat st;
	char wanted[400], number[40];
	(void)state;
	put("sandmux-locald", 0700,
		"#!/bin/sh\n"
		"echo \"$*\" >${2%/*}/args; pwd >${2%/*}/cwd\n"
		"[ -e /proc/$$/fd/60 ] || echo closed >${2%/*}/fds; readlink /proc/$$/fd/0 >${2%/*}/stdin\n"
		"cut -d' ' -f6 /proc/$$/stat >${2%/*}/sid; echo out; echo wrong >&2\n" SERVES);
	opts.isolation = "none";
	opts.daemon_auth = "off";
	assert_int_equal(dup2(2, 60), 60); /* what is ours does not live on in it */
	if (!control_ensure_running(&opts, &status, &err))
		fail_msg("%s", err.msg);
	close(60);
	assert_true(status.is_running && status.is_ready);
	assert_int_equal(status.port, 1234);
	char *args = content("args"), *cwd = content("cwd"), *fds = content("fds"),
	     *in = content("stdin"), *sid = content("sid"),
	     *errors = content("state/locald.stderr");
	int ready_fd = 0;
	const char *after = strstr(args, "--ready-fd ");
	assert_non_null(after);
	for (after += 11; *after >= '0' && *after <= '9'; after++)
		ready_fd = 10 * ready_fd + *after - '0';
	snprintf(wanted, sizeof wanted,
		"--state-dir %s --ready-fd %d --isolation none --daemon-auth off\n", dir,
		ready_fd);
	assert_string_equal(args, wanted);
	assert_string_equal(cwd, "/\n");
	assert_string_equal(in, "/dev/null\n");
	assert_string_equal(fds, "closed\n");
	assert_string_equal(errors, "out\nwrong\n");
	/* a session of its own, which it does not lead */
	snprintf(number, sizeof number, "%d\n", (int)getsid(0));
	assert_string_not_equal(sid, number);
	snprintf(number, sizeof number, "%d\n", (int)status.pid);
	assert_string_not_equal(sid, number);
	assert_int_equal(stat(at("state/locald.stderr"), &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	assert_int_equal(stat(dir, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0700);
	free(args);
	free(cwd);
	free(fds);
	free(in);
	free(sid);
	free(errors);
}

static void test_one_that_runs(void **state)
{
	struct control_status status, again;
	struct err err = { 0 };
	(void)state;
	put("sandmux-locald", 0700, "#!/bin/sh\n" SERVES);
	if (!control_ensure_running(&opts, &status, &err))
		fail_msg("%s", err.msg);
	/* it is not started again */
	assert_true(control_ensure_running(&opts, &again, &err));
	assert_int_equal(again.pid, status.pid);
	/* which is no time to mend it */
	struct str report;
	str_init(&report, 100);
	assert_false(control_recover(&opts, &report, &err));
	assert_int_equal(err.code, ERR_OP_BUSY);
	str_deinit(&report);
	assert_true(control_down(&opts, &err));
	control_state_look(&again);
	assert_false(again.is_running);
}

static void must_fail(
	const char *script, int64_t timeout_ms, enum err_code code, const char *words)
{
	struct control_status status;
	struct err err = { 0 };
	put("sandmux-locald", 0700, script);
	opts.timeout_ms = timeout_ms;
	assert_false(control_ensure_running(&opts, &status, &err));
	if (err.code != code || !strstr(err.msg, words))
		fail_msg("%s: %s %s", script, err_name(&err), err.msg);
}

static void test_what_it_says_when_it_fails(void **state)
{
	(void)state;
	must_fail("#!/bin/sh\necho 'kube.conflict: not so' >/proc/self/fd/$4\n", 8000,
		ERR_KUBE_CONFLICT, "not so");
	/* the first line, however it comes */
	must_fail("#!/bin/sh\nprintf 'kube.con' >/proc/self/fd/$4; sleep 0.05\n"
		  "printf 'flict: in pieces\\nmore' >/proc/self/fd/$4\n",
		8000, ERR_KUBE_CONFLICT, "in pieces");
	must_fail("#!/bin/sh\nprintf 'kube.conflict: no end' >/proc/self/fd/$4\n", 8000,
		ERR_KUBE_CONFLICT, "no end");
	must_fail("#!/bin/sh\n", 8000, ERR_LOCAL_NOT_RUNNING, "ended before it was ready");
	must_fail("#!/bin/sh\nhead -c 3000 /dev/zero | tr '\\0' x >/proc/self/fd/$4\n", 8000,
		ERR_LOCAL_NOT_RUNNING, "xxxxxxxx");
	/* "ready", and then it is not */
	must_fail("#!/bin/sh\necho ready >/proc/self/fd/$4\n", 8000, ERR_LOCAL_NOT_RUNNING,
		"ended before it was ready; see ");
	/* it holds the folder, and does not get ready */
	must_fail("#!/bin/sh\numask 077; exec 9>$2/lock; flock -x 9; echo $$ >$2/pid\n"
		  "while [ -e $2/lock ]; do sleep 0.05 9>&-; done\n",
		300, ERR_OP_TIMEOUT, "did not get ready; see ");
}

/* Somebody else was quicker: it is waited for. */
static void test_another_was_quicker(void **state)
{
	struct control_status status;
	struct err err = { 0 };
	(void)state;
	put("sandmux-locald", 0700,
		"#!/bin/sh\n"
		"umask 077; (exec 9>$2/lock; flock -x 9; echo 2 >$2/pid; sleep 0.2; echo '2 77' >$2/pid;"
		" sleep 0.3) >/dev/null 2>&1 &\n"
		"while flock -n -x $2/lock true; do sleep 0.02; done\n"
		"echo 'op.already_open: another one' >/proc/self/fd/$4\n");
	if (!control_ensure_running(&opts, &status, &err))
		fail_msg("%s", err.msg);
	assert_int_equal(status.port, 77);
	for (int i = 0; i < 300 && status.is_running; i++) {
		usleep(10000);
		control_state_look(&status);
	}
	assert_false(status.is_running);
}

static void recover(const char *script, bool ok, enum err_code code, const char *said)
{
	struct err err = { 0 };
	struct str report;
	char wanted[300];
	str_init(&report, 100000);
	put("sandmux-locald", 0700, script);
	assert_int_equal(control_recover(&opts, &report, &err), ok);
	snprintf(wanted, sizeof wanted, "--recover --state-dir %s --ready-fd\nsecond\n", dir);
	assert_string_equal(report.p ? report.p : "", said ? said : wanted);
	if (!ok && err.code != code)
		fail_msg("%s: %s", err_name(&err), err.msg);
	str_deinit(&report);
}

static void test_how_it_is_asked_to_mend(void **state)
{
	static char locald[] = "/nonexistent/locald";
	(void)state;
	recover("#!/bin/sh\necho \"$1 $2 $3 $4\"; sleep 0.02; echo second\n", true, ERR_NONE,
		NULL);
	recover("#!/bin/sh\necho \"$1 $2 $3 $4\"; echo second; echo unseen >&2\n"
		"echo 'kube.conflict: no' >/proc/self/fd/$5; exit 1\n",
		false, ERR_KUBE_CONFLICT, NULL);
	recover("#!/bin/sh\nexit 2\n", false, ERR_LOCAL_NOT_RUNNING, "");
	recover("#!/bin/sh\nkill -9 $$\n", false, ERR_LOCAL_NOT_RUNNING, "");
	opts.locald = locald;
	recover("", false, ERR_SYSTEM, "");
}

/* ---- where its program is ---- */

static void test_where_its_program_is(void **state)
{
	struct err err = { 0 };
	char self[300], wanted[320];
	(void)state;
	char *path = control_state_find_locald("/any/where", &err);
	assert_string_equal(path, "/any/where");
	free(path);
	ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
	assert_true(n > 0);
	self[n] = '\0';
	*strrchr(self, '/') = '\0';
	snprintf(wanted, sizeof wanted, "%s/sandmux-locald", self);
	path = control_state_find_locald(NULL, &err);
	if (access(wanted, X_OK) == 0) {
		assert_string_equal(path, wanted);
	} else {
		assert_null(path);
		assert_int_equal(err.code, ERR_LOCAL_NOT_RUNNING);
		assert_non_null(strstr(err.msg, self));
	}
	free(path);
}

/* ---- a cgroup from systemd ---- */

/* In a child, as somebody who is not root: does the manager of that folder start programs? */
static bool works_below(const char *runtime_dir)
{
	int status = -1;
	pid_t pid = fork();
	if (pid == 0) {
		if (geteuid() == 0 && seteuid(SOMEBODY) != 0)
			_exit(9);
		if (chdir("/") != 0)
			_exit(9);
		setenv("XDG_RUNTIME_DIR", runtime_dir, 1);
		setenv("PATH", at(""), 1);
		_exit(control_scope_works(open("/dev/null", O_RDONLY)) ? 1 : 0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) != 9);
	return WEXITSTATUS(status) == 1;
}

static void test_a_scope(void **state)
{
	struct sockaddr_un un = { .sun_family = AF_UNIX };
	(void)state;
	assert_int_equal(chmod(top, 0755), 0);
	assert_int_equal(mkdir(at("systemd"), 0755), 0);
	put("systemd-run", 0755, "#!/bin/sh\nprintf '%s,' \"$@\" >${0%/*}/asked\n");
	put("asked", 0666, "");
	assert_int_equal(chmod(at("asked"), 0666), 0);
	assert_false(works_below(top)); /* nobody listens */
	snprintf(un.sun_path, sizeof un.sun_path, "%s/systemd/private", top);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(bind(fd, (struct sockaddr *)&un, sizeof un), 0);
	assert_int_equal(chmod(un.sun_path, 0777), 0);
	assert_int_equal(listen(fd, 8), 0);
	assert_true(works_below(top));
	char *asked = content("asked");
	assert_string_equal(
		asked, "--user,--scope,--quiet,--collect,--property=Delegate=yes,--,true,");
	free(asked);
	assert_false(works_below(at("none")));
	assert_false(works_below(top + 1)); /* not from the root */
	put("systemd-run", 0755, "#!/bin/sh\nexit 1\n");
	assert_false(works_below(top));
	put("systemd-run", 0755, "#!/bin/sh\nkill -9 $$\n");
	assert_false(works_below(top));
	assert_int_equal(unlink(at("systemd-run")), 0);
	assert_false(works_below(top));
	close(fd);
	if (geteuid() == 0) {
		char *words[SCOPE_WORDS];
		assert_int_equal(control_scope_prefix(words), 6);
		assert_string_equal(words[0], "systemd-run");
		assert_string_equal(words[1], "--scope");
		assert_string_equal(words[5], "--");
	}
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_how_it_is_called),
		TEST(test_one_that_runs),
		TEST(test_what_it_says_when_it_fails),
		TEST(test_another_was_quicker),
		TEST(test_how_it_is_asked_to_mend),
		TEST(test_where_its_program_is),
		TEST(test_a_scope),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
