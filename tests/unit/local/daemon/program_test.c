// SPDX-License-Identifier: Apache-2.0
/* The program itself, run in a process of its own: its command line, where it listens, what it inherits and how it ends. */
#include "tests/unit/unit.h"

#include "engine/base/digest.h"
#include "local/daemon/arguments.h"
#include "local/daemon/sandboxd.h"
#include "tests/unit/local/daemon/listen.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#define COUNT(a) (sizeof(a) / sizeof(a)[0])
#define HASH "0123456789abcdef0123456789ABCDEF0123456789abcdef0123456789abcdef"

enum { MAX_ARGS = 20 };

static char folder[64];

static int set_up(void **state)
{
	(void)state;
	snprintf(folder, sizeof folder, "/tmp/sandmux-program-XXXXXX");
	return mkdtemp(folder) ? 0 : -1;
}

static int tear_down(void **state)
{
	(void)state;
	pid_t pid = fork();
	if (pid == 0) {
		execlp("rm", "rm", "-rf", folder, (char *)NULL);
		_exit(127);
	}
	waitpid(pid, NULL, 0);
	return 0;
}

static const char *at(const char *name)
{
	static char path[4][200];
	static unsigned next;
	char *out = path[next++ % 4];
	snprintf(out, sizeof path[0], "%s/%s", folder, name);
	return out;
}

/* ---- what the words say */

struct words {
	char *argv[MAX_ARGS + 1];
	int n;
};

static struct words words_of(const char *const *args)
{
	struct words words = { .n = 0 };
	words.argv[words.n++] = strdup("sandmux-sandboxd");
	for (; *args != NULL; args++)
		words.argv[words.n++] = strdup(*args);
	return words;
}

static void free_words(struct words *words)
{
	for (int i = 0; i < words->n; i++)
		free(words->argv[i]);
}

#define WORDS(...) words_of((const char *const[]){ __VA_ARGS__ __VA_OPT__(, ) NULL })

static struct daemon_arguments parsed(struct words words)
{
	struct daemon_arguments args;
	optind = 0; /* from the beginning */
	assert_int_equal(daemon_arguments_parse(&args, words.n, words.argv), -1);
	return args;
}

static void defaults(void **state)
{
	struct words words = WORDS();
	(void)state;
	struct daemon_arguments args = parsed(words);
	assert_string_equal(args.host, "127.0.0.1");
	assert_null(args.socket_dir);
	assert_int_equal(args.rest_fd, -1);
	assert_int_equal(args.grpc_fd, -1);
	assert_int_equal(args.ready_fd, -1);
	assert_int_equal(args.rest_port, 8080);
	assert_int_equal(args.grpc_port, 9090);
	assert_string_equal(args.daemon.root_dir, "/workspace");
	assert_string_equal(args.daemon.metadata_env_prefix, "SANDBOX_");
	assert_int_equal(args.daemon.shutdown_timeout_ms, 10000);
	assert_int_equal(args.daemon.idle_timeout_ms, 60000);
	assert_int_equal(args.daemon.chunk_bytes, 0);
	assert_null(args.daemon.token_sha256);
	assert_int_equal(args.daemon.limits.processes + args.daemon.limits.open_files +
				 args.daemon.limits.file_bytes +
				 args.daemon.limits.address_space_bytes +
				 args.daemon.limits.data_bytes,
		0);
	assert_false(args.jail.has_landlock || args.jail.has_own_userns || args.jail.is_closed);
	assert_int_equal(args.jail.filter_fd, -1);
	assert_string_equal(args.jail.root_dir, "/workspace");
	free_words(&words);
}

static void each_option_has_its_place(void **state)
{
	struct words words = WORDS("--root-dir=/r", "--rest-fd=5", "--grpc-fd=6",
		"--listen-host=h", "--rest-port=65535", "--grpc-port=0",
		"--auth-token-sha256=" HASH, "--metadata-env-prefix=P_",
		"--shutdown-timeout=2s", "--http-idle-timeout=3m");
	struct words more = WORDS("--stream-chunk-size=1048576", "--limit-processes=1",
		"--limit-open-files=2", "--limit-file-size=3", "--limit-address-space=4",
		"--limit-data=9223372036854775807", "--socket-dir=/s", "--ready-fd=7",
		"--filter-fd=8", "--landlock", "--own-userns", "--closed",
		"--metadata-env-prefix=");
	(void)state;
	struct daemon_arguments args = parsed(words);
	assert_string_equal(args.daemon.root_dir, "/r");
	assert_string_equal(args.jail.root_dir, "/r");
	assert_int_equal(args.rest_fd, 5);
	assert_int_equal(args.grpc_fd, 6);
	assert_string_equal(args.host, "h");
	assert_int_equal(args.rest_port, 65535);
	assert_int_equal(args.grpc_port, 0);
	assert_string_equal(args.token_hex, HASH);
	assert_string_equal(args.daemon.metadata_env_prefix, "P_");
	assert_int_equal(args.daemon.shutdown_timeout_ms, 2000);
	assert_int_equal(args.daemon.idle_timeout_ms, 180000);
	args = parsed(more);
	assert_int_equal(args.daemon.chunk_bytes, 1 << 20);
	assert_int_equal(args.daemon.limits.processes, 1);
	assert_int_equal(args.daemon.limits.open_files, 2);
	assert_int_equal(args.daemon.limits.file_bytes, 3);
	assert_int_equal(args.daemon.limits.address_space_bytes, 4);
	assert_int_equal(args.daemon.limits.data_bytes, INT64_MAX);
	assert_string_equal(args.socket_dir, "/s");
	assert_int_equal(args.ready_fd, 7);
	assert_int_equal(args.jail.filter_fd, 8);
	assert_true(args.jail.has_landlock);
	assert_true(args.jail.has_own_userns);
	assert_true(args.jail.is_closed);
	assert_string_equal(args.daemon.metadata_env_prefix, "SANDBOX_");
	free_words(&words);
	free_words(&more);
}

static void a_token_file_is_hashed_without_its_line_end(void **state)
{
	static const char *const texts[] = { "secret", "secret\n", "secret\r\n" };
	char hex[DIGEST_SHA256_HEX], option[300];
	struct digest *digest = digest_new();
	(void)state;
	digest_add(digest, "secret", 6);
	digest_finish_hex(digest, hex);
	digest_free(digest);
	snprintf(option, sizeof option, "--auth-token-file=%s", at("token"));
	for (size_t i = 0; i < COUNT(texts); i++) {
		int fd = open(at("token"), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
		assert_int_equal(write(fd, texts[i], strlen(texts[i])), strlen(texts[i]));
		close(fd);
		struct words words = WORDS(option);
		struct daemon_arguments args = parsed(words);
		assert_string_equal(args.token_hex, hex);
		assert_non_null(args.daemon.token_sha256);
		free_words(&words);
	}
}

/* ---- the program */

struct program {
	pid_t pid;
	int out; /* its stdout and stderr */
	char text[8192];
	size_t n;
};

/* before: more that the child does first. */
static struct program start(struct words words, void (*before)(void))
{
	struct program program = { .n = 0 };
	int fds[2];
	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	program.pid = fork();
	if (program.pid == 0) {
		dup2(fds[1], 1);
		dup2(fds[1], 2);
		close(fds[0]);
		close(fds[1]);
		optind = 0;
		if (before != NULL)
			before();
		int status = daemon_main(words.n, words.argv);
		fflush(stdout);
		_exit(status);
	}
	close(fds[1]);
	program.out = fds[0];
	free_words(&words);
	return program;
}

/* Until this text has come, or its end. */
static bool read_until(struct program *program, const char *text)
{
	while (text == NULL || strstr(program->text, text) == NULL) {
		ssize_t n = read(program->out, program->text + program->n,
			sizeof program->text - 1 - program->n);
		if (n <= 0)
			return false;
		program->n += (size_t)n;
		program->text[program->n] = '\0';
	}
	return true;
}

static int end(struct program *program, int signal_number)
{
	int status;
	if (signal_number != 0)
		kill(program->pid, signal_number);
	read_until(program, NULL);
	close(program->out);
	assert_int_equal(waitpid(program->pid, &status, 0), program->pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void what_is_refused(void **state)
{
	static const struct {
		const char *args[4];
		int status;
		const char *says;
	} rows[] = {
		{ { "--help" }, 0, "usage: sandmux-sandboxd [options]\n" },
		{ { "--version" }, 0, "sandmux-sandboxd " SANDMUX_VERSION "\n" },
		{ { "--nothing" }, 2, "sandmux-sandboxd: see --help\n" },
		{ { "word" }, 2, "sandmux-sandboxd: unexpected argument 'word'\n" },
		{ { "--rest-fd=3" }, 2, "--rest-fd and --grpc-fd go together\n" },
		{ { "--grpc-fd=3" }, 2, "--rest-fd and --grpc-fd go together\n" },
		{ { "--rest-port=65536" }, 2,
			"--rest-port wants a number from 0 to 65535, not '65536'" },
		{ { "--grpc-port=65536" }, 2, "--grpc-port wants a number" },
		{ { "--rest-fd=1048577" }, 2, "from 0 to 1048576, not '1048577'" },
		{ { "--stream-chunk-size=1048577" }, 2, "from 0 to 1048576" },
		{ { "--limit-processes=-1" }, 2, "--limit-processes wants a number" },
		{ { "--limit-open-files=x" }, 2, "--limit-open-files wants a number" },
		{ { "--shutdown-timeout=5x" }, 2,
			"--shutdown-timeout wants a time like 10s, not '5x'" },
		{ { "--http-idle-timeout=" }, 2, "--http-idle-timeout wants a time" },
		{ { "--auth-token-sha256=" HASH "0" }, 2, "wants 64 hex digits" },
		{ { "--auth-token-sha256=0" }, 2, "wants 64 hex digits" },
		{ { "--auth-token-sha256=g123456789abcdef0123456789ABCDEF0123456789abcdef0123"
		    "456789abcde" },
			2, "wants 64 hex digits" },
		{ { "--auth-token-file=/dev/null" }, 2, "/dev/null is empty" },
		{ { "--auth-token-file=/nowhere/t" }, 2, "--auth-token-file: " },
		{ { "--listen-host=no.such.host.invalid", "--root-dir=/tmp" }, 1,
			"sandmux-sandboxd: no.such.host.invalid: " },
		{ { "--listen-host=192.0.2.1", "--root-dir=/tmp" }, 1,
			"cannot listen on 192.0.2.1:8080: " },
		{ { "--socket-dir=/nowhere" }, 1, "cannot listen on /nowhere/rest.sock: " },
		{ { "--socket-dir=/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
		    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa" },
			1, "--socket-dir: the name is too long\n" },
		{ { "--rest-port=0", "--grpc-port=0", "--root-dir=/proc/nothing" }, 1,
			"/proc/nothing" },
		{ { "--own-userns", "--filter-fd=1000" }, 1, "filter of system calls" },
	};
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct program program = start(words_of(rows[i].args), NULL);
		int status = end(&program, 0);
		if (status != rows[i].status || strstr(program.text, rows[i].says) == NULL)
			fail_msg("row %zu: %d %s", i, status, program.text);
	}
}

/* The head of the answer to one request. */
static const char *ask(int fd, const char *headers)
{
	static char answer[4096];
	char request[1000];
	size_t n = 0;
	ssize_t got;
	int length = snprintf(request, sizeof request,
		"GET /v1/files/ HTTP/1.1\r\nHost: x\r\nConnection: close\r\n%s\r\n", headers);
	assert_int_equal(write(fd, request, (size_t)length), length);
	while (n < sizeof answer - 1 && (got = read(fd, answer + n, sizeof answer - 1 - n)) > 0)
		n += (size_t)got;
	answer[n] = '\0';
	close(fd);
	return answer;
}

static int connect_to(uint16_t port)
{
	struct sockaddr_in in = { .sin_family = AF_INET, .sin_port = htons(port) };
	in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(connect(fd, (struct sockaddr *)&in, sizeof in), 0);
	return fd;
}

static void it_says_where_it_listens(void **state)
{
	char root[200], line[200];
	unsigned rest = 0, grpc = 0;
	(void)state;
	snprintf(root, sizeof root, "--root-dir=%s", at("made/here"));
	struct program program = start(WORDS(root, "--rest-port=0", "--grpc-port=0"), NULL);
	assert_true(read_until(&program, "\n"));
	assert_int_equal(
		sscanf(program.text, "rest=127.0.0.1:%u grpc=127.0.0.1:%u", &rest, &grpc), 2);
	snprintf(line, sizeof line, "rest=127.0.0.1:%u grpc=127.0.0.1:%u\n", rest, grpc);
	assert_string_equal(program.text, line);
	assert_int_not_equal(rest, grpc);
	assert_non_null(strstr(ask(connect_to((uint16_t)rest), ""), "HTTP/1.1 200 OK"));
	close(connect_to((uint16_t)grpc));
	assert_int_equal(end(&program, SIGINT), 0);
	assert_string_equal(program.text, line);
	program =
		start(WORDS(root, "--rest-port=0", "--grpc-port=0", "--listen-host=::1"), NULL);
	if (read_until(&program, "\n") && strstr(program.text, "rest=[::1]:") == NULL)
		assert_non_null(strstr(program.text, "cannot listen on ::1:0: "));
	end(&program, SIGTERM);
}

static int kept_fd;

static void lose_standard_descriptors(void)
{
	close(0);
	close(2);
}

/* The flag of a descriptor in another process; −1: there is none. */
static int is_cloexec(pid_t pid, int fd)
{
	char path[64], text[200] = "";
	snprintf(path, sizeof path, "/proc/%d/fdinfo/%d", (int)pid, fd);
	int info = open(path, O_RDONLY | O_CLOEXEC);
	if (info < 0)
		return -1;
	ssize_t n = read(info, text, sizeof text - 1);
	close(info);
	const char *flags = n > 0 ? strstr(text, "flags:") : NULL;
	return flags != NULL ? (strtol(flags + 6, NULL, 8) & O_CLOEXEC) != 0 : -1;
}

static void descriptors_that_it_is_given(void **state)
{
	char root[200], rest_fd[32], grpc_fd[32], ready_fd[32], byte[2];
	uint16_t rest, grpc;
	int ready[2];
	(void)state;
	snprintf(root, sizeof root, "--root-dir=%s", folder);
	int a = listen_anywhere(&rest), b = listen_anywhere(&grpc);
	assert_int_equal(pipe(ready), 0);
	kept_fd = open("/", O_RDONLY | O_DIRECTORY);
	snprintf(rest_fd, sizeof rest_fd, "--rest-fd=%d", a);
	snprintf(grpc_fd, sizeof grpc_fd, "--grpc-fd=%d", b);
	snprintf(ready_fd, sizeof ready_fd, "--ready-fd=%d", ready[1]);
	struct program program = start(WORDS(root, rest_fd, grpc_fd, ready_fd,
					       "--auth-token-sha256=2bb80d537b1da3e38bd3"
					       "0361aa855686bde0eacd7162fef6a25fe97bf52"
					       "7a25b" /* of "secret" */),
		lose_standard_descriptors);
	close(ready[1]);
	assert_int_equal(read(ready[0], byte, sizeof byte), 1);
	assert_int_equal(byte[0], '1');
	assert_int_equal(read(ready[0], byte, sizeof byte), 0); /* closed by it */
	close(ready[0]);
	close(a);
	close(b);
	/* none of what it holds goes to a job, and the first three are there */
	assert_int_equal(is_cloexec(program.pid, kept_fd), 1);
	for (int fd = 0; fd < 3; fd++)
		assert_int_not_equal(is_cloexec(program.pid, fd), -1);
	close(kept_fd);
	assert_non_null(strstr(ask(connect_to(rest), ""), "HTTP/1.1 401 "));
	assert_non_null(strstr(
		ask(connect_to(rest), "Authorization: Bearer secret\r\n"), "HTTP/1.1 200 "));
	close(connect_to(grpc));
	assert_int_equal(end(&program, SIGTERM), 0);
	assert_string_equal(program.text, ""); /* nobody has asked where it listens */
}

static void a_ready_descriptor_that_takes_nothing(void **state)
{
	char root[200];
	(void)state;
	snprintf(root, sizeof root, "--root-dir=%s", folder);
	struct program program =
		start(WORDS(root, "--rest-port=0", "--grpc-port=0", "--ready-fd=1000"), NULL);
	assert_int_equal(end(&program, 0), 1);
	assert_non_null(strstr(program.text, "--ready-fd: Bad file descriptor"));
}

static int connect_in(const char *name)
{
	struct sockaddr_un un = { .sun_family = AF_UNIX };
	snprintf(un.sun_path, sizeof un.sun_path, "%s", at(name));
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(connect(fd, (struct sockaddr *)&un, sizeof un), 0);
	return fd;
}

static void sockets_in_a_folder(void **state)
{
	static const char *const names[] = { "rest.sock", "grpc.sock" };
	char root[200], dir[200], ready_fd[32], byte;
	int ready[2];
	(void)state;
	snprintf(root, sizeof root, "--root-dir=%s", at("root"));
	snprintf(dir, sizeof dir, "--socket-dir=%s", folder);
	assert_int_equal(pipe(ready), 0);
	snprintf(ready_fd, sizeof ready_fd, "--ready-fd=%d", ready[1]);
	struct program program = start(WORDS(root, dir, ready_fd), NULL);
	close(ready[1]);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	for (size_t i = 0; i < COUNT(names); i++) {
		struct stat st;
		assert_int_equal(stat(at(names[i]), &st), 0);
		assert_int_equal(st.st_mode, S_IFSOCK | 0600);
		close(connect_in(names[i]));
	}
	assert_non_null(strstr(ask(connect_in("rest.sock"), ""), "HTTP/1.1 200 OK"));
	assert_int_equal(end(&program, SIGTERM), 0);
}

/* Nothing is left of it when the process that started it is killed; bubblewrap's harder wish stays. */
static void it_ends_with_its_parent(void **state)
{
	int fds[2];
	char root[200], text[100];
	(void)state;
	snprintf(root, sizeof root, "--root-dir=%s", folder);
	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	pid_t between = fork();
	if (between == 0) {
		struct words words = WORDS(root, "--rest-port=0", "--grpc-port=0");
		optind = 0;
		if (fork() == 0) {
			dup2(fds[1], 1);
			_exit(daemon_main(words.n, words.argv));
		}
		pause();
	}
	close(fds[1]);
	assert_true(read(fds[0], text, sizeof text) > 0);
	kill(between, SIGKILL);
	waitpid(between, NULL, 0);
	while (read(fds[0], text, sizeof text) > 0)
		continue;
	close(fds[0]);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(defaults),
		cmocka_unit_test(each_option_has_its_place),
		TEST(a_token_file_is_hashed_without_its_line_end),
		cmocka_unit_test(what_is_refused),
		TEST(it_says_where_it_listens),
		TEST(descriptors_that_it_is_given),
		TEST(a_ready_descriptor_that_takes_nothing),
		TEST(sockets_in_a_folder),
		TEST(it_ends_with_its_parent),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
