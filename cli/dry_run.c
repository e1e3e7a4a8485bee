// SPDX-License-Identifier: Apache-2.0
/* --dry-run: every request that would change something, exactly as it would be sent, on stdout; with "server" what the server says to
 * it as well. What the verb itself would print is about what is done, and nothing is: it goes nowhere. */
#include "cli/cli.h"

#include "engine/base/json.h"
#include "engine/base/mem.h"
#include "engine/base/yaml.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { DOCUMENT_BYTES = 16 << 20 };

/* As JSON where it is some. */
static void add_body(cJSON *document, const char *name, struct slice bytes)
{
	if (bytes.n == 0)
		return;
	cJSON *body = json_parse(bytes, NULL);
	if (body != NULL)
		cJSON_AddItemToObject(document, name, body);
	else
		cli_json_bytes(document, name, bytes);
}

static void on_write(void *arg, const struct kube_write *write)
{
	struct cli *cli = arg;
	cJSON *document = cJSON_CreateObject();
	cJSON_AddStringToObject(document, "method", write->method);
	cJSON_AddStringToObject(document, "path", write->path);
	if (write->query[0])
		cJSON_AddStringToObject(document, "query", write->query);
	if (write->body.n > 0)
		cJSON_AddStringToObject(document, "contentType", write->content_type);
	add_body(document, "body", write->body);
	add_body(document, "answer", write->answer);
	if (cli->opt.output == CLI_JSON) {
		char *text = cJSON_PrintUnformatted(document);
		fprintf(cli->dry_run_out, "%s\n", text);
		free(text);
	} else {
		struct str text;
		str_init(&text, DOCUMENT_BYTES);
		yaml_format(document, &text);
		fprintf(cli->dry_run_out, "---\n%s", text.p);
		str_deinit(&text);
	}
	fflush(cli->dry_run_out);
	cJSON_Delete(document);
}

bool cli_dry_run_begin(struct cli *cli, struct err *err)
{
	int fd = dup(STDOUT_FILENO);
	cli->dry_run_out = fd >= 0 ? fdopen(fd, "w") : NULL;
	if (cli->dry_run_out == NULL || freopen("/dev/null", "w", stdout) == NULL)
		return err_set_errno(err, errno, "standard output");
	cli->opt.engine.on_write = on_write;
	cli->opt.engine.on_write_arg = cli;
	return true;
}
