// SPDX-License-Identifier: Apache-2.0
#include "engine/kube/backoff.h"

#include "engine/base/digest.h"

int64_t kube_jitter_ms(int64_t min_ms, int64_t max_ms)
{
	uint32_t random;
	digest_random(&random, sizeof random);
	return min_ms + (int64_t)(random % (uint64_t)(max_ms - min_ms + 1));
}

int64_t kube_backoff_next_ms(struct kube_backoff *backoff)
{
	int64_t base = backoff->next_ms ? backoff->next_ms : KUBE_BACKOFF_FIRST_MS;
	backoff->next_ms = base * 2 > KUBE_BACKOFF_CAP_MS ? KUBE_BACKOFF_CAP_MS : base * 2;
	return kube_jitter_ms(base, base * 2);
}

void kube_backoff_reset(struct kube_backoff *backoff)
{
	backoff->next_ms = 0;
}
