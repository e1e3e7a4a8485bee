// SPDX-License-Identifier: Apache-2.0
/* Each in a process of its own, which ends as it would: by which signal, what it had said before, what was put right. */
#include "tests/unit/unit.h"

#include "engine/base/fatal_signal.h"

#include <errno.h>
#include <fcntl.h>
#include <pty.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#define COUNT(a) (sizeof(a) / sizeof(a)[0])
/* In the child: it says where, and ends with a status that nothing else has. */
#define MUST(condition)                                                                        \
	do {                                                                                   \
		if (!(condition)) {                                                            \
			dprintf(2, "line %d: %s\n", __LINE__, #condition);                     \
			_exit(99);                                                             \
		}                                                                              \
	} while (0)

enum { TOLD, SCREEN };
static int told[2], screen[2]; /* pipes: numbers of signals; the terminal's bytes */
static char folder[64];
static int folder_fd;

static int set_up(void **state)
{
	(void)state;
	snprintf(folder, sizeof folder, "/tmp/sandmux-signal-XXXXXX");
	if (!mkdtemp(folder) || pipe(told) < 0 || pipe(screen) < 0)
		return -1;
	folder_fd = open(folder, O_RDONLY | O_DIRECTORY);
	return folder_fd >= 0 ? 0 : -1;
}

static int tear_down(void **state)
{
	(void)state;
	for (int i = 0; i < 2; i++) {
		close(told[i]);
		close(screen[i]);
	}
	close(folder_fd);
	return rmdir(folder);
}

static pid_t begin(void (*fn)(void))
{
	const struct rlimit no_core = { 0, 0 };
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0) {
		setrlimit(RLIMIT_CORE, &no_core);
		/* not those of cmocka or a sanitizer, and nothing ignored by whoever began this */
		sigset_t none;
		sigemptyset(&none);
		sigprocmask(SIG_SETMASK, &none, NULL);
		for (int i = 1; i < 65; i++)
			signal(i, SIG_DFL);
		fn();
		_exit(0);
	}
	return pid;
}

static int end(pid_t pid)
{
	int status = 0;

	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status;
}

static void make(const char *name)
{
	int fd = openat(folder_fd, name, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	close(fd);
}

static bool is_there(const char *name)
{
	return faccessat(folder_fd, name, F_OK, 0) == 0;
}

/* What has come so far. */
static size_t take(int fd, char *into, size_t room)
{
	fcntl(fd, F_SETFL, O_NONBLOCK);
	ssize_t n = read(fd, into, room);
	return n > 0 ? (size_t)n : 0;
}

static void assert_told(const char *numbers, size_t n)
{
	char got[100];

	assert_int_equal(take(told[0], got, sizeof got), n);
	assert_memory_equal(got, numbers, n);
}

static void assert_screen(const char *text)
{
	char got[2000];
	size_t n = take(screen[0], got, sizeof got);

	assert_int_equal(n, strlen(text));
	assert_memory_equal(got, text, n);
}

/* ---- which are which */
static void kinds(void **state)
{
	static const int crash[] = { SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGSYS,
		SIGTRAP };
	static const int not [] = { SIGKILL, SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU, SIGCONT,
		SIGCHLD, SIGURG, SIGWINCH, 0, -1, 65, 66, 1000 };
	static const int orderly[] = { SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGPIPE, SIGALRM,
		SIGUSR1, SIGUSR2, SIGXCPU, SIGXFSZ, SIGVTALRM, SIGPROF, SIGIO, SIGPWR, 1, 64 };
	(void)state;
	for (size_t i = 0; i < COUNT(crash); i++)
		assert_int_equal(fatal_signal_kind(crash[i]), FATAL_SIGNAL_CRASH);
	for (size_t i = 0; i < COUNT(not ); i++)
		assert_int_equal(fatal_signal_kind(not [i]), FATAL_SIGNAL_NOT);
	for (size_t i = 0; i < COUNT(orderly); i++)
		assert_int_equal(fatal_signal_kind(orderly[i]), FATAL_SIGNAL_ORDERLY);
}

/* ---- orderly ones */
static struct {
	int patience;
	int raised[6];
} now;

static void comes_in_order(void)
{
	fatal_signal_init();
	MUST(!fatal_signal_is_caught());
	fatal_signal_set_terminal(screen[1], NULL, "bye");
	fatal_signal_remember_file(folder_fd, "temp");
	fatal_signal_catch(told[1], now.patience);
	MUST(fatal_signal_is_caught());
	MUST(fatal_signal_last() == 0);
	for (int i = 0; now.raised[i]; i++) {
		raise(now.raised[i]);
		MUST(fatal_signal_last() == now.raised[i]);
	}
}

static void patience_ends(void **state)
{
	static const struct {
		int patience;
		int raised[6];
		const char *told;
		int ends_by; /* 0: it lives */
	} rows[] = {
		{ 2, { SIGTERM, SIGINT }, "\x0f\x02", 0 },
		{ 2, { SIGTERM, SIGINT, SIGTERM }, "\x0f\x02", SIGTERM },
		{ 1, { SIGUSR1 }, "\x0a", 0 },
		{ 1, { SIGUSR1, SIGUSR2 }, "\x0a", SIGUSR2 },
		{ 0, { SIGINT }, "", SIGINT },
		{ 0, { SIGHUP }, "", SIGHUP },
		/* a closed window sends it twice, and after others */
		{ 1, { SIGHUP, SIGHUP, SIGHUP }, "\x01", 0 },
		{ 2, { SIGHUP, SIGHUP, SIGTERM }, "\x01\x0f", 0 },
		{ 1, { SIGTERM, SIGHUP, SIGHUP }, "\x0f\x01", 0 },
		{ 1, { SIGTERM, SIGHUP, SIGTERM }, "\x0f\x01", SIGTERM },
		{ 1, { SIGHUP, SIGTERM }, "\x01", SIGTERM },
	};
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		make("temp");
		now.patience = rows[i].patience;
		memcpy(now.raised, rows[i].raised, sizeof now.raised);
		int status = end(begin(comes_in_order));
		if (rows[i].ends_by
				? !WIFSIGNALED(status) || WTERMSIG(status) != rows[i].ends_by
				: status != 0)
			fail_msg("row %zu: status %#x", i, (unsigned)status);
		assert_told(rows[i].told, strlen(rows[i].told));
		/* put right only if it ended so */
		assert_screen(rows[i].ends_by ? "bye" : "");
		assert_int_equal(is_there("temp"), rows[i].ends_by == 0);
		unlinkat(folder_fd, "temp", 0);
	}
}

static void every_orderly_one_is_caught(void)
{
	char byte;

	fatal_signal_init();
	fatal_signal_catch(told[1], 100);
	for (int i = 1; i < 65; i++) {
		/* the C library keeps two for itself */
		if (fatal_signal_kind(i) != FATAL_SIGNAL_ORDERLY || i == SIGPIPE || i == 32 ||
			i == 33)
			continue;
		MUST(raise(i) == 0);
		MUST(fatal_signal_last() == i);
		MUST(read(told[0], &byte, 1) == 1 && byte == i);
	}
}

static void broken_pipes_are_ours(void)
{
	int ends[2];

	fatal_signal_init();
	fatal_signal_catch(told[1], 1);
	MUST(pipe(ends) == 0);
	close(ends[0]);
	MUST(write(ends[1], "x", 1) == -1 && errno == EPIPE);
	raise(SIGPIPE);
	MUST(fatal_signal_last() == 0);
	/* from elsewhere it means something */
	pid_t parent = getpid(), child = fork();
	if (child == 0) {
		kill(parent, SIGPIPE);
		_exit(0);
	}
	while (waitpid(child, NULL, 0) < 0)
		MUST(errno == EINTR);
	MUST(fatal_signal_last() == SIGPIPE);
}

static void what_was_ignored_stays(void)
{
	signal(SIGHUP, SIG_IGN); /* nohup */
	signal(SIGABRT, SIG_IGN);
	fatal_signal_init();
	fatal_signal_catch(told[1], 0);
	raise(SIGHUP);
	raise(SIGABRT);
	MUST(fatal_signal_last() == 0);
	fatal_signal_release();
	raise(SIGHUP);
}

static volatile sig_atomic_t n_old;

static void on_old(int number)
{
	(void)number;
	n_old++;
}

static void old_ones_come_back(void)
{
	signal(SIGUSR1, on_old);
	for (int round = 1; round <= 2; round++) {
		fatal_signal_catch(told[1], 9);
		fatal_signal_catch(told[1], 9); /* again is fine */
		raise(SIGUSR1);
		MUST(n_old == round - 1);
		MUST(fatal_signal_last() == SIGUSR1);
		fatal_signal_release();
		MUST(!fatal_signal_is_caught());
		raise(SIGUSR1);
		MUST(n_old == round);
	}
	fatal_signal_init();
	struct sigaction pipe_now;
	MUST(sigaction(SIGPIPE, NULL, &pipe_now) == 0 && pipe_now.sa_handler == SIG_IGN);
}

static void a_wait_is_interrupted(void)
{
	const struct itimerval soon = { .it_value = { .tv_usec = 1000 },
		.it_interval = { .tv_usec = 1000 } };
	int ends[2];
	char byte;

	MUST(pipe(ends) == 0);
	fatal_signal_catch(told[1], 1000000);
	setitimer(ITIMER_REAL, &soon, NULL);
	MUST(read(ends[0], &byte, 1) == -1 && errno == EINTR);
	MUST(fatal_signal_last() == SIGALRM);
}

static void patience_may_change(void)
{
	fatal_signal_catch(told[1], 0);
	fatal_signal_set_patience(2);
	raise(SIGTERM);
	fatal_signal_set_patience(1);
	raise(SIGTERM);
	MUST(fatal_signal_last() == SIGTERM);
	raise(SIGTERM);
}

static void catching(void **state)
{
	(void)state;
	assert_int_equal(end(begin(every_orderly_one_is_caught)), 0);
	assert_int_equal(end(begin(broken_pipes_are_ours)), 0);
	assert_told("\x0d", 1);
	assert_int_equal(end(begin(what_was_ignored_stays)), 0);
	assert_told("", 0);
	assert_int_equal(end(begin(old_ones_come_back)), 0);
	assert_told("\x0a\x0a", 2);
	assert_int_equal(end(begin(a_wait_is_interrupted)), 0);
	take(told[0], (char[100]){ 0 }, 100);
	int status = end(begin(patience_may_change));
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
	assert_told("\x0f\x0f", 2);
}

/* ---- crashes */
static int crash;
static bool is_handled_before;

static void crashes(void)
{
	if (is_handled_before)
		signal(crash, on_old);
	fatal_signal_guard_crashes();
	fatal_signal_guard_crashes();
	fatal_signal_set_terminal(screen[1], NULL, "gone");
	fatal_signal_remember_file(folder_fd, "temp");
	raise(crash);
	MUST(n_old == 1);
}

static void crashes_are_put_right(void **state)
{
	static const int numbers[] = { SIGABRT, SIGILL, SIGFPE, SIGTRAP, SIGSYS, SIGSEGV,
		SIGBUS };
	(void)state;
	for (size_t i = 0; i < COUNT(numbers); i++) {
		make("temp");
		crash = numbers[i];
		int status = end(begin(crashes));
		assert_true(WIFSIGNALED(status) && WTERMSIG(status) == crash);
		assert_screen("gone");
		assert_false(is_there("temp"));
	}
	/* who handled it before does so afterwards */
	is_handled_before = true;
	crash = SIGTRAP;
	make("temp");
	assert_int_equal(end(begin(crashes)), 0);
	assert_false(is_there("temp"));
	assert_screen("gone");
	is_handled_before = false;
}

/* ---- what is put right */
static void files_are_remembered(void **state)
{
	char name[300], longest[256];
	int slots[64];

	(void)state;
	memset(name, 'n', sizeof name);
	name[256] = 0;
	assert_int_equal(fatal_signal_remember_file(folder_fd, name), -1);
	memset(longest, 'n', 255);
	longest[255] = 0;
	for (int i = 0; i < 64; i++) {
		slots[i] = fatal_signal_remember_file(folder_fd, i ? "x" : longest);
		assert_int_equal(slots[i], i);
	}
	assert_int_equal(fatal_signal_remember_file(folder_fd, "x"), -1);
	fatal_signal_forget_file(-1);
	fatal_signal_forget_file(64);
	fatal_signal_forget_file(1000);
	fatal_signal_forget_file(17);
	assert_int_equal(fatal_signal_remember_file(folder_fd, "y"), 17);
	for (int i = 0; i < 64; i++)
		fatal_signal_forget_file(i);
	assert_int_equal(fatal_signal_remember_file(folder_fd, "y"), 0);
	fatal_signal_forget_file(0);
}

static void ends_with_some_files(void)
{
	fatal_signal_remember_file(folder_fd, "a");
	int b = fatal_signal_remember_file(folder_fd, "b");
	fatal_signal_remember_file(folder_fd, "c");
	fatal_signal_forget_file(b);
	fatal_signal_catch(told[1], 0);
	raise(SIGTERM);
}

static void only_what_is_remembered_goes(void **state)
{
	(void)state;
	make("a");
	make("b");
	make("c");
	make("d");
	assert_true(WIFSIGNALED(end(begin(ends_with_some_files))));
	assert_false(is_there("a"));
	assert_true(is_there("b"));
	assert_false(is_there("c"));
	assert_true(is_there("d"));
	unlinkat(folder_fd, "b", 0);
	unlinkat(folder_fd, "d", 0);
}

static void the_terminal_is_given_back_once(void **state)
{
	char long_text[600];

	(void)state;
	fatal_signal_restore_terminal(); /* none */
	fatal_signal_set_terminal(screen[1], NULL, "one");
	errno = 77;
	fatal_signal_restore_terminal();
	assert_int_equal(errno, 77);
	assert_screen("one");
	fatal_signal_restore_terminal();
	assert_screen("");
	fatal_signal_set_terminal(screen[1], NULL, "two");
	fatal_signal_set_terminal(-1, NULL, "three");
	fatal_signal_restore_terminal();
	assert_screen("");
	fatal_signal_set_terminal(screen[1], NULL, NULL);
	fatal_signal_restore_terminal();
	assert_screen("");
	memset(long_text, 'x', sizeof long_text - 1);
	long_text[sizeof long_text - 1] = 0;
	fatal_signal_set_terminal(screen[1], NULL, long_text);
	fatal_signal_restore_terminal();
	long_text[FATAL_SIGNAL_BYTES - 1] = 0;
	assert_screen(long_text);
	/* the other side has gone: no wait, no signal */
	int ends[2];
	assert_int_equal(pipe(ends), 0);
	close(ends[0]);
	signal(SIGPIPE, SIG_IGN);
	fatal_signal_set_terminal(ends[1], NULL, "four");
	fatal_signal_restore_terminal();
	close(ends[1]);
}

static int slow[2];

static void reads_to_the_end(void)
{
	char bytes[3000];
	ssize_t n;
	size_t all = 0;
	char last = 0;

	close(slow[1]);
	while ((n = read(slow[0], bytes, sizeof bytes)) > 0) {
		all += (size_t)n;
		last = bytes[n - 1];
	}
	_exit(last == '!' ? (int)(all % 97) : 98);
}

static void a_full_terminal_is_waited_for(void **state)
{
	static char fill[1 << 17];
	size_t all = 0;
	ssize_t n;

	(void)state;
	assert_int_equal(pipe(slow), 0);
	assert_true(fcntl(slow[1], F_SETPIPE_SZ, 4096) >= 4096);
	fcntl(slow[1], F_SETFL, O_NONBLOCK);
	while ((n = write(slow[1], fill, sizeof fill)) > 0)
		all += (size_t)n;
	pid_t reader = begin(reads_to_the_end);
	fatal_signal_set_terminal(slow[1], NULL, "the end of it!");
	fatal_signal_restore_terminal();
	close(slow[1]);
	close(slow[0]);
	int status = end(reader);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), (all + strlen("the end of it!")) % 97);
}

/* ---- a terminal's modes */
static int tty[2];
static bool is_leader, in_background;

static bool is_raw(int fd)
{
	struct termios modes;

	MUST(tcgetattr(fd, &modes) == 0);
	return !(modes.c_lflag & ICANON);
}

static void gives_the_terminal_back(void)
{
	struct termios old, raw;

	if (is_leader) {
		MUST(setsid() > 0);
		MUST(ioctl(tty[1], TIOCSCTTY, 0) == 0);
	}
	MUST(tcgetattr(tty[1], &old) == 0);
	raw = old;
	cfmakeraw(&raw);
	MUST(tcsetattr(tty[1], TCSANOW, &raw) == 0);
	fatal_signal_set_terminal(tty[1], &old, "bye");
	if (in_background) {
		signal(SIGTTOU, SIG_IGN);
		pid_t child = fork();
		if (child == 0) {
			MUST(setpgid(0, 0) == 0);
			fatal_signal_restore_terminal();
			_exit(is_raw(tty[1]) ? 0 : 97);
		}
		int status;
		MUST(waitpid(child, &status, 0) == child && status == 0);
		return;
	}
	fatal_signal_restore_terminal();
	MUST(!is_raw(tty[1]));
	/* without modes they are left alone */
	MUST(tcsetattr(tty[1], TCSANOW, &raw) == 0);
	fatal_signal_set_terminal(tty[1], NULL, "");
	fatal_signal_restore_terminal();
	MUST(is_raw(tty[1]));
}

static void modes_are_set_back(void **state)
{
	static const bool rows[][2] = { { 0, 0 }, { 1, 0 }, { 1, 1 } };
	char got[100];

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		is_leader = rows[i][0];
		in_background = rows[i][1];
		assert_int_equal(openpty(&tty[0], &tty[1], NULL, NULL, NULL), 0);
		assert_int_equal(end(begin(gives_the_terminal_back)), 0);
		assert_int_equal(take(tty[0], got, sizeof got), 3);
		assert_memory_equal(got, "bye", 3);
		close(tty[0]);
		close(tty[1]);
	}
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(kinds),
		TEST(patience_ends),
		TEST(catching),
		TEST(crashes_are_put_right),
		TEST(files_are_remembered),
		TEST(only_what_is_remembered_goes),
		TEST(the_terminal_is_given_back_once),
		TEST(a_full_terminal_is_waited_for),
		TEST(modes_are_set_back),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
