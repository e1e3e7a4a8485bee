// SPDX-License-Identifier: Apache-2.0
/* The SandboxClaim that a create sends (extensions.agents.x-k8s.io/v1beta1). */
#include "engine/base/clock.h"
#include "engine/base/map.h"
#include "engine/base/settings.h"
#include "engine/fleet/claim_parts.h"
#include "engine/k8s/name.h"
#include "engine/k8s/time.h"

#include <string.h>

enum { MAX_NAME = 253, MAX_PREFIX = 58, MAX_KEY = 1024 };
#define MAX_SHUTDOWN_MS ((int64_t)100 * 366 * 24 * 3600 * 1000)

static const char *const policies[] = { "Delete", "DeleteForeground", "Retain" };

static bool is_dns_subdomain(const char *name)
{
	return k8s_is_dns_subdomain(name, strlen(name));
}

const char *fleet_create_name(const struct fleet_create_opts *opts)
{
	return opts->name != NULL ? opts->name : json_str(opts->base, "metadata", "name", NULL);
}

const char *fleet_create_pool(const struct fleet_create_opts *opts)
{
	return opts->pool != NULL ? opts->pool
				  : json_str(opts->base, "spec", "warmPoolRef", "name", NULL);
}

bool fleet_claim_is_shutdown_policy(const char *text)
{
	for (size_t i = 0; i < sizeof policies / sizeof *policies; i++)
		if (strcmp(policies[i], text) == 0)
			return true;
	return false;
}

/* ---- what can be told of the options alone */

static bool check_names(const struct fleet_create_opts *opts, struct err *err)
{
	const char *pool = fleet_create_pool(opts), *name = fleet_create_name(opts);
	const char *prefix = json_str(opts->base, "metadata", "generateName", NULL);
	fleet_claim_about(opts, FLEET_PART_NONE);
	if (opts->namespace_ == NULL || !opts->namespace_[0])
		return err_set(err, ERR_ARG_INVALID, "a namespace is needed");
	fleet_claim_about(opts, FLEET_PART_POOL);
	bool is_chosen = pool == NULL && opts->template_ != NULL;
	if (is_chosen && !is_dns_subdomain(opts->template_))
		return err_set(err, ERR_ARG_INVALID, "'%s' is not the name of a template",
			opts->template_);
	if (!is_chosen && (pool == NULL || !is_dns_subdomain(pool)))
		return err_set(err, ERR_ARG_INVALID, "'%s' is not the name of a warm pool",
			pool ? pool : "");
	fleet_claim_about(opts, FLEET_PART_NAME);
	if (name != NULL && !is_dns_subdomain(name))
		return err_set(err, ERR_ARG_INVALID,
			"'%s' cannot be a name: lower-case letters, digits, '-' and '.' only, a "
			"letter or digit at both ends, at most %d",
			name, MAX_NAME);
	if (name == NULL && prefix != NULL && strlen(prefix) > MAX_PREFIX)
		return err_set(err, ERR_ARG_INVALID,
			"'%s' cannot begin a generated name: at most %d", prefix, MAX_PREFIX);
	if (opts->adopt && name == NULL)
		return err_set(err, ERR_ARG_INVALID, "to adopt a claim its name is needed");
	fleet_claim_about(opts, FLEET_PART_BINDING_KEY);
	if (opts->binding_key != NULL && name != NULL)
		return err_set(err, ERR_ARG_INVALID,
			"a binding key finds or makes its own claim: give the key or a name, not "
			"both");
	if (opts->binding_key != NULL &&
		(!opts->binding_key[0] || strlen(opts->binding_key) > MAX_KEY))
		return err_set(
			err, ERR_ARG_INVALID, "a binding key has 1 to %d bytes", MAX_KEY);
	return true;
}

bool fleet_create_check(const struct fleet_create_opts *opts, struct err *err)
{
	if (!check_names(opts, err))
		return false;
	fleet_claim_about(opts, FLEET_PART_LIFETIME);
	if (opts->shutdown_after_ms < 0 || opts->shutdown_after_ms > MAX_SHUTDOWN_MS)
		return err_set(err, ERR_ARG_INVALID, "the lifetime must be positive");
	fleet_claim_about(opts, FLEET_PART_SHUTDOWN_POLICY);
	if (opts->shutdown_policy != NULL &&
		!fleet_claim_is_shutdown_policy(opts->shutdown_policy))
		return err_set(err, ERR_ARG_INVALID,
			"'%s' is not a shutdown policy: Delete, DeleteForeground or Retain",
			opts->shutdown_policy);
	fleet_claim_about(opts, FLEET_PART_TTL);
	if (opts->has_ttl && (opts->ttl_ms < 0 || opts->ttl_ms / 1000 >= INT32_MAX))
		return err_set(err, ERR_ARG_INVALID,
			"the time to live after its end must be 0 or more seconds, below 2^31");
	fleet_claim_about(opts, FLEET_PART_TIMEOUT);
	if (opts->ready_timeout_ms < 0)
		return err_set(err, ERR_ARG_INVALID, "the timeout must be positive");
	fleet_claim_about(opts, FLEET_PART_NONE);
	return true;
}

const char *fleet_create_is_cold(const struct fleet_create_opts *opts)
{
	if ((opts->env && *opts->env) || json_get(opts->base, "spec", "env", NULL) != NULL)
		return "environment variables: no warm sandbox has them, so it starts cold";
	if ((opts->volumes && *opts->volumes) ||
		json_get(opts->base, "spec", "volumeClaimTemplates", NULL) != NULL)
		return "volumes: no warm sandbox has them, so it starts cold";
	return NULL;
}

/* ---- the claim */

static void set(cJSON *object, const char *key, cJSON *value)
{
	cJSON_DeleteItemFromObjectCaseSensitive(object, key);
	cJSON_AddItemToObject(object, key, value);
}

/* Whole seconds, rounded up: never less than what was asked for. */
static int64_t seconds_of(int64_t ms)
{
	return (ms + 999) / 1000;
}

static void add_lifecycle(cJSON *spec, const struct fleet_create_opts *opts, int64_t now_ns)
{
	char date[CLOCK_RFC3339_BYTES];
	if (opts->shutdown_after_ms == 0 && !opts->has_ttl && opts->shutdown_policy == NULL)
		return;
	cJSON *lifecycle = fleet_claim_object(spec, "lifecycle");
	if (opts->shutdown_after_ms > 0) {
		int64_t at_s = seconds_of(now_ns / 1000000 + opts->shutdown_after_ms);
		set(lifecycle, "shutdownTime",
			cJSON_CreateString(k8s_time_format(at_s * 1000000000, K8S_TIME, date)));
	}
	if (opts->has_ttl)
		set(lifecycle, "ttlSecondsAfterFinished",
			cJSON_CreateNumber((double)seconds_of(opts->ttl_ms)));
	/* an end that keeps the claim is only for those who ask for it */
	if (opts->shutdown_policy != NULL)
		set(lifecycle, "shutdownPolicy", cJSON_CreateString(opts->shutdown_policy));
	else if (!cJSON_HasObjectItem(lifecycle, "shutdownPolicy"))
		set(lifecycle, "shutdownPolicy", cJSON_CreateString("Delete"));
}

static bool check_size(const cJSON *claim, struct err *err)
{
	char limit[SETTING_TEXT_BYTES];
	char *text = cJSON_PrintUnformatted(claim);
	size_t n = text ? strlen(text) : SIZE_MAX;
	x_free_secret(text);
	return n <= (size_t)setting_get(SETTING_CLAIM_LIMIT) ||
	       err_set(err, ERR_ARG_INVALID,
		       "labels, annotations and environment together are over %s (setting claim-limit)",
		       setting_format(
			       SETTING_CLAIM_LIMIT, setting_get(SETTING_CLAIM_LIMIT), limit));
}

cJSON *fleet_create_body(const struct fleet_create_opts *opts, const char *request_id,
	const char *traceparent, int64_t now_ns, struct err *err)
{
	const struct fleet_claim_stamp stamp = { request_id, traceparent, now_ns };
	cJSON *claim = opts->base ? cJSON_Duplicate(opts->base, true) : cJSON_CreateObject();
	set(claim, "apiVersion", cJSON_CreateString("extensions.agents.x-k8s.io/v1beta1"));
	set(claim, "kind", cJSON_CreateString("SandboxClaim"));
	bool ok = fleet_claim_add_metadata(claim, opts, &stamp, err);
	cJSON *spec = fleet_claim_object(claim, "spec");
	if (opts->pool != NULL)
		set(fleet_claim_object(spec, "warmPoolRef"), "name",
			cJSON_CreateString(opts->pool));
	ok = ok && fleet_claim_add_pod_metadata(spec, opts, err) &&
	     fleet_claim_add_env(spec, opts, err) && fleet_claim_add_volumes(spec, opts, err);
	add_lifecycle(spec, opts, now_ns);
	if (ok)
		fleet_claim_about(opts, FLEET_PART_NONE);
	if (ok && check_size(claim, err))
		return claim;
	cJSON_Delete(claim);
	return NULL;
}

cJSON *fleet_create_preview(
	const struct fleet *fleet, const struct fleet_create_opts *opts, struct err *err)
{
	if (!fleet_create_check(opts, err))
		return NULL;
	return fleet_create_body(opts, "(generated)", "",
		clock_wall_ns() + kube_client_clock_skew_ms(fleet->kube) * 1000000, err);
}

/* ---- what an error of the server or the controller is about */

static const struct {
	const char *word;
	enum fleet_create_part part;
} words[] = {
	{ "EnvVars", FLEET_PART_ENV },
	{ "spec.env", FLEET_PART_ENV },
	{ "environment", FLEET_PART_ENV },
	{ "olumeClaimTemplates", FLEET_PART_VOLUMES },
	{ "volume", FLEET_PART_VOLUMES },
	{ "additionalPodMetadata.annotations", FLEET_PART_POD_ANNOTATIONS },
	{ "additionalPodMetadata", FLEET_PART_POD_LABELS },
	{ "InvalidMetadata", FLEET_PART_POD_LABELS },
	{ "pod label", FLEET_PART_POD_LABELS },
	{ "metadata.labels", FLEET_PART_LABELS },
	{ "metadata.annotations", FLEET_PART_ANNOTATIONS },
	{ "metadata.name", FLEET_PART_NAME },
	{ "ttlSecondsAfterFinished", FLEET_PART_TTL },
	{ "shutdownPolicy", FLEET_PART_SHUTDOWN_POLICY },
	{ "shutdownTime", FLEET_PART_LIFETIME },
	{ "warmPoolRef", FLEET_PART_POOL },
};

enum fleet_create_part fleet_create_part_of(const struct err *err)
{
	switch (err->code) {
	case ERR_POOL_NOT_FOUND:
	case ERR_TEMPLATE_NOT_FOUND:
	case ERR_TEMPLATE_UNDECLARED:
	case ERR_CLAIM_ADOPT_MISMATCH:
	case ERR_POLICY_MISMATCH:
		return FLEET_PART_POOL;
	case ERR_CLAIM_EXISTS:
	case ERR_CLAIM_TERMINATING:
	case ERR_CLAIM_REPLACED:
		return FLEET_PART_NAME;
	case ERR_BIND_CONTENDED:
		return FLEET_PART_BINDING_KEY;
	case ERR_KUBE_INVALID:
	case ERR_KUBE_BAD_REQUEST:
	case ERR_CLAIM_REJECTED:
	case ERR_CLAIM_FAILED:
		for (size_t i = 0; i < sizeof words / sizeof *words; i++)
			if (strstr(err->msg, words[i].word) != NULL)
				return words[i].part;
		return FLEET_PART_NONE;
	default:
		return FLEET_PART_NONE;
	}
}
