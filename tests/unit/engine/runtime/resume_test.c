// SPDX-License-Identifier: Apache-2.0
/* The rest of a file: what is asked for, which answers are the rest of the same file, and how a short one is explained.
 * And what is sent of a write, what is refused, and what an operation tells of its path. */
#include "tests/unit/unit.h"

#include "engine/base/mem.h"
#include "tests/unit/engine/runtime/rig.h"

#define COUNT(a) (sizeof(a) / sizeof(a)[0])
#define DATE "Sun, 06 Nov 1994 08:49:37 GMT"
#define LATER "Sun, 06 Nov 1994 08:49:38 GMT"

enum { DATE_S = 784111777 };

static const char *answer_head, *answer_body; /* of a GET, as it is sent */
static const char *look_head;                 /* of a HEAD */
static char asked[16384], sent[1 << 16];
static size_t sent_n;
static bool hangs_up;

static void handle(struct fake_request *request, void *arg)
{
	(void)arg;
	if (strcmp(request->method, "HEAD") == 0) {
		fake_text(request, look_head);
		return;
	}
	snprintf(asked, sizeof asked, "%s %.1000s\n%.12000s", request->method, request->path,
		request->headers);
	sent_n = request->body_n < sizeof sent ? request->body_n : sizeof sent;
	memcpy(sent, request->body, sent_n);
	fake_text(request, answer_head);
	fake_text(request, answer_body);
	if (hangs_up)
		fake_close(request);
}

static int64_t told_total, told_modified;
static int n_told;

static void on_info(void *arg, int64_t total_bytes, int64_t modified_s)
{
	(void)arg;
	n_told++;
	told_total = total_bytes;
	told_modified = modified_s;
}

static bool on_bytes(void *arg, struct slice bytes, struct err *err)
{
	struct rig *rig = arg;

	(void)err;
	memcpy(rig->text + rig->text_n, bytes.p, bytes.n);
	rig->text_n += bytes.n;
	return true;
}

static void on_read(void *arg, const struct err *err, int64_t bytes_read)
{
	struct rig *rig = arg;

	rig->number = bytes_read;
	rig_done(rig, err);
}

static void read_rest(struct rig *rig, int64_t offset, int64_t since_s)
{
	struct runtime_read_opts opts = { .path = "d/f",
		.offset = offset,
		.if_unmodified_since_s = since_s,
		.on_info = on_info,
		.on_bytes = on_bytes,
		.done = on_read,
		.arg = rig };

	n_told = rig->n_done = 0;
	told_total = told_modified = -9;
	rig->text_n = 0;
	asked[0] = 0;
	assert_non_null(runtime_read_start(rig->runtime, &opts, NULL));
	rig_wait(rig, 1);
}

#define PART(range) "206 Partial Content\r\nContent-Length: 6\r\nContent-Range: " range

static const struct {
	const char *head;
	int64_t since_s;
	enum err_code is;
	int64_t total, modified;
} rests[] = {
	{ PART("bytes 4-9/10"), -1, ERR_NONE, 10, -1 },
	{ PART("bytes 4-9/*"), -1, ERR_NONE, -1, -1 },
	{ PART("bytes 4-9/10\r\nLast-Modified: " DATE), DATE_S, ERR_NONE, 10, DATE_S },
	{ PART("bytes 4-9/10"), DATE_S, ERR_NONE, 10, -1 },
	{ PART("bytes 4-9/10\r\nLast-Modified: " LATER), DATE_S, ERR_FILE_CHANGED, 0, 0 },
	{ PART("bytes 4-9/10\r\nLast-Modified: " LATER), -1, ERR_NONE, 10, DATE_S + 1 },
	{ PART("bytes 5-9/10"), -1, ERR_RUNTIME_PROTOCOL, 0, 0 },
	{ PART("bytes 3-9/10"), -1, ERR_RUNTIME_PROTOCOL, 0, 0 },
	{ PART("bytes 4-3/10"), -1, ERR_RUNTIME_PROTOCOL, 0, 0 },
	{ PART("bytes 4-9/9"), -1, ERR_RUNTIME_PROTOCOL, 0, 0 },
	{ PART("bytes 4-4/5"), -1, ERR_NONE, 5, -1 },
	{ PART("bytes 4-9/x"), -1, ERR_RUNTIME_PROTOCOL, 0, 0 },
	{ PART("bytes 4-9"), -1, ERR_RUNTIME_PROTOCOL, 0, 0 },
	{ PART("bytes */10"), -1, ERR_RUNTIME_PROTOCOL, 0, 0 },
	{ PART("other 4-9/10"), -1, ERR_RUNTIME_PROTOCOL, 0, 0 },
	{ "206 Partial Content\r\nContent-Length: 6", -1, ERR_RUNTIME_PROTOCOL, 0, 0 },
	{ "200 OK\r\nContent-Length: 6", -1, ERR_FILE_CHANGED, 0, 0 },
	{ "412 Precondition Failed\r\nContent-Length: 6", DATE_S, ERR_FILE_CHANGED, 0, 0 },
	/* all of it is there already; or another file */
	{ "416 X\r\nContent-Length: 6\r\nContent-Range: bytes */4", -1, ERR_NONE, 4, -1 },
	{ "416 X\r\nContent-Length: 6\r\nContent-Range: bytes */5", -1, ERR_FILE_CHANGED, 0,
		0 },
	{ "416 X\r\nContent-Length: 6", -1, ERR_FILE_CHANGED, 0, 0 },
	{ "416 X\r\nContent-Length: 6\r\nContent-Range: bytes 4-9/4", -1, ERR_FILE_CHANGED, 0,
		0 },
};

static void answers_to_a_range(void **state)
{
	struct rig rig;
	char head[400];

	(void)state;
	rig_open(&rig, handle, NULL);
	hangs_up = false;
	answer_head = head;
	answer_body = "456789";
	for (size_t i = 0; i < COUNT(rests); i++) {
		snprintf(head, sizeof head, "HTTP/1.1 %s\r\n\r\n", rests[i].head);
		read_rest(&rig, 4, rests[i].since_s);
		if ((rig.failed ? rig.err.code : ERR_NONE) != rests[i].is)
			fail_msg("row %zu: %s %s", i, err_name(&rig.err), rig.err.msg);
		assert_non_null(strstr(asked, "GET /v1/files/d/f\n"));
		assert_non_null(strstr(asked, "Range: bytes=4-\r\n"));
		assert_int_equal(strstr(asked, "If-Unmodified-Since: " DATE "\r\n") != NULL,
			rests[i].since_s == DATE_S);
		if (rig.failed) {
			assert_non_null(strstr(rig.err.msg, "d/f: "));
			continue;
		}
		bool is_all = strncmp(rests[i].head, "416", 3) == 0;
		assert_int_equal(n_told, 1);
		assert_int_equal(told_total, rests[i].total);
		assert_int_equal(told_modified, rests[i].modified);
		assert_int_equal(rig.text_n, is_all ? 0 : 6);
		assert_int_equal(rig.number, rig.text_n);
	}
	/* from the beginning nothing of that is asked */
	snprintf(head, sizeof head,
		"HTTP/1.1 200 OK\r\nContent-Length: 6\r\nLast-Modified: " DATE "\r\n\r\n");
	read_rest(&rig, 0, DATE_S);
	assert_false(rig.failed);
	assert_null(strstr(asked, "Range:"));
	assert_null(strstr(asked, "If-Unmodified"));
	assert_int_equal(told_total, 6);
	assert_int_equal(told_modified, DATE_S);
	rig_close(&rig);
}

/* Cut in the middle: is it the file, or the connection? */
static void why_it_is_short(void **state)
{
	static const struct {
		const char *head;
		enum err_code is;
	} rows[] = {
		{ "200 OK\r\nContent-Length: 9\r\nLast-Modified: " DATE, ERR_CONN_LOST },
		{ "200 OK\r\nContent-Length: 8\r\nLast-Modified: " DATE, ERR_FILE_CHANGED },
		{ "200 OK\r\nContent-Length: 9\r\nLast-Modified: " LATER, ERR_FILE_CHANGED },
		{ "200 OK\r\nContent-Length: 9", ERR_FILE_CHANGED },
		{ "404 Not Found\r\nContent-Length: 9\r\nLast-Modified: " DATE,
			ERR_FILE_CHANGED },
		{ "200 OK\r\nContent-Length: 9\r\nContent-Type: application/json\r\n"
		  "Last-Modified: " DATE,
			ERR_FILE_CHANGED },
	};
	struct rig rig;
	char look[300];

	(void)state;
	answer_head = "HTTP/1.1 200 OK\r\nContent-Length: 9\r\nLast-Modified: " DATE "\r\n\r\n";
	answer_body = "0123";
	look_head = look;
	hangs_up = true;
	for (size_t i = 0; i < COUNT(rows); i++) {
		rig_open(&rig, handle, NULL);
		snprintf(look, sizeof look, "HTTP/1.1 %s\r\n\r\n", rows[i].head);
		read_rest(&rig, 0, -1);
		if (!rig.failed || rig.err.code != rows[i].is)
			fail_msg("row %zu: %s %s", i, err_name(&rig.err), rig.err.msg);
		if (rows[i].is == ERR_FILE_CHANGED)
			assert_non_null(strstr(rig.err.msg,
				"it changed while it was read: 4 of 9 bytes came"));
		assert_int_equal(rig.number, 4);
		rig_close(&rig);
	}
	hangs_up = false;
}

static void a_download_has_a_limit(void **state)
{
	static const struct {
		uint64_t limit;
		enum err_code is;
	} rows[] = { { 6, ERR_NONE }, { 5, ERR_LIMIT_DOWNLOAD } };

	(void)state;
	answer_body = "456789";
	for (size_t i = 0; i < 2 * COUNT(rows); i++) {
		struct rig rig;
		const struct runtime_opts opts = { .max_download_bytes = rows[i / 2].limit };
		/* promised, or only sent */
		answer_head = i % 2 ? "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n"
				    : "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n";
		hangs_up = i % 2 == 0;
		rig_open(&rig, handle, &opts);
		read_rest(&rig, 0, -1);
		if ((rig.failed ? rig.err.code : ERR_NONE) != rows[i / 2].is)
			fail_msg("row %zu: %s %s", i, err_name(&rig.err), rig.err.msg);
		rig_close(&rig);
	}
	hangs_up = false;
}

/* ---- writing */

static const char *source;

static long give(void *arg, char *into, size_t room, struct err *err)
{
	size_t n = strlen(source);

	(void)arg;
	(void)err;
	n = n < room ? n : room;
	memcpy(into, source, n);
	source += n;
	return (long)n;
}

static void on_written(void *arg, const struct err *err)
{
	rig_done(arg, err);
}

static void write_all(struct rig *rig, struct runtime_write_opts opts)
{
	opts.path = "d/./f";
	opts.read_bytes = give;
	opts.done = on_written;
	opts.arg = rig;
	rig->n_done = 0;
	asked[0] = 0;
	assert_non_null(runtime_write_start(rig->runtime, &opts, NULL));
	rig_wait(rig, 1);
}

static void answers_to_a_write(void **state)
{
	static const struct {
		int mode;
		int64_t total;
		const char *text, *status;
		enum err_code is;
		const char *asked;
	} rows[] = {
		{ -1, 4, "text", "204 No Content", ERR_NONE, "PUT /v1/files/d/f\n" },
		{ 0, 4, "text", "204 No Content", ERR_NONE, "PUT /v1/files/d/f?mode=0000\n" },
		{ 0640, 4, "text", "200 OK", ERR_NONE, "PUT /v1/files/d/f?mode=0640\n" },
		{ 0777, -1, "text", "201 Created", ERR_NONE, "PUT /v1/files/d/f?mode=0777\n" },
		{ -1, 0, "", "204 No Content", ERR_NONE, "PUT /v1/files/d/f\n" },
		{ -1, -1, "", "204 No Content", ERR_NONE, "PUT /v1/files/d/f\n" },
		{ -1, 2, "text", "204 No Content", ERR_NONE, "PUT /v1/files/d/f\n" },
		{ -1, 5, "text", "204 No Content", ERR_FILE_CHANGED, NULL },
		{ -1, 4, "text", "202 Accepted", ERR_RUNTIME_PROTOCOL, NULL },
		{ -1, 4, "text", "403 Forbidden", ERR_FILE_DENIED, NULL },
		{ -1, 4, "text", "302 Found", ERR_HTTP_STATUS, NULL },
	};
	char head[200];

	(void)state;
	answer_head = head;
	answer_body = "";
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct rig rig;
		rig_open(&rig, handle, NULL);
		snprintf(head, sizeof head, "HTTP/1.1 %s\r\n%s\r\n", rows[i].status,
			strncmp(rows[i].status, "204", 3) ? "Content-Length: 0\r\n" : "");
		source = rows[i].text;
		write_all(&rig, (struct runtime_write_opts){
					.mode = rows[i].mode, .total_bytes = rows[i].total });
		if ((rig.failed ? rig.err.code : ERR_NONE) != rows[i].is)
			fail_msg("row %zu: %s %s", i, err_name(&rig.err), rig.err.msg);
		if (rig.failed) {
			assert_non_null(strstr(rig.err.msg, "d/f: "));
		} else {
			size_t n = rows[i].total >= 0 ? (size_t)rows[i].total : 4;
			n = n < strlen(rows[i].text) ? n : strlen(rows[i].text);
			assert_memory_equal(asked, rows[i].asked, strlen(rows[i].asked));
			assert_int_equal(sent_n, n);
			assert_memory_equal(sent, rows[i].text, n);
			assert_non_null(
				strstr(asked, "Content-Type: application/octet-stream\r\n"));
		}
		rig_close(&rig);
	}
}

static void an_upload_has_a_limit(void **state)
{
	static const struct {
		int64_t total;
		const char *text;
		bool is_refused, fails;
	} rows[] = { { 4, "text", false, false }, { 5, "texts", true, true },
		{ -1, "text", false, false }, { -1, "texts", false, true } };
	struct runtime_opts opts = { .max_upload_bytes = 4 };

	(void)state;
	answer_head = "HTTP/1.1 204 No Content\r\n\r\n";
	answer_body = "";
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct rig rig;
		struct err err = { 0 };
		rig_open(&rig, handle, &opts);
		source = rows[i].text;
		struct runtime_write_opts write = { .path = "f",
			.mode = -1,
			.total_bytes = rows[i].total,
			.read_bytes = give,
			.done = on_written,
			.arg = &rig };
		bool ok = runtime_write_start(rig.runtime, &write, &err) != NULL;
		assert_int_equal(ok, !rows[i].is_refused);
		if (ok) {
			rig_wait(&rig, 1);
			err = rig.err;
		}
		if ((err.code == ERR_LIMIT_UPLOAD) != rows[i].fails)
			fail_msg("row %zu: %s %s", i, err_name(&err), err.msg);
		rig_close(&rig);
	}
}

/* ---- tokens that are found later */

static const char *found;
static int n_looked;

static bool find_token(void *arg, char **token, struct err *err)
{
	assert_ptr_equal(arg, &n_looked);
	n_looked++;
	if (!found)
		return err_set(err, ERR_CONN_DNS, "no pod yet");
	*token = x_strdup(found);
	return true;
}

static void a_token_is_found(void **state)
{
	struct rig rig;
	const struct runtime_opts opts = { .find_token = find_token,
		.find_token_arg = &n_looked,
		.connect_timeout_ms = 4000 };

	(void)state;
	answer_head = "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n";
	answer_body = "x";
	rig_open(&rig, handle, &opts);
	found = NULL;
	n_looked = 0;
	struct runtime_read_opts read = { .path = "f",
		.if_unmodified_since_s = -1,
		.on_bytes = on_bytes,
		.done = on_read,
		.arg = &rig };
	assert_non_null(runtime_read_start(rig.runtime, &read, NULL));
	int64_t until = clock_mono_ms() + 10000;
	while (n_looked < 2 && clock_mono_ms() < until)
		net_loop_run_once(rig.loop, 20);
	assert_int_equal(rig.n_done, 0);
	assert_int_equal(rig.fake.n_health, 0); /* nobody is asked without it */
	found = "later";
	rig_wait(&rig, 1);
	assert_false(rig.failed);
	assert_non_null(strstr(asked, "Authorization: Bearer later\r\n"));
	int n = n_looked;
	read_rest(&rig, 0, -1);
	assert_int_equal(n_looked, n); /* it is known now */
	rig_close(&rig);
	/* what is no token does not become one */
	rig_open(&rig, handle, &opts);
	found = "a b";
	assert_non_null(runtime_read_start(rig.runtime, &read, NULL));
	rig_wait(&rig, 1);
	assert_int_equal(rig.err.code, ERR_ARG_INVALID);
	rig_close(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(answers_to_a_range),
		cmocka_unit_test(why_it_is_short),
		cmocka_unit_test(a_download_has_a_limit),
		cmocka_unit_test(answers_to_a_write),
		cmocka_unit_test(an_upload_has_a_limit),
		cmocka_unit_test(a_token_is_found),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
