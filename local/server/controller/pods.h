// SPDX-License-Identifier: Apache-2.0
/* One running pod, shared by pods.c (what to do), pod_status.c (what to say) and pod_probe.c (is it well). */
#pragma once

#include "engine/base/digest.h"
#include "local/server/controller/internal.h"

#include <sys/types.h>

struct probe_call;
struct podlog;
struct spawn;

enum run_state {
	RUN_STARTING, /* the daemon runs and has not answered yet */
	RUN_READY,
	RUN_UNREADY, /* it answered once, and does not now */
	RUN_WAITING, /* between two starts */
	RUN_ENDED,   /* and will not be started again */
};

struct run {
	UT_hash_handle hh;
	struct controller *c;
	char uid[64];
	char *ns, *name;
	enum run_state state;
	struct spawn *daemon; /* NULL: no process */
	struct podlog *log;
	char address[16];
	int restarts;
	int failures_in_row;
	cJSON *last_state;   /* terminated {…} of the run before */
	cJSON *restarted;    /* the condition that tells of a restart, or NULL */
	const char *waiting; /* reason while waiting; static text */
	char message[256];
	char started_at[40];
	int64_t started_ms;
	int exit_code;
	bool is_stopping; /* the pod is being deleted */
	struct loop_timer *retry;
	/* probe */
	struct loop_timer *probe;
	struct probe_call *probe_call; /* the question under way, or NULL */
	int probe_misses;
	int64_t probe_delay_ms;
	char *processes; /* names of what ran in it at the last look */
};

struct object *run_pod(const struct run *r); /* borrowed; NULL if it is gone */
/* Starts the daemon: address, workspace, log, environment. False with *err. */
bool run_launch(struct run *r, const struct object *pod, struct err *err);
void run_on_exit(void *run, int wait_status, const char *reason); /* a spawn_exit_fn */
/* Writes the status of the pod from the run. */
void run_write_status(struct run *r);

void probe_start(struct run *r);
void probe_stop(struct run *r);
/* Called by the probe. */
void run_on_health(struct run *r, bool is_well);

/* pod_identity.c: the SHA-256 of the pod's token, made in its folder if there is none; "" where daemons want none. */
bool pod_token_hash(struct server *s, const char *folder, char hex[static DIGEST_SHA256_HEX],
	struct err *err);
/* Who it is on the host: as root a user of its own, the one that its workspace belongs to or the next; else 0. */
uid_t pod_host_uid(struct server *s, const char *workspace);

/* Names of the processes below pid, without the daemon itself: "bash, vim"; free(). "" if none. */
char *procs_below(pid_t pid);

/* The daemon's output with a time before each line, in "<folder>/log", at most 4 MiB and one older file. */
struct podlog *podlog_open(struct server *s, const char *folder, struct err *err);
const char *podlog_path(const struct podlog *log); /* a FIFO that the daemon writes into */
void podlog_rotate(struct podlog *log); /* a new run begins: what was becomes "log.1" */
void podlog_close(struct podlog *log);
