// SPDX-License-Identifier: Apache-2.0
/* What to say when a collection is not served: the group's discovery document knows whether it is missing or has other
 * versions only. */
#include "engine/kube/reflector_internal.h"

#include "engine/base/mem.h"
#include "engine/k8s/resource.h"

#include <stdlib.h>

/* The path is not served: say whether the group is missing or has other versions only. */
static void on_group(void *arg, const struct err *err, const cJSON *group)
{
	struct kube_reflector *reflector = arg;
	const struct k8s_resource *resource = reflector->opts.resource;
	struct err why = { 0 };
	struct str versions;
	const cJSON *item, *list = err == NULL ? json_get(group, "versions", NULL) : NULL;
	reflector->discovery = NULL;
	str_init(&versions, 200);
	cJSON_ArrayForEach(item, list)
	{
		const char *version = json_str(item, "version", NULL);
		if (version != NULL)
			str_addf(&versions, "%s%s", versions.n ? ", " : "", version);
	}
	if (versions.n > 0)
		err_set(&why, ERR_KUBE_NOT_SERVED,
			"the API server has %s of %s, but this needs %s with %s", versions.p,
			resource->group, resource->version, resource->plural);
	else
		err_set(&why, ERR_KUBE_NOT_SERVED, "the API server does not serve %s.%s",
			resource->plural, resource->group);
	why.sys = 404;
	str_deinit(&versions);
	kube_reflector_not_served(reflector, &why);
}

bool kube_reflector_ask_versions(struct kube_reflector *reflector)
{
	const char *group = reflector->opts.resource->group;
	if (!group[0])
		return false;
	char *path = x_asprintf("/apis/%s", group);
	const struct kube_call_opts opts = {
		.method = "GET",
		.path = path,
		.done = on_group,
		.arg = reflector,
	};
	reflector->discovery = kube_call_start(reflector->client, &opts, NULL);
	free(path);
	return reflector->discovery != NULL;
}
