// SPDX-License-Identifier: Apache-2.0
/* The subresources of pods that are upgraded: which pod and container is meant, and whether it runs. */
#include "local/server/api/api.h"

#include "engine/base/json.h"
#include "engine/k8s/status.h"
#include "local/server/api/exec.h"
#include "local/server/api/portforward.h"
#include "local/server/server.h"

#include <string.h>

static cJSON *check_container(const struct api_request *req, const struct store_object *pod)
{
	const char *wanted = api_request_query(req, "container");
	const cJSON *c;
	cJSON_ArrayForEach(c, json_get(pod->json, "spec", "containers", NULL))
	{
		const char *name = json_str(c, "name", NULL);
		if (!wanted || !*wanted || (name && strcmp(name, wanted) == 0))
			return NULL;
	}
	return k8s_status_bad_request(
		"container %.63s is not valid for pod %s", wanted ? wanted : "", pod->name);
}

static cJSON *check(const struct api_request *req, const struct api_target *t,
	const struct store_object *pod)
{
	struct server *s = req->server;
	const cJSON *first = json_get(pod->json, "spec", "containers", NULL);
	const char *container = json_str(first ? first->child : NULL, "name", NULL);
	bool is_forward = strcmp(t->sub, "portforward") == 0;
	cJSON *status = is_forward ? NULL : check_container(req, pod);
	if (status)
		return status;
	if (strcmp(t->sub, "attach") == 0)
		return k8s_status_new(K8S_METHOD_NOT_ALLOWED,
			"pod %s has nothing to attach to: its daemon reads no input, and what it"
			" writes is the pod's log (kubectl logs -f %s)",
			pod->name, pod->name);
	if (s->pods && s->pods->is_running(s, pod->uid))
		return NULL;
	return is_forward ? k8s_status_new(K8S_INTERNAL_ERROR,
				    "pod %s is not running: its daemon is not there", pod->name)
			  : k8s_status_new(K8S_INTERNAL_ERROR, "container not found (\"%s\")",
				    container ? container : "");
}

bool api_pod_connect(struct api_request *req, const struct api_target *t)
{
	bool is_exec = strcmp(t->sub, "exec") == 0;
	if (!is_exec && strcmp(t->sub, "portforward") != 0 && strcmp(t->sub, "attach") != 0)
		return false;
	if (req->method != EVHTTP_REQ_GET && req->method != EVHTTP_REQ_POST) {
		api_request_fail_take(
			req, k8s_status_new(K8S_METHOD_NOT_ALLOWED,
				     "the server does not allow this method on the requested"
				     " resource"));
		return true;
	}
	struct store_object *pod = store_get(req->server->store, KIND_POD, t->ns, t->name);
	cJSON *status = pod ? check(req, t, pod) : k8s_status_not_found(t->r->api, t->name);
	if (status)
		api_request_fail_take(req, status);
	else if (is_exec)
		api_exec(req, pod);
	else
		api_portforward(req, pod);
	return true;
}
