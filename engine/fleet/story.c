// SPDX-License-Identifier: Apache-2.0
#include "engine/fleet/story.h"

#include "engine/base/clock.h"
#include "engine/base/mem.h"
#include "engine/base/str.h"
#include "engine/fleet/observations.h"
#include "engine/fleet/sentence.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	TWICE_MS = 5000, /* as seen and as told, the same thing lies no farther apart */
	TOLD_MAX = 24,   /* entries that the API can tell */
	FIRST_READY_MS = 3000,
};

static const struct {
	const char *glyph, *word;
	enum resource_tone tone;
} kinds[FLEET_STORY_KIND_COUNT] = {
	[FLEET_STORY_CREATED] = { "+", "created", RESOURCE_PLAIN },
	[FLEET_STORY_READY] = { "●", "ready", RESOURCE_GOOD },
	[FLEET_STORY_UNREADY] = { "◐", "no longer ready", RESOURCE_WARNING },
	[FLEET_STORY_SUSPENDED] = { "■", "suspended", RESOURCE_GONE },
	[FLEET_STORY_RESUMED] = { "●", "resumed", RESOURCE_GOOD },
	[FLEET_STORY_RESTARTED] = { "↻", "restarted", RESOURCE_WARNING },
	[FLEET_STORY_MOVED] = { "→", "moved", RESOURCE_WARNING },
	[FLEET_STORY_EXTENDED] = { "◷", "its life was extended", RESOURCE_PLAIN },
	[FLEET_STORY_NOTED] = { "!", "noted", RESOURCE_WARNING },
	[FLEET_STORY_EXPIRED] = { "◌", "expired", RESOURCE_BAD },
	[FLEET_STORY_ENDED] = { "✗", "ended", RESOURCE_BAD },
	[FLEET_STORY_DELETED] = { "†", "deleted", RESOURCE_GONE },
};

const char *fleet_story_glyph(enum fleet_story_kind kind)
{
	return kinds[kind].glyph;
}

enum resource_tone fleet_story_tone(enum fleet_story_kind kind)
{
	return kinds[kind].tone;
}

/* ---- order */

static int compare(const void *left, const void *right)
{
	const struct fleet_story_entry *a = left, *b = right;
	if (a->wall_ms != b->wall_ms)
		return a->wall_ms < b->wall_ms ? -1 : 1;
	return (int)a->kind - (int)b->kind; /* of one second: created, ready, … */
}

size_t fleet_story_order(struct fleet_story_entry *entries, size_t n, size_t max)
{
	size_t kept = 0;
	qsort(entries, n, sizeof *entries, compare);
	for (size_t i = 0; i < n; i++) {
		size_t j = kept;
		bool is_twice = false;
		while (j > 0 && !is_twice &&
			entries[i].wall_ms - entries[j - 1].wall_ms <= TWICE_MS)
			is_twice = entries[--j].kind == entries[i].kind;
		if (!is_twice) {
			if (kept != i)
				entries[kept] = entries[i];
			kept++;
		} else if (strlen(entries[i].text) > strlen(entries[j].text)) {
			memcpy(entries[j].text, entries[i].text, sizeof entries[j].text);
		}
	}
	if (kept > max && max > 0) { /* the first, and the last ones */
		memmove(entries + 1, entries + 1 + (kept - max), (max - 1) * sizeof *entries);
		kept = max;
	}
	return kept < max ? kept : max;
}

/* ---- what is told */

struct fleet_telling {
	const struct fleet_store *store;
	struct fleet_story_entry *out;
	size_t n, max;
};

static void tell(struct fleet_telling *t, int64_t server_ms, enum fleet_story_kind kind,
	const char *text)
{
	if (server_ms <= 0 || t->n == t->max)
		return;
	struct fleet_story_entry *entry = &t->out[t->n++];
	struct str whole;
	entry->wall_ms = fleet_local_ms(t->store, server_ms);
	entry->kind = kind;
	str_init(&whole, 2 * FLEET_STORY_TEXT_BYTES);
	str_add(&whole, text[0] ? text : kinds[kind].word);
	size_t n = whole.n < sizeof entry->text ? whole.n : sizeof entry->text - 1;
	while (n > 0 && n < whole.n && ((unsigned char)whole.p[n] & 0xc0) == 0x80)
		n--;
	memcpy(entry->text, whole.p, n);
	entry->text[n] = '\0';
	str_deinit(&whole);
}

static void tell_creation(struct fleet_telling *t, const struct fleet_store_row *row)
{
	const struct fleet_claim *c = row->claim;
	const struct fleet_sandbox *s = row->sandbox;
	struct str text;
	str_init(&text, 2 * FLEET_STORY_TEXT_BYTES);
	const char *pool = c ? c->pool : "";
	if (s != NULL && s->is_warm_start)
		str_addf(&text, "adopted from warm pool %s", pool);
	else if (s != NULL && pool[0])
		str_addf(&text, "created cold, of pool %s", pool);
	else
		str_add(&text, "created");
	if (c != NULL && c->ready_after_ms > 0 && s != NULL && s->is_warm_start)
		str_addf(&text, ", %u ms", (unsigned)c->ready_after_ms);
	tell(t, c ? c->created_ms : s->created_ms, FLEET_STORY_CREATED, text.p);
	str_deinit(&text);
}

/* A claim's conditions may be older than the claim: those of a warm Sandbox are copied. */
static int64_t not_before(int64_t ms, const struct fleet_store_row *row)
{
	int64_t created = row->claim ? row->claim->created_ms : row->sandbox->created_ms;
	return ms == 0 || ms > created ? ms : created;
}

static void tell_ready(struct fleet_telling *t, const struct fleet_store_row *row)
{
	const struct fleet_claim *c = row->claim;
	const struct fleet_condition *ready = fleet_state_ready_condition(c, row->sandbox);
	int64_t first = c ? (int64_t)c->first_ready_s * 1000 : 0;
	int64_t since = not_before(fleet_condition_since_ms(ready), row);
	char text[64] = "";
	if (c != NULL && c->ready_after_ms > 0 &&
		!(row->sandbox != NULL && row->sandbox->is_warm_start))
		snprintf(text, sizeof text, "ready after %u.%u s",
			(unsigned)(c->ready_after_ms / 1000),
			(unsigned)(c->ready_after_ms % 1000 / 100));
	tell(t, not_before(first, row), FLEET_STORY_READY, text);
	if (ready->status != CONDITION_TRUE) {
		if (ready->code == REASON_ClaimExpired || ready->code == REASON_SandboxExpired)
			tell(t, since, FLEET_STORY_EXPIRED, "");
		return;
	}
	const struct fleet_sandbox *s = row->sandbox;
	bool is_again = first != 0 && since > first + FIRST_READY_MS;
	/* a Sandbox that was suspended says so of itself: False since it goes on */
	bool is_resumed = is_again && s != NULL && s->suspended.status == CONDITION_FALSE &&
			  fleet_condition_since_ms(&s->suspended) > first;
	if (first == 0 || is_again)
		tell(t, since, is_resumed ? FLEET_STORY_RESUMED : FLEET_STORY_READY, "");
}

static void tell_sandbox(struct fleet_telling *t, const struct fleet_store_row *row)
{
	const struct fleet_sandbox *s = row->sandbox;
	const struct fleet_condition *finished = s ? s->finished : row->claim->finished;
	if (s != NULL && s->suspended.status == CONDITION_TRUE)
		tell(t, fleet_condition_since_ms(&s->suspended), FLEET_STORY_SUSPENDED, "");
	if (finished->status == CONDITION_TRUE)
		tell(t, fleet_condition_since_ms(finished), FLEET_STORY_ENDED,
			row->shown.state == FLEET_FAILED || row->shown.state == FLEET_FINISHED
				? row->shown.why
				: "");
	if (s != NULL && s->pod != NULL && s->pod->restarts > 0) {
		struct str text;
		str_init(&text, 2 * FLEET_STORY_TEXT_BYTES);
		fleet_observation_format_restart(s->pod, &text);
		tell(t, (int64_t)s->pod->trouble->ended_s * 1000, FLEET_STORY_RESTARTED,
			text.p);
		str_deinit(&text);
	}
	tell(t, row->claim ? row->claim->deleted_ms : s->deleted_ms, FLEET_STORY_DELETED,
		"deletion was asked for");
}

static void tell_events(struct fleet_telling *t, const struct fleet_uid *uid)
{
	static const char *const telling[] = { "Evicted", "Preempted", "NodeNotReady",
		"TaintManagerEviction", "OOMKilling" };
	const struct fleet_event_list *list = fleet_events_about(t->store, uid);
	for (const struct fleet_store_event *e = list ? list->events : NULL; e; e = e->next) {
		for (size_t i = 0; i < sizeof telling / sizeof *telling; i++) {
			if (strcmp(e->reason, telling[i]) != 0)
				continue;
			struct str text;
			str_init(&text, 2 * FLEET_STORY_TEXT_BYTES);
			str_addf(&text, "%s: %s", e->reason, e->message);
			tell(t, e->when_ms, FLEET_STORY_NOTED, text.p);
			str_deinit(&text);
		}
	}
}

static void tell_seen(struct fleet_telling *t, const struct fleet_observations *seen)
{
	for (size_t i = 0; seen != NULL && i < seen->n; i++) {
		const struct fleet_observation *o = fleet_observation_at(seen, i);
		tell(t, (int64_t)o->at_s * 1000, (enum fleet_story_kind)o->kind, o->text);
	}
}

size_t fleet_story_of(const struct fleet_store *store, const struct fleet_store_row *row,
	struct fleet_story_entry *out, size_t max)
{
	enum { ALL = TOLD_MAX + FLEET_OBSERVATIONS_MAX };
	struct fleet_story_entry *all = x_calloc(ALL, sizeof *all);
	struct fleet_telling t = { store, all, 0, ALL };
	tell_creation(&t, row);
	tell_ready(&t, row);
	tell_sandbox(&t, row);
	tell_seen(&t, row->seen);
	if (row->sandbox != NULL && row->sandbox->pod != NULL)
		tell_events(&t, &row->sandbox->pod->uid);
	size_t n = fleet_story_order(all, t.n, max);
	memcpy(out, all, n * sizeof *out);
	free(all);
	return n;
}
