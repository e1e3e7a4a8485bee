// SPDX-License-Identifier: Apache-2.0
/* Files against a daemon that answers as it likes: cut, wrong, too long, too early, never. */
#include "engine/runtime/runtime.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tests/unit/engine/runtime/rig.h"

/* ---- the daemon: one script for each path */
static char got_body[1 << 16];
static size_t got_body_n;
static char got_path[8192], got_auth[128];
static bool is_changed_now;

static const char *const file_head =
	"HTTP/1.1 200 OK\r\nContent-Type: application/octet-stream\r\n"
	"Last-Modified: Fri, 02 Jan 2026 03:04:05 GMT\r\n";

static void answer_file(struct fake_request *request, const char *length, const char *body)
{
	fake_text(request, file_head);
	fake_text(request, length);
	fake_text(request, "\r\n");
	if (strcmp(request->method, "HEAD") != 0)
		fake_text(request, body);
}

static void answer_get(struct fake_request *request)
{
	const char *name = request->path + strlen("/v1/files/");

	if (strcmp(name, "ok") == 0) {
		answer_file(request, "Content-Length: 10\r\n", "0123456789");
	} else if (strcmp(name, "large") == 0) {
		static const char zeros[1 << 20];
		fake_reply(request, "200 OK", "application/octet-stream", zeros, sizeof zeros);
	} else if (strcmp(name, "empty") == 0) {
		answer_file(request, "Content-Length: 0\r\n", "");
	} else if (strcmp(name, "cut") == 0) {
		/* announces ten, gives four; a later HEAD says the same, or not */
		answer_file(request,
			is_changed_now && !strcmp(request->method, "HEAD")
				? "Content-Length: 4\r\n"
				: "Content-Length: 10\r\n",
			"0123");
		if (strcmp(request->method, "HEAD") != 0)
			fake_close(request);
	} else if (strcmp(name, "nohead") == 0) {
		fake_close(request);
	} else if (strcmp(name, "halfhead") == 0) {
		fake_text(request, "HTTP/1.1 200 OK\r\nContent-Ty");
		fake_close(request);
	} else if (strcmp(name, "garbage") == 0) {
		fake_text(request, "\x16\x03\x01garbage\r\n\r\n");
		fake_close(request);
	} else if (strcmp(name, "dir") == 0) {
		fake_json(request, "200 OK", "{\"path\":\"/dir\",\"entries\":[]}");
	} else if (strcmp(name, "redirect") == 0) {
		fake_text(request,
			"HTTP/1.1 307 Temporary Redirect\r\nLocation: /v1/etc/passwd\r\n"
			"Content-Length: 0\r\n\r\n");
	} else if (strcmp(name, "denied") == 0) {
		fake_json(request, "500 Internal Server Error",
			"{\"code\":\"INTERNAL\",\"message\":\"open /w/denied: permission denied\"}\n");
	} else if (strcmp(name, "chunked") == 0) {
		answer_file(request, "Transfer-Encoding: chunked\r\n",
			"4\r\n0123\r\n6\r\n456789\r\n0\r\n\r\n");
	} else if (strcmp(name, "range") == 0) {
		if (!fake_header(request, "Range"))
			answer_file(request, "Content-Length: 10\r\n", "0123456789");
		else
			fake_text(request,
				"HTTP/1.1 206 Partial Content\r\nContent-Type: "
				"application/octet-stream\r\nContent-Range: bytes 4-9/10\r\n"
				"Content-Length: 6\r\n\r\n456789");
	} else if (strcmp(name, "range416") == 0) {
		fake_text(request,
			"HTTP/1.1 416 Requested Range Not Satisfiable\r\nContent-Range: "
			"bytes */10\r\nContent-Length: 4\r\n\r\nlate");
	} else if (strcmp(name, "slow") != 0) { /* "slow" never answers */
		fake_json(request, "404 Not Found",
			"{\"code\":\"NOT_FOUND\",\"message\":\"path does not exist within the "
			"sandbox\"}\n");
	}
}

static void answer_put(struct fake_request *request)
{
	const char *name = request->path + strlen("/v1/files/");

	if (strncmp(name, "early", 5) == 0) {
		/* refused without a look at the body, and the connection is cut */
		fake_json(request, "403 Forbidden",
			"{\"code\":\"PERMISSION_DENIED\",\"message\":\"escapes\"}");
		fake_close(request);
		return;
	}
	if (request->is_headers_only)
		return;
	got_body_n = request->body_n < sizeof got_body ? request->body_n : sizeof got_body;
	memcpy(got_body, request->body, got_body_n);
	snprintf(got_path, sizeof got_path, "%s", request->path);
	if (strncmp(name, "full", 4) == 0)
		fake_json(request, "500 Internal Server Error",
			"{\"code\":\"INTERNAL\",\"message\":\"failed to write file contents: "
			"write /w/.sandboxd-tmp-1: no space left on device\"}");
	else if (strncmp(name, "mute", 4) != 0)
		fake_text(request, "HTTP/1.1 204 No Content\r\n\r\n");
	else
		fake_close(request);
}

static void handle(struct fake_request *request, void *arg)
{
	(void)arg;
	const char *auth = fake_header(request, "Authorization");
	snprintf(got_auth, sizeof got_auth, "%s", auth ? auth : "");
	if (strcmp(request->method, "PUT") == 0)
		answer_put(request);
	else if (strcmp(request->method, "DELETE") == 0)
		fake_text(
			request, strstr(request->path, "full") &&
						 !strstr(request->path, "recursive=true")
					 ? "HTTP/1.1 409 Conflict\r\nContent-Length: 0\r\n\r\n"
					 : "HTTP/1.1 204 No Content\r\n\r\n");
	else if (strcmp(request->path, "/v1/metadata") == 0)
		fake_json(request, "200 OK",
			"{\"env\":{\"SANDBOX_A\":\"1\",\"SANDBOX_B\":\"\\u001b]0;x\"}}");
	else
		answer_get(request);
}

/* ---- reading */
static bool on_bytes(void *arg, struct slice bytes, struct err *err)
{
	struct rig *rig = arg;

	(void)err;
	if (rig->text_n + bytes.n < sizeof rig->text) {
		memcpy(rig->text + rig->text_n, bytes.p, bytes.n);
		rig->text_n += bytes.n;
	}
	return true;
}

static void on_read(void *arg, const struct err *err, int64_t bytes_read)
{
	struct rig *rig = arg;

	rig->number = bytes_read;
	rig_done(rig, err);
}

static struct runtime_op *start_read(
	struct rig *rig, const char *path, int64_t offset, struct err *err)
{
	struct runtime_read_opts opts = {
		.path = path,
		.offset = offset,
		.if_unmodified_since_s = -1,
		.on_bytes = on_bytes,
		.done = on_read,
		.arg = rig,
	};

	rig->text_n = 0;
	return runtime_read_start(rig->runtime, &opts, err);
}

static const struct {
	const char *path;
	int64_t offset;
	enum err_code is;
	const char *text;
} reads[] = {
	{ "ok", 0, ERR_NONE, "0123456789" },
	{ "./ok", 0, ERR_NONE, "0123456789" },
	{ "empty", 0, ERR_NONE, "" },
	{ "chunked", 0, ERR_NONE, "0123456789" },
	{ "range", 4, ERR_NONE, "456789" },
	{ "range", 5, ERR_RUNTIME_PROTOCOL, NULL },
	{ "ok", 4, ERR_FILE_CHANGED, NULL },
	{ "range416", 10, ERR_NONE, "" },
	{ "range416", 11, ERR_FILE_CHANGED, NULL },
	{ "nope", 0, ERR_FILE_NOT_FOUND, NULL },
	{ "dir", 0, ERR_FILE_IS_DIR, NULL },
	{ "denied", 0, ERR_FILE_DENIED, NULL },
	{ "redirect", 0, ERR_HTTP_STATUS, NULL },
	{ "cut", 0, ERR_CONN_LOST, NULL },
	{ "nohead", 0, ERR_CONN_LOST, NULL },
};

static void reads_end_as_they_must(void **state)
{
	struct rig rig;

	(void)state;
	is_changed_now = false;
	rig_open(&rig, handle, NULL);
	for (size_t i = 0; i < sizeof reads / sizeof *reads; i++) {
		struct err err = { 0 };
		rig.n_done = 0;
		if (!start_read(&rig, reads[i].path, reads[i].offset, &err))
			fail_msg("%s: %s", reads[i].path, err.msg);
		assert_int_equal(rig.n_done, 0);
		rig_wait(&rig, 1);
		if (rig.err.code != reads[i].is)
			fail_msg("%s at %d: %s %s", reads[i].path, (int)reads[i].offset,
				err_name(&rig.err), rig.err.msg);
		if (reads[i].text) {
			assert_int_equal(rig.text_n, strlen(reads[i].text));
			assert_memory_equal(rig.text, reads[i].text, rig.text_n);
			assert_int_equal(rig.number, rig.text_n);
		}
	}
	rig_close(&rig);
}

static void broken_answers_fail(void **state)
{
	static const char *const paths[] = { "halfhead", "garbage" };
	struct rig rig;

	(void)state;
	rig_open(&rig, handle, NULL);
	for (size_t i = 0; i < 2; i++) {
		rig.n_done = 0;
		assert_non_null(start_read(&rig, paths[i], 0, NULL));
		rig_wait(&rig, 1);
		assert_true(
			rig.err.code == ERR_CONN_LOST || rig.err.code == ERR_RUNTIME_PROTOCOL);
	}
	rig_close(&rig);
}

static void a_short_body_of_a_changed_file_says_so(void **state)
{
	struct rig rig;

	(void)state;
	is_changed_now = true;
	rig_open(&rig, handle, NULL);
	assert_non_null(start_read(&rig, "cut", 0, NULL));
	rig_wait(&rig, 1);
	assert_int_equal(rig.err.code, ERR_FILE_CHANGED);
	assert_int_equal(rig.number, 4);
	rig_close(&rig);
	is_changed_now = false;
}

static void bad_paths_make_no_request(void **state)
{
	static const char *const paths[] = { "../x", "a/../../x", "/etc/passwd", ".." };
	struct rig rig;

	(void)state;
	rig_open(&rig, handle, NULL);
	for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
		struct err err = { 0 };
		assert_null(start_read(&rig, paths[i], 0, &err));
		assert_int_equal(err.code, ERR_ARG_PATH);
	}
	struct err err = { 0 };
	assert_null(start_read(&rig, ".", 0, &err));
	assert_int_equal(err.code, ERR_FILE_IS_DIR);
	assert_null(runtime_delete_start(rig.runtime, "", true, 0, NULL, NULL, &err));
	assert_int_equal(err.code, ERR_ARG_PATH);
	assert_null(runtime_delete_start(rig.runtime, "a/", true, 0, NULL, NULL, &err));
	assert_int_equal(err.code, ERR_ARG_PATH);
	rig_turns(&rig, 50);
	assert_int_equal(rig.fake.n_requests + rig.fake.n_health, 0);
	rig_close(&rig);
}

static void download_limit_counts_bytes_not_promises(void **state)
{
	struct runtime_opts opts = { .max_download_bytes = 5 };
	static const char *const paths[] = { "ok", "chunked" };
	struct rig rig;

	(void)state;
	rig_open(&rig, handle, &opts);
	for (size_t i = 0; i < 2; i++) {
		rig.n_done = 0;
		assert_non_null(start_read(&rig, paths[i], 0, NULL));
		rig_wait(&rig, 1);
		assert_int_equal(rig.err.code, ERR_LIMIT_DOWNLOAD);
		assert_true(rig.text_n <= 5);
	}
	rig_close(&rig);
}

static bool stop_at_once(void *arg, struct slice bytes, struct err *err)
{
	(void)arg;
	(void)bytes;
	return err_set(err, ERR_FILE_NO_SPACE, "the disk is full");
}

static struct runtime_op *op_to_cancel;

static bool cancel_inside(void *arg, struct slice bytes, struct err *err)
{
	(void)arg;
	(void)bytes;
	(void)err;
	runtime_cancel(op_to_cancel);
	return true;
}

static void a_reader_can_stop_or_cancel_inside_its_callback(void **state)
{
	struct rig rig;
	struct runtime_read_opts opts = {
		.path = "ok",
		.if_unmodified_since_s = -1,
		.on_bytes = stop_at_once,
		.done = on_read,
		.arg = &rig,
	};

	(void)state;
	rig_open(&rig, handle, NULL);
	assert_non_null(runtime_read_start(rig.runtime, &opts, NULL));
	rig_wait(&rig, 1);
	assert_int_equal(rig.err.code, ERR_FILE_NO_SPACE);
	opts.on_bytes = cancel_inside;
	op_to_cancel = runtime_read_start(rig.runtime, &opts, NULL);
	rig_turns(&rig, 150);
	assert_int_equal(rig.n_done, 1);
	rig_close(&rig);
}

static void cancel_and_free_are_silent_at_any_time(void **state)
{
	struct rig rig;

	(void)state;
	rig_open(&rig, handle, NULL);
	/* before it is connected, while it waits for an answer, and at the end */
	runtime_cancel(start_read(&rig, "ok", 0, NULL));
	struct runtime_op *op = start_read(&rig, "slow", 0, NULL);
	rig_turns(&rig, 100);
	runtime_cancel(op);
	start_read(&rig, "slow", 0, NULL);
	start_read(&rig, "slow", 0, NULL);
	rig_turns(&rig, 50);
	runtime_close(rig.runtime);
	runtime_unref(rig.runtime);
	rig.runtime = NULL;
	rig_turns(&rig, 50);
	assert_int_equal(rig.n_done, 0);
	rig_close(&rig);
}

/* ---- pausing */
static int n_pieces;

static bool pause_each(void *arg, struct slice bytes, struct err *err)
{
	n_pieces++;
	on_bytes(arg, bytes, err);
	return false;
}

static void a_paused_read_goes_on_when_resumed(void **state)
{
	struct rig rig;
	struct runtime_read_opts opts = {
		.path = "large",
		.if_unmodified_since_s = -1,
		.on_bytes = pause_each,
		.done = on_read,
		.arg = &rig,
	};

	(void)state;
	rig_open(&rig, handle, NULL);
	n_pieces = 0;
	struct runtime_op *op = runtime_read_start(rig.runtime, &opts, NULL);
	rig_turns(&rig, 100);
	assert_int_equal(n_pieces, 1);
	assert_int_equal(rig.n_done, 0);
	while (!rig.n_done) {
		int before = n_pieces;
		runtime_resume(op);
		rig_turns(&rig, 5);
		assert_true(n_pieces <= before + 1);
	}
	assert_false(rig.failed);
	assert_int_equal(rig.number, 1 << 20);
	rig_close(&rig);
}

/* ---- writing */
struct source {
	struct rig *rig;
	const char *text;
	size_t n, at;
	int pauses;
	bool aborts;
};

static long read_bytes(void *arg, char *into, size_t room, struct err *err)
{
	struct source *source = arg;
	size_t n = source->n - source->at;

	if (source->pauses-- > 0)
		return HTTP_BODY_PAUSE;
	if (source->aborts) {
		err_set(err, ERR_FILE_CHANGED, "gone");
		return HTTP_BODY_ABORT;
	}
	if (n > room)
		n = room;
	if (n > 7)
		n = 7;
	if (source->text)
		memcpy(into, source->text + source->at, n);
	else
		memset(into, 'x',
			n = (source->n - source->at < room ? source->n - source->at : room));
	source->at += n;
	return (long)n;
}

static void on_written(void *arg, const struct err *err)
{
	rig_done(((struct source *)arg)->rig, err);
}

static struct runtime_op *start_write(
	struct source *source, const char *path, int mode, int64_t total, struct err *err)
{
	struct runtime_write_opts opts = {
		.path = path,
		.mode = mode,
		.total_bytes = total,
		.read_bytes = read_bytes,
		.done = on_written,
		.arg = source,
	};

	return runtime_write_start(source->rig->runtime, &opts, err);
}

static const char hello[] = "hello, this is a small file";

static void a_write_arrives_whole(void **state)
{
	struct rig rig;
	struct runtime_opts opts = { .token = "s3cret" };
	int64_t totals[] = { sizeof hello - 1, -1 };

	(void)state;
	rig_open(&rig, handle, &opts);
	for (int i = 0; i < 2; i++) {
		struct source source = { &rig, hello, sizeof hello - 1, 0, 0, false };
		rig.n_done = 0;
		got_body_n = 0;
		assert_non_null(start_write(&source, "d/a b%.txt", 0600, totals[i], NULL));
		rig_wait(&rig, 1);
		if (rig.failed)
			fail_msg("%s %s", err_name(&rig.err), rig.err.msg);
		assert_int_equal(got_body_n, sizeof hello - 1);
		assert_memory_equal(got_body, hello, got_body_n);
		assert_string_equal(got_path, "/v1/files/d/a%20b%25.txt?mode=0600");
		assert_string_equal(got_auth, "Bearer s3cret");
	}
	rig_close(&rig);
}

static void a_paused_write_goes_on_when_resumed(void **state)
{
	struct rig rig;
	struct source source = { &rig, hello, sizeof hello - 1, 0, 1, false };

	(void)state;
	rig_open(&rig, handle, NULL);
	struct runtime_op *op = start_write(&source, "a", -1, sizeof hello - 1, NULL);
	rig_turns(&rig, 100);
	assert_int_equal(rig.n_done, 0);
	runtime_resume(op);
	rig_wait(&rig, 1);
	assert_false(rig.failed);
	assert_memory_equal(got_body, hello, sizeof hello - 1);
	rig_close(&rig);
}

static void writes_end_as_they_must(void **state)
{
	static const struct {
		const char *path;
		size_t n;
		int64_t total;
		bool aborts;
		enum err_code is;
	} cases[] = {
		{ "full", 20, 20, false, ERR_FILE_NO_SPACE },
		{ "mute", 20, 20, false, ERR_CONN_LOST },
		{ "short", 10, 20, false, ERR_FILE_CHANGED },
		{ "aborted", 20, 20, true, ERR_FILE_CHANGED },
		{ "early", 20, 20, false, ERR_FILE_DENIED },
		{ "early", 8 << 20, 8 << 20, false, ERR_FILE_DENIED },
		{ "early", 8 << 20, -1, false, ERR_FILE_DENIED },
		{ "toolong", 200000, 200000, false, ERR_LIMIT_UPLOAD },
	};
	struct rig rig;
	struct runtime_opts opts = { .max_upload_bytes = 0 };

	(void)state;
	rig_open(&rig, handle, &opts);
	rig.fake.wants_headers = true;
	for (size_t i = 0; i < sizeof cases / sizeof *cases - 1; i++) {
		struct source source = { &rig, NULL, cases[i].n, 0, 0, cases[i].aborts };
		struct err err = { 0 };
		rig.n_done = 0;
		if (!start_write(&source, cases[i].path, -1, cases[i].total, &err))
			fail_msg("%s: %s", cases[i].path, err.msg);
		rig_wait(&rig, 1);
		if (rig.err.code != cases[i].is)
			fail_msg("%s %zu: %s %s", cases[i].path, cases[i].n, err_name(&rig.err),
				rig.err.msg);
	}
	rig_close(&rig);
}

static void an_upload_over_the_limit_is_refused_or_broken_off(void **state)
{
	struct rig rig;
	struct runtime_opts opts = { .max_upload_bytes = 100 };
	struct source source = { &rig, NULL, 200, 0, 0, false };
	struct err err = { 0 };

	(void)state;
	rig_open(&rig, handle, &opts);
	got_body_n = 0;
	assert_null(start_write(&source, "a", -1, 200, &err));
	assert_int_equal(err.code, ERR_LIMIT_UPLOAD);
	assert_non_null(start_write(&source, "a", -1, -1, &err));
	rig_wait(&rig, 1);
	assert_int_equal(rig.err.code, ERR_LIMIT_UPLOAD);
	assert_int_equal(got_body_n, 0);
	rig_close(&rig);
}

static void bad_modes_are_refused(void **state)
{
	struct rig rig;
	struct source source = { &rig, hello, 1, 0, 0, false };
	struct err err = { 0 };

	(void)state;
	rig_open(&rig, handle, NULL);
	assert_null(start_write(&source, "a", 01777, 1, &err));
	assert_int_equal(err.code, ERR_ARG_INVALID);
	assert_null(start_write(&source, "a/", 0644, 1, &err));
	assert_int_equal(err.code, ERR_ARG_PATH);
	rig_close(&rig);
}

static void read_only_refuses_every_change(void **state)
{
	struct rig rig;
	struct runtime_opts opts = { .read_only = true };
	struct source source = { &rig, hello, 1, 0, 0, false };
	struct err err = { 0 };
	static const char *const argv[] = { "true", NULL };
	struct runtime_start_opts start = { .argv = argv };

	(void)state;
	rig_open(&rig, handle, &opts);
	assert_null(start_write(&source, "a", -1, 1, &err));
	assert_int_equal(err.code, ERR_OP_READ_ONLY);
	err.code = ERR_NONE;
	assert_null(runtime_delete_start(rig.runtime, "a", false, 0, NULL, NULL, &err));
	assert_int_equal(err.code, ERR_OP_READ_ONLY);
	err.code = ERR_NONE;
	assert_null(runtime_process_start(rig.runtime, &start, &err));
	assert_int_equal(err.code, ERR_OP_READ_ONLY);
	err.code = ERR_NONE;
	assert_null(runtime_execute_start(rig.runtime, argv, NULL, NULL, 0, NULL, NULL, &err));
	assert_int_equal(err.code, ERR_OP_READ_ONLY);
	assert_non_null(start_read(&rig, "ok", 0, NULL));
	rig_wait(&rig, 1);
	assert_false(rig.failed);
	rig_close(&rig);
}

/* ---- names */
static void on_delete(void *arg, const struct err *err)
{
	rig_done(arg, err);
}

static void on_list(void *arg, const struct err *err, const struct runtime_entry *entries,
	size_t n, size_t n_hidden)
{
	(void)entries;
	((struct rig *)arg)->number = (int64_t)(n + 100 * n_hidden);
	rig_done(arg, err);
}

static void on_stat(void *arg, const struct err *err, const struct runtime_stat *st)
{
	struct rig *rig = arg;

	if (!err)
		rig->number = st->is_dir ? -2 : st->size_bytes;
	rig_done(rig, err);
}

static void names_answer_as_they_must(void **state)
{
	struct rig rig;
	int n = 0;

	(void)state;
	rig_open(&rig, handle, NULL);
	assert_non_null(runtime_list_start(rig.runtime, "dir", 0, on_list, &rig, NULL));
	rig_wait(&rig, ++n);
	assert_false(rig.failed);
	assert_non_null(runtime_list_start(rig.runtime, "ok", 0, on_list, &rig, NULL));
	rig_wait(&rig, ++n);
	assert_int_equal(rig.err.code, ERR_FILE_NOT_DIR);
	assert_non_null(runtime_list_start(rig.runtime, "nope", 0, on_list, &rig, NULL));
	rig_wait(&rig, ++n);
	assert_int_equal(rig.err.code, ERR_FILE_NOT_FOUND);
	assert_non_null(runtime_stat_start(rig.runtime, "ok", 0, on_stat, &rig, NULL));
	rig_wait(&rig, ++n);
	assert_false(rig.failed);
	assert_int_equal(rig.number, 10);
	assert_non_null(runtime_stat_start(rig.runtime, "dir", 0, on_stat, &rig, NULL));
	rig_wait(&rig, ++n);
	assert_int_equal(rig.number, -2);
	assert_non_null(runtime_stat_start(rig.runtime, "slow", 100, on_stat, &rig, NULL));
	rig_wait(&rig, ++n);
	assert_int_equal(rig.err.code, ERR_OP_TIMEOUT);
	assert_non_null(
		runtime_delete_start(rig.runtime, "full", false, 0, on_delete, &rig, NULL));
	rig_wait(&rig, ++n);
	assert_int_equal(rig.err.code, ERR_FILE_NOT_EMPTY);
	assert_non_null(
		runtime_delete_start(rig.runtime, "full", true, 0, on_delete, &rig, NULL));
	rig_wait(&rig, ++n);
	assert_false(rig.failed);
	rig_close(&rig);
}

static void on_pairs(
	void *arg, const struct err *err, const struct runtime_pair *pairs, size_t n)
{
	struct rig *rig = arg;

	assert_null(err);
	assert_int_equal(n, 2);
	assert_string_equal(pairs[0].name, "SANDBOX_A");
	assert_string_equal(pairs[1].value, "\x1b]0;x");
	rig_done(rig, err);
}

static void metadata_keeps_foreign_bytes_as_they_are(void **state)
{
	struct rig rig;

	(void)state;
	rig_open(&rig, handle, NULL);
	assert_non_null(runtime_metadata_start(rig.runtime, 0, on_pairs, &rig, NULL));
	rig_wait(&rig, 1);
	rig_close(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_end_as_they_must),
		cmocka_unit_test(broken_answers_fail),
		cmocka_unit_test(a_short_body_of_a_changed_file_says_so),
		cmocka_unit_test(bad_paths_make_no_request),
		cmocka_unit_test(download_limit_counts_bytes_not_promises),
		cmocka_unit_test(a_reader_can_stop_or_cancel_inside_its_callback),
		cmocka_unit_test(cancel_and_free_are_silent_at_any_time),
		cmocka_unit_test(a_paused_read_goes_on_when_resumed),
		cmocka_unit_test(a_write_arrives_whole),
		cmocka_unit_test(a_paused_write_goes_on_when_resumed),
		cmocka_unit_test(writes_end_as_they_must),
		cmocka_unit_test(an_upload_over_the_limit_is_refused_or_broken_off),
		cmocka_unit_test(bad_modes_are_refused),
		cmocka_unit_test(read_only_refuses_every_change),
		cmocka_unit_test(names_answer_as_they_must),
		cmocka_unit_test(metadata_keeps_foreign_bytes_as_they_are),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
