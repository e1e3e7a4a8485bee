// SPDX-License-Identifier: Apache-2.0
/* What the daemon reads from its clients. The first byte chooses the reader, the second how the rest is
 * cut into pieces; whatever the pieces, the outcome must be that of one piece. */
#include "local/daemon/confine.h"
#include "local/daemon/frame.h"
#include "local/daemon/http1.h"
#include "local/daemon/multipart.h"
#include "local/daemon/pb_check.h"
#include "local/daemon/quote.h"
#include "local/daemon/range.h"

#include "proto/process.pb-c.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_TEXT = 1 << 20 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct input {
	const char *p;
	size_t n, step;
};

static void must(bool ok)
{
	if (!ok)
		abort();
}

/* One request with its body; the state at the end and the payload. */
static int run_http(struct input in, struct str *payload)
{
	struct daemon_http1_request request;
	struct daemon_http1_body body = { 0 };
	daemon_http1_request_init(&request);
	size_t at = 0;
	bool has_body = false;
	while (at < in.n && request.state != HTTP1_BAD && !body.is_bad &&
		!(has_body && body.is_done)) {
		size_t n = in.n - at < in.step ? in.n - at : in.step;
		if (request.state == HTTP1_HEAD) {
			at += daemon_http1_request_feed(&request, in.p + at, n);
		} else {
			struct slice piece;
			at += daemon_http1_body_feed(&body, in.p + at, n, &piece);
			str_add_bytes(payload, piece.p, piece.n);
		}
		if (request.state == HTTP1_READY && !has_body) {
			has_body = true;
			daemon_http1_body_init(&body, &request);
			char *question = strchr(request.target, '?');
			free(daemon_http1_query_get(question ? question + 1 : NULL, "mode"));
		}
	}
	int outcome = (int)request.state + (body.is_done ? 16 : 0) + (body.is_bad ? 32 : 0);
	daemon_http1_request_deinit(&request);
	return outcome;
}

static int run_form(struct input in, struct str *payload)
{
	const char *error = NULL;
	struct daemon_multipart *form =
		daemon_multipart_new("multipart/form-data; boundary=b", &error);
	for (size_t at = 0; at < in.n;) {
		struct slice piece;
		size_t n = in.n - at < in.step ? in.n - at : in.step;
		size_t used = daemon_multipart_feed(form, in.p + at, n, &piece);
		must(used <= n);
		at += used;
		str_add_bytes(payload, piece.p, piece.n);
	}
	int outcome = (int)daemon_multipart_state(form);
	daemon_multipart_free(form);
	return outcome;
}

static void unpack_all(const unsigned char *bytes, size_t n)
{
	const ProtobufCMessageDescriptor *const types[] = {
		&process__v1__start_request__descriptor,
		&process__v1__execute_request__descriptor,
		&process__v1__write_stdin_request__descriptor,
		&process__v1__send_signal_request__descriptor,
		&process__v1__resize_ttyrequest__descriptor,
	};
	for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
		const char *nul_in, *why = NULL;
		void *message = daemon_pb_unpack(types[i], bytes, n, &nul_in, &why);
		must((message == NULL) == (why != NULL));
		if (message != NULL)
			protobuf_c_message_free_unpacked(message, NULL);
	}
}

static int run_frames(struct input in, struct str *payload)
{
	struct daemon_frame frame = { 0 };
	int whole = 0;
	for (size_t at = 0; at < in.n;) {
		size_t n = in.n - at < in.step ? in.n - at : in.step;
		at += daemon_frame_feed(&frame, in.p + at, n);
		enum daemon_frame_state state = daemon_frame_state(&frame);
		if (state == FRAME_TOO_BIG)
			break;
		if (state == FRAME_WHOLE) {
			whole++;
			str_add_bytes(payload, frame.body, frame.body_n);
			unpack_all(frame.body, frame.body_n);
			daemon_frame_deinit(&frame);
		}
	}
	daemon_frame_deinit(&frame);
	return whole;
}

static void run_texts(struct input in)
{
	struct daemon_range ranges[RANGE_MAX];
	size_t n;
	int64_t ms;
	char *text = strndup(in.p, in.n);
	if (daemon_range_parse(text, 1000, ranges, &n) == RANGE_SOME) {
		for (size_t i = 0; i < n; i++)
			must(ranges[i].start >= 0 && ranges[i].length >= 0 &&
				ranges[i].start + ranges[i].length <= 1000);
	}
	free(daemon_frame_parse_timeout(text, &ms));
	struct str out;
	str_init(&out, MAX_TEXT);
	daemon_quote_json(&out, (struct slice){ in.p, in.n });
	daemon_quote_plain(&out, (struct slice){ in.p, in.n });
	daemon_frame_encode_message(&out, text);
	for (size_t i = 0; i < out.n; i++)
		must((unsigned char)out.p[i] >= 0x20);
	str_deinit(&out);
	free(text);
}

static char path_root[] = "/tmp/daemon-fuzz-XXXXXX";
static const char *const links[][2] = { { "..", "u" }, { "l", "l" }, { "/", "s" },
	{ "x/y", "b" }, { ".", "d" } };
enum { N_LINKS = sizeof links / sizeof links[0] };

static void remove_root(void)
{
	char path[64];
	for (size_t i = 0; i < N_LINKS; i++) {
		snprintf(path, sizeof path, "%s/%s", path_root, links[i][1]);
		unlink(path);
	}
	rmdir(path_root);
}

static struct daemon_confine_root *make_root(void)
{
	char path[64];
	must(mkdtemp(path_root) != NULL);
	atexit(remove_root);
	for (size_t i = 0; i < N_LINKS; i++) {
		snprintf(path, sizeof path, "%s/%s", path_root, links[i][1]);
		must(symlink(links[i][0], path) == 0);
	}
	return daemon_confine_root_open(path_root, NULL);
}

static void run_path(struct input in)
{
	static struct daemon_confine_root *root;
	if (root == NULL)
		root = make_root();
	must(root != NULL);
	struct daemon_confined c;
	daemon_confine_resolve(root, (struct slice){ in.p, in.n }, &c);
	size_t n = strlen(daemon_confine_root_path(root));
	if (c.state == CONFINE_FOUND || c.state == CONFINE_MISSING)
		must(strncmp(c.path, daemon_confine_root_path(root), n) == 0 &&
			(c.path[n] == 0 || c.path[n] == '/'));
	must((c.state == CONFINE_FOUND) == (c.fd >= 0));
	daemon_confined_deinit(&c);
}

static void compare(int (*run)(struct input in, struct str *payload), struct input in)
{
	struct str cut, one;
	str_init(&cut, MAX_TEXT);
	str_init(&one, MAX_TEXT);
	int a = run(in, &cut);
	in.step = in.n;
	int b = run(in, &one);
	must(a == b && cut.n == one.n && memcmp(cut.p, one.p, cut.n) == 0);
	str_deinit(&cut);
	str_deinit(&one);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size < 3)
		return 0;
	struct input in = { (const char *)data + 2, size - 2, (size_t)data[1] % 16 + 1 };
	switch (data[0] % 5) {
	case 0:
		compare(run_http, in);
		break;
	case 1:
		compare(run_form, in);
		break;
	case 2:
		compare(run_frames, in);
		break;
	case 3:
		run_texts(in);
		break;
	case 4:
		run_path(in);
		break;
	}
	return 0;
}
