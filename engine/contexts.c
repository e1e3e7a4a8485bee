// SPDX-License-Identifier: Apache-2.0
#include "engine/contexts.h"

#include "engine/base/settings.h"
#include "engine/internal.h"

#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

enum { PATTERN_BYTES = 256 };

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

bool engine_is_production(const struct engine *engine)
{
	return engine->config && engine_context_is_production(engine->title);
}
