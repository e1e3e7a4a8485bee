// SPDX-License-Identifier: Apache-2.0
#include "engine/podlog/podlog.h"

#include "engine/base/clock.h"
#include "engine/base/err.h"
#include "engine/base/json.h"
#include "engine/base/mem.h"
#include "engine/k8s/resource.h"
#include "engine/kube/client.h"
#include "engine/kube/request.h"
#include "engine/net/loop.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	AGAIN_FIRST_MS = 500,
	AGAIN_MAX_MS = 10 * 1000,
	HEADERS_TIMEOUT_MS = 30 * 1000,
	CONTAINERS_MAX = 64,
	TIME_BYTES_MAX = 40,
	NOTE_BYTES = 512,
};

struct podlog {
	struct kube_client *client;
	struct podlog_opts opts; /* texts are ours */
	char *namespace_, *pod, *container, *since_time;
	char *containers[CONTAINERS_MAX];
	size_t n_containers;
	char *pod_uid;
	int64_t restarts; /* of the container; -1: not known */
	enum podlog_state state;
	bool has_err;
	struct err err;
	struct kube_call *call;
	struct kube_request *request;
	struct net_loop_timer *again;
	int64_t again_ms;
	struct str partial; /* a line, or a piece of one, that has not ended */
	bool is_in_line;    /* the beginning of the line has come as a piece */
	int64_t line_ns;
	/* where it goes on: the time of the last line, and how many lines of that time came last */
	int64_t last_ns;
	size_t n_last;
	int64_t resume_ns; /* lines before this, and n_skip of it, are there already; 0: none is */
	size_t n_skip;
	bool is_skipping; /* this line */
	bool *is_gone;    /* set by podlog_stop() in a call of ours */
};

static void ask_pod(struct podlog *log);

static void set_state(struct podlog *log, enum podlog_state state, const struct err *err)
{
	log->state = state;
	log->has_err = err != NULL;
	if (err)
		log->err = *err;
	if (log->opts.on_state)
		log->opts.on_state(log->opts.arg);
}

/* ---- lines */

/* The time in front of a line, and what is behind it; 0: there is none. */
static int64_t take_time(struct slice *line)
{
	char text[TIME_BYTES_MAX];
	const char *blank = memchr(line->p, ' ', line->n < sizeof text ? line->n : sizeof text);
	int64_t ns;
	size_t n = blank ? (size_t)(blank - line->p) : 0;
	if (!n || n >= sizeof text)
		return 0;
	memcpy(text, line->p, n);
	text[n] = '\0';
	if (!clock_parse_rfc3339(text, &ns))
		return 0;
	line->p += n + 1;
	line->n -= n + 1;
	return ns;
}

/* It is there already: it came before the stream was cut. */
static bool is_known(struct podlog *log, int64_t ns)
{
	if (!log->resume_ns || !ns)
		return false;
	if (ns < log->resume_ns)
		return true;
	if (ns == log->resume_ns && log->n_skip) {
		log->n_skip--;
		return true;
	}
	log->resume_ns = 0;
	return false;
}

/* A whole line, or a piece of one. Nothing of the log is touched after it is told. */
static void take_line(struct podlog *log, struct slice text, bool is_piece)
{
	if (!log->is_in_line) {
		log->line_ns = take_time(&text);
		log->is_skipping = is_known(log, log->line_ns);
		if (!log->is_skipping && log->line_ns) {
			log->n_last = log->line_ns == log->last_ns ? log->n_last + 1 : 1;
			log->last_ns = log->line_ns;
		}
	}
	log->is_in_line = is_piece;
	const struct podlog_line line = { log->line_ns, text, is_piece };
	if (!log->is_skipping)
		log->opts.on_line(log->opts.arg, &line);
}

/* False: it was stopped in a call. */
static bool feed(struct podlog *log, struct slice bytes)
{
	bool is_gone = false;
	log->is_gone = &is_gone;
	while (bytes.n && !is_gone) {
		const char *end = memchr(bytes.p, '\n', bytes.n);
		size_t n = end ? (size_t)(end - bytes.p) : bytes.n;
		size_t room = PODLOG_LINE_BYTES - log->partial.n;
		bool is_cut = n > room;
		n = is_cut ? room : n;
		str_add_bytes(&log->partial, bytes.p, n);
		bytes.p += n + (end && !is_cut);
		bytes.n -= n + (end && !is_cut);
		if (!end && !is_cut)
			break;
		struct str line = log->partial; /* the log may go while it is told */
		str_init(&log->partial, PODLOG_LINE_BYTES);
		take_line(log, (struct slice){ line.p, line.n }, is_cut);
		str_deinit(&line);
	}
	if (!is_gone)
		log->is_gone = NULL;
	return !is_gone;
}

/* ---- the stream */

static void wait_again(struct podlog *log, const struct err *err)
{
	log->again_ms = log->again_ms ? log->again_ms * 2 : AGAIN_FIRST_MS;
	if (log->again_ms > AGAIN_MAX_MS)
		log->again_ms = AGAIN_MAX_MS;
	net_loop_timer_arm(log->again, log->again_ms);
	set_state(log, PODLOG_WAITING, err);
}

static void on_again(void *arg)
{
	ask_pod(arg);
}

static bool on_body(void *arg, struct slice bytes, struct err *err)
{
	struct podlog *log = arg;
	(void)err;
	log->again_ms = 0;
	feed(log, bytes);
	return true;
}

static void on_begin(void *arg)
{
	set_state(arg, PODLOG_READING, NULL);
}

static bool may_come_back(const struct err *err)
{
	return err->code == ERR_KUBE_TRANSPORT || err->code == ERR_KUBE_SERVER ||
	       err->code == ERR_KUBE_THROTTLED || err->code == ERR_OP_TIMEOUT;
}

static void on_log_done(void *arg, const struct err *err, const struct kube_answer *answer)
{
	struct podlog *log = arg;
	(void)answer;
	log->request = NULL;
	/* a last line that has no end is one */
	if (log->partial.n && !feed(log, (struct slice){ "\n", 1 }))
		return;
	/* a container that is still being made: 400 "… is waiting to start" */
	bool is_starting = err && err->code == ERR_KUBE_BAD_REQUEST &&
			   strstr(err->msg, "waiting to start") != NULL;
	if (!log->opts.is_following || (err && !is_starting && !may_come_back(err)))
		set_state(log, PODLOG_ENDED, err);
	else if (err)
		wait_again(log, err);
	else
		ask_pod(log); /* why has it ended */
}

static void add_range(const struct podlog *log, struct str *query)
{
	char text[CLOCK_RFC3339_BYTES];
	if (log->last_ns) { /* from the last line on; the server counts in seconds */
		kube_query_add(query, "sinceTime",
			clock_format_rfc3339(log->last_ns / 1000000000 * 1000000000, 0, text));
		return;
	}
	if (log->opts.since_ms > 0) {
		snprintf(text, sizeof text, "%lld",
			(long long)((log->opts.since_ms + 999) / 1000));
		kube_query_add(query, "sinceSeconds", text);
	}
	if (log->since_time)
		kube_query_add(query, "sinceTime", log->since_time);
	if (log->opts.tail_lines >= 0) {
		snprintf(text, sizeof text, "%lld", (long long)log->opts.tail_lines);
		kube_query_add(query, "tailLines", text);
	}
}

static void read_log(struct podlog *log)
{
	struct str query;
	struct err err = { 0 };
	char number[24];
	str_init(&query, 2048);
	kube_query_add(&query, "timestamps", "true");
	if (log->container)
		kube_query_add(&query, "container", log->container);
	if (log->opts.is_following)
		kube_query_add(&query, "follow", "true");
	if (log->opts.is_previous)
		kube_query_add(&query, "previous", "true");
	if (log->opts.limit_bytes > 0) {
		snprintf(number, sizeof number, "%lld", (long long)log->opts.limit_bytes);
		kube_query_add(&query, "limitBytes", number);
	}
	add_range(log, &query);
	log->resume_ns = log->last_ns;
	log->n_skip = log->n_last;
	log->is_in_line = log->is_skipping = false;
	char *path = kube_path(&k8s_pods, log->namespace_, log->pod, "log");
	const struct kube_request_opts opts = {
		.method = "GET",
		.path = path,
		.query = query.p,
		.accept = "*/*",
		.rate = KUBE_RATE_PERSON,
		.headers_timeout_ms = HEADERS_TIMEOUT_MS,
		.max_body_bytes = SIZE_MAX,
		.no_gzip = true, /* each line is wanted at once */
		.on_begin = on_begin,
		.on_body = on_body,
		.done = on_log_done,
		.arg = log,
	};
	log->request = kube_request_start(log->client, &opts, &err);
	free(path);
	str_deinit(&query);
	if (!log->request)
		set_state(log, PODLOG_ENDED, &err);
}

/* ---- the pod */

static void note(const struct podlog *log, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
static void note(const struct podlog *log, const char *format, ...)
{
	struct str text;
	va_list args;
	if (!log->opts.on_note)
		return;
	str_init(&text, NOTE_BYTES);
	va_start(args, format);
	str_vaddf(&text, format, args);
	va_end(args);
	log->opts.on_note(log->opts.arg, text.p);
	str_deinit(&text);
}

static void take_containers(struct podlog *log, const cJSON *pod)
{
	static const char *const lists[] = { "containers", "initContainers",
		"ephemeralContainers" };
	const char *chosen = json_str(pod, "metadata", "annotations",
		"kubectl.kubernetes.io/default-container", NULL);
	if (log->n_containers)
		return;
	for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
		const cJSON *list = json_get(pod, "spec", lists[i], NULL), *one;
		cJSON_ArrayForEach(one, list)
		{
			const char *name = json_str(one, "name", NULL);
			if (name && log->n_containers < CONTAINERS_MAX)
				log->containers[log->n_containers++] = x_strdup(name);
		}
	}
	if (!chosen && log->n_containers)
		chosen = log->containers[0];
	if (!log->container && chosen)
		log->container = x_strdup(chosen);
}

static const cJSON *status_of(const struct podlog *log, const cJSON *pod)
{
	static const char *const lists[] = { "containerStatuses", "initContainerStatuses",
		"ephemeralContainerStatuses" };
	for (size_t i = 0; log->container && i < sizeof lists / sizeof lists[0]; i++) {
		const cJSON *list = json_get(pod, "status", lists[i], NULL), *one;
		cJSON_ArrayForEach(one, list)
		{
			const char *name = json_str(one, "name", NULL);
			if (name && strcmp(name, log->container) == 0)
				return one;
		}
	}
	return NULL;
}

static void tell_restart(struct podlog *log, const cJSON *status, int64_t restarts)
{
	const cJSON *ended = json_get(status, "lastState", "terminated", NULL);
	const char *reason = json_str(ended, "reason", NULL);
	if (log->restarts < 0 || restarts <= log->restarts)
		return;
	if (ended)
		note(log, "container %s was started again; it had ended with status %lld%s%s%s",
			log->container, (long long)json_int(ended, -1, "exitCode", NULL),
			reason ? " (" : "", reason ? reason : "", reason ? ")" : "");
	else
		note(log, "container %s was started again", log->container);
}

/* Another pod of the same name: its log begins anew. */
static void look_at_uid(struct podlog *log, const cJSON *pod)
{
	const char *uid = json_str(pod, "metadata", "uid", NULL);
	if (!uid || (log->pod_uid && strcmp(log->pod_uid, uid) == 0))
		return;
	if (log->pod_uid)
		note(log, "pod %s was made anew", log->pod);
	if (log->pod_uid)
		log->restarts = -1;
	free(log->pod_uid);
	log->pod_uid = x_strdup(uid);
}

/* Nothing will come any more. */
static bool is_over(const struct podlog *log, const cJSON *pod, const cJSON *status)
{
	const char *phase = json_str(pod, "status", "phase", NULL);
	bool is_ended = json_get(status, "state", "terminated", NULL) != NULL;
	const char *policy = json_str(pod, "spec", "restartPolicy", NULL);
	if (!log->last_ns && !is_ended) /* what it has said is still to be read */
		return false;
	return (phase && (strcmp(phase, "Succeeded") == 0 || strcmp(phase, "Failed") == 0)) ||
	       (is_ended && policy && strcmp(policy, "Never") == 0) ||
	       (is_ended && json_get(pod, "metadata", "deletionTimestamp", NULL));
}

static void look_at_pod(struct podlog *log, const cJSON *pod)
{
	bool is_first = !log->pod_uid;
	take_containers(log, pod);
	look_at_uid(log, pod);
	const cJSON *status = status_of(log, pod);
	const cJSON *waiting = json_get(status, "state", "waiting", NULL);
	int64_t restarts = json_int(status, -1, "restartCount", NULL);
	tell_restart(log, status, restarts);
	bool is_new = log->restarts >= 0 && restarts > log->restarts;
	log->restarts = restarts;
	if (is_first || is_new || json_get(status, "state", "running", NULL)) {
		read_log(log);
	} else if (is_over(log, pod, status)) {
		const cJSON *ended = json_get(status, "state", "terminated", NULL);
		if (ended)
			note(log, "container %s has ended with status %lld", log->container,
				(long long)json_int(ended, -1, "exitCode", NULL));
		set_state(log, PODLOG_ENDED, NULL);
	} else {
		struct err err = { 0 };
		const char *reason = json_str(waiting, "reason", NULL);
		err_set(&err, ERR_OP_BUSY, "container %s does not run%s%s",
			log->container ? log->container : "", reason ? ": " : "",
			reason ? reason : "");
		wait_again(log, &err);
	}
}

static void on_pod(void *arg, const struct err *err, const cJSON *object)
{
	struct podlog *log = arg;
	struct err why = { 0 };
	log->call = NULL;
	if (!err) {
		look_at_pod(log, object);
	} else if (err->code == ERR_KUBE_NOT_FOUND && log->pod_uid) {
		err_set(&why, ERR_KUBE_NOT_FOUND, "pod %s was deleted", log->pod);
		set_state(log, PODLOG_ENDED, &why);
	} else if (err->code == ERR_KUBE_FORBIDDEN && !log->last_ns) {
		read_log(log); /* pods/log may be allowed alone */
	} else if (log->opts.is_following && may_come_back(err)) {
		wait_again(log, err);
	} else {
		set_state(log, PODLOG_ENDED, err);
	}
}

static bool start_pod(struct podlog *log, struct err *err)
{
	char *path = kube_path(&k8s_pods, log->namespace_, log->pod, NULL);
	const struct kube_call_opts opts = {
		.method = "GET", .path = path, .done = on_pod, .arg = log
	};
	log->call = kube_call_start(log->client, &opts, err);
	free(path);
	return log->call != NULL;
}

static void ask_pod(struct podlog *log)
{
	struct err err = { 0 };
	if (!start_pod(log, &err))
		set_state(log, PODLOG_ENDED, &err);
}

/* ---- life */

struct podlog *podlog_start(
	struct kube_client *client, const struct podlog_opts *opts, struct err *err)
{
	struct podlog *log = x_calloc(1, sizeof *log);
	log->client = client;
	log->opts = *opts;
	log->namespace_ = x_strdup(opts->namespace_);
	log->pod = x_strdup(opts->pod);
	log->container = opts->container && *opts->container ? x_strdup(opts->container) : NULL;
	log->since_time = x_strdup(opts->since_time);
	log->restarts = -1;
	log->again = net_loop_timer_new(kube_client_loop(client), on_again, log);
	str_init(&log->partial, PODLOG_LINE_BYTES);
	if (start_pod(log, err))
		return log;
	podlog_stop(log);
	return NULL;
}

void podlog_stop(struct podlog *log)
{
	if (!log)
		return;
	if (log->is_gone)
		*log->is_gone = true;
	kube_call_cancel(log->call);
	kube_request_cancel(log->request);
	net_loop_timer_free(log->again);
	str_deinit(&log->partial);
	for (size_t i = 0; i < log->n_containers; i++)
		free(log->containers[i]);
	free(log->namespace_);
	free(log->pod);
	free(log->pod_uid);
	free(log->container);
	free(log->since_time);
	free(log);
}

enum podlog_state podlog_state(const struct podlog *log)
{
	return log->state;
}

const struct err *podlog_err(const struct podlog *log)
{
	return log->has_err ? &log->err : NULL;
}

const char *podlog_container(const struct podlog *log)
{
	return log->container ? log->container : "";
}

size_t podlog_n_containers(const struct podlog *log)
{
	return log->n_containers;
}

const char *podlog_container_at(const struct podlog *log, size_t index)
{
	return log->containers[index];
}
