// SPDX-License-Identifier: Apache-2.0
/* What the files of this room share.
 *
 *   transfer.c   turns, progress, the end; on everything else
 *   resolve.c   what are the two ends?          walk.c   a tree becomes jobs, a slice at a time
 *   job.c       one file: is something in the way?       look.c   broken links at the target
 *   download.c / upload.c / relay.c   its data           finalize.c  what comes after its data
 *   source.c    a local source: how long is it really, did it change      target.c  a local target
 *   stream.c    the source in a sandbox: a file, or a pipe
 *   checksum.c  SHA-256 in the sandbox, many files a process      fsync.c   fsync off the loop
 *   job_end.c   succeeded, failed, skipped       attributes.c   modes and times
 *   job_list.c  jobs that wait, and the others   progress.c   what is counted: under all of them
 *   directory_handles.c      local folders, opened step by step and never through a link
 *   temp.c      temporary files beside the target, and those that a killed copy left
 *   written.c   local files of this copy, which it does not replace itself
 *   remote_stat.c  what REST does not tell: identities, kinds
 *
 * Each calls only what stands below it. Everything that may start or end something asks for a turn (transfer_schedule); nothing recurses. */
#pragma once

#include "engine/base/digest.h"
#include "engine/base/err.h"
#include "engine/base/str.h"
#include "engine/net/loop.h"
#include "engine/runtime/runtime.h"
#include "engine/telemetry/span.h"
#include "engine/transfer/transfer.h"

#include <sys/stat.h>

enum {
	TRANSFER_MAX_ACTIVE = 6, /* of the 8 REST connections a sandbox should see */
	TRANSFER_MAX_QUEUED = 4096,
	/* A linked folder looks like a folder. Where the sandbox tells identities, loops are recognised; elsewhere they
	 * end at the first of these. */
	TRANSFER_MAX_DEPTH_UNKNOWN = 64,
	TRANSFER_MAX_DEPTH = 512,
	TRANSFER_BUFFER_BYTES = 1 << 20,
	TRANSFER_SLICE_BYTES = 256 << 10,
	TRANSFER_FLUSH_BYTES = 8 << 20,
	TRANSFER_TICK_MS = 100,
	TRANSFER_RATE_SAMPLES = 30,
	TRANSFER_TEMP_BYTES = 40,
};
#define TRANSFER_TEMP_PREFIX ".sandmux-tmp-"

struct transfer_attributes;
struct transfer_cat;
struct evbuffer;
struct event;
struct net_work;
struct transfer_checksum;
struct transfer_walk;

enum transfer_end_kind { END_LOCAL, END_REMOTE, END_FD };

struct transfer_internal_end {
	enum transfer_end_kind kind;
	struct runtime *runtime;
	char *path; /* as given */
	char *root; /* the folder the tree (or the file's folder) is in */
	char *top;  /* target: the folder to make in root, or NULL */
	int fd;
	int fd_flags;    /* to be restored; -1: not changed */
	bool is_new;     /* target: nothing can be there yet */
	bool makes_root; /* target: root itself is missing and was meant as a folder */
};

/* A folder of the tree, on both sides. */
struct transfer_directory {
	struct transfer_directory *parent;
	int refs, depth;
	char *name; /* NULL at the top */
	int from_fd, to_fd, from_users, to_users;
	bool to_is_new; /* nothing was there before this copy; it gets mode and time in the end */
	bool is_swept;
	int mode;           /* of the source; -1 unknown */
	int64_t modified_s; /* the same */
	bool has_id;        /* of a source in a sandbox */
	uint64_t device, inode;
};

/* LOOKING: nothing is there, unless it is a broken link (look.c). */
enum transfer_job_state { JOB_QUEUED, JOB_LOOKING, JOB_ASKING, JOB_ACTIVE, JOB_VERIFYING };

struct transfer_job {
	struct transfer *transfer;
	struct transfer_job *prev, *next;
	enum transfer_job_state state;
	struct transfer_directory *dir;
	char *name, *to_name;
	char *wanted_name;  /* before RENAME changed to_name */
	bool is_empty_dir;  /* nothing but a folder to make */
	int64_t size_bytes; /* planned; -1 unknown */
	int mode;           /* -1 unknown */
	int64_t existing_bytes;
	bool is_dir_in_the_way;
	bool may_replace, has_from, has_to, has_begun_data;
	bool has_looked, is_link; /* the answer of look.c */
	bool has_answer;
	enum transfer_conflict answer;
	int rename_serial;

	struct runtime_op *read, *write, *look;
	struct transfer_cat *cat; /* stream.c: instead of read */
	bool is_read_paused, is_write_paused, is_read_done;
	bool is_info_known, has_written; /* relay.c */
	bool waits_for_writer;           /* a named pipe nobody has written to yet */
	bool is_data_over;               /* the last byte has been handed on */
	bool is_gone;                    /* the source, after it was read */
	bool has_grown;                  /* it is longer than what was copied */
	bool is_size_wrong;              /* source.c: to be read to its end, whatever it says */
	bool is_prefix;      /* checksum.c: the beginning of the source is compared */
	uint64_t back_bytes; /* checksum.c: read back so far */
	int64_t from_offset; /* a redirected stdin may stand anywhere */
	int from_fd, to_fd;
	bool has_temp;
	int temp_slot; /* of a temp file here: removed at a crash too */
	char temp[TRANSFER_TEMP_BYTES];
	int64_t total_bytes, bytes; /* of the data under way; total -1 unknown */
	int64_t flushed_bytes;      /* the disk has been asked to write so many */
	int64_t modified_s;         /* of the source; -1 unknown */
	int64_t modified_ns;        /* local source */
	struct evbuffer *buffer;
	struct event *ready;
	struct digest *digest;
	char hex[DIGEST_SHA256_HEX];
	void (*on_verified)(struct transfer_job *job, const struct err *err); /* checksum.c */
	struct net_work *sync;
	struct err failure; /* found where no error can be returned */
};

/* written.c */
struct transfer_written {
	uint64_t *slots;
	size_t n, n_slots;
};

struct transfer_rate_sample {
	int64_t mono_ms;
	uint64_t bytes;
};

struct transfer {
	struct net_loop *loop;
	struct transfer_opts opts;
	struct transfer_internal_end from, to;
	enum transfer_conflict conflict;
	struct net_loop_timer *kick, *tick;
	struct telemetry_span *span;
	struct transfer_directory *top;
	struct transfer_walk *walk;
	struct transfer_checksum *verify;
	struct runtime_op *look;     /* resolve.c */
	struct files_op *local_look; /* the same */
	bool is_resolved;
	struct runtime_stat from_stat;
	/* resolve.c: a look that takes long is at a pipe, perhaps; then the sandbox is asked another way */
	struct net_loop_timer *slow;
	struct transfer_remote_stats *kind_look;
	bool is_looking_at_from;
	bool from_is_stream;  /* a pipe or device in a sandbox */
	bool from_is_content; /* what is in it, not itself */
	int from_mode;        /* of the file or the folder that was named; -1 unknown */
	struct transfer_job *queued;
	struct transfer_job *jobs; /* all others that are not done */
	size_t n_queued, n_looking, n_active, n_asking, n_verifying;
	size_t n_unsized; /* jobs whose source tells no size */
	struct runtime_op *link_look;
	struct transfer_job **link_jobs; /* look.c: those that link_look asks about */
	size_t n_link_jobs;
	struct transfer_attributes *attributes;
	struct transfer_written written; /* local files of a tree */
	struct transfer_directory *
		*dirs; /* every folder of the tree, parents before children */
	size_t n_dirs, dirs_capacity;
	struct transfer_directory *
		*empty_dirs; /* without files: nothing else makes them in a sandbox */
	size_t n_empty_dirs, empty_dirs_capacity;
	uint64_t n_entries, max_entries; /* 0: no limit */
	int64_t from_modified_s;
	int n_timeouts; /* without a success between them */
	bool has_asked, has_asked_limit, is_paused, is_ended;
	bool is_fatal;    /* stop everything */
	struct err first; /* the first failure */
	struct transfer_progress progress;
	char *current;
	int64_t started_mono_ms, reported_mono_ms;
	struct transfer_rate_sample samples[TRANSFER_RATE_SAMPLES];
	size_t n_samples;
};

/* ---- progress.c */
void transfer_schedule(struct transfer *transfer); /* a turn */
/* Counts a failure; a fatal one (the connection, the disk is full) ends the whole transfer. */
void transfer_failed(struct transfer *transfer, const struct err *err);
void transfer_note_add(struct transfer *transfer, enum transfer_note note,
	const struct transfer_directory *dir, const char *name, const char *format, ...)
	__attribute__((format(printf, 5, 6)));
/* One more entry of the tree. False: that is more than the limit. */
bool transfer_is_over_limit(const struct transfer *transfer);
bool transfer_keeps_times(const struct transfer *transfer);
void transfer_job_take_bytes(
	struct transfer_job *job, const void *bytes, size_t n); /* digest and progress */
void transfer_job_set_size(
	struct transfer_job *job, int64_t bytes);       /* as the source says; -1 unknown */
void transfer_job_drop_bytes(struct transfer_job *job); /* of what did not arrive */

/* ---- job_list.c */
struct transfer_job *transfer_add_job(struct transfer *transfer, struct transfer_directory *dir,
	const char *name, int64_t size_bytes, int mode);
/* A folder to be made. In a sandbox the last of all, and then all together: see attributes.c. */
void transfer_add_empty_dir(struct transfer *transfer, struct transfer_directory *dir);
void transfer_add_empty_dir_job(struct transfer *transfer, struct transfer_directory *dir);
void transfer_job_leave(struct transfer_job *job);   /* the list that it is in */
void transfer_job_requeue(struct transfer_job *job); /* as the next to begin */

/* ---- job_end.c: the job is dead after each of these */
void transfer_job_succeed(struct transfer_job *job);
void transfer_job_fail(struct transfer_job *job, const struct err *err);
void transfer_job_skip(struct transfer_job *job);
void transfer_job_end(struct transfer_job *job);  /* uncounted */
void transfer_job_free(struct transfer_job *job); /* removes its temp file */

/* ---- resolve.c */
void transfer_resolve_start(struct transfer *transfer);
void transfer_resolve_cancel(struct transfer *transfer);

/* ---- walk.c */
void transfer_walk_start(struct transfer *transfer);
void transfer_walk_turn(struct transfer *transfer); /* a bounded slice */
bool transfer_walk_is_done(const struct transfer *transfer);
void transfer_walk_free(struct transfer_walk *walk);

/* ---- directory_handles.c */
struct transfer_directory *transfer_directory_new(
	struct transfer_directory *parent, const char *name);
struct transfer_directory *transfer_directory_ref(struct transfer_directory *dir);
void transfer_directory_unref(struct transfer_directory *dir);
/* Borrowed descriptor, kept open until the same number of releases. -1 with *err. */
int transfer_directory_use_from(
	struct transfer *transfer, struct transfer_directory *dir, struct err *err);
int transfer_directory_use_to(struct transfer *transfer, struct transfer_directory *dir,
	struct err *err); /* makes it */
void transfer_directory_release_from(struct transfer_directory *dir);
void transfer_directory_release_to(struct transfer_directory *dir);
bool transfer_directory_is_same(const struct transfer_directory *a,
	const struct transfer_directory *b); /* by identity; NULL is fine */
bool transfer_directory_is_loop(
	const struct transfer_directory *dir); /* the same as one that it is in */
/* "a/b/name" below the roots of both ends. */
char *transfer_directory_relative(const struct transfer_directory *dir, const char *name);
char *transfer_directory_from_path(const struct transfer *transfer,
	const struct transfer_directory *dir, const char *name);
char *transfer_directory_to_path(const struct transfer *transfer,
	const struct transfer_directory *dir, const char *name);

/* ---- job.c */
void transfer_job_begin(struct transfer_job *job);
void transfer_job_unpause(struct transfer_job *job);

/* ---- finalize.c */
void transfer_job_data_done(struct transfer_job *job); /* all bytes are over */

/* ---- download.c, upload.c, relay.c, empty_dir in upload.c */
void transfer_download_start(struct transfer_job *job);
void transfer_upload_start(struct transfer_job *job);
void transfer_upload_empty_dir(struct transfer_job *job);
void transfer_relay_start(struct transfer_job *job);

/* ---- source.c: local sources. job->from_fd or a redirected stdin */
bool transfer_source_open(struct transfer_job *job, struct err *err);
/* read(2), with what the source's size and time say about the bytes; 0 at the end. WAITS: until job->ready. */
enum { SOURCE_FAILED = -1, SOURCE_WAITS = -2 };
long transfer_source_read(struct transfer_job *job, char *into, size_t room, struct err *err);
/* After a failed copy: true if the source says a wrong size, and the job is ready to be read to its end. */
bool transfer_source_starts_again(struct transfer_job *job);

/* ---- target.c: local targets */
bool transfer_target_open(struct transfer_job *job, struct err *err); /* a temp file */
bool transfer_target_replaces(const struct transfer_job *job);        /* a file that is there */
bool transfer_target_set_attributes(struct transfer_job *job, struct err *err);
bool transfer_target_commit(struct transfer_job *job, struct err *err); /* its name */

/* ---- temp.c: all names are TRANSFER_TEMP_PREFIX and hex digits. While a file is open its lock says that it is in use.
 * *slot is for fatal_signal_forget_file(), once the file has its name or is gone. */
int transfer_temp_open(int dir, char name[TRANSFER_TEMP_BYTES], int *slot, struct err *err);
void transfer_temp_sweep(int dir); /* removes those of ours that nobody uses any more */

/* ---- written.c */
void transfer_written_add(struct transfer_written *written, const struct stat *st);
bool transfer_written_has(const struct transfer_written *written, const struct stat *st);

/* ---- look.c */
void transfer_look_add(struct transfer_job *job);
/* The target cannot be looked into: a link to itself or out of the sandbox, a folder that may not be entered. An answer to HEAD
 * has no text that would tell them apart. */
bool transfer_is_blind(const struct err *err);
void transfer_look_turn(struct transfer *transfer);
void transfer_look_free(struct transfer *transfer);

/* ---- remote_stat.c: what the REST side does not tell, by `stat -L` in the sandbox, many paths a process. */
struct transfer_remote_stat {
	bool is_known; /* false: it could not be asked about */
	uint64_t device, inode;
	unsigned mode; /* with the kind: S_ISREG() … */
};
struct transfer_remote_stats;
/* Takes the paths over (n_paths > 0). Exactly one completion; freed after it or by the cancel. is_unavailable: the
 * sandbox has no such program, or no processes. */
struct transfer_remote_stats *transfer_remote_stats_start(struct net_loop *loop,
	struct runtime *runtime, char **paths_take, size_t n_paths,
	void (*done)(void *arg, const struct transfer_remote_stat *stats, bool is_unavailable),
	void *arg);
void transfer_remote_stats_cancel(struct transfer_remote_stats *stats);

/* ---- attributes.c */
void transfer_attributes_add_file(struct transfer_job *job); /* that has arrived in a sandbox */
/* True when nothing is left to be set; everything else is over when it is asked with is_end. Then folders without files are
 * made: if that needs jobs there are some when it returns. */
bool transfer_attributes_turn(struct transfer *transfer, bool is_end);
void transfer_attributes_free(struct transfer *transfer);
bool transfer_means_unavailable(const struct err *err); /* no such program, no processes */

/* ---- stream.c */
/* As runtime_read_start(), for the job's source; on_info may be called at once. */
bool transfer_stream_start(
	struct transfer_job *job, const struct runtime_read_opts *opts, struct err *err);
bool transfer_stream_is_open(const struct transfer_job *job);
void transfer_stream_resume(struct transfer_job *job);
void transfer_stream_ended(struct transfer_job *job); /* in done: it is forgotten */
void transfer_stream_cancel(struct transfer_job *job);

/* ---- local.c */
mode_t transfer_local_umask(void);
int64_t transfer_local_modified_ns(const struct stat *st);
bool transfer_local_set_times(int fd, int64_t modified_s);
bool transfer_local_write_all(
	int fd, const char *bytes, size_t n, size_t *written, struct err *err);
void transfer_local_reserve(int fd, int64_t bytes, struct err *err);
void transfer_local_begin_flush(int fd, int64_t from, int64_t bytes);
char *transfer_local_rename_candidate(const char *name, int serial); /* "name (1).ext" */
void transfer_local_split(
	const char *path, char **dir, char **base); /* base "" for "", ".", "..", "/" */
bool transfer_local_make_nonblocking(struct transfer_internal_end *end, struct err *err);
void transfer_local_restore(struct transfer_internal_end *end);

/* ---- fsync.c; net_work_cancel() ends it */
struct net_work *transfer_fsync_start(struct net_loop *loop, int fd,
	void (*done)(void *arg, int error), void *arg, struct err *err);

/* ---- checksum.c */
/* job->hex against the sandbox's file(s); done may end the job. */
void transfer_checksum_add(struct transfer_job *job,
	void (*done)(struct transfer_job *job, const struct err *err));
void transfer_checksum_turn(struct transfer *transfer);
void transfer_checksum_free(struct transfer *transfer);
