// SPDX-License-Identifier: Apache-2.0
/* version. */
#include "cli/cli.h"
#include "cli/verbs.h"

#include "engine/base/json.h"

#include <stdio.h>
#include <string.h>

static int run_version(struct cli *cli, int argc, char **argv)
{
	(void)argc;
	(void)argv;
	if (cli_is_structured(cli)) {
		cJSON *object = cJSON_CreateObject();
		cJSON_AddStringToObject(object, "version", SANDMUX_VERSION);
		cli_print_object(cli, object);
		cJSON_Delete(object);
	} else {
		printf("sandmux %s\n", SANDMUX_VERSION);
	}
	return EXIT_STATUS_OK;
}

const struct cli_verb cli_verb_version = { "version", "", "the version", 0, 0, 0,
	.run = run_version, .needs_no_settings = true,
	.examples = "  sandmux version -o json\n" };
