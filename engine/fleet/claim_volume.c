// SPDX-License-Identifier: Apache-2.0
/* Environment and volumes of a claim: what makes it start cold. */
#include "engine/base/mem.h"
#include "engine/fleet/claim_parts.h"
#include "engine/k8s/name.h"
#include "engine/k8s/quantity.h"

#include <stdlib.h>
#include <string.h>

enum { LABEL_BYTES = 63 };

static bool is_dns_label(const char *p, size_t n)
{
	return n > 0 && n <= LABEL_BYTES && memchr(p, '.', n) == NULL &&
	       k8s_is_dns_subdomain(p, n);
}

/* ---- environment */

static bool is_variable(const cJSON *item, struct slice name, struct slice container)
{
	const char *its_name = json_str(item, "name", NULL);
	const char *its_container = json_str(item, "containerName", NULL);
	return its_name != NULL && slice_equals(name, its_name) &&
	       slice_equals(container, its_container ? its_container : "");
}

static void put_variable(
	cJSON *env, struct slice name, struct slice container, const char *value)
{
	const cJSON *item;
	int at = 0;
	cJSON_ArrayForEach(item, env)
	{
		if (is_variable(item, name, container)) {
			cJSON_DeleteItemFromArray(env, at);
			break;
		}
		at++;
	}
	cJSON *made = cJSON_CreateObject();
	char *text = x_strndup(name.p, name.n);
	cJSON_AddStringToObject(made, "name", text);
	free(text);
	cJSON_AddStringToObject(made, "value", value);
	if (container.n > 0) {
		text = x_strndup(container.p, container.n);
		cJSON_AddStringToObject(made, "containerName", text);
		free(text);
	}
	cJSON_AddItemToArray(env, made);
}

/* "K=V" or "CONTAINER:K=V"; the value stays out of messages. */
static bool add_variable(cJSON *env, const char *text, struct err *err)
{
	const char *equals = strchr(text, '=');
	struct slice container = { text, 0 }, name = { text, 0 };
	if (equals == NULL || equals == text)
		return err_set(err, ERR_ARG_INVALID,
			"an environment variable is not NAME=VALUE or CONTAINER:NAME=VALUE");
	name.n = (size_t)(equals - text);
	const char *colon = memchr(text, ':', name.n);
	if (colon != NULL) {
		container.n = (size_t)(colon - text);
		name = (struct slice){ colon + 1, (size_t)(equals - colon) - 1 };
		if (name.n == 0 || !is_dns_label(container.p, container.n))
			return err_set(err, ERR_ARG_INVALID,
				"environment '%.*s': before ':' stands the name of a container, "
				"after it that of the variable",
				(int)(equals - text), text);
	}
	put_variable(env, name, container, equals + 1);
	return true;
}

bool fleet_claim_add_env(cJSON *spec, const struct fleet_create_opts *opts, struct err *err)
{
	const char *const *list = opts->env;
	fleet_claim_about(opts, FLEET_PART_ENV);
	if (list == NULL || *list == NULL)
		return true;
	cJSON *env = cJSON_GetObjectItemCaseSensitive(spec, "env");
	if (!cJSON_IsArray(env)) {
		cJSON_DeleteItemFromObjectCaseSensitive(spec, "env");
		env = cJSON_AddArrayToObject(spec, "env");
	}
	for (; *list != NULL; list++) {
		if (!add_variable(env, *list, err))
			return false;
	}
	return true;
}

/* ---- volumes */

/* NAME:SIZE[:CLASS] as a PersistentVolumeClaim that one pod writes. NULL with *err. */
static cJSON *volume_of(const char *text, struct err *err)
{
	cJSON *volume = NULL;
	const char *colon = strchr(text, ':');
	size_t n = colon ? (size_t)(colon - text) : 0;
	char *size = colon ? x_strndup(colon + 1, strcspn(colon + 1, ":")) : x_strdup("");
	const char *rest = colon ? strchr(colon + 1, ':') : NULL;
	const char *class = rest ? rest + 1 : NULL;
	if (!is_dns_label(text, n)) {
		err_set(err, ERR_ARG_INVALID,
			"volume '%s' is not NAME:SIZE[:CLASS], as in data:1Gi", text);
	} else if (k8s_quantity_milli(size) == 0) {
		err_set(err, ERR_ARG_INVALID,
			"volume '%s': '%s' is not a size such as 500Mi, 1Gi", text, size);
	} else if (class != NULL && !k8s_is_dns_subdomain(class, strlen(class))) {
		err_set(err, ERR_ARG_INVALID,
			"volume '%s': '%s' is not the name of a storage class", text, class);
	} else {
		char *name = x_strndup(text, n);
		volume = cJSON_CreateObject();
		cJSON_AddStringToObject(
			cJSON_AddObjectToObject(volume, "metadata"), "name", name);
		free(name);
		cJSON *claim = cJSON_AddObjectToObject(volume, "spec");
		cJSON_AddItemToArray(cJSON_AddArrayToObject(claim, "accessModes"),
			cJSON_CreateString("ReadWriteOnce"));
		cJSON_AddStringToObject(
			cJSON_AddObjectToObject(
				cJSON_AddObjectToObject(claim, "resources"), "requests"),
			"storage", size);
		if (class != NULL)
			cJSON_AddStringToObject(claim, "storageClassName", class);
	}
	free(size);
	return volume;
}

static int index_of(const cJSON *volumes, const char *name)
{
	const cJSON *item;
	int at = 0;
	cJSON_ArrayForEach(item, volumes)
	{
		const char *its = json_str(item, "metadata", "name", NULL);
		if (its != NULL && strcmp(its, name) == 0)
			return at;
		at++;
	}
	return -1;
}

bool fleet_claim_add_volumes(cJSON *spec, const struct fleet_create_opts *opts, struct err *err)
{
	const char *const *list = opts->volumes;
	fleet_claim_about(opts, FLEET_PART_VOLUMES);
	if (list == NULL || *list == NULL)
		return true;
	cJSON *volumes = cJSON_GetObjectItemCaseSensitive(spec, "volumeClaimTemplates");
	if (!cJSON_IsArray(volumes)) {
		cJSON_DeleteItemFromObjectCaseSensitive(spec, "volumeClaimTemplates");
		volumes = cJSON_AddArrayToObject(spec, "volumeClaimTemplates");
	}
	for (; *list != NULL; list++) {
		cJSON *volume = volume_of(*list, err);
		if (volume == NULL)
			return false;
		int at = index_of(volumes, json_str(volume, "metadata", "name", NULL));
		if (at >= 0)
			cJSON_DeleteItemFromArray(volumes, at);
		cJSON_AddItemToArray(volumes, volume);
	}
	return true;
}
