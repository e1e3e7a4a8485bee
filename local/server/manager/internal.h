// SPDX-License-Identifier: Apache-2.0
/* What the files of the manager share. */
#pragma once

#include "local/server/controller/controller.h"
#include "local/server/manager/manager.h"

extern const struct controller_row manager_rows[]; /* the last one has no name */

/* One pass over one object each (struct controller_row). */
int64_t manager_reconcile_claim(struct controller *c, struct store_object *o);
int64_t manager_reconcile_template(struct controller *c, struct store_object *o);
int64_t manager_reconcile_pool(struct controller *c, struct store_object *o);
int64_t manager_reconcile_sandbox(struct controller *c, struct store_object *o);
int64_t manager_reconcile_namespace(struct controller *c, struct store_object *o);

/* gc.c: dependents of what was deleted */
void manager_gc_on_change(struct controller *c, const struct store_change *change);
void manager_gc_scan(
	struct controller *c); /* after a start: owners that went while we were away */
bool manager_gc_run(struct controller *c); /* a slice of it; true: there is more */
void manager_gc_close(struct controller *c);

/* The claim's wishes against its template; NULL reason: nothing to object. */
const char *manager_claim_check_metadata(const cJSON *claim, char *message, size_t n);
const char *manager_claim_check_env(
	const cJSON *claim, const cJSON *template_spec, char *message, size_t n);
const char *manager_claim_check_volumes(
	const cJSON *claim, const cJSON *template_spec, char *message, size_t n);
/* Writes the wishes into the spec of a Sandbox that is being made; false with a message on a conflict. */
bool manager_claim_apply_overrides(const cJSON *claim, const struct store_object *template,
	cJSON *sandbox, char *message, size_t n);
bool manager_claim_apply_metadata(const cJSON *claim, cJSON *sandbox, char *message, size_t n);

/* A Sandbox from a template: spec, template labels and annotations. */
cJSON *manager_sandbox_from_template(const struct store_object *template);

#define LABEL_CREATED_BY "agents.x-k8s.io/created-by"
#define LABEL_CLAIM_UID "agents.x-k8s.io/claim-uid"
#define LABEL_LAUNCH_TYPE "agents.x-k8s.io/launch-type"
#define LABEL_WARM_POOL "agents.x-k8s.io/warm-pool-sandbox"
#define LABEL_TEMPLATE_REF "agents.x-k8s.io/sandbox-template-ref-hash"
#define LABEL_TEMPLATE_HASH "agents.x-k8s.io/sandbox-template-hash"
#define LABEL_POD_TEMPLATE_HASH "agents.x-k8s.io/sandbox-pod-template-hash"
#define LABEL_NAME_HASH "agents.x-k8s.io/sandbox-name-hash"
#define LABEL_ADOPTABLE "agents.x-k8s.io/adoptable"
#define ANNOTATION_SANDBOX_NAME "agents.x-k8s.io/sandbox-name"
#define ANNOTATION_TEMPLATE_REF "agents.x-k8s.io/sandbox-template-ref"
#define ANNOTATION_POD_NAME "agents.x-k8s.io/pod-name"
#define ANNOTATION_FIRST_OBSERVED "agents.x-k8s.io/controller-first-observed-at"
#define ANNOTATION_FIRST_READY "agents.x-k8s.io/claim-first-ready-at"
#define ANNOTATION_PROPAGATED_LABELS "agents.x-k8s.io/propagated-labels"
#define ANNOTATION_PROPAGATED_ANNOTATIONS "agents.x-k8s.io/propagated-annotations"
