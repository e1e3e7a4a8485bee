// SPDX-License-Identifier: Apache-2.0
/* Paths from the wire against a real tree with every kind of link, and against one that is being changed
 * under the walk. */
#include "local/daemon/confine.h"

#include "engine/base/err.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char top[] = "/tmp/confine-test-XXXXXX";
static struct confine_root *root;

static void make_file(const char *path, const char *content)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, content, strlen(content)), strlen(content));
	close(fd);
}

static void make_link(const char *target, const char *path)
{
	assert_int_equal(symlink(target, path), 0);
}

/* top/box is the root; top/outside is not */
static int set_up(void **state)
{
	char absolute[128];
	(void)state;
	assert_non_null(mkdtemp(top));
	assert_int_equal(chdir(top), 0);
	assert_int_equal(mkdir("box", 0755) + mkdir("outside", 0755) + mkdir("box/d", 0755) +
				 mkdir("box/d/e", 0755) + mkdir("box-evil", 0755),
		0);
	make_file("outside/secret", "secret");
	make_file("box-evil/secret", "secret");
	make_file("box/file", "file");
	make_file("box/d/e/deep", "deep");
	make_link("file", "box/link");
	make_link("d/e", "box/dirlink");
	make_link("../..", "box/d/e/up");
	make_link("../file", "box/d/side");
	make_link("../outside", "box/out");
	make_link("../outside/secret", "box/outfile");
	make_link("../box/file", "box/back");
	make_link("../box-evil/secret", "box/evil");
	make_link("nothing", "box/broken");
	make_link("../outside/nothing", "box/outbroken");
	make_link("/etc/passwd", "box/abs");
	make_link("/", "box/slash");
	make_link("loop2", "box/loop1");
	make_link("loop1", "box/loop2");
	make_link("d/../d/./e//deep", "box/winding");
	make_link("d/side/x", "box/below-file");
	snprintf(absolute, sizeof absolute, "%s/box/d", top);
	make_link(absolute, "box/abs-inside");
	root = confine_root_open("box", NULL);
	return root == NULL;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *where)
{
	(void)st;
	(void)type;
	(void)where;
	return remove(path);
}

static int tear_down(void **state)
{
	(void)state;
	confine_root_close(root);
	assert_int_equal(chdir("/"), 0);
	return nftw(top, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static void resolves_each_kind_of_path(void **state)
{
	(void)state;
#define F CONFINE_FOUND
#define M CONFINE_MISSING
#define E CONFINE_ESCAPES
#define X CONFINE_FAILED
	static const struct {
		const char *path;
		enum confine_state state;
		const char *where; /* FOUND: inside the root; MISSING: the name */
		int errnum;
	} rows[] = {
		{ "", F, "", 0 },
		{ ".", F, "", 0 },
		{ "/", F, "", 0 },
		{ "///", F, "", 0 },
		{ "file", F, "/file", 0 },
		{ "/file", F, "/file", 0 },
		{ "./file/", F, "/file", 0 },
		{ "d//e/./deep", F, "/d/e/deep", 0 },
		{ "d/../file", F, "/file", 0 },
		{ "dirlink/../file", F, "/file", 0 }, /* by text, not by the link */
		{ "nothing/../file", F, "/file", 0 },
		{ "link", F, "/file", 0 },
		{ "dirlink/deep", F, "/d/e/deep", 0 },
		{ "d/e/up", F, "", 0 },
		{ "d/e/up/d/side", F, "/file", 0 },
		{ "winding", F, "/d/e/deep", 0 },
		{ "abs-inside/e", F, "/d/e", 0 },
		{ "back", F, "/file", 0 },
		{ "../box/file", F, "/file", 0 },
		{ "nope", M, "nope", 0 },
		{ "d/nope", M, "nope", 0 },
		{ "d/no/where", M, "no/where", 0 },
		{ "dirlink/no/where/", M, "no/where", 0 },
		{ "broken", M, "broken", 0 },
		{ "broken/x", M, "broken/x", 0 },
		{ "outbroken", M, "outbroken", 0 },
		{ "..", E, NULL, 0 },
		{ "../outside/secret", E, NULL, 0 },
		{ "../box-evil/secret", E, NULL, 0 },
		{ "../../../../../../etc/passwd", E, NULL, 0 },
		{ "d/../../outside", E, NULL, 0 },
		{ "out", E, NULL, 0 },
		{ "out/secret", E, NULL, 0 },
		{ "out/nothing", E, NULL, 0 },
		{ "out/../file", F, "/file", 0 },
		{ "outfile", E, NULL, 0 },
		{ "evil", E, NULL, 0 },
		{ "abs", E, NULL, 0 },
		{ "slash", E, NULL, 0 },
		{ "slash/etc/passwd", E, NULL, 0 },
		{ "loop1", X, NULL, ELOOP },
		{ "file/x", X, NULL, ENOTDIR },
		{ "link/x", X, NULL, ENOTDIR },
		{ "below-file", X, NULL, ENOTDIR },
	};
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct confined c;
		confine_resolve(root, slice_of(rows[i].path), &c);
		if (c.state != rows[i].state)
			fail_msg(
				"'%s': state %d, not %d", rows[i].path, c.state, rows[i].state);
		if (c.state == F) {
			char *want = NULL;
			assert_true(asprintf(&want, "%s%s", confine_root_path(root),
					    rows[i].where) > 0);
			assert_string_equal(c.path, want);
			free(want);
			assert_true(c.fd >= 0);
			assert_int_equal(c.parent_fd >= 0, *rows[i].where != 0);
		} else if (c.state == M) {
			assert_string_equal(c.name, rows[i].where);
			assert_true(c.parent_fd >= 0);
		} else {
			assert_int_equal(c.errnum, rows[i].errnum);
			assert_int_equal(c.fd, -1);
			assert_int_equal(c.parent_fd, -1);
		}
		confined_deinit(&c);
	}
}

static void odd_bytes(void **state)
{
	struct confined c;
	char longest[CONFINE_MAX_PATH + 10], name[300];
	(void)state;
	confine_resolve(root, (struct slice){ "file\0x", 6 }, &c);
	assert_int_equal(c.state, CONFINE_FAILED);
	assert_int_equal(c.errnum, EINVAL);
	assert_memory_equal(c.message + c.message_n - 24, "file\0x: invalid argument", 24);
	confined_deinit(&c);
	memset(name, 'n', sizeof name - 1);
	name[sizeof name - 1] = 0;
	confine_resolve(root, slice_of(name), &c);
	assert_int_equal(c.errnum, ENAMETOOLONG);
	confined_deinit(&c);
	for (size_t i = 0; i < sizeof longest; i++)
		longest[i] = i % 2 ? '/' : 'd';
	confine_resolve(root, (struct slice){ longest, sizeof longest }, &c);
	assert_int_equal(c.state, CONFINE_MISSING); /* d/d is not there */
	confined_deinit(&c);
}

static void makes_parents_inside_only(void **state)
{
	struct confined c;
	char *failed = NULL;
	(void)state;
	confine_resolve(root, slice_of("new/a/b"), &c);
	assert_int_equal(confined_make_parents(&c, &failed), 0);
	assert_string_equal(c.name, "b");
	struct stat st;
	assert_int_equal(stat("box/new/a", &st), 0);
	assert_true(S_ISDIR(st.st_mode));
	confined_deinit(&c);
	confine_resolve(root, slice_of("broken/a/b"), &c);
	assert_int_equal(confined_make_parents(&c, &failed), EEXIST);
	assert_non_null(strstr(failed, "/box/broken"));
	free(failed);
	confined_deinit(&c);
	/* the folder turns into a link to the outside between the walk and the mkdir */
	confine_resolve(root, slice_of("later/x"), &c);
	make_link("../outside", "box/later");
	assert_int_equal(confined_make_parents(&c, &failed), EEXIST);
	free(failed);
	confined_deinit(&c);
	assert_int_equal(access("outside/x", F_OK), -1);
}

/* A folder and a link to the outside change places as fast as they can. */
static atomic_bool stop_swapping;

static void *swap(void *arg)
{
	(void)arg;
	while (!atomic_load(&stop_swapping))
		renameat2(AT_FDCWD, "box/race", AT_FDCWD, "box/race-link", RENAME_EXCHANGE);
	return NULL;
}

static void never_leaves_during_a_race(void **state)
{
	pthread_t thread;
	unsigned outcomes[4] = { 0 };
	(void)state;
	assert_int_equal(mkdir("box/race", 0755), 0);
	make_file("box/race/secret", "inside");
	make_link("../outside", "box/race-link");
	assert_int_equal(pthread_create(&thread, NULL, swap, NULL), 0);
	for (int i = 0; i < 20000; i++) {
		struct confined c;
		confine_resolve(root, slice_of("race/secret"), &c);
		outcomes[c.state]++;
		if (c.state == CONFINE_FOUND) {
			char content[8] = "";
			int fd = openat(c.parent_fd, c.name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
			assert_true(fd >= 0);
			assert_int_equal(read(fd, content, 6), 6);
			close(fd);
			if (strcmp(content, "inside") != 0) {
				atomic_store(&stop_swapping, true);
				fail_msg("read %s", content);
			}
		}
		confined_deinit(&c);
	}
	atomic_store(&stop_swapping, true);
	pthread_join(thread, NULL);
	assert_true(outcomes[CONFINE_FOUND] > 0);
	assert_true(outcomes[CONFINE_ESCAPES] + outcomes[CONFINE_FAILED] +
			    outcomes[CONFINE_MISSING] >
		    0);
}

static void root_must_exist(void **state)
{
	struct err err;
	(void)state;
	assert_null(confine_root_open("box/nothing", &err));
	assert_int_equal(err.code, ERR_FILE_NOT_FOUND);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(resolves_each_kind_of_path),
		cmocka_unit_test(odd_bytes),
		cmocka_unit_test(makes_parents_inside_only),
		cmocka_unit_test(never_leaves_during_a_race),
		cmocka_unit_test(root_must_exist),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
