// SPDX-License-Identifier: Apache-2.0
/* The log subresource of pods: the daemon's output as kubelet/podlog.c wrote it, each line with its time
 * in front. A followed log ends when the daemon's run ends, as with a real kubelet. */
#include "local/server/api/api.h"

#include "engine/base/clock.h"
#include "engine/base/json.h"
#include "engine/base/mem.h"
#include "engine/base/num.h"
#include "engine/k8s/status.h"
#include "engine/k8s/time.h"
#include "local/server/api/stream.h"
#include "local/server/server.h"

#include <event2/buffer.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { READ_BYTES = 64 * 1024, MAX_LOG_BYTES = 8 << 20, DATE_MAX = 40 };

struct log_opts {
	bool timestamps, follow, previous;
	int64_t tail_lines; /* -1: all */
	int64_t since_ns;   /* 0: all */
	int64_t limit_bytes;
};

struct follow {
	struct log_opts opts;
	struct server *server;
	int fd;
	char *path, *pod_uid;
	struct str partial; /* a line that is not complete yet */
	int64_t sent;
};

static const struct k8s_resource log_options = {
	.group = "", .version = "v1", .plural = "podlogoptions", .kind = "PodLogOptions"
};

/* A number of the query, at least that: a cause if it is smaller, a Status if it is none. */
static cJSON *parse_number(
	struct api_request *req, const char *name, int64_t least, int64_t *out, cJSON *causes)
{
	const char *text = api_request_query(req, name);
	int64_t n;
	if (!text)
		return NULL;
	if (!num_parse_i64(text, INT64_MIN, INT64_MAX, &n))
		return k8s_status_bad_request(
			"strconv.ParseInt: parsing \"%.40s\": invalid syntax", text);
	if (n >= least)
		*out = n;
	else
		k8s_status_add_cause(causes, "FieldValueInvalid", name,
			"Invalid value: %lld: must be greater than%s 0", (long long)n,
			least == 0 ? " or equal to" : "");
	return NULL;
}

static cJSON *parse_since(
	struct api_request *req, struct log_opts *o, int64_t seconds, cJSON *causes)
{
	const char *time = api_request_query(req, "sinceTime");
	if (seconds > 0) {
		int64_t now_s = clock_wall_ns() / 1000000000;
		o->since_ns = seconds < now_s ? clock_wall_ns() - seconds * 1000000000 : 0;
	}
	if (time && seconds > 0)
		k8s_status_add_cause(causes, "FieldValueForbidden", "[]",
			"Forbidden: at most one of `sinceTime` or `sinceSeconds` may be"
			" specified");
	else if (time && !k8s_time_parse(time, &o->since_ns))
		return k8s_status_bad_request("parsing time \"%.40s\" as"
					      " \"2006-01-02T15:04:05Z07:00\": cannot parse",
			time);
	return NULL;
}

/* As API validation has it (k8s.io/kubernetes, ValidatePodLogOptions), in its order. */
static cJSON *parse_opts(struct api_request *req, const char *pod, struct log_opts *o)
{
	int64_t seconds = 0;
	cJSON *causes = cJSON_CreateArray();
	*o = (struct log_opts){ .tail_lines = -1, .limit_bytes = INT64_MAX };
	o->timestamps = api_request_query_bool(req, "timestamps");
	o->follow = api_request_query_bool(req, "follow");
	o->previous = api_request_query_bool(req, "previous");
	cJSON *status = parse_number(req, "tailLines", 0, &o->tail_lines, causes);
	if (!status)
		status = parse_number(req, "limitBytes", 1, &o->limit_bytes, causes);
	if (!status)
		status = parse_number(req, "sinceSeconds", 1, &seconds, causes);
	if (!status)
		status = parse_since(req, o, seconds, causes);
	if (api_request_query(req, "stream")) /* one output: there is nothing to choose */
		k8s_status_add_cause(causes, "FieldValueForbidden", "stream",
			"Forbidden: may not be specified");
	if (!status && causes->child)
		return k8s_status_invalid(&log_options, pod, causes);
	cJSON_Delete(causes);
	return status;
}

/* Adds one line, with or without its time, unless it is too old. */
static void add_line(const struct log_opts *o, const char *line, size_t n, int64_t *sent,
	struct evbuffer *out)
{
	char date[DATE_MAX];
	int64_t ns;
	const char *space = memchr(line, ' ', n);
	size_t date_n = space ? (size_t)(space - line) : 0;
	if (date_n > 0 && date_n < sizeof date && o->since_ns > 0) {
		memcpy(date, line, date_n);
		date[date_n] = '\0';
		if (clock_parse_rfc3339(date, &ns) && ns < o->since_ns)
			return;
	}
	if (space && !o->timestamps) {
		line += date_n + 1;
		n -= date_n + 1;
	}
	int64_t room = o->limit_bytes - *sent;
	if ((int64_t)n + 1 > room) {
		evbuffer_add(out, line, (size_t)(room > 0 ? room : 0));
		*sent = o->limit_bytes;
		return;
	}
	evbuffer_add(out, line, n);
	evbuffer_add(out, "\n", 1);
	*sent += (int64_t)n + 1;
}

/* Where the last n lines begin. */
static size_t tail_start(const char *text, size_t n, int64_t lines)
{
	size_t i = n;
	if (i > 0 && text[i - 1] == '\n')
		i--;
	if (lines <= 0)
		return n;
	for (; i > 0; i--)
		if (text[i - 1] == '\n' && --lines == 0)
			break;
	return i;
}

/* Feeds bytes, cut into lines. */
static void feed(struct follow *f, const char *bytes, size_t n, struct evbuffer *out)
{
	while (n > 0 && f->sent < f->opts.limit_bytes) {
		const char *end = memchr(bytes, '\n', n);
		size_t part = end ? (size_t)(end - bytes) : n;
		str_add_bytes(&f->partial, bytes, part);
		bytes += part + (end != NULL);
		n -= part + (end != NULL);
		if (end) {
			add_line(&f->opts, f->partial.p, f->partial.n, &f->sent, out);
			str_clear(&f->partial);
		}
	}
}

/* What is in the file now, from the line the options ask for. */
static void feed_existing(struct follow *f, struct evbuffer *out)
{
	struct stat st;
	if (fstat(f->fd, &st) != 0 || st.st_size <= 0)
		return;
	size_t size = st.st_size > MAX_LOG_BYTES ? MAX_LOG_BYTES : (size_t)st.st_size, n = 0;
	char *text = x_malloc(size);
	while (n < size) {
		ssize_t got = read(f->fd, text + n, size - n);
		if (got <= 0)
			break;
		n += (size_t)got;
	}
	size_t from = f->opts.tail_lines >= 0 ? tail_start(text, n, f->opts.tail_lines) : 0;
	feed(f, text + from, n - from, out);
	free(text);
}

/* The run is over when the file was put aside, or the pod is gone. */
static bool is_run_over(const struct follow *f)
{
	struct stat now, ours;
	if (!store_by_uid(f->server->store, f->pod_uid))
		return true;
	return stat(f->path, &now) != 0 || fstat(f->fd, &ours) != 0 ||
	       now.st_ino != ours.st_ino;
}

static void on_ready(void *arg, struct api_stream *stream)
{
	struct follow *f = arg;
	char bytes[READ_BYTES];
	struct evbuffer *out = evbuffer_new();
	bool over =
		is_run_over(f); /* looked at first: what was written until then is still read */
	ssize_t n = read(f->fd, bytes, sizeof bytes);
	if (n > 0)
		feed(f, bytes, (size_t)n, out);
	if (evbuffer_get_length(out) > 0)
		api_stream_send(stream, out);
	else if (n > 0)
		api_stream_wake(stream);
	if ((n <= 0 && over) || f->sent >= f->opts.limit_bytes)
		api_stream_finish(stream);
	evbuffer_free(out);
}

static void follow_free(void *arg)
{
	struct follow *f = arg;
	if (f->fd >= 0)
		close(f->fd);
	str_deinit(&f->partial);
	free(f->path);
	free(f->pod_uid);
	free(f);
}

static void on_first_ready(void *arg, struct api_stream *stream)
{
	struct follow *f = arg;
	if (f->opts.tail_lines != -2) {
		struct evbuffer *out = evbuffer_new();
		feed_existing(f, out);
		f->opts.tail_lines = -2; /* done */
		if (evbuffer_get_length(out) > 0) {
			api_stream_send(stream, out);
			evbuffer_free(out);
			return;
		}
		evbuffer_free(out);
	}
	on_ready(arg, stream);
}

/* The container that a request means must be one of the pod's. */
static cJSON *check_container(struct api_request *req, const struct store_object *pod)
{
	const char *wanted = api_request_query(req, "container"), *first;
	const cJSON *c, *list = json_get(pod->json, "spec", "containers", NULL);
	cJSON_ArrayForEach(c, list)
	{
		const char *name = json_str(c, "name", NULL);
		if (!wanted || !*wanted || (name && strcmp(name, wanted) == 0))
			return NULL;
	}
	first = wanted ? wanted : "";
	return k8s_status_bad_request(
		"container %.63s is not valid for pod %s", first, pod->name);
}

void api_pod_log(struct api_request *req, const struct api_target *t)
{
	static const struct api_stream_callbacks callbacks = { on_first_ready, follow_free };
	struct server *s = req->server;
	struct store_object *pod = store_get(s->store, KIND_POD, t->ns, t->name);
	struct log_opts opts;
	cJSON *status = pod ? parse_opts(req, pod->name, &opts)
			    : k8s_status_not_found(t->r->api, t->name);
	if (!status)
		status = check_container(req, pod);
	if (status) {
		api_request_fail_take(req, status);
		return;
	}
	struct follow *f = x_calloc(1, sizeof *f);
	f->opts = opts;
	f->server = s;
	f->pod_uid = x_strdup(pod->uid);
	f->path = x_asprintf(
		"%s/pods/%s/%s", s->opts.state_dir, pod->uid, opts.previous ? "log.1" : "log");
	str_init(&f->partial, READ_BYTES);
	f->fd = open(f->path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (f->fd < 0) {
		const cJSON *list = json_get(pod->json, "spec", "containers", NULL);
		const char *name = json_str(list ? list->child : NULL, "name", NULL);
		api_request_fail_take(
			req, opts.previous ? k8s_status_bad_request(
						     "previous terminated container \"%s\" in"
						     " pod \"%s\" not found",
						     name ? name : "", pod->name)
					   : k8s_status_bad_request(
						     "container \"%s\" in pod \"%s\" is waiting"
						     " to start: ContainerCreating",
						     name ? name : "", pod->name));
		follow_free(f);
		return;
	}
	if (opts.follow && !opts.previous) {
		api_stream_start(req, "text/plain", &callbacks, f);
		return;
	}
	struct evbuffer *out = evbuffer_new();
	feed_existing(f, out);
	api_request_add_headers(req, "text/plain");
	evhttp_send_reply(req->ev, 200, NULL, out);
	evbuffer_free(out);
	follow_free(f);
}
