// SPDX-License-Identifier: Apache-2.0
/* The one Kubernetes protobuf body that kubectl insists on: `kubectl create namespace`. */
#pragma once

#include "engine/base/str.h"

#include <cjson/cJSON.h>

/* The Namespace in an application/vnd.kubernetes.protobuf body (its name, labels and annotations), or NULL if
 * the bytes are anything else. */
cJSON *api_protobuf_namespace(struct slice body);
