// SPDX-License-Identifier: Apache-2.0
/* The warm pool controller: as many unclaimed Sandboxes as spec.replicas says. */
#include "local/server/manager/internal.h"

#include "engine/base/digest.h"
#include "engine/base/err.h"
#include "engine/base/json.h"
#include "engine/base/str.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_BURST = 10 }; /* Sandboxes made in one pass */

struct manager_pool {
	struct controller *c;
	struct store_object *o;
	struct store_object *template;
	struct store_object **v; /* its Sandboxes, references; unready and old ones first */
	size_t n, n_ready;
};

static bool is_ready(const struct store_object *sandbox)
{
	return k8s_condition_is_true(sandbox->json, "Ready");
}

/* What goes first when there are too many: the unready, then the youngest. */
static int by_worth(const void *a, const void *b)
{
	const struct store_object *x = *(struct store_object *const *)a,
				  *y = *(struct store_object *const *)b;
	int ready = (int)is_ready(x) - (int)is_ready(y);
	const char *tx = json_str(x->json, "metadata", "creationTimestamp", NULL);
	const char *ty = json_str(y->json, "metadata", "creationTimestamp", NULL);
	return ready ? ready : strcmp(ty ? ty : "", tx ? tx : "");
}

static void collect(struct manager_pool *p)
{
	struct store *s = p->c->server->store;
	size_t capacity = 0;
	for (size_t i = 0; i < store_count(s, KIND_SANDBOX); i++) {
		struct store_object *o = store_at(s, KIND_SANDBOX, i);
		if (strcmp(o->ns, p->o->ns) != 0 || store_objects_is_terminating(o) ||
			!controller_is_owned_by(o->json, p->o->uid))
			continue;
		array_grow(&p->v, &capacity, p->n + 1, sizeof(struct store_object *));
		p->v[p->n++] = store_object_ref(o);
		p->n_ready += is_ready(o);
	}
	if (p->n > 1)
		qsort(p->v, p->n, sizeof(struct store_object *), by_worth);
}

static void template_hash(const struct store_object *t, char out[HASH8_BYTES])
{
	char *text = cJSON_PrintUnformatted(json_get(t->json, "spec", NULL));
	snprintf(out, HASH8_BYTES, "%08x", digest_fnv1a32(text, strlen(text)));
	free(text);
}

static void create_one(struct manager_pool *p)
{
	char hash[HASH8_BYTES];
	struct str prefix;
	struct err err = { 0 };
	cJSON *json = manager_sandbox_from_template(p->template);
	str_init(&prefix, 256);
	str_addf(&prefix, "%s-", p->o->name);
	controller_unstructured_set(
		controller_unstructured_object(json, "metadata"), "generateName", prefix.p);
	str_deinit(&prefix);
	controller_unstructured_set_label(json, LABEL_CREATED_BY, "controller");
	controller_unstructured_set_label(
		json, LABEL_WARM_POOL, controller_hash8(p->o->name, hash));
	template_hash(p->template, hash);
	controller_unstructured_set_label(json, LABEL_TEMPLATE_HASH, hash);
	controller_unstructured_set_label(json, LABEL_POD_TEMPLATE_HASH, hash);
	controller_unstructured_set_owner(json, p->o);
	if (!controller_create(p->c, KIND_SANDBOX, p->o->ns, json, &err))
		controller_events_record(p->c, p->o, EVENT_WARNING, "WarmPoolNotProgressing",
			"Create", "cannot create a Sandbox: %s", err.msg);
}

static void delete_at(struct manager_pool *p, size_t i)
{
	struct store_object *o =
		store_get(p->c->server->store, KIND_SANDBOX, p->v[i]->ns, p->v[i]->name);
	if (o)
		controller_delete(p->c, o, OBJECTS_BACKGROUND);
}

/* updateStrategy Recreate: Sandboxes of an older template go at once. */
static void drop_outdated(struct manager_pool *p)
{
	char hash[HASH8_BYTES];
	const char *strategy = json_str(p->o->json, "spec", "updateStrategy", "type", NULL);
	size_t kept = 0;
	if (!strategy || strcmp(strategy, "Recreate") != 0)
		return;
	template_hash(p->template, hash);
	for (size_t i = 0; i < p->n; i++) {
		const char *is =
			controller_unstructured_label(p->v[i]->json, LABEL_TEMPLATE_HASH);
		if (is && strcmp(is, hash) == 0) {
			p->v[kept++] = p->v[i];
			continue;
		}
		p->n_ready -= is_ready(p->v[i]);
		delete_at(p, i);
		store_object_unref(p->v[i]);
	}
	p->n = kept;
}

static void write_status(struct manager_pool *p, size_t total, size_t ready)
{
	char hash[HASH8_BYTES];
	struct str selector;
	cJSON *json = cJSON_Duplicate(p->o->json, true);
	cJSON *status = controller_unstructured_object(json, "status");
	controller_unstructured_drop(status, "replicas");
	controller_unstructured_drop(status, "readyReplicas");
	if (total > 0)
		controller_unstructured_set_number(status, "replicas", (double)total);
	if (ready > 0)
		controller_unstructured_set_number(status, "readyReplicas", (double)ready);
	controller_unstructured_set_number(status, "observedGeneration",
		(double)json_int(json, 1, "metadata", "generation", NULL));
	str_init(&selector, 256);
	str_addf(&selector, LABEL_WARM_POOL "=%s", controller_hash8(p->o->name, hash));
	controller_unstructured_set(status, "selector", selector.p);
	str_deinit(&selector);
	controller_update(p->c, p->o, json, OBJECTS_STATUS);
}

int64_t manager_reconcile_pool(struct controller *c, struct store_object *o)
{
	struct manager_pool p = { .c = c, .o = o };
	const char *name = json_str(o->json, "spec", "sandboxTemplateRef", "name", NULL);
	size_t wanted = (size_t)json_int(o->json, 0, "spec", "replicas", NULL), made = 0;
	if (store_objects_is_terminating(o))
		return 0;
	p.template = store_get(c->server->store, KIND_TEMPLATE, o->ns, name ? name : "");
	if (p.template)
		store_object_ref(p.template);
	collect(&p);
	if (p.template)
		drop_outdated(&p);
	else
		controller_events_record(c, o, EVENT_WARNING, "WarmPoolNotProgressing",
			"Create", "SandboxTemplate \"%s\" not found", name ? name : "");
	for (; p.template && p.n + made < wanted && made < MAX_BURST; made++)
		create_one(&p);
	for (size_t i = 0; i + wanted < p.n; i++) {
		p.n_ready -= is_ready(p.v[i]);
		delete_at(&p, i);
	}
	size_t total = p.n > wanted ? wanted : p.n + made;
	write_status(&p, total, p.n_ready);
	bool is_short = p.template && p.n + made < wanted;
	store_list_free(p.v, p.n);
	store_object_unref(p.template);
	return is_short ? 100 : 0;
}
