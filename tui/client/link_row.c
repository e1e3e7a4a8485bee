// SPDX-License-Identifier: Apache-2.0
// The row under the tabs while what is shown may not be so any more: the API server, the backend on this machine, or in
// direct mode the daemon, is gone, silent or slow.
//
//   Backend stopped 12 s ago; rows are as of 13:15:31.                        [R] start it · asked twice a second
//
// The offer is taken by R where nobody types, by the prefix and R anywhere, or by a click, half a second after it has
// appeared at the earliest.
#include "tui/client/internal.h"

#include "engine/base/clock.h"
#include "tui/view/keys.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

int client_link_row_rows(const struct client *client)
{
	struct engine_link link;
	return workspace_link_is_bad(client->workspace, &link) ? 1 : 0;
}

bool client_link_row_offers(const struct client *client)
{
	struct engine_link link;
	return workspace_link_is_bad(client->workspace, &link) &&
	       workspace_can_start_backend(client->workspace, &link) &&
	       clock_mono_ms() - link.since_ms >= SURPRISE_GUARD_MS;
}

static void add_as_of(
	const struct client *client, struct str *out, const struct engine_link *link)
{
	bool is_daemon = engine_fleet(workspace_host(client->workspace)->engine) ==
			 NULL; /* which shows no rows */
	time_t seconds = (time_t)(link->as_of_wall_ms / 1000);
	struct tm tm;
	char text[16];
	if (link->as_of_wall_ms && localtime_r(&seconds, &tm) &&
		strftime(text, sizeof text, "%H:%M:%S", &tm))
		str_addf(out, is_daemon ? "; it last answered at %s." : "; rows are as of %s.",
			text);
	else
		str_add(out,
			is_daemon ? "; it has not answered yet." : "; there are no rows yet.");
}

/* What a person can do with of a reason that begins with the address. */
static const char *short_reason(const struct client *client, const struct engine_link *link)
{
	const char *server = engine_server(workspace_host(client->workspace)->engine),
		   *text = link->reason;
	size_t n = strlen(server);
	if (strncmp(text, server, n) == 0 && text[n] == ':')
		text += n + 1 + strspn(text + n + 1, " ");
	return text;
}

static void link_text(
	const struct client *client, const struct engine_link *link, struct str *out)
{
	bool is_local = engine_is_local(workspace_host(client->workspace)->engine);
	const char *who = is_local ? "Backend"
			  : engine_fleet(workspace_host(client->workspace)->engine) == NULL
				  ? "Daemon"
				  : "API server";
	char age[CLOCK_AGE_BYTES];
	int64_t for_ms = clock_mono_ms() - link->since_ms;
	clock_format_age(for_ms > 0 ? for_ms : 0, age);
	if (workspace_backend_is_starting(client->workspace))
		str_addf(out, "%s is being started …", who);
	else if (link->state == ENGINE_LINK_SLOW)
		str_addf(out, "%s is slow: its last answer took %s", who,
			clock_format_age(link->took_ms, age));
	else if (link->state == ENGINE_LINK_SILENT)
		str_addf(out, "%s has not answered for %s", who,
			clock_format_age(link->took_ms, age));
	else if (is_local && link->is_refused)
		str_addf(out, "%s stopped %s ago", who, age);
	else if (link->is_refused)
		str_addf(out, "%s refuses connections for %s", who, age);
	else
		str_addf(out, "%s is out of reach for %s", who, age);
	add_as_of(client, out, link);
	if (link->state == ENGINE_LINK_DOWN &&
		!workspace_backend_is_starting(client->workspace) && !link->is_refused)
		str_addf(out, " %s", short_reason(client, link));
}

/* Begun seconds count: it is never "in 0 s". */
static long long seconds_until(int64_t then_ms)
{
	int64_t left_ms = then_ms - clock_mono_ms();
	return left_ms > 0 ? (left_ms + 999) / 1000 : 1;
}

void client_link_row_draw(struct client *client, struct draw_region row)
{
	struct engine_link link;
	struct str text;
	char offer[64] = "";
	if (!workspace_link_is_bad(client->workspace, &link))
		return;
	struct draw_style style = theme_style(
		&client->theme, link.state == ENGINE_LINK_SLOW ? ROLE_WARNING : ROLE_ERROR);
	style.attrs |= DRAW_REVERSE | DRAW_BOLD;
	draw_region_fill(row, style);
	str_init(&text, 4096);
	link_text(client, &link, &text);
	enum view_key_scope scope = view_scope(client_focused(client));
	bool is_plain = scope != SCOPE_SHELL && scope != SCOPE_TYPING &&
			scope != SCOPE_SCROLL && scope != SCOPE_DEAD;
	if (workspace_can_start_backend(client->workspace, &link) && is_plain)
		snprintf(offer, sizeof offer, "[R] start it");
	else if (workspace_can_start_backend(client->workspace, &link))
		snprintf(offer, sizeof offer, "[%s R] start it", view_key_prefix_name());
	else if (link.next_try_ms > 0)
		snprintf(offer, sizeof offer, "retry in %lld s",
			seconds_until(link.next_try_ms));
	else if (link.state == ENGINE_LINK_DOWN &&
		 !workspace_backend_is_starting(client->workspace))
		snprintf(offer, sizeof offer, "asked twice a second");
	int room = row.cols - 2, cols = draw_text_cols(offer);
	bool is_news =
		workspace_can_start_backend(client->workspace, &link) || link.next_try_ms > 0;
	bool has_offer = cols > 0 && (is_news || draw_text_cols(text.p) + cols + 2 <= room);
	draw_region_text(row, 0, 1, has_offer ? room - cols - 2 : room, style, text.p);
	if (has_offer)
		draw_region_text_right(row, 0, 1, room, style, offer);
	str_deinit(&text);
}

int64_t client_link_row_redraw_after_ms(const struct client *client)
{
	return client_link_row_rows(client) ? 1000 : 0;
}
