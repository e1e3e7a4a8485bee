// SPDX-License-Identifier: Apache-2.0
#include "engine/kube/status.h"

#include "engine/base/clock.h"
#include "engine/base/err.h"
#include "engine/base/json.h"
#include "engine/base/num.h"
#include "engine/net/http.h"

#include <errno.h>
#include <string.h>

enum { MAX_RETRY_AFTER_MS = 5 * 60 * 1000, MAX_TEXT_SHOWN = 200 };

static bool has_cause(const struct cJSON *object, const char *reason)
{
	const cJSON *cause;
	cJSON_ArrayForEach(cause, json_get(object, "details", "causes", NULL))
	{
		const char *is = json_str(cause, "reason", NULL);
		if (is != NULL && strcmp(is, reason) == 0)
			return true;
	}
	return false;
}

/* Quota, RBAC and a namespace that goes away share 403 Forbidden: quota differs from RBAC by words only. */
static enum err_code forbidden_code(const struct cJSON *object, const char *message)
{
	if (strstr(message, "exceeded quota") != NULL)
		return ERR_KUBE_QUOTA;
	if (has_cause(object, "NamespaceTerminating"))
		return ERR_KUBE_NAMESPACE_TERMINATING;
	return ERR_KUBE_FORBIDDEN;
}

static enum err_code code_of(
	int status, const struct cJSON *object, const char *reason, const char *message)
{
	switch (status) {
	case 400:
	case 405:
	case 406:
	case 415:
		return ERR_KUBE_BAD_REQUEST;
	case 401:
		return ERR_KUBE_UNAUTHORIZED;
	case 403:
		return forbidden_code(object, message);
	case 404:
		/* an unserved group or version answers in plain text */
		return object != NULL ? ERR_KUBE_NOT_FOUND : ERR_KUBE_NOT_SERVED;
	case 409:
		return strcmp(reason, "AlreadyExists") == 0 ? ERR_KUBE_EXISTS
							    : ERR_KUBE_CONFLICT;
	case 410:
		return ERR_KUBE_EXPIRED;
	case 413:
		return ERR_KUBE_TOO_LARGE;
	case 422:
		return ERR_KUBE_INVALID;
	case 429:
		return ERR_KUBE_THROTTLED;
	default:
		return status >= 500 ? ERR_KUBE_SERVER : ERR_KUBE_PROTOCOL;
	}
}

bool kube_status_to_err(
	int http_status, const struct cJSON *object, struct slice text, struct err *err)
{
	const char *kind = json_str(object, "kind", NULL);
	if (kind == NULL || strcmp(kind, "Status") != 0)
		object =
			NULL; /* JSON of somebody else (a proxy, a gateway) says nothing reliable */
	const char *reason = json_str(object, "reason", NULL);
	const char *message = json_str(object, "message", NULL);
	char shown[MAX_TEXT_SHOWN + 1] = "";
	if (message == NULL || !message[0]) {
		size_t n = text.n < MAX_TEXT_SHOWN ? text.n : MAX_TEXT_SHOWN;
		if (n > 0 && object == NULL)
			memcpy(shown, text.p, n);
		while (n > 0 && (shown[n - 1] == '\n' || shown[n - 1] == '\r'))
			shown[--n] = '\0';
		message = shown;
	}
	reason = reason ? reason : "";
	if (strcmp(reason, "Expired") == 0 || strcmp(reason, "Gone") == 0)
		http_status = 410;
	enum err_code code = code_of(http_status, object, reason, message);
	if (message[0])
		err_set(err, code, "%s", message);
	else
		err_set(err, code, "the API server answered %d %s", http_status, reason);
	if (err != NULL)
		err->sys = http_status;
	return false;
}

void kube_transport_err(const struct err *from, const char *server, struct err *to)
{
	err_copy(to, from);
	if (to == NULL)
		return;
	switch (from->code) {
	case ERR_CONN_REFUSED:
		to->sys = ECONNREFUSED;
		__attribute__((fallthrough));
	case ERR_CONN_LOST:
	case ERR_CONN_DNS:
		to->code = ERR_KUBE_TRANSPORT;
		break;
	case ERR_CONN_TLS:
		to->code = ERR_KUBE_TLS;
		break;
	case ERR_RUNTIME_PROTOCOL:
		to->code = ERR_KUBE_PROTOCOL;
		break;
	default:
		return;
	}
	if (strstr(to->msg, server) == NULL)
		err_prefix(to, "%s", server);
}

int64_t kube_retry_after_ms(const struct net_http_reply *reply, const struct cJSON *object)
{
	const char *text = reply ? net_http_reply_header(reply, "Retry-After") : NULL;
	int64_t seconds = -1, date;
	if (text != NULL && !num_parse_i64(text, 0, MAX_RETRY_AFTER_MS / 1000, &seconds)) {
		if (clock_parse_http_date(text, &date)) {
			seconds = date - clock_wall_ms() / 1000;
			seconds = seconds < 0 ? 0 : seconds;
		} else if (text[0] >= '0' && text[0] <= '9') {
			seconds = MAX_RETRY_AFTER_MS / 1000;
		}
	}
	if (seconds < 0)
		seconds = json_int(object, -1, "details", "retryAfterSeconds", NULL);
	if (seconds < 0)
		return -1;
	if (seconds > MAX_RETRY_AFTER_MS / 1000)
		seconds = MAX_RETRY_AFTER_MS / 1000;
	return seconds * 1000;
}
