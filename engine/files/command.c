// SPDX-License-Identifier: Apache-2.0
/* Command lines of programs in a sandbox that work on paths. */
#include "engine/files/internal.h"

#include <string.h>

void files_command_init(struct files_command *command, const char *const *words)
{
	*command = (struct files_command){ 0 };
	files_command_end(command, words);
	command->n_words = command->n;
}

void files_command_deinit(struct files_command *command)
{
	for (size_t i = 0; i < command->n_paths; i++)
		free((char *)(uintptr_t)command->argv[command->n_words + i]);
}

bool files_command_add(struct files_command *command, const char *path)
{
	size_t bytes = strlen(path) + sizeof "./";

	if (command->n_paths == FILES_COMMAND_PATHS_MAX ||
		(command->n_paths && command->bytes + bytes > FILES_COMMAND_BYTES_MAX))
		return false;
	command->argv[command->n++] = x_asprintf("./%s", path);
	command->n_paths++;
	command->bytes += bytes;
	return true;
}

void files_command_end(struct files_command *command, const char *const *words)
{
	for (size_t i = 0; words[i]; i++)
		command->argv[command->n++] = words[i];
}
