// SPDX-License-Identifier: Apache-2.0
/* A create that fails or is cancelled deletes the claim it made, if it was not named by the caller: with a budget of its
 * own (30 s), detached from the caller's deadline. What cannot be deleted is tried again every minute while the fleet
 * lives. */
#include "engine/fleet/fleet_internal.h"

#include "engine/base/clock.h"
#include "engine/base/log.h"
#include "engine/base/map.h"
#include "engine/base/settings.h"
#include "engine/k8s/resource.h"
#include "engine/net/loop.h"

enum { AGAIN_MS = 1000, LATER_MS = 60000, MAX_LATER = 10, SETTLE_MS = 500 };

struct fleet_orphan {
	struct fleet *fleet;
	char *namespace_, *name, *uid, *request_id;
	struct kube_call *call;
	struct net_loop_timer *again;
	int64_t began_ms;
	int later;
	fleet_done_fn *done;
	void *arg;
	struct fleet_orphan *prev, *next;
};

static void orphan_free(struct fleet_orphan *orphan)
{
	DL_DELETE(orphan->fleet->orphans, orphan);
	kube_call_cancel(orphan->call);
	net_loop_timer_free(orphan->again);
	free(orphan->namespace_);
	free(orphan->name);
	free(orphan->uid);
	free(orphan->request_id);
	free(orphan);
}

static void tell(struct fleet_orphan *orphan, const struct err *err)
{
	fleet_done_fn *done = orphan->done;
	orphan->done = NULL;
	if (done != NULL)
		done(orphan->arg, err);
}

static void gone(struct fleet_orphan *orphan)
{
	fleet_done_fn *done = orphan->done;
	void *arg = orphan->arg;
	orphan_free(orphan);
	if (done != NULL)
		done(arg, NULL);
}

static void failed(struct fleet_orphan *orphan, const struct err *err)
{
	if (clock_mono_ms() - orphan->began_ms < setting_get(SETTING_CLEANUP_TIMEOUT)) {
		net_loop_timer_arm(orphan->again, AGAIN_MS);
		return;
	}
	struct err why = { 0 };
	err_set(&why, ERR_CLAIM_ORPHANED, "claim %s could not be deleted: %s",
		orphan->name ? orphan->name : "(name unknown)", err->msg);
	LOG("fleet", LOG_WARN, "%s", why.msg);
	if (++orphan->later > MAX_LATER) {
		fleet_done_fn *done = orphan->done;
		void *arg = orphan->arg;
		orphan_free(orphan);
		if (done != NULL)
			done(arg, &why);
		return;
	}
	net_loop_timer_arm(orphan->again, LATER_MS);
	tell(orphan, &why);
}

static void on_deleted(void *arg, const struct err *err, const cJSON *object)
{
	struct fleet_orphan *orphan = arg;
	(void)object;
	orphan->call = NULL;
	/* gone, or another one of that name: not ours */
	if (err == NULL || err->code == ERR_KUBE_NOT_FOUND || err->code == ERR_KUBE_CONFLICT)
		gone(orphan);
	else
		failed(orphan, err);
}

static void on_again(void *arg);

static void on_looked(void *arg, const struct err *err, const cJSON *object)
{
	struct fleet_orphan *orphan = arg;
	orphan->call = NULL;
	if (err != NULL) {
		failed(orphan, err);
		return;
	}
	const cJSON *item = cJSON_GetArrayItem(json_get(object, "items", NULL), 0);
	const char *uid = json_str(item, "metadata", "uid", NULL);
	const char *name = json_str(item, "metadata", "name", NULL);
	if (uid == NULL || name == NULL) {
		gone(orphan); /* the create had no effect */
		return;
	}
	orphan->uid = x_strdup(uid);
	free(orphan->name);
	orphan->name = x_strdup(name);
	on_again(orphan);
}

static void start_call(struct fleet_orphan *orphan, const char *method, const char *name,
	const char *query, const char *body,
	void (*done)(void *arg, const struct err *err, const cJSON *object))
{
	char *path = kube_path(&k8s_sandboxclaims, orphan->namespace_, name, NULL);
	const struct kube_call_opts opts = {
		.method = method,
		.path = path,
		.query = query,
		.body = slice_of(body),
		.done = done,
		.arg = orphan,
	};
	struct err err = { 0 };
	orphan->call = kube_call_start(orphan->fleet->kube, &opts, &err);
	free(path);
	if (orphan->call == NULL)
		failed(orphan, &err);
}

static void on_again(void *arg)
{
	struct fleet_orphan *orphan = arg;
	if (orphan->uid != NULL) {
		cJSON *options = fleet_op_delete_options(orphan->uid);
		char *body = cJSON_PrintUnformatted(options);
		start_call(orphan, "DELETE", orphan->name, NULL, body, on_deleted);
		free(body);
		cJSON_Delete(options);
		return;
	}
	struct str query;
	str_init(&query, 1024);
	char *selector = x_asprintf("sandmux/request-id=%s", orphan->request_id);
	kube_query_add(&query, "labelSelector", selector);
	start_call(orphan, "GET", NULL, query.p, NULL, on_looked);
	free(selector);
	str_deinit(&query);
}

struct fleet_orphan *fleet_rollback_start(struct fleet *fleet, const char *namespace_,
	const char *name, const char *uid, const char *request_id, fleet_done_fn *done,
	void *arg)
{
	struct fleet_orphan *orphan = x_calloc(1, sizeof *orphan);
	orphan->fleet = fleet;
	orphan->namespace_ = x_strdup(namespace_);
	orphan->name = x_strdup(name);
	orphan->uid = x_strdup(uid);
	orphan->request_id = x_strdup(request_id);
	orphan->done = done;
	orphan->arg = arg;
	orphan->began_ms = clock_mono_ms();
	orphan->again = net_loop_timer_new(fleet->loop, on_again, orphan);
	/* a request cut off in flight may still take effect: let it settle before looking */
	net_loop_timer_arm(orphan->again, uid ? 0 : SETTLE_MS);
	DL_APPEND(fleet->orphans, orphan);
	return orphan;
}

void fleet_clean_up(
	struct fleet *fleet, const char *namespace_, const char *name, const char *uid)
{
	fleet_rollback_start(fleet, namespace_, name, uid, NULL, NULL, NULL);
}

void fleet_rollback_ignore(struct fleet_orphan *orphan)
{
	orphan->done = NULL;
}

void fleet_rollbacks_free(struct fleet *fleet)
{
	while (fleet->orphans != NULL)
		orphan_free(fleet->orphans);
}

size_t fleet_cleanups_pending(const struct fleet *fleet)
{
	size_t n = 0;
	for (const struct fleet_orphan *orphan = fleet->orphans; orphan; orphan = orphan->next)
		n += orphan->later == 0;
	return n + fleet_unbinds_pending(fleet);
}
