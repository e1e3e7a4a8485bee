// SPDX-License-Identifier: Apache-2.0
/* The queue of copies: how many at a time, what is asked and in which order, answers, ends, arrivals, what is said of it. */
#include "tests/unit/engine/transfer/box.h"

#include "engine/base/settings.h"
#include "engine/transfer/queue.h"

static struct said {
	struct transfer_queue *queue;
	int n_begun, n_ended, n_questions;
	enum transfer_copy_state end;
	unsigned question; /* the last */
	char path[300], place[40];
	int64_t existing_bytes, new_bytes;
	uint64_t n_entries;
	bool has_no_runtime;
} said;

static struct runtime *runtime_of(void *arg, const char *uid, struct err *err)
{
	assert_ptr_equal(arg, &said);
	if (said.has_no_runtime)
		err_set(err, ERR_SANDBOX_SUSPENDED, "it sleeps");
	return said.has_no_runtime ? NULL : strcmp(uid, "box") == 0 ? &box : &other;
}

static const char *name_of(void *arg, const char *uid)
{
	assert_ptr_equal(arg, &said);
	return uid;
}

static void on_change(void *arg)
{
	assert_ptr_equal(arg, &said);
}

static void on_copy(void *arg, const struct transfer_copy_info *info)
{
	assert_ptr_equal(arg, &said);
	said.n_begun += info->state == TRANSFER_COPY_WAITING;
	said.n_ended += transfer_copy_is_over(info->state);
	said.end = info->state;
}

static void on_question(void *arg, const struct transfer_question *question)
{
	assert_ptr_equal(arg, &said);
	said.n_questions++;
	said.question = question->id;
	snprintf(said.path, sizeof said.path, "%s", question->path);
	snprintf(said.place, sizeof said.place, "%s", question->place);
	said.existing_bytes = question->existing_bytes;
	said.new_bytes = question->new_bytes;
	said.n_entries = question->n_entries;
}

static void open_queue(bool read_only)
{
	const struct transfer_queue_opts opts = {
		.loop = box_loop,
		.read_only = read_only,
		.runtime = runtime_of,
		.name = name_of,
		.on_change = on_change,
		.on_copy = on_copy,
		.on_question = on_question,
		.arg = &said,
	};
	said = (struct said){ .queue = transfer_queue_new(&opts) };
}

/* Files of the box into the folder here. */
static bool down(const char *const *paths, size_t n, struct err *err)
{
	const struct transfer_request request = {
		.from = { .uid = "box" },
		.to = { .is_local = true },
		.paths = paths,
		.n = n,
		.to_dir = here("in"),
	};
	return transfer_queue_start(said.queue, &request, err);
}

static struct transfer_copy_info newest(void)
{
	return transfer_queue_at(said.queue, 0);
}

static const char *const abc[] = { "a", "b", "c", "d", "e" };

static void close_queue(void)
{
	transfer_queue_free(said.queue);
	net_loop_run_once(box_loop, 0);
}

static void refusals(void **state)
{
	struct err err = { 0 };
	const char *const one[] = { "d/a" };
	struct transfer_request request = {
		.paths = one, .to_dir = "d", .from = { .uid = "box" }, .to = { .uid = "box" }
	};
	(void)state;
	open_queue(true);
	assert_false(transfer_queue_start(said.queue, &request, &err));
	assert_int_equal(err.code, ERR_ARG_INVALID); /* nothing */
	request.n = 1;
	assert_false(transfer_queue_start(said.queue, &request, &err));
	assert_string_equal(err.msg, "both sides are the same folder");
	request.to_dir = "e";
	assert_false(transfer_queue_start(said.queue, &request, &err));
	assert_int_equal(err.code, ERR_OP_READ_ONLY);
	request.from.is_local = request.to.is_local = true;
	assert_false(transfer_queue_start(said.queue, &request, &err));
	assert_int_equal(err.code, ERR_OP_UNSUPPORTED);
	request.from.is_local = false;
	said.has_no_runtime = true;
	assert_false(transfer_queue_start(said.queue, &request, &err));
	assert_int_equal(err.code, ERR_SANDBOX_SUSPENDED);
	assert_int_equal(transfer_queue_count(said.queue), 0);
	assert_int_equal(said.n_begun, 0);
	close_queue();
}

static void into_itself(void **state)
{
	static const struct {
		const char *path, *dir;
		bool is;
	} rows[] = { { "a", "a", true }, { "a", "a/b", true }, { "a", "ab", false },
		{ "a", "", true }, { "d/a", "d", true }, { "d/a", "", false },
		{ "/x", "/", true }, { "/x/y", "/", false }, { "/x/y", "/x", true } };
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++)
		assert_int_equal(
			transfer_is_into_itself(rows[i].path, rows[i].dir), rows[i].is);
}

/* Those that wait for an answer take nobody's place, and questions come one at a time. */
static void one_question_at_a_time(void **state)
{
	struct transfer_copy_info info;
	struct err err = { 0 };
	(void)state;
	box_fill(&box, "a=one b=two c=3 d=4 e=5");
	here_fill("in/ in/a=old in/b=old! in/c=old");
	open_queue(false);
	assert_true(down(abc, 5, &err));
	assert_int_equal(newest().state, TRANSFER_COPY_WAITING);
	assert_int_equal(said.n_begun, 1);
	BOX_UNTIL(newest().files_done == 2 && said.n_questions); /* d and e */
	box_turns(10);
	assert_int_equal(said.n_questions, 1);
	assert_true(newest().is_asking);
	assert_string_equal(said.path, here("in/a"));
	assert_string_equal(said.place, "local");
	assert_int_equal(said.existing_bytes, 3);
	assert_int_equal(said.n_entries, 0);
	transfer_queue_answer(said.queue, said.question, TRANSFER_CHOOSE_OVERWRITE, false);
	BOX_UNTIL(said.n_questions == 2);
	assert_string_equal(said.path, here("in/b"));
	assert_int_equal(said.existing_bytes, 4);
	/* an answer to a question that is no more is nobody's */
	transfer_queue_answer(said.queue, said.question + 100, TRANSFER_CHOOSE_STOP, false);
	box_turns(10);
	assert_int_equal(said.n_questions, 2);
	transfer_queue_answer(said.queue, said.question, TRANSFER_CHOOSE_RENAME, true);
	BOX_UNTIL(said.n_ended);
	assert_int_equal(said.n_questions, 2);
	assert_int_equal(said.end, TRANSFER_COPY_DONE);
	assert_string_equal(here_text(), "in/ in/a=one in/b=old! in/b (1)=two in/c=old "
					 "in/c (1)=3 in/d=4 in/e=5");
	assert_int_equal(newest().files_done, 5);
	info = newest();
	assert_int_equal(transfer_copy_percent(&info), 100);
	close_queue();
}

/* Files of the folder here into one of the box. */
static void up(const char *const *names, size_t n, const char *to_dir)
{
	char paths[5][300];
	const char *pointers[5];
	struct err err = { 0 };
	for (size_t i = 0; i < n; i++) {
		snprintf(paths[i], sizeof paths[i], "%s", here(names[i]));
		pointers[i] = paths[i];
	}
	const struct transfer_request request = {
		.from = { .is_local = true },
		.to = { .uid = "box" },
		.paths = pointers,
		.n = n,
		.to_dir = to_dir,
	};
	assert_true(transfer_queue_start(said.queue, &request, &err));
}

/* The first is looked at longest, and asks first; what goes elsewhere does not wait for it. */
static void questions_come_in_the_order_of_the_files(void **state)
{
	(void)state;
	here_fill("a=one b=two c=3");
	box_fill(&box, "d/ d/a=old d/b=old e/ e/c=old");
	open_queue(false);
	box.is_held[BOX_STAT] = true;
	box.held_path = "d/a";
	up(abc, 2, "d");
	up(abc + 2, 1, "e");
	BOX_UNTIL(said.n_questions && transfer_queue_at(said.queue, 1).is_asking);
	assert_string_equal(said.path, "e/c");
	transfer_queue_answer(said.queue, said.question, TRANSFER_CHOOSE_SKIP, false);
	BOX_UNTIL(said.n_ended == 1);
	box_turns(10);
	assert_int_equal(said.n_questions, 1); /* of b it is known long since */
	box_release(&box, BOX_STAT);
	BOX_UNTIL(said.n_questions == 2);
	assert_string_equal(said.path, "d/a");
	transfer_queue_answer(said.queue, said.question, TRANSFER_CHOOSE_SKIP, false);
	BOX_UNTIL(said.n_questions == 3);
	assert_string_equal(said.path, "d/b");
	transfer_queue_answer(said.queue, said.question, TRANSFER_CHOOSE_SKIP, false);
	BOX_UNTIL(said.n_ended == 2);
	close_queue();
}

/* Nor is it waited for the data of a file that has nothing in its way, or for one that is paused. */
static void a_question_waits_for_looks_only(void **state)
{
	(void)state;
	here_fill("a=one b=two");
	box_fill(&box, "d/ d/b=old");
	open_queue(false);
	box.is_held[BOX_STAT] = box.is_held[BOX_WRITE] = true;
	box.held_path = "d/a";
	up(abc, 2, "d");
	BOX_UNTIL(newest().is_asking);
	box_turns(10);
	assert_int_equal(said.n_questions, 0);
	box_release(&box, BOX_STAT);
	BOX_UNTIL(said.n_questions == 1);
	assert_string_equal(said.path, "d/b");
	assert_int_equal(box.n_now[BOX_WRITE], 1);
	transfer_queue_answer(said.queue, said.question, TRANSFER_CHOOSE_SKIP, false);
	transfer_queue_cancel(said.queue, newest().id);
	box.is_held[BOX_STAT] = true;
	up(abc, 1, "d");
	up(abc + 1, 1, "d");
	BOX_UNTIL(newest().is_asking && box.n_now[BOX_STAT] == 1);
	box_turns(10);
	assert_int_equal(said.n_questions, 1);
	transfer_queue_pause(said.queue, transfer_queue_at(said.queue, 1).id, true);
	BOX_UNTIL(said.n_questions == 2);
	assert_string_equal(said.path, "d/b");
	close_queue();
}

static void stopping_ends_the_copy_and_asks_for_the_next(void **state)
{
	struct err err = { 0 };
	(void)state;
	box_fill(&box, "a=one b=two");
	here_fill("in/ in/a=old in/b=old");
	open_queue(false);
	assert_true(down(abc, 1, &err));
	assert_true(down(abc + 1, 1, &err));
	BOX_UNTIL(said.n_questions == 1 && transfer_queue_at(said.queue, 0).is_asking);
	/* it ends by itself: nothing is asked until somebody says that the old question is off the screen */
	transfer_queue_cancel(said.queue, transfer_queue_at(said.queue, 1).id);
	assert_int_equal(said.end, TRANSFER_COPY_CANCELLED);
	box_turns(10);
	assert_int_equal(said.n_questions, 1);
	transfer_queue_answer(said.queue, said.question, TRANSFER_CHOOSE_OVERWRITE, false);
	BOX_UNTIL(said.n_questions == 2);
	assert_string_equal(said.path, here("in/b"));
	transfer_queue_answer(said.queue, said.question, TRANSFER_CHOOSE_STOP, false);
	assert_int_equal(said.n_ended, 2);
	assert_int_equal(newest().state, TRANSFER_COPY_CANCELLED);
	assert_string_equal(here_text(), "in/ in/a=old in/b=old");
	assert_int_equal(transfer_queue_running(said.queue), 0);
	/* again: it asks again */
	assert_true(transfer_queue_retry(said.queue, newest().id, &err));
	BOX_UNTIL(said.n_questions == 3);
	transfer_queue_answer(said.queue, said.question, TRANSFER_CHOOSE_SKIP, false);
	BOX_UNTIL(said.n_ended == 3);
	assert_int_equal(newest().state, TRANSFER_COPY_DONE);
	assert_int_equal(newest().files_skipped, 1);
	assert_false(transfer_queue_retry(said.queue, newest().id, &err));
	assert_int_equal(err.code, ERR_ARG_INVALID);
	transfer_queue_clear(said.queue);
	assert_int_equal(transfer_queue_count(said.queue), 0);
	close_queue();
}

static void a_large_tree_asks_whether_it_is_meant(void **state)
{
	static const char *const tree[] = { "t" };
	struct err err = { 0 };
	(void)state;
	assert_true(setting_set("transfer-max-entries", "2", &err));
	box_fill(&box, "t/ t/a=1 t/b=2 t/c=3");
	here_fill("in/");
	open_queue(false);
	assert_true(down(tree, 1, &err));
	BOX_UNTIL(said.n_questions);
	assert_int_equal(said.n_entries, 2);
	assert_string_equal(said.path, "t");
	assert_string_equal(said.place, "box");
	transfer_queue_answer(said.queue, said.question, TRANSFER_CHOOSE_GO_ON, false);
	BOX_UNTIL(said.n_ended);
	assert_int_equal(said.end, TRANSFER_COPY_DONE);
	assert_string_equal(here_text(), "in/ in/t/ in/t/a=1 in/t/b=2 in/t/c=3");
	close_queue();
	assert_true(setting_set("transfer-max-entries", "200000", &err));
}

static void two_copies_at_a_time_and_what_they_sum_up_to(void **state)
{
	struct transfer_copy_info sum;
	struct err err = { 0 };
	uint64_t seen = 0;
	const struct transfer_place local = { .is_local = true }, there = { .uid = "box" };
	(void)state;
	box_fill(&box, "a=one b=two c=3");
	here_fill("in/");
	box.is_held[BOX_READ] = true;
	open_queue(false);
	assert_false(transfer_queue_sum(said.queue, &sum));
	for (int i = 0; i < 3; i++)
		assert_true(down(abc + i, 1, &err));
	BOX_UNTIL(box.n_now[BOX_READ] == 2);
	box_turns(10);
	assert_int_equal(box.n_now[BOX_READ], 2);
	assert_int_equal(newest().state, TRANSFER_COPY_WAITING);
	assert_int_equal(transfer_queue_running(said.queue), 3);
	assert_true(transfer_queue_sum(said.queue, &sum));
	assert_int_equal(sum.state, TRANSFER_COPY_RUNNING);
	assert_false(sum.is_asking);
	assert_int_equal(sum.left_ms, -1);
	/* one that is paused leaves its place to the next */
	transfer_queue_pause(said.queue, transfer_queue_at(said.queue, 2).id, true);
	assert_int_equal(transfer_queue_at(said.queue, 2).state, TRANSFER_COPY_PAUSED);
	BOX_UNTIL(box.n_now[BOX_READ] == 3);
	transfer_queue_pause(said.queue, transfer_queue_at(said.queue, 2).id, false);
	assert_false(transfer_queue_has_arrived(said.queue, &seen, &local, here("in")));
	box_release(&box, BOX_READ);
	BOX_UNTIL(said.n_ended == 3);
	assert_true(transfer_queue_has_arrived(said.queue, &seen, &local, here("in")));
	assert_false(transfer_queue_has_arrived(said.queue, &seen, &local, here("in")));
	seen = 0;
	assert_false(transfer_queue_has_arrived(said.queue, &seen, &there, here("in")));
	seen = 0;
	assert_false(transfer_queue_has_arrived(said.queue, &seen, &local, here("elsewhere")));
	assert_string_equal(here_text(), "in/ in/a=one in/b=two in/c=3");
	close_queue();
}

static void failures_are_kept_and_repeated(void **state)
{
	struct err err = { 0 };
	const struct err *why;
	const char *path;
	(void)state;
	box_fill(&box, "a=one c=3");
	here_fill("in/");
	open_queue(false);
	assert_true(down(abc, 3, &err));
	BOX_UNTIL(said.n_ended);
	assert_int_equal(said.end, TRANSFER_COPY_FAILED);
	assert_int_equal(newest().files_done, 2);
	assert_int_equal(newest().files_failed, 1);
	assert_true(transfer_queue_failure(said.queue, newest().id, 0, &path, &why));
	assert_string_equal(path, "b");
	assert_int_equal(why->code, ERR_FILE_NOT_FOUND);
	assert_false(transfer_queue_failure(said.queue, newest().id, 1, &path, &why));
	/* only what failed goes again */
	int n_reads = box_times(&box, "read a");
	assert_true(n_reads > 0);
	box_fill(&box, "b=two");
	assert_true(transfer_queue_retry(said.queue, newest().id, &err));
	BOX_UNTIL(said.n_ended == 2);
	assert_int_equal(said.end, TRANSFER_COPY_DONE);
	assert_int_equal(box_times(&box, "read a"), n_reads);
	assert_int_equal(newest().n_failures, 0);
	assert_string_equal(here_text(), "in/ in/a=one in/b=two in/c=3");
	close_queue();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		BOX_TEST(refusals),
		BOX_TEST(into_itself),
		BOX_TEST(one_question_at_a_time),
		BOX_TEST(questions_come_in_the_order_of_the_files),
		BOX_TEST(a_question_waits_for_looks_only),
		BOX_TEST(stopping_ends_the_copy_and_asks_for_the_next),
		BOX_TEST(a_large_tree_asks_whether_it_is_meant),
		BOX_TEST(two_copies_at_a_time_and_what_they_sum_up_to),
		BOX_TEST(failures_are_kept_and_repeated),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
