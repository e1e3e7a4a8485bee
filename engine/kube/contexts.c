// SPDX-License-Identifier: Apache-2.0
#include "engine/kube/contexts.h"

#include "engine/base/err.h"
#include "engine/base/file.h"
#include "engine/base/mem.h"
#include "engine/kube/config_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct kube_contexts {
	struct kube_merged merged;
	struct kube_context *list;
	size_t n;
};

static const char *field(const struct kube_entry *entry, const char *name)
{
	const char *text = entry ? json_str(entry->value, name, NULL) : NULL;
	return text ? text : "";
}

struct kube_contexts *kube_contexts_read(const char *kubeconfig, struct err *err)
{
	struct kube_contexts *all = x_calloc(1, sizeof *all);
	const struct kube_config_opts opts = { .kubeconfig = kubeconfig };
	size_t capacity = 0;
	if (!kube_merged_read(&all->merged, &opts, err)) {
		kube_contexts_free(all);
		return NULL;
	}
	const char *current = all->merged.current_context;
	for (const struct kube_entry *e = all->merged.contexts; e; e = e->next) {
		array_grow(&all->list, &capacity, all->n + 1, sizeof *all->list);
		const char *cluster = field(e, "cluster");
		all->list[all->n++] = (struct kube_context){
			.name = e->name,
			.cluster = cluster,
			.user = field(e, "user"),
			.namespace_ = field(e, "namespace"),
			.server =
				field(kube_entry_find(all->merged.clusters, cluster), "server"),
			.is_current = current && strcmp(current, e->name) == 0,
		};
	}
	return all;
}

void kube_contexts_free(struct kube_contexts *contexts)
{
	if (!contexts)
		return;
	kube_merged_deinit(&contexts->merged);
	free(contexts->list);
	free(contexts);
}

size_t kube_contexts_count(const struct kube_contexts *contexts)
{
	return contexts->n;
}

const struct kube_context *kube_contexts_at(const struct kube_contexts *contexts, size_t index)
{
	return &contexts->list[index];
}

/* ---- which one is current */

/* Its line of the text at the top level, from *begin to *end; false: there is none. */
static bool find_line(const char *text, size_t *begin, size_t *end)
{
	static const char key[] = "current-context:";
	for (const char *line = text; *line;) {
		size_t n = strcspn(line, "\n");
		if (strncmp(line, key, strlen(key)) == 0) {
			*begin = (size_t)(line - text);
			*end = *begin + n + (line[n] == '\n');
			return true;
		}
		line += n + (line[n] == '\n');
	}
	return false;
}

/* As YAML, whatever is in it. */
static void add_quoted(struct str *out, const char *name)
{
	str_add_char(out, '"');
	for (; *name; name++) {
		if (*name == '"' || *name == '\\')
			str_add_char(out, '\\');
		str_add_char(out, *name);
	}
	str_add_char(out, '"');
}

static bool rewrite(const char *path, const char *name, struct err *err)
{
	size_t n, begin = 0, end = 0;
	struct stat stat_of;
	char *text = file_read(path, KUBE_CONFIG_MAX_BYTES, &n, err);
	if (!text)
		return false;
	struct str out;
	str_init(&out, KUBE_CONFIG_MAX_BYTES + 4096);
	bool is_there = find_line(text, &begin, &end);
	begin = is_there ? begin : n;
	str_add_bytes(&out, text, begin);
	if (!is_there && n && text[n - 1] != '\n')
		str_add_char(&out, '\n');
	str_add(&out, "current-context: ");
	add_quoted(&out, name);
	str_add_char(&out, '\n');
	if (is_there)
		str_add(&out, text + end);
	mode_t mode = stat(path, &stat_of) == 0 ? stat_of.st_mode & 0777 : 0600;
	bool ok = text[0] != '{' ||
		  err_set(err, ERR_CONFIG_KUBECONFIG,
			  "%s is JSON: change its current-context with kubectl", path);
	ok = ok && file_write_atomic(path, (struct slice){ out.p, out.n }, mode, err);
	str_deinit(&out);
	free(text);
	return ok;
}

static bool write_locked(const char *path, const char *name, struct err *err)
{
	/* a link is followed: the file that it names is the one that is replaced */
	char *real = realpath(path, NULL);
	char *lock = x_asprintf("%s.lock", real ? real : path);
	int fd = real ? open(lock, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0) : -1;
	bool ok = fd >= 0;
	if (!real)
		err_set_errno(err, errno, "%s", path);
	else if (!ok && errno == EEXIST)
		err_set(err, ERR_OP_BUSY, "%s is there: somebody else changes the kubeconfig",
			lock);
	else if (!ok)
		err_set_errno(err, errno, "%s", lock);
	if (ok) {
		close(fd);
		ok = rewrite(real, name, err);
		unlink(lock);
	}
	free(lock);
	free(real);
	return ok;
}

bool kube_contexts_use(const char *kubeconfig, const char *name, struct err *err)
{
	struct kube_contexts *all = kube_contexts_read(kubeconfig, err);
	if (!all)
		return false;
	/* the list has the last file first */
	const struct kube_file *file = NULL, *says = NULL;
	for (const struct kube_file *f = all->merged.files; f; f = f->next) {
		file = f;
		says = json_str(f->tree, "current-context", NULL) ? f : says;
	}
	bool ok = kube_entry_find(all->merged.contexts, name) != NULL ||
		  err_set(err, ERR_CONFIG_KUBECONFIG, "no context is called '%s'", name);
	ok = ok && (file != NULL || err_set(err, ERR_CONFIG_NONE, "there is no kubeconfig"));
	ok = ok && write_locked(says ? says->path : file->path, name, err);
	kube_contexts_free(all);
	return ok;
}
