// SPDX-License-Identifier: Apache-2.0
/* The log: a level for each module, a file, and receivers; what was said before there is one is kept for it. */
#include "engine/base/log.h"

#include "engine/base/clock.h"
#include "engine/base/err.h"
#include "engine/base/mem.h"
#include "engine/base/safe_text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { MODULE_BYTES = 24, MAX_MODULES = 32, EARLY_LINES = 500, LINE_BYTES = 4096 };

static const char *const level_names[] = { "error", "warn", "info", "debug", "trace" };
_Static_assert(sizeof level_names / sizeof level_names[0] == LOG_LEVEL_COUNT, "a name a level");

struct levels {
	enum log_level base;
	size_t n_modules;
	struct {
		char name[MODULE_BYTES];
		enum log_level level;
	} modules[MAX_MODULES];
};

static struct levels levels = { .base = LOG_INFO };
static bool to_stderr;
static int log_fd = -1;

static struct log_receiver *receivers;

/* What nobody has received yet. */
static struct early_line {
	int64_t wall_ns;
	enum log_level level;
	char module[MODULE_BYTES];
	struct slice text;
} early[EARLY_LINES];
static size_t
	n_early; /* since the last receiver; the next goes to early[n_early % EARLY_LINES] */

static bool parse_level(struct slice name, enum log_level *level)
{
	for (int i = 0; i < LOG_LEVEL_COUNT; i++) {
		if (slice_equals(name, level_names[i])) {
			*level = (enum log_level)i;
			return true;
		}
	}
	return false;
}

static bool parse_part(struct levels *into, struct slice part)
{
	const char *colon = memchr(part.p, ':', part.n);
	if (colon == NULL)
		return parse_level(part, &into->base);
	size_t name_bytes = (size_t)(colon - part.p);
	struct slice level = { colon + 1, part.n - name_bytes - 1 };
	if (name_bytes == 0 || name_bytes >= MODULE_BYTES || into->n_modules == MAX_MODULES ||
		!parse_level(level, &into->modules[into->n_modules].level))
		return false;
	char *name = into->modules[into->n_modules++].name;
	memcpy(name, part.p, name_bytes);
	name[name_bytes] = '\0';
	return true;
}

bool log_configure(const char *spec, struct err *err)
{
	struct levels parsed = { .base = LOG_INFO };
	for (const char *p = spec; *p != '\0';) {
		struct slice part = { p, strcspn(p, ",") };
		if (!parse_part(&parsed, part))
			return err_set(err, ERR_ARG_INVALID,
				"bad log setting \"%.*s\": use LEVEL or MODULE:LEVEL, where "
				"LEVEL is error, warn, info, debug or trace",
				(int)part.n, part.p);
		p += part.n;
		p += *p == ',';
	}
	levels = parsed;
	return true;
}

bool log_open_file(const char *path, struct err *err)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	if (fd < 0)
		return err_set_errno(err, errno, "%s", path);
	if (log_fd >= 0)
		close(log_fd);
	log_fd = fd;
	return true;
}

void log_set_stderr(bool on)
{
	to_stderr = on;
}

bool log_is_on(const char *module, enum log_level level)
{
	for (size_t i = 0; i < levels.n_modules; i++)
		if (strcmp(levels.modules[i].name, module) == 0)
			return level <= levels.modules[i].level;
	return level <= levels.base;
}

static void write_line(int fd, const struct log_line *line)
{
	struct str out;
	str_init(&out, LINE_BYTES + 128);
	char *text = safe_text_dup(line->text.p, LINE_BYTES);
	str_addf(&out, "%lld %-5s %s: %s\n", (long long)clock_mono_ms(),
		level_names[line->level], line->module, text);
	ssize_t put = write(fd, out.p, out.n); /* a log that cannot be written is lost */
	(void)put;
	free(text);
	str_deinit(&out);
}

static void forget_early(struct early_line *line)
{
	char *text;
	memcpy(&text, &line->text.p, sizeof text);
	free(text);
	line->text = (struct slice){ 0 };
}

static void keep_early(const struct log_line *line)
{
	struct early_line *to = &early[n_early++ % EARLY_LINES];
	forget_early(to);
	to->wall_ns = line->wall_ns;
	to->level = line->level;
	snprintf(to->module, sizeof to->module, "%s", line->module);
	to->text = (struct slice){ x_strdup(line->text.p), line->text.n };
}

void log_write(const char *module, enum log_level level, const char *format, ...)
{
	struct str raw;
	str_init(&raw, LINE_BYTES / 4);
	va_list args;
	va_start(args, format);
	str_vaddf(&raw, format, args);
	va_end(args);

	const struct log_line line = { clock_wall_ns(), level, module, { raw.p, raw.n } };
	if (receivers == NULL)
		keep_early(&line);
	for (struct log_receiver *to = receivers; to != NULL; to = to->next)
		to->fn(to->arg, &line);
	if (log_fd >= 0)
		write_line(log_fd, &line);
	if (to_stderr)
		write_line(STDERR_FILENO, &line);
	str_deinit(&raw);
}

void log_add_receiver(struct log_receiver *receiver)
{
	receiver->next = receivers;
	receivers = receiver;
	size_t i = n_early > EARLY_LINES ? n_early - EARLY_LINES : 0, n = n_early;
	n_early = 0;
	for (; i < n; i++) {
		struct early_line *from = &early[i % EARLY_LINES];
		const struct log_line line = { from->wall_ns, from->level, from->module,
			from->text };
		receiver->fn(receiver->arg, &line);
		forget_early(from);
	}
}

void log_remove_receiver(struct log_receiver *receiver)
{
	for (struct log_receiver **at = &receivers; *at != NULL; at = &(*at)->next) {
		if (*at != receiver)
			continue;
		*at = receiver->next;
		return;
	}
}
