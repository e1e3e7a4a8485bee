// SPDX-License-Identifier: Apache-2.0
/* What is to be created, from the command line and the file that it names: for create and for run --rm. */
#pragma once

#include "cli/cli.h"

struct cli_create_wish {
	struct fleet_create_file file;
	struct cli_list volumes; /* of the file, then of the options */
	char maker[FLEET_MAKER_BYTES];
	const char *name; /* borrowed; NULL: generated, or the file's */
};
/* Before cli_open(): the file may name the namespace. False with *err. Errors: ERR_ARG_INVALID, those of
 * engine/base/file.h, those of engine/fleet/create_file.h. */
bool cli_create_wish_read(struct cli *cli, struct cli_create_wish *wish, struct err *err);
/* Something of it was said on the command line. */
bool cli_create_is_wished(const struct cli_options *opt);
void cli_create_wish_deinit(struct cli_create_wish *wish);
/* After cli_open(): the options, without callbacks. False with *err: what is missing. */
bool cli_create_wish_opts(struct cli *cli, const struct cli_create_wish *wish,
	struct fleet_create_opts *out, struct err *err);
/* What create and run --rm say while they wait: a note, on a terminal. */
void cli_create_progress(const struct cli *cli, const char *stage);
enum { CLI_ID_BYTES = 320 };
/* `<claim>.<uid8>`, in out. */
const char *cli_claim_id(const char *name, const char *uid, char out[CLI_ID_BYTES]);
