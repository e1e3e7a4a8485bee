// SPDX-License-Identifier: Apache-2.0
/* Warm pools and templates: few, and looked up by name. */
#include "engine/base/json.h"
#include "engine/base/map.h"
#include "engine/fleet/store.h"

#include <string.h>

static struct fleet_store_pool *find_pool(
	const struct fleet_store *store, const struct fleet_uid *uid)
{
	for (size_t i = 0; i < store->n_pools; i++) {
		if (fleet_uid_equals(&store->pool_list[i]->uid, uid))
			return store->pool_list[i];
	}
	return NULL;
}

void fleet_store_remove_pool(struct fleet_store *store, struct fleet_store_pool *pool)
{
	fleet_index_remove(&store->pools, fleet_name_hash(pool->namespace_, pool->name), pool);
	for (size_t i = 0; i < store->n_pools; i++) {
		if (store->pool_list[i] != pool)
			continue;
		store->n_pools--;
		memmove(store->pool_list + i, store->pool_list + i + 1,
			(store->n_pools - i) * sizeof *store->pool_list);
		break;
	}
	fleet_rows_of_pool(store, pool->namespace_, pool->name);
	fleet_pool_drop(store, pool);
	free(pool);
	store->revision++;
	store->on_change(store->arg);
}

void fleet_store_apply_pool(
	struct fleet_store *store, struct fleet_uid *uid, bool is_gone, const cJSON *object)
{
	struct fleet_store_pool *pool = find_pool(store, uid);
	bool is_new = pool == NULL;
	if (is_gone) {
		if (pool != NULL)
			fleet_store_remove_pool(store, pool);
		return;
	}
	if (is_new) {
		if (store->n_pools >= STORE_MAX_OBJECTS)
			return;
		pool = x_calloc(1, sizeof *pool);
		pool->uid = *uid;
		memset(uid, 0, sizeof *uid);
		array_grow(&store->pool_list, &store->pool_capacity, store->n_pools + 1,
			sizeof *store->pool_list);
		store->pool_list[store->n_pools++] = pool;
	}
	pool->epoch = store->epoch[STORE_POOLS];
	if (!is_new && fleet_store_is_old(
			       store, STORE_POOLS, pool->revision, fleet_revision_of(object)))
		return;
	const char *template_before = is_new ? NULL : fleet_string_pool_ref(pool->template_);
	bool was_empty = pool->ready == 0;
	if (!is_new)
		fleet_index_remove(
			&store->pools, fleet_name_hash(pool->namespace_, pool->name), pool);
	fleet_pool_read(store, pool, object);
	fleet_index_add(&store->pools, fleet_name_hash(pool->namespace_, pool->name), pool);
	/* counts change with every claim; rows look at the template and at "is it empty" only */
	if (is_new || template_before != pool->template_ || was_empty != (pool->ready == 0))
		fleet_rows_of_pool(store, pool->namespace_, pool->name);
	fleet_string_pool_unref(&store->texts, template_before);
	store->revision++;
	store->on_change(store->arg);
}

static struct fleet_template *find_template(
	const struct fleet_store *store, const struct fleet_uid *uid)
{
	for (size_t i = 0; i < store->templates.capacity; i++) {
		struct fleet_template *item = fleet_index_at(&store->templates, i);
		if (item != NULL && fleet_uid_equals(&item->uid, uid))
			return item;
	}
	return NULL;
}

void fleet_store_remove_template(struct fleet_store *store, struct fleet_template *template_)
{
	fleet_index_remove(&store->templates,
		fleet_name_hash(template_->namespace_, template_->name), template_);
	fleet_rows_of_template(store, template_->namespace_, template_->name);
	fleet_template_drop(store, template_);
	free(template_);
	store->revision++;
	store->on_change(store->arg);
}

void fleet_store_apply_template(
	struct fleet_store *store, struct fleet_uid *uid, bool is_gone, const cJSON *object)
{
	struct fleet_template *template_ = find_template(store, uid);
	bool is_new = template_ == NULL;
	if (is_gone) {
		if (template_ != NULL)
			fleet_store_remove_template(store, template_);
		return;
	}
	if (is_new) {
		if (fleet_store_is_full(store, &store->templates))
			return;
		template_ = x_calloc(1, sizeof *template_);
		template_->uid = *uid;
		memset(uid, 0, sizeof *uid);
	}
	template_->epoch = store->epoch[STORE_TEMPLATES];
	if (!is_new && fleet_store_is_old(store, STORE_TEMPLATES, template_->revision,
			       fleet_revision_of(object)))
		return;
	if (!is_new)
		fleet_index_remove(&store->templates,
			fleet_name_hash(template_->namespace_, template_->name), template_);
	fleet_template_read(store, template_, object);
	fleet_index_add(&store->templates,
		fleet_name_hash(template_->namespace_, template_->name), template_);
	fleet_rows_of_template(store, template_->namespace_, template_->name);
	store->revision++;
	store->on_change(store->arg);
}
