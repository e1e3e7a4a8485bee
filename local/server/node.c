// SPDX-License-Identifier: Apache-2.0
#include "local/server/node.h"

#include "engine/base/err.h"
#include "engine/base/file.h"
#include "engine/base/json.h"
#include "engine/base/mem.h"
#include "engine/k8s/time.h"
#include "local/server/server.h"
#include "local/server/store/objects.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#ifndef SANDMUX_VERSION
#define SANDMUX_VERSION "0"
#endif

enum { MAX_RELEASE_BYTES = 16 << 10 };

/* What fits on one machine: addresses of its part of 127.64.0.0/10 (kubelet/launch.c). */
#define MAX_PODS "64516"

/* PRETTY_NAME of os-release(5); free(). */
static char *system_name(void)
{
	static const char key[] = "PRETTY_NAME=";
	size_t n;
	char *text = file_read("/etc/os-release", MAX_RELEASE_BYTES, &n, NULL), *save = NULL;
	char *name = NULL;
	for (char *line = text ? strtok_r(text, "\n", &save) : NULL; line && !name;
		line = strtok_r(NULL, "\n", &save)) {
		if (strncmp(line, key, sizeof key - 1) != 0)
			continue;
		line += sizeof key - 1;
		line += *line == '"';
		name = x_strndup(line, strcspn(line, "\""));
	}
	free(text);
	return name ? name : x_strdup("Linux");
}

static void add_resources(cJSON *status, const char *key)
{
	char text[32];
	cJSON *o = cJSON_AddObjectToObject(status, key);
	int64_t pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
	snprintf(text, sizeof text, "%ld", sysconf(_SC_NPROCESSORS_ONLN));
	cJSON_AddStringToObject(o, "cpu", text);
	snprintf(text, sizeof text, "%" PRId64 "Ki", pages * (size / 1024));
	cJSON_AddStringToObject(o, "memory", text);
	cJSON_AddStringToObject(o, "pods", MAX_PODS);
}

static void add_info(cJSON *status)
{
	struct utsname u;
	char *name = system_name();
	cJSON *info = cJSON_AddObjectToObject(status, "nodeInfo");
	if (uname(&u) != 0)
		u = (struct utsname){ 0 };
	bool is_x86 = strcmp(u.machine, "x86_64") == 0,
	     is_arm = strcmp(u.machine, "aarch64") == 0;
	cJSON_AddStringToObject(info, "machineID", "");
	cJSON_AddStringToObject(info, "systemUUID", "");
	cJSON_AddStringToObject(info, "bootID", "");
	cJSON_AddStringToObject(info, "kernelVersion", u.release);
	cJSON_AddStringToObject(info, "osImage", name);
	cJSON_AddStringToObject(info, "containerRuntimeVersion", "sandmux://" SANDMUX_VERSION);
	cJSON_AddStringToObject(
		info, "kubeletVersion", "v1.36.0+sandmux-local." SANDMUX_VERSION);
	cJSON_AddStringToObject(info, "kubeProxyVersion", "");
	cJSON_AddStringToObject(info, "operatingSystem", "linux");
	cJSON_AddStringToObject(info, "architecture",
		is_x86   ? "amd64"
		: is_arm ? "arm64"
			 : u.machine);
	free(name);
}

static cJSON *status_new(void)
{
	char now[CLOCK_RFC3339_BYTES];
	cJSON *status = cJSON_CreateObject(), *item = cJSON_CreateObject();
	add_resources(status, "capacity");
	add_resources(status, "allocatable");
	cJSON_AddStringToObject(item, "type", "Ready");
	cJSON_AddStringToObject(item, "status", "True");
	cJSON_AddStringToObject(item, "reason", "KubeletReady");
	cJSON_AddStringToObject(item, "message", "the local backend runs");
	cJSON_AddStringToObject(item, "lastHeartbeatTime", k8s_time_now(K8S_TIME, now));
	cJSON_AddStringToObject(item, "lastTransitionTime", now);
	cJSON_AddItemToArray(cJSON_AddArrayToObject(status, "conditions"), item);
	item = cJSON_CreateObject();
	cJSON_AddStringToObject(item, "type", "InternalIP");
	cJSON_AddStringToObject(item, "address", "127.0.0.1");
	cJSON_AddItemToArray(cJSON_AddArrayToObject(status, "addresses"), item);
	add_info(status);
	return status;
}

static bool is_done(cJSON *status, struct err *err)
{
	if (status)
		err_set(err, ERR_INTERNAL, "cannot write the node: %s",
			json_str(status, "message", NULL));
	cJSON_Delete(status);
	return !status;
}

bool server_node_update(struct server *s, struct err *err)
{
	const struct store_resource *r = store_resource_of(KIND_NODE);
	struct store_object *node = store_get(s->store, KIND_NODE, "", STORE_NODE_NAME);
	if (!node) {
		cJSON *body = json_parse(
			slice_of("{\"metadata\":{\"name\":\"" STORE_NODE_NAME
				 "\",\"labels\":{\"kubernetes.io/hostname\":\"" STORE_NODE_NAME
				 "\",\"kubernetes.io/os\":\"linux\"}},\"spec\":{}}"),
			err);
		if (!body ||
			!is_done(store_objects_create(s->store, r, "", body, NULL, NULL), err))
			return false;
		node = store_get(s->store, KIND_NODE, "", STORE_NODE_NAME);
	}
	cJSON *body = cJSON_Duplicate(node->json, true);
	cJSON_DeleteItemFromObjectCaseSensitive(body, "status");
	cJSON_AddItemToObject(body, "status", status_new());
	return is_done(
		store_objects_update(s->store, r, node, body, OBJECTS_STATUS, NULL, NULL), err);
}
