// SPDX-License-Identifier: Apache-2.0
/* One PodMetrics object as a sample; every field of it may be missing, or of another type. */
#pragma once

#include "engine/usage/series.h"

struct cJSON;

/* The sum over its containers. False: it tells nothing. now_s: the server's clock, for one without a time or with one that is
 * yet to come. */
bool usage_sample_read(const struct cJSON *object, uint32_t now_s, struct usage_sample *out);
