// SPDX-License-Identifier: Apache-2.0
/* Processes against a daemon played frame by frame: the order of events, one WriteStdin at a time, sizes,
 * signals, kills, cuts. */
#include "tests/unit/unit.h"

#include "engine/base/err.h"
#include "engine/net/http.h"
#include "engine/runtime/runtime.h"
#include "tests/unit/engine/net/h2_peer.h"
#include "tests/unit/engine/net/turns.h"

#include <event2/bufferevent.h>
#include <event2/event.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static struct net_loop *loop;
static struct net_http *http;
static struct runtime *runtime;
static struct h2_peer peer;
static bool has_peer;
static struct runtime_process *process;
static int n_init, pid, n_exit, exit_code, n_drained;
static bool exit_ok, consumes, kills_in_output, frees_in_exit;
static struct err exit_err;
static struct str output;

/* The size of pieces follows from how long calls take, which the linker puts through here. */
static int64_t fixed_ns; /* 0: the real one */
int64_t __real_clock_mono_ns(void);
int64_t __wrap_clock_mono_ns(void);
int64_t __wrap_clock_mono_ns(void)
{
	return fixed_ns ? fixed_ns : __real_clock_mono_ns();
}

/* The tunnel: what the runtime was given on one side, the peer's wire on the other. */
static struct bufferevent *ends[2];

static void on_tunnel_read(struct bufferevent *bev, void *arg)
{
	struct bufferevent *other = bev == ends[0] ? ends[1] : ends[0];

	(void)arg;
	if (other)
		bufferevent_write_buffer(other, bufferevent_get_input(bev));
}

static void drop_tunnel(void)
{
	for (int i = 0; i < 2; i++)
		if (ends[i])
			bufferevent_free(ends[i]);
	ends[0] = ends[1] = NULL;
}

static void on_tunnel_event(struct bufferevent *bev, short what, void *arg)
{
	(void)arg;
	(void)bev;
	if (what & (BEV_EVENT_EOF | BEV_EVENT_ERROR))
		drop_tunnel();
}

static bool on_connect(void *arg, uint16_t port, int fd_take, struct err *err)
{
	(void)arg;
	(void)err;
	assert_int_equal(port, 9090);
	assert_false(has_peer);
	ends[0] = bufferevent_socket_new(net_loop_base(loop), fd_take, BEV_OPT_CLOSE_ON_FREE);
	ends[1] = h2_peer_init(&peer, loop);
	has_peer = true;
	for (int i = 0; i < 2; i++) {
		bufferevent_setcb(ends[i], on_tunnel_read, NULL, on_tunnel_event, NULL);
		bufferevent_enable(ends[i], EV_READ | EV_WRITE);
	}
	return true;
}

static int set_up(void **state)
{
	struct runtime_opts opts = {
		.grpc_host = "box",
		.grpc_port = 9090,
		.connect = on_connect,
		.connect_timeout_ms = 1000,
	};

	(void)state;
	signal(SIGPIPE, SIG_IGN);
	loop = net_loop_new(NULL);
	http = net_http_new(loop, NULL);
	runtime = runtime_new(loop, http, &opts, NULL);
	assert_non_null(runtime);
	has_peer = false;
	process = NULL;
	n_init = pid = n_exit = exit_code = n_drained = 0;
	exit_ok = kills_in_output = frees_in_exit = false;
	consumes = true;
	fixed_ns = 0;
	str_init(&output, 8 << 20);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	runtime_close(runtime);
	runtime_unref(runtime);
	if (process)
		runtime_process_free(process);
	net_http_free(http);
	drop_tunnel();
	if (has_peer)
		h2_peer_deinit(&peer);
	net_loop_free(loop);
	str_deinit(&output);
	return 0;
}

static void on_init(void *arg, int got_pid)
{
	(void)arg;
	n_init++;
	pid = got_pid;
}

static void on_output(void *arg, int stream, struct slice bytes)
{
	(void)arg;
	str_addf(&output, "%d:", stream);
	str_add_bytes(&output, bytes.p, bytes.n < 100 ? bytes.n : 100);
	if (kills_in_output) {
		runtime_process_kill(process);
		process = NULL;
	} else if (consumes) {
		runtime_process_consumed(process, bytes.n);
	}
}

static void on_exit_(void *arg, const struct err *err, int code)
{
	(void)arg;
	assert_int_equal(n_exit++, 0);
	exit_ok = !err;
	exit_code = code;
	err_copy(&exit_err, err);
	if (frees_in_exit) {
		runtime_process_free(process);
		process = NULL;
	}
}

static void on_drained(void *arg)
{
	(void)arg;
	n_drained++;
}

static uint32_t window_bytes;

static void start(int cols, int rows)
{
	static const char *const argv[] = { "/bin/sh", "-c", "x", NULL };
	struct runtime_start_opts opts = {
		.argv = argv,
		.pty_cols = cols,
		.pty_rows = rows,
		.window_bytes = window_bytes,
		.init_timeout_ms = 1000,
		.on_init = on_init,
		.on_output = on_output,
		.on_exit = on_exit_,
	};

	process = runtime_process_start(runtime, &opts, NULL);
	assert_non_null(process);
	runtime_process_on_drained(process, on_drained);
}

static void started(int cols, int rows)
{
	start(cols, rows);
	TURN_UNTIL(loop, has_peer && h2_peer_saw(&peer, "/process.v1.ProcessService/Start"));
}

static void send_event(const char *bytes, size_t n)
{
	struct str out;

	str_init(&out, 1 << 20);
	h2_message(&out, 1, bytes, n);
	h2_peer_send(&peer, out.p, out.n);
	str_deinit(&out);
}
#define EVENT(text) send_event((text), sizeof(text) - 1)

static void begin_stream(int32_t id)
{
	struct str out;

	str_init(&out, 1 << 20);
	h2_grpc_begin(&out, id);
	h2_peer_send(&peer, out.p, out.n);
	str_deinit(&out);
}

static void end_stream(int32_t id, const char *status, const char *text)
{
	struct str out;

	str_init(&out, 1 << 20);
	h2_grpc_end(&out, id, status, text);
	h2_peer_send(&peer, out.p, out.n);
	str_deinit(&out);
}

/* An empty answer to a unary call. */
static void answer(int32_t id, const char *status, const char *text)
{
	struct str out;

	str_init(&out, 1 << 20);
	h2_grpc_begin(&out, id);
	if (strcmp(status, "0") == 0)
		h2_message(&out, id, "", 0);
	h2_grpc_end(&out, id, status, text);
	h2_peer_send(&peer, out.p, out.n);
	str_deinit(&out);
}

static void running(int cols, int rows)
{
	started(cols, rows);
	begin_stream(1);
	EVENT("\x0a\x02\x08\x15");
	TURN_UNTIL(loop, n_init == 1);
}

static int n_calls(const char *method)
{
	int n = 0;

	for (const char *at = peer.log.p; (at = strstr(at, method)); at++)
		n++;
	return n;
}

static void ended_with(enum err_code code)
{
	TURN_UNTIL(loop, n_exit == 1);
	assert_false(exit_ok);
	if (exit_err.code != code)
		fail_msg("%s: %s", err_name(&exit_err), exit_err.msg);
	assert_true(runtime_process_is_ended(process));
}

/* ---- events */
static void a_process_from_init_to_exit(void **state)
{
	(void)state;
	running(0, 0);
	assert_int_equal(pid, 21);
	EVENT("\x12\x03hi\n");
	EVENT("\x4a\x02zz"); /* of a newer daemon */
	EVENT("");
	EVENT("\x1a\x03"
	      "no\n");
	EVENT("\x22\x02\x08\x03");
	end_stream(1, "0", "");
	TURN_UNTIL(loop, n_exit == 1);
	assert_true(exit_ok);
	assert_int_equal(exit_code, 3);
	assert_string_equal(output.p, "1:hi\n2:no\n");
	struct err err = { 0 };
	assert_false(runtime_process_write(process, slice_of("x"), &err));
	assert_int_equal(err.code, ERR_PROC_GONE);
	assert_false(runtime_process_signal(process, RUNTIME_SIGTERM, &err));
	runtime_process_resize(process, 10, 10);
	assert_int_equal(n_calls("ResizeTTY"), 0);
}

static void death_by_signal_is_minus_one(void **state)
{
	(void)state;
	running(0, 0);
	EVENT("\x22\x0b\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01");
	end_stream(1, "0", "");
	TURN_UNTIL(loop, n_exit == 1);
	assert_true(exit_ok);
	assert_int_equal(exit_code, -1);
}

static void exit_counts_even_when_the_rest_is_missing(void **state)
{
	(void)state;
	running(0, 0);
	EVENT("\x22\x02\x08\x05");
	turn_for(loop, 50);
	assert_true(runtime_process_is_ended(process));
	h2_peer_close(&peer);
	TURN_UNTIL(loop, n_exit == 1);
	assert_true(exit_ok);
	assert_int_equal(exit_code, 5);
}

static void events_out_of_order_are_refused(void **state)
{
	static const struct {
		const char *bytes[3];
		size_t n[3];
	} cases[] = {
		{ { "\x12\x01x" }, { 3 } },                               /* output first */
		{ { "\x22\x00" }, { 2 } },                                /* exit first */
		{ { "\x0a\x00" }, { 2 } },                                /* no pid */
		{ { "\x0a\x02\x08\x15", "\x0a\x02\x08\x16" }, { 4, 4 } }, /* init twice */
		{ { "\x0a\x02\x08\x15", "\x22\x00", "\x12\x01x" }, { 4, 2, 3 } },
		{ { "\x0a\x02\x08\x15", "\x12\x09x" }, { 4, 3 } }, /* broken bytes */
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		started(0, 0);
		begin_stream(1);
		for (int j = 0; j < 3 && cases[i].bytes[j]; j++)
			send_event(cases[i].bytes[j], cases[i].n[j]);
		TURN_UNTIL(loop, n_exit == 1);
		if (i != 4)
			assert_int_equal(exit_err.code, ERR_PROC_PROTOCOL);
		TURN_UNTIL(loop, h2_peer_saw(&peer, "RST 1"));
		tear_down(state);
		set_up(state);
	}
}

static void streams_that_end_early(void **state)
{
	(void)state;
	started(0, 0);
	begin_stream(1);
	end_stream(1, "0", "");
	ended_with(ERR_PROC_PROTOCOL);
	tear_down(state);
	set_up(state);
	running(0, 0);
	end_stream(1, "0", "");
	ended_with(ERR_PROC_PROTOCOL);
	tear_down(state);
	set_up(state);
	started(0, 0);
	begin_stream(1);
	end_stream(1, "5", "executable file not found in $PATH");
	ended_with(ERR_PROC_COMMAND_NOT_FOUND);
	tear_down(state);
	set_up(state);
	started(0, 0);
	begin_stream(1);
	end_stream(1, "7", "cwd: access denied");
	ended_with(ERR_PROC_DENIED);
	tear_down(state);
	set_up(state);
	running(0, 0);
	h2_peer_close(&peer);
	ended_with(ERR_PROC_LOST);
	tear_down(state);
	set_up(state);
	started(0, 0);
	h2_peer_close(&peer);
	ended_with(ERR_CONN_LOST);
}

static void init_has_a_deadline(void **state)
{
	(void)state;
	started(0, 0);
	ended_with(ERR_OP_TIMEOUT);
	TURN_UNTIL(loop, h2_peer_saw(&peer, "RST 1"));
}

static void invalidate_ends_it_with_the_given_reason(void **state)
{
	struct err err = { 0 };

	(void)state;
	running(0, 0);
	err_set(&err, ERR_SANDBOX_MOVED, "the pod was replaced");
	runtime_invalidate(runtime, &err);
	assert_int_equal(n_exit, 0);
	ended_with(ERR_SANDBOX_MOVED);
	assert_int_equal(runtime_state_of(runtime), RUNTIME_DOWN);
}

/* ---- input */
static void one_write_at_a_time_in_order(void **state)
{
	(void)state;
	start(0, 0);
	/* before there is a process, and even a connection */
	assert_true(runtime_process_write(process, slice_of("one "), NULL));
	assert_true(runtime_process_write(process, slice_of("two "), NULL));
	TURN_UNTIL(loop, has_peer && h2_peer_saw(&peer, "Start"));
	begin_stream(1);
	EVENT("\x0a\x02\x08\x15");
	TURN_UNTIL(loop, n_calls("WriteStdin") == 1);
	assert_true(runtime_process_write(process, slice_of("three "), NULL));
	assert_true(runtime_process_write(process, slice_of("four "), NULL));
	assert_true(runtime_process_eof(process, NULL));
	struct err err = { 0 };
	assert_false(runtime_process_write(process, slice_of("five"), &err));
	assert_int_equal(err.code, ERR_PROC_STDIN_CLOSED);
	turn_for(loop, 50);
	assert_int_equal(n_calls("WriteStdin"), 1);
	answer(3, "0", "");
	TURN_UNTIL(loop, n_calls("WriteStdin") == 2);
	turn_for(loop, 30);
	assert_int_equal(n_calls("WriteStdin"), 2);
	answer(5, "0", "");
	TURN_UNTIL(loop, n_calls("WriteStdin") == 3);
	static const char first[] = "\x08\x15\x12\x08one two ",
			  second[] = "\x08\x15\x12\x0bthree four ",
			  third[] = "\x08\x15\x1a\x00";
	assert_non_null(memmem(peer.body.p, peer.body.n, first, sizeof first - 1));
	assert_non_null(memmem(peer.body.p, peer.body.n, second, sizeof second - 1));
	assert_non_null(memmem(peer.body.p, peer.body.n, third, sizeof third - 1));
}

/* What has come in a stream; -1: its end has not. */
static long stream_bytes(int32_t id)
{
	char start[40];
	long bytes = 0;

	snprintf(start, sizeof start, "\nDATA %d ", (int)id);
	for (const char *at = peer.log.p; (at = strstr(at, start));) {
		char *rest;
		at += strlen(start);
		bytes += strtol(at, &rest, 10);
		if (strncmp(rest, " END\n", 5) == 0)
			return bytes;
	}
	return -1;
}

/* The n-th call brings a piece of so many KiB, and is answered after so many ms. */
static void piece(int n, long kib, int64_t took_ms)
{
	int32_t id = 2 * n + 1;

	TURN_UNTIL(loop, stream_bytes(id) >= 0);
	assert_int_equal(n_calls("WriteStdin"), n);
	assert_in_range(stream_bytes(id) - kib * 1024, 1, 64); /* its framing */
	fixed_ns += took_ms * 1000000;
	answer(id, "0", "");
}

static void large_input_goes_in_growing_pieces_and_is_bounded(void **state)
{
	static char block[2300 << 10];
	struct err err = { 0 };

	(void)state;
	running(0, 0);
	fixed_ns = 1;
	for (int i = 0; i < 2; i++)
		assert_true(runtime_process_write(
			process, (struct slice){ block, sizeof block }, NULL));
	assert_false(
		runtime_process_write(process, (struct slice){ block, sizeof block }, &err));
	assert_int_equal(err.code, ERR_LIMIT_UPLOAD);
	/* twice as much each time, while a call takes as long as a round trip, and below 3 MiB are left with the sixth */
	for (int n = 1; n <= 5; n++) {
		assert_int_equal(n_drained, 0);
		piece(n, 16L << n, 40);
	}
	TURN_UNTIL(loop, n_drained == 1);
	/* whoever does not read gets small ones again */
	piece(6, 1024, 1000);
	/* and no larger ones while it is the bytes that take long */
	piece(7, 32, 16 * 40);
	piece(8, 32, 16 * 40 - 1);
	piece(9, 64, 40);
	assert_int_equal(n_drained, 1);
	assert_true(runtime_process_write(process, (struct slice){ block, 100 }, NULL));
}

static void a_process_that_closed_its_input_is_found_out(void **state)
{
	struct err err = { 0 };

	(void)state;
	running(0, 0);
	assert_true(runtime_process_write(process, slice_of("x"), NULL));
	TURN_UNTIL(loop, n_calls("WriteStdin") == 1);
	answer(3, "13", "failed to write stdin: write |1: file already closed");
	turn_for(loop, 50);
	assert_false(runtime_process_write(process, slice_of("x"), &err));
	assert_int_equal(err.code, ERR_PROC_STDIN_CLOSED);
	assert_int_equal(n_exit, 0);
	assert_null(runtime_process_stdin_lost(process)); /* it did not want it */
}

/* Whoever wrote learns of it, though nothing waits for room. */
static void input_that_is_lost_is_told(void **state)
{
	(void)state;
	running(0, 0);
	assert_true(runtime_process_write(process, slice_of("x"), NULL));
	assert_true(runtime_process_eof(process, NULL));
	assert_null(runtime_process_stdin_lost(process));
	TURN_UNTIL(loop, n_calls("WriteStdin") == 1);
	answer(3, "8", "no room for it");
	TURN_UNTIL(loop, n_drained == 1);
	assert_non_null(strstr(runtime_process_stdin_lost(process)->msg, "no room for it"));
	assert_int_equal(n_exit, 0);
}

/* ---- terminal */
static void the_size_is_sent_again_after_init_and_the_latest_wins(void **state)
{
	struct err err = { 0 };

	(void)state;
	running(80, 24);
	TURN_UNTIL(loop, n_calls("ResizeTTY") == 1);
	runtime_process_resize(process, 100, 30);
	runtime_process_resize(process, 101, 31);
	runtime_process_resize(process, 70000, 0);
	turn_for(loop, 30);
	assert_int_equal(n_calls("ResizeTTY"), 1);
	answer(3, "0", "");
	TURN_UNTIL(loop, n_calls("ResizeTTY") == 2);
	static const char size[] = "\x08\x15\x10\xff\xff\x03\x18\x01";
	TURN_UNTIL(loop, memmem(peer.body.p, peer.body.n, size, sizeof size - 1));
	answer(5, "9", "no active PTY");
	turn_for(loop, 30);
	assert_int_equal(n_exit, 0);
	assert_false(runtime_process_eof(process, &err));
	assert_int_equal(err.code, ERR_PROC_EOF_ON_PTY);
}

/* ---- ends */
static void a_kill_signals_the_group_and_waits(void **state)
{
	(void)state;
	running(0, 0);
	runtime_process_kill(process);
	process = NULL;
	assert_int_equal(runtime_n_killing(runtime), 1);
	TURN_UNTIL(loop, n_calls("SendSignal") == 1);
	static const char message[] = "\x08\x15\x10\x09";
	TURN_UNTIL(loop, memmem(peer.body.p, peer.body.n, message, sizeof message - 1));
	assert_false(h2_peer_saw(&peer, "RST 1"));
	EVENT("\x12\x01x");
	EVENT("\x22\x0b\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01");
	end_stream(1, "0", "");
	TURN_UNTIL(loop, runtime_n_killing(runtime) == 0);
	assert_int_equal(n_exit, 0);
	assert_int_equal(output.n, 0);
}

static void a_kill_that_is_not_answered_resets_the_stream(void **state)
{
	(void)state;
	running(0, 0);
	runtime_process_kill(process);
	process = NULL;
	turn_for(loop, 500);
	assert_int_equal(runtime_n_killing(runtime), 1);
	TURN_UNTIL(loop, runtime_n_killing(runtime) == 0);
	TURN_UNTIL(loop, h2_peer_saw(&peer, "RST 1"));
	assert_int_equal(n_exit, 0);
}

static void a_kill_before_init_signals_after_it(void **state)
{
	(void)state;
	started(0, 0);
	runtime_process_kill(process);
	process = NULL;
	turn_for(loop, 50);
	assert_int_equal(n_calls("SendSignal"), 0);
	begin_stream(1);
	EVENT("\x0a\x02\x08\x15");
	TURN_UNTIL(loop, n_calls("SendSignal") == 1);
	assert_int_equal(n_init, 0);
}

static void handles_survive_their_runtime(void **state)
{
	(void)state;
	running(0, 0);
	runtime_close(runtime);
	runtime_unref(runtime);
	runtime = NULL;
	assert_true(runtime_process_is_ended(process));
	assert_false(runtime_process_write(process, slice_of("x"), NULL));
	assert_false(runtime_process_eof(process, NULL));
	assert_false(runtime_process_signal(process, RUNTIME_SIGINT, NULL));
	runtime_process_resize(process, 1, 1);
	runtime_process_consumed(process, 5);
	turn_for(loop, 30);
	assert_int_equal(n_exit, 0);
}

static void a_running_one_keeps_its_runtime(void **state)
{
	(void)state;
	running(0, 0);
	runtime_unref(runtime);
	runtime = NULL;
	turn_for(loop, 30);
	assert_false(runtime_process_is_ended(process));
	EVENT("\x12\x03hi\n");
	TURN_UNTIL(loop, output.n > 0);
	assert_true(runtime_process_write(process, slice_of("x"), NULL));
	TURN_UNTIL(loop, n_calls("WriteStdin") == 1);
	frees_in_exit = true; /* and the runtime goes with it */
	EVENT("\x22\x00");
	end_stream(1, "0", "");
	TURN_UNTIL(loop, n_exit == 1);
	assert_true(exit_ok);
	turn_for(loop, 30);
}

static void ends_inside_callbacks(void **state)
{
	(void)state;
	running(0, 0);
	kills_in_output = true;
	EVENT("\x12\x03hi\n");
	EVENT("\x12\x03ho\n");
	TURN_UNTIL(loop, !process);
	turn_for(loop, 50);
	assert_string_equal(output.p, "1:hi\n");
	tear_down(state);
	set_up(state);
	frees_in_exit = true;
	running(0, 0);
	EVENT("\x22\x00");
	end_stream(1, "0", "");
	TURN_UNTIL(loop, n_exit == 1);
	assert_null(process);
	assert_true(exit_ok);
}

static void a_larger_window_is_given_at_once(void **state)
{
	(void)state;
	window_bytes = 1 << 20;
	running(0, 0);
	window_bytes = 0;
	TURN_UNTIL(loop, peer.window_given >= (1 << 20) - (256 << 10));
	turn_for(loop, 20);
	assert_true(peer.window_given < 1 << 20); /* the rest was there from the beginning */
}

static void unread_output_holds_the_process_back(void **state)
{
	char event[4096 + 3] = "\x12\x80\x20";

	(void)state;
	consumes = false;
	running(0, 0);
	for (int i = 0; i < 40; i++)
		send_event(event, sizeof event);
	turn_for(loop, 100);
	/* 160 KiB have come; only prefixes and framing may have been given back */
	assert_true(peer.window_given < 2000);
	assert_true(output.n > 0);
	runtime_process_consumed(process, 40 * 4096);
	TURN_UNTIL(loop, peer.window_given >= 100 * 1024);
}

/* More than a window comes from a process that was killed: nobody reads it, and the exit still arrives. */
static void output_after_a_kill_is_given_back(void **state)
{
	char event[4096 + 3] = "\x12\x80\x20";

	(void)state;
	running(0, 0);
	runtime_process_kill(process);
	process = NULL;
	assert_int_equal(runtime_n_killing(runtime), 1);
	for (int i = 0; i < 40; i++)
		send_event(event, sizeof event);
	TURN_UNTIL(loop, peer.window_given >= 100 * 1024);
	assert_int_equal(output.n, 0);
	EVENT("\x22\x0b\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01");
	end_stream(1, "0", "");
	TURN_UNTIL(loop, runtime_n_killing(runtime) == 0);
}

/* The exit event is what counts: the trailers have two seconds. */
static void trailers_have_a_deadline(void **state)
{
	(void)state;
	running(0, 0);
	int64_t began_ms = clock_mono_ms();
	EVENT("\x22\x02\x08\x05");
	TURN_UNTIL(loop, n_exit == 1);
	assert_in_range(clock_mono_ms() - began_ms, 1900, 6000);
	assert_true(exit_ok);
	assert_int_equal(exit_code, 5);
}

/* ---- Execute */
static int n_results;
static struct err result_err;
static char result_text[64];

static void on_result(void *arg, const struct err *err, const struct runtime_result *result)
{
	(void)arg;
	n_results++;
	result_err = (struct err){ 0 };
	if (err)
		result_err = *err;
	else
		snprintf(result_text, sizeof result_text, "%d %.*s%.*s", result->exit_code,
			(int)result->out.n, result->out.p, (int)result->err_out.n,
			result->err_out.p);
}

static void execute_answers_whole_or_not_at_all(void **state)
{
	static const char *const argv[] = { "x", NULL };
	struct str out;

	(void)state;
	n_results = 0;
	assert_non_null(
		runtime_execute_start(runtime, argv, NULL, NULL, 5000, on_result, NULL, NULL));
	TURN_UNTIL(loop, has_peer && h2_peer_saw(&peer, "Execute"));
	assert_true(h2_peer_saw(&peer, "grpc-timeout"));
	str_init(&out, 1000);
	h2_grpc_begin(&out, 1);
	h2_message(&out, 1,
		"\x08\x05\x12\x03out\x1a\x03"
		"err",
		12);
	h2_grpc_end(&out, 1, "0", "");
	h2_peer_send(&peer, out.p, out.n);
	str_deinit(&out);
	TURN_UNTIL(loop, n_results == 1);
	assert_int_equal(result_err.code, ERR_NONE);
	assert_string_equal(result_text, "5 outerr");
	assert_non_null(
		runtime_execute_start(runtime, argv, NULL, NULL, 5000, on_result, NULL, NULL));
	TURN_UNTIL(loop, n_calls("Execute") == 2);
	answer(3, "13", "exec: WaitDelay expired before I/O complete");
	TURN_UNTIL(loop, n_results == 2);
	assert_int_equal(result_err.code, ERR_PROC_WAIT_DELAY);
	assert_non_null(
		runtime_execute_start(runtime, argv, NULL, NULL, 100, on_result, NULL, NULL));
	TURN_UNTIL(loop, n_results == 3);
	assert_int_equal(result_err.code, ERR_OP_TIMEOUT);
}

static int n_links_done;
static char links_seen[16];

static void on_links(void *arg, const struct err *err, const bool *is_link, size_t n)
{
	(void)arg;
	n_links_done++;
	result_err = (struct err){ 0 };
	if (err)
		result_err = *err;
	for (size_t i = 0; i < n; i++)
		links_seen[i] = is_link[i] ? 'l' : '-';
	links_seen[n] = 0;
}

static void links_are_told_from_what_they_point_to(void **state)
{
	static const char *const paths[] = { "a/", "-rf", "b\nc" }, *const bad[] = { "../x" };
	struct str out;
	struct err err = { 0 };

	(void)state;
	n_links_done = 0;
	assert_null(runtime_links_start(runtime, bad, 1, 0, on_links, NULL, &err));
	assert_int_equal(err.code, ERR_ARG_PATH);
	for (int i = 0; i < 2; i++) {
		assert_non_null(
			runtime_links_start(runtime, paths, 3, 0, on_links, NULL, NULL));
		TURN_UNTIL(loop, has_peer && n_calls("Execute") == i + 1);
		str_init(&out, 1000);
		h2_grpc_begin(&out, 2 * i + 1);
		h2_message(&out, 2 * i + 1,
			"\x12\x03"
			"101",
			i ? 4 : 5);
		h2_grpc_end(&out, 2 * i + 1, "0", "");
		h2_peer_send(&peer, out.p, out.n);
		str_deinit(&out);
		TURN_UNTIL(loop, n_links_done == i + 1);
		if (i == 0)
			assert_string_equal(links_seen, "l-l");
		else
			assert_int_equal(result_err.code, ERR_PROC_PROTOCOL);
	}
	assert_non_null(memmem(peer.body.p, peer.body.n, "\x0a\x03./a\x0a\x05./-rf", 12));
	/* the name of the shell, before the paths, is no path */
	static const char script[] =
		"\x0a\x02sh\x0a\x02-c\x0a\x40"
		"for p; do if [ -L \"$p\" ]; then printf 1; else printf 0; fi; done\x0a\x02sh\x0a\x03./a";
	assert_non_null(memmem(peer.body.p, peer.body.n, script, sizeof script - 1));
}

static void bad_arguments_are_refused_at_once(void **state)
{
	static const char *const none[] = { NULL }, *const empty[] = { "", NULL },
				 *const ok[] = { "x", NULL },
				 *const bad_env[] = { "A=1", "SECRET", NULL };
	struct runtime_start_opts opts = { .argv = none };
	struct err err = { 0 };

	(void)state;
	assert_null(runtime_process_start(runtime, &opts, &err));
	assert_int_equal(err.code, ERR_ARG_INVALID);
	opts.argv = empty;
	assert_null(runtime_process_start(runtime, &opts, &err));
	opts.argv = ok;
	opts.env = bad_env;
	assert_null(runtime_process_start(runtime, &opts, &err));
	assert_null(strstr(err.msg, "SECRET"));
	opts.env = NULL;
	opts.cwd = "a/../../b";
	assert_null(runtime_process_start(runtime, &opts, &err));
	assert_int_equal(err.code, ERR_ARG_PATH);
	turn_for(loop, 50);
	assert_false(has_peer);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_process_from_init_to_exit),
		TEST(death_by_signal_is_minus_one),
		TEST(exit_counts_even_when_the_rest_is_missing),
		TEST(events_out_of_order_are_refused),
		TEST(streams_that_end_early),
		TEST(init_has_a_deadline),
		TEST(invalidate_ends_it_with_the_given_reason),
		TEST(one_write_at_a_time_in_order),
		TEST(large_input_goes_in_growing_pieces_and_is_bounded),
		TEST(a_process_that_closed_its_input_is_found_out),
		TEST(input_that_is_lost_is_told),
		TEST(the_size_is_sent_again_after_init_and_the_latest_wins),
		TEST(output_after_a_kill_is_given_back),
		TEST(trailers_have_a_deadline),
		TEST(a_kill_signals_the_group_and_waits),
		TEST(a_kill_that_is_not_answered_resets_the_stream),
		TEST(a_kill_before_init_signals_after_it),
		TEST(handles_survive_their_runtime),
		TEST(a_running_one_keeps_its_runtime),
		TEST(ends_inside_callbacks),
		TEST(a_larger_window_is_given_at_once),
		TEST(unread_output_holds_the_process_back),
		TEST(execute_answers_whole_or_not_at_all),
		TEST(links_are_told_from_what_they_point_to),
		TEST(bad_arguments_are_refused_at_once),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
