// SPDX-License-Identifier: Apache-2.0
#include "tui/views/detail/sections.h"

#include "engine/base/err.h"
#include "engine/base/str.h"

#include <string.h>

enum { HEADING_GAP = 3, HEADING_BYTES = 128 };

static const char *const names[DETAIL_SECTIONS] = {
	[DETAIL_OBJECTS] = "objects",
	[DETAIL_CONDITIONS] = "conditions",
	[DETAIL_SHELLS] = "shells",
	[DETAIL_CONTAINERS] = "containers",
	[DETAIL_DAEMON] = "daemon",
	[DETAIL_EVENTS] = "events",
	[DETAIL_LABELS] = "labels",
	[DETAIL_ANNOTATIONS] = "annotations",
};

static bool is_there(const struct views_detail_section *section)
{
	return section->n > 0 || section->lines.n > 0;
}

static bool is_open(const struct views_detail_folds *folds,
	const struct views_detail_section sections[], int part)
{
	if (folds->opened & 1u << part)
		return true;
	return !(folds->closed & 1u << part) && part != DETAIL_CONDITIONS &&
	       sections[part].is_bad;
}

static void add_heading(
	struct str *out, const struct views_detail_section *section, int part, bool opened)
{
	if (part == DETAIL_CONDITIONS && section->n_bad)
		str_addf(out, "! %zu of %zu conditions not fine", section->n_bad, section->n);
	else if (part == DETAIL_CONDITIONS)
		str_addf(out, "✓ %zu of %zu conditions fine", section->n, section->n);
	else if (section->n)
		str_addf(out, "%s %s %zu", opened ? "▾" : "▸", names[part], section->n);
	else
		str_addf(out, "%s %s", opened ? "▾" : "▸", names[part]);
}

static enum draw_theme_role heading_role(
	const struct views_detail_section *section, int part, bool opened)
{
	if (section->is_bad)
		return ROLE_WARNING;
	return part == DETAIL_CONDITIONS ? ROLE_OK : opened ? ROLE_HEADER : ROLE_DIM;
}

static void draw_heading(const struct view_host *host, struct draw_region r, int row, int col,
	const char *text, enum draw_theme_role role, struct views_detail_folds *folds, int part)
{
	int cols = draw_text_cols(text);
	if (row < 0 || row >= r.rows)
		return;
	draw_region_text(r, row, col, r.cols - col, host_style(host, role), text);
	if (folds->current == part)
		draw_region_restyle(r, row, col, cols, host_style(host, ROLE_CURSOR));
	folds->at[part].row = r.row + row;
	folds->at[part].col = r.col + col;
	folds->at[part].cols = cols;
}

static int draw_body(const struct view_host *host, struct draw_region r, int row,
	const struct views_detail_section *section, size_t n)
{
	int rows = 0;
	for (size_t i = 0; i < n; i++)
		rows += views_detail_line_draw(host, r, row + rows, &section->lines.lines[i]);
	return rows;
}

int views_detail_sections_draw(const struct view_host *host, struct draw_region r, int row,
	const struct views_detail_section sections[DETAIL_SECTIONS],
	struct views_detail_folds *folds)
{
	int rows = 0, col = 1;
	for (int part = 0; part < DETAIL_SECTIONS; part++) {
		const struct views_detail_section *section = &sections[part];
		bool opened = is_open(folds, sections, part);
		size_t n = opened ? section->lines.n : section->n_bad;
		struct str text;
		folds->at[part].cols = 0;
		if (!is_there(section))
			continue;
		str_init(&text, HEADING_BYTES);
		add_heading(&text, section, part, opened);
		int cols = draw_text_cols(text.p);
		if (col > 1 &&
			(n > 0 || col + cols > r.cols)) { /* what opens has its own row */
			rows++;
			col = 1;
		}
		draw_heading(host, r, row + rows, col, text.p,
			heading_role(section, part, opened), folds, part);
		str_deinit(&text);
		col += cols + HEADING_GAP;
		if (n > 0) {
			rows += 1 + draw_body(host, r, row + rows + 1, section, n);
			col = 1;
		}
	}
	return col > 1 ? rows + 1 : rows;
}

/* ---- hands */

static void turn(struct views_detail_folds *folds, const struct views_detail_section sections[],
	int part)
{
	unsigned bit = 1u << part;
	bool opened = is_open(folds, sections, part);
	folds->opened = opened ? folds->opened & ~bit : folds->opened | bit;
	folds->closed = opened ? folds->closed | bit : folds->closed & ~bit;
}

static void walk(
	struct views_detail_folds *folds, const struct views_detail_section sections[], int by)
{
	int part = folds->current < 0 && by < 0 ? DETAIL_SECTIONS : folds->current;
	for (int i = 0; i < DETAIL_SECTIONS; i++) {
		part = (part + by + DETAIL_SECTIONS) % DETAIL_SECTIONS;
		if (is_there(&sections[part])) {
			folds->current = part;
			return;
		}
	}
}

bool views_detail_unfold(struct views_detail_folds *folds,
	const struct views_detail_section sections[DETAIL_SECTIONS], const char *args,
	struct err *err)
{
	if (strcmp(args, "all") == 0) {
		folds->opened = ~0u;
		folds->closed = 0;
	} else if (strcmp(args, "none") == 0) {
		folds->opened = 0;
		folds->closed = ~0u;
	} else if (strcmp(args, "next") == 0 || strcmp(args, "previous") == 0) {
		walk(folds, sections, args[0] == 'n' ? 1 : -1);
	} else if (*args) {
		for (int part = 0; part < DETAIL_SECTIONS; part++) {
			if (strcmp(names[part], args) != 0)
				continue;
			folds->current = part;
			turn(folds, sections, part);
			return true;
		}
		return err_set(err, ERR_ARG_INVALID, "unfold: there is no part '%s'", args);
	} else {
		if (folds->current < 0 || !is_there(&sections[folds->current]))
			walk(folds, sections, 1);
		if (folds->current >= 0)
			turn(folds, sections, folds->current);
	}
	return true;
}

bool views_detail_sections_click(struct views_detail_folds *folds,
	const struct views_detail_section sections[DETAIL_SECTIONS],
	const struct draw_mouse *mouse)
{
	for (int part = 0; part < DETAIL_SECTIONS; part++) {
		if (!folds->at[part].cols || mouse->row != folds->at[part].row ||
			mouse->col < folds->at[part].col ||
			mouse->col >= folds->at[part].col + folds->at[part].cols)
			continue;
		folds->current = part;
		turn(folds, sections, part);
		return true;
	}
	return false;
}
