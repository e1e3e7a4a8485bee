// SPDX-License-Identifier: Apache-2.0
/* Labels and annotations of a claim and of its pod. What the controller takes for the pod: labels of the domains that it was
 * started with (sandbox.users.io unless told otherwise) and their sub-domains, annotations of any domain but Kubernetes' own
 * (agent-sandbox v0.5.6). It says so only after it has taken the claim: here it is said before. */
#include "engine/base/clock.h"
#include "engine/base/mem.h"
#include "engine/base/settings.h"
#include "engine/fleet/claim_parts.h"
#include "engine/fleet/maker.h"
#include "engine/k8s/name.h"
#include "engine/k8s/time.h"

#include <stdlib.h>
#include <string.h>

cJSON *fleet_claim_object(cJSON *object, const char *key)
{
	cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);
	if (cJSON_IsObject(item))
		return item;
	cJSON_DeleteItemFromObjectCaseSensitive(object, key);
	return cJSON_AddObjectToObject(object, key);
}

static void set_text(cJSON *object, const char *key, const char *text)
{
	cJSON_DeleteItemFromObjectCaseSensitive(object, key);
	cJSON_AddStringToObject(object, key, text);
}

/* "K=V" into object[K] = V. */
static bool add_pairs(cJSON *object, const char *const *list, const char *what, struct err *err)
{
	for (; list != NULL && *list != NULL; list++) {
		const char *equals = strchr(*list, '=');
		if (equals == NULL || equals == *list)
			return err_set(
				err, ERR_ARG_INVALID, "%s '%s' is not KEY=VALUE", what, *list);
		char *key = x_strndup(*list, (size_t)(equals - *list));
		set_text(object, key, equals + 1);
		free(key);
	}
	return true;
}

static bool check_pair(const cJSON *item, const char *what, bool is_label, struct err *err)
{
	const char *key = item->string ? item->string : "";
	if (!cJSON_IsString(item))
		return err_set(
			err, ERR_ARG_INVALID, "%s '%s': its value must be text", what, key);
	const char *value = item->valuestring;
	if (!k8s_is_label_key(key, strlen(key)))
		return err_set(err, ERR_ARG_INVALID,
			"%s '%s=%s': a key is [prefix/]name: letters, digits, '-', '_' and '.', "
			"at most 63",
			what, key, value);
	if (is_label && value[0] && !k8s_is_label_value(value, strlen(value)))
		return err_set(err, ERR_ARG_INVALID,
			"%s '%s=%s': a value has letters, digits, '-', '_' and '.' only, a "
			"letter or digit at both ends, at most 63",
			what, key, value);
	return true;
}

static bool check_pairs(const cJSON *object, const char *what, bool is_label, struct err *err)
{
	const cJSON *item;
	cJSON_ArrayForEach(item, object)
	{
		if (!check_pair(item, what, is_label, err))
			return false;
	}
	return true;
}

/* ---- what the controller takes for pods */

/* The domain of a key is that one, or one below it. */
static bool is_below(struct slice domain, struct slice parent)
{
	if (parent.n == 0 || domain.n < parent.n)
		return false;
	size_t before = domain.n - parent.n;
	return memcmp(domain.p + before, parent.p, parent.n) == 0 &&
	       (before == 0 || domain.p[before - 1] == '.');
}

static struct slice domain_of(const char *key)
{
	const char *slash = strchr(key, '/');
	return (struct slice){ key, slash ? (size_t)(slash - key) : 0 };
}

static bool is_allowed_domain(const char *key)
{
	const char *list = setting_text(SETTING_POD_LABEL_DOMAINS);
	struct slice domain = domain_of(key);
	while (*list != '\0') {
		list += strspn(list, ", ");
		size_t n = strcspn(list, ", ");
		if (is_below(domain, (struct slice){ list, n }))
			return true;
		list += n;
	}
	return false;
}

static bool check_pod_labels(const cJSON *labels, struct err *err)
{
	const cJSON *item;
	cJSON_ArrayForEach(item, labels)
	{
		if (!is_allowed_domain(item->string))
			return err_set(err, ERR_ARG_INVALID,
				"pod label '%s': the controller lets only labels of %s and its "
				"sub-domains reach a pod (setting pod-label-domains); a label of the "
				"claim is --label",
				item->string, setting_text(SETTING_POD_LABEL_DOMAINS));
	}
	return true;
}

static bool check_pod_annotations(const cJSON *annotations, struct err *err)
{
	static const char *const reserved[] = { "kubernetes.io", "k8s.io", "agents.x-k8s.io" };
	const cJSON *item;
	cJSON_ArrayForEach(item, annotations)
	{
		if (strcmp(item->string, "cluster-autoscaler.kubernetes.io/safe-to-evict") == 0)
			continue;
		for (size_t i = 0; i < sizeof reserved / sizeof *reserved; i++)
			if (is_below(domain_of(item->string), slice_of(reserved[i])))
				return err_set(err, ERR_ARG_INVALID,
					"pod annotation '%s': those of %s are not for users; an "
					"annotation of the claim is --annotation",
					item->string, reserved[i]);
	}
	return true;
}

bool fleet_claim_add_pod_metadata(
	cJSON *spec, const struct fleet_create_opts *opts, struct err *err)
{
	bool has_labels = opts->pod_labels && *opts->pod_labels;
	bool has_annotations = opts->pod_annotations && *opts->pod_annotations;
	if (!has_labels && !has_annotations &&
		!cJSON_HasObjectItem(spec, "additionalPodMetadata"))
		return true;
	cJSON *metadata = fleet_claim_object(spec, "additionalPodMetadata");
	fleet_claim_about(opts, FLEET_PART_POD_LABELS);
	if (has_labels && !add_pairs(fleet_claim_object(metadata, "labels"), opts->pod_labels,
				  "pod label", err))
		return false;
	const cJSON *labels = json_get(metadata, "labels", NULL);
	if (!check_pairs(labels, "pod label", true, err) || !check_pod_labels(labels, err))
		return false;
	fleet_claim_about(opts, FLEET_PART_POD_ANNOTATIONS);
	if (has_annotations && !add_pairs(fleet_claim_object(metadata, "annotations"),
				       opts->pod_annotations, "pod annotation", err))
		return false;
	const cJSON *annotations = json_get(metadata, "annotations", NULL);
	return check_pairs(annotations, "pod annotation", false, err) &&
	       check_pod_annotations(annotations, err);
}

/* ---- of the claim */

static void add_our_annotations(cJSON *annotations, const struct fleet_create_opts *opts,
	const struct fleet_claim_stamp *stamp)
{
	char date[CLOCK_RFC3339_BYTES];
	set_text(annotations, "agents.x-k8s.io/client-first-requested-at",
		k8s_time_format(stamp->now_ns, K8S_NANO_TIME, date));
	if (stamp->traceparent[0]) {
		char *context = x_asprintf("{\"traceparent\":\"%s\"}", stamp->traceparent);
		set_text(annotations, "opentelemetry.io/trace-context", context);
		free(context);
	}
	if (opts->binding_key != NULL)
		set_text(annotations, FLEET_BINDING_KEY, opts->binding_key);
	else
		cJSON_DeleteItemFromObjectCaseSensitive(annotations, FLEET_BINDING_KEY);
}

bool fleet_claim_add_metadata(cJSON *claim, const struct fleet_create_opts *opts,
	const struct fleet_claim_stamp *stamp, struct err *err)
{
	cJSON *metadata = fleet_claim_object(claim, "metadata");
	if (opts->name != NULL) {
		cJSON_DeleteItemFromObjectCaseSensitive(metadata, "generateName");
		set_text(metadata, "name", opts->name);
	} else if (json_str(metadata, "name", NULL) == NULL &&
		   json_str(metadata, "generateName", NULL) == NULL) {
		set_text(metadata, "generateName", "sandbox-claim-");
	}
	set_text(metadata, "namespace", opts->namespace_);
	cJSON *labels = fleet_claim_object(metadata, "labels");
	fleet_claim_about(opts, FLEET_PART_LABELS);
	if (!add_pairs(labels, opts->labels, "label", err) ||
		!check_pairs(labels, "label", true, err))
		return false;
	/* ours win over a label of the same name */
	set_text(labels, "agents.x-k8s.io/created-by", "sandmux");
	set_text(labels, CREATE_REQUEST_ID, stamp->request_id);
	if (opts->maker != NULL && opts->maker[0])
		set_text(labels, FLEET_MAKER_LABEL, opts->maker);
	cJSON *annotations = fleet_claim_object(metadata, "annotations");
	fleet_claim_about(opts, FLEET_PART_ANNOTATIONS);
	if (!add_pairs(annotations, opts->annotations, "annotation", err) ||
		!check_pairs(annotations, "annotation", false, err))
		return false;
	add_our_annotations(annotations, opts, stamp);
	return true;
}
