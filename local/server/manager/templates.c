// SPDX-License-Identifier: Apache-2.0
/* Templates: what of one does not hold here is said as an event, as long as none says it already. */
#include "local/server/manager/internal.h"

#include "engine/base/json.h"

#include <string.h>

static const char reason[] = "NetworkPolicyNotEnforced";

static bool is_said(struct store *s, const struct store_object *template)
{
	for (size_t i = 0; i < store_count(s, KIND_EVENT); i++) {
		const cJSON *event = store_at(s, KIND_EVENT, i)->json;
		const char *about = json_str(event, "involvedObject", "uid", NULL);
		const char *what = json_str(event, "reason", NULL);
		if (about && what && strcmp(about, template->uid) == 0 &&
			strcmp(what, reason) == 0)
			return true;
	}
	return false;
}

int64_t manager_reconcile_template(struct controller *c, struct store_object *o)
{
	if (json_get(o->json, "spec", "networkPolicy", NULL) && !is_said(c->server->store, o))
		controller_events_record(c, o, EVENT_WARNING, reason, "Read",
			"the network policy is kept, not enforced: %s",
			server_network_words(c->server));
	return 0;
}
