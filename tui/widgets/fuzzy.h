// SPDX-License-Identifier: Apache-2.0
/* How well a few typed letters fit a name: all of them occur in it in that order, ASCII letters of either case. Pure. */
#pragma once

/* 0: they do not fit. Higher is better: the whole name, its beginning, beginnings of its words, letters side by side, and of
 * equal ones the shorter name. Nothing typed fits everything equally. */
int widget_fuzzy_score(const char *typed, const char *name);
