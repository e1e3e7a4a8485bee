// SPDX-License-Identifier: Apache-2.0
/* Who keeps a runtime, and what is left of it for those when it ends (ASan watches). */
#include "tests/unit/unit.h"

#include "tests/unit/engine/runtime/rig.h"

static int n_released;
static bool is_silent; /* the daemon */

static void handle(struct fake_request *request, void *arg)
{
	(void)arg;
	if (!is_silent)
		fake_json(request, "200 OK", "{}");
}

static void on_release(void *arg)
{
	struct rig *rig = arg;

	assert_ptr_equal(rig->runtime, NULL); /* forgotten before, in each case */
	n_released++;
}

static struct runtime *open_with(struct rig *rig, bool silent)
{
	const struct runtime_opts more = { .release = on_release, .release_arg = rig };

	n_released = 0;
	is_silent = silent;
	rig_open(rig, handle, &more);
	struct runtime *runtime = rig->runtime;
	rig->runtime = NULL;
	return runtime;
}

static void on_done(void *arg, const struct err *err)
{
	rig_done(arg, err);
}

static bool delete_something(struct rig *rig, struct runtime *runtime, struct err *err)
{
	return runtime_delete_start(runtime, "x", false, 0, on_done, rig, err) != NULL;
}

static void the_last_one_ends_it(void **state)
{
	struct rig rig;
	struct runtime *runtime = open_with(&rig, false);

	(void)state;
	assert_ptr_equal(runtime_ref(runtime), runtime);
	runtime_unref(runtime);
	assert_int_equal(n_released, 0);
	assert_non_null(runtime_label(runtime));
	runtime_unref(runtime);
	assert_int_equal(n_released, 1);
	runtime_unref(NULL);
	rig_close(&rig);
	assert_int_equal(n_released, 1);
}

static void an_operation_under_way_keeps_it(void **state)
{
	struct rig rig;
	struct runtime *runtime = open_with(&rig, false);

	(void)state;
	assert_true(delete_something(&rig, runtime, NULL));
	runtime_unref(runtime);
	assert_int_equal(n_released, 0);
	rig_wait(&rig, 1);
	assert_false(rig.failed);
	assert_int_equal(n_released, 1);
	rig_close(&rig);
}

static void one_that_is_cancelled_does_not(void **state)
{
	struct rig rig;
	struct runtime *runtime = open_with(&rig, true);

	(void)state;
	struct runtime_op *op =
		runtime_delete_start(runtime, "x", false, 0, on_done, &rig, NULL);
	runtime_unref(runtime);
	rig_turns(&rig, 30);
	assert_int_equal(n_released, 0);
	runtime_cancel(op);
	assert_int_equal(n_released, 1);
	rig_turns(&rig, 10);
	assert_int_equal(rig.n_done, 0);
	rig_close(&rig);
}

static struct runtime *held;

static void on_done_let_go(void *arg, const struct err *err)
{
	struct rig *rig = arg;

	rig_done(rig, err);
	runtime_unref(held);
	held = NULL;
}

static void it_may_end_inside_of_a_callback(void **state)
{
	struct rig rig;

	(void)state;
	held = open_with(&rig, false);
	assert_non_null(runtime_delete_start(held, "x", false, 0, on_done_let_go, &rig, NULL));
	rig_wait(&rig, 1);
	assert_int_equal(n_released, 1);
	rig_close(&rig);
}

static void a_retired_one_fails_now_and_later(void **state)
{
	struct rig rig;
	struct err why = { 0 }, err = { 0 };
	struct runtime *runtime = open_with(&rig, true);

	(void)state;
	err_set(&why, ERR_SANDBOX_MOVED, "the pod of sandbox a was replaced");
	assert_true(delete_something(&rig, runtime, NULL));
	rig_turns(&rig, 30);
	runtime_retire(runtime, &why);
	assert_int_equal(rig.n_done, 0); /* not inside of the call */
	rig_wait(&rig, 1);
	assert_int_equal(rig.err.code, ERR_SANDBOX_MOVED);
	assert_int_equal(runtime_state_of(runtime), RUNTIME_DOWN);
	int n = rig.fake.n_requests;
	assert_false(delete_something(&rig, runtime, &err));
	assert_int_equal(err.code, ERR_SANDBOX_MOVED);
	assert_string_equal(err.msg, why.msg);
	/* the first reason stays */
	err_set(&why, ERR_SANDBOX_DELETED, "the sandbox was deleted");
	runtime_retire(runtime, &why);
	assert_false(delete_something(&rig, runtime, &err));
	assert_int_equal(err.code, ERR_SANDBOX_MOVED);
	rig_turns(&rig, 30);
	assert_int_equal(rig.fake.n_requests, n);
	runtime_unref(runtime);
	assert_int_equal(n_released, 1);
	rig_close(&rig);
}

/* Its loop and HTTP may go before those who hold it. */
static void a_closed_one_is_memory(void **state)
{
	struct rig rig;
	struct err err = { 0 };
	struct runtime *runtime = open_with(&rig, true);

	(void)state;
	runtime_ref(runtime);
	assert_true(delete_something(&rig, runtime, NULL));
	rig_turns(&rig, 30);
	runtime_close(runtime);
	assert_int_equal(n_released, 1);
	runtime_close(runtime);
	runtime_unref(runtime);
	assert_false(delete_something(&rig, runtime, &err));
	assert_int_equal(err.code, ERR_OP_CLOSED);
	assert_null(runtime_ask(runtime, 100, NULL, NULL, &err));
	assert_int_equal(err.code, ERR_OP_CLOSED);
	runtime_invalidate(runtime, NULL);
	rig_turns(&rig, 10);
	assert_int_equal(rig.n_done, 0);
	rig_close(&rig);
	assert_non_null(runtime_label(runtime));
	runtime_unref(runtime);
	assert_int_equal(n_released, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_last_one_ends_it),
		cmocka_unit_test(an_operation_under_way_keeps_it),
		cmocka_unit_test(one_that_is_cancelled_does_not),
		cmocka_unit_test(it_may_end_inside_of_a_callback),
		cmocka_unit_test(a_retired_one_fails_now_and_later),
		cmocka_unit_test(a_closed_one_is_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
