// SPDX-License-Identifier: Apache-2.0
/* The daemon answers a missing working directory with NOT_FOUND and names the program. So a NOT_FOUND with a
 * cwd is followed by one question over REST: is the cwd there? */
#include "engine/base/mem.h"
#include "engine/base/path.h"
#include "engine/runtime/internal.h"

#include <stdlib.h>

enum { CHECK_MS = 5 * 1000 };

struct runtime_cwd_check {
	struct runtime_op *op; /* its req is used */
	void (*done)(void *arg, bool is_missing);
	void *arg;
};

/* The daemon takes "/x" relative to its root as well: leading slashes are no escape. */
static const char *relative(const char *cwd)
{
	while (*cwd == '/')
		cwd++;
	return cwd;
}

bool runtime_cwd_is_allowed(const char *cwd, struct err *err)
{
	return !cwd || path_check(relative(cwd), PATH_READ, err);
}

static void on_done(
	void *arg, const struct err *err, const struct net_http_reply *reply, struct slice body)
{
	struct runtime_cwd_check *check = arg;

	(void)body;
	check->op->req = NULL;
	check->done(check->arg, !err && reply->status == 404);
	free(check);
}

struct runtime_cwd_check *runtime_cwd_check_start(struct runtime_op *op, const char *cwd,
	void (*done)(void *arg, bool is_missing), void *arg)
{
	if (!op->runtime->rest_url)
		return NULL;
	struct runtime_cwd_check *check = x_calloc(1, sizeof *check);
	char *path = path_normalize(relative(cwd));
	char *url = path_to_url(path);
	struct net_http_opts opts = {
		.method = "HEAD",
		.url = url,
		.timeout_ms = CHECK_MS,
		.done = on_done,
		.arg = check,
	};

	*check = (struct runtime_cwd_check){ op, done, arg };
	bool ok = runtime_rest_start(op, &opts, NULL);
	free(url);
	free(path);
	if (ok)
		return check;
	free(check);
	return NULL;
}

void runtime_cwd_check_cancel(struct runtime_cwd_check *check)
{
	if (!check)
		return;
	net_http_cancel(check->op->req);
	check->op->req = NULL;
	free(check);
}
