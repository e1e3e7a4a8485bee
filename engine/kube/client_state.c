// SPDX-License-Identifier: Apache-2.0
/* What a client has learnt from answers (its clock, its connections, whether streaming lists are of use), and what it allows:
 * how many requests a second, and which of them. */
#include "engine/kube/client_internal.h"

#include "engine/base/clock.h"
#include "engine/base/err.h"
#include "engine/base/log.h"
#include "engine/kube/auth.h"
#include "engine/net/http.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { SKEW_NOISE_MS = 2000 }; /* Date has whole seconds, and the way takes time */

const struct kube_config *kube_client_config(const struct kube_client *client)
{
	return client->config;
}

int64_t kube_client_clock_skew_ms(const struct kube_client *client)
{
	return client->clock_skew_ms;
}

int64_t kube_client_watch_idle_ms(const struct kube_client *client)
{
	return client->watch_idle_ms;
}

bool kube_client_may_stream(const struct kube_client *client)
{
	return clock_mono_ms() >= client->no_streams_until_ms;
}

void kube_client_no_streams(struct kube_client *client, int64_t for_ms)
{
	int64_t now = clock_mono_ms();
	int64_t until = for_ms > INT64_MAX - now ? INT64_MAX : now + for_ms;
	if (until > client->no_streams_until_ms)
		client->no_streams_until_ms = until;
}

struct net_loop *kube_client_loop(const struct kube_client *client)
{
	return client->loop;
}

uint64_t kube_client_lane_number(const struct kube_client *client)
{
	return client->pool_key;
}

void kube_client_reset_connections(struct kube_client *client, uint64_t pool_key)
{
	if (pool_key != client->pool_key)
		return;
	static uint64_t last; /* of the process: lanes of two clients must differ */
	if (client->lane[0])
		net_http_drop_lane(client->http, client->lane);
	client->pool_key = ++last;
	snprintf(client->lane, sizeof client->lane, "kube/%llu",
		(unsigned long long)client->pool_key);
}

const char *kube_client_lane(struct kube_client *client)
{
	uint64_t generation = kube_auth_tls_generation(client->auth);
	if (generation != client->tls_generation) {
		client->tls_generation = generation;
		kube_client_reset_connections(client, client->pool_key);
	}
	return client->lane;
}

int64_t kube_client_rate_limit(struct kube_client *client, enum kube_rate rate)
{
	if (rate == KUBE_RATE_NONE)
		return 0;
	struct kube_bucket *bucket =
		rate == KUBE_RATE_PERSON ? &client->person : &client->background;
	int64_t now = clock_mono_ms();
	bucket->tokens += (double)(now - bucket->last_ms) / 1000.0 * bucket->per_second;
	if (bucket->tokens > bucket->burst)
		bucket->tokens = bucket->burst;
	bucket->last_ms = now;
	bucket->tokens -= 1;
	if (bucket->tokens >= 0)
		return 0;
	return (int64_t)(-bucket->tokens / bucket->per_second * 1000.0) + 1;
}

void kube_client_note_reply(struct kube_client *client, const char *what,
	const struct net_http_reply *reply, int64_t sent_wall_ms)
{
	int64_t date;
	const char *text = net_http_reply_header(reply, "Date");
	if (text != NULL && clock_parse_http_date(text, &date)) {
		/* the date is of some moment between sending and now: the least skew that explains it */
		int64_t server_ms = date * 1000 + 500, skew = 0;
		if (server_ms > clock_wall_ms())
			skew = server_ms - clock_wall_ms();
		else if (server_ms < sent_wall_ms)
			skew = server_ms - sent_wall_ms;
		client->clock_skew_ms =
			skew > -SKEW_NOISE_MS && skew < SKEW_NOISE_MS ? 0 : skew;
		client->has_skew = true;
	}
	if (!log_is_on("kube", LOG_DEBUG))
		return;
	const char *audit = net_http_reply_header(reply, "Audit-Id");
	log_write("kube", LOG_DEBUG, "%s: %d audit-id %s", what, reply->status,
		audit ? audit : "-");
	for (size_t i = 0; i < reply->n_headers; i++) {
		if (strcasecmp(reply->headers[i].name, "Warning") == 0)
			log_write("kube", LOG_DEBUG, "%s: warning: %s", what,
				reply->headers[i].value);
	}
}

bool kube_client_may(
	const struct kube_client *client, const char *method, const char *path, struct err *err)
{
	if (!client->read_only || !kube_is_write(method, path))
		return true;
	return err_set(err, ERR_OP_READ_ONLY, "read-only: %s %s is refused", method, path);
}
