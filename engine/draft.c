// SPDX-License-Identifier: Apache-2.0
#include "engine/draft.h"

#include "engine/base/file.h"
#include "engine/base/mem.h"
#include "engine/base/path.h"
#include "engine/edit.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FILE_MODE = 0600, NAME_BYTES_MAX = 200, ARGS = 6 };

struct engine_draft {
	char *path;
	char *given; /* what was written into it last */
	struct stat stat;
	char *line;
	const char *argv[ARGS];
};

struct engine_draft *engine_draft_new(const char *name, struct err *err)
{
	static unsigned n_made;
	char *dir = file_xdg_dir(FILE_RUNTIME, err);
	if (!dir)
		return NULL;
	struct engine_draft *draft = x_calloc(1, sizeof *draft);
	bool is_safe = path_is_safe_name(name, strlen(name)) && strlen(name) < NAME_BYTES_MAX;
	draft->path = x_asprintf("%s/edit-%d-%u-%s.yaml", dir, (int)getpid(), ++n_made,
		is_safe ? name : "object");
	free(dir);
	return draft;
}

void engine_draft_free(struct engine_draft *draft)
{
	if (!draft)
		return;
	free(draft->path);
	free(draft->given);
	free(draft->line);
	free(draft);
}

const char *engine_draft_path(const struct engine_draft *draft)
{
	return draft->path;
}

bool engine_draft_write(struct engine_draft *draft, const char *text, struct err *err)
{
	if (!file_write_replace(draft->path, slice_of(text), FILE_MODE, err))
		return false;
	free(draft->given);
	draft->given = x_strdup(text);
	if (stat(draft->path, &draft->stat) != 0)
		memset(&draft->stat, 0, sizeof draft->stat);
	return true;
}

char *engine_draft_read(const struct engine_draft *draft, size_t *n, struct err *err)
{
	return file_read(draft->path, ENGINE_EDIT_BYTES_MAX, n, err);
}

bool engine_draft_was_written(const struct engine_draft *draft)
{
	struct stat now;
	const struct stat *then = &draft->stat;
	return stat(draft->path, &now) == 0 &&
	       (now.st_ino != then->st_ino || now.st_mtim.tv_sec != then->st_mtim.tv_sec ||
		       now.st_mtim.tv_nsec != then->st_mtim.tv_nsec);
}

bool engine_draft_has_changes(const struct engine_draft *draft)
{
	size_t n;
	char *text = draft->given ? engine_draft_read(draft, &n, NULL) : NULL;
	bool is_other = text && strcmp(text, draft->given) != 0;
	free(text);
	return is_other;
}

void engine_draft_remove(struct engine_draft *draft)
{
	unlink(draft->path);
}

const char *engine_draft_editor(void)
{
	const char *visual = getenv("VISUAL"), *plain = getenv("EDITOR");
	return visual && *visual ? visual : plain && *plain ? plain : "vi";
}

const char *const *engine_draft_argv(struct engine_draft *draft)
{
	const char *const argv[ARGS] = { "/bin/sh", "-c", NULL, "sh", draft->path, NULL };
	free(draft->line);
	draft->line = x_asprintf("exec %s \"$@\"", engine_draft_editor());
	memcpy(draft->argv, argv, sizeof argv);
	draft->argv[2] = draft->line;
	return draft->argv;
}
