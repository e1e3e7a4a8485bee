// SPDX-License-Identifier: Apache-2.0
/* The one door to the engine for tui/ and cli/. It bundles loop, HTTP, cluster, fleet and telemetry of one
 * context, and makes runtimes for rows. Including this is enough; front ends include nothing below it except
 * engine/base headers.
 * Errors: ERR_ARG_INVALID, ERR_CLAIM_EXPIRED, ERR_CLAIM_FAILED, ERR_CLAIM_TERMINATING, ERR_CONFIG_KUBECONFIG,
 * ERR_CONN_LOST, ERR_GATEWAY_DELETED, ERR_GATEWAY_NO_ADDRESS, ERR_KUBE_FORBIDDEN, ERR_OP_READ_ONLY, ERR_OP_TIMEOUT,
 * ERR_OP_UNSUPPORTED, ERR_PORTFWD_DENIED, ERR_PORTFWD_RUNTIME, ERR_PROC_LOST, ERR_ROUTER_BACKEND,
 * ERR_RUNTIME_UNAVAILABLE, ERR_SANDBOX_DELETED, ERR_SANDBOX_FINISHED, ERR_SANDBOX_MOVED, ERR_SANDBOX_NOT_FOUND,
 * ERR_SANDBOX_NOT_READY, ERR_SANDBOX_NO_ADDRESS, ERR_SANDBOX_NO_SERVICE, ERR_SANDBOX_SUSPENDED,
 * ERR_TEMPLATE_NOT_FOUND, those of engine/base/file.h, those of engine/fleet/fleet.h, those of engine/kube/client.h,
 * those of engine/kube/config.h, those of engine/kube/portforward.h, those of engine/kube/reflector.h, those of
 * engine/net/http.h, those of engine/runtime/runtime.h, those of engine/telemetry/file_sink.h. */
#pragma once

#include "engine/action.h"
#include "engine/base/err.h"
#include "engine/connect/connectivity.h"
#include "engine/connect/probe.h"
#include "engine/contexts.h"
#include "engine/doctor.h"
#include "engine/draft.h"
#include "engine/edit.h"
#include "engine/files/files.h"
#include "engine/files/removal.h"
#include "engine/fleet/bulk.h"
#include "engine/fleet/create_file.h"
#include "engine/fleet/fleet.h"
#include "engine/fleet/maker.h"
#include "engine/fleet/source.h"
#include "engine/fleet/story.h"
#include "engine/fleet/template_policy.h"
#include "engine/fleet/tombstones.h"
#include "engine/fleet/usage.h"
#include "engine/k8s/condition.h"
#include "engine/kinds.h"
#include "engine/kube/dry_run.h"
#include "engine/link.h"
#include "engine/net/loop.h"
#include "engine/net/pty.h"
#include "engine/net/watch.h"
#include "engine/object.h"
#include "engine/podlog/podlog.h"
#include "engine/runtime/runtime.h"
#include "engine/telemetry/span.h"
#include "engine/transfer/queue.h"
#include "engine/transfer/transfer.h"
#include "engine/usage.h"

struct engine;

struct engine_opts {
	/* the cluster; all NULL = kubeconfig rules */
	const char *kubeconfig, *context, *cluster, *user, *server, *certificate_authority,
		*token, *as;
	const char *const *as_groups;
	bool insecure_skip_tls_verify;
	bool in_cluster;
	int64_t request_timeout_ms; /* of one API call */
	int64_t watch_idle_ms;      /* a watch silent for so long is replaced; 0: 90 s */
	const char *namespace_;     /* NULL: the context's */
	bool all_namespaces;
	const char *label_selector;
	struct connect_opts connect; /* how sandboxes are reached */
	bool read_only;
	const char *policy_file; /* engine/fleet/template_policy.h; NULL: none */
	/* Nothing is changed: what would be sent goes to on_write (engine/kube/dry_run.h). */
	enum kube_dry_run dry_run;
	kube_write_fn *on_write;
	void *on_write_arg;
	const char *
		telemetry_file; /* records go there too (engine/telemetry/file_sink.h); NULL: nowhere */
	/* Exec credential plugins (struct kube_plugin_host of engine/kube/config.h): may they ask on our terminal, and who is told what
	 * is being waited for. */
	bool plugins_may_ask;
	void (*on_plugin)(void *arg, const char *text); /* foreign text */
	void *on_plugin_arg;
	bool keeps_deleted; /* sandboxes that went stay in lists for a while: a dashboard */
	bool no_fleet; /* one-shot verbs that need no watches: fleet is still there, its reflectors start on use */
};

/* Options that contradict each other are refused. Does no I/O to the network: the first paint comes before the first answer.
 * Errors: ERR_ARG_INVALID, ERR_CONFIG_*, ERR_FILE_* and ERR_SYSTEM of the files it reads, ERR_KUBE_TLS,
 * ERR_CONN_PLAINTEXT_TOKEN. */
struct engine *engine_new(
	struct net_loop *loop, const struct engine_opts *opts, struct err *err);
void engine_free(struct engine *engine);

void engine_plugins_may_ask(struct engine *engine,
	bool may); /* from now: the terminal is used for something else */
bool engine_is_logging_in(
	const struct engine *engine); /* a plugin is at work: deadlines of ours wait */
struct net_loop *engine_loop(struct engine *engine);
struct fleet *engine_fleet(struct engine *engine); /* NULL in direct mode */
struct telemetry *engine_telemetry(struct engine *engine);
const char *engine_context(const struct engine *engine);   /* for titles: context or URL */
const char *engine_namespace(const struct engine *engine); /* "" = all */
const char *engine_server(const struct engine *engine);
bool engine_is_insecure(const struct engine *engine);
bool engine_is_read_only(const struct engine *engine);
const struct fleet_policy *engine_policy(const struct engine *engine); /* NULL: none */
bool engine_is_local(const struct engine *engine); /* the embedded backend's context */
enum connect_mode engine_connect_mode(const struct engine *engine); /* never CONNECT_DEFAULT */

/* Looks at another namespace ("" = all) from now on: a new fleet, empty until its first answer, in the place of the old
 * one. What was held of the old one (rows, operations) is dead: cancel operations first. Runtimes in use live on. Errors:
 * ERR_OP_UNSUPPORTED (direct mode), those of fleet_new(). */
bool engine_watch_namespace(struct engine *engine, const char *namespace_, struct err *err);

/* Called when the fleet changed, at most once a loop turn. */
void engine_on_change(struct engine *engine, void (*fn)(void *arg), void *arg);

/* The runtime of a row, made on first use and kept while its pod stays; borrowed for this turn: runtime_ref() keeps it. When
 * the pod moved it fails everything with the reason, and is gone when nobody holds it. Errors: see connect_get().
 * uid NULL: the direct one. */
struct runtime *engine_runtime(struct engine *engine, const char *uid, struct err *err);

/* Ends the connections to a row, with every process of ours in it; the sandbox lives on (closeLocal, Disconnect of the client
 * references). False: there was none. */
bool engine_disconnect(struct engine *engine, const char *uid);

/* What a program that leaves would cut off: rollbacks of creates and kills of processes under way. It may turn the loop until
 * there are none, or for as long as it cares to. */
size_t engine_unfinished(const struct engine *engine);

/* Within the setting resolve-timeout something must be known of the name, and within wait_ready_ms it must be ready, both from
 * now on.
 * Resolves NAME of the command line (also as `-o name` prints it) with a fresh look at the cluster (list by name, then wait for Ready when
 * wait_ready_ms > 0) and hands over its row's uid; for headless verbs. Errors: ERR_ARG_INVALID (no
 * cluster), ERR_CLAIM_NOT_FOUND, ERR_SANDBOX_NOT_FOUND, ERR_SANDBOX_NOT_READY, ERR_SANDBOX_SUSPENDED, ERR_SANDBOX_FINISHED, ERR_CLAIM_FAILED,
 * ERR_CLAIM_EXPIRED, ERR_CLAIM_TERMINATING, ERR_OP_TIMEOUT, and kube.* where the lists cannot be read. */
struct engine_resolve;
struct engine_resolve *engine_resolve_start(struct engine *engine, const char *name,
	int64_t wait_ready_ms, void (*done)(void *arg, const struct err *err, const char *uid),
	void *arg, struct err *err);
/* Its time is over, whatever the settings say: done() is called now, with what is known. */
void engine_resolve_end(struct engine_resolve *resolve);
void engine_resolve_cancel(struct engine_resolve *resolve);
/* The error of claims or Sandboxes that have never been listed: a headless verb does not wait it out. NULL if there
 * is none; borrowed for this turn. */
const struct err *engine_source_failure(struct engine *engine);
