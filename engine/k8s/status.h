// SPDX-License-Identifier: Apache-2.0
/* The Status of the Kubernetes API (meta/v1): what a failed call is answered with. A client reads it into one of our codes, a
 * server writes it.
 * Errors: ERR_KUBE_BAD_REQUEST, ERR_KUBE_CONFLICT, ERR_KUBE_EXISTS, ERR_KUBE_EXPIRED, ERR_KUBE_FORBIDDEN,
 * ERR_KUBE_INVALID, ERR_KUBE_NAMESPACE_TERMINATING, ERR_KUBE_NOT_FOUND, ERR_KUBE_NOT_SERVED, ERR_KUBE_PROTOCOL,
 * ERR_KUBE_QUOTA, ERR_KUBE_SERVER, ERR_KUBE_THROTTLED, ERR_KUBE_TOO_LARGE, ERR_KUBE_UNAUTHORIZED. */
#pragma once

#include "engine/base/err.h"
#include "engine/base/str.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>

struct cJSON;
struct k8s_resource;

/* Reasons that are read or written (apimachinery, meta/v1 StatusReason). */
enum k8s_reason {
	K8S_BAD_REQUEST,
	K8S_UNAUTHORIZED,
	K8S_FORBIDDEN,
	K8S_NOT_FOUND,
	K8S_METHOD_NOT_ALLOWED,
	K8S_NOT_ACCEPTABLE,
	K8S_CONFLICT,
	K8S_ALREADY_EXISTS,
	K8S_EXPIRED,
	K8S_GONE, /* before Expired had a name */
	K8S_TOO_LARGE,
	K8S_UNSUPPORTED_MEDIA_TYPE,
	K8S_MISDIRECTED, /* 421: a Host that is not served; Kubernetes has no reason for it */
	K8S_INVALID,
	K8S_TOO_MANY_REQUESTS,
	K8S_INTERNAL_ERROR,
	K8S_TIMEOUT,
	K8S_REASON_COUNT
};

struct k8s_status_row {
	int code; /* of HTTP */
	const char *reason;
	enum err_code err;
};
const struct k8s_status_row *k8s_status_row(enum k8s_reason reason);

/* ---- reading */

/* code: of the answer, or of a Status that came as a watch event. object: the decoded body, NULL if it was not JSON; text is
 * the raw body (its beginning is shown when there is no object). Always writes *err (a kube.* code, err.sys = code) and
 * returns false. */
bool k8s_status_to_err(
	int code, const struct cJSON *object, struct slice text, struct err *err);
int64_t k8s_status_retry_after_s(const struct cJSON *object); /* -1: it does not say */

/* ---- writing: each returns a Status that the caller owns */

struct cJSON *k8s_status_success(void);
struct cJSON *k8s_status_new(enum k8s_reason reason, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
struct cJSON *k8s_status_bad_request(const char *format, ...)
	__attribute__((format(printf, 1, 2)));
/* With details.name, group and kind (the plural, as the API server does). r may be NULL. */
struct cJSON *k8s_status_about(
	struct cJSON *status_take, const struct k8s_resource *r, const char *name);
struct cJSON *k8s_status_not_found(const struct k8s_resource *r, const char *name);
struct cJSON *k8s_status_exists(
	const struct k8s_resource *r, const char *name, bool being_deleted);
struct cJSON *k8s_status_conflict(
	const struct k8s_resource *r, const char *name, const char *why);
/* 422 from a list of causes {reason, message, field} (taken). */
struct cJSON *k8s_status_invalid(
	const struct k8s_resource *r, const char *name, struct cJSON *causes_take);
void k8s_status_add_cause(struct cJSON *causes, const char *reason, const char *field,
	const char *format, ...) __attribute__((format(printf, 4, 5)));
int k8s_status_code(const struct cJSON *status); /* 500 if it has none */
