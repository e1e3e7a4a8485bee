// SPDX-License-Identifier: Apache-2.0
/* The SandboxClaim that a create sends (extensions.agents.x-k8s.io/v1beta1). */
#include "engine/base/clock.h"
#include "engine/base/map.h"
#include "engine/base/settings.h"
#include "engine/fleet/op_create.h"
#include "engine/k8s/name.h"
#include "engine/k8s/selector.h"
#include "engine/k8s/time.h"

#include <string.h>

enum { MAX_NAME = 253, MAX_PREFIX = 58 };
#define MAX_SHUTDOWN_MS ((int64_t)100 * 366 * 24 * 3600 * 1000)

static bool is_dns_subdomain(const char *name)
{
	return k8s_is_dns_subdomain(name, strlen(name));
}

bool fleet_create_check(const struct fleet_create_opts *opts, struct err *err)
{
	if (opts->namespace_ == NULL || !opts->namespace_[0])
		return err_set(err, ERR_ARG_INVALID, "a namespace is needed");
	if (opts->pool == NULL || !is_dns_subdomain(opts->pool))
		return err_set(err, ERR_ARG_INVALID, "'%s' is not the name of a warm pool",
			opts->pool ? opts->pool : "");
	if (opts->name != NULL && !is_dns_subdomain(opts->name))
		return err_set(err, ERR_ARG_INVALID,
			"'%s' cannot be a name: lower-case letters, digits, '-' and '.' only, a "
			"letter or digit at both ends, at most %d",
			opts->name, MAX_NAME);
	if (opts->adopt && opts->name == NULL)
		return err_set(err, ERR_ARG_INVALID, "to adopt a claim its name is needed");
	if (opts->shutdown_after_ms < 0 || opts->shutdown_after_ms > MAX_SHUTDOWN_MS)
		return err_set(err, ERR_ARG_INVALID, "the lifetime must be positive");
	if (opts->ready_timeout_ms < 0)
		return err_set(err, ERR_ARG_INVALID, "the timeout must be positive");
	return true;
}

/* "K=V" into object[K] = V. */
static bool add_pair(
	cJSON *object, const char *text, const char *what, bool is_label, struct err *err)
{
	const char *equals = strchr(text, '=');
	if (equals == NULL || equals == text)
		return err_set(err, ERR_ARG_INVALID, "%s '%s' is not KEY=VALUE", what, text);
	char *key = x_strndup(text, (size_t)(equals - text));
	bool ok = true;
	if (is_label && (strpbrk(equals + 1, "=!(),<> \t\r\n") != NULL ||
				strpbrk(key, "=!(),<> \t\r\n") != NULL))
		ok = err_set(err, ERR_ARG_INVALID,
			"%s '%s': letters, digits, '-', '_' and '.' only", what, text);
	if (ok && is_label) {
		struct k8s_selector *selector = k8s_label_selector_parse(text, err);
		ok = selector != NULL || err_prefix(err, "%s", what);
		k8s_selector_free(selector);
	}
	if (ok && json_get(object, key, NULL) != NULL)
		cJSON_DeleteItemFromObjectCaseSensitive(object, key);
	if (ok)
		cJSON_AddStringToObject(object, key, equals + 1);
	free(key);
	return ok;
}

static bool add_pairs(cJSON *object, const char *const *list, const char *what, bool is_label,
	struct err *err)
{
	for (; list != NULL && *list != NULL; list++) {
		if (!add_pair(object, *list, what, is_label, err))
			return false;
	}
	return true;
}

static bool add_metadata(cJSON *claim, const struct fleet_create_opts *opts,
	const char *request_id, const char *traceparent, int64_t now_ns, struct err *err)
{
	char date[CLOCK_RFC3339_BYTES];
	cJSON *metadata = cJSON_AddObjectToObject(claim, "metadata");
	if (opts->name != NULL)
		cJSON_AddStringToObject(metadata, "name", opts->name);
	else
		cJSON_AddStringToObject(metadata, "generateName", "sandbox-claim-");
	cJSON_AddStringToObject(metadata, "namespace", opts->namespace_);
	cJSON *labels = cJSON_AddObjectToObject(metadata, "labels");
	if (!add_pairs(labels, opts->labels, "label", true, err))
		return false;
	/* ours win over a label of the same name */
	cJSON_DeleteItemFromObjectCaseSensitive(labels, "agents.x-k8s.io/created-by");
	cJSON_AddStringToObject(labels, "agents.x-k8s.io/created-by", "sandmux");
	cJSON_DeleteItemFromObjectCaseSensitive(labels, CREATE_REQUEST_ID);
	cJSON_AddStringToObject(labels, CREATE_REQUEST_ID, request_id);
	cJSON *annotations = cJSON_AddObjectToObject(metadata, "annotations");
	cJSON_AddStringToObject(annotations, "agents.x-k8s.io/client-first-requested-at",
		k8s_time_format(now_ns, K8S_NANO_TIME, date));
	if (traceparent[0]) {
		char *context = x_asprintf("{\"traceparent\":\"%s\"}", traceparent);
		cJSON_AddStringToObject(annotations, "opentelemetry.io/trace-context", context);
		free(context);
	}
	return true;
}

static bool add_env(cJSON *spec, const char *const *list, struct err *err)
{
	if (list == NULL || *list == NULL)
		return true;
	cJSON *env = cJSON_AddArrayToObject(spec, "env");
	for (; *list != NULL; list++) {
		const char *equals = strchr(*list, '=');
		if (equals == NULL || equals == *list) /* the value stays out of the message */
			return err_set(err, ERR_ARG_INVALID,
				"an environment variable is not NAME=VALUE");
		char *name = x_strndup(*list, (size_t)(equals - *list));
		cJSON *item = cJSON_CreateObject();
		cJSON_AddStringToObject(item, "name", name);
		cJSON_AddStringToObject(item, "value", equals + 1);
		cJSON_AddItemToArray(env, item);
		free(name);
	}
	return true;
}

static bool add_pod_metadata(cJSON *spec, const struct fleet_create_opts *opts, struct err *err)
{
	bool has_labels = opts->pod_labels && *opts->pod_labels;
	bool has_annotations = opts->pod_annotations && *opts->pod_annotations;
	if (!has_labels && !has_annotations)
		return true;
	cJSON *metadata = cJSON_AddObjectToObject(spec, "additionalPodMetadata");
	if (has_labels && !add_pairs(cJSON_AddObjectToObject(metadata, "labels"),
				  opts->pod_labels, "pod label", true, err))
		return false;
	return !has_annotations || add_pairs(cJSON_AddObjectToObject(metadata, "annotations"),
					   opts->pod_annotations, "pod annotation", false, err);
}

cJSON *fleet_create_body(const struct fleet_create_opts *opts, const char *request_id,
	const char *traceparent, int64_t now_ns, struct err *err)
{
	cJSON *claim = cJSON_CreateObject();
	cJSON_AddStringToObject(claim, "apiVersion", "extensions.agents.x-k8s.io/v1beta1");
	cJSON_AddStringToObject(claim, "kind", "SandboxClaim");
	if (!add_metadata(claim, opts, request_id, traceparent, now_ns, err))
		goto bad;
	cJSON *spec = cJSON_AddObjectToObject(claim, "spec");
	cJSON_AddStringToObject(
		cJSON_AddObjectToObject(spec, "warmPoolRef"), "name", opts->pool);
	if (!add_pod_metadata(spec, opts, err) || !add_env(spec, opts->env, err))
		goto bad;
	if (opts->shutdown_after_ms > 0) {
		/* whole seconds, rounded up: never less than what was asked for */
		int64_t at_ms = now_ns / 1000000 + opts->shutdown_after_ms;
		int64_t at_s = (at_ms + 999) / 1000;
		char date[CLOCK_RFC3339_BYTES];
		cJSON *lifecycle = cJSON_AddObjectToObject(spec, "lifecycle");
		cJSON_AddStringToObject(lifecycle, "shutdownTime",
			k8s_time_format(at_s * 1000000000, K8S_TIME, date));
		cJSON_AddStringToObject(lifecycle, "shutdownPolicy", "Delete");
	}
	char limit[SETTING_TEXT_BYTES];
	char *text = cJSON_PrintUnformatted(claim);
	size_t n = text ? strlen(text) : SIZE_MAX;
	if (text != NULL)
		explicit_bzero(text, n);
	free(text);
	if (n > (size_t)setting_get(SETTING_CLAIM_LIMIT)) {
		err_set(err, ERR_ARG_INVALID,
			"labels, annotations and environment together are over %s (setting claim-limit)",
			setting_format(
				SETTING_CLAIM_LIMIT, setting_get(SETTING_CLAIM_LIMIT), limit));
		goto bad;
	}
	return claim;
bad:
	cJSON_Delete(claim);
	return NULL;
}
