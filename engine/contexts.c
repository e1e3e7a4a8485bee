// SPDX-License-Identifier: Apache-2.0
#include "engine/contexts.h"

#include "engine/base/settings.h"
#include "engine/internal.h"
#include "engine/kube/client.h"
#include "engine/kube/config.h"

#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

enum { PATTERN_BYTES = 256, PING_MS = 5000 };

bool engine_context_is_production(const char *name)
{
	const char *patterns = setting_text(SETTING_PRODUCTION_CONTEXTS);
	char pattern[PATTERN_BYTES];
	while (*patterns) {
		size_t n = strcspn(patterns, " ,");
		snprintf(pattern, sizeof pattern, "%.*s", (int)n, patterns);
		if (n && n < sizeof pattern && fnmatch(pattern, name, 0) == 0)
			return true;
		patterns += n + strspn(patterns + n, " ,");
	}
	return false;
}

const char *engine_kubeconfig(const struct engine *engine)
{
	return engine->config && !engine->is_local ? kube_config_named_file(engine->config)
						   : NULL;
}

bool engine_is_production(const struct engine *engine)
{
	return engine->config && engine_context_is_production(engine->title);
}

struct engine_object_call *engine_ping_start(struct engine *engine,
	void (*done)(void *arg, const struct err *err, const struct cJSON *object), void *arg,
	struct err *err)
{
	const struct kube_call_opts opts = {
		.method = "GET", .path = "/version", .timeout_ms = PING_MS
	};
	return engine_object_call_start(engine, &opts, done, arg, err);
}
