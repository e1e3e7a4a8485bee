// SPDX-License-Identifier: Apache-2.0
/* A runtime that talks to a fake_rest, and the waiting. Header-only. */
#pragma once

#include "engine/base/clock.h"
#include "engine/base/err.h"
#include "engine/net/http.h"
#include "engine/net/loop.h"
#include "engine/runtime/runtime.h"
#include "tests/unit/engine/runtime/fake_rest.h"

#include <signal.h>

struct rig {
	struct net_loop *loop;
	struct net_http *http;
	struct fake_rest fake;
	struct runtime *runtime;
	char url[64];
	/* what came back */
	int n_done;
	struct err err;
	bool failed;
	char text[1 << 16];
	size_t text_n;
	int64_t number;
};

static inline void rig_open(struct rig *rig,
	void (*handle)(struct fake_request *request, void *arg),
	const struct runtime_opts *more)
{
	struct runtime_opts opts = { 0 };
	struct err err = { 0 };

	signal(SIGPIPE, SIG_IGN);
	memset(rig, 0, sizeof *rig);
	if (more)
		opts = *more;
	rig->loop = net_loop_new(&err);
	rig->http = net_http_new(rig->loop, &err);
	fake_rest_open(&rig->fake, rig->loop, handle, rig);
	snprintf(rig->url, sizeof rig->url, "http://127.0.0.1:%u", (unsigned)rig->fake.port);
	opts.rest_url = rig->url;
	if (!opts.connect_timeout_ms)
		opts.connect_timeout_ms = 1000;
	rig->runtime = runtime_new(rig->loop, rig->http, &opts, &err);
	if (!rig->runtime) {
		fprintf(stderr, "%s: %s\n", err_name(&err), err.msg);
		abort();
	}
}

static inline void rig_close(struct rig *rig)
{
	runtime_close(rig->runtime);
	runtime_unref(rig->runtime);
	net_http_free(rig->http);
	fake_rest_close(&rig->fake);
	net_loop_free(rig->loop);
}

/* Until n completions have come; gives up loudly after 10 s. */
static inline void rig_wait(struct rig *rig, int n)
{
	int64_t until = clock_mono_ms() + 10000;

	while (rig->n_done < n && clock_mono_ms() < until)
		net_loop_run_once(rig->loop, 20);
	if (rig->n_done != n) {
		fprintf(stderr, "%d completions instead of %d\n", rig->n_done, n);
		abort();
	}
}

static inline void rig_turns(struct rig *rig, int ms)
{
	int64_t until = clock_mono_ms() + ms;

	while (clock_mono_ms() < until)
		net_loop_run_once(rig->loop, 10);
}

static inline void rig_done(struct rig *rig, const struct err *err)
{
	rig->n_done++;
	rig->failed = err != NULL;
	if (err)
		rig->err = *err;
	else
		rig->err = (struct err){ 0 };
}
