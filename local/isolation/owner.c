// SPDX-License-Identifier: Apache-2.0
#include "local/isolation/owner.h"

#include "engine/base/err.h"
#include "local/isolation/bwrap.h"

#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <stddef.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

bool isolation_owner_is_ours(uid_t uid)
{
	return uid >= OWNER_FIRST && uid <= OWNER_LAST;
}

/* The folder itself comes last: until then it says that the work is not done. In a process of its own, since fts(3)
 * changes folders as it goes, which is what lets it reach any depth. */
static int change(const char *path, uid_t uid)
{
	static char here[] = ".";
	char *const paths[] = { here, NULL };
	if (chdir(path) != 0)
		return errno;
	FTS *walk = fts_open(paths, FTS_PHYSICAL | FTS_XDEV | FTS_NOSTAT, NULL);
	FTSENT *entry;
	while (walk != NULL && (errno = 0, entry = fts_read(walk)) != NULL) {
		if (entry->fts_info == FTS_DNR || entry->fts_info == FTS_ERR ||
			entry->fts_info == FTS_NS)
			return entry->fts_errno;
		/* a folder comes twice, first and last: once it is closed again */
		if (entry->fts_info != FTS_D && fchownat(AT_FDCWD, entry->fts_accpath, uid,
							(gid_t)uid, AT_SYMLINK_NOFOLLOW) != 0)
			return errno;
	}
	return errno;
}

bool isolation_owner_change_tree(const char *path, uid_t uid, struct err *err)
{
	pid_t pid = fork();
	if (pid < 0)
		return err_set_errno(err, errno, "fork");
	if (pid == 0)
		_exit(change(path, uid) & 0xff);
	int status = isolation_bwrap_reap(pid);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return true;
	return err_set_errno(err, WIFEXITED(status) ? WEXITSTATUS(status) : EIO,
		"cannot hand %s over to the sandbox's user", path);
}
