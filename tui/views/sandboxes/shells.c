// SPDX-License-Identifier: Apache-2.0
// Which sandboxes have shells open in this workspace: a column of the view, since the fleet knows nothing of them.
#include "tui/views/sandboxes/sandboxes.h"

#include "tui/session/session.h"

#include <stdio.h>
#include <string.h>

enum { DRAWN_MAX = 3, COLUMN_COLS = 6, COLUMN_RANK = 6 };

struct count {
	const char *uid; /* NULL: of any */
	int n;
};

static void add(void *arg, struct session *session)
{
	struct count *count = arg;
	const char *uid = session_uid(session);
	if (!uid || session_is_local(session) || session_state(session) == SESSION_ENDED)
		return;
	count->n += !count->uid || strcmp(uid, count->uid) == 0;
}

static int open_shells(const struct views_list *list, const char *uid)
{
	struct count count = { uid, 0 };
	sessions_each(list->view.host->sessions, add, &count);
	return count.n;
}

static const char *text(
	const struct views_list *list, const void *row, char buffer[RESOURCE_CELL_BYTES])
{
	int n = open_shells(list, ((const struct fleet_row *)row)->uid);
	if (n > DRAWN_MAX)
		snprintf(buffer, RESOURCE_CELL_BYTES, "⌗%d", n);
	else
		snprintf(buffer, RESOURCE_CELL_BYTES, "%.*s", n * (int)strlen("⌗"), "⌗⌗⌗");
	return buffer;
}

static bool is_any(const struct views_list *list)
{
	return open_shells(list, NULL) > 0;
}

void views_sandboxes_add_shells(struct views_list *list)
{
	static const struct views_list_own_column shells = {
		.column = { .title = "SHELLS", .cols = COLUMN_COLS, .rank = COLUMN_RANK },
		.text = text,
		.is_any = is_any,
	};
	views_list_add_column(list, &shells, "why");
}
