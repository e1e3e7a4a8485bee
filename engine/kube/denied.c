// SPDX-License-Identifier: Apache-2.0
#include "engine/kube/denied.h"

#include "engine/base/err.h"
#include "engine/base/mem.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_PARTS = 10, MAX_WORDS_BYTES = 192 };

/* What a path is about; all point into parts. */
struct subject {
	char *text;
	const char *group, *namespace_, *resource, *name, *subresource; /* "" = none */
};

/* /api/VERSION or /apis/GROUP/VERSION, then [namespaces/NAMESPACE/]RESOURCE[/NAME[/SUBRESOURCE]] */
static bool read_path(const char *path, struct subject *out)
{
	const char *parts[MAX_PARTS] = { 0 };
	size_t n = 0, at = 0;
	char *save = NULL;
	*out = (struct subject){ x_strdup(path), "", "", "", "", "" };
	out->text[strcspn(out->text, "?")] = '\0';
	for (char *part = strtok_r(out->text, "/", &save); part != NULL && n < MAX_PARTS;
		part = strtok_r(NULL, "/", &save))
		parts[n++] = part;
	if (n > 3 && strcmp(parts[0], "apis") == 0) {
		out->group = parts[1];
		at = 3;
	} else if (n > 2 && strcmp(parts[0], "api") == 0) {
		at = 2;
	} else {
		return false;
	}
	if (n > at + 2 && strcmp(parts[at], "namespaces") == 0) {
		out->namespace_ = parts[at + 1];
		at += 2;
	}
	out->resource = parts[at];
	out->name = n > at + 1 ? parts[at + 1] : "";
	out->subresource = n > at + 2 ? parts[at + 2] : "";
	return true;
}

static const char *verb_of(const char *method, const char *query, bool is_one)
{
	if (strcmp(method, "POST") == 0)
		return "create";
	if (strcmp(method, "PUT") == 0)
		return "update";
	if (strcmp(method, "PATCH") == 0)
		return "patch";
	if (strcmp(method, "DELETE") == 0)
		return is_one ? "delete" : "deletecollection";
	if (is_one)
		return "get";
	const char *watch = query ? strstr(query, "watch=") : NULL;
	bool is_watch = watch != NULL && (watch == query || watch[-1] == '&') &&
			(watch[6] == '1' || watch[6] == 't');
	return is_watch ? "watch" : "list";
}

static bool take(struct err *err, const char *verb, const struct subject *subject)
{
	char words[MAX_WORDS_BYTES];
	snprintf(words, sizeof words, "cannot %s resource \"%s%s%s\"", verb, subject->resource,
		subject->subresource[0] ? "/" : "", subject->subresource);
	if (strstr(err->msg, words) == NULL)
		return false;
	err_set_denied(err, verb, subject->group, subject->resource, subject->subresource,
		subject->namespace_);
	return true;
}

void kube_denied_of_request(
	struct err *err, const char *method, const char *path, const char *query)
{
	struct subject subject;
	if (read_path(path, &subject))
		take(err, verb_of(method, query, subject.name[0] != '\0'), &subject);
	free(subject.text);
}

void kube_denied_of_verbs(struct err *err, const char *const *verbs, const char *path)
{
	struct subject subject;
	if (read_path(path, &subject))
		while (*verbs != NULL && !take(err, *verbs, &subject))
			verbs++;
	free(subject.text);
}
