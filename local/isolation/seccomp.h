// SPDX-License-Identifier: Apache-2.0
/* The system calls that no job in a sandbox needs, as one table, and the seccomp filter made of it. Models: the default
 * profile of Docker and the filter of flatpak; docs/security.md has the reasons by group.
 *
 * The filter refuses, it does not kill: programs ask for what they can use and do without. What a row does not
 * name is allowed. The daemon of a sandbox loads it before it runs anything. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct err;

/* What the caller of a refused call gets. */
enum isolation_syscall_answer {
	SYSCALL_EPERM,  /* "you may not" */
	SYSCALL_ENOSYS, /* "there is no such call": programs fall back to an older one */
	SYSCALL_EAFNOSUPPORT,
	SYSCALL_ANSWER_COUNT,
};

/* On an argument a row may depend; all conditions of a row must hold. */
enum isolation_syscall_test {
	SYSCALL_TEST_NONE,
	SYSCALL_TEST_EQUALS,  /* in its low 32 bits */
	SYSCALL_TEST_ABOVE,   /* as a number of 64 bits without sign */
	SYSCALL_TEST_BIT,     /* the bit of `value` is set */
	SYSCALL_TEST_UNUSUAL, /* a personality other than those that programs ask for */
};

struct isolation_syscall_condition {
	enum isolation_syscall_test test;
	unsigned arg; /* 0 is the first */
	uint64_t value;
};

enum { SYSCALL_CONDITIONS = 2 };

struct isolation_syscall_row {
	const char *name; /* as in syscalls(2) */
	int number;       /* libseccomp's; negative where this architecture has none */
	enum isolation_syscall_answer answer;
	struct isolation_syscall_condition conditions[SYSCALL_CONDITIONS];
	const char *group; /* a title of docs/security.md */
};

extern const struct isolation_syscall_row isolation_syscall_rows[];
extern const size_t isolation_syscall_rows_n;

int isolation_syscall_answer_errno(enum isolation_syscall_answer answer);

/* The compiled filter (an array of struct sock_filter) in a sealed memory file, close-on-exec, read from its start.
 * Made once, each call gives a descriptor of its own. −1 with ERR_LOCAL_ISOLATION. */
int isolation_syscall_filter_fd(struct err *err);
