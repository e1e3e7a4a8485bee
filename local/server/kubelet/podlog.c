// SPDX-License-Identifier: Apache-2.0
/* The daemon writes into a FIFO; each line gets its time and goes to the file. Our end stays open while the
 * daemon is away, so that nothing is lost in between. */
#include "local/server/kubelet/run.h"

#include "engine/base/clock.h"
#include "engine/base/err.h"
#include "engine/base/path.h"
#include "engine/base/str.h"
#include "engine/net/loop.h"

#include <errno.h>
#include <event2/event.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_FILE_BYTES = 4 << 20, MAX_LINE_BYTES = 16384, READ_BYTES = 16384 };
/* What a sandbox may write per second: the file is bounded, this bounds the wear of the disk. The reader
 * never stops, which would stop the daemon at its next line. */
enum { RATE_BYTES = 512 << 10, RATE_MS = 1000 };

struct kubelet_podlog {
	struct server *server;
	char *path, *older, *fifo;
	int file;
	size_t written;
	struct str line;
	int64_t window_ms; /* when this second began */
	size_t window_bytes, dropped;
	struct event *readable;
};

static bool open_file(struct kubelet_podlog *log, struct err *err)
{
	rename(log->path, log->older);
	log->written = 0;
	log->file =
		open(log->path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
	return log->file >= 0 || err_set_errno(err, errno, "%s", log->path);
}

static void put_line(struct kubelet_podlog *log, const char *line, size_t n)
{
	char now[CLOCK_RFC3339_BYTES];
	struct str text;
	str_init(&text, MAX_LINE_BYTES + 64);
	clock_format_rfc3339(clock_wall_ns(), 9, now);
	str_addf(&text, "%s ", now);
	str_add_bytes(&text, line, n);
	str_add_char(&text, '\n');
	if (log->written + text.n > MAX_FILE_BYTES && log->file >= 0) {
		close(log->file);
		open_file(log, NULL);
	}
	if (log->file >= 0 && write(log->file, text.p, text.n) > 0)
		log->written += text.n;
	log->window_bytes += text.n;
	str_deinit(&text);
}

static void write_line(struct kubelet_podlog *log)
{
	int64_t now = clock_mono_ms();
	if (now - log->window_ms >= RATE_MS) {
		char note[64];
		int n = snprintf(note, sizeof note, "(%zu lines dropped: too many at once)",
			log->dropped);
		log->window_ms = now;
		log->window_bytes = 0;
		if (log->dropped > 0)
			put_line(log, note, (size_t)n);
		log->dropped = 0;
	}
	if (log->window_bytes + log->line.n > RATE_BYTES)
		log->dropped++;
	else
		put_line(log, log->line.p, log->line.n);
	str_clear(&log->line);
}

static void on_readable(evutil_socket_t fd, short events, void *arg)
{
	struct kubelet_podlog *log = arg;
	char bytes[READ_BYTES];
	ssize_t n = read(fd, bytes, sizeof bytes);
	(void)events;
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		if (log->line.n > 0)
			write_line(log);
		event_del(log->readable);
		return;
	}
	for (ssize_t i = 0; i < n; i++) {
		if (bytes[i] == '\n' || log->line.n >= MAX_LINE_BYTES - 1)
			write_line(log);
		if (bytes[i] != '\n')
			str_add_char(&log->line, bytes[i]);
	}
	server_tell(log->server);
}

struct kubelet_podlog *kubelet_podlog_open(
	struct server *s, const char *folder, struct err *err)
{
	struct kubelet_podlog *log = x_calloc(1, sizeof *log);
	log->server = s;
	log->path = path_join(folder, "log");
	log->older = path_join(folder, "log.1");
	log->fifo = path_join(folder, "output");
	log->file = -1;
	str_init(&log->line, MAX_LINE_BYTES);
	if (!open_file(log, err))
		goto fail;
	unlink(log->fifo);
	int fd = mkfifo(log->fifo, 0600) == 0
			 ? open(log->fifo, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW)
			 : -1;
	if (fd < 0) {
		err_set_errno(err, errno, "%s", log->fifo);
		goto fail;
	}
	log->readable =
		event_new(net_loop_base(s->loop), fd, EV_READ | EV_PERSIST, on_readable, log);
	event_add(log->readable, NULL);
	return log;
fail:
	kubelet_podlog_close(log);
	return NULL;
}

void kubelet_podlog_rotate(struct kubelet_podlog *log)
{
	if (log->line.n > 0)
		write_line(log);
	if (log->file >= 0)
		close(log->file);
	open_file(log, NULL);
}

const char *kubelet_podlog_path(const struct kubelet_podlog *log)
{
	return log->fifo;
}

void kubelet_podlog_close(struct kubelet_podlog *log)
{
	if (!log)
		return;
	if (log->readable) {
		close(event_get_fd(log->readable));
		event_free(log->readable);
	}
	if (log->file >= 0)
		close(log->file);
	str_deinit(&log->line);
	free(log->path);
	free(log->older);
	free(log->fifo);
	free(log);
}
