// SPDX-License-Identifier: Apache-2.0
/* Operations: their memory, and how they are given up. */
#include "engine/files/internal.h"

void *files_op_new(size_t bytes, struct net_loop *loop, struct runtime *runtime,
	void (*deinit)(struct files_op *op))
{
	struct files_op *op = x_calloc(1, bytes);

	op->loop = loop;
	op->runtime = runtime ? runtime_ref(runtime) : NULL;
	op->deinit = deinit;
	return op;
}

void files_cancel(struct files_op *op)
{
	if (!op)
		return;
	runtime_cancel(op->call);
	net_work_cancel(op->work);
	net_loop_timer_free(op->later);
	if (op->deinit)
		op->deinit(op);
	runtime_unref(op->runtime);
	free(op);
}

static void on_end(void *arg)
{
	files_cancel(arg);
}

void files_op_end(struct files_op *op)
{
	net_loop_defer(op->loop, on_end, op);
}

void files_op_later(struct files_op *op, net_loop_fn *fn)
{
	op->later = net_loop_timer_new(op->loop, fn, op);
	net_loop_timer_arm(op->later, 0);
}
