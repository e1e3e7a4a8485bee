// SPDX-License-Identifier: Apache-2.0
/* The part of a kubelet: runs the daemon of each pod, says how it is, watches what it uses, and keeps its files. */
#pragma once

#include "local/server/controller/controller.h"

/* One pass over one pod (struct controller_row). */
int64_t kubelet_reconcile_pod(struct controller *c, struct store_object *o);
bool kubelet_open(struct controller *c, struct err *err);
void kubelet_note_restart(struct controller *c);
void kubelet_write_again(struct controller *c); /* their status, as it is now */
/* TERM, then KILL; done is called once when none is left. */
void kubelet_stop(struct controller *c, void (*done)(void *arg), void *arg);
void kubelet_close(struct controller *c); /* also when it is not open */

/* What holds in this backend: "limits.json" in the state directory, and an annotation of the first
 * namespace. Before the first sandbox: it may move this process into another cgroup. */
void kubelet_limits_publish(struct controller *c);

#define ANNOTATION_LIMITS "sandmux.local/limits" /* JSON of local/isolation/limits.h */
#define ANNOTATION_LIMIT_PIDS "limits.sandmux.local/pids"
#define ANNOTATION_LIMIT_INODES "limits.sandmux.local/inodes"
#define ANNOTATION_LIMIT_TMP_INODES "limits.sandmux.local/tmp-inodes"
#define CONDITION_RESTARTED "sandmux.local/Restarted"
