// SPDX-License-Identifier: Apache-2.0
#include "cli/create_wish.h"

#include "engine/base/file.h"
#include "engine/base/json.h"
#include "engine/base/mem.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FILE_MAX_BYTES = 1 << 20, UID_SHOWN = 8 };

/* "-" is standard input. NULL with *err. */
static char *read_all(const char *path, size_t *n, struct err *err)
{
	struct str text;
	char piece[4096];
	size_t got;
	FILE *file = strcmp(path, "-") == 0 ? stdin : fopen(path, "re");
	if (file == NULL) {
		err_set_errno(err, errno, "%s", path);
		return NULL;
	}
	str_init(&text, FILE_MAX_BYTES);
	while ((got = fread(piece, 1, sizeof piece, file)) > 0)
		str_add_bytes(&text, piece, got);
	int errnum = ferror(file) ? errno : 0;
	bool is_large = text.truncated;
	if (file != stdin)
		fclose(file);
	*n = text.n;
	char *all = str_take(&text);
	str_deinit(&text);
	if (errnum == 0 && !is_large)
		return all;
	free(all);
	if (errnum != 0)
		err_set_errno(err, errnum, "%s", path);
	else
		err_set(err, ERR_ARG_INVALID, "%s: over 1 MiB", path);
	return NULL;
}

static bool read_file(struct cli *cli, struct cli_create_wish *wish, struct err *err)
{
	const char *path = cli->opt.file;
	size_t n = 0;
	char *text = read_all(path, &n, err);
	bool ok = text != NULL &&
		  (fleet_create_file_parse((struct slice){ text, n }, &wish->file, err) ||
			  err_prefix(err, "%s", path));
	free(text);
	if (!ok)
		return false;
	const char *namespace_ = wish->file.namespace_;
	if (namespace_ == NULL)
		return true;
	if (cli->opt.engine.namespace_ == NULL)
		cli->opt.engine.namespace_ = namespace_;
	return strcmp(cli->opt.engine.namespace_, namespace_) == 0 ||
	       err_set(err, ERR_ARG_INVALID, "%s is for namespace %s, and -n says %s", path,
		       namespace_, cli->opt.engine.namespace_);
}

bool cli_create_wish_read(struct cli *cli, struct cli_create_wish *wish, struct err *err)
{
	if (cli->opt.file != NULL && !read_file(cli, wish, err))
		return false;
	if (!fleet_maker_make(wish->maker))
		wish->maker[0] = '\0';
	for (char **volume = wish->file.volumes; volume != NULL && *volume != NULL; volume++)
		cli_list_add(&wish->volumes, *volume);
	for (size_t i = 0; i < cli->opt.volumes.n; i++)
		cli_list_add(&wish->volumes, cli->opt.volumes.items[i]);
	return true;
}

bool cli_create_is_wished(const struct cli_options *opt)
{
	return opt->pool || opt->template_ || opt->network || opt->file || opt->binding_key ||
	       opt->shutdown_policy || opt->labels.n || opt->annotations.n ||
	       opt->pod_labels.n || opt->pod_annotations.n || opt->volumes.n ||
	       opt->shutdown_after_ms || opt->has_ttl || opt->adopt || opt->no_wait;
}

void cli_create_wish_deinit(struct cli_create_wish *wish)
{
	fleet_create_file_deinit(&wish->file);
	free(wish->volumes.items);
}

bool cli_create_wish_opts(struct cli *cli, const struct cli_create_wish *wish,
	struct fleet_create_opts *out, struct err *err)
{
	const struct cli_options *opt = &cli->opt;
	const struct fleet_create_file *file = &wish->file;
	const char *named = json_str(file->claim, "metadata", "name", NULL);
	const char *pool = json_str(file->claim, "spec", "warmPoolRef", "name", NULL);
	if (opt->engine.all_namespaces)
		return err_set(err, ERR_ARG_INVALID, "create needs one namespace, not -A");
	*out = (struct fleet_create_opts){
		.namespace_ = engine_namespace(cli->engine),
		.base = file->claim,
		.name = wish->name,
		.pool = opt->pool,
		.template_ = opt->template_ ? opt->template_ : file->template_,
		.network = opt->network,
		.adopt = opt->adopt || file->adopt,
		.labels = opt->labels.items,
		.annotations = opt->annotations.items,
		.pod_labels = opt->pod_labels.items,
		.pod_annotations = opt->pod_annotations.items,
		.env = opt->env.items,
		.volumes = wish->volumes.items,
		.shutdown_after_ms = opt->shutdown_after_ms ? opt->shutdown_after_ms
							    : file->shutdown_after_ms,
		.shutdown_policy =
			opt->shutdown_policy ? opt->shutdown_policy : file->shutdown_policy,
		.has_ttl = opt->has_ttl || file->has_ttl,
		.ttl_ms = opt->has_ttl ? opt->ttl_ms : file->ttl_ms,
		.binding_key = opt->binding_key ? opt->binding_key : file->binding_key,
		.ready_timeout_ms = opt->timeout_ms ? opt->timeout_ms : file->timeout_ms,
		.no_wait = opt->no_wait,
		.maker = wish->maker,
	};
	bool is_chosen = out->pool != NULL || pool != NULL || out->template_ != NULL ||
			 engine_policy(cli->engine) != NULL;
	if (!is_chosen && engine_is_local(cli->engine))
		out->pool = "local";
	else if (!is_chosen)
		return err_set(err, ERR_ARG_INVALID, "create needs --pool POOL");
	if (out->adopt && out->name == NULL && named == NULL)
		return err_set(err, ERR_ARG_INVALID, "--adopt needs the NAME of the claim");
	return true;
}

void cli_create_progress(const struct cli *cli, const char *stage)
{
	if (isatty(STDERR_FILENO))
		cli_note(cli, "%s", stage);
}

const char *cli_claim_id(const char *name, const char *uid, char out[CLI_ID_BYTES])
{
	snprintf(out, CLI_ID_BYTES, "%s.%.*s", name, UID_SHOWN, uid);
	return out;
}
