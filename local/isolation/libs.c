// SPDX-License-Identifier: Apache-2.0
/* The loader itself is asked, as ldd does: LD_TRACE_LOADED_OBJECTS (ld.so(8)) makes it print lines like
 * "libx.so.1 => /opt/x/libx.so.1 (0x…)" instead of running the program. */
#include "local/isolation/libs.h"

#include "engine/base/mem.h"
#include "local/isolation/bwrap.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_OUTPUT = 64 << 10 };

static bool is_system(const char *path)
{
	static const char *const folders[] = { "/usr/", "/lib/", "/lib64/", "/lib32/" };
	for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++)
		if (strncmp(path, folders[i], strlen(folders[i])) == 0)
			return true;
	return false;
}

static char *trace(const char *program)
{
	int fds[2];
	char *text = x_calloc(1, MAX_OUTPUT);
	if (pipe2(fds, O_CLOEXEC) != 0)
		return text;
	char *name = x_strdup(program);
	char *variable = x_strdup("LD_TRACE_LOADED_OBJECTS=1");
	char *const argv[] = { name, NULL };
	char *const env[] = { variable, NULL };
	pid_t pid = fork();
	if (pid == 0) {
		int null = open("/dev/null", O_RDWR);
		dup2(null, 0);
		dup2(fds[1], 1);
		dup2(null, 2);
		execve(program, argv, env);
		_exit(127);
	}
	close(fds[1]);
	size_t n = 0;
	ssize_t got;
	while (n < MAX_OUTPUT - 1 && (got = read(fds[0], text + n, MAX_OUTPUT - 1 - n)) > 0)
		n += (size_t)got;
	close(fds[0]);
	if (pid > 0)
		isolation_bwrap_reap(pid);
	free(name);
	free(variable);
	return text;
}

static char **parse(char *text)
{
	char **paths = x_calloc(1, sizeof *paths);
	size_t n = 0;
	char *save = NULL;
	for (char *line = strtok_r(text, "\n", &save); line != NULL;
		line = strtok_r(NULL, "\n", &save)) {
		char *path = strchr(line, '/');
		char *end = path ? strstr(path, " (0x") : NULL;
		if (end == NULL)
			continue;
		*end = 0;
		if (is_system(path))
			continue;
		paths = x_realloc(paths, n + 2, sizeof *paths);
		paths[n++] = x_strdup(path);
		paths[n] = NULL;
	}
	return paths;
}

char **isolation_libs_outside_system(const char *program)
{
	static char *asked, *answer;
	if (asked == NULL || strcmp(asked, program) != 0) {
		free(asked);
		free(answer);
		asked = x_strdup(program);
		answer = trace(program);
	}
	char *copy = x_strdup(answer);
	char **paths = parse(copy);
	free(copy);
	return paths;
}

void isolation_libs_free(char **paths)
{
	for (size_t i = 0; paths != NULL && paths[i] != NULL; i++)
		free(paths[i]);
	free(paths);
}
