// SPDX-License-Identifier: Apache-2.0
#include "engine/kinds/informers.h"

#include "engine/base/map.h"
#include "engine/net/loop.h"

#include <string.h>

struct kinds_shared {
	struct kinds_informer *informer;
	struct kinds_informer *beside;         /* held for it; NULL: none */
	char *label_selector, *field_selector; /* NULL: none */
	size_t n_users;
	struct kinds_shared *next;
};

struct kinds_informers {
	struct kube_client *client;
	struct kinds_shared *shared;
	struct net_loop_timer *tell;
	void (*on_change)(void *arg);
	void *arg;
};

static void on_tell(void *arg)
{
	struct kinds_informers *informers = arg;
	struct kinds_shared *shared;
	LL_FOREACH(informers->shared, shared)
	kinds_informer_join(shared->informer);
	informers->on_change(informers->arg);
}

/* The reflector is at work: told when it is done. */
static void on_informer_change(void *arg)
{
	struct kinds_informers *informers = arg;
	net_loop_timer_arm(informers->tell, 0);
}

static bool is_same_text(const char *a, const char *b)
{
	return strcmp(a ? a : "", b ? b : "") == 0;
}

/* One that has something beside it does for those who need only its rows. */
static bool is_same(const struct kinds_shared *shared, const struct kinds_informer_opts *opts,
	bool is_plain)
{
	const char *namespace_ = opts->namespace_ ? opts->namespace_ : "";
	return kinds_informer_kind(shared->informer) == opts->kind &&
	       strcmp(kinds_informer_namespace(shared->informer), namespace_) == 0 &&
	       is_same_text(shared->label_selector, opts->label_selector) &&
	       is_same_text(shared->field_selector, opts->field_selector) &&
	       (is_plain || shared->beside || !opts->beside_kind);
}

static struct kinds_informer *open_one(struct kinds_informers *informers,
	const struct kinds_informer_opts *opts, bool is_plain, struct err *err)
{
	struct kinds_shared *shared = informers->shared;
	while (shared && !is_same(shared, opts, is_plain))
		shared = shared->next;
	if (shared) {
		shared->n_users++;
		return shared->informer;
	}
	struct kinds_informer_opts own = *opts;
	own.on_change = on_informer_change;
	own.arg = informers;
	const struct kinds_informer_opts others = {
		.kind = opts->beside_kind,
		.namespace_ = opts->namespace_,
	};
	/* what cannot be had is not known, as if it might not be read */
	struct kinds_informer *beside =
		is_plain || !others.kind ? NULL : open_one(informers, &others, true, NULL);
	own.beside = beside;
	struct kinds_informer *informer = kinds_informer_start(informers->client, &own, err);
	if (!informer) {
		kinds_informers_close(informers, beside);
		return NULL;
	}
	shared = x_calloc(1, sizeof *shared);
	shared->informer = informer;
	shared->beside = beside;
	shared->label_selector = x_strdup(opts->label_selector);
	shared->field_selector = x_strdup(opts->field_selector);
	shared->n_users = 1;
	LL_PREPEND(informers->shared, shared);
	return informer;
}

struct kinds_informer *kinds_informers_open(struct kinds_informers *informers,
	const struct kinds_informer_opts *opts, struct err *err)
{
	return open_one(informers, opts, false, err);
}

struct kinds_informer *kinds_informers_open_object(struct kinds_informers *informers,
	const struct kinds_informer_opts *opts, const char *name, struct err *err)
{
	struct kinds_informer_opts whole = *opts, one = *opts;
	struct kinds_shared *shared;
	LL_FOREACH(informers->shared, shared)
	{
		whole.namespace_ = kinds_informer_namespace(shared->informer);
		bool has_it =
			!*whole.namespace_ || is_same_text(whole.namespace_, opts->namespace_);
		if (!has_it || !is_same(shared, &whole, false))
			continue;
		shared->n_users++;
		return shared->informer;
	}
	char *selector = x_asprintf("metadata.name=%s", name);
	one.field_selector = selector;
	struct kinds_informer *informer = open_one(informers, &one, false, err);
	free(selector);
	return informer;
}

void kinds_informers_keep(struct kinds_informers *informers, struct kinds_informer *informer)
{
	struct kinds_shared *shared;
	LL_FOREACH(informers->shared, shared)
	if (shared->informer == informer)
		shared->n_users++;
}

void kinds_informers_close(struct kinds_informers *informers, struct kinds_informer *informer)
{
	struct kinds_shared *shared = informers->shared;
	while (shared && shared->informer != informer)
		shared = shared->next;
	if (!shared || --shared->n_users)
		return;
	LL_DELETE(informers->shared, shared);
	kinds_informer_stop(shared->informer);
	kinds_informers_close(informers, shared->beside);
	free(shared->label_selector);
	free(shared->field_selector);
	free(shared);
}

void kinds_informers_resync(struct kinds_informers *informers)
{
	struct kinds_shared *shared;
	LL_FOREACH(informers->shared, shared)
	kinds_informer_resync(shared->informer);
}

void kinds_informers_hurry(struct kinds_informers *informers, bool is_lane_dead)
{
	struct kinds_shared *shared;
	LL_FOREACH(informers->shared, shared)
	kinds_informer_hurry(shared->informer, is_lane_dead);
}

struct kinds_informers *kinds_informers_new(struct net_loop *loop, struct kube_client *client,
	void (*on_change)(void *arg), void *arg)
{
	struct kinds_informers *informers = x_calloc(1, sizeof *informers);
	informers->client = client;
	informers->on_change = on_change;
	informers->arg = arg;
	informers->tell = net_loop_timer_new(loop, on_tell, informers);
	return informers;
}

void kinds_informers_free(struct kinds_informers *informers)
{
	if (!informers)
		return;
	while (informers->shared) {
		informers->shared->n_users = 1;
		kinds_informers_close(informers, informers->shared->informer);
	}
	net_loop_timer_free(informers->tell);
	free(informers);
}
