// SPDX-License-Identifier: Apache-2.0
/* edit: one object in the person's editor (VISUAL, EDITOR, vi) on our own terminal; engine/edit.h says what is sent. What was
 * written and not taken stays in its file, which is named. */
#include "cli/cli.h"
#include "cli/verbs.h"

#include "engine/base/mem.h"

#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

struct cli_edit {
	struct cli *cli;
	const char *name;
	struct engine_edit *edit;
	char *what;
	struct engine_draft *draft;
	char *text; /* as it was read back last */
};

static bool run_editor(struct engine_draft *draft, struct err *err)
{
	const char *const *argv = engine_draft_argv(draft);
	pid_t pid;
	int status = 0;
	int failed =
		posix_spawn(&pid, argv[0], NULL, NULL, (char *const *)(uintptr_t)argv, environ);
	if (failed != 0)
		return err_set_errno(err, failed, "%s", argv[0]);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return true;
	return err_set(err, ERR_OP_CANCELLED, "the editor (%s) ended without success",
		engine_draft_editor());
}

static void end_with(struct cli_edit *one, const struct err *err, bool keeps)
{
	struct cli *cli = one->cli;
	struct err why = *err;
	err_prefix(&why, "%s", one->what);
	size_t n = strlen(why.msg);
	if (keeps)
		snprintf(why.msg + n, sizeof why.msg - n, "; your text is in %s",
			engine_draft_path(one->draft));
	else
		engine_draft_remove(one->draft);
	cli_finish(cli, cli_fail(cli, &why));
}

static void on_text(struct cli_edit *one, const char *given)
{
	struct err err = { 0 };
	size_t n = 0;
	free(one->text);
	one->text = NULL;
	if (!engine_draft_write(one->draft, given, &err)) {
		end_with(one, &err, false);
		return;
	}
	bool ok = run_editor(one->draft, &err);
	one->text = engine_draft_read(one->draft, &n, ok ? &err : NULL);
	if (!ok || one->text == NULL) {
		end_with(one, &err, one->text == NULL || strcmp(one->text, given) != 0);
		return;
	}
	engine_edit_save(one->edit, (struct slice){ one->text, n },
		engine_draft_was_written(one->draft));
}

static void on_step(
	void *arg, enum engine_edit_step step, const char *text, const struct err *err)
{
	struct cli_edit *one = arg;
	struct cli *cli = one->cli;
	bool is_alone = !isatty(STDIN_FILENO); /* nobody would mend it */
	if (step == ENGINE_EDIT_TEXT && err != NULL && is_alone) {
		end_with(one, err, true);
	} else if (step == ENGINE_EDIT_TEXT) {
		on_text(one, text);
	} else if (step == ENGINE_EDIT_FAILED) {
		end_with(one, err, one->text != NULL);
	} else {
		engine_draft_remove(one->draft);
		printf("%s %s\n", one->what,
			step == ENGINE_EDIT_DONE ? "changed" : "not changed");
		cli_finish(cli, EXIT_STATUS_OK);
	}
}

static void begin(struct cli_edit *one, const struct engine_object_id *id)
{
	struct cli *cli = one->cli;
	struct err err = { 0 };
	one->what = x_asprintf("%s/%s", id->word, id->name);
	one->draft = engine_draft_new(id->name, &err);
	if (one->draft != NULL)
		one->edit = engine_edit_start(cli->engine, id, on_step, one, &err);
	if (one->edit == NULL)
		cli_finish(cli, cli_fail(cli, &err));
}

static void on_resolved(void *arg, const struct err *err, const char *uid)
{
	struct cli_edit *one = arg;
	struct engine_object_id found[ENGINE_ROW_OBJECTS_MAX];
	if (err != NULL)
		cli_finish(one->cli, cli_fail(one->cli, err));
	else if (engine_row_objects(one->cli->engine, uid, found) > 0)
		begin(one, &found[0]);
}

static int run_edit(struct cli *cli, int argc, char **argv)
{
	struct err err = { 0 };
	struct cli_edit one = { .cli = cli, .name = argv[argc - 1] };
	const struct resource_kind *kind = argc == 2 ? engine_kind_find(argv[0]) : NULL;
	if (argc == 2 && kind == NULL)
		return cli_fail_usage(cli, "there is no kind '%s'", argv[0]);
	if (kind != NULL && kind->resource != NULL && strchr(one.name, '/') != NULL)
		return cli_fail_usage(cli, "'%s' is no name", one.name);
	if (!isatty(STDIN_FILENO) && getenv("VISUAL") == NULL && getenv("EDITOR") == NULL) {
		err_set(&err, ERR_TTY_NONE, "an editor needs a terminal");
		return cli_fail(cli, &err);
	}
	if (!cli_open(cli, true, &err))
		return cli_fail(cli, &err);
	if (kind != NULL && kind->resource != NULL) {
		const struct engine_object_id id =
			engine_kind_object(kind, engine_namespace(cli->engine), one.name);
		begin(&one, &id);
	} else if (engine_resolve_start(cli->engine, one.name, 0, on_resolved, &one, &err) ==
		   NULL) {
		cli_finish(cli, cli_fail(cli, &err));
	}
	cli_run_loop(cli);
	engine_edit_free(one.edit);
	free(one.what);
	engine_draft_free(one.draft);
	free(one.text);
	return cli->status;
}

const struct cli_verb cli_verb_edit = { "edit", "[KIND] NAME",
	"change an object in your editor; the server checks it first", CLI_OPT_DRY_RUN, 1, 2,
	.run = run_edit, .only_cluster = CLI_NAME_NEEDS_CLUSTER };
