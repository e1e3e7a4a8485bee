// SPDX-License-Identifier: Apache-2.0
/* What limits a sandbox, and what holds each of them: one row a limit, as data (JSON, for clients) and in words.
 * A limit that nothing holds has a row too, with the reason. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cJSON;

enum isolation_limit_how {
	LIMIT_NONE,      /* asked for or needed, and nothing holds it: why says so */
	LIMIT_CGROUP,    /* the kernel, for all processes of the sandbox together */
	LIMIT_RLIMIT,    /* the kernel, by a resource limit of each process or of their user */
	LIMIT_TMPFS,     /* the kernel, by the size of the mount */
	LIMIT_NAMESPACE, /* the kernel, by a namespace of the sandbox's own */
	LIMIT_WATCHED,   /* measured again and again; the sandbox is stopped above it */
	LIMIT_HOW_COUNT,
};

enum isolation_limit_unit { LIMIT_BYTES, LIMIT_COUNT, LIMIT_MILLI_CPU };

struct isolation_limit_row {
	const char *what; /* "memory", "processes", "/tmp", …; static text */
	uint64_t value;   /* 0: none was set */
	enum isolation_limit_unit unit;
	enum isolation_limit_how how;
	char why[320]; /* why nothing holds it, or what "held" means here; may be "" */
};

enum { LIMITS_MAX_ROWS = 16 };
struct isolation_limits {
	struct isolation_limit_row rows[LIMITS_MAX_ROWS];
	size_t n;
};

/* A row more; why is a printf format, NULL for none. More than LIMITS_MAX_ROWS are dropped. */
void isolation_limits_add(struct isolation_limits *limits, const char *what, uint64_t value,
	enum isolation_limit_unit unit, enum isolation_limit_how how, const char *why, ...)
	__attribute__((format(printf, 6, 7)));

const char *isolation_limit_how_name(enum isolation_limit_how how); /* "none", "cgroup", … */

/* A quantity as Kubernetes writes it: "1Gi", "1536Mi", "500m", "1024". */
enum { LIMIT_TEXT_BYTES = 24 };
const char *isolation_limit_format(
	uint64_t value, enum isolation_limit_unit unit, char out[LIMIT_TEXT_BYTES]);

/* [{"what":"memory","value":"2Gi","how":"cgroup"},{"what":"cpu","how":"none","why":"…"}]; cJSON_Delete() it. */
struct cJSON *isolation_limits_json(const struct isolation_limits *limits);
