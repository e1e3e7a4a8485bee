// SPDX-License-Identifier: Apache-2.0
#include "local/isolation/bwrap.h"

#include "engine/base/err.h"
#include "engine/base/mem.h"
#include "engine/base/str.h"
#include "local/isolation/spawn.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

void isolation_bwrap_add(struct isolation_bwrap_args *args, const char *word)
{
	array_grow(&args->words, &args->capacity, args->n + 2, sizeof *args->words);
	args->words[args->n++] = x_strdup(word);
	args->words[args->n] = NULL;
}

void isolation_bwrap_add3(
	struct isolation_bwrap_args *args, const char *option, const char *a, const char *b)
{
	isolation_bwrap_add(args, option);
	if (a != NULL)
		isolation_bwrap_add(args, a);
	if (b != NULL)
		isolation_bwrap_add(args, b);
}

void isolation_bwrap_free(struct isolation_bwrap_args *args)
{
	for (size_t i = 0; i < args->n; i++)
		free(args->words[i]);
	for (size_t i = 0; i < args->n_fds; i++)
		close(args->fds[i]);
	free(args->words);
	free(args->fds);
	*args = (struct isolation_bwrap_args){ 0 };
}

int isolation_bwrap_reap(pid_t pid)
{
	int status = 0;
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return status;
}

static char *find_bwrap(void)
{
	const char *path = getenv("PATH");
	for (const char *p = path ? path : "/usr/bin:/bin"; *p;) {
		size_t n = strcspn(p, ":");
		char *candidate = x_asprintf("%.*s/bwrap", (int)n, p);
		if (n > 0 && access(candidate, X_OK) == 0)
			return candidate;
		free(candidate);
		p += n + (p[n] == ':');
	}
	return NULL;
}

/* Content that bubblewrap reads from a descriptor, whose number is written to `number`. */
static bool add_content(struct isolation_bwrap_args *args, const char *content, size_t n,
	char number[static 16])
{
	int fd = memfd_create("sandmux", MFD_CLOEXEC);
	if (fd < 0)
		return false;
	if (write(fd, content, n) != (ssize_t)n || lseek(fd, 0, SEEK_SET) != 0) {
		close(fd);
		return false;
	}
	array_grow(&args->fds, &args->fds_capacity, args->n_fds + 1, sizeof *args->fds);
	args->fds[args->n_fds++] = fd;
	snprintf(number, 16, "%d", fd);
	return true;
}

static void add_file(struct isolation_bwrap_args *args, const char *path, const char *content)
{
	char number[16];
	if (!add_content(args, content, strlen(content), number))
		return;
	isolation_bwrap_add3(args, "--perms", "0444", NULL);
	isolation_bwrap_add3(args, "--ro-bind-data", number, path);
}

bool isolation_bwrap_add_env(
	struct isolation_bwrap_args *args, char *const *env, struct err *err)
{
	char number[16];
	struct str words; /* NUL-separated, as bubblewrap's --args wants them */
	str_init(&words, BWRAP_ENV_BYTES);
	for (; env != NULL && *env != NULL; env++) {
		size_t name_n = strcspn(*env, "=");
		if ((*env)[name_n] == '\0')
			continue;
		str_add_bytes(&words, "--setenv", sizeof "--setenv");
		str_add_bytes(&words, *env, name_n);
		str_add_char(&words, '\0');
		str_add_bytes(&words, *env + name_n + 1, strlen(*env + name_n + 1) + 1);
	}
	bool ok = !words.truncated && add_content(args, words.p, words.n, number);
	str_deinit(&words);
	if (!ok)
		return err_set(
			err, ERR_LIMIT_UPLOAD, "the environment of the sandbox is too large");
	isolation_bwrap_add3(args, "--args", number, NULL);
	return true;
}

/* As on the host: with a merged /usr these are links. */
static void add_system_folders(struct isolation_bwrap_args *args)
{
	static const char *const folders[] = { "/bin", "/sbin", "/lib", "/lib32", "/lib64",
		"/libx32" };
	isolation_bwrap_add3(args, "--ro-bind", "/usr", "/usr");
	for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++) {
		char target[PATH_MAX];
		struct stat st;
		if (lstat(folders[i], &st) != 0)
			continue;
		ssize_t n = S_ISLNK(st.st_mode)
				    ? readlink(folders[i], target, sizeof target - 1)
				    : -1;
		if (n > 0) {
			target[n] = 0;
			isolation_bwrap_add3(args, "--symlink", target, folders[i]);
		} else {
			isolation_bwrap_add3(args, "--ro-bind", folders[i], folders[i]);
		}
	}
}

/* Nothing of the host's users, network or secrets; only what programs need to run. */
static void add_etc(struct isolation_bwrap_args *args, const char *hostname)
{
	static const char *const shared[] = { "/etc/alternatives", "/etc/ld.so.cache",
		"/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/terminfo", "/etc/vim",
		"/etc/inputrc", "/etc/localtime", "/etc/mime.types", "/etc/magic",
		"/etc/magic.mime", "/etc/perl", "/etc/python3", "/etc/python3.10",
		"/etc/python3.11", "/etc/python3.12", "/etc/python3.13", "/etc/lesskey",
		"/etc/debian_version", "/etc/os-release", "/etc/java-17-openjdk" };
	isolation_bwrap_add3(args, "--perms", "0755", NULL);
	isolation_bwrap_add3(args, "--dir", "/etc", NULL);
	for (size_t i = 0; i < sizeof shared / sizeof shared[0]; i++)
		isolation_bwrap_add3(args, "--ro-bind-try", shared[i], shared[i]);
	add_file(args, "/etc/passwd",
		"root:x:0:0:root:/root:/usr/sbin/nologin\n"
		"sandbox:x:1000:1000:sandbox:/workspace:/bin/bash\n"
		"nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n");
	add_file(
		args, "/etc/group", "root:x:0:\ntty:x:5:\nsandbox:x:1000:\nnogroup:x:65534:\n");
	add_file(args, "/etc/nsswitch.conf", "passwd: files\ngroup: files\nhosts: files\n");
	add_file(args, "/etc/bash.bashrc",
		"[ -z \"$PS1\" ] && return\n"
		"shopt -s checkwinsize\n"
		"PS1='\\u@\\h:\\w\\$ '\n");
	char *hosts = x_asprintf("127.0.0.1 localhost %s\n::1 localhost\n", hostname);
	add_file(args, "/etc/hosts", hosts);
	free(hosts);
	char *line = x_asprintf("%s\n", hostname);
	add_file(args, "/etc/hostname", line);
	free(line);
}

/* What this bubblewrap can do besides; "" if it does not answer. */
static const char *help_text(const char *program)
{
	static char text[32 << 10];
	static bool is_read;
	if (is_read)
		return text;
	is_read = true;
	int fds[2];
	char *const argv[] = { x_strdup(program), x_strdup("--help"), NULL };
	if (pipe(fds) == 0) {
		pid_t pid = fork();
		if (pid == 0) {
			dup2(fds[1], 1);
			dup2(fds[1], 2);
			close(fds[0]);
			close(fds[1]);
			execv(program, argv);
			_exit(127);
		}
		close(fds[1]);
		size_t n = 0;
		ssize_t got;
		while (n < sizeof text - 1 &&
			(got = read(fds[0], text + n, sizeof text - 1 - n)) > 0)
			n += (size_t)got;
		text[n] = 0;
		close(fds[0]);
		if (pid > 0)
			isolation_bwrap_reap(pid);
	}
	free(argv[0]);
	free(argv[1]);
	return text;
}

static bool can(const char *program, const char *option)
{
	return strstr(help_text(program), option) != NULL;
}

static bool is_on(uint32_t unguarded, enum isolation_spawn_guard guard)
{
	return (unguarded >> guard & 1) == 0;
}

/* Bubblewrap before 0.7 cannot limit one; what binds then is the memory limit, which counts it. */
static void add_tmpfs(struct isolation_bwrap_args *args, const char *program,
	uint32_t unguarded, const char *path, const char *mode, const char *bytes)
{
	if (is_on(unguarded, SPAWN_GUARD_SIZES) && can(program, "--size"))
		isolation_bwrap_add3(args, "--size", bytes, NULL);
	isolation_bwrap_add3(args, "--perms", mode, NULL);
	isolation_bwrap_add3(args, "--tmpfs", path, NULL);
}

bool isolation_bwrap_has_sizes(void)
{
	char *program = find_bwrap();
	bool has = program != NULL && can(program, "--size");
	free(program);
	return has;
}

/* /dev/shm has a limit of its own; the rest of /dev is no place to write to. */
static void add_dev(struct isolation_bwrap_args *args, const char *program, uint32_t unguarded)
{
	isolation_bwrap_add3(args, "--dev", "/dev", NULL);
	add_tmpfs(args, program, unguarded, "/dev/shm", "1777", BWRAP_SHM_BYTES);
	if (is_on(unguarded, SPAWN_GUARD_SIZES))
		isolation_bwrap_add3(args, "--remount-ro", "/dev", NULL);
}

/* What container runtimes mask, since it tells of the host or acts on it. */
static void add_proc(struct isolation_bwrap_args *args, uint32_t unguarded)
{
	static const char *const files[] = { "/proc/kcore", "/proc/keys", "/proc/key-users",
		"/proc/timer_list", "/proc/timer_stats", "/proc/sched_debug", "/proc/kmsg",
		"/proc/latency_stats", "/proc/kallsyms", "/proc/kpagecount", "/proc/kpageflags",
		"/proc/kpagecgroup", "/proc/sysrq-trigger", "/proc/interrupts",
		"/proc/softirqs", "/proc/vmallocinfo", "/proc/slabinfo", "/proc/iomem",
		"/proc/ioports", "/proc/modules", "/proc/mtrr", "/proc/config.gz" };
	static const char *const folders[] = { "/proc/acpi", "/proc/asound", "/proc/scsi",
		"/proc/irq", "/proc/bus", "/proc/fs", "/proc/driver", "/proc/dynamic_debug",
		"/proc/pressure" };
	struct stat st;
	isolation_bwrap_add3(args, "--proc", "/proc", NULL);
	if (!is_on(unguarded, SPAWN_GUARD_MASKS))
		return;
	for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
		if (lstat(files[i], &st) == 0 && S_ISREG(st.st_mode))
			isolation_bwrap_add3(args, "--ro-bind", "/dev/null", files[i]);
	for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++) {
		if (lstat(folders[i], &st) != 0 || !S_ISDIR(st.st_mode))
			continue;
		isolation_bwrap_add3(args, "--tmpfs", folders[i], NULL);
		isolation_bwrap_add3(args, "--remount-ro", folders[i], NULL);
	}
	isolation_bwrap_add3(args, "--ro-bind", "/proc/sys", "/proc/sys");
}

static void add_namespaces(struct isolation_bwrap_args *args, uint32_t unguarded)
{
	static const char *const words[] = { "--unshare-user", "--unshare-uts",
		"--unshare-cgroup-try", "--die-with-parent", "--new-session", "--clearenv" };
	for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
		isolation_bwrap_add(args, words[i]);
	if (is_on(unguarded, SPAWN_GUARD_NETWORK))
		isolation_bwrap_add(args, "--unshare-net");
	if (is_on(unguarded, SPAWN_GUARD_IPC))
		isolation_bwrap_add(args, "--unshare-ipc");
	if (is_on(unguarded, SPAWN_GUARD_PIDS)) {
		isolation_bwrap_add(args, "--unshare-pid");
		isolation_bwrap_add(args, "--as-pid-1");
	}
}

bool isolation_bwrap_base(struct isolation_bwrap_args *args, const char *hostname,
	uint32_t unguarded, struct err *err)
{
	char *program = find_bwrap();
	if (program == NULL)
		return err_set(err, ERR_LOCAL_ISOLATION, "bubblewrap (bwrap) is not installed");
	char uid[16], gid[16];
	snprintf(uid, sizeof uid, "%d", BWRAP_UID);
	snprintf(gid, sizeof gid, "%d", BWRAP_GID);
	isolation_bwrap_add(args, program);
	add_namespaces(args, unguarded);
	isolation_bwrap_add3(args, "--cap-drop", "ALL", NULL);
	isolation_bwrap_add3(args, "--uid", uid, NULL);
	isolation_bwrap_add3(args, "--gid", gid, NULL);
	isolation_bwrap_add3(args, "--hostname", hostname, NULL);
	add_system_folders(args);
	add_proc(args, unguarded);
	add_dev(args, program, unguarded);
	add_tmpfs(args, program, unguarded, "/tmp", "1777", BWRAP_TMP_BYTES);
	add_tmpfs(args, program, unguarded, "/run", "0755", BWRAP_RUN_BYTES);
	isolation_bwrap_add3(args, "--dir", "/var", NULL);
	isolation_bwrap_add3(args, "--symlink", "/tmp", "/var/tmp");
	isolation_bwrap_add3(args, "--symlink", "/run", "/var/run");
	add_etc(args, hostname);
	if (!is_on(unguarded, SPAWN_GUARD_SYSTEM))
		isolation_bwrap_add3(args, "--bind", "/", "/run/host");
	free(program);
	return true;
}

void isolation_bwrap_seal(struct isolation_bwrap_args *args)
{
	isolation_bwrap_add3(args, "--remount-ro", "/", NULL);
}
