// SPDX-License-Identifier: Apache-2.0
/* users[]: who we are, in every form but the removed auth-provider. */
#include "engine/kube/config_internal.h"

#include "engine/base/digest.h"
#include "engine/base/err.h"
#include "engine/base/mem.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static void pairs_free(struct kube_pair *pairs, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		free(pairs[i].key);
		x_free_secret(pairs[i].value);
	}
	free(pairs);
}

static void exec_spec_free(struct kube_exec_spec *spec)
{
	if (spec == NULL)
		return;
	free(spec->api_version);
	free(spec->command);
	for (size_t i = 0; spec->args && spec->args[i]; i++)
		free(spec->args[i]);
	free(spec->args);
	pairs_free(spec->env, spec->n_env);
	free(spec->install_hint);
	free(spec->cluster_info);
	free(spec);
}

void kube_credentials_deinit(struct kube_credentials *c)
{
	x_free_secret(c->token);
	free(c->token_file);
	free(c->username);
	x_free_secret(c->password);
	free(c->cert_pem);
	x_free_secret(c->key_pem);
	free(c->as);
	free(c->as_uid);
	for (size_t i = 0; i < c->n_as_groups; i++)
		free(c->as_groups[i]);
	free(c->as_groups);
	pairs_free(c->as_extra, c->n_as_extra);
	exec_spec_free(c->exec);
	memset(c, 0, sizeof *c);
}

bool kube_is_header_value(const char *text)
{
	for (const unsigned char *p = (const unsigned char *)text; *p; p++) {
		if (*p < 0x20 || *p == 0x7f)
			return false;
	}
	return true;
}

static bool is_token(const char *text)
{
	for (const unsigned char *p = (const unsigned char *)text; *p; p++) {
		if (*p <= 0x20 || *p >= 0x7f)
			return false;
	}
	return text[0] != '\0';
}

static bool take_str(const struct kube_entry *user, const cJSON *object, const char *field,
	char **out, struct err *err)
{
	const char *text;
	if (!kube_entry_str(user, object, field, &text, err))
		return false;
	if (text != NULL && !kube_is_header_value(text))
		return kube_entry_fail(user, field, err, "contains control characters");
	*out = x_strdup(text);
	return true;
}

static bool add_pair(const struct kube_entry *user, struct kube_pair **pairs, size_t *n,
	const char *key, const char *value, const char *field, struct err *err)
{
	if (key == NULL || value == NULL)
		return kube_entry_fail(user, field, err, "needs text for name and value");
	if (*n == 1000)
		return kube_entry_fail(user, field, err, "has too many entries");
	*pairs = x_realloc(*pairs, *n + 1, sizeof **pairs);
	(*pairs)[(*n)++] = (struct kube_pair){ x_strdup(key), x_strdup(value) };
	return true;
}

static bool read_impersonation(
	struct kube_credentials *out, const struct kube_entry *user, struct err *err)
{
	if (!take_str(user, user->value, "as", &out->as, err) ||
		!take_str(user, user->value, "as-uid", &out->as_uid, err))
		return false;
	const cJSON *item, *value;
	cJSON_ArrayForEach(item, json_get(user->value, "as-groups", NULL))
	{
		const char *group = cJSON_GetStringValue(item);
		if (group == NULL || !kube_is_header_value(group) || out->n_as_groups == 1000)
			return kube_entry_fail(
				user, "as-groups", err, "must be a list of text");
		out->as_groups =
			x_realloc(out->as_groups, out->n_as_groups + 1, sizeof *out->as_groups);
		out->as_groups[out->n_as_groups++] = x_strdup(group);
	}
	cJSON_ArrayForEach(item, json_get(user->value, "as-user-extra", NULL))
	{
		if (!cJSON_IsArray(item) || item->string == NULL || !item->string[0])
			return kube_entry_fail(
				user, "as-user-extra", err, "must map names to lists of text");
		cJSON_ArrayForEach(value, item)
		{
			const char *text = cJSON_GetStringValue(value);
			if (text != NULL && !kube_is_header_value(text))
				text = NULL;
			if (!add_pair(user, &out->as_extra, &out->n_as_extra, item->string,
				    text, "as-user-extra", err))
				return false;
		}
	}
	if (out->as == NULL && (out->as_uid || out->n_as_groups || out->n_as_extra))
		return kube_entry_fail(user, "as", err,
			"is missing: groups, uid and extra need a user to impersonate");
	return true;
}

/* spec.cluster of ExecCredential (client.authentication.k8s.io/v1 Cluster). */
static char *cluster_info(const struct kube_entry *cluster)
{
	static const char *const copied[] = { "server", "tls-server-name",
		"insecure-skip-tls-verify", "certificate-authority-data", "proxy-url",
		"disable-compression" };
	cJSON *info = cJSON_CreateObject();
	for (size_t i = 0; i < sizeof copied / sizeof *copied; i++) {
		const cJSON *value = json_get(cluster->value, copied[i], NULL);
		if (value != NULL)
			cJSON_AddItemToObject(info, copied[i], cJSON_Duplicate(value, true));
	}
	char *pem = NULL;
	if (json_get(info, "certificate-authority-data", NULL) == NULL &&
		kube_entry_pem(cluster, "certificate-authority", &pem, NULL) && pem != NULL) {
		char *base64 = digest_base64_encode(pem, strlen(pem));
		cJSON_AddStringToObject(info, "certificate-authority-data", base64);
		free(base64);
	}
	free(pem);
	const cJSON *item;
	cJSON_ArrayForEach(item, json_get(cluster->value, "extensions", NULL))
	{
		const char *name = json_str(item, "name", NULL);
		const cJSON *value = json_get(item, "extension", NULL);
		if (name && value && strcmp(name, "client.authentication.k8s.io/exec") == 0)
			cJSON_AddItemToObject(info, "config", cJSON_Duplicate(value, true));
	}
	char *text = cJSON_PrintUnformatted(info);
	cJSON_Delete(info);
	return text;
}

static bool read_interactive(struct kube_exec_spec *spec, const struct kube_entry *user,
	const cJSON *exec, struct err *err)
{
	const char *mode;
	if (!kube_entry_str(user, exec, "interactiveMode", &mode, err))
		return false;
	spec->interactive = KUBE_INTERACTIVE_IF_AVAILABLE;
	if (mode == NULL) {
		if (strcmp(spec->api_version, "client.authentication.k8s.io/v1beta1") == 0)
			return true;
		return kube_entry_fail(user, "exec.interactiveMode", err,
			"is required with %s: Never, IfAvailable or Always", spec->api_version);
	}
	if (strcmp(mode, "Never") == 0)
		spec->interactive = KUBE_INTERACTIVE_NEVER;
	else if (strcmp(mode, "Always") == 0)
		spec->interactive = KUBE_INTERACTIVE_ALWAYS;
	else if (strcmp(mode, "IfAvailable") != 0)
		return kube_entry_fail(user, "exec.interactiveMode", err,
			"must be Never, IfAvailable or Always");
	return true;
}

static bool read_exec_lists(struct kube_exec_spec *spec, const struct kube_entry *user,
	const cJSON *exec, struct err *err)
{
	const cJSON *item, *list = json_get(exec, "args", NULL);
	int n = cJSON_IsArray(list) ? cJSON_GetArraySize(list) : 0;
	if (n > 1000)
		return kube_entry_fail(user, "exec.args", err, "has too many entries");
	spec->args = x_calloc((size_t)n + 1, sizeof *spec->args);
	size_t i = 0;
	cJSON_ArrayForEach(item, list)
	{
		if (!cJSON_IsString(item))
			return kube_entry_fail(user, "exec.args", err,
				"must be a list of text (numbers must stand in quotes)");
		spec->args[i++] = x_strdup(item->valuestring);
	}
	cJSON_ArrayForEach(item, json_get(exec, "env", NULL))
	{
		const char *name = json_str(item, "name", NULL);
		if (name != NULL && (!name[0] || strchr(name, '=') != NULL))
			name = NULL;
		if (!add_pair(user, &spec->env, &spec->n_env, name,
			    json_str(item, "value", NULL), "exec.env", err))
			return false;
	}
	return true;
}

static bool read_exec(struct kube_credentials *out, const struct kube_entry *user,
	const struct kube_entry *cluster, struct err *err)
{
	const cJSON *exec = json_get(user->value, "exec", NULL);
	if (exec == NULL || cJSON_IsNull(exec))
		return true;
	if (!cJSON_IsObject(exec))
		return kube_entry_fail(user, "exec", err, "must be a mapping");
	struct kube_exec_spec *spec = out->exec = x_calloc(1, sizeof *spec);
	const char *version, *command, *hint;
	if (!kube_entry_str(user, exec, "apiVersion", &version, err) ||
		!kube_entry_str(user, exec, "command", &command, err) ||
		!kube_entry_str(user, exec, "installHint", &hint, err))
		return false;
	if (version == NULL ||
		(strcmp(version, "client.authentication.k8s.io/v1") != 0 &&
			strcmp(version, "client.authentication.k8s.io/v1beta1") != 0))
		return kube_entry_fail(user, "exec.apiVersion", err,
			"must be client.authentication.k8s.io/v1 or …/v1beta1");
	if (command == NULL)
		return kube_entry_fail(user, "exec.command", err, "is missing");
	spec->api_version = x_strdup(version);
	/* a command with a '/' is relative to the file; one without is looked up in PATH */
	spec->command =
		strchr(command, '/') ? kube_entry_path(user, command) : x_strdup(command);
	spec->install_hint = x_strdup(hint);
	if (json_bool(exec, false, "provideClusterInfo", NULL))
		spec->cluster_info = cluster_info(cluster);
	return read_interactive(spec, user, exec, err) &&
	       read_exec_lists(spec, user, exec, err);
}

bool kube_user_read(struct kube_credentials *out, const struct kube_entry *user,
	const struct kube_entry *cluster, struct err *err)
{
	const char *token_file;
	if (json_get(user->value, "auth-provider", NULL) != NULL)
		return kube_entry_fail(user, "auth-provider", err,
			"was removed from Kubernetes clients in 1.26: use an exec plugin");
	if (!take_str(user, user->value, "token", &out->token, err) ||
		!kube_entry_str(user, user->value, "tokenFile", &token_file, err) ||
		!take_str(user, user->value, "username", &out->username, err) ||
		!take_str(user, user->value, "password", &out->password, err) ||
		!kube_entry_pem(user, "client-certificate", &out->cert_pem, err) ||
		!kube_entry_pem(user, "client-key", &out->key_pem, err))
		return false;
	if (out->token != NULL && !is_token(out->token))
		return kube_entry_fail(
			user, "token", err, "must be printable ASCII without spaces");
	if (token_file != NULL)
		out->token_file = kube_entry_path(user, token_file);
	if (out->username != NULL && strchr(out->username, ':') != NULL)
		return kube_entry_fail(user, "username", err, "must not contain ':'");
	if ((out->cert_pem == NULL) != (out->key_pem == NULL))
		return kube_entry_fail(user,
			out->cert_pem ? "client-key" : "client-certificate", err,
			"is missing: certificate and key belong together");
	return read_impersonation(out, user, err) && read_exec(out, user, cluster, err);
}
