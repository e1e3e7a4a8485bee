// SPDX-License-Identifier: Apache-2.0
/* What makes a pod somebody: the token of its daemon, and who it is on the host.
 *
 * The token is in pods/UID/daemon-token, outside of what the pod sees; the daemon gets its SHA-256. Clients find it through
 * the path in the kubeconfig's extension. It lives as long as the pod.
 *
 * A backend that root started runs each sandbox as a host user of its own. Which one is written where it matters, as the
 * owner of the workspace: a volume keeps its user when its sandbox is suspended and resumed. */
#include "local/server/kubelet/run.h"

#include "engine/base/digest.h"
#include "engine/base/err.h"
#include "engine/base/num.h"
#include "engine/base/path.h"
#include "local/isolation/owner.h"
#include "local/server/token.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- the token */

bool kubelet_pod_token_hash(struct server *s, const char *folder,
	char hex[static DIGEST_SHA256_HEX], struct err *err)
{
	hex[0] = '\0';
	if (!s->opts.daemon_auth)
		return true;
	char *path = path_join(folder, "daemon-token");
	char *token = server_token_load(path, err);
	free(path);
	if (!token)
		return false;
	struct digest *d = digest_new();
	digest_add(d, token, strlen(token));
	digest_finish_hex(d, hex);
	digest_free(d);
	x_free_secret(token);
	return true;
}

/* ---- the host's user */

/* The next number that this backend has not given out; where it begins is drawn, so that two backends hardly meet. */
static uid_t next_uid(struct server *s)
{
	const uint32_t n = OWNER_LAST - OWNER_FIRST; /* the last is for trying what works */
	int64_t next = 0;
	char text[16];
	char *kept = store_meta_get(s->store, "next-host-uid");
	if (!kept || !num_parse_i64(kept, 0, n - 1, &next)) {
		uint32_t drawn;
		digest_random(&drawn, sizeof drawn);
		next = drawn % n & ~0xffffu;
	}
	free(kept);
	snprintf(text, sizeof text, "%lld", (long long)((next + 1) % n));
	store_meta_set(s->store, "next-host-uid", text, NULL);
	return OWNER_FIRST + (uid_t)next;
}

uid_t kubelet_pod_host_uid(struct server *s, const char *workspace)
{
	struct stat st;
	if (geteuid() != 0 || !s->opts.is_isolated)
		return 0;
	if (lstat(workspace, &st) == 0 && isolation_owner_is_ours(st.st_uid))
		return st.st_uid;
	return next_uid(s);
}
