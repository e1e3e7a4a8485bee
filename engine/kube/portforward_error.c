// SPDX-License-Identifier: Apache-2.0
#include "engine/kube/portforward_error.h"

#include "engine/base/err.h"
#include "engine/base/json.h"
#include "engine/base/mem.h"
#include "engine/base/str.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The body of a refusal is a Status: its message is what people need of it. */
static void status_words(struct err *err)
{
	const char *body = strchr(err->msg, '{');
	cJSON *object = body ? json_parse((struct slice){ body, strlen(body) }, NULL) : NULL;
	const char *message = json_str(object, "message", NULL);
	if (message != NULL && message[0]) {
		char *text = x_strdup(message);
		snprintf(err->msg, sizeof err->msg, "%s", text);
		free(text);
	}
	cJSON_Delete(object);
}

void kube_portforward_error(
	struct err *err, const char *pod, bool is_open, const struct err *from)
{
	*err = *from;
	if (from->code == ERR_HTTP_STATUS) {
		int status = from->sys;
		bool is_unscheduled =
			status == 400 && strstr(from->msg, "does not have a host") != NULL;
		if (status == 401 || status == 403)
			err->code = ERR_PORTFWD_DENIED;
		else if (status == 404 || is_unscheduled)
			err->code = ERR_PORTFWD_NO_POD;
		else
			err->code = status >= 500 ? ERR_PORTFWD_LOST : ERR_PORTFWD_PROTOCOL;
	} else if (is_open) {
		err->code = ERR_PORTFWD_LOST;
	}
	status_words(err);
	err_prefix(err, "port-forward to pod %s", pod);
}
