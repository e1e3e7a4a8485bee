// SPDX-License-Identifier: Apache-2.0
/* The steps of a script. */
#pragma once

#include "engine/base/settings.h"
#include "tests/unit/tui/script/stage.h"

static inline void step_size(struct stage *stage, char *args)
{
	if (sscanf(args, "%d %d", &stage->cols, &stage->rows) != 2)
		fail_msg("%s: COLS ROWS", stage->where);
	if (stage->app)
		draw_surface_resize(stage->app->client->surface, stage->cols, stage->rows);
}

static inline void step_open(struct stage *stage, char *args)
{
	stage->read_only = strstr(args, "read-only") != NULL;
	stage->is_local_backend = strstr(args, "local") != NULL;
	if (strstr(args, "direct") || strstr(args, "daemon"))
		stage_open_direct(stage, strstr(args, "daemon") != NULL);
	else
		stage_open_cluster(stage);
	if (stage->is_local_backend)
		stage->engine->is_local = true;
}

/* LINE: the person's editor; the file is its last argument */
static inline void step_editor(struct stage *stage, char *args)
{
	(void)stage;
	unsetenv("VISUAL");
	setenv("EDITOR", args, 1);
}

/* COLLECTION JSON: before it is opened */
static inline void step_add(struct stage *stage, char *args)
{
	char *json = strchr(args, ' ');
	assert_non_null(json);
	*json++ = 0;
	cluster_add(stage_cluster(stage), args, "%s", json);
}

/* COLLECTION TYPE JSON: an event of its latest watch */
static inline void step_tell(struct stage *stage, char *args)
{
	char *type = strchr(args, ' '), *json = type ? strchr(type + 1, ' ') : NULL;
	assert_non_null(json);
	*type++ = 0;
	*json++ = 0;
	cluster_tell(stage_cluster(stage), args, type, "%s", json);
}

static inline void step_apply_change(struct stage *stage, char *args, enum kube_change change)
{
	static const char *const names[] = { "claim", "sandbox", "pod", "pool", "template",
		"event" };
	char *json = strchr(args, ' ');
	struct err err;
	assert_non_null(json);
	*json++ = 0;
	for (char *p = json; *p; p++)
		*p = *p == '\'' ? '"' : *p;
	cJSON *object = json_parse(slice_of(json), &err);
	if (!object)
		fail_msg("%s: %s in %s", stage->where, err.msg, json);
	for (int i = 0; i < STORE_KIND_COUNT; i++)
		if (strcmp(names[i], args) == 0)
			fleet_store_apply(&engine_fleet(stage->engine)->store,
				(enum fleet_store_kind)i, change, object);
	cJSON_Delete(object);
	net_loop_run_once(stage->loop, 0);
}

/* KIND JSON, as a watch would bring it */
static inline void step_apply(struct stage *stage, char *args)
{
	step_apply_change(stage, args, KUBE_MODIFIED);
}

static inline void step_gone(struct stage *stage, char *args)
{
	step_apply_change(stage, args, KUBE_DELETED);
}

/* "NAME CREATED [REASON]": a claim with its Sandbox and pod; Ready without a reason */
static inline void step_ready(struct stage *stage, char *args)
{
	char name[64] = "", created[40] = "", reason[40] = "DependenciesReady";
	int n = sscanf(args, "%63s %39s %39s", name, created, reason);
	const char *status = n == 3 ? "False" : "True";
	static const char *const formats[] = {
		"claim {'metadata':{'name':'%s','namespace':'demo','uid':'claim-%s',"
		"'generation':1,'creationTimestamp':'%sZ'},'spec':{'warmPoolRef':{'name':'pool'}},"
		"'status':{'sandbox':{'name':'%s'},'conditions':[{'type':'Ready','status':'%s',"
		"'reason':'%s','message':'it is so','lastTransitionTime':'2026-01-01T12:00:00Z',"
		"'observedGeneration':1}]}}",
		"sandbox {'metadata':{'name':'%s','namespace':'demo','uid':'sandbox-%s',"
		"'generation':1,'creationTimestamp':'%sZ','labels':"
		"{'agents.x-k8s.io/claim-uid':'claim-%s'}},'spec':{},'status':{'conditions':["
		"{'type':'Ready','status':'%s','reason':'%s','message':'it is so',"
		"'lastTransitionTime':'2026-01-01T12:00:00Z','observedGeneration':1}]}}",
		"pod {'metadata':{'name':'%s','namespace':'demo','uid':'pod-%s',"
		"'creationTimestamp':'%sZ','ownerReferences':[{'kind':'Sandbox','name':'%s',"
		"'uid':'sandbox-NAME','controller':true}]},'spec':{'nodeName':'node-1'},"
		"'status':{'phase':'Running','podIP':'127.77.0.1','conditions':[{'type':'Ready',"
		"'status':'%s','reason':'%s'}]}}",
	};
	for (int i = 0; i < 3; i++) {
		char *text, *mark;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
		text = x_asprintf(formats[i], name, name, created, name, status, reason);
#pragma GCC diagnostic pop
		if ((mark = strstr(text, "NAME'"))) {
			char *whole = x_asprintf(
				"%.*s%s%s", (int)(mark - text), text, name, mark + 4);
			free(text);
			text = whole;
		}
		if (stage->has_no_addresses && (mark = strstr(text, "'podIP'")))
			memmove(mark, strchr(mark, ',') + 1, strlen(strchr(mark, ',')));
		step_apply(stage, text);
		free(text);
	}
}

/* Pods that are made from now have no address: what would be asked of them fails at once. */
static inline void step_no_addresses(struct stage *stage, char *args)
{
	(void)args;
	stage->has_no_addresses = true;
}

/* METHOD END CODE JSON: what is answered where the path ends so; CODE 0: nothing ever */
static inline void step_answer(struct stage *stage, char *args)
{
	int at = 0;
	size_t n = stage->n_answers++;
	stage_cluster(stage);
	assert_true(n < STAGE_ANSWERS);
	if (sscanf(args, "%7s %99s %d %n", stage->answers[n].method, stage->answers[n].end,
		    &stage->answers[n].code, &at) != 3 ||
		!at)
		fail_msg("%s: METHOD END CODE JSON", stage->where);
	stage->answers[n].body = x_strdup(args + at);
	for (char *p = stage->answers[n].body; *p; p++)
		*p = *p == '\'' ? '"' : *p;
}

static inline void step_refuse(struct stage *stage, char *args)
{
	cluster_refuse(stage_cluster(stage), args);
}

static inline void step_forbid(struct stage *stage, char *args)
{
	cluster_collection(stage_cluster(stage), args)->is_forbidden = true;
}

static inline void step_requests(struct stage *stage, char *args)
{
	(void)args;
	stage_tell_requests(stage);
}

/* ---- what a person does */

static inline void step_key(struct stage *stage, char *args)
{
	for (char *rest = args, *name; (name = strsep(&rest, " "));) {
		struct draw_key key;
		if (!draw_key_parse(name, &key))
			fail_msg("%s: no key %s", stage->where, name);
		stage_touch(stage);
		client_dispatch_key(stage->app->client, &key);
	}
}

static inline void step_type(struct stage *stage, char *args)
{
	stage_touch(stage);
	for (; *args; args++) {
		struct draw_key key = { .codepoint = (unsigned char)*args };
		client_dispatch_key(stage->app->client, &key);
	}
}

/* "\e", "\r", "\n", "\t", "\a", "\\" in what a line of a script cannot hold */
static inline size_t step_unescape(char *text)
{
	static const char letters[] = "ernta\\", bytes[] = "\033\r\n\t\a\\";
	size_t n = 0;
	for (const char *p = text; *p; p++) {
		const char *at = *p == '\\' && p[1] ? strchr(letters, p[1]) : NULL;
		text[n++] = at ? bytes[at - letters] : *p;
		p += at != NULL;
	}
	text[n] = 0;
	return n;
}

static inline void step_paste(struct stage *stage, char *args)
{
	size_t n = step_unescape(args);
	client_dispatch_paste(stage->app->client, (struct slice){ args, n }, false);
}

static inline void step_run(struct stage *stage, char *args)
{
	struct err err = { 0 };
	if (!app_run(stage->app, args, &err))
		str_addf(stage->out, "refused: %s: %s\n", err_name(&err), err.msg);
}

/* "ROW COL" or a text that is on the screen, its first letter meant */
static inline void step_place(struct stage *stage, const char *args, int *row, int *col)
{
	int at = 0;
	if (sscanf(args, "%d %d%n", row, col, &at) == 2 && !args[at])
		return;
	if (!stage_find(stage, args, row, col))
		stage_give_up(stage, "that is not on the screen");
}

static inline void step_mouse(struct stage *stage, enum draw_mouse_action action, char *args)
{
	int button = 1, clicks = 1;
	unsigned mods = 0;
	for (; *args == '-' && args[1]; args += strspn(args, " ")) { /* -2 -shift -double */
		char word[16] = "";
		sscanf(args, "%15s", word);
		args += strlen(word);
		if (strcmp(word, "-2") == 0 || strcmp(word, "-3") == 0)
			button = word[1] - '0';
		else if (strcmp(word, "-double") == 0)
			clicks = 2;
		else
			mods |= strcmp(word, "-shift") == 0 ? (unsigned)MOD_SHIFT
				: strcmp(word, "-alt") == 0 ? (unsigned)MOD_ALT
							    : (unsigned)MOD_CTRL;
	}
	struct draw_mouse mouse = { action, button, 0, 0, mods, clicks };
	step_place(stage, args, &mouse.row, &mouse.col);
	stage_touch(stage);
	client_dispatch_mouse(stage->app->client, &mouse);
}

static inline void step_click(struct stage *stage, char *args)
{
	step_mouse(stage, MOUSE_PRESS, args);
	if (!stage_find(stage, args, &(int){ 0 }, &(int){ 0 }))
		stage_compose(stage);
	step_mouse(stage, MOUSE_RELEASE, args);
}

#define STEP_MOUSE(name, action)                                                               \
	static inline void step_##name(struct stage *stage, char *args)                        \
	{                                                                                      \
		step_mouse(stage, action, args);                                               \
	}
STEP_MOUSE(press, MOUSE_PRESS)
STEP_MOUSE(release, MOUSE_RELEASE)
STEP_MOUSE(drag, MOUSE_DRAG)
STEP_MOUSE(move, MOUSE_MOVE)
STEP_MOUSE(wheel_up, MOUSE_WHEEL_UP)
STEP_MOUSE(wheel_down, MOUSE_WHEEL_DOWN)

static inline void step_focus(struct stage *stage, char *args)
{
	client_dispatch_focus(stage->app->client, strcmp(args, "in") == 0);
}

/* NAME VALUE, for the rest of this script. */
static inline void step_setting(struct stage *stage, char *args)
{
	struct err err = { 0 };
	char *value = args + strcspn(args, " ");
	(void)stage;
	if (*value)
		*value++ = '\0';
	if (!setting_set(args, value, &err))
		fail_msg("%s", err.msg);
}

/* ---- time */

static inline void step_pass(struct stage *stage, char *args)
{
	stage->mono_ms += strtol(args, NULL, 10);
	stage->wall_ms += strtol(args, NULL, 10);
	stage_set_clock(stage);
}

static inline void step_look_for_reading(void *arg, struct view *view)
{
	const struct views_files *files = (const struct views_files *)view;
	if (view->class == &view_files &&
		(files->panes[0].is_reading || files->panes[1].is_reading))
		*(bool *)arg = true;
}

static inline bool step_is_reading(struct stage *stage)
{
	bool is_reading = false;
	workspace_tabs_each_view(stage->app->workspace, step_look_for_reading, &is_reading);
	return is_reading;
}

/* A text is on the screen, and no folder is being read any more. */
static inline void step_until(struct stage *stage, char *args)
{
	STAGE_UNTIL(stage, stage_shows(stage, args) && !step_is_reading(stage));
}

static inline void step_until_not(struct stage *stage, char *args)
{
	STAGE_UNTIL(stage, !stage_shows(stage, args) && !step_is_reading(stage));
}

static inline size_t step_count_asked(const struct stage *stage, const char *words)
{
	size_t n = 0;
	for (size_t i = stage->n_asked; i < stage->cluster->api.n; i++)
		n += stage_is_request(&stage->cluster->api.log[i], words);
	return n;
}

/* [N] WORDS: so many requests have come (1) whose "METHOD PATH" has these words in it. They are answered after that, so
 * what is shown is what a person sees meanwhile. */
static inline void step_until_asked(struct stage *stage, char *args)
{
	char *words = args;
	size_t n = (size_t)strtol(args, &words, 10);
	n = n ? n : 1;
	words += strspn(words, " ");
	stage->held_words = words;
	STAGE_UNTIL(stage, step_count_asked(stage, words) >= n);
	stage_release(stage);
	stage_tell_requests(stage);
}

/* So many of the operations on sandboxes are under way; none without a number. */
static inline void step_until_idle(struct stage *stage, char *args)
{
	size_t n = (size_t)strtol(args, NULL, 10);
	STAGE_UNTIL(stage, views_actions_running(stage->app->workspace->host->actions) == n);
}

/* ---- what is there */

/* PATH SIZE [MODE]; a PATH with / at its end is a folder, with | a pipe, "a>b" a link */
static inline void step_file(struct stage *stage, char *args)
{
	char name[100], *target;
	int size = 0;
	unsigned mode = 0644;
	sscanf(args, "%99s %d %o", name, &size, &mode);
	char *path = x_asprintf("%s/%s", stage->dir, name);
	if ((target = strchr(path, '>'))) {
		*target = 0;
		assert_int_equal(0, symlink(target + 1, path));
	} else if (path[strlen(path) - 1] == '|') {
		path[strlen(path) - 1] = 0;
		assert_int_equal(0, mkfifo(path, 0644));
	} else if (path[strlen(path) - 1] == '/') {
		assert_int_equal(0, mkdir(path, 0755));
	} else {
		int fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0644);
		assert_true(fd >= 0);
		assert_int_equal(0, ftruncate(fd, size));
		assert_int_equal(0, fchmod(fd, mode));
		close(fd);
	}
	time_t when = 1767225600; /* the day before */
	struct timespec times[2] = { { when, 0 }, { when, 0 } };
	assert_int_equal(0, utimensat(AT_FDCWD, path, times, AT_SYMLINK_NOFOLLOW));
	free(path);
}

/* MODE PATH */
static inline void step_chmod(struct stage *stage, char *args)
{
	unsigned mode;
	char name[100];
	assert_int_equal(2, sscanf(args, "%o %99s", &mode, name));
	char *path = x_asprintf("%s/%s", stage->dir, name);
	assert_int_equal(0, chmod(path, mode));
	free(path);
}

/* PATH TEXT */
static inline void step_write(struct stage *stage, char *args)
{
	char *text = strchr(args, ' ');
	struct err err;
	assert_non_null(text);
	*text++ = 0;
	size_t n = step_unescape(text);
	char *path = x_asprintf("%s/%s", stage->dir, args);
	if (!file_write_atomic(path, (struct slice){ text, n }, 0755, &err))
		fail_msg("%s", err.msg);
	free(path);
}

/* What a program in the focused pane writes. */
static inline void step_feed(struct stage *stage, char *args)
{
	struct view *view = workspace_focused(stage->app->workspace);
	assert_ptr_equal(view->class, &view_shell);
	size_t n = step_unescape(args);
	term_feed(shell_of(view)->term, args, n);
}

static void step_feed_tab(void *arg, struct view *view)
{
	char **text = arg;
	if (view->class != &view_shell || !*text)
		return;
	term_feed(shell_of(view)->term, *text, strlen(*text));
	shell_of(view)->has_output = true;
	*text = NULL;
}

/* The same of the first shell there is, wherever. */
static inline void step_feed_first(struct stage *stage, char *args)
{
	step_unescape(args);
	workspace_tabs_each_view(stage->app->workspace, step_feed_tab, &args);
}

/* Every collection has been read, or refused. */
static inline void step_until_listed(struct stage *stage, char *args)
{
	(void)args;
	STAGE_UNTIL(stage, stage_is_listed(stage));
}

static inline void step_until_live(struct stage *stage, char *args)
{
	const struct views_shell *shell = shell_of(workspace_focused(stage->app->workspace));
	(void)args;
	STAGE_UNTIL(stage, shell->session->state == SESSION_RUNNING);
}

/* As if a process ran in the focused pane; what is typed is told by step_typed(). */
static inline void step_alive(struct stage *stage, char *args)
{
	struct views_shell *shell = shell_of(workspace_focused(stage->app->workspace));
	shell->session->state = strcmp(args, "no") == 0 ? SESSION_WAITING : SESSION_RUNNING;
}

static inline void step_typed(struct stage *stage, char *args)
{
	struct views_shell *shell = shell_of(workspace_focused(stage->app->workspace));
	(void)args;
	str_add(stage->out, "typed \"");
	for (size_t i = 0; i < shell->session->n_held; i++) {
		unsigned char c = (unsigned char)shell->session->held[i];
		if (c < ' ' || c == 127)
			str_addf(stage->out, "\\x%02x", c);
		else
			str_add_char(stage->out, (char)c);
	}
	str_add(stage->out, "\"\n");
	shell->session->n_held = 0;
}

/* What the focused view tells about itself. */
static inline void step_tells(struct stage *stage, char *args)
{
	struct view *view = workspace_focused(stage->app->workspace);
	const struct view_class *class = view->class;
	struct str text;
	(void)args;
	str_init(&text, 4096);
	class->title(view, &text);
	str_addf(
		stage->out, "%s \"%s\" scope %d", class->name, text.p, (int)class->scope(view));
	str_clear(&text);
	const char *busy = class->busy ? class->busy(view, &text) : NULL;
	str_addf(stage->out, " busy \"%s\" marks %u redraw after %d", busy ? busy : "",
		class->marks ? class->marks(view) : 0,
		class->redraw_after_ms ? (int)class->redraw_after_ms(view) : 0);
	str_addf(stage->out, " motion %d\n", class->wants_motion && class->wants_motion(view));
	str_deinit(&text);
}

/* ---- what comes by itself */

/* STATE [refused | WORDS]: as if the API server were so since now */
static inline void step_link(struct stage *stage, char *args)
{
	static const char *const names[] = { "waiting", "live", "slow", "silent", "down" };
	char name[16] = "";
	int at = 0;
	sscanf(args, "%15s %n", name, &at);
	struct engine_link *link = &stage->link;
	for (int i = 0; i < 5; i++)
		if (strcmp(name, names[i]) == 0)
			link->state = (enum engine_link_state)i;
	snprintf(stage->link_reason, sizeof stage->link_reason, "%s", at ? args + at : "");
	link->is_refused = strcmp(stage->link_reason, "refused") == 0;
	link->reason = stage->link_reason;
	link->since_ms = stage->mono_ms;
	link->as_of_wall_ms = stage->wall_ms;
	link->took_ms = 3000;
	link->revision++;
	stage->has_link = true;
}

static void step_on_answered(void *arg, struct widget_dialog *dialog, int button)
{
	struct stage *stage = arg;
	(void)dialog;
	str_addf(stage->out, "answered %d\n", button);
}

/* A question that nobody has asked for. */
static inline void step_surprise(struct stage *stage, char *args)
{
	struct widget_dialog *dialog = widget_dialog_new(args, step_on_answered, stage, NULL);
	widget_dialog_add_text(dialog, "It is asked by itself.");
	widget_dialog_add_button(dialog, "&Yes");
	widget_dialog_add_button(dialog, "&No");
	widget_dialog_focus_button(dialog, 1);
	workspace_push_dialog(stage->app->workspace, dialog);
}

static inline void step_draw(struct stage *stage, char *args)
{
	(void)stage;
	(void)args;
}

static inline void step_backend(struct stage *stage, char *args)
{
	struct err err;
	assert_non_null(stage->start_done);
	err_set(&err, ERR_OP_TIMEOUT, "%s", args);
	stage->start_done(stage->start_arg, strcmp(args, "ok") == 0 ? NULL : &err);
}

static const struct step {
	const char *name;
	void (*run)(struct stage *stage, char *args);
} steps[] = {
	{ "setting", step_setting },
	{ "size", step_size },
	{ "open", step_open },
	{ "add", step_add },
	{ "tell", step_tell },
	{ "apply", step_apply },
	{ "gone", step_gone },
	{ "ready", step_ready },
	{ "no-addresses", step_no_addresses },
	{ "answer", step_answer },
	{ "refuse", step_refuse },
	{ "forbid", step_forbid },
	{ "requests", step_requests },
	{ "key", step_key },
	{ "type", step_type },
	{ "paste", step_paste },
	{ "run", step_run },
	{ "click", step_click },
	{ "press", step_press },
	{ "release", step_release },
	{ "drag", step_drag },
	{ "move", step_move },
	{ "wheel-up", step_wheel_up },
	{ "wheel-down", step_wheel_down },
	{ "focus", step_focus },
	{ "pass", step_pass },
	{ "until", step_until },
	{ "until-not", step_until_not },
	{ "until-asked", step_until_asked },
	{ "until-idle", step_until_idle },
	{ "file", step_file },
	{ "write", step_write },
	{ "chmod", step_chmod },
	{ "feed", step_feed },
	{ "feed-first", step_feed_first },
	{ "until-live", step_until_live },
	{ "until-listed", step_until_listed },
	{ "alive", step_alive },
	{ "typed", step_typed },
	{ "backend", step_backend },
	{ "tells", step_tells },
	{ "draw", step_draw },
	{ "link", step_link },
	{ "surprise", step_surprise },
	{ "editor", step_editor },
};
