// SPDX-License-Identifier: Apache-2.0
/* One line at a time: what a pipe did not take is kept, and until it has gone the sink is busy. */
#include "engine/telemetry/file_sink.h"

#include "engine/base/err.h"
#include "engine/base/mem.h"
#include "engine/base/str.h"
#include "engine/telemetry/otlp_json.h"
#include "engine/telemetry/sink.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

struct file_sink {
	int fd;
	struct str line;
	size_t written; /* of line */
	bool is_torn;   /* the last line lost its end */
};

static bool flush_line(void *arg)
{
	struct file_sink *sink = arg;
	while (sink->written < sink->line.n) {
		ssize_t n = write(
			sink->fd, sink->line.p + sink->written, sink->line.n - sink->written);
		if (n < 0)
			return false;
		sink->written += (size_t)n;
	}
	str_clear(&sink->line);
	sink->written = 0;
	return true;
}

static bool is_busy(void)
{
	return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
}

static enum telemetry_sink_result give_up(struct file_sink *sink)
{
	sink->is_torn = sink->is_torn || sink->written != 0;
	str_clear(&sink->line);
	sink->written = 0;
	return TELEMETRY_SINK_FAILED;
}

static enum telemetry_sink_result write_record(void *arg, const struct telemetry_record *record)
{
	struct file_sink *sink = arg;
	if (!flush_line(sink)) {
		if (is_busy())
			return TELEMETRY_SINK_BUSY;
		give_up(sink); /* of the line before; this one has its own try */
	}
	if (sink->is_torn)
		str_add_char(&sink->line, '\n');
	telemetry_otlp_json_add(&sink->line, record);
	if (!flush_line(sink) && !is_busy())
		return give_up(sink);
	sink->is_torn = false;
	return TELEMETRY_SINK_TAKEN;
}

static void free_sink(void *arg)
{
	struct file_sink *sink = arg;
	close(sink->fd);
	str_deinit(&sink->line);
	free(sink);
}

bool telemetry_file_sink_add(struct telemetry *telemetry, const char *path, struct err *err)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK, 0600);
	if (fd < 0)
		return err_set_errno(err, errno, "%s", path);
	struct file_sink *sink = x_calloc(1, sizeof *sink);
	sink->fd = fd;
	str_init(&sink->line, TELEMETRY_OTLP_JSON_BYTES_MAX);
	const struct telemetry_sink ops = {
		.write = write_record,
		.flush = flush_line,
		.free = free_sink,
		.arg = sink,
	};
	telemetry_sink_add(telemetry, &ops);
	return true;
}
