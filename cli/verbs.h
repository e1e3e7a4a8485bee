// SPDX-License-Identifier: Apache-2.0
/* The rows of the verbs, each defined at the end of its file. */
#pragma once

#include "cli/cli.h"

extern const struct cli_verb cli_verb_dashboard, cli_verb_ls, cli_verb_get, cli_verb_describe,
	cli_verb_create, cli_verb_rm, cli_verb_suspend, cli_verb_resume, cli_verb_extend,
	cli_verb_run, cli_verb_sh, cli_verb_cp, cli_verb_files, cli_verb_health,
	cli_verb_metadata, cli_verb_status, cli_verb_local, cli_verb_probe, cli_verb_doctor,
	cli_verb_settings, cli_verb_completion, cli_verb_help, cli_verb_version;
