// SPDX-License-Identifier: Apache-2.0
/* The first objects. */
#include "local/server/defaults.h"

#include "engine/base/err.h"
#include "engine/base/json.h"
#include "engine/base/mem.h"
#include "engine/base/str.h"
#include "local/server/server.h"
#include "local/server/store/objects.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The first printf argument is CPUs, the second MiB of memory. */
static const char template_format[] =
	"{\"metadata\":{\"name\":\"local\"},\"spec\":{"
	"\"envVarsInjectionPolicy\":\"Overrides\","
	"\"volumeClaimTemplatesPolicy\":\"Disallowed\","
	"\"networkPolicyManagement\":\"Unmanaged\","
	"\"podTemplate\":{\"spec\":{\"automountServiceAccountToken\":false,"
	"\"restartPolicy\":\"Always\",\"terminationGracePeriodSeconds\":5,"
	"\"containers\":[{\"name\":\"sandbox\",\"image\":\"sandmux.local/sandboxd\","
	"\"resources\":{\"limits\":{\"cpu\":\"%ld\",\"memory\":\"%ldMi\","
	"\"ephemeral-storage\":\"10Gi\"}},"
	"\"env\":[{\"name\":\"SANDBOX_KIND\",\"value\":\"local\"}],"
	"\"ports\":[{\"name\":\"rest\",\"containerPort\":8080},"
	"{\"name\":\"grpc\",\"containerPort\":9090}],"
	"\"volumeMounts\":[{\"name\":\"workspace\",\"mountPath\":\"/workspace\"}]}]}},"
	"\"volumeClaimTemplates\":[{\"metadata\":{\"name\":\"workspace\"},"
	"\"spec\":{\"accessModes\":[\"ReadWriteOnce\"],"
	"\"resources\":{\"requests\":{\"storage\":\"10Gi\"}}}}]}}";

enum { MOST_CPUS = 2, MOST_MEMORY_MIB = 2048, LEAST_MEMORY_MIB = 256 };

/* Some of this machine for each sandbox, most of it for nobody. */
static char *template_text(void)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	int64_t memory =
		(int64_t)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE) / (1 << 20) / 4;
	if (memory > MOST_MEMORY_MIB)
		memory = MOST_MEMORY_MIB;
	return x_asprintf(template_format, cpus >= 1 && cpus < MOST_CPUS ? cpus : MOST_CPUS,
		memory < LEAST_MEMORY_MIB ? (long)LEAST_MEMORY_MIB : (long)memory);
}

static bool create(
	struct server *s, enum store_kind kind, const char *ns, cJSON *body, struct err *err)
{
	cJSON *status =
		store_objects_create(s->store, store_resource_of(kind), ns, body, NULL, NULL);
	if (!status)
		return true;
	err_set(err, ERR_INTERNAL, "cannot create the first objects: %s",
		json_str(status, "message", NULL));
	cJSON_Delete(status);
	return false;
}

static bool create_text(struct server *s, enum store_kind kind, const char *ns,
	const char *text, struct err *err)
{
	cJSON *body = json_parse(slice_of(text), err);
	return body && create(s, kind, ns, body, err);
}

bool server_defaults_create(struct server *s, struct err *err)
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
	char *template = template_text();
	bool ok = create_text(s, KIND_TEMPLATE, "default", template, err);
	free(template);
	return ok && create_text(s, KIND_POOL, "default", pool, err) &&
	       store_meta_set(s->store, "defaults", "1", err);
}
