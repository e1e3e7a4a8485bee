// SPDX-License-Identifier: Apache-2.0
/* Paths from the wire against a real tree with every kind of link, and against one that is being changed
 * under the walk. */
#include "local/daemon/confine.h"

#include "engine/base/err.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
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
static struct daemon_confine_root *root;

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
	root = daemon_confine_root_open("box", NULL);
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
	daemon_confine_root_unref(root);
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
		enum daemon_confine_state state;
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
		struct daemon_confined c;
		daemon_confine_resolve(root, slice_of(rows[i].path), &c);
		if (c.state != rows[i].state)
			fail_msg(
				"'%s': state %d, not %d", rows[i].path, c.state, rows[i].state);
		if (c.state == F) {
			char *want = NULL;
			assert_true(asprintf(&want, "%s%s", daemon_confine_root_path(root),
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
		daemon_confined_deinit(&c);
	}
}

static void odd_bytes(void **state)
{
	struct daemon_confined c;
	char longest[CONFINE_MAX_PATH + 10], name[300];
	(void)state;
	daemon_confine_resolve(root, (struct slice){ "file\0x", 6 }, &c);
	assert_int_equal(c.state, CONFINE_FAILED);
	assert_int_equal(c.errnum, EINVAL);
	assert_memory_equal(c.message + c.message_n - 24, "file\0x: invalid argument", 24);
	daemon_confined_deinit(&c);
	memset(name, 'n', sizeof name - 1);
	name[sizeof name - 1] = 0;
	daemon_confine_resolve(root, slice_of(name), &c);
	assert_int_equal(c.errnum, ENAMETOOLONG);
	daemon_confined_deinit(&c);
	for (size_t i = 0; i < sizeof longest; i++)
		longest[i] = i % 2 ? '/' : 'd';
	daemon_confine_resolve(root, (struct slice){ longest, sizeof longest }, &c);
	assert_int_equal(c.state, CONFINE_MISSING); /* d/d is not there */
	daemon_confined_deinit(&c);
}

static void makes_parents_inside_only(void **state)
{
	struct daemon_confined c;
	char *failed = NULL;
	(void)state;
	daemon_confine_resolve(root, slice_of("new/a/b"), &c);
	assert_int_equal(daemon_confined_make_parents(&c, &failed), 0);
	assert_string_equal(c.name, "b");
	struct stat st;
	assert_int_equal(stat("box/new/a", &st), 0);
	assert_true(S_ISDIR(st.st_mode));
	daemon_confined_deinit(&c);
	daemon_confine_resolve(root, slice_of("broken/a/b"), &c);
	assert_int_equal(daemon_confined_make_parents(&c, &failed), EEXIST);
	assert_non_null(strstr(failed, "/box/broken"));
	free(failed);
	daemon_confined_deinit(&c);
	/* the folder turns into a link to the outside between the walk and the mkdir */
	daemon_confine_resolve(root, slice_of("later/x"), &c);
	make_link("../outside", "box/later");
	assert_int_equal(daemon_confined_make_parents(&c, &failed), EEXIST);
	free(failed);
	daemon_confined_deinit(&c);
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
		struct daemon_confined c;
		daemon_confine_resolve(root, slice_of("race/secret"), &c);
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
		daemon_confined_deinit(&c);
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
	assert_null(daemon_confine_root_open("box/nothing", &err));
	assert_int_equal(err.code, ERR_FILE_NOT_FOUND);
}

static size_t n_open(void)
{
	size_t n = 0;
	for (int fd = 0; fd < 1024; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

/* Where it is, or would be; and in which words it is not. */
static void says_where_and_why(void **state)
{
	static const struct {
		const char *path, *is, *name, *message; /* %s: the root */
	} rows[] = {
		{ "", "%s", "", NULL },
		{ "d", "%s/d", "d", NULL },
		{ "d/e", "%s/d/e", "e", NULL },
		{ "dirlink", "%s/d/e", "e", NULL },
		{ "dirlink/deep", "%s/d/e/deep", "deep", NULL },
		{ "d/e/up/d", "%s/d", "d", NULL },
		{ "nope", "%s/nope", "nope", NULL },
		{ "d/e/no/where", "%s/d/e/no/where", "no/where", NULL },
		{ "broken", "%s/broken", "broken", NULL },
		{ "broken/a/b", "%s/broken/a/b", "broken/a/b", NULL },
		{ "outbroken", "%s/outbroken", "outbroken", NULL },
		{ "outbroken/a", "%s/outbroken/a", "outbroken/a", NULL },
		{ "file/x", NULL, NULL, "not a directory" },
		{ "loop1", NULL, NULL, "EvalSymlinks: too many links" },
	};
	(void)state;
	size_t before = n_open();
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct daemon_confined c;
		char want[300];
		daemon_confine_resolve(root, slice_of(rows[i].path), &c);
		if (rows[i].message != NULL) {
			assert_string_equal(c.message, rows[i].message);
			assert_int_equal(c.message_n, strlen(rows[i].message));
		} else {
			snprintf(want, sizeof want, "%s%s", daemon_confine_root_path(root),
				rows[i].is + 2);
			assert_string_equal(c.path, want);
			assert_string_equal(c.name, rows[i].name);
			assert_null(c.message);
		}
		if (c.state == CONFINE_FOUND) {
			struct stat st;
			assert_int_equal(fstat(c.fd, &st), 0);
			assert_int_equal(st.st_ino, c.st.st_ino);
			assert_int_equal(st.st_mode, c.st.st_mode);
			/* by its folder and name it is the same */
			if (c.parent_fd >= 0) {
				struct stat named;
				assert_int_equal(fstatat(c.parent_fd, c.name, &named,
							 AT_SYMLINK_NOFOLLOW),
					0);
				assert_int_equal(named.st_ino, st.st_ino);
			}
		}
		daemon_confined_deinit(&c);
		assert_int_equal(c.fd, -1);
		assert_null(c.path);
	}
	assert_int_equal(n_open(), before);
}

static void check_state(const char *path, enum daemon_confine_state state, int errnum)
{
	struct daemon_confined c;
	daemon_confine_resolve(root, slice_of(path), &c);
	if (c.state != state || c.errnum != errnum)
		fail_msg("%.60s (%zu): state %d, errno %d", path, strlen(path), c.state,
			c.errnum);
	if (state == CONFINE_FAILED && errnum == ENAMETOOLONG) {
		assert_memory_equal(c.message, "lstat /", 7);
		assert_non_null(strstr(c.message, ": file name too long"));
	}
	daemon_confined_deinit(&c);
}

static void limits_of_paths(void **state)
{
	char name[NAME_MAX + 2], path[CONFINE_MAX_PATH + 100], link[40], target[40];
	(void)state;
	/* a name */
	memset(name, 'n', sizeof name);
	name[NAME_MAX] = 0;
	check_state(name, CONFINE_MISSING, 0);
	name[NAME_MAX] = 'n';
	name[NAME_MAX + 1] = 0;
	check_state(name, CONFINE_FAILED, ENAMETOOLONG);
	/* the whole, with the root before it: as many folders as it takes */
	size_t room = CONFINE_MAX_PATH - strlen(daemon_confine_root_path(root));
	int fd = open("box", O_PATH | O_DIRECTORY | O_CLOEXEC);
	size_t n = 0;
	while (room - n > 202) {
		memset(path + n, 'p', 199);
		path[n + 199] = 0;
		assert_int_equal(mkdirat(fd, path + n, 0755), 0);
		int below = openat(fd, path + n, O_PATH | O_DIRECTORY | O_CLOEXEC);
		close(fd);
		fd = below;
		path[n + 199] = '/';
		n += 200;
	}
	close(fd);
	size_t last = room - n - 1; /* the slash after the root counts, and the end */
	memset(path + n, 'q', last + 2);
	path[n + last] = 0;
	check_state(path, CONFINE_MISSING, 0);
	path[n + last] = 'q';
	path[n + last + 1] = 0;
	check_state(path, CONFINE_FAILED, ENAMETOOLONG);
	/* links, one to the other */
	for (int i = 0; i <= CONFINE_MAX_LINKS; i++) {
		snprintf(link, sizeof link, "box/chain%d", i);
		snprintf(target, sizeof target, "chain%d", i + 1);
		make_link(i == CONFINE_MAX_LINKS ? "file" : target, link);
	}
	check_state("chain0", CONFINE_FAILED, ELOOP);
	check_state("chain1", CONFINE_FOUND, 0);
}

/* The whole machine as the root: nothing is above it. */
static void the_root_of_all(void **state)
{
	static const struct {
		const char *path, *is;
		enum daemon_confine_state state;
	} rows[] = { { "", "/", CONFINE_FOUND }, { "/", "/", CONFINE_FOUND },
		{ "..", "/", CONFINE_FOUND }, { "../etc/passwd", "/etc/passwd", CONFINE_FOUND },
		{ "/etc/passwd", "/etc/passwd", CONFINE_FOUND },
		{ "nothing-at-all", "/nothing-at-all", CONFINE_MISSING } };
	struct daemon_confine_root *all = daemon_confine_root_open("/", NULL);
	(void)state;
	assert_non_null(all);
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct daemon_confined c;
		daemon_confine_resolve(all, slice_of(rows[i].path), &c);
		if (c.state != rows[i].state || strcmp(c.path, rows[i].is) != 0)
			fail_msg("'%s': %d %s", rows[i].path, c.state, c.path ? c.path : "");
		daemon_confined_deinit(&c);
	}
	daemon_confine_root_unref(all);
	daemon_confine_root_unref(NULL);
}

/* A path that begins with the root's own, as a program inside would say it. */
static void absolute_paths_under_the_root(void **state)
{
	static const struct {
		const char *after;
		enum daemon_confine_state state;
		const char *is;
	} rows[] = { { "", CONFINE_FOUND, "" }, { "/", CONFINE_FOUND, "" },
		{ "/file", CONFINE_FOUND, "/file" }, { "/d//e/", CONFINE_FOUND, "/d/e" },
		{ "/nope", CONFINE_MISSING, "/nope" } };
	char path[300], want[300];
	struct daemon_confined c;
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		snprintf(path, sizeof path, "%s%s", daemon_confine_root_path(root),
			rows[i].after);
		snprintf(want, sizeof want, "%s%s", daemon_confine_root_path(root), rows[i].is);
		daemon_confine_resolve(root, slice_of(path), &c);
		assert_int_equal(c.state, rows[i].state);
		assert_string_equal(c.path, want);
		daemon_confined_deinit(&c);
		/* without its slash it is inside like all others */
		daemon_confine_resolve(root, slice_of(path + 1), &c);
		assert_int_equal(c.state, CONFINE_MISSING);
		daemon_confined_deinit(&c);
	}
	/* another folder whose name begins so */
	snprintf(path, sizeof path, "%s-evil/secret", daemon_confine_root_path(root));
	daemon_confine_resolve(root, slice_of(path), &c);
	assert_int_equal(c.state, CONFINE_MISSING);
	daemon_confined_deinit(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(resolves_each_kind_of_path),
		cmocka_unit_test(odd_bytes),
		cmocka_unit_test(makes_parents_inside_only),
		cmocka_unit_test(never_leaves_during_a_race),
		cmocka_unit_test(root_must_exist),
		cmocka_unit_test(says_where_and_why),
		cmocka_unit_test(limits_of_paths),
		cmocka_unit_test(the_root_of_all),
		cmocka_unit_test(absolute_paths_under_the_root),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
