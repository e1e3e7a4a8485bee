// SPDX-License-Identifier: Apache-2.0
/* What a pod asks for and what it may use at most (core/v1 ResourceRequirements), as the scheduler and the kubelet read it. */
#pragma once

#include "engine/fleet/row.h"

struct cJSON;

/* spec: a PodSpec. A limit counts only where every container has one; that of the pod itself (spec.resources) goes first. */
void fleet_limits_read(struct fleet_limits *limits, const struct cJSON *spec);
bool fleet_limits_equal(const struct fleet_limits *a, const struct fleet_limits *b);
