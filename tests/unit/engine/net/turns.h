// SPDX-License-Identifier: Apache-2.0
/* Runs a loop until something is true, or for a while. */
#pragma once

#include "engine/base/clock.h"
#include "engine/net/loop.h"

/* Fails the test after ten seconds. */
#define TURN_UNTIL(loop, condition)                                                            \
	do {                                                                                   \
		int64_t until_ms_ = clock_mono_ms() + 10000;                                   \
		while (!(condition)) {                                                         \
			if (clock_mono_ms() > until_ms_)                                       \
				fail_msg("waited in vain for %s", #condition);                 \
			net_loop_run_once(loop, 20);                                           \
		}                                                                              \
	} while (0)

static inline void turn_for(struct net_loop *loop, int64_t ms)
{
	for (int64_t until_ms = clock_mono_ms() + ms; clock_mono_ms() < until_ms;)
		net_loop_run_once(loop, until_ms - clock_mono_ms());
}
