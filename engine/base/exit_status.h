// SPDX-License-Identifier: Apache-2.0
/* The exit codes of the command line: of an error (which one has which is a column of its row in err.h), and of what has the
 * status of somebody else's process. */
#pragma once

/* Exit status of the command line (a contract: values are never reused). */
enum err_exit {
	EXIT_STATUS_OK = 0,
	EXIT_STATUS_FAILED = 1,
	EXIT_STATUS_USAGE = 2,
	EXIT_STATUS_NOT_FOUND = 3,
	EXIT_STATUS_DENIED = 4,
	EXIT_STATUS_TIMEOUT = 5,
	EXIT_STATUS_UNREACHABLE = 6,
	EXIT_STATUS_REFUSED = 7,
	EXIT_STATUS_VERIFY = 8,
	EXIT_STATUS_COUNT,
};

/* Of `run`, `sh` and whatever else ends with the status of a process in a sandbox, where it has none of its own: as env(1),
 * timeout(1) and the shells do it. */
enum {
	STATUS_OVERDUE = 124,
	STATUS_OWN_FAILURE = 125,
	STATUS_NOT_EXECUTABLE = 126,
	STATUS_NOT_FOUND = 127,
	STATUS_KILLED = 137,
};
