// SPDX-License-Identifier: Apache-2.0
// The file browser over real local folders: what it draws, order, marks and cursor over a refresh, hostile names,
// errors in place, where things may be dropped.
#include "tests/unit/tui/views/fake.h"

#include "tui/views/files/view.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static char dir[64];

static void put(const char *name, size_t bytes)
{
	char path[512];
	snprintf(path, sizeof path, "%s/%s", dir, name);
	FILE *file = fopen(path, "we");
	assert_non_null(file);
	for (size_t i = 0; i < bytes; i++)
		fputc('x', file);
	fclose(file);
	/* 2 January 2020, 03:04 UTC: old enough to be shown with its year */
	struct timespec times[2] = { { 1577934240, 0 }, { 1577934240, 0 } };
	assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
	chmod(path, 0644);
}

static void put_dir(const char *name)
{
	char path[512];
	snprintf(path, sizeof path, "%s/%s", dir, name);
	assert_int_equal(mkdir(path, 0755), 0);
}

static int setup(void **state)
{
	snprintf(dir, sizeof dir, "/tmp/views-files-XXXXXX");
	assert_non_null(mkdtemp(dir));
	setenv("TZ", "UTC", 1);
	*state = fake_new(false);
	return 0;
}

static void control_remove_tree(const char *path)
{
	DIR *folder = opendir(path);
	const struct dirent *entry;
	while (folder && (entry = readdir(folder)) != NULL) {
		char child[1024];
		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		snprintf(child, sizeof child, "%s/%s", path, entry->d_name);
		if (unlink(child) < 0)
			control_remove_tree(child);
	}
	if (folder)
		closedir(folder);
	rmdir(path);
}

static int teardown(void **state)
{
	fake_free(*state);
	control_remove_tree(dir);
	return 0;
}

static char *draw_pane(struct views_files_pane *pane, int cols, int rows)
{
	struct draw_surface *surface = draw_surface_new(cols, rows);
	views_files_pane_draw(pane, draw_region_whole(surface), true);
	char *text = fake_text(surface);
	draw_surface_free(surface);
	char *rest = strchr(text, '\n'); /* the first line has the temporary folder's name */
	assert_non_null(rest);
	memmove(text, rest + 1, strlen(rest));
	return text;
}

static void open_pane(struct fake *fake, struct views_files_pane *pane)
{
	views_files_pane_init(pane, &fake->host, true, NULL, dir);
	FAKE_UNTIL(fake, !pane->is_reading);
}

static void expect(struct views_files_pane *pane, int cols, int rows, const char *want)
{
	char *text = draw_pane(pane, cols, rows);
	assert_string_equal(text, want);
	free(text);
}

static void test_columns(void **state)
{
	struct fake *fake = *state;
	struct views_files_pane pane;
	char link[128];
	put("b.txt", 2048);
	put("a.txt", 1);
	put(".hidden", 3);
	put_dir("src");
	snprintf(link, sizeof link, "%s/gone", dir);
	assert_int_equal(symlink("nowhere", link), 0);
	open_pane(fake, &pane);
	char *text = draw_pane(&pane, 60, 9);
	char *folder_time = strstr(text, "DIR ") + 4;
	memset(folder_time, '-', 12); /* a folder's time is that of now */
	char *link_time = strstr(text, "7 B ") + 4;
	memset(link_time, '-', 12);
	assert_string_equal(text,
		" NAME↑                           SIZE TIME         MODE\n"
		" ..\n"
		" src/                             DIR ------------ rwxr-xr-x\n"
		" a.txt                            1 B Jan  2  2020 rw-r--r--\n"
		" b.txt                        2.0 KiB Jan  2  2020 rw-r--r--\n"
		" gone@!                           7 B ------------ rwxrwxrwx\n"
		"\n"
		"4 entries, 1 not shown\n");
	free(text);
	views_files_pane_deinit(&pane);
}

static void test_narrow_panes_drop_columns(void **state)
{
	struct fake *fake = *state;
	struct views_files_pane pane;
	put("a-rather-long-name-of-a-file.txt", 1);
	open_pane(fake, &pane);
	expect(&pane, 30, 5,
		" NAME↑                    SIZE\n"
		" ..\n"
		" a-rather-long-name…       1 B\n"
		"1 entry\n");
	expect(&pane, 20, 5,
		" NAME↑\n"
		" ..\n"
		" a-rather-long-name…\n"
		"1 entry\n");
	views_files_pane_deinit(&pane);
}

static void test_hostile_names(void **state)
{
	struct fake *fake = *state;
	struct views_files_pane pane;
	put("a\x1b[31mred", 1);
	put("b\nline", 1);
	put("c\xff\xfe", 1);
	put("d\xe2\x80\xaetxt.exe", 1); /* right-to-left override */
	open_pane(fake, &pane);
	char *text = draw_pane(&pane, 60, 9);
	assert_null(strchr(text, '\x1b'));
	assert_null(strstr(text, "\xe2\x80\xae"));
	assert_non_null(strstr(text, "a^[[31mred"));
	assert_non_null(strstr(text, "b^Jline"));
	assert_non_null(strstr(text, "c\\xFF\\xFE"));
	assert_non_null(strstr(text, "<U+202E>"));
	free(text);
	views_files_pane_deinit(&pane);
}

static const char *name_at(const struct views_files_pane *pane, size_t row)
{
	const struct files_entry *entry = views_files_pane_at(pane, row);
	return entry ? entry->name : "(none)";
}

static void test_order(void **state)
{
	struct fake *fake = *state;
	struct views_files_pane pane;
	put("b", 1);
	put("a", 5);
	put("c", 3);
	put_dir("z");
	open_pane(fake, &pane);
	assert_true(views_files_pane_is_parent_row(&pane, 0));
	assert_string_equal(name_at(&pane, 1), "z");
	assert_string_equal(name_at(&pane, 2), "a");
	views_files_pane_sort(&pane, FILES_NAME); /* again: reversed, folders stay first */
	assert_string_equal(name_at(&pane, 1), "z");
	assert_string_equal(name_at(&pane, 2), "c");
	views_files_pane_sort(&pane, FILES_SIZE);
	assert_string_equal(name_at(&pane, 1), "z");
	assert_string_equal(name_at(&pane, 2), "a");
	assert_string_equal(name_at(&pane, 3), "c");
	assert_string_equal(name_at(&pane, 4), "b");
	views_files_pane_deinit(&pane);
}

static void test_cursor_and_marks_are_kept_by_name(void **state)
{
	struct fake *fake = *state;
	struct views_files_pane pane;
	char path[128];
	put("b", 1);
	put("d", 1);
	put("f", 1);
	open_pane(fake, &pane);
	views_files_pane_mark(&pane, 1, true);
	views_files_pane_mark(&pane, 3, true);
	views_files_pane_move(&pane, 2);
	assert_string_equal(name_at(&pane, 2), "d");
	put("a", 1);
	put("c", 1);
	snprintf(path, sizeof path, "%s/f", dir);
	assert_int_equal(unlink(path), 0);
	views_files_pane_read(&pane);
	FAKE_UNTIL(fake, !pane.is_reading);
	assert_string_equal(name_at(&pane, pane.cursor), "d");
	assert_int_equal(pane.n_marked, 1);
	size_t n;
	struct files_entry **chosen = views_files_pane_chosen(&pane, &n);
	assert_int_equal(n, 1);
	assert_string_equal(chosen[0]->name, "b");
	free(chosen);
	views_files_pane_deinit(&pane);
}

static void test_filter_and_hidden(void **state)
{
	struct fake *fake = *state;
	struct views_files_pane pane;
	put("Alpha", 1);
	put("beta", 1);
	put(".dot", 1);
	open_pane(fake, &pane);
	views_files_pane_mark_all(&pane, true);
	assert_int_equal(pane.n_marked, 2);
	views_files_pane_filter(&pane, "ALP");
	assert_int_equal(views_files_pane_rows(&pane), 2);
	assert_string_equal(name_at(&pane, 1), "Alpha");
	assert_int_equal(pane.n_marked, 1); /* nothing is marked that cannot be seen */
	views_files_pane_filter(&pane, "");
	views_files_pane_show_hidden(&pane, true);
	assert_string_equal(name_at(&pane, 1), ".dot");
	assert_int_equal(views_files_pane_search(&pane, 0, "be"), 3);
	assert_int_equal(views_files_pane_search(&pane, 0, "eta"), 3);
	assert_true(views_files_pane_search(&pane, 0, "nothing") == (size_t)-1);
	views_files_pane_deinit(&pane);
}

static void test_an_error_stands_in_the_pane(void **state)
{
	struct fake *fake = *state;
	struct views_files_pane pane;
	open_pane(fake, &pane);
	char *missing = x_asprintf("%s/missing", dir);
	views_files_pane_go(&pane, missing, NULL);
	FAKE_UNTIL(fake, !pane.is_reading);
	assert_int_equal(pane.err.code, ERR_FILE_NOT_FOUND);
	char *text = draw_pane(&pane, 60, 10);
	assert_non_null(strstr(text, "file.not_found"));
	assert_non_null(strstr(text, "check the path"));
	assert_non_null(strstr(text, "r tries again, backspace goes up"));
	free(text);
	char *parent = views_files_pane_parent(&pane);
	views_files_pane_go(&pane, parent, NULL);
	FAKE_UNTIL(fake, !pane.is_reading);
	assert_int_equal(pane.err.code, ERR_NONE);
	free(parent);
	free(missing);
	views_files_pane_deinit(&pane);
}

static void test_resolve(void **state)
{
	struct fake *fake = *state;
	static const struct {
		bool is_local;
		const char *path, *typed, *want;
	} cases[] = {
		{ true, "/a/b", "c", "/a/b/c" },
		{ true, "/a/b", "../c", "/a/c" },
		{ true, "/a", "../../..", "/" },
		{ true, "/a", "/x//y/./z/", "/x/y/z" },
		{ true, "/", "x", "/x" },
		{ false, "a/b", "c", "a/b/c" },
		{ false, "a/b", "/c", "c" },
		{ false, "a/b", "../../..", "" },
		{ false, "", "/", "" },
		{ false, "", "x/../../etc", "etc" },
	};
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct views_files_pane pane = { .host = &fake->host,
			.is_local = cases[i].is_local };
		struct err err;
		pane.path = x_strdup(cases[i].path);
		char *path = views_files_pane_resolve(&pane, cases[i].typed, &err);
		assert_non_null(path);
		assert_string_equal(path, cases[i].want);
		free(path);
		free(pane.path);
	}
}

/* ---- the view */

static struct view *open_view(struct fake *fake)
{
	struct err err;
	struct view_args args = { 0 };
	fake->host.local_dir = dir;
	struct view *view = view_files.open(&fake->host, &args, &err);
	assert_non_null(view);
	struct views_files *files = (struct views_files *)view;
	FAKE_UNTIL(fake, !files->panes[0].is_reading);
	free(fake_draw(view, 80, 12)); /* gives it its places */
	return view;
}

/* As if the sandbox had answered. */
static void answer_listing(struct views_files_pane *pane)
{
	struct files_entry folder = { "sub", 0, 0, 0755, FILES_FOLDER, false };
	struct files_entry file = { "r.txt", 5, 0, 0644, FILES_PLAIN, false };
	struct files_listing listing = { 0 };
	pane->err.code = ERR_NONE;
	files_listing_add(&listing, &folder);
	files_listing_add(&listing, &file);
	views_files_pane_take(pane, NULL, &listing);
}

static void drag_deinit(struct view_drag *drag)
{
	for (size_t i = 0; i < drag->n_paths; i++)
		free(drag->paths[i]);
	free(drag->paths);
	free(drag->uid);
}

static void test_where_things_may_be_dropped(void **state)
{
	struct fake *fake = *state;
	put("one", 1);
	put_dir("folder");
	struct view *view = open_view(fake);
	struct views_files *files = (struct views_files *)view;
	answer_listing(&files->panes[1]);
	free(fake_draw(view, 80, 12));
	struct view_drag drag = { .from = view };
	assert_false(view->class->drag_begin(view, 5, 0, &drag)); /* the path */
	assert_false(view->class->drag_begin(view, 5, 2, &drag)); /* ".." */
	assert_true(view->class->drag_begin(view, 5, 4, &drag));
	assert_string_equal(drag.label, "one");
	assert_int_equal(drag.n_paths, 1);
	assert_true(drag.is_local);
	assert_false(view->class->drag_hover(view, &drag, 5, 3)); /* local to local */
	assert_true(view->class->drag_hover(view, &drag, 45, 8)); /* the other pane, whole */
	assert_true(files->panes[1].is_hovered);
	assert_true(files->panes[1].hover_row == (size_t)HOVER_WHOLE);
	assert_true(view->class->drag_hover(view, &drag, 45, 2)); /* its folder */
	assert_int_equal(files->panes[1].hover_row, 0);
	view->class->drag_leave(view);
	assert_false(files->panes[1].is_hovered);
	view->class->drop(view, &drag, 45, 2);
	assert_int_equal(transfer_queue_count(fake->host.copies), 1);
	struct transfer_copy_info info = transfer_queue_at(fake->host.copies, 0);
	assert_string_equal(info.what, "one");
	assert_string_equal(info.to_dir, "sub");
	drag_deinit(&drag);
	/* out of the sandbox: not into itself, not to where it is, but home */
	memset(&drag, 0, sizeof drag);
	assert_true(view->class->drag_begin(view, 45, 2, &drag));
	assert_false(drag.is_local);
	assert_false(view->class->drag_hover(view, &drag, 45, 2));
	assert_false(view->class->drag_hover(view, &drag, 45, 8));
	assert_true(view->class->drag_hover(view, &drag, 5, 8));
	assert_true(view->class->drag_hover(view, &drag, 5, 3));
	drag_deinit(&drag);
	view->class->free(view);
}

static void click(struct view *view, int col, int row, int button, unsigned mods, int clicks)
{
	struct draw_mouse mouse = { MOUSE_PRESS, button, col, row, mods, clicks };
	view->class->mouse(view, &mouse);
}

static void test_mouse(void **state)
{
	struct fake *fake = *state;
	put("one", 1);
	put("two", 1);
	put_dir("folder");
	struct view *view = open_view(fake);
	struct views_files *files = (struct views_files *)view;
	click(view, 5, 4, 1, 0, 1);
	assert_int_equal(files->active, 0);
	assert_string_equal(name_at(&files->panes[0], files->panes[0].cursor), "one");
	click(view, 5, 5, 3, 0, 1); /* the right button marks */
	assert_int_equal(files->panes[0].n_marked, 1);
	struct draw_mouse sweep = { MOUSE_DRAG, 3, 5, 4, 0, 0 };
	view->class->mouse(view, &sweep);
	assert_int_equal(files->panes[0].n_marked, 2);
	click(view, 5, 4, 1, MOD_CTRL, 1); /* ctrl and click: the other way */
	assert_int_equal(files->panes[0].n_marked, 1);
	click(view, 5, 1, 1, 0, 1); /* the header: reversed */
	assert_true(files->panes[0].is_reversed);
	click(view, 5, 3, 1, 0, 2); /* twice on the folder: in */
	FAKE_UNTIL(fake, !files->panes[0].is_reading);
	assert_non_null(strstr(files->panes[0].path, "/folder"));
	click(view, 5, 2, 1, 0, 2); /* twice on "..": out, and the cursor on it */
	FAKE_UNTIL(fake, !files->panes[0].is_reading);
	assert_string_equal(files->panes[0].path, dir);
	assert_string_equal(name_at(&files->panes[0], files->panes[0].cursor), "folder");
	view->class->free(view);
}

static void test_a_click_on_the_path_goes_there(void **state)
{
	struct fake *fake = *state;
	put_dir("sub");
	struct view *view = open_view(fake);
	struct views_files_pane *pane = &((struct views_files *)view)->panes[0];
	views_files_pane_move(pane, 1);
	((struct views_files *)view)->active = 0;
	views_files_enter((struct views_files *)view);
	FAKE_UNTIL(fake, !pane->is_reading);
	free(fake_draw(view, 100, 12));
	char *text = fake_draw(view, 100, 12); /* local:/tmp/views-files-XXXXXX/sub */
	assert_non_null(strstr(text, "/sub"));
	free(text);
	click(view, 33, 0, 1, 0, 1); /* the folder it is in: stays */
	assert_non_null(strstr(pane->path, "/sub"));
	click(view, 15, 0, 1, 0, 1);
	FAKE_UNTIL(fake, !pane->is_reading);
	assert_string_equal(pane->path, dir);
	free(fake_draw(view, 100, 12));
	click(view, 8, 0, 1, 0, 1);
	FAKE_UNTIL(fake, !pane->is_reading);
	assert_string_equal(pane->path, "/tmp");
	view->class->free(view);
}

static void test_both_panes(void **state)
{
	struct fake *fake = *state;
	put("one", 1);
	struct view *view = open_view(fake);
	struct views_files *files = (struct views_files *)view;
	answer_listing(&files->panes[1]);
	views_files_pane_mark(&files->panes[1], 0, true);
	char *text = fake_draw(view, 80, 7);
	char *rest = strchr(text, '\n');
	assert_non_null(rest);
	assert_string_equal(rest,
		"\n NAME↑                             SIZE│ NAME↑                              SIZE\n"
		" ..                                    │*sub/                                DIR\n"
		" one                                1 B│ r.txt                               5 B\n"
		"                                       │\n"
		"                                       │\n"
		"1 entry                                │1 marked, 0 B  2 entries\n");
	free(text);
	assert_int_equal(view->class->targets(view, (const char *[1]){ NULL }, 1), 0);
	view->class->free(view);
}

static void test_delete_asks_what_and_how_much(void **state)
{
	struct fake *fake = *state;
	struct err err;
	char path[128];
	put("keep", 1);
	put_dir("src");
	put("src/a", 1000);
	put("src/b", 1048);
	snprintf(path, sizeof path, "%s/link", dir);
	assert_int_equal(symlink("keep", path), 0);
	struct view *view = open_view(fake);
	struct views_files *files = (struct views_files *)view;
	files->active = 0;
	views_files_pane_move(&files->panes[0], 1);
	views_files_pane_mark(&files->panes[0], 1, true); /* src */
	views_files_pane_mark(&files->panes[0], 3, true); /* link */
	assert_true(fake_command(view, "delete", "", &err));
	assert_false(fake_command(view, "delete", "", &err)); /* one at a time */
	assert_int_equal(err.code, ERR_OP_BUSY);
	FAKE_UNTIL(fake, fake->n_dialogs == 1);
	char *text = fake_draw_dialog(fake, 80, 20);
	assert_non_null(strstr(text, "Delete 2 entries?"));
	assert_non_null(strstr(text, "src  (folder)"));
	assert_non_null(strstr(text, "link  (link)"));
	assert_non_null(strstr(text, "In all 2 files, 1 folder, 1 link, 2.0 KiB."));
	assert_non_null(strstr(text, "[ Cancel ]"));
	free(text);
	fake_press(fake, "d");
	FAKE_UNTIL(fake, files->deletion == NULL && !files->panes[0].is_reading);
	assert_string_equal(fake->note, "deleted 2 entries");
	assert_int_equal(files->panes[0].n_shown, 1);
	assert_string_equal(name_at(&files->panes[0], 1), "keep");
	/* no is no */
	views_files_pane_move(&files->panes[0], 1);
	assert_true(fake_command(view, "delete", "", &err));
	FAKE_UNTIL(fake, fake->n_dialogs == 1);
	fake_press(fake, "enter");
	FAKE_UNTIL(fake, files->deletion == NULL);
	snprintf(path, sizeof path, "%s/keep", dir);
	assert_int_equal(access(path, F_OK), 0);
	view->class->free(view);
}

static void test_closing_while_it_asks(void **state)
{
	struct fake *fake = *state;
	struct err err;
	put("keep", 1);
	struct view *view = open_view(fake);
	((struct views_files *)view)->active = 0;
	views_files_pane_move(&((struct views_files *)view)->panes[0], 1);
	assert_true(fake_command(view, "delete", "", &err));
	FAKE_UNTIL(fake, fake->n_dialogs == 1);
	assert_true(fake_command(view, "cd", "", &err));
	view->class->free(view);
	fake_press(fake, "esc");
	fake_press(fake, "d"); /* goes nowhere */
	assert_int_equal(fake->n_dialogs, 0);
	net_loop_run_once(fake->host.loop, 10);
	char path[128];
	snprintf(path, sizeof path, "%s/keep", dir);
	assert_int_equal(access(path, F_OK), 0);
}

static void test_read_only(void **state)
{
	struct fake *fake = fake_new(true);
	struct err err;
	(void)state;
	put("keep", 1);
	struct view *view = open_view(fake);
	struct views_files *files = (struct views_files *)view;
	files->active = 0;
	views_files_pane_move(&files->panes[0], 1);
	assert_false(fake_command(view, "delete", "", &err));
	assert_int_equal(err.code, ERR_OP_READ_ONLY);
	assert_false(fake_command(view, "mkdir", "x", &err));
	assert_int_equal(err.code, ERR_OP_READ_ONLY);
	assert_false(fake_command(view, "copy", "", &err));
	assert_int_equal(err.code, ERR_OP_READ_ONLY);
	view->class->free(view);
	fake_free(fake);
}

static void test_make_a_folder(void **state)
{
	struct fake *fake = *state;
	struct err err;
	struct view *view = open_view(fake);
	struct views_files *files = (struct views_files *)view;
	files->active = 0;
	assert_true(fake_command(view, "mkdir", "made", &err));
	FAKE_UNTIL(fake, !files->making && !files->panes[0].is_reading);
	assert_string_equal(name_at(&files->panes[0], files->panes[0].cursor), "made");
	static const char *const bad[] = { "..", "a/b", "." };
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		assert_false(fake_command(view, "mkdir", bad[i], &err));
		assert_int_equal(err.code, ERR_ARG_INVALID);
	}
	assert_false(fake_command(view, "mkdir", "made", &err));
	view->class->free(view);
}

static void test_a_large_folder_is_read_in_slices(void **state)
{
	struct fake *fake = *state;
	struct views_files_pane pane;
	char path[128];
	for (int i = 0; i < 3000; i++) {
		snprintf(path, sizeof path, "%s/%04d", dir, i);
		int fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0644);
		assert_true(fd >= 0);
		close(fd);
	}
	clock_set_for_tests(
		1000000000, -1); /* no time passes: a slice never ends by the clock … */
	views_files_pane_init(&pane, &fake->host, true, NULL, dir);
	assert_true(pane.is_reading); /* … but never from inside the call that starts it */
	assert_int_equal(pane.n_read, 0);
	clock_set_for_tests(-1, -1);
	FAKE_UNTIL(fake, !pane.is_reading);
	assert_int_equal(pane.n_shown, 3000);
	assert_string_equal(name_at(&pane, 1), "0000");
	assert_string_equal(name_at(&pane, 3000), "2999");
	/* leaving while it reads */
	views_files_pane_read(&pane);
	views_files_pane_go(&pane, "/", NULL);
	FAKE_UNTIL(fake, !pane.is_reading);
	assert_string_equal(pane.path, "/");
	views_files_pane_read(&pane);
	views_files_pane_deinit(&pane);
}

static void type(struct view *view, const char *name, bool is_used)
{
	struct draw_key key;
	assert_true(draw_key_parse(name, &key));
	if (view->class->key(view, &key) != is_used)
		fail_msg("%s", name);
}

/* Every key is a letter of it, until it ends. */
static void test_quick_search(void **state)
{
	struct fake *fake = *state;
	static const char *const ends[] = { "esc", "enter", "ctrl-c", "ctrl-g" };
	put("alpha", 1);
	put("beta", 1);
	put("better", 1);
	put("gamma", 1);
	struct view *view = open_view(fake);
	struct views_files *files = (struct views_files *)view;
	files->active = 0;
	struct views_files_pane *pane = files_active(files);
	type(view, "b", false); /* not while nobody searches */
	assert_int_equal(view->class->scope(view), SCOPE_FILES);
	for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
		views_files_pane_move(pane, 0);
		views_files_search_begin(files);
		assert_int_equal(view->class->scope(view), SCOPE_TYPING);
		type(view, "b", true);
		assert_string_equal(name_at(pane, pane->cursor), "beta");
		type(view, "down", true);
		assert_string_equal(name_at(pane, pane->cursor), "better");
		type(view, "down", true); /* and from its beginning again, or it stays */
		type(view, "e", true);
		type(view, "t", true);
		type(view, "t", true);
		assert_string_equal(name_at(pane, pane->cursor), "better");
		type(view, "x", true); /* nothing has that: it stays */
		assert_string_equal(name_at(pane, pane->cursor), "better");
		type(view, "backspace", true);
		assert_string_equal(files->search.text.p, "bett");
		type(view, ends[i], true);
		assert_int_equal(view->class->scope(view), SCOPE_FILES);
		assert_string_equal(files->search.text.p, "");
		type(view, "b", false);
	}
	view->class->free(view);
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_columns),
		CASE(test_narrow_panes_drop_columns),
		CASE(test_hostile_names),
		CASE(test_order),
		CASE(test_cursor_and_marks_are_kept_by_name),
		CASE(test_filter_and_hidden),
		CASE(test_an_error_stands_in_the_pane),
		CASE(test_resolve),
		CASE(test_where_things_may_be_dropped),
		CASE(test_mouse),
		CASE(test_a_click_on_the_path_goes_there),
		CASE(test_both_panes),
		CASE(test_delete_asks_what_and_how_much),
		CASE(test_closing_while_it_asks),
		CASE(test_read_only),
		CASE(test_make_a_folder),
		CASE(test_a_large_folder_is_read_in_slices),
		CASE(test_quick_search),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
