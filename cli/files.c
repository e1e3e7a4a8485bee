// SPDX-License-Identifier: Apache-2.0
/* files ls|cat|stat|rm, health, metadata: the daemon's REST side. */
#include "cli/cli.h"
#include "cli/verbs.h"

#include "engine/base/clock.h"
#include "engine/base/json.h"
#include "engine/base/mem.h"
#include "engine/base/safe_text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct cli_files {
	struct cli *cli;
	const char *path;
	char *name, *own_path;
	struct files_place place;
	struct files_op *op;
	void (*start)(struct cli_files *files);
};

static void ended(struct cli *cli, const struct err *err)
{
	cli_finish(cli, err ? cli_fail(cli, err) : EXIT_STATUS_OK);
}

/* ---- ls */

static bool is_dir(const struct files_entry *entry)
{
	return entry->kind == FILES_FOLDER;
}

static cJSON *entry_json(const struct files_entry *entry)
{
	char text[CLOCK_RFC3339_BYTES];
	cJSON *object = cJSON_CreateObject();
	cli_json_text(object, "name", entry->name);
	cJSON_AddStringToObject(object, "type", is_dir(entry) ? "directory" : "file");
	cJSON_AddNumberToObject(object, "size", (double)entry->size_bytes);
	if (entry->modified_s >= 0)
		cJSON_AddStringToObject(object, "modifiedAt",
			clock_format_rfc3339(entry->modified_s * 1000000000, 0, text));
	else
		cJSON_AddNullToObject(object, "modifiedAt");
	snprintf(text, sizeof text, "%04o", (unsigned)(entry->mode >= 0 ? entry->mode : 0));
	cJSON_AddStringToObject(object, "mode", entry->mode >= 0 ? text : "");
	return object;
}

static void print_entries(const struct cli *cli, const struct files_entry *entries, size_t n)
{
	static const char *const titles[] = { "MODE", "SIZE", "MODIFIED", "NAME" };
	struct cli_table *table = cli_table_new(4, titles);
	for (size_t i = 0; i < n; i++) {
		char text[CLOCK_RFC3339_BYTES];
		const struct files_entry *entry = &entries[i];
		snprintf(text, sizeof text, "%s%04o", is_dir(entry) ? "d" : "-",
			(unsigned)(entry->mode >= 0 ? entry->mode : 0));
		cli_table_cell(table, text);
		snprintf(text, sizeof text, "%" PRId64, entry->size_bytes);
		cli_table_cell(table, text);
		cli_table_cell(
			table, entry->modified_s < 0
				       ? ""
				       : clock_format_rfc3339(
						 entry->modified_s * 1000000000, 0, text));
		char *name = x_asprintf("%s%s", entry->name, is_dir(entry) ? "/" : "");
		cli_table_cell(table, name);
		free(name);
	}
	cli_table_print(table, cli->opt.output == CLI_WIDE);
}

static void on_listed(void *arg, const struct err *err, struct files_listing *listing)
{
	struct cli_files *files = arg;
	struct cli *cli = files->cli;
	const struct files_entry *entries = listing->entries;
	size_t n = listing->n, n_hidden = listing->n_hidden;
	files->op = NULL;
	if (err != NULL) {
		ended(cli, err);
		return;
	}
	if (cli->opt.output == CLI_NAME) {
		for (size_t i = 0; i < n; i++) {
			cli_put_safe(entries[i].name);
			putchar('\n');
		}
	} else if (cli_is_structured(cli)) {
		cJSON *list = cJSON_CreateObject();
		cli_json_text(list, "path", files->path);
		cJSON *items = cJSON_AddArrayToObject(list, "entries");
		for (size_t i = 0; i < n; i++)
			cJSON_AddItemToArray(items, entry_json(&entries[i]));
		cli_print_object(cli, list);
		cJSON_Delete(list);
	} else {
		print_entries(cli, entries, n);
	}
	if (n_hidden > 0)
		cli_note(cli,
			"%zu entries are not shown: uploads in flight or names that are not safe",
			n_hidden);
	ended(cli, NULL);
}

static void start_ls(struct cli_files *files)
{
	files->op = files_list_start(
		files->cli->loop, &files->place, files->path, NULL, on_listed, files);
}

/* ---- stat */

static void on_stat(void *arg, const struct err *err, const struct files_entry *st)
{
	struct cli_files *files = arg;
	struct cli *cli = files->cli;
	char text[CLOCK_RFC3339_BYTES] = "";
	files->op = NULL;
	if (err != NULL) {
		ended(cli, err);
		return;
	}
	if (st->modified_s >= 0)
		clock_format_rfc3339(st->modified_s * 1000000000, 0, text);
	if (cli_is_structured(cli)) {
		cJSON *object = cJSON_CreateObject();
		cli_json_text(object, "path", files->path);
		cJSON_AddStringToObject(object, "type", is_dir(st) ? "directory" : "file");
		cJSON_AddNumberToObject(object, "size", (double)st->size_bytes);
		cJSON_AddStringToObject(object, "modifiedAt", text);
		cli_print_object(cli, object);
		cJSON_Delete(object);
	} else if (is_dir(st)) {
		printf("directory\n");
	} else {
		printf("file\t%" PRId64 "\t%s\n", st->size_bytes, text);
	}
	ended(cli, NULL);
}

static void start_stat(struct cli_files *files)
{
	files->op =
		files_stat_start(files->cli->loop, &files->place, files->path, on_stat, files);
}

/* ---- rm */

static void on_removed(void *arg, const struct err *err)
{
	struct cli_files *files = arg;
	files->op = NULL;
	if (err == NULL)
		cli_note(files->cli, "%s is deleted", files->path);
	ended(files->cli, err);
}

static void on_unseen(void *arg, const struct err *why)
{
	struct cli_files *files = arg;
	cli_note(files->cli,
		"cannot see whether it is a link (%s): a link's target would be deleted",
		err_name(why));
}

static void start_rm(struct cli_files *files)
{
	files->op = files_remove_path_start(files->cli->loop, files->place.runtime, files->path,
		files->cli->opt.recursive, on_unseen, on_removed, files);
}

/* ---- cat: straight to stdout, whatever the bytes are; a terminal is warned off by the user's own cat too */

static bool on_bytes(void *arg, struct slice bytes, struct err *err)
{
	(void)arg;
	if (fwrite(bytes.p, 1, bytes.n, stdout) == bytes.n)
		return true;
	return err_set_errno(err, errno, "standard output");
}

static void on_read(void *arg, const struct err *err, int64_t bytes_read)
{
	struct cli_files *files = arg;
	(void)bytes_read;
	ended(files->cli, err);
}

static void start_cat(struct cli_files *files)
{
	struct err err = { 0 };
	const struct runtime_read_opts opts = {
		.path = files->path,
		.if_unmodified_since_s = -1,
		.on_bytes = on_bytes,
		.done = on_read,
		.arg = files,
	};
	if (runtime_read_start(files->place.runtime, &opts, &err) == NULL)
		ended(files->cli, &err);
}

static void on_path(void *arg, const struct err *err, const char *path)
{
	struct cli_files *files = arg;
	files->op = NULL;
	if (err != NULL) {
		ended(files->cli, err);
		return;
	}
	files->path = files->own_path = x_strdup(path);
	files->start(files);
}

static void start_any(struct cli *cli, struct runtime *runtime, void *arg)
{
	struct cli_files *files = arg;
	files->place.runtime = runtime_ref(runtime);
	files->op = files_path_start(cli->loop, runtime, files->path, on_path, files);
}

static int run_files(struct cli *cli, int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*start)(struct cli_files *files);
	} verbs[] = {
		{ "ls", start_ls },
		{ "cat", start_cat },
		{ "stat", start_stat },
		{ "rm", start_rm },
	};
	(void)argc;
	for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++) {
		if (strcmp(argv[0], verbs[i].name) != 0)
			continue;
		struct cli_files files = { .cli = cli, .start = verbs[i].start };
		if (!cli_split_target(argv[1], &files.name, &files.path))
			return cli_fail_usage(cli, "'%s' is not NAME:PATH", argv[1]);
		int status =
			cli_is_direct(cli) && files.name[0] != '\0'
				? cli_fail_usage(cli, "with --rest there is no NAME: write :%s",
					  files.path)
				: cli_with_runtime(cli, files.name, start_any, &files);
		files_cancel(files.op);
		runtime_unref(files.place.runtime);
		free(files.name);
		free(files.own_path);
		return status;
	}
	return cli_fail_usage(cli, "files has ls, cat, stat and rm, not '%s'", argv[0]);
}

/* ---- health and metadata */

static void on_health(void *arg, const struct err *err, const struct runtime_health *health)
{
	struct cli *cli = arg;
	if (err != NULL) {
		ended(cli, err);
		return;
	}
	if (cli_is_structured(cli)) {
		cJSON *object = cJSON_CreateObject();
		cli_json_text(object, "status", health->status);
		cJSON_AddNumberToObject(
			object, "uptimeSeconds", (double)health->uptime_seconds);
		cli_print_object(cli, object);
		cJSON_Delete(object);
	} else {
		cli_put_safe(health->status);
		printf("\tup %" PRId64 " s\n", health->uptime_seconds);
	}
	ended(cli, NULL);
}

static void start_health(struct cli *cli, struct runtime *runtime, void *arg)
{
	struct err err = { 0 };
	(void)arg;
	if (runtime_health_start(runtime, cli->opt.timeout_ms, on_health, cli, &err) == NULL)
		ended(cli, &err);
}

static void on_metadata(
	void *arg, const struct err *err, const struct runtime_pair *pairs, size_t n)
{
	struct cli *cli = arg;
	if (err != NULL) {
		ended(cli, err);
		return;
	}
	cJSON *object = cJSON_CreateObject();
	cJSON *env = cJSON_AddObjectToObject(object, "env");
	for (size_t i = 0; i < n; i++) {
		if (cli_is_structured(cli)) {
			cli_json_text(env, pairs[i].name, pairs[i].value);
		} else {
			cli_put_safe(pairs[i].name);
			putchar('=');
			cli_put_safe(pairs[i].value);
			putchar('\n');
		}
	}
	if (cli_is_structured(cli))
		cli_print_object(cli, object);
	cJSON_Delete(object);
	ended(cli, NULL);
}

static void start_metadata(struct cli *cli, struct runtime *runtime, void *arg)
{
	struct err err = { 0 };
	(void)arg;
	if (runtime_metadata_start(runtime, cli->opt.timeout_ms, on_metadata, cli, &err) ==
		NULL)
		ended(cli, &err);
}

static int run_daemon_verb(struct cli *cli, int argc, char **argv, cli_runtime_fn *start)
{
	if (argc == 0 && !cli_is_direct(cli))
		return cli_fail_usage(cli, "which one? give its NAME, or --rest URL");
	return cli_with_runtime(cli, argc > 0 ? argv[0] : NULL, start, NULL);
}

static int run_health(struct cli *cli, int argc, char **argv)
{
	return run_daemon_verb(cli, argc, argv, start_health);
}

static int run_metadata(struct cli *cli, int argc, char **argv)
{
	return run_daemon_verb(cli, argc, argv, start_metadata);
}

const struct cli_verb cli_verb_files = { "files", "ls|cat|stat|rm NAME:PATH",
	"look at and remove files in a sandbox", CLI_OPT_FILES, 2, 2, .run = run_files,
	.examples = "  sandmux files ls box:.\n"
		    "  sandmux files cat box:app/main.py\n" };
const struct cli_verb cli_verb_health = { "health", "[NAME]", "the daemon's own word",
	CLI_OPT_TIMEOUT, 0, 1, .run = run_health, .examples = "  sandmux health box\n" };
const struct cli_verb cli_verb_metadata = { "metadata", "[NAME]",
	"the variables the daemon shows", CLI_OPT_TIMEOUT, 0, 1, .run = run_metadata,
	.examples = "  sandmux metadata box -o json\n" };
