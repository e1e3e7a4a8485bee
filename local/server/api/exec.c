// SPDX-License-Identifier: Apache-2.0
/* Streams (k8s.io/apimachinery, remotecommand): stdin, stdout, stderr, error (a Status at the end), resize. As channels they
 * are the numbers 0 to 4; in SPDY the client opens each that it asked for, and the command starts when all are there. */
#include "local/server/api/exec.h"

#include "engine/base/err.h"
#include "engine/base/json.h"
#include "engine/base/mem.h"
#include "engine/base/str.h"
#include "engine/k8s/status.h"
#include "engine/net/loop.h"
#include "local/server/api/mux.h"
#include "local/server/api/process.h"
#include "local/server/server.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

enum { MAX_ARGV = 4096, STREAMS_MS = 30000, SIZE_BYTES = 256 };
enum stream { STDIN, STDOUT, STDERR, ERROR, RESIZE, STREAM_COUNT };
static const char *const stream_names[STREAM_COUNT] = { "stdin", "stdout", "stderr", "error",
	"resize" };

struct exec {
	struct server *server;
	struct api_mux *mux; /* NULL: it has ended */
	struct api_process *process;
	char *pod_uid;
	char **argv;
	bool is_tty, has_ended;
	bool is_wanted[STREAM_COUNT], is_there[STREAM_COUNT];
	uint32_t ids[STREAM_COUNT];
	struct str size;              /* of a message about the size that is not complete yet */
	struct net_loop_timer *timer; /* until all streams are there */
};

/* ---- the end ---- */

static void exec_free(void *arg)
{
	struct exec *e = arg;
	api_process_free(e->process);
	net_loop_timer_free(e->timer);
	for (size_t i = 0; e->argv && e->argv[i]; i++)
		free(e->argv[i]);
	free(e->argv);
	str_deinit(&e->size);
	free(e->pod_uid);
	free(e);
}

static void send_status(struct exec *e, cJSON *status_take)
{
	char *text = cJSON_PrintUnformatted(status_take);
	cJSON_Delete(status_take);
	if (e->mux && e->is_there[ERROR])
		api_mux_send(e->mux, e->ids[ERROR], text, strlen(text));
	free(text);
}

static void finish(struct exec *e, cJSON *status_take)
{
	e->has_ended = true;
	send_status(e, status_take);
	for (int i = 0; e->mux && i < STREAM_COUNT; i++)
		if (e->is_there[i])
			api_mux_fin(e->mux, e->ids[i]);
	if (e->mux)
		api_mux_close(e->mux);
}

static cJSON *status_base(const char *status)
{
	cJSON *out = cJSON_CreateObject();
	cJSON_AddObjectToObject(out, "metadata");
	cJSON_AddStringToObject(out, "status", status);
	return out;
}

static void add_cause(cJSON *status, const char *reason, const char *message)
{
	cJSON *cause = cJSON_CreateObject();
	if (reason)
		cJSON_AddStringToObject(cause, "reason", reason);
	cJSON_AddStringToObject(cause, "message", message);
	cJSON_AddItemToArray(
		cJSON_AddArrayToObject(cJSON_AddObjectToObject(status, "details"), "causes"),
		cause);
}

/* As the kubelet's remotecommand server words it. */
static cJSON *status_of_exit(int code)
{
	char text[128], number[16];
	if (code == 0)
		return status_base("Success");
	cJSON *out = status_base("Failure");
	snprintf(text, sizeof text,
		"command terminated with non-zero exit code: command terminated with exit code %d",
		code);
	cJSON_AddStringToObject(out, "message", text);
	cJSON_AddStringToObject(out, "reason", "NonZeroExitCode");
	snprintf(number, sizeof number, "%d", code);
	add_cause(out, "ExitCode", number);
	return out;
}

static cJSON *status_of_error(const struct err *err)
{
	struct str text;
	cJSON *out = status_base("Failure");
	str_init(&text, 1024);
	str_addf(&text, "Internal error occurred: error executing command in container: %s",
		err->msg);
	cJSON_AddStringToObject(out, "message", text.p);
	cJSON_AddStringToObject(out, "reason", "InternalError");
	add_cause(out, NULL, strstr(text.p, "error executing"));
	cJSON_AddNumberToObject(out, "code", 500);
	str_deinit(&text);
	return out;
}

/* ---- the process ---- */

static void on_output(void *arg, bool is_stderr, const void *bytes, size_t n)
{
	struct exec *e = arg;
	enum stream stream = is_stderr ? STDERR : STDOUT;
	if (!e->mux)
		return;
	if (e->is_there[stream])
		api_mux_send(e->mux, e->ids[stream], bytes, n);
}

static void on_room(void *arg)
{
	struct exec *e = arg;
	if (e->process)
		api_process_consume(e->process);
}

static void on_stdin_room(void *arg)
{
	struct exec *e = arg;
	if (e->mux)
		api_mux_pause(e->mux, false);
}

static void on_exit_told(void *arg, const struct err *err, int code)
{
	struct exec *e = arg;
	if (!e->has_ended)
		finish(e, err ? status_of_error(err) : status_of_exit(code));
}

static void start(struct exec *e)
{
	struct err err = { 0 };
	struct api_process_opts opts = { .pod_uid = e->pod_uid,
		.argv = e->argv,
		.is_tty = e->is_tty,
		.on_output = on_output,
		.on_stdin_room = on_stdin_room,
		.on_exit = on_exit_told,
		.arg = e };
	net_loop_timer_disarm(e->timer);
	e->process = api_process_start(e->server, &opts, &err);
	if (!e->process)
		finish(e, status_of_error(&err));
	else if (!e->is_wanted[STDIN])
		api_process_write_eof(e->process);
}

/* ---- what the client does ---- */

static bool are_all_there(const struct exec *e)
{
	for (int i = 0; i < STREAM_COUNT; i++)
		if (e->is_wanted[i] && !e->is_there[i])
			return false;
	return true;
}

static void on_timer(void *arg)
{
	struct exec *e = arg;
	if (are_all_there(e))
		start(e);
	else if (e->mux)
		api_mux_close(e->mux); /* the client has not opened what it asked for */
}

static bool on_stream(void *arg, uint32_t id, const struct api_spdy_headers *headers)
{
	struct exec *e = arg;
	for (int i = 0; i < STREAM_COUNT; i++) {
		if (strcmp(headers->type, stream_names[i]) != 0)
			continue;
		if (!e->is_wanted[i] || e->is_there[i])
			return false;
		e->is_there[i] = true;
		e->ids[i] = id;
		if (are_all_there(e)) /* after the answer to this stream */
			net_loop_timer_arm(e->timer, 0);
		return true;
	}
	return false;
}

/* {"Width":80,"Height":24}, one after the other, cut anywhere. */
static void on_size(struct exec *e, const char *bytes, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (e->size.n + 1 >= SIZE_BYTES)
			str_clear(&e->size);
		str_add_bytes(&e->size, bytes + i, 1);
		if (bytes[i] != '}')
			continue;
		cJSON *size = json_parse((struct slice){ e->size.p, e->size.n }, NULL);
		int64_t cols = json_int(size, 0, "Width", NULL);
		int64_t rows = json_int(size, 0, "Height", NULL);
		cJSON_Delete(size);
		str_clear(&e->size);
		if (e->process && cols > 0 && cols <= UINT16_MAX && rows > 0 &&
			rows <= UINT16_MAX)
			api_process_resize(e->process, (uint32_t)cols, (uint32_t)rows);
	}
}

static void on_data(void *arg, uint32_t id, const void *bytes, size_t n)
{
	struct exec *e = arg;
	if (e->has_ended)
		return;
	if (e->is_there[RESIZE] && id == e->ids[RESIZE])
		on_size(e, bytes, n);
	else if (e->process && e->is_there[STDIN] && id == e->ids[STDIN] &&
		 !api_process_write(e->process, bytes, n) && e->mux)
		api_mux_pause(e->mux, true);
}

static void on_fin(void *arg, uint32_t id)
{
	struct exec *e = arg;
	if (e->process && !e->has_ended && e->is_there[STDIN] && id == e->ids[STDIN])
		api_process_write_eof(e->process);
}

static void on_reset(void *arg, uint32_t id)
{
	on_fin(arg, id);
}

static void on_end(void *arg)
{
	struct exec *e = arg;
	e->mux = NULL;
	e->has_ended = true;
	net_loop_defer(e->server->loop, exec_free, e);
}

/* ---- the request ---- */

static cJSON *parse_command(struct api_request *req, struct exec *e)
{
	const struct evkeyval *pair;
	size_t n = 0;
	e->argv = x_calloc(MAX_ARGV + 1, sizeof *e->argv);
	TAILQ_FOREACH(pair, &req->query, next)
	{
		if (strcmp(pair->key, "command") != 0)
			continue;
		if (n == MAX_ARGV)
			return k8s_status_bad_request("the command has too many words");
		e->argv[n++] = x_strdup(pair->value);
	}
	for (int i = STDIN; i <= STDERR; i++)
		e->is_wanted[i] = api_request_query_bool(req, stream_names[i]);
	e->is_tty = api_request_query_bool(req, "tty");
	if (e->is_tty) /* both are one, then */
		e->is_wanted[STDERR] = false;
	e->is_wanted[ERROR] = true;
	e->is_wanted[RESIZE] = e->is_tty;
	return NULL;
}

void api_exec(struct api_request *req, const struct store_object *pod)
{
	static const char *const channels[] = { "v4.channel.k8s.io", "v5.channel.k8s.io",
		NULL };
	static const char *const spdy[] = { "v4.channel.k8s.io", NULL };
	static const struct api_mux_callbacks callbacks = { on_stream, on_data, on_fin,
		on_reset, on_room, on_end };
	static const struct api_mux_opts opts = {
		.channel_protocols = channels, .spdy_protocols = spdy, .callbacks = &callbacks
	};
	struct exec *e = x_calloc(1, sizeof *e);
	e->server = req->server;
	e->pod_uid = x_strdup(pod->uid);
	str_init(&e->size, SIZE_BYTES);
	e->timer = net_loop_timer_new(e->server->loop, on_timer, e);
	cJSON *status = parse_command(req, e);
	bool is_any = e->is_wanted[STDIN] || e->is_wanted[STDOUT] || e->is_wanted[STDERR];
	if (status)
		api_request_fail_take(req, status);
	if (status || !api_mux_is_acceptable(req, &opts)) {
		exec_free(e);
		return;
	}
	if (!is_any) {
		api_request_reply_text(
			req, 400, "you must specify at least 1 of stdin, stdout, stderr");
		exec_free(e);
		return;
	}
	bool is_channels = api_mux_asks_channels(req, &opts);
	e->mux = api_mux_open(req, &opts, e);
	if (!e->mux) {
		exec_free(e);
		return;
	}
	for (int i = 0; is_channels && i < STREAM_COUNT; i++) {
		e->is_there[i] = e->is_wanted[i];
		e->ids[i] = (uint32_t)i;
	}
	net_loop_timer_arm(e->timer, is_channels ? 0 : STREAMS_MS);
}
