// SPDX-License-Identifier: Apache-2.0
/* What tests of a sandbox's parts share: a folder for each test, checks in a process of their own, words of bubblewrap. */
#pragma once

#include "tests/unit/unit.h"

#include "local/isolation/bwrap.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char dir[64];

static int set_up(void **state)
{
	(void)state;
	snprintf(dir, sizeof dir, "/tmp/parts-test-XXXXXX");
	return mkdtemp(dir) == NULL || chmod(dir, 0755) != 0;
}

static int tear_down(void **state)
{
	(void)state;
	pid_t pid = fork();
	if (pid == 0) {
		execlp("rm", "rm", "-rf", dir, (char *)NULL);
		_exit(127);
	}
	waitpid(pid, NULL, 0);
	return 0;
}

/* In a process of its own, since it changes that for good. 77: cannot be tried here. */
static void in_child(int (*fn)(void))
{
	int status;
	pid_t pid = fork();
	if (pid == 0)
		_exit(fn());
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
		skip();
	if (status != 0)
		fail_msg("the child's check %d", WEXITSTATUS(status));
}

#define WANT(condition, number)                                                                \
	do {                                                                                   \
		if (!(condition)) {                                                            \
			fprintf(stderr, "%s: %s\n", #condition, strerror(errno));              \
			return number;                                                         \
		}                                                                              \
	} while (0)

static bool has_words(const struct isolation_bwrap_args *args, const char *a, const char *b)
{
	for (size_t i = 0; i < args->n; i++)
		if (strcmp(args->words[i], a) == 0 &&
			(b == NULL || (i + 1 < args->n && strcmp(args->words[i + 1], b) == 0)))
			return true;
	return false;
}
