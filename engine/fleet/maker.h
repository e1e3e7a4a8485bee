// SPDX-License-Identifier: Apache-2.0
/* Whose claims: each user of a machine has a random word, in the file `maker` of the state folder, which is a label of the claims
 * that they make. It says nothing of them, and is what --mine asks for.
 * Errors: none; without a state folder claims have no such label. */
#pragma once

#include <stdbool.h>

struct fleet_row;

#define FLEET_MAKER_LABEL "sandmux/made-by"
enum { FLEET_MAKER_BYTES = 17 };

bool fleet_maker_read(char out[FLEET_MAKER_BYTES]); /* false: there is none yet */
bool fleet_maker_make(
	char out[FLEET_MAKER_BYTES]); /* made if there is none; false: it cannot be */
bool fleet_row_is_made_by(const struct fleet_row *row, const char *maker);
