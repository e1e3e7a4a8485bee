// SPDX-License-Identifier: Apache-2.0
/* The state of a reflector as its owner sees it, and the pause before its next request. */
#include "engine/kube/reflector_internal.h"

#include "engine/base/clock.h"
#include "engine/base/settings.h"
#include "engine/net/loop.h"

static const char *const state_names[] = {
	[KUBE_REFLECTOR_STARTING] = "starting",
	[KUBE_REFLECTOR_LIVE] = "live",
	[KUBE_REFLECTOR_RETRYING] = "retrying",
	[KUBE_REFLECTOR_DEAF] = "deaf",
	[KUBE_REFLECTOR_RELISTING] = "relisting",
	[KUBE_REFLECTOR_FORBIDDEN] = "forbidden",
	[KUBE_REFLECTOR_POLLED] = "polled",
};
_Static_assert(sizeof state_names / sizeof *state_names == KUBE_REFLECTOR_STATE_COUNT,
	"a name for each state");

const char *kube_reflector_state_name(enum kube_reflector_state state)
{
	return state_names[state];
}

void kube_reflector_set_state(struct kube_reflector *reflector, enum kube_reflector_state state,
	const struct err *err)
{
	if (err == NULL && state == reflector->state && reflector->err.code == ERR_NONE)
		return;
	reflector->state = state;
	if (err != NULL)
		reflector->err = *err;
	else
		reflector->err.code = ERR_NONE;
	if (reflector->opts.on_state != NULL)
		reflector->opts.on_state(
			reflector->opts.arg, state, err != NULL ? &reflector->err : NULL);
}

void kube_reflector_go_on(struct kube_reflector *reflector, int64_t delay_ms)
{
	if (!reflector->is_dead)
		net_loop_timer_arm(reflector->next, delay_ms);
}

void kube_reflector_retry(struct kube_reflector *reflector, const struct err *err,
	const struct kube_answer *answer, bool at_once)
{
	reflector->stats.retries++;
	int64_t delay = 0;
	if (!at_once)
		delay = kube_backoff_next_ms(&reflector->backoff);
	if (answer->retry_after_ms >= 0 && answer->retry_after_ms > delay)
		delay = answer->retry_after_ms;
	reflector->not_before_ms =
		answer->retry_after_ms >= 0 ? clock_mono_ms() + answer->retry_after_ms : 0;
	/* that this user may not read it stays the reason, whatever else happens meanwhile */
	if (reflector->state != KUBE_REFLECTOR_FORBIDDEN)
		kube_reflector_set_state(reflector, KUBE_REFLECTOR_RETRYING, err);
	kube_reflector_go_on(reflector, delay);
}

int64_t kube_reflector_idle_ms(const struct kube_reflector *reflector)
{
	if (reflector->opts.read_idle_ms > 0)
		return reflector->opts.read_idle_ms;
	int64_t of_client = kube_client_watch_idle_ms(reflector->client);
	return of_client > 0 ? of_client : setting_get(SETTING_WATCH_IDLE);
}

void kube_reflector_watch_began(struct kube_reflector *reflector)
{
	reflector->is_fresh = false;
	net_loop_timer_arm(reflector->idle, kube_reflector_idle_ms(reflector));
	kube_reflector_set_state(reflector, KUBE_REFLECTOR_LIVE, NULL);
}
