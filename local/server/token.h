// SPDX-License-Identifier: Apache-2.0
/* A bearer token in a file of its own. */
#pragma once

struct err;

/* The file's token, made (0600) if there is none or it is too short to be one. x_free_secret() it; NULL with *err when it
 * cannot be written. */
char *server_token_load(const char *path, struct err *err);
