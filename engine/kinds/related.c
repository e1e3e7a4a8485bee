// SPDX-License-Identifier: Apache-2.0
#include "engine/kinds/related.h"

#include "engine/base/digest.h"
#include "engine/base/json.h"
#include "engine/kinds/object.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct asking {
	const cJSON *object;
	const char *name, *namespace_;
	void (*fn)(void *arg, const struct kinds_question *question);
	void *arg;
	int left;
};

static const char *or_empty(const char *text)
{
	return text ? text : "";
}

static void ask(struct asking *a, const struct kinds_question *question)
{
	bool is_one = question->name != NULL;
	if ((!is_one || *question->name) && a->left-- > 0)
		a->fn(a->arg, question);
}

static void ask_reference(struct asking *a, struct kinds_question q)
{
	const cJSON *at = kinds_at(a->object, q.relation->path);
	const char *kind = kinds_text_at(at, "kind"), *uid = kinds_text_at(at, "uid");
	q.kind = q.relation->kind ? q.relation->kind : or_empty(kind);
	q.name = or_empty(kinds_text_at(at, "name"));
	q.namespace_ = or_empty(kinds_text_at(at, "namespace"));
	q.uid = uid && *uid ? uid : NULL;
	if (*q.kind)
		ask(a, &q);
}

static void ask_volumes(struct asking *a, struct kinds_question q)
{
	char name[RELATED_NAME_BYTES];
	const cJSON *item;
	cJSON_ArrayForEach(item, kinds_at(a->object, q.relation->path))
	{
		const char *volume = kinds_text_at(item, "metadata.name");
		int n = snprintf(name, sizeof name, "%s-%s", or_empty(volume), a->name);
		q.name = name;
		if (volume && n > 0 && (size_t)n < sizeof name)
			ask(a, &q);
	}
}

static void ask_label(struct asking *a, struct kinds_question q)
{
	char label[RELATED_NAME_BYTES];
	snprintf(label, sizeof label, "%s=%08" PRIx32, q.relation->path,
		digest_fnv1a32(a->name, strlen(a->name)));
	q.label = label;
	q.must_be_owned = true;
	ask(a, &q);
}

static void ask_name(struct asking *a, struct kinds_question q)
{
	char name[RELATED_NAME_BYTES];
	int n = snprintf(name, sizeof name, "%s%s", a->name, q.relation->path);
	q.name = name;
	q.is_optional = q.must_be_owned = true;
	if (n > 0 && (size_t)n < sizeof name)
		ask(a, &q);
}

void kinds_related_each(const struct resource_kind *kind, const cJSON *object,
	void (*fn)(void *arg, const struct kinds_question *question), void *arg)
{
	struct asking a = { object, or_empty(kinds_text_at(object, "metadata.name")),
		or_empty(kinds_text_at(object, "metadata.namespace")), fn, arg, RELATED_MAX };
	for (const struct resource_relation *r = kind->relations; r && (r->kind || r->path);
		r++) {
		struct kinds_question q = {
			.relation = r, .kind = r->kind, .namespace_ = a.namespace_
		};
		switch (r->by) {
		case RESOURCE_BY_FIELD:
			q.name = or_empty(kinds_text_at(object, r->path));
			ask(&a, &q);
			break;
		case RESOURCE_BY_REFERENCE:
			ask_reference(&a, q);
			break;
		case RESOURCE_BY_NAME:
			ask_name(&a, q);
			break;
		case RESOURCE_BY_LABEL:
			ask_label(&a, q);
			break;
		case RESOURCE_BY_MENTION:
			q.mentioned = a.name;
			ask(&a, &q);
			break;
		case RESOURCE_BY_VOLUMES:
			ask_volumes(&a, q);
			break;
		case RESOURCE_BY_OWNER:    /* kinds_related_owner() */
		case RESOURCE_BY_SELECTOR: /* may fit anything */
			break;
		}
	}
}

bool kinds_related_owner(const cJSON *object, struct kinds_question *owner)
{
	const cJSON *item, *found = NULL;
	cJSON_ArrayForEach(item, kinds_at(object, "metadata.ownerReferences"))
	{
		bool is_whole = kinds_text_at(item, "kind") && kinds_text_at(item, "name");
		if (is_whole && (!found || kinds_is_true_at(item, "controller")))
			found = item;
	}
	if (!found)
		return false;
	*owner = (struct kinds_question){ .kind = kinds_text_at(found, "kind"),
		.namespace_ = or_empty(kinds_text_at(object, "metadata.namespace")),
		.name = kinds_text_at(found, "name"),
		.uid = kinds_text_at(found, "uid") };
	return true;
}

bool kinds_related_is_owned(const cJSON *object, const char *owner_uid)
{
	const cJSON *item;
	cJSON_ArrayForEach(item, kinds_at(object, "metadata.ownerReferences"))
	{
		const char *uid = kinds_text_at(item, "uid");
		if (uid && strcmp(uid, owner_uid) == 0)
			return true;
	}
	return false;
}
