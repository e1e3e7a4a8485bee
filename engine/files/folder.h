// SPDX-License-Identifier: Apache-2.0
/* A local folder by its descriptor, some entries at a time: for walks over trees whose memory stays flat. Links are not
 * followed. Loop thread only; what blocks is on a thread. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

struct err;
struct net_loop;
struct files_folder;

struct files_folder_entry {
	char *name;
	int error; /* errno: it could not be looked at; 0: st is there */
	struct stat st;
};

/* A copy of fd is made. NULL with *err: no descriptor is left (ERR_SYSTEM). */
struct files_folder *files_folder_new(struct net_loop *loop, int fd, struct err *err);
/* The next entries but "." and "..", borrowed until the next call or the free; never from inside the call. is_last: there are
 * no more. err: it cannot be read at all; with it n is 0, and is_last. Errors: those of the local disk (err_set_errno). One at
 * a time. */
void files_folder_next(struct files_folder *folder,
	void (*done)(void *arg, const struct err *err, const struct files_folder_entry *entries,
		size_t n, bool is_last),
	void *arg);
void files_folder_free(struct files_folder *folder); /* silent, NULL is fine; also in done */
