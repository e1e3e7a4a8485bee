// SPDX-License-Identifier: Apache-2.0
/* A request as a test sees it: counts its callbacks and keeps what they brought. */
#pragma once

#include "tests/unit/unit.h"

#include "engine/base/err.h"
#include "engine/base/mem.h"
#include "engine/net/http.h"
#include "tests/unit/engine/net/turns.h"

#include <stdio.h>
#include <stdlib.h>

struct got {
	struct net_http_req *req;
	int done, replies;
	bool is_starting;
	struct err err; /* NONE: success */
	int status;     /* 0: no reply */
	int64_t content_length;
	struct str body;
	char header[128]; /* the value of the header x-test */
};

static inline void got_init(struct got *got)
{
	*got = (struct got){ .status = 0 };
	str_init(&got->body, 64 << 20);
}

static inline void got_done(
	void *arg, const struct err *err, const struct net_http_reply *reply, struct slice body)
{
	struct got *got = arg;
	assert_false(got->is_starting);
	assert_int_equal(got->done++, 0);
	got->req = NULL;
	err_copy(&got->err, err);
	if (reply != NULL) {
		got->status = reply->status;
		got->content_length = reply->content_length;
		const char *value = net_http_reply_header(reply, "X-Test");
		snprintf(got->header, sizeof got->header, "%s", value ? value : "(none)");
	}
	str_add_bytes(&got->body, body.p, body.n);
}

static inline bool got_body(void *arg, struct slice bytes, struct err *err)
{
	(void)err;
	struct got *got = arg;
	assert_false(got->is_starting);
	assert_int_equal(got->done, 0);
	str_add_bytes(&got->body, bytes.p, bytes.n);
	return true;
}

static inline void got_start(struct got *got, struct net_http *http, struct net_http_opts opts)
{
	struct err err = { .code = ERR_NONE };
	if (opts.method == NULL)
		opts.method = "GET";
	opts.done = got_done;
	opts.arg = got;
	got->is_starting = true;
	got->req = net_http_start(http, &opts, &err);
	got->is_starting = false;
	if (got->req == NULL)
		fail_msg("%s", err.msg);
}

static inline char *url_of(uint16_t port, const char *path)
{
	static char url[8][200];
	static unsigned next;
	char *out = url[next++ % 8];
	snprintf(out, sizeof url[0], "http://127.0.0.1:%u%s", (unsigned)port, path);
	return out;
}
