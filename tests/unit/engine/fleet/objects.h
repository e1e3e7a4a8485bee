// SPDX-License-Identifier: Apache-2.0
/* A store fed by hand: objects as JSON with single quotes. */
#pragma once

#include "engine/base/clock.h"
#include "engine/base/err.h"
#include "engine/base/json.h"
#include "engine/base/mem.h"
#include "engine/fleet/store.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static inline cJSON *object_of(const char *text)
{
	char *copy = x_strdup(text);
	for (char *p = copy; *p; p++) {
		if (*p == '\'')
			*p = '"';
	}
	struct err err = { 0 };
	cJSON *object = json_parse(slice_of(copy), &err);
	if (object == NULL)
		fail_msg("%s in %s", err.msg, copy);
	free(copy);
	return object;
}

static inline void apply(struct fleet_store *store, enum fleet_store_kind kind,
	enum kube_change change, const char *text)
{
	cJSON *object = object_of(text);
	fleet_store_apply(store, kind, change, object);
	cJSON_Delete(object);
}

#define CLAIM_UID "11111111-0000-4000-8000-000000000001"
#define SANDBOX_UID "22222222-0000-4000-8000-000000000001"
#define POD_UID "33333333-0000-4000-8000-000000000001"

/* extra: more members of metadata, each with a leading comma */
static inline char *claim_json(const char *extra, const char *spec, const char *status)
{
	return x_asprintf("{'metadata':{'name':'c','namespace':'n','uid':'" CLAIM_UID
			  "','generation':1,'creationTimestamp':'2026-01-01T00:00:00Z'%s},"
			  "'spec':{'warmPoolRef':{'name':'p'}%s},'status':{%s}}",
		extra, spec, status);
}

static inline char *sandbox_json(const char *extra, const char *spec, const char *status)
{
	return x_asprintf("{'metadata':{'name':'s','namespace':'n','uid':'" SANDBOX_UID
			  "','generation':3,'creationTimestamp':'2026-01-01T00:00:01Z'%s},"
			  "'spec':{%s},'status':{%s}}",
		extra, spec, status);
}

#define OF_CLAIM ",'labels':{'agents.x-k8s.io/claim-uid':'" CLAIM_UID "'}"
#define OF_POOL                                                                                \
	",'ownerReferences':[{'kind':'SandboxWarmPool','name':'p','uid':'x','controller':true}]"
#define COND(type, status, reason)                                                             \
	"{'type':'" type "','status':'" status "','reason':'" reason                           \
	"','message':'m','lastTransitionTime':'2026-01-02T00:00:00Z','observedGeneration':3}"
#define COND_OLD(type, status, reason)                                                         \
	"{'type':'" type "','status':'" status "','reason':'" reason                           \
	"','message':'m','lastTransitionTime':'2026-01-02T00:00:00Z','observedGeneration':2}"
#define CONDS(list) "'conditions':[" list "]"
