// SPDX-License-Identifier: Apache-2.0
/* One running pod, shared by pods.c (what to do), pod_status.c (what to say) and pod_probe.c (is it well). */
#pragma once

#include "engine/base/digest.h"
#include "local/isolation/spawn.h"
#include "local/isolation/usage.h"
#include "local/server/controller/internal.h"

#include <sys/types.h>

struct controller_probe_call;
struct controller_podlog;

enum controller_run_state {
	RUN_STARTING, /* the daemon runs and has not answered yet */
	RUN_READY,
	RUN_UNREADY, /* it answered once, and does not now */
	RUN_WAITING, /* between two starts */
	RUN_ENDED,   /* and will not be started again */
};

/* What a pod may use: from its template, else what this backend sets for the machine's sake. */
struct controller_run_limits {
	struct isolation_spawn_limits spawn;
	uint64_t disk_bytes, disk_inodes; /* of the workspace */
	uint64_t tmp_inodes;              /* of each of /tmp, /run and /dev/shm */
	bool is_memory_default;           /* nobody asked for a memory limit */
};

/* What it uses (pod_usage.c). Memory is looked at on its own: a walk may take long. */
enum controller_run_look_kind { LOOK_TREE, LOOK_MEMORY, LOOK_COUNT };
struct controller_run_look {
	struct controller_run *run;
	struct isolation_usage_look *look; /* in progress, or NULL */
	int64_t ended_ms;                  /* the last one, monotonic */
};
struct controller_run_usage {
	struct controller_run_look looks[LOOK_COUNT];
	struct isolation_usage last;
	bool is_tree_known; /* there was a look at it */
	/* of its file system, as the last look at the tree began */
	uint64_t free_bytes, free_inodes;
	uint64_t available_bytes; /* memory of the machine, as the last look at memory began */
	uint64_t floor_bytes;     /* from where growth counts while the disk is nearly full */
	/* with which it was evicted before; 0: it was not */
	uint64_t known_bytes, known_inodes;
	uint64_t oom_kills; /* told so far */
};

typedef void controller_probe_fn(struct controller_run *r, bool is_well);
struct controller_run {
	UT_hash_handle hh;
	struct controller *c;
	char uid[64];
	char *ns, *name;
	enum controller_run_state state;
	struct isolation_spawn *daemon; /* NULL: no process */
	struct controller_podlog *log;
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
	char *workspace;  /* host folder of the last start */
	struct controller_run_limits limits;
	struct controller_run_usage usage;
	const char *
		stopped_for; /* "Evicted", "OOMKilled": static text; NULL: it ended by itself */
	char stopped_why[256];
	struct net_loop_timer *retry;
	/* probe */
	struct net_loop_timer *probe;
	controller_probe_fn *probe_told;
	struct controller_probe_call *probe_call; /* the question under way, or NULL */
	int probe_misses;
	int64_t probe_delay_ms;
	char *processes; /* names of what ran in it at the last look */
};

/* pod_run.c */
struct store_object *controller_run_pod(
	const struct controller_run *r); /* borrowed; NULL if it is gone */
const cJSON *controller_pod_first_container(const struct store_object *pod);
/* The volume claim that is mounted at /workspace, or NULL. */
const struct store_object *controller_run_workspace_claim(
	const struct controller_run *r, const struct store_object *pod);
bool controller_run_is_evicted(const struct controller_run *r);

/* pod_launch.c. Starts the daemon: address, workspace, log, environment. False with *err. */
bool controller_run_launch(struct controller_run *r, const struct store_object *pod,
	isolation_spawn_exit_fn *on_exit, struct err *err);
/* pod_status.c. Writes the status of the pod from the run. */
void controller_run_write_status(struct controller_run *r);

/* pod_limits.c */
uint64_t controller_limits_disk_floor(const struct server *s); /* bytes left to the machine */
void controller_run_limits_read(
	struct controller_run *r, const struct store_object *pod); /* before a start */
void controller_run_limits_refresh(struct controller_run *r,
	const struct store_object *pod); /* what may change in between */
void controller_run_limits_publish(
	struct controller_run *r); /* what holds, as an annotation of the pod */
bool controller_run_is_memory_watched(const struct controller_run *r);

/* pod_usage.c */
void controller_usage_tick(struct controller *c);          /* once a second */
void controller_run_usage_begin(struct controller_run *r); /* the daemon was started */
void controller_run_usage_end(struct controller_run *r);   /* it has ended */
/* Stops it: Evicted (not started again) or OOMKilled (as the restart policy says). */
void controller_run_stop_for(struct controller_run *r, const char *reason, const char *why);

/* pod_probe.c. told: at each answer, and after misses enough. */
void controller_probe_start(struct controller_run *r, controller_probe_fn *told);
void controller_probe_stop(struct controller_run *r);
/* pods.c: what the probe tells. */
void controller_run_on_health(struct controller_run *r, bool is_well);

/* pod_identity.c: the SHA-256 of the pod's token, made in its folder if there is none; "" where daemons want none. */
bool controller_pod_token_hash(struct server *s, const char *folder,
	char hex[static DIGEST_SHA256_HEX], struct err *err);
/* Who it is on the host: as root a user of its own, the one that its workspace belongs to or the next; else 0. */
uid_t controller_pod_host_uid(struct server *s, const char *workspace);

/* Names of the processes below pid, without the daemon itself: "bash, vim"; free(). "" if none. */
char *controller_procs_below(pid_t pid);

/* The daemon's output with a time before each line, in "<folder>/log", at most 4 MiB and one older file. */
struct controller_podlog *controller_podlog_open(
	struct server *s, const char *folder, struct err *err);
const char *controller_podlog_path(
	const struct controller_podlog *log); /* a FIFO that the daemon writes into */
void controller_podlog_rotate(
	struct controller_podlog *log); /* a new run begins: what was becomes "log.1" */
void controller_podlog_close(struct controller_podlog *log);
