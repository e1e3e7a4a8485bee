// SPDX-License-Identifier: Apache-2.0
/* The rows of the fleet as a source of fleet_sandbox_kind. */
#pragma once

#include "engine/fleet/kind.h"
#include "engine/resource/source.h"

/* fleet NULL: a source without rows. As long-lived as the fleet. */
struct resource_source fleet_source(const struct fleet *fleet);
