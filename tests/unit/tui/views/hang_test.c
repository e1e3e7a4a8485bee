// SPDX-License-Identifier: Apache-2.0
// A folder of a mount whose server is gone, in a pane of the file browser: its pane waits, and everything else goes on.
#include "tests/unit/tui/views/fake.h"

#include "tui/views/files/view.h"

#include <errno.h>
#include <fcntl.h>
#include <semaphore.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <unistd.h>

static sem_t server;
static atomic_int n_hanging;

int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...)
{
	va_list args;
	va_start(args, flags);
	mode_t mode = flags & O_CREAT ? va_arg(args, mode_t) : 0;
	va_end(args);
	if (strncmp(path, "/hang", strlen("/hang")) == 0) {
		n_hanging++;
		while (sem_wait(&server) < 0 && errno == EINTR) {
		}
		n_hanging--;
	}
	return __real_open(path, flags, mode);
}

static int setup(void **state)
{
	sem_init(&server, 0, 0);
	*state = fake_new(false);
	return 0;
}

static int teardown(void **state)
{
	fake_free(*state); /* nobody waits for what hangs */
	for (int64_t end = clock_mono_ms() + FAKE_WAIT_MS;
		n_hanging && clock_mono_ms() < end;) {
		sem_post(&server);
		usleep(1000);
	}
	usleep(20000);
	return n_hanging;
}

static void test_the_other_pane_goes_on(void **state)
{
	struct fake *fake = *state;
	struct view_args args = { 0 };
	struct err err;
	struct view *view = view_files.open(&fake->host, &args, &err);
	struct views_files *files = (struct views_files *)view;
	struct views_files_pane *hung = &files->panes[0], *other = &files->panes[1];
	files->active = 0;
	views_files_pane_go(hung, "/hang/there", NULL);
	FAKE_UNTIL(fake, n_hanging == 1);
	views_files_pane_connect(other, true, NULL, "/");
	FAKE_UNTIL(fake, !other->is_reading);
	assert_true(other->n_shown > 0);
	assert_true(hung->is_reading);
	char *text = fake_draw(view, 80, 10);
	assert_non_null(strstr(text, "reading …"));
	free(text);
	/* again and again, and then somewhere else */
	for (int i = 0; i < 10; i++)
		assert_true(fake_command(view, "refresh", "", &err));
	assert_true(fake_command(view, "cd", "/", &err));
	FAKE_UNTIL(fake, !hung->is_reading);
	assert_true(hung->n_shown > 0);
	assert_int_equal(hung->err.code, ERR_NONE);
	view->class->free(view);
}

static void test_what_is_deleted_there_can_be_left(void **state)
{
	static const struct files_entry entry = { .name = "x" };
	struct fake *fake = *state;
	struct view_args args = { 0 };
	struct files_listing listing = { 0 };
	struct err err;
	struct view *view = view_files.open(&fake->host, &args, &err);
	struct views_files *files = (struct views_files *)view;
	files->active = 0;
	views_files_pane_go(&files->panes[0], "/hang/there", NULL);
	files_listing_add(&listing, &entry);
	views_files_pane_take(&files->panes[0], NULL, &listing); /* it answered until now */
	views_files_pane_move(&files->panes[0], 1);
	assert_true(fake_command(view, "delete", "", &err));
	FAKE_UNTIL(fake, n_hanging > 0);
	net_loop_run_once(fake->host.loop, 10);
	assert_int_equal(fake->n_dialogs, 0); /* how much it is cannot be told */
	view->class->free(view);
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_the_other_pane_goes_on),
		CASE(test_what_is_deleted_there_can_be_left),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
