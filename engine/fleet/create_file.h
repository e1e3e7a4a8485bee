// SPDX-License-Identifier: Apache-2.0
/* A file that says what to create: a SandboxClaim as kubectl has it (also one that was read from a cluster: what the server
 * wrote into it is left out), or a short form of our own, in YAML or JSON:
 *
 *   name: box                       # or generateName
 *   pool: workers                   # warmPool is understood too
 *   template: pai-node-runtime      # of a template policy, instead of a pool
 *   labels: { team: blue }
 *   annotations: { note: demo }
 *   podLabels: { sandbox.users.io/session: s1 }
 *   podAnnotations: { example.com/note: demo }
 *   env: { GREETING: hi }           # or a list of {name, value, containerName}
 *   volumes: [ "data:1Gi:fast" ]    # or volumeClaimTemplates, as the API has them
 *   shutdownAfter: 1h
 *   shutdownPolicy: Delete
 *   ttlAfterFinished: 5m            # or ttlSecondsAfterFinished: 300
 *   timeout: 3m
 *   adopt: true
 *   bindingKey: thread-123
 *
 * A key that is not known is refused.
 * Errors: ERR_ARG_INVALID, those of engine/base/yaml.h. */
#pragma once

#include "engine/base/str.h"

#include <stdbool.h>
#include <stdint.h>

struct cJSON;
struct err;

struct fleet_create_file {
	struct cJSON *claim; /* the base of fleet_create_opts */
	char **volumes;      /* NAME:SIZE[:CLASS], NULL-terminated; NULL: none */
	char *namespace_;    /* NULL: it names none */
	char *template_, *binding_key, *shutdown_policy;
	bool adopt, has_ttl;
	int64_t shutdown_after_ms, ttl_ms, timeout_ms; /* 0: it says nothing */
};
bool fleet_create_file_parse(struct slice text, struct fleet_create_file *out, struct err *err);
void fleet_create_file_deinit(struct fleet_create_file *file); /* safe on a zeroed one */
