// SPDX-License-Identifier: Apache-2.0
/* Exec credential plugins (client.authentication.k8s.io v1 and v1beta1), run on the loop: nothing blocks.
 * One run is shared by all who wait; the answer is kept until it expires. What the plugin writes is never put in
 * an error; its stderr goes to the debug log and, line by line, to
 * whoever waits (kube_plugin_host), or to the terminal itself where it may ask there.
 * Errors: ERR_CONFIG_EXEC_PLUGIN, errno, those of engine/net/watch.h. */
#pragma once

#include "engine/kube/config_internal.h"

struct err;
struct net_loop;
struct kube_exec;

struct kube_exec_answer {
	char *token;              /* or NULL */
	char *cert_pem, *key_pem; /* both or neither */
	int64_t expires_wall_ms;  /* 0: valid for the life of the process */
};

/* spec and host are borrowed and must outlive it. */
struct kube_exec *kube_exec_new(struct net_loop *loop, const struct kube_exec_spec *spec,
	const struct kube_plugin_host *host);
void kube_exec_free(
	struct kube_exec *exec); /* ends a running plugin; no callback comes after */
/* The answer in hand, NULL if there is none or it has expired. */
const struct kube_exec_answer *kube_exec_answer(const struct kube_exec *exec);
bool kube_exec_is_running(const struct kube_exec *exec);
/* The server rejected the answer: forget it. */
void kube_exec_forget(struct kube_exec *exec);
/* Runs the plugin unless it is running already; ready(arg, err) is called once at its end, never from
 * inside. One listener: kube_auth fans out. Errors: ERR_CONFIG_EXEC_PLUGIN, at once and at the end. */
bool kube_exec_run(struct kube_exec *exec, void (*ready)(void *arg, const struct err *err),
	void *arg, struct err *err);
/* Exposed for the fuzz target and tests: what a plugin wrote to an answer. Errors: ERR_CONFIG_EXEC_PLUGIN. */
bool kube_exec_parse(const struct kube_exec_spec *spec, struct slice output,
	struct kube_exec_answer *answer, struct err *err);
void kube_exec_answer_deinit(struct kube_exec_answer *answer);
/* The plugin's base name, and an ERR_CONFIG_EXEC_PLUGIN about it; returns false. */
const char *kube_exec_name(const struct kube_exec_spec *spec);
bool kube_exec_bad(const struct kube_exec_spec *spec, struct err *err, const char *what);
