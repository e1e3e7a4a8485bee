// SPDX-License-Identifier: Apache-2.0
/* version, completion. */
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

/* Their names, and what is shorter. */
static void print_kinds(void)
{
	for (size_t i = 0; engine_kinds[i] != NULL; i++) {
		printf("%s%s", i > 0 ? " " : "", engine_kinds[i]->name);
		for (const char *const *alias = engine_kinds[i]->aliases; alias && *alias;
			alias++)
			printf(" %s", *alias);
	}
}

/* Verbs and kinds come from their rows; names are asked from the program itself. */
static int run_completion(struct cli *cli, int argc, char **argv)
{
	(void)argc;
	if (strcmp(argv[0], "bash") != 0 && strcmp(argv[0], "zsh") != 0)
		return cli_fail_usage(cli, "completion knows bash and zsh, not '%s'", argv[0]);
	if (strcmp(argv[0], "zsh") == 0)
		printf("autoload -U +X bashcompinit && bashcompinit\n");
	printf("_sandmux() {\n"
	       "\tlocal word=${COMP_WORDS[COMP_CWORD]} verb=${COMP_WORDS[1]} kinds=\"");
	print_kinds();
	printf("\"\n"
	       "\tif [ \"$COMP_CWORD\" -eq 1 ]; then\n"
	       "\t\tCOMPREPLY=($(compgen -W \"");
	for (const struct cli_verb *const *verb = cli->verbs + 1; *verb != NULL; verb++)
		printf("%s%s", verb == cli->verbs + 1 ? "" : " ", (*verb)->name);
	printf("\" -- \"$word\"))\n"
	       "\telif [ \"$COMP_CWORD $verb\" = \"2 ls\" ]; then\n"
	       "\t\tCOMPREPLY=($(compgen -W \"$kinds\" -- \"$word\"))\n"
	       "\telif [ \"$COMP_CWORD\" -eq 3 ] && [[ \" $kinds \" == *\" ${COMP_WORDS[2]} \"* ]]; then\n"
	       "\t\tCOMPREPLY=($(compgen -W \"$(sandmux ls \"${COMP_WORDS[2]}\" -o name 2>/dev/null "
	       "| cut -d/ -f2)\" -- \"$word\"))\n"
	       "\telse\n"
	       "\t\tlocal names=$(sandmux ls -o name 2>/dev/null | cut -d/ -f2)\n"
	       "\t\tcase \"$COMP_CWORD $verb\" in \"2 get\" | \"2 describe\") names=\"$kinds $names\" ;; esac\n"
	       "\t\tCOMPREPLY=($(compgen -W \"$names\" -- \"$word\"))\n"
	       "\tfi\n"
	       "}\n"
	       "complete -o default -F _sandmux sandmux\n");
	return EXIT_STATUS_OK;
}

const struct cli_verb cli_verb_version = { "version", "", "the version", 0, 0, 0,
	.run = run_version, .needs_no_settings = true };
const struct cli_verb cli_verb_completion = { "completion", "bash|zsh",
	"a script for the shell's completion", 0, 1, 1, .run = run_completion,
	.needs_no_settings = true };
