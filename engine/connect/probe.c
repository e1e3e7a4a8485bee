// SPDX-License-Identifier: Apache-2.0
#include "engine/connect/probe.h"

#include "engine/base/err.h"
#include "engine/base/json.h"
#include "engine/base/mem.h"
#include "engine/k8s/resource.h"
#include "engine/kube/client.h"

#include <stdlib.h>
#include <string.h>

struct connect_probe {
	enum connect_mode mode;
	struct kube_call *call;
	void (*done)(void *arg, const struct err *err, const char *reason);
	void *arg;
};

static const char *reason_of(const struct err *err)
{
	switch (err->code) {
	case ERR_KUBE_UNAUTHORIZED:
	case ERR_KUBE_FORBIDDEN:
	case ERR_CONFIG_EXEC_PLUGIN:
		return "auth";
	case ERR_KUBE_NOT_FOUND:
	case ERR_KUBE_NOT_SERVED:
	case ERR_TEMPLATE_NOT_FOUND:
		return "not-served";
	case ERR_KUBE_TRANSPORT:
	case ERR_KUBE_TLS:
	case ERR_OP_TIMEOUT:
		return "transport";
	default:
		return "backend";
	}
}

static void on_probed(void *arg, const struct err *err, const struct cJSON *object)
{
	struct connect_probe *probe = arg;
	struct err own = { 0 };
	const char *class =
		json_str(object, "spec", "podTemplate", "spec", "runtimeClassName", NULL);
	if (err != NULL) {
		own = *err;
		if (own.code == ERR_KUBE_NOT_FOUND)
			own.code = ERR_TEMPLATE_NOT_FOUND;
	} else if (class != NULL && connect_is_other_kernel(class) &&
		   probe->mode == CONNECT_PORT_FORWARD) {
		err_set(&own, ERR_PORTFWD_RUNTIME,
			"the template runs under %s, where a port-forward cannot reach the daemon",
			class);
	}
	void (*done)(void *, const struct err *, const char *) = probe->done;
	void *done_arg = probe->arg;
	free(probe);
	if (own.code == ERR_NONE)
		done(done_arg, NULL, "healthy");
	else
		done(done_arg, &own, reason_of(&own));
}

struct connect_probe *connect_probe_start(struct kube_client *kube, enum connect_mode mode,
	const char *namespace_, const char *template_name,
	void (*done)(void *arg, const struct err *err, const char *reason), void *arg,
	struct err *err)
{
	struct connect_probe *probe = x_calloc(1, sizeof *probe);
	char *path = kube_path(&k8s_sandboxtemplates, namespace_, template_name, NULL);
	const struct kube_call_opts opts = {
		.method = "GET",
		.path = path,
		.query = template_name ? NULL : "limit=1",
		.done = on_probed,
		.arg = probe,
	};
	probe->mode = mode;
	probe->done = done;
	probe->arg = arg;
	probe->call = kube_call_start(kube, &opts, err);
	free(path);
	if (probe->call != NULL)
		return probe;
	free(probe);
	return NULL;
}

void connect_probe_cancel(struct connect_probe *probe)
{
	if (probe == NULL)
		return;
	kube_call_cancel(probe->call);
	free(probe);
}
