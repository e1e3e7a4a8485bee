// SPDX-License-Identifier: Apache-2.0
/* sandmux-locald: the embedded backend as a process. Started by `sandmux local up`, or by hand. */
#include "engine/base/err.h"
#include "engine/base/file.h"
#include "engine/base/flags.h"
#include "engine/base/log.h"
#include "engine/base/mem.h"
#include "engine/base/path.h"
#include "engine/base/safe_text.h"
#include "engine/net/loop.h"
#include "local/control/private.h"
#include "local/isolation/isolation.h"
#include "local/server/recover.h"
#include "local/server/server.h"

#include <event2/event.h>
#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static const char usage[] =
	"usage: sandmux-locald [options]\n"
	"  --state-dir DIR        where everything is kept (default: the user's state folder)\n"
	"  --port N               port on 127.0.0.1 (default: that of last time, else a free one)\n"
	"  --daemon-auth token|off  whether daemons want the backend's token (default token)\n"
	"  --isolation bwrap|none   none: sandboxes are plain processes of yours (default bwrap)\n"
	"  --sandboxd PATH        the daemon run in a sandbox (default: beside this program)\n"
	"  --warm N               replicas of the default pool at first start (default 2)\n"
	"  --history-max N        changes kept for watches (default 20000)\n"
	"  --history-seconds N    and for how long (default 300)\n"
	"  --bookmark-seconds N   bookmarks of a watch (default 60)\n"
	"  --disk-floor SIZE      stop the sandbox that grows most when less is free (default 1GiB or 2 %)\n"
	"  --log SPEC             levels, such as info or api:debug\n"
	"  --stderr               log to stderr too\n"
	"  --ready-fd N           write one line there when ready, or why not\n"
	"  --recover              mend the store: put a damaged database aside, keep what can be read\n"
	"  --version, --help\n";

enum { MAX_LINE_BYTES = 1024 };

struct locald_program {
	struct net_loop *loop;
	struct server *server;
	struct server_opts opts;
	char *state_dir;
	int ready_fd;
	int lock_fd;
	bool is_stopping, is_recovery;
};

static int fail_usage(const char *what, const char *value)
{
	fprintf(stderr, "sandmux-locald: %s: %s\n%s", what, value, usage);
	return EXIT_STATUS_USAGE;
}

/* ---- options */

/* What the options fill in, before it is put where it belongs. */
struct locald_arguments {
	int64_t port, warm, history_max, history_ms, bookmark_ms, ready_fd;
	uint64_t disk_floor;
	const char *state_dir, *sandboxd, *log;
	bool daemon_auth, is_isolated, is_stderr, is_recovery;
};

#define SWITCH(field) FLAG_SWITCH, FLAG_FIELD(bool, locald_arguments, field)
#define TEXT(field) FLAG_TEXT, FLAG_FIELD(const char *, locald_arguments, field)
#define SIZE(field) FLAG_SIZE, FLAG_FIELD(uint64_t, locald_arguments, field)
#define NUMBER(field, least, most, times)                                                      \
	FLAG_NUMBER, FLAG_FIELD(int64_t, locald_arguments, field), .min = least, .max = most,  \
								   .unit = times
#define CHOICE(field, yes, no)                                                                 \
	FLAG_CHOICE, FLAG_FIELD(bool, locald_arguments, field), .on = yes, .off = no

static const struct flag rows[] = {
	{ "state-dir", TEXT(state_dir) },
	{ "port", NUMBER(port, 0, 65535, 1) },
	{ "daemon-auth", CHOICE(daemon_auth, "token", "off") },
	{ "isolation", CHOICE(is_isolated, "bwrap", "none") },
	{ "sandboxd", TEXT(sandboxd) },
	{ "warm", NUMBER(warm, 0, 100, 1) },
	{ "history-max", NUMBER(history_max, 1, 1000000, 1) },
	{ "history-seconds", NUMBER(history_ms, 1, 86400, 1000) },
	{ "bookmark-seconds", NUMBER(bookmark_ms, 1, 86400, 1000) },
	{ "disk-floor", SIZE(disk_floor) },
	{ "log", TEXT(log) },
	{ "stderr", SWITCH(is_stderr) },
	{ "ready-fd", NUMBER(ready_fd, 0, 65535, 1) },
	{ "recover", SWITCH(is_recovery) },
};
enum { ROW_COUNT = sizeof rows / sizeof rows[0], OPT_HELP = 256, OPT_VERSION };
_Static_assert(ROW_COUNT < '?', "getopt's own answer is no row");

static const struct option last[] = { { "help", no_argument, NULL, OPT_HELP },
	{ "version", no_argument, NULL, OPT_VERSION }, { 0 } };

static int parse(struct locald_arguments *args, int argc, char **argv)
{
	struct option options[ROW_COUNT + 3];
	int id;
	flags_options(rows, ROW_COUNT, last, options);
	while ((id = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (id == OPT_VERSION) {
			puts("sandmux-locald " SANDMUX_VERSION);
			exit(0);
		} else if (id == OPT_HELP) {
			fputs(usage, stdout);
			exit(0);
		} else if (id == '?') {
			fputs(usage, stderr);
			return EXIT_STATUS_USAGE;
		} else if (!flags_set(&rows[id], args, optarg)) {
			return fail_usage(rows[id].name, optarg);
		}
	}
	if (args->log != NULL && !log_configure(args->log, NULL))
		return fail_usage("log", args->log);
	return optind < argc ? fail_usage("unexpected argument", argv[optind]) : 0;
}

static void use_arguments(struct locald_program *p, const struct locald_arguments *args)
{
	p->state_dir = x_strdup(args->state_dir);
	p->ready_fd = (int)args->ready_fd;
	p->is_recovery = args->is_recovery;
	p->opts = (struct server_opts){ .port = (uint16_t)args->port,
		.daemon_auth = args->daemon_auth,
		.is_isolated = args->is_isolated,
		.sandboxd = args->sandboxd,
		.history_max = (size_t)args->history_max,
		.history_ms = args->history_ms,
		.bookmark_ms = args->bookmark_ms,
		.warm_replicas = (int)args->warm,
		.disk_floor = args->disk_floor };
	if (args->is_stderr)
		log_set_stderr(true);
}

/* "PID", and " PORT" once we serve. */
static bool write_pid(const struct locald_program *p, unsigned port, struct err *err)
{
	char text[48];
	int n = snprintf(text, sizeof text, "%ld", (long)getpid());
	snprintf(text + n, sizeof text - (size_t)n, port ? " %u\n" : "\n", port);
	char *path = path_join(p->state_dir, "pid");
	bool ok = file_write_atomic(path, slice_of(text), 0600, err);
	free(path);
	return ok;
}

/* One backend a directory. The lock goes with the process, however it ends. */
static bool take_lock(struct locald_program *p, struct err *err)
{
	char *path = path_join(p->state_dir, "lock");
	p->lock_fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	free(path);
	if (p->lock_fd < 0)
		return err_set(err, ERR_SYSTEM, "cannot open the lock in %s", p->state_dir);
	if (flock(p->lock_fd, LOCK_EX | LOCK_NB) != 0)
		return err_set(err, ERR_OP_ALREADY_OPEN, "another local backend uses %s",
			p->state_dir);
	return write_pid(p, 0, err);
}

static void say(struct locald_program *p, const char *text)
{
	if (p->ready_fd < 0)
		return;
	size_t n = strlen(text);
	while (n > 0) {
		ssize_t written = write(p->ready_fd, text, n);
		if (written <= 0)
			break;
		text += written;
		n -= (size_t)written;
	}
	close(p->ready_fd);
	p->ready_fd = -1;
}

static void on_stopped(void *arg)
{
	struct locald_program *p = arg;
	net_loop_stop(p->loop);
}

static void on_signal(evutil_socket_t number, short events, void *arg)
{
	struct locald_program *p = arg;
	(void)events;
	LOG("locald", LOG_INFO, "signal %d: stopping", (int)number);
	if (p->is_stopping)
		return;
	p->is_stopping = true;
	server_stop(p->server, on_stopped, p);
}

static bool recover(struct locald_program *p, struct err *err)
{
	struct str report;
	str_init(&report, 1 << 20);
	bool ok = server_recover_run(p->state_dir, &report, err);
	for (const char *line = report.p; line && *line;) {
		size_t n = strcspn(line, "\n");
		char *copy = x_strndup(line, n), *safe = safe_text_dup(copy, MAX_LINE_BYTES);
		puts(safe);
		free(safe);
		free(copy);
		line += n + (line[n] == '\n');
	}
	fflush(stdout);
	str_deinit(&report);
	return ok;
}

static bool run(struct locald_program *p, struct err *err)
{
	char line[160];
	if (!p->state_dir) {
		char *base = file_xdg_dir(FILE_STATE, err);
		if (!base)
			return false;
		p->state_dir = path_join(base, "local");
		free(base);
	}
	p->opts.state_dir = p->state_dir;
	if (!file_make_dirs(p->state_dir, 0700, err) ||
		!control_private_check(p->state_dir, err) || !take_lock(p, err))
		return false;
	if (p->is_recovery)
		return recover(p, err);
	if (p->opts.is_isolated && !isolation_check(err))
		return false;
	char *log = path_join(p->state_dir, "locald.log");
	log_open_file(log, NULL);
	free(log);
	if (!p->opts.is_isolated)
		LOG("locald", LOG_WARN, "%s", isolation_none_warning);
	p->loop = net_loop_new(err);
	p->server = p->loop ? server_start(p->loop, &p->opts, err) : NULL;
	if (!p->server)
		return false;
	if (!write_pid(p, p->server->port, err))
		return false;
	struct event *term = evsignal_new(net_loop_base(p->loop), SIGTERM, on_signal, p);
	struct event *interrupt = evsignal_new(net_loop_base(p->loop), SIGINT, on_signal, p);
	event_add(term, NULL);
	event_add(interrupt, NULL);
	snprintf(line, sizeof line, "ready https://127.0.0.1:%u\n", p->server->port);
	LOG("locald", LOG_INFO, "ready on 127.0.0.1:%u", p->server->port);
	say(p, line);
	net_loop_run(p->loop);
	event_free(term);
	event_free(interrupt);
	return true;
}

int main(int argc, char **argv)
{
	struct locald_arguments args = {
		.daemon_auth = true, .is_isolated = true, .warm = 2, .ready_fd = -1
	};
	struct locald_program p = { .lock_fd = -1 };
	struct err err = { 0 };
	const char *dir = getenv("SANDMUX_LOCAL_DIR");
	args.state_dir = dir && *dir ? dir : NULL;
	umask(077);
	signal(SIGPIPE, SIG_IGN);
	int status = parse(&args, argc, argv);
	use_arguments(&p, &args);
	if (status == 0 && !run(&p, &err)) {
		char *text = x_asprintf("%s: %s%s%s\n", err_name(&err), err.msg,
			*err_hint(&err) ? "; " : "", err_hint(&err));
		fprintf(stderr, "sandmux-locald: %s", text);
		LOG("locald", LOG_ERROR, "%s", err.msg);
		say(&p, text);
		free(text);
		status = (int)err_exit_status(&err);
	}
	server_free(p.server);
	net_loop_free(p.loop);
	free(p.state_dir);
	return status;
}
