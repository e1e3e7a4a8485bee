// SPDX-License-Identifier: Apache-2.0
/* A runtime per sandbox in use, each tied to the pod it was made for: when that is replaced or gone, it is retired with the
 * reason, and lives on only as long as somebody holds it (runtime_ref()).
 * Errors: ERR_OP_CLOSED, ERR_PROC_LOST, ERR_ROUTER_BACKEND, ERR_SANDBOX_DELETED, ERR_SANDBOX_MOVED. */
#pragma once

#include "engine/connect/connectivity.h"

struct connect;
struct fleet;
struct kube_client;
struct net_http;
struct net_loop;
struct telemetry;

/* What it works with; all borrowed, all outlive it. */
struct connect_parts {
	struct net_loop *loop;
	struct net_http *http;
	struct telemetry *telemetry;
	struct kube_client *kube; /* NULL: direct mode */
	bool read_only;
};
/* settings_take: its content is moved, also on failure. In direct mode its runtime is made at once. Errors: those of
 * runtime_new(). */
struct connect *connect_new(const struct connect_parts *parts,
	struct connect_settings *settings_take, struct err *err);
/* What is still held by somebody is closed: memory only. */
void connect_free(struct connect *connect);
const struct connect_settings *connect_settings_of(const struct connect *connect);
struct net_loop *connect_loop(const struct connect *connect);

/* Whose rows the UIDs are; borrowed until the next call or connect_free(). namespace_: what it looks at, "" = all. */
void connect_set_fleet(struct connect *connect, struct fleet *fleet, const char *namespace_);
/* The fleet changed: connections whose pod moved are retired (ERR_SANDBOX_MOVED, ERR_SANDBOX_DELETED,
 * ERR_SANDBOX_SUSPENDED …). */
void connect_fleet_changed(struct connect *connect);

/* The runtime of a row, made on first use and kept; borrowed for this turn: runtime_ref() keeps it. uid NULL: the direct
 * one. Errors: ERR_ARG_INVALID (no sandbox named), ERR_SANDBOX_NOT_FOUND, ERR_SANDBOX_SUSPENDED, ERR_SANDBOX_NOT_READY,
 * ERR_SANDBOX_NO_ADDRESS, ERR_SANDBOX_NO_SERVICE, ERR_PORTFWD_RUNTIME; of the pod's token ERR_ARG_INVALID, ERR_FILE_*;
 * those of runtime_new(). */
struct runtime *connect_get(struct connect *connect, const char *uid, struct err *err);
/* The same by another way than the chosen one, for one question; runtime_unref() it. */
struct runtime *connect_try(
	struct connect *connect, const char *uid, enum connect_mode mode, struct err *err);
/* Its connections end, with all that runs over them; the sandbox lives on. False: there was none. */
bool connect_drop(struct connect *connect, const char *uid);
struct runtime *connect_direct(const struct connect *connect); /* borrowed; NULL: a cluster */
/* runtime_can() of the runtime that connect_get() would make; row NULL: the direct one. */
bool connect_can(const struct connect *connect, const struct fleet_row *row,
	enum runtime_feature feature);
size_t connect_n_killing(
	const struct connect *connect); /* processes: see runtime_n_killing() */
