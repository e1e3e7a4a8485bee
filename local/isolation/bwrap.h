// SPDX-License-Identifier: Apache-2.0
/* The bubblewrap command line of a sandbox. */
#pragma once

#include "local/isolation/isolation.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct err;

/* Words of a command and descriptors that it needs open. Zeroed is ready. */
struct isolation_bwrap_args {
	char **words; /* NULL-terminated */
	size_t n, capacity;
	int *fds; /* generated files (memfd), close-on-exec: the child clears it */
	size_t n_fds, fds_capacity;
};

void isolation_bwrap_add(struct isolation_bwrap_args *args, const char *word);
void isolation_bwrap_add3(
	struct isolation_bwrap_args *args, const char *option, const char *a, const char *b);
void isolation_bwrap_free(struct isolation_bwrap_args *args);

/* Memory that a sandbox's own file systems may take, as words of the command line. */
#define BWRAP_TMP_BYTES "1073741824"
#define BWRAP_RUN_BYTES "67108864"
#define BWRAP_SHM_BYTES "268435456"
bool isolation_bwrap_has_sizes(void); /* does this bubblewrap know how to limit them? */

enum { BWRAP_UID = 1000, BWRAP_GID = 1000, BWRAP_ENV_BYTES = 1 << 20 };
/* The environment inside ("K=V", NULL-terminated), handed over by a descriptor: not in the process list, and
 * never in the environment of bubblewrap itself, which runs outside. */
bool isolation_bwrap_add_env(
	struct isolation_bwrap_args *args, char *const *env, struct err *err);

/* Namespaces, system folders, /proc, /dev, /tmp, /etc; the first word is the program. `unguarded` as in spawn_opts.
 * False: err says that bubblewrap is not there. */
bool isolation_bwrap_base(struct isolation_bwrap_args *args, const char *hostname,
	uint32_t unguarded, struct err *err);
/* waitpid() that is not stopped by signals. The status. */
int isolation_bwrap_reap(pid_t pid);
/* After everything is mounted: the rest of the tree becomes read-only. */
void isolation_bwrap_seal(struct isolation_bwrap_args *args);
