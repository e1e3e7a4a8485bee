// SPDX-License-Identifier: Apache-2.0
// The end of life of one sandbox: shown, moved, set or cleared; and its connections, which are closed without it.
#include "tui/views/actions/internal.h"

#include "engine/base/clock.h"
#include "engine/base/mem.h"
#include "tui/widgets/dialog.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIELD_END, FIELD_POLICY, FIELD_AFTER };

struct views_life {
	struct view_host *host;
	struct views_life *next; /* of those under way */
	struct fleet_op *op;
	char uid[FLEET_UID_BYTES];
	char *name;
	struct fleet_lifetime lifetime;
	char *policy;
	bool is_shorter_said; /* that it gets shorter was said, and Enter pressed again */
};

static void life_free(void *arg)
{
	struct views_life *life = arg;
	fleet_op_cancel(life->op);
	free(life->name);
	free(life->policy);
	free(life);
}

static struct views_life *life_new(void *self, struct err *err)
{
	struct view *view = self;
	const char *uids[1] = { NULL };
	size_t n = view->class->targets ? view->class->targets(view, uids, 1) : 0;
	struct fleet *fleet = engine_fleet(view->host->engine);
	if (!n || !fleet || !fleet_find(fleet, uids[0])) {
		err_set(err, ERR_ARG_INVALID, "no sandbox is selected");
		return NULL;
	}
	struct views_life *life = x_calloc(1, sizeof *life);
	life->host = view->host;
	snprintf(life->uid, sizeof life->uid, "%s", uids[0]);
	life->name = x_strdup(view_host_row_name(view->host, uids[0]));
	return life;
}

/* ---- the end of life */

static bool parse_end(struct fleet_lifetime *lifetime, const char *text, struct err *err)
{
	int64_t at_ns;
	lifetime->end = FLEET_END_KEPT;
	if (!*text)
		return true;
	if (strcmp(text, "never") == 0) {
		lifetime->end = FLEET_END_NEVER;
	} else if (clock_parse_duration(text, &lifetime->end_ms) && lifetime->end_ms > 0) {
		lifetime->end = FLEET_END_AFTER;
	} else if (clock_parse_rfc3339(text, &at_ns)) {
		lifetime->end = FLEET_END_AT;
		lifetime->end_ms = at_ns / 1000000;
	} else {
		return err_set(err, ERR_ARG_INVALID,
			"'%s': write 2h from now, 2027-01-01T00:00:00Z, or never", text);
	}
	return true;
}

static bool parse_after(struct fleet_lifetime *lifetime, const char *text, struct err *err)
{
	lifetime->has_ttl = lifetime->clears_ttl = false;
	if (!*text)
		return true;
	lifetime->clears_ttl = strcmp(text, "never") == 0;
	lifetime->has_ttl =
		!lifetime->clears_ttl && clock_parse_duration(text, &lifetime->ttl_ms);
	return lifetime->clears_ttl || lifetime->has_ttl ||
	       err_set(err, ERR_ARG_INVALID, "'%s': write 30s, 5m, or never", text);
}

static bool is_shorter(const struct views_life *life)
{
	const struct fleet_row *row = fleet_find(engine_fleet(life->host->engine), life->uid);
	int64_t end_ms = life->lifetime.end_ms;
	if (life->lifetime.end == FLEET_END_AFTER)
		end_ms += clock_wall_ms();
	else if (life->lifetime.end != FLEET_END_AT)
		return false;
	return row && (row->expires_ms == 0 || end_ms + 1000 < row->expires_ms);
}

static void on_changed(void *arg, const struct err *err)
{
	struct views_life *life = arg, **at = &life->host->actions->lives;
	char date[CLOCK_RFC3339_BYTES];
	life->op = NULL;
	while (*at != life)
		at = &(*at)->next;
	*at = life->next;
	const struct fleet_row *row = fleet_find(engine_fleet(life->host->engine), life->uid);
	if (err)
		view_host_failf(life->host, err, "Not changed: %s", life->name);
	else if (row && row->expires_ms)
		view_host_notef(life->host, NOTE_OK, "%s lives until %s", life->name,
			clock_format_rfc3339(row->expires_ms * 1000000, 0, date));
	else
		view_host_notef(life->host, NOTE_OK, "%s has no end of life", life->name);
	net_loop_defer(life->host->loop, life_free, life);
}

/* Shorter than it was: said at the field, and done when Enter is pressed once more. */
static bool check(void *arg, struct widget_dialog *dialog, int *field, struct err *err)
{
	struct views_life *life = arg;
	const char *policy = widget_dialog_field(dialog, FIELD_POLICY);
	*field = FIELD_END;
	if (!parse_end(&life->lifetime, widget_dialog_field(dialog, FIELD_END), err))
		return false;
	*field = FIELD_AFTER;
	if (!parse_after(&life->lifetime, widget_dialog_field(dialog, FIELD_AFTER), err))
		return false;
	free(life->policy);
	life->policy = *policy ? x_strdup(policy) : NULL;
	life->lifetime.shutdown_policy = life->policy;
	*field = FIELD_END;
	if (is_shorter(life) && !life->is_shorter_said) {
		life->is_shorter_said = true;
		return err_set(err, ERR_ARG_INVALID,
			"that is earlier, and all in it is lost then: Enter again does it");
	}
	struct views_life *at_work = x_calloc(1, sizeof *at_work);
	*at_work = *life;
	at_work->name = x_strdup(life->name);
	at_work->policy = NULL;
	at_work->op = fleet_lifetime_start(engine_fleet(life->host->engine), life->uid,
		&life->lifetime, on_changed, at_work, err);
	*field = strstr(err->msg, "policy") ? FIELD_POLICY : FIELD_END;
	if (!at_work->op) {
		life_free(at_work);
		return false;
	}
	at_work->next = life->host->actions->lives;
	life->host->actions->lives = at_work;
	return true;
}

bool views_action_lifetime(void *self, const char *args, struct err *err)
{
	struct views_life *life = life_new(self, err);
	char date[CLOCK_RFC3339_BYTES];
	if (!life)
		return false;
	const struct fleet_row *row = fleet_find(engine_fleet(life->host->engine), life->uid);
	struct widget_dialog *dialog = widget_dialog_new("End of life", NULL, life, life_free);
	widget_dialog_add_textf(dialog, "%s %s%s.", life->name,
		row->expires_ms ? "lives until " : "has no end",
		row->expires_ms ? clock_format_rfc3339(row->expires_ms * 1000000, 0, date)
				: "");
	widget_dialog_add_text(dialog, "What is left empty stays as it is.");
	widget_dialog_add_field(dialog, "end (2h, a date, never)", args);
	widget_dialog_add_field(dialog, "at its end (Delete, Retain)", "");
	widget_dialog_add_field(dialog, "deleted after its pod ended", "");
	widget_dialog_add_button(dialog, "&Change");
	widget_dialog_add_button(dialog, "C&ancel");
	widget_dialog_set_check(dialog, check);
	life->host->ops->push_dialog(life->host, dialog);
	return true;
}

void views_action_lives_free(struct views_actions *actions)
{
	while (actions->lives) {
		struct views_life *life = actions->lives;
		actions->lives = life->next;
		life_free(life);
	}
}

/* ---- its connections */

static void on_close_answered(void *arg, struct widget_dialog *dialog, int button)
{
	struct views_life *life = arg;
	(void)dialog;
	if (button != 0)
		return;
	if (engine_disconnect(life->host->engine, life->uid))
		view_host_notef(
			life->host, NOTE_OK, "%s is closed here, and lives on", life->name);
	else
		view_host_notef(
			life->host, NOTE_INFO, "nothing was connected to %s", life->name);
}

bool views_action_close_local(void *self, const char *args, struct err *err)
{
	struct views_life *life = life_new(self, err);
	(void)args;
	if (!life)
		return false;
	struct widget_dialog *dialog =
		widget_dialog_new("Close it here?", on_close_answered, life, life_free);
	widget_dialog_add_textf(dialog, "  %s", life->name);
	widget_dialog_add_text(dialog,
		"Its shells and processes that were started here end, and copies stop. The sandbox "
		"lives on.");
	widget_dialog_add_button(dialog, "&Close");
	widget_dialog_add_button(dialog, "C&ancel");
	widget_dialog_focus_button(dialog, 1);
	life->host->ops->push_dialog(life->host, dialog);
	return true;
}
