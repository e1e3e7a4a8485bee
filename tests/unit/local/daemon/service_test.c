// SPDX-License-Identifier: Apache-2.0
/* The process service: input that has to wait, ends of input, output in pieces, what is refused, and who is signalled. */
#include "tests/unit/unit.h"

#include "engine/base/err.h"
#include "engine/base/str.h"
#include "engine/net/grpc.h"
#include "local/daemon/daemon.h"
#include "proto/process.pb-c.h"
#include "tests/unit/engine/net/turns.h"
#include "tests/unit/local/daemon/listen.h"

#include <arpa/inet.h>
#include <event2/bufferevent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define COUNT(a) (sizeof(a) / sizeof(a)[0])

enum { MIB = 1 << 20, CHUNK = 1000 };

static struct net_loop *loop;
static struct daemon *the_daemon;
static struct net_grpc_conn *conn;
static char root[64];

static int set_up(void **state)
{
	struct err err = { 0 };
	uint16_t rest, grpc;
	struct sockaddr_in in = { .sin_family = AF_INET };
	(void)state;
	loop = net_loop_new(&err);
	snprintf(root, sizeof root, "/tmp/sandmux-service-XXXXXX");
	assert_non_null(mkdtemp(root));
	struct daemon_opts opts = { .root_dir = root,
		.metadata_env_prefix = "SANDMUX_NOTHING_",
		.shutdown_timeout_ms = 5000,
		.idle_timeout_ms = 60000,
		.chunk_bytes = CHUNK,
		.limits = { .open_files = 77 } };
	opts.rest_fd = listen_anywhere(&rest);
	opts.grpc_fd = listen_anywhere(&grpc);
	the_daemon = daemon_new(loop, &opts, &err);
	assert_non_null(the_daemon);
	in.sin_port = htons(grpc);
	in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	struct bufferevent *bev =
		bufferevent_socket_new(net_loop_base(loop), -1, BEV_OPT_CLOSE_ON_FREE);
	assert_int_equal(bufferevent_socket_connect(bev, (struct sockaddr *)&in, sizeof in), 0);
	const struct net_grpc_conn_opts client = { .authority = "box",
		.max_message_bytes = 64 << 20 };
	conn = net_grpc_conn_new_take(loop, bev, &client, &err);
	assert_non_null(conn);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	net_grpc_conn_free(conn);
	daemon_free(the_daemon);
	net_loop_run_once(loop, 0);
	net_loop_free(loop);
	if (fork() == 0) {
		execlp("rm", "rm", "-rf", root, (char *)NULL);
		_exit(127);
	}
	return 0;
}

/* ---- calls */

struct rpc {
	struct net_grpc_call *call;
	bool is_start, is_done;
	struct err err;
	int pid, exit_code;
	size_t n_messages, longest; /* of output */
	struct str out, err_out;
};

static void take_event(struct rpc *rpc, struct slice message)
{
	Process__V1__StartResponse *event = process__v1__start_response__unpack(
		NULL, message.n, (const uint8_t *)message.p);
	assert_non_null(event);
	ProtobufCBinaryData *data = NULL;
	switch (event->event_case) {
	case PROCESS__V1__START_RESPONSE__EVENT_INIT:
		rpc->pid = event->init->process_id;
		break;
	case PROCESS__V1__START_RESPONSE__EVENT_STDOUT:
		data = &event->stdout;
		str_add_bytes(&rpc->out, (char *)data->data, data->len);
		break;
	case PROCESS__V1__START_RESPONSE__EVENT_STDERR:
		data = &event->stderr;
		str_add_bytes(&rpc->err_out, (char *)data->data, data->len);
		break;
	case PROCESS__V1__START_RESPONSE__EVENT_EXIT:
		rpc->exit_code = event->exit->exit_code;
		break;
	default:
		fail_msg("an event of no kind");
	}
	if (data != NULL) {
		rpc->n_messages++;
		rpc->longest = data->len > rpc->longest ? data->len : rpc->longest;
	}
	process__v1__start_response__free_unpacked(event, NULL);
}

static void on_message(void *arg, struct slice message)
{
	struct rpc *rpc = arg;
	if (rpc->is_start) {
		take_event(rpc, message);
		return;
	}
	Process__V1__ExecuteResponse *answer = process__v1__execute_response__unpack(
		NULL, message.n, (const uint8_t *)message.p);
	if (answer != NULL) {
		str_add_bytes(&rpc->out, (char *)answer->stdout.data, answer->stdout.len);
		rpc->exit_code = answer->exit_code;
		process__v1__execute_response__free_unpacked(answer, NULL);
	}
}

static void on_done(void *arg, const struct err *err)
{
	struct rpc *rpc = arg;
	rpc->is_done = true;
	rpc->call = NULL;
	err_copy(&rpc->err, err);
}

static void call(struct rpc *rpc, const char *method, const ProtobufCMessage *request)
{
	char path[100];
	size_t n = protobuf_c_message_get_packed_size(request);
	uint8_t *bytes = malloc(n + 1);
	protobuf_c_message_pack(request, bytes);
	*rpc = (struct rpc){ .exit_code = -2, .is_start = strcmp(method, "Start") == 0 };
	str_init(&rpc->out, 64 << 20);
	str_init(&rpc->err_out, 1 << 20);
	snprintf(path, sizeof path, "/process.v1.ProcessService/%s", method);
	const struct net_grpc_call_opts opts = { .path = path,
		.message = { (const char *)bytes, n },
		.on_message = on_message,
		.done = on_done,
		.arg = rpc };
	rpc->call = net_grpc_start(conn, &opts, &rpc->err);
	assert_non_null(rpc->call);
	free(bytes);
}

static void rpc_deinit(struct rpc *rpc)
{
	if (rpc->call != NULL)
		net_grpc_cancel(rpc->call);
	str_deinit(&rpc->out);
	str_deinit(&rpc->err_out);
}

static void run(struct rpc *rpc, const char *method, const char *script, bool is_tty)
{
	char sh[] = "sh", c[] = "-c", *text = strdup(script);
	char *words[] = { sh, c, text };
	Process__V1__ProcessConfig config = PROCESS__V1__PROCESS_CONFIG__INIT;
	Process__V1__StartRequest start = PROCESS__V1__START_REQUEST__INIT;
	Process__V1__ExecuteRequest execute = PROCESS__V1__EXECUTE_REQUEST__INIT;
	Process__V1__PTY pty = PROCESS__V1__PTY__INIT;
	config.command = words;
	config.n_command = COUNT(words);
	start.config = execute.config = &config;
	start.pty = is_tty ? &pty : NULL;
	bool is_start = strcmp(method, "Start") == 0;
	call(rpc, method, is_start ? &start.base : &execute.base);
	if (is_start)
		TURN_UNTIL(loop, rpc->pid != 0 || rpc->is_done);
	free(text);
}

/* bytes NULL: the end. */
static void give(struct rpc *rpc, int pid, const char *bytes, size_t n)
{
	Process__V1__WriteStdinRequest request = PROCESS__V1__WRITE_STDIN_REQUEST__INIT;
	Process__V1__Empty empty = PROCESS__V1__EMPTY__INIT;
	union {
		const char *in;
		uint8_t *out;
	} data = { bytes };
	request.process_id = pid;
	if (bytes != NULL) {
		request.data_case = PROCESS__V1__WRITE_STDIN_REQUEST__DATA_INPUT;
		request.input = (ProtobufCBinaryData){ n, data.out };
	} else {
		request.data_case = PROCESS__V1__WRITE_STDIN_REQUEST__DATA_EOF;
		request.eof = &empty;
	}
	call(rpc, "WriteStdin", &request.base);
}

static void assert_status(struct rpc *rpc, int sys, const char *says)
{
	TURN_UNTIL(loop, rpc->is_done);
	if ((rpc->err.code == ERR_NONE ? 0 : rpc->err.sys) != sys ||
		(sys != 0 && strstr(rpc->err.msg, says) == NULL))
		fail_msg("%d %s, not %d %s", rpc->err.sys, rpc->err.msg, sys, says);
	rpc_deinit(rpc);
}

static int signal_to(int pid, int number)
{
	Process__V1__SendSignalRequest request = PROCESS__V1__SEND_SIGNAL_REQUEST__INIT;
	struct rpc rpc;
	request.process_id = pid;
	request.signal = (Process__V1__Signal)number;
	call(&rpc, "SendSignal", &request.base);
	TURN_UNTIL(loop, rpc.is_done);
	int sys = rpc.err.code == ERR_NONE ? 0 : rpc.err.sys;
	rpc_deinit(&rpc);
	return sys;
}

static bool has_file(const char *name)
{
	char path[200];
	snprintf(path, sizeof path, "%s/%s", root, name);
	return access(path, F_OK) == 0;
}

/* ---- input */

/* A process that takes one byte of a message larger than its pipe: when it has said so, the rest of it waits. */
static char large[MIB];

static void fill(struct rpc *process, struct rpc *first, const char *script)
{
	char whole[300];
	snprintf(whole, sizeof whole, "dd bs=1 count=1 2>/dev/null; %s", script);
	run(process, "Start", whole, false);
	memset(large, 'x', sizeof large);
	give(first, process->pid, large, sizeof large);
	TURN_UNTIL(loop, process->out.n == 1);
	assert_false(first->is_done);
}

static void let_go(void)
{
	char path[200];
	snprintf(path, sizeof path, "%s/go", root);
	close(open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
}

#define WAITS "until [ -e go ]; do sleep 0.02; done; "

/* What a pipe does not take waits in its order; the end after it; and nothing more after that. */
static void input_waits_its_turn(void **state)
{
	struct rpc process, first, small, last, late, later;
	(void)state;
	fill(&process, &first, WAITS "head -c 1048575 | wc -c; cat");
	give(&small, process.pid, "small\n", 6);
	give(&last, process.pid, NULL, 0);
	give(&late, process.pid, "late", 4);
	assert_status(&late, 13, "failed to write stdin: write |1: file already closed");
	give(&later, process.pid, NULL, 0);
	assert_status(&later, 13, "failed to close stdin: close |1: file already closed");
	assert_false(first.is_done || small.is_done || last.is_done);
	let_go();
	assert_status(&first, 0, "");
	assert_status(&small, 0, "");
	assert_status(&last, 0, "");
	TURN_UNTIL(loop, process.is_done);
	assert_string_equal(process.out.p, "x1048575\nsmall\n");
	assert_int_equal(process.exit_code, 0);
	rpc_deinit(&process);
}

/* Only so much waits. What is given up is not written, and makes room. */
static void input_that_is_given_up(void **state)
{
	enum { PIECE = 2 * MIB };
	struct rpc process, first, gone[4], again, end;
	char *bytes = calloc(1, PIECE);
	(void)state;
	fill(&process, &first, WAITS "tail -c 4");
	for (int i = 0; i < 4; i++)
		give(&gone[i], process.pid, bytes, PIECE);
	/* together with the first they are more than 8 MiB: one is refused, whichever comes last */
	int n_refused = 0;
	TURN_UNTIL(
		loop, gone[0].is_done || gone[1].is_done || gone[2].is_done || gone[3].is_done);
	for (int i = 0; i < 4; i++) {
		if (gone[i].is_done) {
			n_refused++;
			assert_int_equal(gone[i].err.sys, 8);
			assert_non_null(strstr(
				gone[i].err.msg, "too much input is waiting for this process"));
		}
		rpc_deinit(&gone[i]);
	}
	assert_int_equal(n_refused, 1);
	give(&again, process.pid, "end", 3);
	give(&end, process.pid, NULL, 0);
	let_go();
	assert_status(&first, 0, "");
	assert_status(&again, 0, "");
	assert_status(&end, 0, "");
	TURN_UNTIL(loop, process.is_done);
	assert_string_equal(process.out.p, "xxend");
	rpc_deinit(&process);
	free(bytes);
}

static void input_that_nobody_reads(void **state)
{
	struct rpc process, first, end, late;
	(void)state;
	run(&process, "Start", "exec <&-; : > closed; sleep 100", false);
	TURN_UNTIL(loop, has_file("closed"));
	give(&first, process.pid, "x", 1);
	assert_status(&first, 13, "failed to write stdin: write |1: broken pipe");
	assert_int_equal(signal_to(process.pid, SIGKILL), 0);
	TURN_UNTIL(loop, process.is_done);
	rpc_deinit(&process);
	/* one that waits when it ends is told so, the end behind it too */
	fill(&process, &first, "sleep 100");
	give(&end, process.pid, NULL, 0);
	give(&late, process.pid, "late", 4);
	assert_status(&late, 13, "already closed");
	assert_false(first.is_done || end.is_done);
	assert_int_equal(signal_to(process.pid, SIGKILL), 0);
	assert_status(&first, 13, "failed to write stdin: write |1: ");
	assert_status(&end, 13, "failed to close stdin: close |1: ");
	TURN_UNTIL(loop, process.is_done);
	assert_int_equal(process.exit_code, -1);
	rpc_deinit(&process);
}

static void the_end_of_a_terminals_input_is_typed(void **state)
{
	struct rpc process, end, text;
	(void)state;
	run(&process, "Start", "cat; echo first; cat; echo second", true);
	give(&end, process.pid, NULL, 0);
	assert_status(&end, 0, "");
	TURN_UNTIL(loop, strstr(process.out.p, "first") != NULL);
	/* it is not closed by that */
	give(&text, process.pid, "more\r", 5);
	assert_status(&text, 0, "");
	TURN_UNTIL(loop, strstr(process.out.p, "more\r\nmore\r\n") != NULL);
	give(&end, process.pid, NULL, 0);
	assert_status(&end, 0, "");
	TURN_UNTIL(loop, process.is_done);
	assert_non_null(strstr(process.out.p, "second"));
	assert_int_equal(process.exit_code, 0);
	rpc_deinit(&process);
	/* a program that reads keys itself gets none */
	run(&process, "Start", "stty raw -echo; echo ready; head -c 1 | od -An -tx1", true);
	TURN_UNTIL(loop, strstr(process.out.p, "ready") != NULL);
	give(&end, process.pid, NULL, 0);
	assert_status(&end, 0, "");
	give(&text, process.pid, "A", 1);
	assert_status(&text, 0, "");
	TURN_UNTIL(loop, process.is_done);
	assert_non_null(strstr(process.out.p, "41"));
	assert_null(strstr(process.out.p, "04"));
	rpc_deinit(&process);
}

/* ---- output */

static void output_comes_in_pieces(void **state)
{
	struct rpc process;
	(void)state;
	run(&process, "Start", "head -c 12345 /dev/zero; head -c 999 /dev/zero >&2", false);
	TURN_UNTIL(loop, process.is_done);
	assert_int_equal(process.out.n, 12345);
	assert_int_equal(process.err_out.n, 999);
	assert_int_equal(process.longest, CHUNK);
	assert_true(process.n_messages >= 14);
	rpc_deinit(&process);
}

static void a_terminal_says_all_before_its_exit(void **state)
{
	struct rpc process;
	(void)state;
	for (int i = 0; i < 5; i++) {
		run(&process, "Start", "seq 20000; exit 7", true);
		TURN_UNTIL(loop, process.is_done);
		assert_non_null(strstr(process.out.p, "\r\n19999\r\n20000\r\n"));
		assert_memory_equal(process.out.p, "1\r\n2\r\n", 6);
		assert_int_equal(process.exit_code, 7);
		assert_int_equal(process.err_out.n, 0);
		rpc_deinit(&process);
	}
}

static void too_much_for_one_answer(void **state)
{
	struct rpc rpc;
	(void)state;
	run(&rpc, "Execute", "(echo $$ > pid.new; mv pid.new pid); exec cat /dev/zero", false);
	TURN_UNTIL(loop, rpc.is_done);
	assert_int_equal(rpc.err.sys, 8);
	assert_non_null(strstr(rpc.err.msg, "output larger than "));
	assert_non_null(strstr(rpc.err.msg, " bytes: use Start"));
	rpc_deinit(&rpc);
}

/* ---- who is ended */

static pid_t pid_in(const char *name)
{
	char path[200];
	int pid = 0;
	snprintf(path, sizeof path, "%s/%s", root, name);
	FILE *file = fopen(path, "re");
	if (file != NULL && fscanf(file, "%d", &pid) != 1)
		pid = 0;
	if (file != NULL)
		fclose(file);
	return pid;
}

#define LEAVES_A_CHILD                                                                         \
	"sleep 100 & echo $! > child.new; echo $$ > self.new; mv self.new self; mv child.new " \
	"child; wait"

static void the_whole_group_is_signalled(void **state)
{
	struct rpc process;
	(void)state;
	run(&process, "Start", LEAVES_A_CHILD, false);
	TURN_UNTIL(loop, has_file("child"));
	pid_t child = pid_in("child");
	assert_true(child > 0 && kill(child, 0) == 0);
	assert_int_equal(signal_to(process.pid, SIGTERM), 0);
	TURN_UNTIL(loop, process.is_done && kill(child, 0) != 0);
	rpc_deinit(&process);
}

static void a_command_that_is_given_up(void **state)
{
	struct rpc rpc;
	(void)state;
	run(&rpc, "Execute", LEAVES_A_CHILD, false);
	TURN_UNTIL(loop, has_file("child"));
	pid_t child = pid_in("child"), self = pid_in("self");
	assert_int_equal(kill(self, 0), 0);
	rpc_deinit(&rpc);
	TURN_UNTIL(loop, kill(self, 0) != 0 && kill(child, 0) != 0);
}

static void all_end_with_the_daemon(void **state)
{
	struct rpc process, command;
	(void)state;
	run(&process, "Start",
		"echo $$ > one.new; mv one.new one; trap '' TERM; sleep 100; sleep "
		"100",
		false);
	run(&command, "Execute", "echo $$ > two.new; mv two.new two; exec sleep 100", false);
	TURN_UNTIL(loop, has_file("one") && has_file("two"));
	pid_t one = pid_in("one"), two = pid_in("two");
	rpc_deinit(&process);
	rpc_deinit(&command);
	daemon_free(the_daemon);
	the_daemon = NULL;
	/* nobody reaps them here any more */
	for (int i = 0; i < 500 && (kill(one, 0) == 0 || kill(two, 0) == 0); i++) {
		while (waitpid(-1, NULL, WNOHANG) > 0)
			continue;
		usleep(10000);
	}
	assert_int_not_equal(kill(one, 0), 0);
	assert_int_not_equal(kill(two, 0), 0);
}

static void programs_get_limits_and_a_folder(void **state)
{
	struct rpc rpc;
	char wanted[200];
	(void)state;
	run(&rpc, "Execute", "ulimit -n; echo $PWD; pwd -P", false);
	TURN_UNTIL(loop, rpc.is_done);
	snprintf(wanted, sizeof wanted, "77\n%s\n%s\n", root, root);
	assert_string_equal(rpc.out.p, wanted);
	rpc_deinit(&rpc);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(input_waits_its_turn),
		TEST(input_that_is_given_up),
		TEST(input_that_nobody_reads),
		TEST(the_end_of_a_terminals_input_is_typed),
		TEST(output_comes_in_pieces),
		TEST(a_terminal_says_all_before_its_exit),
		TEST(too_much_for_one_answer),
		TEST(the_whole_group_is_signalled),
		TEST(a_command_that_is_given_up),
		TEST(all_end_with_the_daemon),
		TEST(programs_get_limits_and_a_folder),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
