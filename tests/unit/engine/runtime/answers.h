// SPDX-License-Identifier: Apache-2.0
/* A rig whose server has a few answers and notes what it was asked; and a listing as a line of text. Header-only. */
#pragma once

#include "tests/unit/unit.h"

#include "tests/unit/engine/runtime/rig.h"

#define COUNT(a) (sizeof(a) / sizeof(a)[0])

struct answer {
	const char *path, *status, *body;
};

static const struct answer *answers;
static char asked[4096];    /* "METHOD path\n" of each */
static char sent[4096];     /* the last body */
static char headers[16384]; /* of the last */

static inline void handle(struct fake_request *request, void *arg)
{
	size_t n = strlen(asked);

	(void)arg;
	snprintf(asked + n, sizeof asked - n, "%s %s\n", request->method, request->path);
	snprintf(sent, sizeof sent, "%.*s", (int)request->body_n, request->body);
	snprintf(headers, sizeof headers, "%s", request->headers);
	for (const struct answer *answer = answers; answer->path; answer++)
		if (strcmp(answer->path, request->path) == 0) {
			fake_json(request, answer->status, answer->body);
			return;
		}
	fake_json(request, "404 Not Found", "{\"detail\":\"Not Found\"}");
}

static const struct answer legacy_ok = { "/", "200 OK", "{\"status\":\"ok\"}" };
#define ANSWERS(...) ((const struct answer[]){ __VA_ARGS__, { NULL, NULL, NULL } })

static inline void open_rig(struct rig *rig, const struct runtime_opts *opts)
{
	asked[0] = sent[0] = headers[0] = 0;
	rig_open(rig, handle, opts);
	rig->fake.own_health = true;
}

static inline void on_list(void *arg, const struct err *err,
	const struct runtime_entry *entries, size_t n, size_t n_hidden)
{
	struct rig *rig = arg;

	rig->text[0] = 0;
	for (size_t i = 0; i < n; i++) {
		size_t at = strlen(rig->text);
		snprintf(rig->text + at, sizeof rig->text - at, "%s %d %d %d;", entries[i].name,
			(int)entries[i].size_bytes, entries[i].is_dir, entries[i].mode);
	}
	rig->number = (int64_t)n_hidden;
	rig_done(rig, err);
}
