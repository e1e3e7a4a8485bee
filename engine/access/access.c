// SPDX-License-Identifier: Apache-2.0
/* Verdicts on rights.
 *
 *   unknown ─ asked ─> yes
 *                └───> no ── RECHECK_MS, still shown ─> asked again
 *   a 403 that names the right ─> no
 *   the reviews themselves fail ─> unknown, and not asked again before access_forget() */
#include "engine/access/access.h"

#include "engine/base/clock.h"
#include "engine/base/mem.h"
#include "engine/kube/client.h"
#include "engine/net/loop.h"

#include <stdlib.h>
#include <string.h>

enum { RECHECK_MS = 180 * 1000, MAX_NAMESPACES = 256, MAX_VERDICTS = 256 };

enum answer { ANSWER_UNKNOWN, ANSWER_YES, ANSWER_NO };

struct access_verdict {
	struct access_place *place;
	struct access_attributes about; /* owned */
	enum answer answer;
	int64_t since_ms; /* monotonic */
	struct kube_call *call;
	struct access_verdict *next;
};

struct access_place { /* a namespace, "" = all */
	struct access *access;
	char *namespace_;
	bool is_asked;
	struct access_verdict *verdicts;
	size_t n_verdicts;
	struct access_place *next;
};

struct access {
	struct access_opts opts;
	char *scope;
	struct access_place *places;
	size_t n_places;
	uint64_t revision;
	bool is_unanswered; /* no reviews here */
	struct net_loop_timer *tell;
};

static void on_tell(void *arg)
{
	const struct access *access = arg;
	if (access->opts.on_change != NULL)
		access->opts.on_change(access->opts.arg);
}

/* Whoever asks or reports may be drawing: told later. */
static void changed(struct access *access)
{
	access->revision++;
	net_loop_timer_arm(access->tell, 0);
}

static void settle(struct access_verdict *verdict, enum answer answer)
{
	bool differs = verdict->answer != answer;
	verdict->answer = answer;
	verdict->since_ms = clock_mono_ms();
	if (differs)
		changed(verdict->place->access);
}

static void on_answer(void *arg, const struct err *err, const struct cJSON *object)
{
	struct access_verdict *verdict = arg;
	verdict->call = NULL;
	if (err == NULL) {
		settle(verdict, access_review_is_allowed(object) ? ANSWER_YES : ANSWER_NO);
		return;
	}
	/* no answer changes nothing; a "no" is asked about again after as long as ever */
	if (err->code == ERR_KUBE_FORBIDDEN || err->code == ERR_KUBE_NOT_SERVED)
		verdict->place->access->is_unanswered = true;
}

static void ask(struct access_verdict *verdict)
{
	struct access_place *place = verdict->place;
	struct access *access = place->access;
	verdict->since_ms = clock_mono_ms();
	if (verdict->call == NULL && !access->is_unanswered && access->opts.kube != NULL)
		verdict->call = access_review_start(access->opts.kube, place->namespace_,
			&verdict->about, on_answer, verdict, NULL);
}

static struct access_place *place_of(struct access *access, const char *namespace_)
{
	struct access_place *place = access->places;
	while (place != NULL && strcmp(place->namespace_, namespace_) != 0)
		place = place->next;
	if (place != NULL || access->n_places == MAX_NAMESPACES)
		return place;
	place = x_calloc(1, sizeof *place);
	place->access = access;
	place->namespace_ = x_strdup(namespace_);
	place->next = access->places;
	access->places = place;
	access->n_places++;
	return place;
}

static bool is_same(const struct access_attributes *a, const struct access_attributes *b)
{
	return strcmp(a->verb, b->verb) == 0 && strcmp(a->resource, b->resource) == 0 &&
	       strcmp(a->subresource, b->subresource) == 0 && strcmp(a->group, b->group) == 0;
}

/* NULL: there are too many. */
static struct access_verdict *verdict_of(
	struct access_place *place, const struct access_attributes *about)
{
	struct access_verdict *verdict = place->verdicts;
	while (verdict != NULL && !is_same(&verdict->about, about))
		verdict = verdict->next;
	if (verdict != NULL || place->n_verdicts == MAX_VERDICTS)
		return verdict;
	verdict = x_calloc(1, sizeof *verdict);
	verdict->place = place;
	verdict->about =
		(struct access_attributes){ x_strdup(about->verb), x_strdup(about->group),
			x_strdup(about->resource), x_strdup(about->subresource) };
	verdict->next = place->verdicts;
	place->verdicts = verdict;
	place->n_verdicts++;
	return verdict;
}

static void verdict_free(struct access_verdict *verdict)
{
	kube_call_cancel(verdict->call);
	free((void *)(uintptr_t)verdict->about.verb);
	free((void *)(uintptr_t)verdict->about.group);
	free((void *)(uintptr_t)verdict->about.resource);
	free((void *)(uintptr_t)verdict->about.subresource);
	free(verdict);
}

static void ask_first(struct access_place *place)
{
	const struct access_opts *opts = &place->access->opts;
	struct access_attributes about;
	bool was_asked = place->is_asked;
	place->is_asked = true;
	for (size_t i = 0; !was_asked && opts->first != NULL && opts->first(i, &about); i++)
		ask(verdict_of(place, &about));
}

static enum answer look(
	struct access *access, const char *namespace_, const struct access_attributes *about)
{
	struct access_place *place = place_of(access, namespace_);
	if (place == NULL)
		return ANSWER_UNKNOWN;
	ask_first(place);
	struct access_verdict *verdict = verdict_of(place, about);
	if (verdict == NULL)
		return ANSWER_UNKNOWN;
	bool is_new = verdict->since_ms == 0;
	bool is_due = is_new || clock_mono_ms() - verdict->since_ms > RECHECK_MS;
	if (verdict->answer != ANSWER_YES && verdict->call == NULL && is_due) {
		ask(verdict);
		if (verdict->call == NULL) /* nobody to ask: learnt from a refusal, and old */
			settle(verdict, ANSWER_UNKNOWN);
	}
	return verdict->answer;
}

bool access_is_denied(
	struct access *access, const char *namespace_, const struct access_attributes *about)
{
	if (access->scope[0] == '\0') {
		enum answer everywhere = look(access, "", about);
		if (namespace_[0] == '\0')
			return everywhere == ANSWER_NO;
		struct access_place *place = place_of(access, namespace_);
		const struct access_verdict *learnt = place ? verdict_of(place, about) : NULL;
		if (everywhere != ANSWER_NO && !(learnt && learnt->answer == ANSWER_NO))
			return false;
	}
	return look(access, namespace_, about) == ANSWER_NO;
}

void access_learn(struct access *access, const struct err_denied *denied)
{
	const struct access_attributes about = { denied->verb, denied->group, denied->resource,
		denied->subresource };
	if (denied->verb[0] == '\0')
		return;
	struct access_place *place = place_of(access, denied->namespace_);
	struct access_verdict *verdict = place ? verdict_of(place, &about) : NULL;
	if (verdict == NULL)
		return;
	kube_call_cancel(verdict->call);
	verdict->call = NULL;
	settle(verdict, ANSWER_NO);
}

/* ---- what is asked */

static bool is_reading(const char *verb)
{
	return strcmp(verb, "get") == 0 || strcmp(verb, "list") == 0 ||
	       strcmp(verb, "watch") == 0;
}

bool access_may_as(struct access *access, const char *namespace_,
	const struct access_attributes *about, enum err_code code, struct err *err)
{
	if (!access_is_denied(access, namespace_, about))
		return true;
	const char *slash = about->subresource[0] ? "/" : "", *dot = about->group[0] ? "." : "";
	err_set(err, code, "you may not %s %s%s%s %s%s; a Role needs: %s on %s%s%s%s%s",
		about->verb, about->resource, slash, about->subresource,
		namespace_[0] ? "in namespace " : "in all namespaces", namespace_, about->verb,
		about->resource, slash, about->subresource, dot, about->group);
	return err_set_denied(err, about->verb, about->group, about->resource,
		about->subresource, namespace_);
}

bool access_may(struct access *access, const char *namespace_,
	const struct access_attributes *about, struct err *err)
{
	if (access->opts.read_only && !is_reading(about->verb))
		return err_set(
			err, ERR_OP_READ_ONLY, "to %s %s is off", about->verb, about->resource);
	return access_may_as(access, namespace_, about, ERR_KUBE_FORBIDDEN, err);
}

/* ---- life */

struct access *access_new(const struct access_opts *opts)
{
	struct access *access = x_calloc(1, sizeof *access);
	access->opts = *opts;
	access->scope = x_strdup("");
	access->tell = net_loop_timer_new(opts->loop, on_tell, access);
	return access;
}

void access_free(struct access *access)
{
	if (access == NULL)
		return;
	access_forget(access);
	net_loop_timer_free(access->tell);
	free(access->scope);
	free(access);
}

bool access_is_read_only(const struct access *access)
{
	return access->opts.read_only;
}

void access_set_scope(struct access *access, const char *namespace_)
{
	char *old = access->scope;
	access->scope = x_strdup(namespace_);
	free(old);
}

uint64_t access_revision(const struct access *access)
{
	return access->revision;
}

void access_forget(struct access *access)
{
	while (access->places != NULL) {
		struct access_place *place = access->places;
		access->places = place->next;
		while (place->verdicts != NULL) {
			struct access_verdict *verdict = place->verdicts;
			place->verdicts = verdict->next;
			verdict_free(verdict);
		}
		free(place->namespace_);
		free(place);
	}
	access->n_places = 0;
	access->is_unanswered = false;
	changed(access);
}
