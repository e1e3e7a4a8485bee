// SPDX-License-Identifier: Apache-2.0
/* Growing pauses with jitter (client-go reflector: 800 ms, doubled to 30 s, up to +100 % at random, started
 * again after two minutes of health). */
#pragma once

#include <stdint.h>

struct kube_backoff {
	int64_t next_ms; /* 0: at the beginning */
};
enum {
	KUBE_BACKOFF_FIRST_MS = 800,
	KUBE_BACKOFF_CAP_MS = 30000,
	KUBE_BACKOFF_HEALTHY_MS = 120000
};

int64_t kube_backoff_next_ms(struct kube_backoff *backoff);
void kube_backoff_reset(struct kube_backoff *backoff);
int64_t kube_jitter_ms(int64_t min_ms, int64_t max_ms); /* evenly between the two */
