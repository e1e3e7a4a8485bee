// SPDX-License-Identifier: Apache-2.0
/* GET and HEAD: a file with validators and ranges (RFC 9110 sections 13 and 14; there is no ETag), or
 * the listing of a folder. */
#include "local/daemon/rest_internal.h"

#include "engine/base/clock.h"
#include "engine/base/digest.h"
#include "engine/base/mem.h"
#include "local/daemon/quote.h"
#include "local/daemon/range.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const char octets[] = "application/octet-stream";

static void last_modified(int64_t mtime, char *out, size_t n)
{
	time_t seconds = (time_t)mtime;
	struct tm tm;
	*out = 0;
	if (mtime != 0 && gmtime_r(&seconds, &tm) != NULL)
		strftime(out, n, "Last-Modified: %a, %d %b %Y %H:%M:%S GMT\r\n", &tm);
}

/* The three forms of RFC 9110, section 5.6.7: the preferred one and the two old ones. */
static bool parse_date(const char *text, int64_t *seconds)
{
	static const char *const old[] = { "%A, %d-%b-%y %H:%M:%S GMT",
		"%a %b %d %H:%M:%S %Y" };
	if (clock_parse_http_date(text, seconds))
		return true;
	for (size_t i = 0; i < sizeof old / sizeof old[0]; i++) {
		struct tm tm = { 0 };
		const char *end = strptime(text, old[i], &tm);
		if (end != NULL && *end == 0) {
			*seconds = (int64_t)timegm(&tm);
			return true;
		}
	}
	return false;
}

static bool is_date_at_least(const char *header, int64_t mtime, bool *is_date)
{
	int64_t date = 0;
	*is_date = header != NULL && mtime != 0 && parse_date(header, &date);
	return *is_date && mtime <= date;
}

/* 0 to go on, else 304 or 412. */
static int check_conditions(const struct daemon_http1_request *request, int64_t mtime)
{
	char *const *fields = request->fields;
	bool is_date;
	if (fields[HTTP1_IF_MATCH] != NULL) {
		if (strcmp(fields[HTTP1_IF_MATCH], "*") != 0)
			return 412;
	} else if (!is_date_at_least(fields[HTTP1_IF_UNMODIFIED_SINCE], mtime, &is_date) &&
		   is_date) {
		return 412;
	}
	if (fields[HTTP1_IF_NONE_MATCH] != NULL)
		return strcmp(fields[HTTP1_IF_NONE_MATCH], "*") == 0 ? 304 : 0;
	if (is_date_at_least(fields[HTTP1_IF_MODIFIED_SINCE], mtime, &is_date))
		return 304;
	return 0;
}

static bool range_counts(const struct daemon_http1_request *request, int64_t mtime)
{
	const char *if_range = request->fields[HTTP1_IF_RANGE];
	int64_t date;
	if (if_range == NULL || !*if_range)
		return true;
	return mtime != 0 && parse_date(if_range, &date) && date == mtime;
}

static void answer_one(struct daemon_rest_conn *conn, int fd, const char *modified,
	bool is_part, struct daemon_range range, int64_t size)
{
	char *where =
		is_part ? x_asprintf("Content-Range: bytes %lld-%lld/%lld\r\n",
				  (long long)range.start,
				  (long long)(range.start + range.length - 1), (long long)size)
			: x_strdup("");
	char *headers = x_asprintf("Accept-Ranges: bytes\r\n%s%s", where, modified);
	conn->parts = x_calloc(1, sizeof *conn->parts);
	conn->n_parts = 1;
	conn->parts[0].start = range.start;
	conn->parts[0].length = range.length;
	daemon_rest_answer_file(conn, is_part ? 206 : 200, octets, headers, fd, range.length);
	free(headers);
	free(where);
}

static void answer_many(struct daemon_rest_conn *conn, int fd, const char *modified,
	const struct daemon_range *ranges, size_t n, int64_t size)
{
	char boundary[61];
	digest_random_hex(boundary, sizeof boundary - 1);
	int64_t total = 0;
	conn->parts = x_calloc(n, sizeof *conn->parts);
	conn->n_parts = n;
	for (size_t i = 0; i < n; i++) {
		struct daemon_rest_file_part *part = &conn->parts[i];
		part->start = ranges[i].start;
		part->length = ranges[i].length;
		part->before = x_asprintf(
			"%s--%s\r\nContent-Range: bytes %lld-%lld/%lld\r\nContent-Type: "
			"%s\r\n\r\n",
			i ? "\r\n" : "", boundary, (long long)part->start,
			(long long)(part->start + part->length - 1), (long long)size, octets);
		total += part->length + (int64_t)strlen(part->before);
	}
	conn->after_parts = x_asprintf("\r\n--%s--\r\n", boundary);
	total += (int64_t)strlen(conn->after_parts);
	char *type = x_asprintf("multipart/byteranges; boundary=%s", boundary);
	char *headers = x_asprintf("Accept-Ranges: bytes\r\n%s", modified);
	daemon_rest_answer_file(conn, 206, type, headers, fd, total);
	free(headers);
	free(type);
}

static void answer_content(struct daemon_rest_conn *conn, int fd, const struct stat *st)
{
	char modified[80];
	struct daemon_range ranges[RANGE_MAX];
	size_t n;
	int64_t mtime = st->st_mtim.tv_sec, size = st->st_size;
	last_modified(mtime, modified, sizeof modified);
	int refused = check_conditions(&conn->request, mtime);
	if (refused != 0) {
		close(fd);
		daemon_rest_answer(conn, refused, refused == 412 ? octets : NULL, modified,
			(struct slice){ "", 0 });
		return;
	}
	const char *header = conn->request.fields[HTTP1_RANGE];
	if (!range_counts(&conn->request, mtime))
		header = NULL;
	switch (daemon_range_parse(header, size, ranges, &n)) {
	case RANGE_BAD:
		close(fd);
		daemon_rest_text(conn, 416, "", "invalid range");
		break;
	case RANGE_BEYOND: {
		char beyond[64];
		close(fd);
		snprintf(beyond, sizeof beyond, "Content-Range: bytes */%lld\r\n",
			(long long)size);
		daemon_rest_text(conn, 416, beyond, "invalid range: failed to overlap");
		break;
	}
	case RANGE_WHOLE:
		answer_one(conn, fd, modified, false, (struct daemon_range){ 0, size }, size);
		break;
	case RANGE_SOME:
		if (n == 1)
			answer_one(conn, fd, modified, true, ranges[0], size);
		else
			answer_many(conn, fd, modified, ranges, n, size);
		break;
	}
}

static void open_and_answer(struct daemon_rest_conn *conn, struct daemon_confined *target)
{
	/* without O_NONBLOCK a FIFO would wait here for its writer */
	int fd = openat(target->parent_fd, target->name,
		O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	struct stat st;
	if (fd < 0 && (errno == EACCES || errno == EPERM)) {
		daemon_rest_error(conn, 403, "PERMISSION_DENIED", "permission denied");
	} else if (fd < 0 || fstat(fd, &st) != 0) {
		daemon_rest_error(conn, 500, "INTERNAL", "open %s: %s", target->path,
			daemon_quote_errno(errno));
		if (fd >= 0)
			close(fd);
	} else if (!S_ISREG(st.st_mode)) {
		close(fd);
		daemon_rest_error(
			conn, 500, "INTERNAL", "open %s: not a regular file", target->path);
	} else {
		answer_content(conn, fd, &st);
	}
}

void daemon_rest_get(struct daemon_rest_conn *conn)
{
	struct daemon_confined target;
	if (daemon_rest_resolve(conn, &target)) {
		if (target.state == CONFINE_MISSING && strlen(target.path) > CONFINE_MAX_PATH)
			daemon_rest_error(conn, 500, "INTERNAL", "stat %s: %s", target.path,
				daemon_quote_errno(ENAMETOOLONG));
		else if (target.state == CONFINE_MISSING)
			daemon_rest_error(conn, 404, "NOT_FOUND",
				"path does not exist within the sandbox");
		else if (S_ISDIR(target.st.st_mode))
			daemon_rest_list(conn, &target);
		else
			open_and_answer(conn, &target);
	}
	daemon_confined_deinit(&target);
}
