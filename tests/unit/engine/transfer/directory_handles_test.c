// SPDX-License-Identifier: Apache-2.0
/* Folders of a copy, their paths on both sides, what has been written, and small dealings with descriptors. */
#include "engine/transfer/internal.h"

#include "tests/unit/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define COUNT(a) (sizeof(a) / sizeof(a)[0])

static char folder[64];

static const char *at(const char *name)
{
	static char path[4][200];
	static unsigned next;
	char *out = path[next++ % 4];
	snprintf(out, sizeof path[0], "%s/%s", folder, name);
	return out;
}

static int set_up(void **state)
{
	(void)state;
	snprintf(folder, sizeof folder, "/tmp/sandmux-dirs-XXXXXX");
	return mkdtemp(folder) ? 0 : -1;
}

static int tear_down(void **state)
{
	(void)state;
	if (fork() == 0) {
		execlp("rm", "rm", "-rf", folder, (char *)NULL);
		_exit(127);
	}
	return 0;
}

/* ---- paths */

static void paths_of_both_sides(void **state)
{
	static const struct {
		const char *from_root, *to_root, *top, *name;
		int depth; /* of "a/b" */
		const char *from, *to, *relative;
	} rows[] = {
		{ "src", "dst", NULL, NULL, 0, "src", "dst", "" },
		{ "src", "dst", NULL, "f", 0, "src/f", "dst/f", "f" },
		{ "src", "dst", NULL, "f", 1, "src/a/f", "dst/a/f", "a/f" },
		{ "src", "dst", NULL, NULL, 2, "src/a/b", "dst/a/b", "a/b" },
		{ "/", "dst", "top", "f", 2, "/a/b/f", "dst/top/a/b/f", "a/b/f" },
		{ "src", "dst", "top", NULL, 0, "src", "dst/top", "" },
		{ "src", "/", "top", "f", 0, "src/f", "/top/f", "f" },
	};
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		char from_root[20], to_root[20], top[20];
		struct transfer transfer = { .is_resolved = true };
		snprintf(from_root, sizeof from_root, "%s", rows[i].from_root);
		snprintf(to_root, sizeof to_root, "%s", rows[i].to_root);
		snprintf(top, sizeof top, "%s", rows[i].top ? rows[i].top : "");
		transfer.from.root = from_root;
		transfer.to.root = to_root;
		transfer.to.top = rows[i].top ? top : NULL;
		struct transfer_directory *root = transfer_directory_new(NULL, NULL);
		struct transfer_directory *a = transfer_directory_new(root, "a"),
					  *b = transfer_directory_new(a, "b");
		assert_int_equal(root->depth, 0);
		assert_int_equal(b->depth, 2);
		assert_int_equal(b->mode, -1);
		assert_int_equal(b->modified_s, -1);
		struct transfer_directory *dir = rows[i].depth == 0   ? root
						 : rows[i].depth == 1 ? a
								      : b;
		char *from = transfer_directory_from_path(&transfer, dir, rows[i].name);
		char *to = transfer_directory_to_path(&transfer, dir, rows[i].name);
		char *relative = transfer_directory_relative(dir, rows[i].name);
		assert_string_equal(from, rows[i].from);
		assert_string_equal(to, rows[i].to);
		assert_string_equal(relative, rows[i].relative);
		free(from);
		free(to);
		free(relative);
		transfer_directory_unref(root);
		transfer_directory_unref(a);
		transfer_directory_unref(b); /* the last: all go */
		transfer_directory_unref(NULL);
	}
}

static void folders_that_are_the_same(void **state)
{
	(void)state;
	struct transfer_directory *root = transfer_directory_new(NULL, NULL);
	struct transfer_directory *a = transfer_directory_new(root, "a"),
				  *b = transfer_directory_new(a, "b");
	root->device = a->device = b->device = 1;
	root->inode = b->inode = 7;
	a->inode = 8;
	assert_false(transfer_directory_is_same(root, b)); /* who they are is not known */
	assert_false(transfer_directory_is_loop(b));
	root->has_id = true;
	assert_false(transfer_directory_is_same(root, b));
	assert_false(transfer_directory_is_same(b, root));
	a->has_id = b->has_id = true;
	assert_true(transfer_directory_is_same(root, b));
	assert_true(transfer_directory_is_loop(b));
	assert_false(transfer_directory_is_loop(a));
	assert_false(transfer_directory_is_loop(root));
	assert_false(transfer_directory_is_same(a, b));
	assert_false(transfer_directory_is_same(NULL, b));
	assert_false(transfer_directory_is_same(b, NULL));
	b->device = 2;
	assert_false(transfer_directory_is_same(root, b));
	assert_false(transfer_directory_is_loop(b));
	transfer_directory_unref(root);
	transfer_directory_unref(a);
	transfer_directory_unref(b);
}

/* ---- descriptors */

static bool is_open(int fd)
{
	return fcntl(fd, F_GETFD) >= 0;
}

static void sources_are_opened_while_they_are_used(void **state)
{
	struct err err = { 0 };
	(void)state;
	assert_int_equal(mkdir(at("d"), 0700), 0);
	assert_int_equal(symlink("d", at("link")), 0);
	struct transfer transfer = { .from = { .root = folder } };
	struct transfer_directory *root = transfer_directory_new(NULL, NULL),
				  *d = transfer_directory_new(root, "d");
	struct transfer_directory *link = transfer_directory_new(root, "link"),
				  *gone = transfer_directory_new(root, "x");
	int fd = transfer_directory_use_from(&transfer, d, &err);
	assert_true(fd >= 0);
	assert_int_equal(root->from_fd, -1); /* only for as long as it took */
	assert_int_equal(transfer_directory_use_from(&transfer, d, &err), fd);
	transfer_directory_release_from(d);
	assert_true(is_open(fd));
	transfer_directory_release_from(d);
	assert_false(is_open(fd));
	assert_int_equal(d->from_fd, -1);
	/* never through a link, but the top may be one */
	assert_int_equal(transfer_directory_use_from(&transfer, link, &err), -1);
	assert_int_equal(transfer_directory_use_from(&transfer, gone, &err), -1);
	assert_int_equal(err.sys, ENOENT);
	assert_int_equal(root->from_fd, -1);
	assert_int_equal(root->from_users, 0);
	char linked[200];
	snprintf(linked, sizeof linked, "%s", at("link"));
	transfer.from.root = linked;
	fd = transfer_directory_use_from(&transfer, root, &err);
	assert_true(fd >= 0);
	transfer_directory_release_from(root);
	char missing[200];
	snprintf(missing, sizeof missing, "%s", at("missing"));
	transfer.from.root = missing;
	assert_int_equal(transfer_directory_use_from(&transfer, d, &err), -1);
	assert_non_null(strstr(err.msg, "missing"));
	transfer_directory_unref(link);
	transfer_directory_unref(gone);
	transfer_directory_unref(d);
	transfer_directory_unref(root);
}

static bool is_dir(const char *name)
{
	struct stat st;
	return lstat(at(name), &st) == 0 && S_ISDIR(st.st_mode);
}

static void targets_are_made_as_they_are_used(void **state)
{
	struct err err = { 0 };
	char root_path[200];
	(void)state;
	snprintf(root_path, sizeof root_path, "%s", at("new"));
	struct transfer transfer = { .to = { .root = root_path } };
	struct transfer_directory *root = transfer_directory_new(NULL, NULL),
				  *d = transfer_directory_new(root, "d");
	/* a root that nobody meant as a folder is not made */
	assert_int_equal(transfer_directory_use_to(&transfer, d, &err), -1);
	assert_int_equal(err.sys, ENOENT);
	assert_false(is_dir("new"));
	transfer.to.makes_root = true;
	int fd = transfer_directory_use_to(&transfer, d, &err);
	assert_true(fd >= 0);
	assert_true(is_dir("new/d"));
	assert_true(root->to_is_new);
	assert_true(d->to_is_new);
	assert_int_equal(root->to_fd, -1);
	assert_int_equal(transfer_directory_use_to(&transfer, d, &err), fd);
	transfer_directory_release_to(d);
	assert_true(is_open(fd));
	transfer_directory_release_to(d);
	assert_false(is_open(fd));
	transfer_directory_unref(d);
	transfer_directory_unref(root);
	/* what is there is taken, and is not new */
	root = transfer_directory_new(NULL, NULL);
	d = transfer_directory_new(root, "d");
	assert_true(transfer_directory_use_to(&transfer, d, &err) >= 0);
	assert_false(root->to_is_new);
	assert_false(d->to_is_new);
	transfer_directory_release_to(d);
	/* a link is not followed, a file is none */
	assert_int_equal(symlink("d", at("new/link")), 0);
	close(open(at("new/file"), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
	struct transfer_directory *link = transfer_directory_new(root, "link"),
				  *file = transfer_directory_new(root, "file");
	assert_int_equal(transfer_directory_use_to(&transfer, link, &err), -1);
	assert_int_equal(err.code, ERR_FILE_NOT_DIR);
	assert_non_null(strstr(err.msg, "link is a link: it is not followed"));
	assert_int_equal(transfer_directory_use_to(&transfer, file, &err), -1);
	assert_int_equal(err.sys, ENOTDIR);
	assert_int_equal(root->to_fd, -1);
	/* a top of its own is made inside the root */
	char top[] = "top";
	transfer.to.top = top;
	transfer_directory_unref(d);
	transfer_directory_unref(link);
	transfer_directory_unref(file);
	transfer_directory_unref(root);
	root = transfer_directory_new(NULL, NULL);
	assert_true(transfer_directory_use_to(&transfer, root, &err) >= 0);
	assert_true(is_dir("new/top"));
	assert_true(root->to_is_new);
	transfer_directory_release_to(root);
	transfer_directory_unref(root);
}

/* ---- what has been written */

static void files_that_were_written_are_known(void **state)
{
	enum { FILES = 500 };
	(void)state;
	struct transfer_written written = { .n = 0 };
	struct stat st = { .st_ino = 0 };
	assert_false(transfer_written_has(&written, &st));
	for (unsigned i = 0; i < FILES; i++) {
		st.st_dev = i % 3;
		st.st_ino = i + 2; /* 0 and 1 are never those of a file */
		assert_false(transfer_written_has(&written, &st));
		transfer_written_add(&written, &st);
		transfer_written_add(&written, &st);
		assert_true(transfer_written_has(&written, &st));
		assert_int_equal(written.n, i + 1);
		assert_true(2 * written.n <= written.n_slots);
	}
	for (unsigned i = 0; i < FILES; i++) {
		st.st_ino = i + 2;
		for (unsigned dev = 0; dev < 3; dev++) {
			st.st_dev = dev;
			assert_int_equal(transfer_written_has(&written, &st), dev == i % 3);
		}
	}
	assert_true(written.n_slots <= 2048);
	free(written.slots);
}

/* ---- small dealings */

static void writes_go_on_until_they_would_wait(void **state)
{
	static char bytes[1 << 20];
	struct err err = { 0 };
	int ends[2];
	size_t n = 1;
	(void)state;
	assert_int_equal(pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
	assert_true(transfer_local_write_all(ends[1], bytes, 0, &n, &err));
	assert_int_equal(n, 0);
	assert_true(transfer_local_write_all(ends[1], bytes, 10, &n, &err));
	assert_int_equal(n, 10);
	assert_true(transfer_local_write_all(ends[1], bytes, sizeof bytes, &n, &err));
	assert_in_range(n, 4096, sizeof bytes - 1);
	assert_true(transfer_local_write_all(ends[1], bytes, 10, &n, &err));
	assert_int_equal(n, 0);
	assert_int_equal(err.code, ERR_NONE);
	assert_false(transfer_local_write_all(ends[0], bytes, 10, &n, &err));
	assert_int_equal(err.sys, EBADF);
	close(ends[0]);
	close(ends[1]);
}

static void descriptors_are_given_back_as_they_were(void **state)
{
	struct err err = { 0 };
	int ends[2];
	(void)state;
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	struct transfer_internal_end end = { .fd = ends[0], .fd_flags = -1 };
	assert_true(transfer_local_make_nonblocking(&end, &err));
	assert_true(fcntl(ends[0], F_GETFL) & O_NONBLOCK);
	transfer_local_restore(&end);
	assert_false(fcntl(ends[0], F_GETFL) & O_NONBLOCK);
	assert_int_equal(end.fd_flags, -1);
	/* one that was so already stays so */
	fcntl(ends[0], F_SETFL, O_NONBLOCK);
	assert_true(transfer_local_make_nonblocking(&end, &err));
	assert_int_equal(end.fd_flags, -1);
	transfer_local_restore(&end);
	assert_true(fcntl(ends[0], F_GETFL) & O_NONBLOCK);
	close(ends[0]);
	close(ends[1]);
	assert_false(transfer_local_make_nonblocking(&end, &err));
	assert_int_equal(err.sys, EBADF);
}

static void times_and_masks(void **state)
{
	struct stat before, st;
	(void)state;
	int fd = open(at("file"), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	assert_true(transfer_local_set_times(fd, 1234567));
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(st.st_mtim.tv_sec, 1234567);
	assert_int_equal(transfer_local_modified_ns(&st), (int64_t)1234567 * 1000000000);
	before = st;
	assert_true(transfer_local_set_times(fd, -1)); /* not known: it stays */
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(st.st_mtim.tv_sec, before.st_mtim.tv_sec);
	assert_true(transfer_local_set_times(fd, 0));
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(st.st_mtim.tv_sec, 0);
	close(fd);
	assert_false(transfer_local_set_times(fd, 0));
	assert_true(transfer_local_set_times(fd, -1));
	mode_t was = umask(027);
	assert_int_equal(transfer_local_umask(), 027);
	assert_int_equal(transfer_local_umask(), 027);
	umask(was);
}

static void errors_by_their_meaning(void **state)
{
	static const struct {
		enum err_code code;
		bool is_blind, is_unavailable;
	} rows[] = { { ERR_FILE_LOOP, true, false }, { ERR_FILE_DENIED, true, false },
		{ ERR_FILE_SERVER, true, false }, { ERR_FILE_NOT_FOUND, false, false },
		{ ERR_OP_TIMEOUT, false, false }, { ERR_PROC_COMMAND_NOT_FOUND, false, true },
		{ ERR_PROC_DENIED, false, true }, { ERR_OP_UNSUPPORTED, false, true },
		{ ERR_OP_READ_ONLY, false, true }, { ERR_CONN_LOST, false, false } };
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		const struct err err = { .code = rows[i].code };
		if (transfer_is_blind(&err) != rows[i].is_blind ||
			transfer_means_unavailable(&err) != rows[i].is_unavailable)
			fail_msg("%s", err_name(&err));
	}
}

static void where_a_path_ends(void **state)
{
	static const char *const rows[][3] = { { "a/b", "a", "b" }, { "/a", "/", "a" },
		{ "//a", "/", "a" }, { "a", "", "a" }, { "a/b/..", "a/b/..", "" },
		{ "./a", ".", "a" }, { ".", ".", "" }, { "a/./", "a/.", "" } };
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		char *dir, *base;
		transfer_local_split(rows[i][0], &dir, &base);
		assert_string_equal(dir, rows[i][1]);
		assert_string_equal(base, rows[i][2]);
		free(dir);
		free(base);
	}
	char name[256], *is;
	memset(name, 'n', sizeof name);
	for (size_t n = 250; n <= 255; n++) { /* " (1)" takes four of 255 */
		name[n] = '\0';
		is = transfer_local_rename_candidate(name, 1);
		assert_int_equal(strlen(is), n + 4 < 255 ? n + 4 : 255);
		assert_string_equal(is + strlen(is) - 4, " (1)");
		free(is);
		name[n] = 'n';
	}
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(paths_of_both_sides),
		TEST(folders_that_are_the_same),
		TEST(sources_are_opened_while_they_are_used),
		TEST(targets_are_made_as_they_are_used),
		TEST(files_that_were_written_are_known),
		TEST(writes_go_on_until_they_would_wait),
		TEST(descriptors_are_given_back_as_they_were),
		TEST(times_and_masks),
		TEST(errors_by_their_meaning),
		TEST(where_a_path_ends),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
