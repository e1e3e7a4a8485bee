// SPDX-License-Identifier: Apache-2.0
/* What a program's sequences do: one file for each family, all on the state (state.h). docs/terminal.md is the list of
 * what is known; the rest is swallowed. They know each other in one direction only:
 *
 *   csi.c ─→ mode.c, osc.c (title stack), esc.c (soft reset), text.c (REP), sgr.c
 *   esc.c ─→ mode.c      osc.c ─→ sgr.c      text.c, mode.c, sgr.c ─→ none */
#pragma once

#include "tui/term/state.h"

/* text.c: events of the parser, and REP */
void term_text_put(struct term *t, const unsigned char *bytes, size_t n);
void term_text_mark(struct term *t, uint32_t codepoint); /* combining, at the cursor */
void term_text_control(struct term *t, unsigned char c);
void term_text_repeat(struct term *t, int count);

/* csi.c, esc.c, osc.c */
void term_csi_handle(struct term *t, const struct term_csi *csi);
void term_esc_handle(struct term *t, char intermediate, char final);
void term_esc_full_reset(struct term *t); /* RIS */
void term_esc_soft_reset(struct term *t); /* DECSTR */
void term_string_handle(struct term *t, char kind, char *text, size_t n, bool bell);
void term_string_push_title(struct term *t);
void term_string_pop_title(struct term *t);

/* sgr.c */
void term_sgr_apply(struct term_style *pen, const struct term_csi *csi);
size_t term_sgr_format(const struct term_style *style, char *out, size_t size);

/* mode.c */
void term_mode_init(struct term *t);
void term_mode_set(struct term *t, bool is_private, int number, bool on);
/* As DECRPM answers: 0 not known, 1 set, 2 reset. */
int term_mode_report(const struct term *t, bool is_private, int number);
