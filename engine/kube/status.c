// SPDX-License-Identifier: Apache-2.0
#include "engine/kube/status.h"

#include "engine/base/clock.h"
#include "engine/base/err.h"
#include "engine/base/num.h"
#include "engine/k8s/status.h"
#include "engine/net/http.h"

#include <errno.h>
#include <string.h>

enum { MAX_RETRY_AFTER_MS = 5 * 60 * 1000 };

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
		seconds = k8s_status_retry_after_s(object);
	if (seconds < 0)
		return -1;
	if (seconds > MAX_RETRY_AFTER_MS / 1000)
		seconds = MAX_RETRY_AFTER_MS / 1000;
	return seconds * 1000;
}
