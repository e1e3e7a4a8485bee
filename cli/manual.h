// SPDX-License-Identifier: Apache-2.0
/* The pages that are made of the program's tables: docs/sandmux.1 and the codes in docs/cli.md (scripts/manual.py writes them, lint
 * holds them). */
#pragma once

struct cli_verb;
struct str;

enum { CLI_MANUAL_BYTES_MAX = 1 << 20 };
/* The man page, in man(7): verbs, options, settings, codes, environment, files. All of it ASCII. */
void cli_manual_add_page(struct str *out, const struct cli_verb *const *verbs);
/* Every code with its exit status, whether repeating helps, and its hint, as a table in Markdown. */
void cli_manual_add_codes(struct str *out);
