// SPDX-License-Identifier: Apache-2.0
/* metadata.managedFields is about half of every object and nobody here reads it: cut out before the parser
 * sees it. */
#pragma once

#include "engine/base/str.h"

/* The same JSON with null for the first managedFields array, built in scratch (cleared first); the text itself if it has
 * none or is not JSON. Valid until scratch changes. */
struct slice kube_without_managed_fields(struct slice json, struct str *scratch);
