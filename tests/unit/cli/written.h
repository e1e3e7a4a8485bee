// SPDX-License-Identifier: Apache-2.0
/* What is written to stdout and stderr between two calls. */
#pragma once

#include <stdio.h>
#include <stdlib.h>

struct written {
	char *out, *err; /* after written_end(); free() */
	size_t out_n, err_n;
	FILE *old_out, *old_err;
};

static inline void written_begin(struct written *written)
{
	fflush(stdout);
	fflush(stderr);
	written->old_out = stdout;
	written->old_err = stderr;
	stdout = open_memstream(&written->out, &written->out_n);
	stderr = open_memstream(&written->err, &written->err_n);
	if (stdout == NULL || stderr == NULL)
		abort();
}

static inline void written_end(struct written *written)
{
	fclose(stdout);
	fclose(stderr);
	stdout = written->old_out;
	stderr = written->old_err;
}
