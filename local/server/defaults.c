// SPDX-License-Identifier: Apache-2.0
/* The first objects. */
#include "local/server/defaults.h"

#include "engine/base/err.h"
#include "engine/base/json.h"
#include "engine/base/str.h"
#include "local/server/server.h"
#include "local/server/store/objects.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char template_text[] =
	"{\"metadata\":{\"name\":\"local\"},\"spec\":{"
	"\"envVarsInjectionPolicy\":\"Overrides\","
	"\"volumeClaimTemplatesPolicy\":\"Disallowed\","
	"\"networkPolicyManagement\":\"Unmanaged\","
	"\"podTemplate\":{\"spec\":{\"automountServiceAccountToken\":false,"
	"\"restartPolicy\":\"Always\",\"terminationGracePeriodSeconds\":5,"
	"\"containers\":[{\"name\":\"sandbox\",\"image\":\"sandmux.local/sandboxd\","
	"\"env\":[{\"name\":\"SANDBOX_KIND\",\"value\":\"local\"}],"
	"\"ports\":[{\"name\":\"rest\",\"containerPort\":8080},"
	"{\"name\":\"grpc\",\"containerPort\":9090}],"
	"\"volumeMounts\":[{\"name\":\"workspace\",\"mountPath\":\"/workspace\"}]}]}},"
	"\"volumeClaimTemplates\":[{\"metadata\":{\"name\":\"workspace\"},"
	"\"spec\":{\"accessModes\":[\"ReadWriteOnce\"],"
	"\"resources\":{\"requests\":{\"storage\":\"1Gi\"}}}}]}}";

static bool create(
	struct server *s, enum kind kind, const char *ns, cJSON *body, struct err *err)
{
	cJSON *status = objects_create(s->store, resource_of(kind), ns, body, NULL, NULL);
	if (!status)
		return true;
	err_set(err, ERR_INTERNAL, "cannot create the first objects: %s",
		json_str(status, "message", NULL));
	cJSON_Delete(status);
	return false;
}

static bool create_text(
	struct server *s, enum kind kind, const char *ns, const char *text, struct err *err)
{
	cJSON *body = json_parse(slice_of(text), err);
	return body && create(s, kind, ns, body, err);
}

bool defaults_create(struct server *s, struct err *err)
{
	char pool[200];
	char *done;
	if (!store_get(s->store, KIND_NAMESPACE, "", "default") &&
		!create_text(s, KIND_NAMESPACE, "",
			"{\"metadata\":{\"name\":\"default\"},\"status\":{\"phase\":\"Active\"}}",
			err))
		return false;
	done = store_meta_get(s->store, "defaults");
	if (done) {
		free(done);
		return true;
	}
	snprintf(pool, sizeof pool,
		"{\"metadata\":{\"name\":\"local\"},\"spec\":{\"replicas\":%d,"
		"\"sandboxTemplateRef\":{\"name\":\"local\"}}}",
		s->opts.warm_replicas);
	return create_text(s, KIND_TEMPLATE, "default", template_text, err) &&
	       create_text(s, KIND_POOL, "default", pool, err) &&
	       store_meta_set(s->store, "defaults", "1", err);
}
