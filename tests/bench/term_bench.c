// SPDX-License-Identifier: Apache-2.0
/* How fast a terminal of ours takes bytes, and what its scrollback weighs.
 *   term_bench [--cols N] [--rows N] [--history BYTES] FILE…
 * For each file: feeds it several times in slices of 16 KiB, as a pane does, and prints one line of
 * JSON with the best rate. flood.py runs it beside tmux on the same bytes. */
#include "tui/term/term.h"

#include <errno.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
	SLICE_BYTES = 16 * 1024,
	ROUNDS = 5,
};

/* Processor time: other programs on the machine do not count. */
static double now_s(void)
{
	struct timespec ts;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static char *read_file(const char *path, size_t *n)
{
	FILE *file = fopen(path, "rb");
	if (file == NULL) {
		fprintf(stderr, "%s: %s\n", path, strerror(errno));
		exit(1);
	}
	size_t capacity = 1 << 20;
	char *bytes = malloc(capacity);
	*n = 0;
	for (;;) {
		size_t got = bytes ? fread(bytes + *n, 1, capacity - *n, file) : 0;
		if (got == 0)
			break;
		*n += got;
		if (*n == capacity)
			bytes = realloc(bytes, capacity *= 2);
	}
	fclose(file);
	return bytes;
}

static void bench(const char *path, const struct term_opts *opts)
{
	size_t n;
	char *bytes = read_file(path, &n);
	double best = 0;
	int rows = 0;
	size_t history = 0;
	for (int round = 0; round < ROUNDS; round++) {
		struct term *t = term_new(opts);
		double start = now_s();
		for (size_t at = 0; at < n; at += SLICE_BYTES)
			term_feed(t, bytes + at, n - at < SLICE_BYTES ? n - at : SLICE_BYTES);
		double rate = (double)n / (now_s() - start) / 1e6;
		if (rate > best)
			best = rate;
		rows = term_history_rows(t);
		history = term_history_bytes(t);
		term_free(t);
	}
	printf("{\"file\": \"%s\", \"bytes\": %zu, \"mb_per_s\": %.1f, \"history_rows\": %d, "
	       "\"history_bytes\": %zu}\n",
		path, n, best, rows, history);
	free(bytes);
}

int main(int argc, char **argv)
{
	struct term_opts opts = { .cols = 200, .rows = 50, .history_bytes = 8 << 20 };
	setlocale(LC_CTYPE, "");
	for (int i = 1; i < argc; i++) {
		if (i + 1 < argc && strcmp(argv[i], "--cols") == 0)
			opts.cols = (int)strtol(argv[++i], NULL, 10);
		else if (i + 1 < argc && strcmp(argv[i], "--rows") == 0)
			opts.rows = (int)strtol(argv[++i], NULL, 10);
		else if (i + 1 < argc && strcmp(argv[i], "--history") == 0)
			opts.history_bytes = (size_t)strtoul(argv[++i], NULL, 10);
		else
			bench(argv[i], &opts);
	}
	return 0;
}
