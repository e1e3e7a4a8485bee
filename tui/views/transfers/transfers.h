// SPDX-License-Identifier: Apache-2.0
/* What the queue of copies (engine/transfer/queue.h) says and asks, shown: its questions as dialogs, the end of a copy as
 * a note or a failure, all copies as one line and as a view. */
#pragma once

#include "tui/view/host.h"

#include "engine/base/str.h"

/* Makes host->copies; free it with transfer_queue_free(). */
void views_transfers_open(struct view_host *host);
/* "2 copies 45% 12.0 MiB/s 3s left" for the status line. False if nothing runs. */
bool views_transfers_summary(const struct transfer_queue *copies, struct str *out);

/* ---- of the queue: ask.c, notes.c */
void views_transfers_on_question(void *host, const struct transfer_question *question);
void views_transfers_on_copy(void *host, const struct transfer_copy_info *info);
