// SPDX-License-Identifier: Apache-2.0
/* Levels per module, switched at run time ("info,kube:debug,h2:trace"). Nothing is formatted when
 * off. Lines go to a file, and the last few hundred stay in memory for the log view; never to
 * stderr while a terminal interface owns the tty (log_set_sink). Outside bytes in a line pass
 * safe_text here. Single thread. */
#pragma once

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

/* The lines kept in memory, newest last. fn may not log. */
struct log_line {
	int64_t wall_ms;
	enum log_level level;
	const char *module;
	const char *text;
};
typedef void log_each_fn(void *arg, const struct log_line *line);
void log_each(log_each_fn *fn, void *arg);
uint64_t log_revision(void); /* rises with every line */
