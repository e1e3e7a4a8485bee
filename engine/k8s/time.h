// SPDX-License-Identifier: Apache-2.0
/* Dates in objects (apimachinery, meta/v1 Time and MicroTime): RFC 3339 in UTC, with as many digits of fraction as the type of
 * the field has. Read are any offset and up to nine digits. */
#pragma once

#include "engine/base/clock.h"

#include <stdbool.h>
#include <stdint.h>

enum k8s_time_form {
	K8S_TIME = 0,       /* metav1.Time: whole seconds */
	K8S_MICRO_TIME = 6, /* metav1.MicroTime: eventTime, leases */
	K8S_NANO_TIME = 9,  /* RFC3339Nano: annotations of Agent Sandbox */
};

/* out is returned. */
const char *k8s_time_format(
	int64_t wall_ns, enum k8s_time_form form, char out[CLOCK_RFC3339_BYTES]);
const char *k8s_time_now(enum k8s_time_form form, char out[CLOCK_RFC3339_BYTES]);
/* NULL, and what is no date, is false. */
bool k8s_time_parse(const char *text, int64_t *wall_ns);
int64_t k8s_time_ms(const char *text);    /* since 1970; 0 if it is no date */
bool k8s_time_is_micro(const char *text); /* a date with six digits, as MicroTime must have */
