// SPDX-License-Identifier: Apache-2.0
/* What limits a local sandbox and what holds each limit (local/isolation/limits.h), for people. */
#pragma once

struct cJSON;

/* The rows of an object that carries them in its annotation "sandmux.local/limits"; cJSON_Delete() it. NULL: none. */
struct cJSON *cli_limits_of(const struct cJSON *object);
/* A table; nothing if there is no row. */
void cli_limits_print(const char *title, const struct cJSON *rows);
