// SPDX-License-Identifier: Apache-2.0
/* Services (core/v1 Service): under which name a sandbox is reached in the cluster. */
#include "engine/base/json.h"
#include "engine/base/str.h"
#include "engine/k8s/resource.h"
#include "engine/kinds/object.h"

#include <inttypes.h>

enum kinds_service_column {
	UID,
	NAMESPACE,
	NAME,
	TYPE,
	IP,
	PORTS,
	OWNER,
	CREATED,
	AGE,
	COLUMN_COUNT
};

enum { N_TEXTS = 4, PORTS_MAX = 50 };

struct kinds_service {
	struct kinds_object object; /* first */
	union {
		struct {
			const char *type, *ip, *ports, *owner;
		};
		const char *texts[N_TEXTS];
	};
};

static void project(void *row, const cJSON *object, int64_t skew_ms)
{
	struct kinds_service *service = row;
	const cJSON *port;
	struct str text;
	int left = PORTS_MAX;
	(void)skew_ms;
	str_init(&text, KINDS_TEXT_BYTES);
	cJSON_ArrayForEach(port, kinds_at(object, "spec.ports"))
	{
		const char *protocol = kinds_text_at(port, "protocol");
		if (left-- > 0)
			str_addf(&text, "%s%" PRId64 "/%s", text.n ? "," : "",
				kinds_int_at(port, "port", 0), protocol ? protocol : "TCP");
	}
	kinds_text_set(&service->ports, text.p);
	str_clear(&text);
	kinds_owner_format(object, &text);
	kinds_text_set(&service->owner, text.p);
	str_deinit(&text);
	kinds_text_set(&service->type, kinds_text_at(object, "spec.type"));
	kinds_text_set(&service->ip, kinds_text_at(object, "spec.clusterIP"));
}

static void drop(void *row)
{
	kinds_texts_drop(((struct kinds_service *)row)->texts, N_TEXTS);
}

KINDS_TEXT_COLUMN(kinds_service, type)
KINDS_TEXT_COLUMN(kinds_service, ip)
KINDS_TEXT_COLUMN(kinds_service, ports)
KINDS_TEXT_COLUMN(kinds_service, owner)

static const struct resource_column columns[COLUMN_COUNT] = {
	[UID] = KINDS_COLUMN_UID,
	[NAMESPACE] = KINDS_COLUMN_NAMESPACE,
	[NAME] = KINDS_COLUMN_NAME,
	[TYPE] = KINDS_COLUMN_TEXT("TYPE", "type", "type", 12, 4, type),
	[IP] = KINDS_COLUMN_TEXT("IP", "ip", "clusterIP", 15, 5, ip),
	[PORTS] = KINDS_COLUMN_TEXT("PORTS", "ports", "ports", 20, 3, ports),
	[OWNER] = KINDS_COLUMN_TEXT("OWNER", "owner", "owner", 28, 4, owner),
	[CREATED] = KINDS_COLUMN_CREATED,
	[AGE] = KINDS_COLUMN_AGE,
};

static const struct resource_relation relations[] = {
	{ RESOURCE_BY_OWNER, "Sandbox", NULL, false },
	{ RESOURCE_BY_SELECTOR, "Pod", "spec.selector", false },
	{ 0 },
};

const struct resource_kind kinds_service = {
	.name = "services",
	.singular = "service",
	.aliases = (const char *const[]){ "svc", NULL },
	.resource = &k8s_services,
	.row_bytes = sizeof(struct kinds_service),
	.project = project,
	.drop = drop,
	.list_kind = "ServiceList",
	.columns = columns,
	.n_columns = COLUMN_COUNT,
	.labels = kinds_labels,
	.name_column = NAME,
	.namespace_column = NAMESPACE,
	.screen = (const int[]){ NAMESPACE, NAME, TYPE, IP, PORTS, OWNER, AGE, RESOURCE_NONE },
	.table = (const int[]){ NAMESPACE, NAME, TYPE, IP, PORTS, OWNER, AGE, RESOURCE_NONE },
	.wide = (const int[]){ NAMESPACE, NAME, TYPE, IP, PORTS, OWNER, AGE, RESOURCE_NONE },
	.brief = (const int[]){ TYPE, IP, PORTS, RESOURCE_NONE },
	.relations = relations,
};
