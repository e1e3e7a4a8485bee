// SPDX-License-Identifier: Apache-2.0
/* Sandboxes as a kind that is listed: a row is a struct fleet_row. A column more is one row more in kind.c. */
#pragma once

#include "engine/fleet/fleet.h"
#include "engine/resource/kind.h"

extern const struct resource_kind fleet_sandbox_kind;
/* The same rows and columns, in a table of what they use. */
extern const struct resource_kind fleet_usage_kind;

/* The bit of a column's `sources` that stands for what is read there. */
#define FLEET_SOURCE_BIT(kind) (1u << (kind))
/* … and the one for what pods use (engine/usage). */
#define FLEET_SOURCE_USAGE FLEET_SOURCE_BIT(FLEET_KIND_COUNT)

/* What a row is called: its claim, else its Sandbox. */
const char *fleet_row_name(const struct fleet_row *row);
/* How a state looks, the cell before its name, and its place in order: the unhealthy come first. */
enum resource_tone fleet_state_tone(enum fleet_state state);
const char *fleet_state_glyph(enum fleet_state state);
int fleet_state_order(enum fleet_state state);
