// SPDX-License-Identifier: Apache-2.0
/* Starts and stops the daemon of one sandbox.
 *
 *   a client ─ 127.x.y.z:8080, 9090 ─> sandmux-port-proxy │ jail: rest.sock, grpc.sock <─ sandmux-sandboxd ─> jobs
 *
 * The address is bound here, outside, and given to a small process without privileges that moves bytes; no descriptor
 * that leads to the host's network is in the jail. A connection made right after isolation_spawn_start() waits instead of being
 * refused.
 *
 * The sandbox dies with the calling process. What its processes see: the system folders read-only, an
 * own /tmp, /proc and /dev, a small generated /etc, and `workspace` as /workspace. docs/security.md has the whole of it. */
#pragma once

#include "local/isolation/isolation.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct isolation_cgroup;
struct err;
struct net_loop;
struct isolation_spawn;

struct isolation_spawn_limits { /* 0: none */
	uint64_t
		memory_bytes; /* by cgroup when one can be made, else private memory of a process */
	uint64_t file_bytes; /* longest file a process may write */
	uint32_t pids;       /* processes and threads in the sandbox */
	uint32_t open_files; /* of one process */
	uint32_t cpu_milli;  /* thousandths of a CPU; by cgroup only */
};

/* What holds a job in, each on its own; the names are those of docs/security.md. */
#define SPAWN_GUARDS(X)                                                                        \
	X(HOST_USER,                                                                           \
		"host-user")  /* root's backend: an unprivileged host uid for each sandbox */  \
	X(NETWORK, "network") /* a network namespace of its own */                             \
	X(PROXY, "proxy")     /* no socket of the host's inside */                             \
	X(CLOSED, "closed")   /* the daemon cannot be traced or read */                        \
	X(FILTER, "filter")   /* seccomp */                                                    \
	X(LANDLOCK, "landlock")                                                                \
	X(MASKS, "masks") /* of /proc */                                                       \
	X(SIZES, "sizes") /* of /tmp, /run, /dev/shm; /dev read-only */                        \
	X(KEYRING, "keyring")                                                                  \
	X(PIDS, "pids")     /* a pid namespace of its own */                                   \
	X(SYSTEM, "system") /* the host's folders are not there */                             \
	X(IPC, "ipc")       /* System V memory and message queues of its own */                \
	X(CORE, "core")     /* no core files */
enum isolation_spawn_guard {
#define X(name, text) SPAWN_GUARD_##name,
	SPAWN_GUARDS(X)
#undef X
		SPAWN_GUARD_COUNT,
};
const char *isolation_spawn_guard_name(enum isolation_spawn_guard guard);

struct isolation_spawn_opts {
	const char *name;              /* host name inside */
	const char *uid;               /* of the Sandbox object: names the cgroup */
	const char *workspace;         /* host folder, must exist */
	const char *address;           /* "127.x.y.z" */
	uint16_t rest_port, grpc_port; /* 0: any free one */
	const char *token_sha256;      /* hex; NULL: no token */
	const char *const *env;        /* NULL-terminated "NAME=value" over the default; NULL */
	const char *log_path;          /* the daemon's stderr is appended; NULL: dropped */
	const char *daemon_path;       /* NULL: beside this program, else in libexec */
	uid_t host_uid; /* as root: who the sandbox is on the host; it owns the workspace. 0 as a user,
	                                  and without isolation */
	uint32_t
		unguarded; /* bits by enum isolation_spawn_guard: off, so that a test can show the attack. 0 */
	struct isolation_spawn_limits limits;
	enum isolation_mode mode;
};

/* Why a sandbox ended, in words ("exited with status 1", "killed by signal 9 (Killed)"). wait_status as
 * from waitpid(). The spawn is freed once this has begun. */
typedef void isolation_spawn_exit_fn(void *arg, int wait_status, const char *reason);

/* The daemon takes connections: those that waited are served from now on. Comes once, from the loop. */
typedef void isolation_spawn_listening_fn(void *arg);

/* Everything in opts is copied. NULL with ERR_LOCAL_ISOLATION, ERR_SYSTEM (bind, files) on failure. */
struct isolation_spawn *isolation_spawn_start(struct net_loop *loop,
	const struct isolation_spawn_opts *opts, isolation_spawn_exit_fn *on_exit, void *arg,
	struct err *err);
/* In isolation only; set it before the loop runs again. */
void isolation_spawn_on_listening(
	struct isolation_spawn *spawn, isolation_spawn_listening_fn *fn);
/* TERM to the daemon, which ends its processes; KILL to everything after grace_ms. on_exit comes. */
void isolation_spawn_stop(struct isolation_spawn *spawn, int64_t grace_ms);
/* At once, without on_exit. NULL is fine. */
void isolation_spawn_kill(struct isolation_spawn *spawn);

uint16_t isolation_spawn_rest_port(const struct isolation_spawn *spawn);
uint16_t isolation_spawn_grpc_port(const struct isolation_spawn *spawn);
/* The process that stands for the sandbox on the host: the daemon (isolation none) or bubblewrap. */
pid_t isolation_spawn_pid(const struct isolation_spawn *spawn);
/* The first process inside, as the host numbers it; 0 until bubblewrap has said which. */
pid_t isolation_spawn_daemon_pid(const struct isolation_spawn *spawn);
/* What serves its address has not ended, as far as the kernel knows at this moment. */
bool isolation_spawn_is_alive(const struct isolation_spawn *spawn);
/* Borrowed; NULL: it has none. */
const struct isolation_cgroup *isolation_spawn_cgroup(const struct isolation_spawn *spawn);
