// SPDX-License-Identifier: Apache-2.0
#include "engine/fleet/template_policy.h"

#include "engine/base/err.h"
#include "engine/base/mem.h"
#include "engine/base/yaml.h"
#include "engine/fleet/row.h"
#include "engine/k8s/labels.h"
#include "engine/k8s/name.h"

#include <stdlib.h>
#include <string.h>

enum { FILE_MAX_BYTES = 256 << 10, TEMPLATES_MAX = 256 };

struct fleet_policy {
	cJSON *file; /* owns every text */
	struct fleet_policy_template templates[TEMPLATES_MAX];
	const cJSON *labels[TEMPLATES_MAX]; /* of each; NULL */
	const cJSON *common;                /* of all; NULL */
	size_t n;
	const struct fleet_policy_template *initial;
};

/* ---- reading */

static const char *text_or_empty(const cJSON *object, const char *key)
{
	const char *text = json_str(object, key, NULL);
	return text ? text : "";
}

static bool is_known(const char *key, const char *const *known)
{
	for (; *known != NULL; known++)
		if (strcmp(*known, key) == 0)
			return true;
	return false;
}

static bool check_keys(
	const cJSON *object, const char *const *known, const char *where, struct err *err)
{
	const cJSON *item;
	cJSON_ArrayForEach(item, object)
	{
		if (!is_known(item->string, known))
			return err_set(err, ERR_ARG_INVALID, "%s: '%s' is not known", where,
				item->string);
	}
	return true;
}

static bool check_labels(const cJSON *labels, const char *where, struct err *err)
{
	const cJSON *item;
	if (labels != NULL && !cJSON_IsObject(labels))
		return err_set(err, ERR_ARG_INVALID, "%s: labels: a map is wanted", where);
	cJSON_ArrayForEach(item, labels)
	{
		const char *value = item->valuestring;
		bool ok = cJSON_IsString(item) &&
			  k8s_is_label_key(item->string, strlen(item->string)) &&
			  (value[0] == '\0' || k8s_is_label_value(value, strlen(value)));
		if (!ok)
			return err_set(err, ERR_ARG_INVALID,
				"%s: labels: '%s' is not a label of text", where, item->string);
	}
	return true;
}

static bool read_template(struct fleet_policy *policy, const cJSON *item, struct err *err)
{
	static const char *const known[] = { "name", "network", "containerName", "defaultCwd",
		"rootDir", "labels", NULL };
	struct fleet_policy_template *template_ = &policy->templates[policy->n];
	const char *name = json_str(item, "name", NULL);
	if (name == NULL || !k8s_is_dns_subdomain(name, strlen(name)))
		return err_set(err, ERR_ARG_INVALID, "template %zu has no name", policy->n + 1);
	const char *network = json_str(item, "network", "access", NULL);
	if (!check_keys(item, known, name, err))
		return false;
	if (json_get(item, "network", NULL) != NULL &&
		(network == NULL ||
			(strcmp(network, "none") != 0 && strcmp(network, "full") != 0)))
		return err_set(
			err, ERR_ARG_INVALID, "%s: network.access is none or full", name);
	*template_ = (struct fleet_policy_template){ name, network ? network : "",
		text_or_empty(item, "containerName"), text_or_empty(item, "defaultCwd"),
		text_or_empty(item, "rootDir") };
	if (template_->root[0] && template_->root[0] != '/')
		return err_set(err, ERR_ARG_INVALID, "%s: rootDir is an absolute path", name);
	for (size_t i = 0; i < policy->n; i++)
		if (strcmp(policy->templates[i].name, name) == 0)
			return err_set(err, ERR_ARG_INVALID, "%s is declared twice", name);
	policy->labels[policy->n++] = json_get(item, "labels", NULL);
	return check_labels(json_get(item, "labels", NULL), name, err);
}

static bool choose_default(struct fleet_policy *policy, struct err *err)
{
	const char *name = json_str(policy->file, "defaultTemplate", NULL);
	if (name == NULL && policy->n == 1)
		policy->initial = &policy->templates[0];
	else if (name == NULL)
		return err_set(err, ERR_ARG_INVALID,
			"%zu templates: defaultTemplate must say which one a create takes",
			policy->n);
	else
		policy->initial = fleet_policy_find(policy, name, err);
	return policy->initial != NULL;
}

static bool read_policy(struct fleet_policy *policy, struct err *err)
{
	static const char *const known[] = { "templates", "defaultTemplate", "labels", NULL };
	const cJSON *templates = json_get(policy->file, "templates", NULL), *item;
	if (!cJSON_IsObject(policy->file) || !cJSON_IsArray(templates) ||
		cJSON_GetArraySize(templates) == 0)
		return err_set(err, ERR_ARG_INVALID, "a list of templates is wanted");
	if (cJSON_GetArraySize(templates) > TEMPLATES_MAX)
		return err_set(err, ERR_ARG_INVALID, "over %d templates", TEMPLATES_MAX);
	policy->common = json_get(policy->file, "labels", NULL);
	if (!check_keys(policy->file, known, "policy", err) ||
		!check_labels(policy->common, "policy", err))
		return false;
	cJSON_ArrayForEach(item, templates)
	{
		if (!read_template(policy, item, err))
			return false;
	}
	return choose_default(policy, err);
}

static struct fleet_policy *policy_of(cJSON *file_take, struct err *err)
{
	if (file_take == NULL)
		return NULL;
	struct fleet_policy *policy = x_calloc(1, sizeof *policy);
	policy->file = file_take;
	if (read_policy(policy, err))
		return policy;
	fleet_policy_free(policy);
	return NULL;
}

struct fleet_policy *fleet_policy_parse(struct slice text, struct err *err)
{
	return policy_of(yaml_parse(text, err), err);
}

struct fleet_policy *fleet_policy_read(const char *path, struct err *err)
{
	struct fleet_policy *policy =
		policy_of(yaml_parse_file(path, FILE_MAX_BYTES, err), err);
	if (policy == NULL)
		err_prefix(err, "template policy %s", path);
	return policy;
}

void fleet_policy_free(struct fleet_policy *policy)
{
	if (policy == NULL)
		return;
	cJSON_Delete(policy->file);
	free(policy);
}

/* ---- asking */

const struct fleet_policy_template *fleet_policy_at(
	const struct fleet_policy *policy, size_t index)
{
	return index < policy->n ? &policy->templates[index] : NULL;
}

const struct fleet_policy_template *fleet_policy_find(
	const struct fleet_policy *policy, const char *name, struct err *err)
{
	for (size_t i = 0; i < policy->n; i++)
		if (strcmp(policy->templates[i].name, name) == 0)
			return &policy->templates[i];
	err_set(err, ERR_TEMPLATE_UNDECLARED,
		"template %s is not declared in the template policy", name);
	return NULL;
}

const struct fleet_policy_template *fleet_policy_default(const struct fleet_policy *policy)
{
	return policy->initial;
}

bool fleet_policy_check_network(
	const struct fleet_policy_template *template_, const char *network, struct err *err)
{
	if (network == NULL || strcmp(template_->network, network) == 0)
		return true;
	return err_set(err, ERR_POLICY_MISMATCH,
		"network %s is asked for, and template %s is declared with %s", network,
		template_->name, template_->network[0] ? template_->network : "none said");
}

static void add_labels(cJSON *to, const cJSON *labels)
{
	const cJSON *item;
	cJSON_ArrayForEach(item, labels)
	{
		cJSON_DeleteItemFromObjectCaseSensitive(to, item->string);
		cJSON_AddStringToObject(to, item->string, item->valuestring);
	}
}

cJSON *fleet_policy_labels(
	const struct fleet_policy *policy, const struct fleet_policy_template *template_)
{
	cJSON *labels = cJSON_CreateObject();
	add_labels(labels, policy->common);
	add_labels(labels, policy->labels[template_ - policy->templates]);
	return labels;
}

static bool lacks(const char *what, const cJSON *label, struct err *err)
{
	return err_set(err, ERR_POLICY_MISMATCH,
		"%s has not the label %s=%s of the template policy: it is somebody else's",
		what, label->string, label->valuestring);
}

bool fleet_policy_check_claim(const struct fleet_policy *policy,
	const struct fleet_policy_template *template_, const cJSON *claim, struct err *err)
{
	cJSON *labels = fleet_policy_labels(policy, template_);
	const cJSON *label;
	bool ok = true;
	cJSON_ArrayForEach(label, labels)
	{
		const char *value = json_str(claim, "metadata", "labels", label->string, NULL);
		if (ok && (value == NULL || strcmp(value, label->valuestring) != 0)) {
			const char *name = json_str(claim, "metadata", "name", NULL);
			ok = lacks(name ? name : "the claim", label, err);
		}
	}
	cJSON_Delete(labels);
	return ok;
}

bool fleet_policy_admits(
	const struct fleet_policy *policy, const struct fleet_row *row, struct err *err)
{
	const char *name = row->claim[0] ? row->claim : row->sandbox;
	if (policy == NULL)
		return true;
	if (row->template_[0] == '\0')
		return err_set(err, ERR_POLICY_MISMATCH,
			"%s: its template is not known, so it may not be one of the template policy",
			name);
	const struct fleet_policy_template *template_ =
		fleet_policy_find(policy, row->template_, NULL);
	if (template_ == NULL)
		return err_set(err, ERR_POLICY_MISMATCH,
			"%s is of template %s, which the template policy does not declare",
			name, row->template_);
	cJSON *labels = fleet_policy_labels(policy, template_);
	const cJSON *label;
	bool ok = true;
	cJSON_ArrayForEach(label, labels)
	{
		size_t n = 0;
		const char *value = k8s_labels_find(row->labels, label->string, &n);
		if (ok && (value == NULL || !slice_equals((struct slice){ value, n },
						    label->valuestring)))
			ok = lacks(name, label, err);
	}
	cJSON_Delete(labels);
	return ok;
}
