// SPDX-License-Identifier: Apache-2.0
/* Sandboxes that are no more, as they were last: kept for the dashboard for a set time and number (settings tombstone-time,
 * tombstones), until dismissed. A tombstone is a row of the state FLEET_DELETED in the source of lists (engine/fleet/source.h), and
 * nowhere else: fleet_find(), fleet_at() and operations do not know it. Its events and its story stay with it. */
#pragma once

#include "engine/fleet/row.h"

struct fleet;

/* A row, or a tombstone; NULL: neither. Borrowed for this turn. */
const struct fleet_row *fleet_find_any(const struct fleet *fleet, const char *uid);
size_t fleet_tombstone_count(const struct fleet *fleet); /* hidden ones too */
/* Forgets that one; NULL: all. False: there is none. */
bool fleet_tombstone_dismiss(struct fleet *fleet, const char *uid);
/* Whether lists show them. They do unless told otherwise. */
void fleet_tombstones_show(struct fleet *fleet, bool on);
bool fleet_tombstones_are_shown(const struct fleet *fleet);
/* Those changed since that revision, as the rows of fleet_changes(); 0: all that are shown. */
void fleet_tombstone_changes(const struct fleet *fleet, uint64_t since,
	void (*fn)(void *arg, const char *uid, const struct fleet_row *row), void *arg);
