// SPDX-License-Identifier: Apache-2.0
/* Who a pod is on the host, what runs in it, and what a killed backend leaves in the state folder. */
#include "tests/unit/local/server/world.h"

#include "engine/base/digest.h"
#include "engine/base/err.h"
#include "engine/base/file.h"
#include "local/control/remove.h"
#include "local/isolation/owner.h"
#include "local/server/kubelet/run.h"
#include "local/server/token.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define COUNT(a) (sizeof(a) / sizeof(a)[0])

static char folder[64];

static int set_up(void **state)
{
	world_set_up(state);
	struct world *w = *state;
	snprintf(folder, sizeof folder, "/tmp/sandmux-host-XXXXXX");
	assert_non_null(mkdtemp(folder));
	w->server.opts.state_dir = folder;
	w->server.opts.is_isolated = true;
	return 0;
}

static int tear_down(void **state)
{
	int fd = open(folder, O_RDONLY | O_DIRECTORY);
	assert_true(control_remove_content(fd, NULL));
	close(fd);
	rmdir(folder);
	return world_tear_down(state);
}

static const char *at(const char *name)
{
	static char path[4][200];
	static unsigned next;
	char *out = path[next++ % 4];
	snprintf(out, sizeof path[0], "%s/%s", folder, name);
	return out;
}

static void expect_next(struct world *w, const char *kept, uid_t uid, const char *then)
{
	assert_true(store_meta_set(w->server.store, "next-host-uid", kept, NULL));
	assert_int_equal(kubelet_pod_host_uid(&w->server, at("none")), uid);
	char *now = store_meta_get(w->server.store, "next-host-uid");
	assert_string_equal(now, then);
	free(now);
}

static void test_each_sandbox_is_a_user(void **state)
{
	struct world *w = *state;
	char last[16], past[16];
	const uint32_t n = OWNER_LAST - OWNER_FIRST;
	if (geteuid() != 0)
		skip(); /* only root's backend has more than one */
	expect_next(w, "0", OWNER_FIRST, "1");
	expect_next(w, "5", OWNER_FIRST + 5, "6");
	snprintf(last, sizeof last, "%u", n - 1);
	expect_next(w, last, OWNER_LAST - 1, "0");
	/* nothing that can be used: a place is drawn */
	snprintf(past, sizeof past, "%u", n);
	const char *const odd[] = { NULL, "-1", "x", past };
	for (size_t i = 0; i < COUNT(odd); i++) {
		char text[16];
		assert_true(store_meta_set(w->server.store, "next-host-uid", odd[i], NULL));
		uid_t uid = kubelet_pod_host_uid(&w->server, at("none"));
		assert_true(isolation_owner_is_ours(uid));
		assert_int_equal((uid - OWNER_FIRST) & 0xffff, 0);
		char *now = store_meta_get(w->server.store, "next-host-uid");
		snprintf(text, sizeof text, "%u", uid - OWNER_FIRST + 1);
		assert_string_equal(now, text);
		free(now);
	}
	/* the workspace says who it was */
	assert_int_equal(mkdir(at("ws"), 0700), 0);
	assert_int_equal(chown(at("ws"), OWNER_FIRST + 77, 0), 0);
	assert_int_equal(kubelet_pod_host_uid(&w->server, at("ws")), OWNER_FIRST + 77);
	assert_int_equal(symlink(at("ws"), at("link")), 0);
	expect_next(w, "9", OWNER_FIRST + 9, "10");
	assert_int_not_equal(kubelet_pod_host_uid(&w->server, at("link")), OWNER_FIRST + 77);
	assert_int_equal(chown(at("ws"), 0, 0), 0);
	assert_true(store_meta_set(w->server.store, "next-host-uid", "30", NULL));
	assert_int_equal(kubelet_pod_host_uid(&w->server, at("ws")), OWNER_FIRST + 30);
	w->server.opts.is_isolated = false;
	assert_int_equal(kubelet_pod_host_uid(&w->server, at("ws")), 0);
}

static void test_the_token_of_a_daemon(void **state)
{
	struct world *w = *state;
	struct err err = { 0 };
	struct stat st;
	size_t n;
	char hex[DIGEST_SHA256_HEX] = "x", again[DIGEST_SHA256_HEX], wanted[DIGEST_SHA256_HEX];
	assert_true(kubelet_pod_token_hash(&w->server, folder, hex, &err));
	assert_string_equal(hex, "");
	assert_int_not_equal(access(at("daemon-token"), F_OK), 0);
	w->server.opts.daemon_auth = true;
	assert_true(kubelet_pod_token_hash(&w->server, folder, hex, &err));
	assert_int_equal(stat(at("daemon-token"), &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	char *token = file_read(at("daemon-token"), 1000, &n, &err);
	assert_true(n >= 32);
	token[strcspn(token, "\n")] = '\0';
	struct digest *d = digest_new();
	digest_add(d, token, strlen(token));
	digest_finish_hex(d, wanted);
	digest_free(d);
	free(token);
	assert_string_equal(hex, wanted);
	/* it lives as long as the pod */
	assert_true(kubelet_pod_token_hash(&w->server, folder, again, &err));
	assert_string_equal(again, hex);
	assert_false(kubelet_pod_token_hash(&w->server, at("nowhere"), hex, &err));
	assert_string_equal(hex, "");
	assert_int_not_equal(err.code, ERR_NONE);
}

/* One that is there is kept, unless it is too short to be one. */
static void test_a_token_that_is_there(void **state)
{
	static const struct {
		const char *content, *token; /* NULL: another one */
	} rows[] = {
		{ "0123456789abcdef", "0123456789abcdef" },
		{ "0123456789abcdef\r\nmore\n", "0123456789abcdef" },
		{ "0123456789abcdef0\n", "0123456789abcdef0" },
		{ "0123456789abcde", NULL },
		{ "0123456789abcde\nf", NULL },
		{ "", NULL },
	};
	struct err err = { 0 };
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		size_t n;
		assert_true(
			file_write_atomic(at("token"), slice_of(rows[i].content), 0600, &err));
		char *token = server_token_load(at("token"), &err);
		assert_non_null(token);
		if (rows[i].token)
			assert_string_equal(token, rows[i].token);
		else
			assert_int_equal(strspn(token, "0123456789abcdef"), 48);
		char *kept = file_read(at("token"), 1000, &n, &err);
		assert_string_equal(kept, rows[i].token ? rows[i].content : token);
		free(kept);
		free(token);
	}
}

/* A process of this name, with a child of the second name if there is one; it stays until it is killed. */
static pid_t start_named(const char *name, const char *child, int ready)
{
	pid_t pid = fork();
	if (pid != 0)
		return pid;
	prctl(PR_SET_NAME, name);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (child)
		start_named(child, NULL, ready);
	if (!child && write(ready, "x", 1) != 1)
		_exit(1);
	for (;;)
		pause();
}

static void test_what_runs_below(void **state)
{
	static const struct {
		const char *name, *child;
	} rows[] = {
		{ "bwrap", "sandmux-sandboxd" },
		{ "sandboxd", "bash" },
		{ "vim", NULL },
		{ "a b\xff", "tail" },
		{ "bwrapx", NULL },
		{ "sandbox", NULL },
		{ "sandmux-sand", NULL },
	};
	pid_t pids[COUNT(rows)];
	int fds[2];
	char byte;
	(void)state;
	if (access("/proc/self/task", F_OK) != 0)
		skip();
	char *none = kubelet_procs_below(getpid());
	assert_string_equal(none, "");
	free(none);
	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	for (size_t i = 0; i < COUNT(rows); i++) {
		pids[i] = start_named(rows[i].name, rows[i].child, fds[1]);
		assert_int_equal(read(fds[0], &byte, 1), 1);
	}
	char *names = kubelet_procs_below(getpid());
	for (size_t i = 0; i < COUNT(rows); i++) {
		kill(pids[i], SIGKILL);
		waitpid(pids[i], NULL, 0);
	}
	assert_string_equal(names, "bash, vim, a?b?, tail, bwrapx, sandbox, sandmux-sand");
	free(names);
	close(fds[0]);
	close(fds[1]);
}

/* Temporary files of atomic writes, from a run that was killed; nothing that only looks like one. */
static void test_temporary_files_are_swept(void **state)
{
	static const char *const places[] = { "", "tls/", "pods/", "volumes/", "quarantine/" };
	struct world *w = *state;
	struct err err = { 0 };
	char name[100];
	assert_int_equal(mkdir(at("tls"), 0700), 0);
	assert_int_equal(mkdir(at("quarantine"), 0700), 0);
	assert_int_equal(mkdir(at("elsewhere"), 0700), 0);
	assert_true(kubelet_volumes_open(&w->server, &err));
	for (size_t i = 0; i < COUNT(places); i++) {
		snprintf(name, sizeof name, "%sx.tmp-0123456789ab", places[i]);
		close(open(at(name), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
		assert_true(file_is_temp(strrchr(at(name), '/') + 1));
	}
	close(open(at("x.tmp-0123456789ag"), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
	close(open(at("elsewhere/x.tmp-0123456789ab"), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
	assert_true(kubelet_volumes_open(&w->server, &err));
	for (size_t i = 0; i < COUNT(places); i++) {
		snprintf(name, sizeof name, "%sx.tmp-0123456789ab", places[i]);
		if (access(at(name), F_OK) == 0)
			fail_msg("%s", name);
	}
	assert_int_equal(access(at("x.tmp-0123456789ag"), F_OK), 0);
	assert_int_equal(access(at("elsewhere/x.tmp-0123456789ab"), F_OK), 0);
	/* where a folder cannot be made it does not start */
	assert_int_equal(rmdir(at("trash")), 0);
	close(open(at("trash"), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
	assert_false(kubelet_volumes_open(&w->server, &err));
	assert_int_not_equal(err.code, ERR_NONE);
}

static void test_whether_anything_is_there(void **state)
{
	(void)state;
	assert_false(kubelet_volumes_are_there(folder));
	assert_int_equal(mkdir(at("volumes"), 0700), 0);
	assert_int_equal(mkdir(at("pods"), 0700), 0);
	assert_int_equal(mkdir(at("volumes/.hidden"), 0700), 0);
	close(open(at("volumes/v.json"), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
	assert_false(kubelet_volumes_are_there(folder));
	assert_int_equal(mkdir(at("pods/p"), 0700), 0);
	assert_true(kubelet_volumes_are_there(folder));
	assert_int_equal(rmdir(at("pods/p")), 0);
	assert_int_equal(mkdir(at("volumes/.json"), 0700), 0);
	assert_false(kubelet_volumes_are_there(folder));
	assert_int_equal(mkdir(at("volumes/v"), 0700), 0);
	assert_true(kubelet_volumes_are_there(folder));
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_each_sandbox_is_a_user),
		TEST(test_the_token_of_a_daemon),
		TEST(test_a_token_that_is_there),
		TEST(test_what_runs_below),
		TEST(test_temporary_files_are_swept),
		TEST(test_whether_anything_is_there),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
