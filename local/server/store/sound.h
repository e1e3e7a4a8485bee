// SPDX-License-Identifier: Apache-2.0
/* What may be written is what can be read again. */
#pragma once

#include "engine/base/str.h"
#include "local/server/store/store.h"

/* True if o can be loaded from its text and comes out the same: within the reader's limits of size and depth, names and
 * UID present, text valid UTF-8, numbers finite, no field twice. ERR_KUBE_INVALID, ERR_KUBE_TOO_LARGE. */
bool store_sound_check(const struct store_object *o, struct err *err);
/* An object from the text of a row of this kind, NULL with the reason. */
cJSON *store_sound_parse(enum store_kind kind, struct slice text, struct err *err);
