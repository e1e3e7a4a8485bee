// SPDX-License-Identifier: Apache-2.0
/* Time. Waiting and ages are monotonic; dates are wall clock. Tests can replace both. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

int64_t clock_mono_ms(void);
int64_t clock_mono_ns(void);
int64_t clock_wall_ms(void); /* since 1970 UTC */
int64_t clock_wall_ns(void);

/* Replaces the clock by fixed values until called with negative ones (tests only). */
void clock_set_for_tests(int64_t mono_ns, int64_t wall_ns);

enum { CLOCK_RFC3339_BYTES = 40 };
/* RFC 3339 in UTC. digits of fraction: 0, 3, 6 (Kubernetes MicroTime) or 9. */
const char *clock_format_rfc3339(int64_t wall_ns, int digits, char out[CLOCK_RFC3339_BYTES]);
/* Accepts any offset and 0–9 digits of fraction. False if text is not a date. */
bool clock_parse_rfc3339(const char *text, int64_t *wall_ns);
/* "Fri, 02 Jan 2026 03:04:05 GMT" (RFC 9110 section 5.6.7) to seconds since 1970. */
bool clock_parse_http_date(const char *text, int64_t *wall_seconds);

enum { CLOCK_AGE_BYTES = 16 };
/* Short age as kubectl prints it: 5s, 3m12s, 4h, 12d. */
const char *clock_format_age(int64_t age_ms, char out[CLOCK_AGE_BYTES]);
/* "180s", "3m", "1h30m", "250ms", plain "180" = seconds. False if it is none of these. */
bool clock_parse_duration(const char *text, int64_t *ms);
