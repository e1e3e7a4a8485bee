// SPDX-License-Identifier: Apache-2.0
/* The background of a terminal, asked for by OSC 11 (XTerm Control Sequences, "Set Text Parameters"). Many do not answer,
 * and what answers may be anything: the text is hostile. Pure. */
#pragma once

#include "engine/base/str.h"

#include <stdbool.h>
#include <stdint.h>

#define DRAW_BACKGROUND_QUESTION "\033]11;?\033\\"
/* The text of an answer, without what begins and ends it: "11;rgb:RRRR/GGGG/BBBB", one to four digits each, or
 * "11;#RRGGBB". False: it is something else. */
bool draw_background_parse(struct slice answer, uint32_t *rgb);
/* Black is read better on it than white. */
bool draw_background_is_light(uint32_t rgb);
/* How well two colours are told apart, 1 to 21 (WCAG 2.1, contrast ratio). */
double draw_contrast(uint32_t a, uint32_t b);
