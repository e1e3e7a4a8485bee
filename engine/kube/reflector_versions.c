// SPDX-License-Identifier: Apache-2.0
#include "engine/kube/reflector_versions.h"

#include "engine/base/err.h"
#include "engine/base/json.h"
#include "engine/base/mem.h"
#include "engine/k8s/resource.h"
#include "engine/kube/client.h"

#include <stdlib.h>

/* The path is not served: say whether the group is missing or has other versions only. */
static void on_group(void *arg, const struct err *err, const cJSON *group)
{
	struct kube_version_question *question = arg;
	const struct k8s_resource *resource = question->resource;
	struct err why = { 0 };
	struct str versions;
	const cJSON *item, *list = err == NULL ? json_get(group, "versions", NULL) : NULL;
	question->call = NULL;
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
	question->done(question->arg, &why);
}

bool kube_version_question_ask(
	struct kube_version_question *question, struct kube_client *client)
{
	const char *group = question->resource->group;
	if (!group[0])
		return false;
	char *path = x_asprintf("/apis/%s", group);
	const struct kube_call_opts opts = {
		.method = "GET",
		.path = path,
		.done = on_group,
		.arg = question,
	};
	question->call = kube_call_start(client, &opts, NULL);
	free(path);
	return question->call != NULL;
}

void kube_version_question_cancel(struct kube_version_question *question)
{
	kube_call_cancel(question->call);
	question->call = NULL;
}
