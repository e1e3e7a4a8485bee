// SPDX-License-Identifier: Apache-2.0
#include "engine/usage.h"

#include "engine/base/clock.h"
#include "engine/base/err.h"
#include "engine/internal.h"
#include "engine/usage/poll.h"

static void show(struct engine *engine, const char *const *uids, size_t n)
{
	struct usage_pod pods[USAGE_SHOWN_MAX];
	size_t n_pods = 0;
	for (size_t i = 0; i < n && n_pods < USAGE_SHOWN_MAX; i++) {
		const struct fleet_row *row = fleet_find(engine->fleet, uids[i]);
		if (row && *row->pod)
			pods[n_pods++] = (struct usage_pod){ row->namespace_, row->pod };
	}
	usage_poll_shown(engine->usage, pods, n_pods);
}

void engine_usage_look(struct engine *engine, const char *const *uids, size_t n)
{
	if (!engine->usage)
		return;
	show(engine, uids, n);
	usage_poll_look(engine->usage);
}

void engine_usage_look_only(struct engine *engine, const char *const *uids, size_t n)
{
	if (!engine->usage)
		return;
	usage_poll_only_shown(engine->usage);
	engine_usage_look(engine, uids, n);
}

uint64_t engine_usage_revision(const struct engine *engine)
{
	return engine->usage ? usage_table_revision(usage_poll_table(engine->usage)) : 0;
}

struct engine_usage engine_usage_of(const struct engine *engine)
{
	if (!engine->usage)
		return (struct engine_usage){ .age_ms = -1, .again_ms = -1 };
	struct usage_poll_state state = usage_poll_state_of(engine->usage);
	return (struct engine_usage){ state.is_asked, state.is_known, state.n_lists,
		state.age_ms, state.again_ms, state.err };
}

void engine_usage_format(const struct engine *engine, struct str *out)
{
	struct engine_usage usage = engine_usage_of(engine);
	char age[CLOCK_AGE_BYTES];
	if (!engine->usage) {
		str_add(out, "There is no metrics API behind a direct URL.");
	} else if (usage.err) {
		bool is_missing = usage.err->code == ERR_KUBE_NOT_SERVED;
		str_addf(out, "CPU and memory are not known: %s",
			is_missing ? "this cluster serves no metrics.k8s.io (metrics-server)"
				   : usage.err->msg);
		if (usage.again_ms >= 0)
			str_addf(out, "; asked again in %s",
				clock_format_age(usage.again_ms, age));
	} else if (usage.is_known) {
		str_addf(out, "CPU and memory of %zu pods, as of %s ago (metrics.k8s.io)",
			usage_table_count(usage_poll_table(engine->usage)),
			clock_format_age(usage.age_ms, age));
	} else {
		str_add(out, usage.is_asked ? "CPU and memory: waiting for metrics.k8s.io"
					    : "CPU and memory: nobody has looked yet");
	}
}
