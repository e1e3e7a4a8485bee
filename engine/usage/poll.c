// SPDX-License-Identifier: Apache-2.0
// One request at a time: the list, or the pods on a screen one after the other.
#include "engine/usage/poll.h"

#include "engine/base/clock.h"
#include "engine/base/err.h"
#include "engine/base/json.h"
#include "engine/base/mem.h"
#include "engine/base/settings.h"
#include "engine/k8s/resource.h"
#include "engine/kube/backoff.h"
#include "engine/kube/client.h"
#include "engine/kube/request.h"
#include "engine/kube/work_queue.h"
#include "engine/net/loop.h"
#include "engine/usage/sample.h"

#include <stdlib.h>
#include <string.h>

enum {
	HEADERS_TIMEOUT_MS = 10 * 1000,
	STALL_TIMEOUT_MS = 10 * 1000,
	LIST_TIMEOUT_MS = 2 * 60 * 1000,
	POD_TIMEOUT_MS = 5 * 1000,
	REFUSED_MIN_MS = 150 * 1000, /* as the reflector does where it may not list */
	REFUSED_MAX_MS = 210 * 1000,
	FAILED_FIRST_MS = 30 * 1000,
	FAILED_CAP_MS = 240 * 1000,
	LOOK_MIN_MS = 30 * 1000, /* nobody looks who has not for so long, and three intervals */
	PATIENCE_S = 90,         /* beyond what lies between two answers */
	POD_BYTES = 256 << 10,
	LIST_BYTES = 512 << 20,
};

struct usage_poll {
	struct kube_client *client;
	char *namespace_; /* "" = all */
	void (*on_change)(void *arg);
	void *arg;
	struct usage_table *table;
	struct kube_request *request;
	struct net_loop_timer *again;
	struct kube_work_queue queue;
	struct json_split *split;
	bool is_dead; /* for the queue: never set, a request is cancelled instead */
	bool is_list; /* what `request` is */
	bool only_shown, is_asked, is_known;
	char *shown[USAGE_SHOWN_MAX]; /* "namespace\0pod" */
	size_t n_shown, at_shown;
	uint64_t n_lists;
	size_t bytes; /* of the answer that comes in */
	int64_t looked_ms, answered_ms, list_due_ms, failed_ms; /* monotonic; 0: never */
	int64_t due_ms;
	int64_t step_ms; /* between two samples of a pod that is not on the screen */
	struct err err;
};

static uint32_t server_now_s(const struct usage_poll *poll)
{
	return (uint32_t)((clock_wall_ms() + kube_client_clock_skew_ms(poll->client)) / 1000);
}

static void set_now(struct usage_poll *poll)
{
	usage_table_set_now(
		poll->table, server_now_s(poll), (uint32_t)(poll->step_ms / 1000) + PATIENCE_S);
}

static void wait_for(struct usage_poll *poll, int64_t delay_ms)
{
	poll->due_ms = clock_mono_ms() + delay_ms;
	net_loop_timer_arm(poll->again, delay_ms);
}

/* ---- what comes */

static bool take(struct usage_poll *poll, const cJSON *object)
{
	struct usage_sample sample;
	const char *namespace_ = json_str(object, "metadata", "namespace", NULL);
	const char *name = json_str(object, "metadata", "name", NULL);
	if (!namespace_ || !name || !usage_sample_read(object, server_now_s(poll), &sample))
		return false;
	return usage_table_add(poll->table, namespace_, name, &sample);
}

static bool on_item(void *arg, struct slice value, struct err *err)
{
	cJSON *object = json_parse(value, err);
	if (!object)
		return false;
	take(arg, object);
	cJSON_Delete(object);
	return true;
}

static bool on_rest(void *arg, struct slice value, struct err *err)
{
	(void)arg;
	cJSON *rest = json_parse(value, err);
	if (!rest)
		return false;
	bool is_list = cJSON_IsArray(json_get(rest, "items", NULL));
	cJSON_Delete(rest);
	return is_list || err_set(err, ERR_KUBE_PROTOCOL, "the answer is not a list");
}

static bool feed(void *arg, struct slice bytes, struct err *err)
{
	struct usage_poll *poll = arg;
	return json_split_feed(poll->split, bytes.p, bytes.n, err);
}

static bool on_body(void *arg, struct slice bytes, struct err *err)
{
	struct usage_poll *poll = arg;
	poll->bytes += bytes.n;
	return kube_work_queue_add(&poll->queue, bytes, err);
}

/* ---- one question after the other */

static void end_list(struct usage_poll *poll)
{
	kube_work_queue_clear(&poll->queue);
	json_split_free(poll->split);
	poll->split = NULL;
}

static void drop_request(struct usage_poll *poll)
{
	kube_request_cancel(poll->request);
	poll->request = NULL;
	end_list(poll);
}

static void ask(struct usage_poll *poll);

static void changed(struct usage_poll *poll)
{
	poll->on_change(poll->arg);
}

/* The API may not be there, or not for us: minutes. Anything else: half a minute, then twice as long each time. */
static void failed(struct usage_poll *poll, const struct err *err)
{
	bool is_refusal = err->code == ERR_KUBE_NOT_SERVED || err->code == ERR_KUBE_FORBIDDEN ||
			  err->code == ERR_KUBE_NOT_FOUND;
	int64_t twice = poll->failed_ms ? 2 * poll->failed_ms : FAILED_FIRST_MS;
	poll->failed_ms = twice < FAILED_CAP_MS ? twice : FAILED_CAP_MS;
	poll->err = *err;
	poll->is_known = false;
	wait_for(poll, is_refusal ? kube_jitter_ms(REFUSED_MIN_MS, REFUSED_MAX_MS)
				  : kube_jitter_ms(poll->failed_ms, 2 * poll->failed_ms));
	set_now(poll);
	changed(poll);
}

static void succeeded(struct usage_poll *poll)
{
	poll->err.code = ERR_NONE;
	poll->is_known = true;
	poll->failed_ms = 0;
	poll->answered_ms = clock_mono_ms();
	wait_for(poll, setting_get(SETTING_USAGE_INTERVAL));
	set_now(poll);
	changed(poll);
}

static void on_queue_failed(void *arg, const struct err *err)
{
	struct usage_poll *poll = arg;
	drop_request(poll);
	failed(poll, err);
}

static void on_list(void *arg, const struct err *err, const struct kube_answer *answer)
{
	struct usage_poll *poll = arg;
	struct err why = { 0 };
	(void)answer;
	poll->request = NULL;
	bool ok = !err && kube_work_queue_finish(&poll->queue, &why) &&
		  json_split_finish(poll->split, &why);
	end_list(poll);
	if (!ok) {
		if (!err && why.code == ERR_RUNTIME_PROTOCOL)
			why.code = ERR_KUBE_PROTOCOL;
		failed(poll, err ? err : &why);
		return;
	}
	int64_t interval_ms = setting_get(SETTING_USAGE_INTERVAL);
	int64_t cost_ms = (int64_t)(poll->bytes * 1000 / USAGE_BYTES_PER_S);
	poll->step_ms = cost_ms > interval_ms ? cost_ms : interval_ms;
	poll->list_due_ms = clock_mono_ms() + poll->step_ms;
	poll->n_lists++;
	succeeded(poll);
}

static void ask_list(struct usage_poll *poll)
{
	char *path = kube_path(&k8s_podmetrics, poll->namespace_, NULL, NULL);
	const struct kube_request_opts opts = {
		.method = "GET",
		.path = path,
		.rate = KUBE_RATE_BACKGROUND,
		.timeout_ms = LIST_TIMEOUT_MS,
		.headers_timeout_ms = HEADERS_TIMEOUT_MS,
		.stall_timeout_ms = STALL_TIMEOUT_MS,
		.max_body_bytes = LIST_BYTES,
		.on_body = on_body,
		.done = on_list,
		.arg = poll,
	};
	struct err err = { 0 };
	poll->bytes = 0;
	poll->is_list = true;
	poll->split = json_split_new(JSON_SPLIT_ITEMS, POD_BYTES, on_item, on_rest, poll);
	poll->request = kube_request_start(poll->client, &opts, &err);
	free(path);
	if (!poll->request) {
		end_list(poll);
		failed(poll, &err);
	}
}

static void on_pod(void *arg, const struct err *err, const struct kube_answer *answer)
{
	struct usage_poll *poll = arg;
	poll->request = NULL;
	/* 404: it has not been measured yet, or has gone */
	if (err && answer->status != 404) {
		failed(poll, err);
		return;
	}
	cJSON *object = err ? NULL : json_parse(answer->body, NULL);
	take(poll, object);
	cJSON_Delete(object);
	poll->at_shown++;
	ask(poll);
}

static void ask_pod(struct usage_poll *poll, const char *shown)
{
	struct err err = { 0 };
	char *path = kube_path(&k8s_podmetrics, shown, shown + strlen(shown) + 1, NULL);
	const struct kube_request_opts opts = {
		.method = "GET",
		.path = path,
		.rate = KUBE_RATE_BACKGROUND,
		.timeout_ms = POD_TIMEOUT_MS,
		.max_body_bytes = POD_BYTES,
		.done = on_pod,
		.arg = poll,
	};
	poll->is_list = false;
	poll->request = kube_request_start(poll->client, &opts, &err);
	free(path);
	if (!poll->request)
		failed(poll, &err);
}

/* The list where it is due, else what is left of the screen. */
static void ask(struct usage_poll *poll)
{
	bool is_list_due = !poll->only_shown && clock_mono_ms() >= poll->list_due_ms;
	if (is_list_due)
		ask_list(poll);
	else if (poll->at_shown < poll->n_shown)
		ask_pod(poll, poll->shown[poll->at_shown]);
	else
		succeeded(poll);
}

static void on_again(void *arg)
{
	struct usage_poll *poll = arg;
	int64_t patience_ms = 3 * setting_get(SETTING_USAGE_INTERVAL);
	if (patience_ms < LOOK_MIN_MS)
		patience_ms = LOOK_MIN_MS;
	poll->due_ms = 0;
	if (clock_mono_ms() - poll->looked_ms > patience_ms) {
		poll->is_asked = false;
		return;
	}
	poll->at_shown = 0;
	ask(poll);
}

/* ---- who looks at what */

void usage_poll_look(struct usage_poll *poll)
{
	poll->looked_ms = clock_mono_ms();
	if (poll->is_asked)
		return;
	poll->is_asked = true;
	wait_for(poll, 0);
}

static void forget_shown(struct usage_poll *poll)
{
	for (size_t i = 0; i < poll->n_shown; i++)
		free(poll->shown[i]);
	poll->n_shown = 0;
}

static char *shown_of(const struct usage_pod *pod)
{
	size_t n = strlen(pod->namespace_) + 1, m = strlen(pod->name) + 1;
	char *shown = x_malloc(n + m);
	memcpy(shown, pod->namespace_, n);
	memcpy(shown + n, pod->name, m);
	return shown;
}

static bool is_same(const struct usage_poll *poll, const struct usage_pod *pods, size_t n)
{
	if (n != poll->n_shown)
		return false;
	for (size_t i = 0; i < n; i++) {
		const char *shown = poll->shown[i];
		if (strcmp(shown, pods[i].namespace_) != 0 ||
			strcmp(shown + strlen(shown) + 1, pods[i].name) != 0)
			return false;
	}
	return true;
}

void usage_poll_shown(struct usage_poll *poll, const struct usage_pod *pods, size_t n)
{
	if (n > USAGE_SHOWN_MAX)
		n = USAGE_SHOWN_MAX;
	if (is_same(poll, pods, n))
		return;
	forget_shown(poll);
	for (size_t i = 0; i < n; i++)
		if (pods[i].namespace_[0] && pods[i].name[0])
			poll->shown[poll->n_shown++] = shown_of(&pods[i]);
}

void usage_poll_only_shown(struct usage_poll *poll)
{
	poll->only_shown = true;
}

void usage_poll_set_namespace(struct usage_poll *poll, const char *namespace_)
{
	drop_request(poll);
	forget_shown(poll);
	free(poll->namespace_);
	poll->namespace_ = x_strdup(namespace_ ? namespace_ : "");
	poll->list_due_ms = 0;
	poll->is_known = false;
	poll->err.code = ERR_NONE;
	poll->failed_ms = 0;
	if (poll->is_asked)
		wait_for(poll, 0);
}

struct usage_poll_state usage_poll_state_of(const struct usage_poll *poll)
{
	int64_t now = clock_mono_ms();
	return (struct usage_poll_state){
		.is_asked = poll->is_asked,
		.is_known = poll->is_known,
		.n_lists = poll->n_lists,
		.age_ms = poll->answered_ms ? now - poll->answered_ms : -1,
		.again_ms = poll->due_ms > now ? poll->due_ms - now
			    : poll->due_ms     ? 0
					       : -1,
		.err = poll->err.code == ERR_NONE ? NULL : &poll->err,
	};
}

/* ---- life */

struct usage_table *usage_poll_table(struct usage_poll *poll)
{
	return poll->table;
}

struct usage_poll *usage_poll_new(const struct usage_poll_opts *opts)
{
	struct net_loop *loop = kube_client_loop(opts->client);
	struct usage_poll *poll = x_calloc(1, sizeof *poll);
	poll->client = opts->client;
	poll->namespace_ = x_strdup(opts->namespace_ ? opts->namespace_ : "");
	poll->on_change = opts->on_change;
	poll->arg = opts->arg;
	poll->table = usage_table_new();
	poll->again = net_loop_timer_new(loop, on_again, poll);
	poll->queue = (struct kube_work_queue){
		.feed = feed,
		.failed = on_queue_failed,
		.arg = poll,
		.is_dead = &poll->is_dead,
	};
	kube_work_queue_init(&poll->queue, loop);
	return poll;
}

void usage_poll_free(struct usage_poll *poll)
{
	if (!poll)
		return;
	drop_request(poll);
	kube_work_queue_deinit(&poll->queue);
	net_loop_timer_free(poll->again);
	forget_shown(poll);
	usage_table_free(poll->table);
	free(poll->namespace_);
	free(poll);
}
