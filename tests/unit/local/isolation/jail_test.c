// SPDX-License-Identifier: Apache-2.0
/* One real sandbox with everything on, and what a job in it sees: each test runs a script there, through the sandbox's own
 * address. Attacks are in tests/jail; this says that each word of the command line has its effect. */
#include "tests/unit/unit.h"

#include "engine/base/err.h"
#include "engine/base/file.h"
#include "engine/base/str.h"
#include "engine/net/grpc.h"
#include "local/isolation/bwrap.h"
#include "local/isolation/cgroup.h"
#include "local/isolation/owner.h"
#include "local/isolation/spawn.h"
#include "proto/process.pb-c.h"
#include "tests/unit/engine/net/turns.h"

#include <arpa/inet.h>
#include <event2/bufferevent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define COUNT(a) (sizeof(a) / sizeof(a)[0])
#define ADDRESS "127.77.0.2"

enum { HOST_USER = OWNER_FIRST + 9, MEMORY = 256 << 20 };

static struct net_loop *loop;
static struct isolation_spawn *spawn;
static struct net_grpc_conn *conn;
static char dir[64], log_path[100], uid[40];
static bool is_listening, is_over;
static char reason[128];
static int secret_fd; /* of the starter: must not be found inside */

static void on_exit_seen(void *arg, int status, const char *why)
{
	(void)arg;
	(void)status;
	is_over = true;
	spawn = NULL;
	snprintf(reason, sizeof reason, "%s", why);
}

static void on_listening(void *arg)
{
	(void)arg;
	is_listening = true;
}

static void connect_to_it(void)
{
	struct err err = { 0 };
	struct sockaddr_in in = { .sin_family = AF_INET,
		.sin_port = htons(isolation_spawn_grpc_port(spawn)) };
	inet_pton(AF_INET, ADDRESS, &in.sin_addr);
	struct bufferevent *bev =
		bufferevent_socket_new(net_loop_base(loop), -1, BEV_OPT_CLOSE_ON_FREE);
	assert_int_equal(bufferevent_socket_connect(bev, (struct sockaddr *)&in, sizeof in), 0);
	conn = net_grpc_conn_new_take(
		loop, bev, &(struct net_grpc_conn_opts){ .authority = "box" }, &err);
	assert_non_null(conn);
}

static int set_up(void **state)
{
	static const char *const env[] = { "LANG=C", "NO_VALUE_AT_ALL", "GIVEN=a=b",
		"EMPTY=", "TERM=first", "TERM=last", NULL };
	struct err err = { 0 };
	(void)state;
	if (!isolation_check(&err)) {
		print_message("skipped: %s\n", err.msg);
		return 0;
	}
	snprintf(uid, sizeof uid, "jail-unit-test-%d", (int)getpid());
	snprintf(dir, sizeof dir, "/tmp/jail-unit-XXXXXX");
	if (mkdtemp(dir) == NULL)
		return 1;
	snprintf(log_path, sizeof log_path, "%s.log", dir);
	secret_fd = open("/etc/passwd", O_RDONLY);
	setenv("OF_THE_STARTER", "1", 1);
	loop = net_loop_new(&err);
	const struct isolation_spawn_opts opts = { .name = "box-7",
		.uid = uid,
		.workspace = dir,
		.address = ADDRESS,
		.env = env,
		.log_path = log_path,
		.daemon_path = DAEMON_PATH,
		.limits = { .memory_bytes = MEMORY,
			.file_bytes = 8 << 20,
			.pids = 77,
			.open_files = 222,
			.cpu_milli = 1500 },
		.host_uid = geteuid() == 0 ? HOST_USER : 0,
		.mode = ISOLATION_BWRAP };
	spawn = isolation_spawn_start(loop, &opts, on_exit_seen, NULL, &err);
	if (spawn == NULL)
		fail_msg("%s", err.msg);
	isolation_spawn_on_listening(spawn, on_listening);
	TURN_UNTIL(loop, is_listening || is_over);
	assert_true(is_listening);
	connect_to_it();
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	if (loop == NULL)
		return 0;
	net_grpc_conn_free(conn);
	isolation_spawn_kill(spawn);
	net_loop_run_once(loop, 0);
	net_loop_free(loop);
	close(secret_fd);
	unlink(log_path);
	pid_t pid = fork();
	if (pid == 0) {
		execlp("rm", "rm", "-rf", dir, (char *)NULL);
		_exit(127);
	}
	waitpid(pid, NULL, 0);
	return 0;
}

/* ---- a job */

struct job {
	bool is_done;
	struct err err;
	struct str out;
	int exit_code;
};

static void on_message(void *arg, struct slice message)
{
	struct job *job = arg;
	Process__V1__ExecuteResponse *answer = process__v1__execute_response__unpack(
		NULL, message.n, (const uint8_t *)message.p);
	assert_non_null(answer);
	str_add_bytes(&job->out, (const char *)answer->stdout.data, answer->stdout.len);
	str_add_bytes(&job->out, (const char *)answer->stderr.data, answer->stderr.len);
	job->exit_code = answer->exit_code;
	process__v1__execute_response__free_unpacked(answer, NULL);
}

static void on_done(void *arg, const struct err *err)
{
	struct job *job = arg;
	job->is_done = true;
	err_copy(&job->err, err);
}

/* All that the script prints. */
static const char *run(const char *script)
{
	static struct job job;
	char bash[] = "/bin/bash", c[] = "-c", *text = strdup(script);
	char *words[] = { bash, c, text };
	Process__V1__ProcessConfig config = PROCESS__V1__PROCESS_CONFIG__INIT;
	Process__V1__ExecuteRequest request = PROCESS__V1__EXECUTE_REQUEST__INIT;
	config.command = words;
	config.n_command = COUNT(words);
	request.config = &config;
	size_t n = process__v1__execute_request__get_packed_size(&request);
	uint8_t *bytes = malloc(n);
	process__v1__execute_request__pack(&request, bytes);
	if (job.out.p != NULL)
		str_deinit(&job.out);
	job = (struct job){ .exit_code = 0 };
	str_init(&job.out, 1 << 20);
	const struct net_grpc_call_opts opts = { .path = "/process.v1.ProcessService/Execute",
		.message = { (const char *)bytes, n },
		.on_message = on_message,
		.done = on_done,
		.arg = &job };
	assert_non_null(net_grpc_start(conn, &opts, &job.err));
	TURN_UNTIL(loop, job.is_done);
	free(bytes);
	free(text);
	if (job.err.code != ERR_NONE)
		fail_msg("%s", job.err.msg);
	return job.out.p ? job.out.p : "";
}

#define JAIL_OR_SKIP()                                                                         \
	do {                                                                                   \
		(void)state;                                                                   \
		if (spawn == NULL)                                                             \
			skip();                                                                \
	} while (0)

static void check(const char *script, const char *prints)
{
	const char *is = run(script);
	if (strcmp(is, prints) != 0)
		fail_msg("%s\nprinted:\n%s\nnot:\n%s", script, is, prints);
}

/* ---- what a job sees */

static void who_it_is(void **state)
{
	JAIL_OR_SKIP();
	check("id -u; id -g; id -un; cat /etc/hostname; uname -n",
		"1000\n1000\nsandbox\nbox-7\nbox-7\n");
	check("cat /etc/passwd /etc/group",
		"root:x:0:0:root:/root:/usr/sbin/nologin\n"
		"sandbox:x:1000:1000:sandbox:/workspace:/bin/bash\n"
		"nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n"
		"root:x:0:\ntty:x:5:\nsandbox:x:1000:\nnogroup:x:65534:\n");
	check("cat /etc/hosts /etc/nsswitch.conf",
		"127.0.0.1 localhost box-7\n::1 localhost\n"
		"passwd: files\ngroup: files\nhosts: files\n");
	check("cat /etc/bash.bashrc; stat -c %a /etc /etc/passwd /etc/hosts",
		"[ -z \"$PS1\" ] && return\nshopt -s checkwinsize\nPS1='\\u@\\h:\\w\\$ '\n"
		"755\n444\n444\n");
}

static void its_environment(void **state)
{
	JAIL_OR_SKIP();
	check("env | grep -v ^_= | sort",
		"EMPTY=\nGIVEN=a=b\nHOME=/workspace\nLANG=C\nLOGNAME=sandbox\n"
		"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin\n"
		"PWD=/workspace\nSHELL=/bin/bash\nSHLVL=1\nTERM=last\nUSER=sandbox\n");
	/* bubblewrap itself, which runs outside, has got none of it, nor ours */
	char path[64];
	size_t n = 1;
	snprintf(path, sizeof path, "/proc/%d/environ", (int)isolation_spawn_pid(spawn));
	char *text = file_read(path, 1 << 20, &n, NULL);
	assert_int_equal(n, 0);
	free(text);
}

static void it_has_no_rights(void **state)
{
	JAIL_OR_SKIP();
	check("grep -E '^(Cap|NoNewPrivs|Seccomp:)' /proc/self/status | tr -d '\\t'",
		"CapInh:0000000000000000\nCapPrm:0000000000000000\nCapEff:0000000000000000\n"
		"CapBnd:0000000000000000\nCapAmb:0000000000000000\nNoNewPrivs:1\nSeccomp:2\n");
	check("cat /proc/1/environ /proc/1/maps 2>&1 | grep -c 'Permission denied'", "2\n");
	check("unshare -U true 2>&1 | grep -c 'not permitted'", "1\n");
}

static void its_limits(void **state)
{
	JAIL_OR_SKIP();
	check("ulimit -n; ulimit -Hn; ulimit -u; ulimit -Hu; ulimit -f; ulimit -c; ulimit -Hc",
		"222\n222\n77\n77\n8192\n0\n0\n");
	bool has_group = isolation_cgroup_has(isolation_spawn_cgroup(spawn), CGROUP_MEMORY);
	check("ulimit -d", has_group ? "unlimited\n" : "262144\n");
	check("cat /proc/1/oom_score_adj /proc/self/oom_score_adj", "300\n800\n");
}

/* Nobody's session, no foreign process, nothing inherited. */
static void its_processes(void **state)
{
	JAIL_OR_SKIP();
	check("read pid name rest < /proc/1/stat; echo $pid $name", "1 (sandboxd)\n");
	check("set -- $(cat /proc/1/stat); echo $4 $5 $6", "0 1 1\n");
	check("set -- /proc/[0-9]*; echo $#",
		"2\n"); /* the daemon and this one: no process of the host */
	check("cd /proc/self/fd; for f in 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do "
	      "[ -e $f ] && echo $f; done",
		"0\n1\n2\n");
}

static void its_namespaces(void **state)
{
	static const char *const names[] = { "net", "ipc", "pid", "uts", "mnt", "user",
		"cgroup" };
	JAIL_OR_SKIP();
	for (size_t i = 0; i < COUNT(names); i++) {
		char path[40], own[64] = "", script[64];
		snprintf(path, sizeof path, "/proc/self/ns/%s", names[i]);
		assert_true(readlink(path, own, sizeof own - 1) > 0);
		snprintf(script, sizeof script, "readlink %s", path);
		const char *inside = run(script);
		assert_memory_equal(inside, names[i], strlen(names[i]));
		if (strncmp(inside, own, strlen(own)) == 0)
			fail_msg("%s is ours", own);
	}
}

static void it_has_no_network(void **state)
{
	char script[200];
	struct sockaddr_in in = { .sin_family = AF_INET };
	socklen_t n = sizeof in;
	JAIL_OR_SKIP();
	check("tail -n +3 /proc/net/dev | sed 's/:.*//;s/ //g'", "lo\n");
	/* the loopback of the host is another */
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	inet_pton(AF_INET, "127.0.0.1", &in.sin_addr);
	assert_int_equal(bind(fd, (struct sockaddr *)&in, n), 0);
	assert_int_equal(listen(fd, 4), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&in, &n), 0);
	snprintf(script, sizeof script,
		"(exec 3<>/dev/tcp/127.0.0.1/%u) 2>/dev/null && echo reached || echo none",
		ntohs(in.sin_port));
	check(script, "none\n");
	close(fd);
}

static void its_folders(void **state)
{
	struct stat st;
	JAIL_OR_SKIP();
	/* as on the host, those for other word sizes included */
	static const char *const libs[] = { "lib", "lib32", "lib64", "libx32" };
	struct str expected;
	str_init(&expected, 400);
	str_add(&expected, "bin\ndev\netc\n");
	for (size_t i = 0; i < COUNT(libs); i++) {
		char path[16];
		snprintf(path, sizeof path, "/%s", libs[i]);
		if (lstat(path, &st) == 0)
			str_addf(&expected, "%s\n", libs[i]);
	}
	str_add(&expected, "proc\nrun\nsbin\ntmp\nusr\nvar\nworkspace\n");
	check("LC_ALL=C ls -A / | sort", expected.p);
	str_deinit(&expected);
	char target[200] = "folder", wanted[210];
	ssize_t n = readlink("/bin", target, sizeof target - 1);
	if (n > 0)
		target[n] = '\0';
	snprintf(wanted, sizeof wanted, "%s\n", target);
	check("readlink /bin || echo folder", wanted);
	check("readlink /var/tmp /var/run; ls -A /var; ls -A /tmp /dev/shm | wc -w",
		"/tmp\n/run\nrun\ntmp\n2\n"); /* only the two headings */
	check("ls -A /run; ls -A /run/sandmux; ls /home /root /sys 2>/dev/null | wc -l",
		"sandmux\ngrpc.sock\nrest.sock\nsandboxd\n0\n");
	check("stat -c '%a %n' /tmp /dev/shm /run /run/sandmux",
		"1777 /tmp\n1777 /dev/shm\n755 /run\n755 /run/sandmux\n");
	check("ls -A /etc | grep -E '^(shadow|resolv.conf|sudoers|ssh|ssl)$'", "");
}

static void where_it_may_write(void **state)
{
	JAIL_OR_SKIP();
	check("for d in / /usr /etc /dev /proc /proc/sys /var /run/sandmux /workspace /tmp "
	      "/dev/shm; do (: > $d/new) 2>/dev/null && echo $d; done; "
	      "rm -f /workspace/new /tmp/new /dev/shm/new /run/sandmux/new",
		"/run/sandmux\n/workspace\n/tmp\n/dev/shm\n");
	/* mounted so, whatever the rights */
	check("for m in / /usr /dev /proc/sys /workspace; do "
	      "echo $m $(awk -v m=$m '$5 == m { o = substr($6, 1, 2) } END { print o }' "
	      "/proc/self/mountinfo); done",
		"/ ro\n/usr ro\n/dev ro\n/proc/sys ro\n/workspace rw\n");
	check("stat -c %a /run/sandmux/sandboxd >/dev/null; "
	      "(: >> /run/sandmux/sandboxd) 2>/dev/null || echo no",
		"no\n");
}

static void sizes(void **state)
{
	JAIL_OR_SKIP();
	if (!isolation_bwrap_has_sizes())
		skip();
	check("df -k --output=size /tmp /run /dev/shm | tail -n 3 | tr -d ' '",
		"1048576\n65536\n262144\n");
}

static void masks(void **state)
{
	static const char *const files[] = { "kcore", "keys", "key-users", "timer_list",
		"timer_stats", "sched_debug", "latency_stats", "kallsyms", "kpagecount",
		"kpageflags", "kpagecgroup", "sysrq-trigger", "interrupts", "softirqs",
		"vmallocinfo", "slabinfo", "iomem", "ioports", "modules", "mtrr", "config.gz" };
	static const char *const folders[] = { "acpi", "asound", "scsi", "irq", "bus", "fs",
		"driver", "dynamic_debug", "pressure" };
	char path[64], script[300];
	struct stat st;
	JAIL_OR_SKIP();
	for (size_t i = 0; i < COUNT(files); i++) {
		snprintf(path, sizeof path, "/proc/%s", files[i]);
		if (lstat(path, &st) != 0 || !S_ISREG(st.st_mode))
			continue;
		snprintf(script, sizeof script, "stat -c '%%F %%t %%T' %s", path);
		check(script, "character special file 1 3\n");
	}
	for (size_t i = 0; i < COUNT(folders); i++) {
		snprintf(path, sizeof path, "/proc/%s", folders[i]);
		if (lstat(path, &st) != 0 || !S_ISDIR(st.st_mode))
			continue;
		snprintf(script, sizeof script,
			"ls -A %s; awk '$5 == \"%s\" { print substr($6, 1, 2) }' "
			"/proc/self/mountinfo",
			path, path);
		check(script, "ro\n");
	}
}

/* ---- from outside */

static void files_belong_to_its_user(void **state)
{
	char path[100];
	struct stat st;
	JAIL_OR_SKIP();
	check("echo text > made; stat -c %u made", "1000\n");
	snprintf(path, sizeof path, "%s/made", dir);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_uid, geteuid() == 0 ? (uid_t)HOST_USER : geteuid());
	assert_int_equal(stat(dir, &st), 0);
	assert_int_equal(st.st_uid, geteuid() == 0 ? (uid_t)HOST_USER : geteuid());
	/* and its processes are that user's */
	snprintf(path, sizeof path, "/proc/%d", (int)isolation_spawn_pid(spawn));
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(stat(log_path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
}

static void assert_group(const char *controller, const char *file, const char *text)
{
	char path[200];
	size_t n;
	snprintf(path, sizeof path, "/sys/fs/cgroup/%s/sandmux/%s/%s", controller, uid, file);
	char *is = file_read(path, 100, &n, NULL);
	if (is != NULL) /* else it is another place, or version 2 */
		assert_string_equal(is, text);
	free(is);
}

static void it_is_held_by_cgroups(void **state)
{
	JAIL_OR_SKIP();
	const struct isolation_cgroup *cgroup = isolation_spawn_cgroup(spawn);
	if (cgroup == NULL)
		skip();
	for (int i = 0; i < CGROUP_CONTROLLER_COUNT; i++) {
		if (!isolation_cgroup_has(cgroup, (enum isolation_cgroup_controller)i))
			continue;
		assert_true(isolation_cgroup_holds(cgroup, (enum isolation_cgroup_controller)i,
			isolation_spawn_daemon_pid(spawn)));
		assert_false(isolation_cgroup_holds(
			cgroup, (enum isolation_cgroup_controller)i, getpid()));
	}
	assert_group("memory", "memory.limit_in_bytes", "268435456\n");
	assert_group("pids", "pids.max", "77\n");
	assert_group("cpu", "cpu.cfs_quota_us", "150000\n");
	assert_group("cpu", "cpu.cfs_period_us", "100000\n");
	assert_int_equal(isolation_cgroup_oom_kills(cgroup), 0);
}

/* The last one: jobs are told, all is gone. */
static void it_ends_in_order(void **state)
{
	JAIL_OR_SKIP();
	assert_true(isolation_spawn_daemon_pid(spawn) > 0);
	assert_int_not_equal(isolation_spawn_daemon_pid(spawn), isolation_spawn_pid(spawn));
	isolation_spawn_stop(spawn, 5000);
	isolation_spawn_stop(spawn, 0); /* is stopping already: the grace stays */
	TURN_UNTIL(loop, is_over);
	assert_string_equal(reason, "exited with status 0");
	net_loop_run_once(loop, 0);
	char path[100];
	snprintf(path, sizeof path, "/sys/fs/cgroup/memory/sandmux/%s", uid);
	assert_int_equal(access(path, F_OK), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_it_is),
		cmocka_unit_test(its_environment),
		cmocka_unit_test(it_has_no_rights),
		cmocka_unit_test(its_limits),
		cmocka_unit_test(its_processes),
		cmocka_unit_test(its_namespaces),
		cmocka_unit_test(it_has_no_network),
		cmocka_unit_test(its_folders),
		cmocka_unit_test(where_it_may_write),
		cmocka_unit_test(sizes),
		cmocka_unit_test(masks),
		cmocka_unit_test(files_belong_to_its_user),
		cmocka_unit_test(it_is_held_by_cgroups),
		cmocka_unit_test(it_ends_in_order),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
