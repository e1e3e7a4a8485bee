// SPDX-License-Identifier: Apache-2.0
/* One running pod, shared by the files of the kubelet: kubelet.c (what to do) calls launch.c, status.c (what to say), probe.c (is it
 * well) and usage.c, which call limits.c and run.c. */
#pragma once

#include "engine/base/digest.h"
#include "local/isolation/spawn.h"
#include "local/isolation/usage.h"
#include "local/server/kubelet/kubelet.h"
#include "local/server/kubelet/volumes.h"

#include <sys/types.h>

struct kubelet_probe_call;
struct kubelet_podlog;

enum kubelet_run_state {
	RUN_STARTING, /* the daemon runs and has not answered yet */
	RUN_READY,
	RUN_UNREADY, /* it answered once, and does not now */
	RUN_WAITING, /* between two starts */
	RUN_ENDED,   /* and will not be started again */
};

/* What a pod may use: from its template, else what this backend sets for the machine's sake. */
struct kubelet_run_limits {
	struct isolation_spawn_limits spawn;
	uint64_t disk_bytes, disk_inodes; /* of the workspace */
	uint64_t tmp_inodes;              /* of each of /tmp, /run and /dev/shm */
	bool is_memory_default;           /* nobody asked for a memory limit */
};

/* What it uses (usage.c). Memory is looked at on its own: a walk may take long. */
enum kubelet_run_look_kind { LOOK_TREE, LOOK_MEMORY, LOOK_COUNT };
struct kubelet_run_look {
	struct kubelet_run *run;
	struct isolation_usage_look *look; /* in progress, or NULL */
	int64_t ended_ms;                  /* the last one, monotonic */
};
/* Processor time since the beginning, at the last reading (metrics.c). */
struct kubelet_run_counter {
	int64_t at_ms; /* monotonic; 0: none yet */
	uint64_t cpu_ns;
};
struct kubelet_run_usage {
	struct kubelet_run_look looks[LOOK_COUNT];
	struct kubelet_run_counter counter;
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

struct kubelet {
	struct kubelet_run *runs; /* by pod UID */
	struct net_loop_timer *scan_timer, *usage_timer;
	int64_t floor_since_ms; /* since when the disk is nearly full, monotonic; 0: it is not */
	struct kubelet_run_counter node;
	uint32_t next_address;
	void (*stopped)(void *arg); /* NULL: nobody waits for the end of all */
	void *stopped_arg;
};

typedef void kubelet_probe_fn(struct kubelet_run *r, bool is_well);
struct kubelet_run {
	UT_hash_handle hh;
	struct controller *c;
	char uid[64];
	char *ns, *name;
	enum kubelet_run_state state;
	struct isolation_spawn *daemon; /* NULL: no process */
	struct kubelet_podlog *log;
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
	struct kubelet_run_limits limits;
	struct kubelet_run_usage usage;
	const char *
		stopped_for; /* "Evicted", "OOMKilled": static text; NULL: it ended by itself */
	char stopped_why[256];
	struct net_loop_timer *retry;
	/* probe */
	struct net_loop_timer *probe;
	kubelet_probe_fn *probe_told;
	struct kubelet_probe_call *probe_call; /* the question under way, or NULL */
	int probe_misses;
	int64_t probe_delay_ms;
	char *processes; /* names of what ran in it at the last look */
};

/* run.c */
struct store_object *kubelet_run_pod(
	const struct kubelet_run *r); /* borrowed; NULL if it is gone */
const cJSON *kubelet_pod_first_container(const struct store_object *pod);
/* The volume claim that is mounted at /workspace, or NULL. */
const struct store_object *kubelet_run_workspace_claim(
	const struct kubelet_run *r, const struct store_object *pod);
bool kubelet_run_is_evicted(const struct kubelet_run *r);

/* launch.c. Starts the daemon: address, workspace, log, environment. False with *err. */
bool kubelet_run_launch(struct kubelet_run *r, const struct store_object *pod,
	isolation_spawn_exit_fn *on_exit, struct err *err);
/* status.c. Writes the status of the pod from the run. */
void kubelet_run_write_status(struct kubelet_run *r);

/* limits.c */
uint64_t kubelet_limits_disk_floor(const struct server *s); /* bytes left to the machine */
uint64_t kubelet_limits_machine_memory(void);               /* bytes; 0: not known */
void kubelet_run_limits_read(
	struct kubelet_run *r, const struct store_object *pod); /* before a start */
void kubelet_run_limits_refresh(
	struct kubelet_run *r, const struct store_object *pod); /* what may change in between */
void kubelet_run_limits_publish(
	struct kubelet_run *r); /* what holds, as an annotation of the pod */
bool kubelet_run_is_memory_watched(const struct kubelet_run *r);

/* usage.c */
void kubelet_usage_tick(struct controller *c);       /* once a second */
void kubelet_run_usage_begin(struct kubelet_run *r); /* the daemon was started */
void kubelet_run_usage_end(struct kubelet_run *r);   /* it has ended */
/* Stops it: Evicted (not started again) or OOMKilled (as the restart policy says). */
void kubelet_run_stop_for(struct kubelet_run *r, const char *reason, const char *why);

/* metrics.c */
void kubelet_metrics_tick(struct controller *c); /* once a second */
/* Its cgroup does not say what it uses: the looks at memory tell. */
bool kubelet_metrics_needs_look(const struct kubelet_run *r);
/* Until the next reading: usual_ms, less as long as there is no sample. */
int64_t kubelet_metrics_pause_ms(const struct kubelet_run *r, int64_t usual_ms);
void kubelet_metrics_on_look(struct kubelet_run *r, const struct isolation_usage *usage);

extern const struct server_pods kubelet_pods; /* reach.c */

/* probe.c. told: at each answer, and after misses enough. */
void kubelet_probe_start(struct kubelet_run *r, kubelet_probe_fn *told);
void kubelet_probe_stop(struct kubelet_run *r);
/* kubelet.c: what the probe tells. */
void kubelet_run_on_health(struct kubelet_run *r, bool is_well);

/* identity.c: the SHA-256 of the pod's token, made in its folder if there is none; "" where daemons want none. */
bool kubelet_pod_token_hash(struct server *s, const char *folder,
	char hex[static DIGEST_SHA256_HEX], struct err *err);
/* Who it is on the host: as root a user of its own, the one that its workspace belongs to or the next; else 0. */
uid_t kubelet_pod_host_uid(struct server *s, const char *workspace);

/* Names of the processes below pid, without the daemon itself: "bash, vim"; free(). "" if none. */
char *kubelet_procs_below(pid_t pid);

/* The daemon's output with a time before each line, in "<folder>/log", at most 4 MiB and one older file. */
struct kubelet_podlog *kubelet_podlog_open(
	struct server *s, const char *folder, struct err *err);
const char *kubelet_podlog_path(
	const struct kubelet_podlog *log); /* a FIFO that the daemon writes into */
void kubelet_podlog_rotate(
	struct kubelet_podlog *log); /* a new run begins: what was becomes "log.1" */
void kubelet_podlog_close(struct kubelet_podlog *log);
