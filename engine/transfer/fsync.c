// SPDX-License-Identifier: Apache-2.0
/* fsync takes as long as the disk wants, so it runs off the loop (engine/net/work_pool.h), on a descriptor of its own:
 * who does not want to wait any more goes on without it. */
#include "engine/base/mem.h"
#include "engine/net/work_pool.h"
#include "engine/transfer/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

struct transfer_fsync {
	int fd, error;
	void (*done)(void *arg, int error);
	void *arg;
};

static void run(void *arg, const atomic_bool *is_cancelled)
{
	struct transfer_fsync *sync = arg;

	(void)is_cancelled;
	do
		sync->error = fsync(sync->fd) < 0 ? errno : 0;
	while (sync->error == EINTR);
	/* file systems and descriptors that cannot sync have nothing to lose */
	if (sync->error == EINVAL || sync->error == EROFS || sync->error == ENOSYS)
		sync->error = 0;
}

static void on_done(void *arg)
{
	struct transfer_fsync *sync = arg;

	sync->done(sync->arg, sync->error);
}

static void free_sync(void *arg)
{
	struct transfer_fsync *sync = arg;

	close(sync->fd);
	free(sync);
}

static const struct net_work_kind syncs = { "fsync", TRANSFER_MAX_ACTIVE, run, on_done,
	free_sync };

struct net_work *transfer_fsync_start(struct net_loop *loop, int fd,
	void (*done)(void *arg, int error), void *arg, struct err *err)
{
	int own = fcntl(fd, F_DUPFD_CLOEXEC, 0);

	if (own < 0) {
		err_set_errno(err, errno, "cannot sync the file");
		return NULL;
	}
	struct transfer_fsync *sync = x_calloc(1, sizeof *sync);
	*sync = (struct transfer_fsync){ .fd = own, .done = done, .arg = arg };
	return net_work_start(loop, &syncs, sync);
}
