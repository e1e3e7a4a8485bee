// SPDX-License-Identifier: Apache-2.0
/* kubeconfig files: reading one, merging several. The first file that defines a name wins, with its whole
 * entry; so does the first that sets current-context (client-go clientcmd, ClientConfigLoadingRules). */
#include "engine/kube/config_internal.h"

#include "engine/base/digest.h"
#include "engine/base/err.h"
#include "engine/base/file.h"
#include "engine/base/mem.h"
#include "engine/base/yaml.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

enum { MAX_PEM_BYTES = 1 << 20, MAX_ENTRIES = 10000 };

const struct kube_entry *kube_entry_find(const struct kube_entry *list, const char *name)
{
	for (; list != NULL; list = list->next) {
		if (strcmp(list->name, name) == 0)
			return list;
	}
	return NULL;
}

bool kube_entry_fail(const struct kube_entry *entry, const char *field, struct err *err,
	const char *format, ...)
{
	va_list args;
	va_start(args, format);
	err_vset(err, ERR_CONFIG_KUBECONFIG, format, args);
	va_end(args);
	if (field != NULL)
		err_prefix(err, "%s", field);
	return err_prefix(err, "%s: '%s'", entry->file->path, entry->name);
}

static bool file_fail(const struct kube_file *file, struct err *err, const char *what)
{
	return err_set(err, ERR_CONFIG_KUBECONFIG, "%s: %s", file->path, what);
}

/* One of the lists: [{name: …, <field>: {…}}]. Within one file a name may stand once. */
static bool add_entries(struct kube_entry **list, const struct kube_file *file,
	const char *list_name, const char *field, struct err *err)
{
	const cJSON *array = json_get(file->tree, list_name, NULL);
	if (array == NULL || cJSON_IsNull(array))
		return true;
	if (!cJSON_IsArray(array))
		return err_set(err, ERR_CONFIG_KUBECONFIG, "%s: %s must be a list", file->path,
			list_name);
	struct kube_entry **end = list;
	while (*end != NULL)
		end = &(*end)->next;
	int count = 0;
	const cJSON *item;
	cJSON_ArrayForEach(item, array)
	{
		const char *name = json_str(item, "name", NULL);
		if (name == NULL)
			return err_set(err, ERR_CONFIG_KUBECONFIG,
				"%s: an entry of %s has no name (a name that looks like a "
				"number or true/false must stand in quotes)",
				file->path, list_name);
		if (++count > MAX_ENTRIES)
			return file_fail(file, err, "too many entries");
		const struct kube_entry *known = kube_entry_find(*list, name);
		if (known != NULL && known->file == file)
			return err_set(err, ERR_CONFIG_KUBECONFIG, "%s: %s defines '%s' twice",
				file->path, list_name, name);
		if (known != NULL)
			continue;
		struct kube_entry *entry = x_calloc(1, sizeof *entry);
		entry->name = x_strdup(name);
		entry->value = json_get(item, field, NULL);
		entry->file = file;
		*end = entry;
		end = &entry->next;
	}
	return true;
}

static bool read_file(struct kube_file *file, struct err *err)
{
	size_t n;
	char *text = file_read(file->path, KUBE_CONFIG_MAX_BYTES, &n, err);
	if (text == NULL) {
		if (err != NULL)
			err->code = ERR_CONFIG_KUBECONFIG;
		return false;
	}
	struct err why = { 0 };
	file->tree = yaml_parse_large((struct slice){ text, n }, KUBE_CONFIG_MAX_BYTES, &why);
	x_free_secret(text);
	if (file->tree == NULL && why.code != ERR_NONE) {
		err_copy(err, &why);
		if (err != NULL)
			err->code = ERR_CONFIG_KUBECONFIG;
		return err_prefix(err, "%s", file->path);
	}
	if (file->tree == NULL || cJSON_IsNull(file->tree)) /* an empty file is an empty one */
		return true;
	if (!cJSON_IsObject(file->tree))
		return file_fail(file, err, "is not a kubeconfig (no mapping at the top)");
	const char *kind = json_str(file->tree, "kind", NULL);
	if (kind != NULL && kind[0] && strcmp(kind, "Config") != 0)
		return err_set(err, ERR_CONFIG_KUBECONFIG, "%s: kind is '%s', not Config",
			file->path, kind);
	return true;
}

bool kube_merged_add(
	struct kube_merged *merged, const char *path, bool must_exist, struct err *err)
{
	for (const struct kube_file *known = merged->files; known; known = known->next) {
		if (strcmp(known->path, path) == 0)
			return true;
	}
	if (!must_exist && access(path, F_OK) != 0 && (errno == ENOENT || errno == ENOTDIR)) {
		if (merged->missing == NULL)
			merged->missing = x_strdup(path);
		return true;
	}
	struct kube_file *file = x_calloc(1, sizeof *file);
	file->next = merged->files;
	merged->files = file;
	file->path = x_strdup(path);
	const char *slash = strrchr(path, '/');
	file->dir = slash == NULL   ? x_strdup(".")
		    : slash == path ? x_strdup("/")
				    : x_strndup(path, (size_t)(slash - path));
	if (!read_file(file, err))
		return false;
	if (!add_entries(&merged->clusters, file, "clusters", "cluster", err) ||
		!add_entries(&merged->users, file, "users", "user", err) ||
		!add_entries(&merged->contexts, file, "contexts", "context", err))
		return false;
	const char *current = json_str(file->tree, "current-context", NULL);
	if (merged->current_context == NULL && current != NULL && current[0])
		merged->current_context = x_strdup(current);
	return true;
}

static void entries_free(struct kube_entry *list)
{
	while (list != NULL) {
		struct kube_entry *next = list->next;
		free(list->name);
		free(list);
		list = next;
	}
}

/* Wipes the strings of a tree that holds credentials. */
static void wipe_tree(cJSON *tree)
{
	for (; tree != NULL; tree = tree->next) {
		if (cJSON_IsString(tree) && tree->valuestring != NULL)
			explicit_bzero(tree->valuestring, strlen(tree->valuestring));
		wipe_tree(tree->child);
	}
}

void kube_merged_deinit(struct kube_merged *merged)
{
	entries_free(merged->clusters);
	entries_free(merged->users);
	entries_free(merged->contexts);
	while (merged->files != NULL) {
		struct kube_file *file = merged->files;
		merged->files = file->next;
		wipe_tree(file->tree);
		cJSON_Delete(file->tree);
		free(file->path);
		free(file->dir);
		free(file);
	}
	free(merged->current_context);
	free(merged->missing);
	memset(merged, 0, sizeof *merged);
}

bool kube_entry_str(const struct kube_entry *entry, const cJSON *object, const char *field,
	const char **out, struct err *err)
{
	*out = NULL;
	const cJSON *value = json_get(object, field, NULL);
	if (value == NULL || cJSON_IsNull(value))
		return true;
	if (!cJSON_IsString(value))
		return kube_entry_fail(entry, field, err,
			"must be text (a number or true/false must stand in quotes)");
	if (value->valuestring[0])
		*out = value->valuestring;
	return true;
}

bool kube_entry_bool(
	const struct kube_entry *entry, const char *field, bool *out, struct err *err)
{
	/* YAML 1.1, which kubectl reads, has more words for it than YAML 1.2 */
	static const char *const words[] = { "y", "yes", "on", "true", "n", "no", "off",
		"false" };
	const cJSON *value = json_get(entry->value, field, NULL);
	if (value == NULL || cJSON_IsNull(value))
		return true;
	if (cJSON_IsBool(value)) {
		*out = cJSON_IsTrue(value);
		return true;
	}
	const char *text = cJSON_GetStringValue(value);
	for (size_t i = 0; text != NULL && i < sizeof words / sizeof *words; i++) {
		if (strcasecmp(text, words[i]) == 0) {
			*out = i < 4;
			return true;
		}
	}
	return kube_entry_fail(entry, field, err, "must be true or false");
}

char *kube_entry_path(const struct kube_entry *entry, const char *path)
{
	if (path[0] == '/')
		return x_strdup(path);
	return x_asprintf("%s/%s", entry->file->dir, path);
}

bool kube_entry_pem(
	const struct kube_entry *entry, const char *field, char **out, struct err *err)
{
	*out = NULL;
	char *data_field = x_asprintf("%s-data", field);
	const char *data, *path;
	bool ok = kube_entry_str(entry, entry->value, data_field, &data, err) &&
		  kube_entry_str(entry, entry->value, field, &path, err);
	if (!ok)
		goto out;
	if (data != NULL) {
		size_t n = 0;
		/* a !!binary has been decoded already */
		bool is_pem = strncmp(data, "-----BEGIN ", 11) == 0;
		char *bytes =
			is_pem ? x_strdup(data) : digest_base64_decode(slice_of(data), &n);
		n = is_pem ? strlen(data) : n;
		if (bytes == NULL) {
			ok = kube_entry_fail(entry, data_field, err, "is not base64");
			goto out;
		}
		*out = x_strndup(bytes, n);
		explicit_bzero(bytes, n);
		free(bytes);
	} else if (path != NULL) {
		char *full = kube_entry_path(entry, path);
		size_t n;
		struct err why = { 0 };
		*out = file_read(full, MAX_PEM_BYTES, &n, &why);
		if (*out == NULL)
			ok = kube_entry_fail(entry, field, err, "%s", why.msg);
		free(full);
	}
out:
	free(data_field);
	return ok;
}
