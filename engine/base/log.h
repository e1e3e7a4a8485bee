// SPDX-License-Identifier: Apache-2.0
/* Levels per module, switched at run time ("info,kube:debug,h2:trace"). Nothing is formatted when
 * off. Lines go to a file, and to receivers (the store of records that the log view reads); never to
 * stderr while a terminal interface owns the tty (log_set_stderr). Outside bytes in a line pass
 * safe_text on their way to the file and to stderr; receivers get them raw. Single thread.
 * Errors: ERR_ARG_INVALID, errno. */
#pragma once

#include "engine/base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum log_level { LOG_ERROR, LOG_WARN, LOG_INFO, LOG_DEBUG, LOG_TRACE, LOG_LEVEL_COUNT };

struct err;
bool log_configure(const char *spec, struct err *err); /* ERR_ARG_INVALID names the bad part */
bool log_open_file(const char *path, struct err *err); /* 0600, appended */
void log_set_stderr(bool on);                          /* off by default */
bool log_is_on(const char *module, enum log_level level);
void log_write(const char *module, enum log_level level, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

#define LOG(module, level, ...)                                                                \
	do {                                                                                   \
		if (log_is_on(module, level))                                                  \
			log_write(module, level, __VA_ARGS__);                                 \
	} while (0)

/* Who else gets the lines, at their level, beside file and stderr: a store of records. */
struct log_line {
	int64_t wall_ns;
	enum log_level level;
	const char *module;
	struct slice
		text; /* raw, foreign bytes and all; NUL-terminated; borrowed for the call */
};
struct log_receiver {
	void (*fn)(void *arg, const struct log_line *line);
	void *arg;
	struct log_receiver *next; /* of the log */
};
/* The receiver stays with the caller, who takes it out before it goes. Lines of the time before the first one (the last
 * few hundred) are handed over at once. */
void log_add_receiver(struct log_receiver *receiver);
void log_remove_receiver(struct log_receiver *receiver);
