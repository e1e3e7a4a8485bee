// SPDX-License-Identifier: Apache-2.0
/* The stage of a script: an application without a terminal, on an engine towards a scripted cluster, with clocks that
 * stand still unless the script moves them. */
#pragma once

#include "tests/unit/engine/cluster.h"
#include "tests/unit/tui/script/picture.h"
#include "tui/app/internal.h"
#include "tui/client/internal.h"
#include "tui/session/internal.h"
#include "tui/views/files/view.h"
#include "tui/views/shell/shell.h"
#include "tui/workspace/internal.h"

#include "engine/fleet/fleet_internal.h"
#include "tests/unit/tui/script/box_process.h"

#include <dirent.h>
#include <locale.h>
#include <sys/stat.h>
#include <time.h>

enum { STAGE_WAIT_S = 5, STAGE_ANSWERS = 32, STAGE_HELD = 8 };

struct stage {
	struct cluster *cluster;
	struct net_loop *loop;
	struct box box; /* the daemon */
	struct engine *engine;
	struct app *app;
	struct picture picture;
	struct str *out; /* what the script says */
	char dir[32];
	int64_t mono_ms, wall_ms;
	int cols, rows;
	size_t n_asked; /* requests that were told */
	struct {
		char method[8], end[100];
		int code;
		char *body;
	} answers[STAGE_ANSWERS];
	size_t n_answers;
	const char *held_words; /* such requests wait for stage_release(); NULL: none does */
	struct {
		struct evhttp_request *request;
		const struct api_request *is;
	} held[STAGE_HELD];
	size_t n_held;
	bool read_only, is_local_backend, has_no_addresses;
	struct engine_link link; /* instead of the true one */
	bool has_link;
	char link_reason[128];
	void (*start_done)(void *arg, const struct err *err);
	void *start_arg;
	const char *where; /* of the step, for failures */
};

static struct stage *stage_playing;

/* Linked in the place of engine_link_of(): how the API server does is up to the script. */
bool __real_engine_link_of(struct engine *engine, struct engine_link *out);
bool __wrap_engine_link_of(struct engine *engine, struct engine_link *out);
bool __wrap_engine_link_of(struct engine *engine, struct engine_link *out)
{
	if (!stage_playing || !stage_playing->has_link)
		return __real_engine_link_of(engine, out);
	*out = stage_playing->link;
	return true;
}

static inline void stage_set_clock(const struct stage *stage)
{
	clock_set_for_tests(stage->mono_ms * 1000000, stage->wall_ms * 1000000);
}

static inline void stage_init(struct stage *stage, struct str *out)
{
	memset(stage, 0, sizeof *stage);
	stage->out = out;
	stage_playing = stage;
	stage->mono_ms = 1000000;
	stage->wall_ms = 1767312000000; /* 2026-01-02T00:00:00Z */
	stage->cols = 80;
	stage->rows = 24;
	setlocale(LC_CTYPE, "C.UTF-8");
	setenv("TZ", "UTC", 1);
	setenv("XDG_STATE_HOME", "/dev/null/no", 1); /* nothing of this machine */
	snprintf(stage->dir, sizeof stage->dir, "/tmp/sandmux-script.XXXXXX");
	assert_non_null(mkdtemp(stage->dir));
	stage_set_clock(stage);
}

static inline void stage_remove(const char *path)
{
	DIR *dir = opendir(path);
	if (dir) {
		for (struct dirent *entry; (entry = readdir(dir));) {
			if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
				continue;
			char *inside = x_asprintf("%s/%s", path, entry->d_name);
			struct stat st;
			if (lstat(inside, &st) == 0 && S_ISDIR(st.st_mode))
				stage_remove(inside);
			else
				unlink(inside);
			free(inside);
		}
		closedir(dir);
	}
	rmdir(path);
}

static inline void isolation_stage_deinit(struct stage *stage)
{
	if (stage->app) {
		net_loop_run_once(stage->loop, 0); /* what is deferred knows the application */
		app_free(stage->app);
	}
	picture_deinit(&stage->picture);
	clock_set_for_tests(-1, -1);
	if (stage->cluster) {
		void *state = stage->cluster;
		cluster_tear_down(&state);
	} else if (stage->app) {
		engine_free(stage->engine);
		net_loop_free(stage->loop);
	}
	box_stop(&stage->box);
	for (size_t i = 0; i < stage->n_answers; i++)
		free(stage->answers[i].body);
	stage_remove(stage->dir);
	stage_playing = NULL;
}

/* With all that was shown so far. */
static inline void stage_give_up(const struct stage *stage, const char *why)
{
	fprintf(stderr, "%s\n", stage->out->p);
	fail_msg("> %s: %s", stage->where, why);
}

/* Turns the loop until it is so, for STAGE_WAIT_S of real time at most. */
#define STAGE_UNTIL(stage, condition)                                                          \
	do {                                                                                   \
		struct timespec now_;                                                          \
		clock_gettime(CLOCK_MONOTONIC, &now_);                                         \
		for (time_t end_ = now_.tv_sec + STAGE_WAIT_S; !(condition);) {                \
			clock_gettime(CLOCK_MONOTONIC, &now_);                                 \
			if (now_.tv_sec > end_)                                                \
				stage_give_up(stage, "never: " #condition);                    \
			net_loop_run_once((stage)->loop, 10);                                  \
		}                                                                              \
	} while (0)

static inline bool stage_start_backend(void *arg,
	void (*done)(void *done_arg, const struct err *err), void *done_arg, struct err *err)
{
	struct stage *stage = arg;
	(void)err;
	str_add(stage->out, "the backend is started\n");
	stage->start_done = done;
	stage->start_arg = done_arg;
	return true;
}

static inline void stage_on_quit(void *arg)
{
	str_add(((struct stage *)arg)->out, "quits\n");
}

/* Another context with the same API server behind it; "dead": with none; "missing": there is no such context. */
static inline struct engine *stage_open_engine(void *arg, const char *context, struct err *err)
{
	struct stage *stage = arg;
	struct api *api = &stage->cluster->api;
	size_t n;
	char *from = x_asprintf("%s/config", api->dir), *to = x_asprintf("%s/plugin", api->dir);
	char *text = file_read(from, 1 << 20, &n, err);
	char *at = strstr(text, "- name: x\n"), *port = strstr(text, "127.0.0.1:");
	if (strcmp(context, "dead") == 0)
		for (char *p = (char *)memcpy(port, "127.0.0.1:1", 11) + 11; *p != '\n'; p++)
			*p = ' ';
	const char *name = strcmp(context, "missing") == 0 ? "y" : context;
	char *all = x_asprintf("%.*s- name: %s\n%.*scurrent-context: %s\n", (int)(at - text),
		text, name, (int)(strstr(at, "current-context") - at - 10), at + 10, name);
	assert_true(file_write_replace(to, slice_of(all), 0600, err));
	const struct engine_opts opts = { .kubeconfig = to, .context = context };
	struct engine *engine = engine_new(stage->loop, &opts, err);
	free(all);
	free(text);
	free(from);
	free(to);
	return engine;
}

static inline void stage_open_app(struct stage *stage)
{
	struct err err = { 0 };
	const struct app_opts opts = { .engine = stage->engine,
		.in_fd = -1,
		.out_fd = -1,
		.local_dir = stage->dir,
		.on_quit = stage_on_quit,
		.start_backend = stage->is_local_backend ? stage_start_backend : NULL,
		.open_engine = stage->cluster ? stage_open_engine : NULL,
		.arg = stage };
	stage->app = app_new(stage->loop, &opts, &err);
	if (!stage->app)
		fail_msg("%s", err.msg);
	picture_theme(&stage->app->client->theme);
	draw_surface_resize(stage->app->client->surface, stage->cols, stage->rows);
	client_compose(stage->app->client);
}

static inline struct cluster *stage_cluster(struct stage *stage)
{
	void *state = NULL;
	if (!stage->cluster) {
		cluster_set_up(&state);
		stage->cluster = state;
	}
	return stage->cluster;
}

/* "METHOD PATH" has these words in it. Access reviews come when they like and do not count. */
static inline bool stage_is_request(const struct api_request *is, const char *words)
{
	char line[300];
	snprintf(line, sizeof line, "%s %s", is->method, is->path);
	return strstr(line, words) && !strstr(line, "selfsubject");
}

/* The server's clock is ours, and it answers as the script says. */
static inline void stage_answer(
	struct stage *stage, struct evhttp_request *request, const struct api_request *is)
{
	char date[64];
	time_t now = (time_t)(clock_wall_ms() / 1000);
	struct tm tm;
	gmtime_r(&now, &tm);
	strftime(date, sizeof date, "%a, %d %b %Y %H:%M:%S GMT", &tm);
	evhttp_add_header(evhttp_request_get_output_headers(request), "Date", date);
	for (size_t i = stage->n_answers; i-- > 0;) {
		size_t n = strlen(is->path), m = strlen(stage->answers[i].end);
		if (strcmp(is->method, stage->answers[i].method) != 0 || n < m ||
			strcmp(is->path + n - m, stage->answers[i].end) != 0)
			continue;
		if (stage->answers[i].code) /* 0: never */
			api_reply(
				request, stage->answers[i].code, "%s", stage->answers[i].body);
		return;
	}
	if (strcmp(is->method, "GET") != 0 && !strstr(is->path, "selfsubject")) {
		api_reply(request, 200, "{}");
		return;
	}
	cluster_handle(&stage->cluster->api, request, is);
}

static inline void stage_handle(
	struct api *api, struct evhttp_request *request, const struct api_request *is)
{
	struct stage *stage = stage_playing;
	(void)api;
	if (!stage->held_words || !stage_is_request(is, stage->held_words)) {
		stage_answer(stage, request, is);
		return;
	}
	assert_true(stage->n_held < STAGE_HELD);
	stage->held[stage->n_held].request = request;
	stage->held[stage->n_held++].is = is;
}

/* The answers leave; whoever asked hears of them in a later turn of the loop. */
static inline void stage_release(struct stage *stage)
{
	stage->held_words = NULL;
	for (size_t i = 0; i < stage->n_held; i++)
		stage_answer(stage, stage->held[i].request, stage->held[i].is);
	stage->n_held = 0;
}

static inline bool stage_is_listed(const struct stage *stage)
{
	struct fleet_informer_state sources[FLEET_KIND_COUNT];
	size_t n = fleet_informers(engine_fleet(stage->engine), sources, FLEET_KIND_COUNT);
	for (size_t i = 0; i < n; i++)
		if (!sources[i].synced && !sources[i].err)
			return false;
	return n > 0;
}

static inline void stage_open_cluster(struct stage *stage)
{
	struct cluster *cluster = stage_cluster(stage);
	cluster->api.handle = stage_handle;
	stage->loop = cluster->api.loop;
	cluster_open(cluster, (struct engine_opts){ .read_only = stage->read_only,
				      .connect.mode = CONNECT_IN_CLUSTER_POD_IP });
	stage->engine = cluster->engine;
	stage_open_app(stage);
	STAGE_UNTIL(stage, stage_is_listed(stage));
	for (int i = 0; i < 3; i++)
		net_loop_run_once(stage->loop, 0);
	stage->n_asked = cluster->api.n;
}

/* One runtime by its address: a daemon, or nobody. */
static inline void stage_open_direct(struct stage *stage, bool has_daemon)
{
	struct err err = { 0 };
	stage->loop = net_loop_new(&err);
	assert_non_null(stage->loop);
	if (has_daemon) {
		char *root = x_asprintf("%s/box", stage->dir);
		stage->box = box_start(root);
		free(root);
	}
	char url[64], address[64];
	snprintf(url, sizeof url, "http://127.0.0.1:%d", has_daemon ? stage->box.rest : 1);
	snprintf(address, sizeof address, "127.0.0.1:%d", has_daemon ? stage->box.grpc : 1);
	const struct engine_opts opts = { .connect.rest_url = url,
		.connect.grpc_address = address,
		.read_only = stage->read_only };
	stage->engine = engine_new(stage->loop, &opts, &err);
	assert_non_null(stage->engine);
	stage_open_app(stage);
}

/* The person has touched a key or the mouse. */
static inline void stage_touch(const struct stage *stage)
{
	stage->app->client->last_input_ms = stage->mono_ms;
}

static inline void stage_compose(struct stage *stage)
{
	workspace_close_pending(stage->app->workspace);
	client_compose(stage->app->client);
}

static inline bool stage_shows(struct stage *stage, const char *text)
{
	struct str frame;
	str_init(&frame, 1 << 20);
	stage_compose(stage);
	draw_surface_text(stage->app->client->surface, &frame);
	bool found = strstr(frame.p, text) != NULL;
	str_deinit(&frame);
	return found;
}

/* Where a text stands on the last frame. */
static inline bool stage_find(struct stage *stage, const char *text, int *row, int *col)
{
	struct str frame;
	str_init(&frame, 1 << 20);
	draw_surface_text(stage->app->client->surface, &frame);
	const char *at = strstr(frame.p, text), *line = frame.p;
	*row = 0;
	if (at) {
		for (const char *end; (end = strchr(line, '\n')) && end < at; line = end + 1)
			++*row;
		char *before = x_strndup(line, (size_t)(at - line));
		*col = draw_text_cols(before);
		free(before);
	}
	str_deinit(&frame);
	return at != NULL;
}

static inline int stage_by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The requests since the last time, but those of the watches, in order of their text: several may be on their way at
 * once. What is random in them is crossed out. */
static inline void stage_tell_requests(struct stage *stage)
{
	struct api *api = &stage->cluster->api;
	char *lines[API_LOG];
	size_t n = 0;
	for (; stage->n_asked < api->n; stage->n_asked++) {
		const struct api_request *is = &api->log[stage->n_asked];
		if (api_query(is, "resourceVersion") || strstr(is->path, "selfsubject") ||
			api_query(is, "sendInitialEvents") || strcmp(is->path, "/version") == 0)
			continue;
		lines[n++] = x_asprintf("%s %s%s%s %s\n", is->method, is->path,
			is->query[0] ? "?" : "", is->query, is->body);
	}
	qsort(lines, n, sizeof *lines, stage_by_text);
	for (size_t i = 0; i < n; i++) {
		str_add(stage->out, lines[i]);
		free(lines[i]);
	}
}
