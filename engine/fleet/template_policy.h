// SPDX-License-Identifier: Apache-2.0
/* The template policy of the GKE client: which SandboxTemplates this user may use, and what each is expected to be. In YAML:
 *
 *   defaultTemplate: pai-node-runtime   # needed from two templates on
 *   labels: { trust-domain: a }         # of every claim that is made, and wanted of every one that is operated on
 *   templates:
 *     - name: pai-node-runtime
 *       network: { access: none }       # or full; what the template is declared to give
 *       containerName: runtime          # where the environment of a create goes
 *       defaultCwd: /workspace          # where processes begin
 *       rootDir: /workspace
 *       labels: { tier: batch }
 *
 * It proves nothing of the cluster: it keeps this client from what it did not declare.
 * Errors: ERR_ARG_INVALID, ERR_POLICY_MISMATCH, ERR_TEMPLATE_UNDECLARED, those of engine/base/yaml.h. */
#pragma once

#include "engine/base/str.h"

#include <stdbool.h>

struct cJSON;
struct err;
struct fleet_policy;
struct fleet_row;

struct fleet_policy_template { /* strings are never NULL: "" = not said */
	const char *name, *network, *container, *cwd, *root;
};

struct fleet_policy *fleet_policy_parse(struct slice text, struct err *err);
struct fleet_policy *fleet_policy_read(const char *path, struct err *err);
void fleet_policy_free(struct fleet_policy *policy); /* NULL is fine */
/* In order; NULL at the end. */
const struct fleet_policy_template *fleet_policy_at(
	const struct fleet_policy *policy, size_t index);
/* NULL with *err (template.undeclared): it is not declared. */
const struct fleet_policy_template *fleet_policy_find(
	const struct fleet_policy *policy, const char *name, struct err *err);
const struct fleet_policy_template *fleet_policy_default(const struct fleet_policy *policy);
/* network: "none", "full", or NULL: nothing is asserted. */
bool fleet_policy_check_network(
	const struct fleet_policy_template *template_, const char *network, struct err *err);
/* Those that a claim of that template gets, and must have: as an object of texts, the caller's. */
struct cJSON *fleet_policy_labels(
	const struct fleet_policy *policy, const struct fleet_policy_template *template_);
/* A claim, as the server has it: its labels. */
bool fleet_policy_check_claim(const struct fleet_policy *policy,
	const struct fleet_policy_template *template_, const struct cJSON *claim,
	struct err *err);
/* May this row be operated on? Both its template and its labels say. policy NULL: it may. */
bool fleet_policy_admits(
	const struct fleet_policy *policy, const struct fleet_row *row, struct err *err);
