// SPDX-License-Identifier: Apache-2.0
/* Rights of this user in a namespace, each one SelfSubjectAccessReview: the only question that every authorizer answers
 * (a SelfSubjectRulesReview knows RBAC alone). Verdicts are kept; a "no" is asked about again after a while.
 *
 *   unknown ─ asked ─> yes
 *                └───> no ── RECHECK_MS, still shown ─> asked again
 *   a 403 that names the right ─> no
 *   the reviews themselves fail ─> unknown, and not asked again before engine_access_reviews_forget() */
#include "engine/access_review.h"

#include "engine/base/clock.h"
#include "engine/base/json.h"
#include "engine/base/mem.h"
#include "engine/internal.h"
#include "engine/kube/client.h"

#include <stdlib.h>
#include <string.h>

enum { RECHECK_MS = 180 * 1000, MAX_NAMESPACES = 256 };

#define EXTENSIONS "extensions.agents.x-k8s.io"
const struct engine_access_review engine_access_review_rows[] = {
	[RIGHT_LIST_CLAIMS] = { "list", EXTENSIONS, "sandboxclaims", "", "the list" },
	[RIGHT_WATCH_CLAIMS] = { "watch", EXTENSIONS, "sandboxclaims", "", "a live list" },
	[RIGHT_CREATE_CLAIMS] = { "create", EXTENSIONS, "sandboxclaims", "", "create" },
	[RIGHT_PATCH_CLAIMS] = { "patch", EXTENSIONS, "sandboxclaims", "", "extend" },
	[RIGHT_DELETE_CLAIMS] = { "delete", EXTENSIONS, "sandboxclaims", "", "rm" },
	[RIGHT_WATCH_SANDBOXES] = { "watch", "agents.x-k8s.io", "sandboxes", "",
		"states and addresses" },
	[RIGHT_PATCH_SANDBOXES] = { "patch", "agents.x-k8s.io", "sandboxes", "",
		"suspend and resume" },
	[RIGHT_DELETE_SANDBOXES] = { "delete", "agents.x-k8s.io", "sandboxes", "",
		"rm of a Sandbox without claim" },
	[RIGHT_WATCH_POOLS] = { "watch", EXTENSIONS, "sandboxwarmpools", "", "the pools" },
	[RIGHT_WATCH_PODS] = { "watch", "", "pods", "", "why a sandbox is not ready" },
	[RIGHT_LIST_EVENTS] = { "list", "", "events", "", "why a sandbox is not ready" },
	[RIGHT_GET_FORWARD] = { "get", "", "pods", "portforward", "port-forward" },
	[RIGHT_CREATE_FORWARD] = { "create", "", "pods", "portforward", "port-forward" },
	[RIGHT_GET_LOG] = { "get", "", "pods", "log", "pod logs" },
};
_Static_assert(
	sizeof engine_access_review_rows / sizeof *engine_access_review_rows == RIGHT_COUNT,
	"a row for each right");

/* What the commands of a person need; the others show by themselves in the watches. */
static const enum engine_access_review_id asked[] = { RIGHT_CREATE_CLAIMS, RIGHT_PATCH_CLAIMS,
	RIGHT_DELETE_CLAIMS, RIGHT_PATCH_SANDBOXES, RIGHT_DELETE_SANDBOXES, RIGHT_GET_FORWARD,
	RIGHT_CREATE_FORWARD };
enum { ASKED_COUNT = sizeof asked / sizeof *asked };

enum answer { ANSWER_UNKNOWN, ANSWER_YES, ANSWER_NO };
struct engine_place;
struct verdict {
	struct engine_place *place;
	enum engine_access_review_id right;
	enum answer answer;
	int64_t since_ms; /* monotonic */
	struct kube_call *call;
};
struct engine_place { /* a namespace, "" = all */
	struct engine *engine;
	char *namespace_;
	bool is_asked;
	struct verdict verdicts[RIGHT_COUNT];
	struct engine_place *next;
};
struct engine_access_reviews {
	struct engine_place *places;
	size_t n_places;
	uint64_t revision;
	bool is_unanswered; /* no reviews here */
	struct net_loop_timer *tell;
};

/* ---- one review */

struct kube_call *engine_access_review_ask(struct engine *engine, const char *namespace_,
	enum engine_access_review_id id,
	void (*done)(void *arg, const struct err *err, const cJSON *object), void *arg,
	struct err *err)
{
	const struct engine_access_review *right = &engine_access_review_rows[id];
	cJSON *review = cJSON_CreateObject();
	cJSON_AddStringToObject(review, "apiVersion", "authorization.k8s.io/v1");
	cJSON_AddStringToObject(review, "kind", "SelfSubjectAccessReview");
	cJSON *spec = cJSON_AddObjectToObject(review, "spec");
	cJSON *attributes = cJSON_AddObjectToObject(spec, "resourceAttributes");
	if (namespace_[0])
		cJSON_AddStringToObject(attributes, "namespace", namespace_);
	cJSON_AddStringToObject(attributes, "verb", right->verb);
	cJSON_AddStringToObject(attributes, "group", right->group);
	cJSON_AddStringToObject(attributes, "resource", right->resource);
	if (right->subresource[0])
		cJSON_AddStringToObject(attributes, "subresource", right->subresource);
	char *body = cJSON_PrintUnformatted(review);
	const struct kube_call_opts opts = {
		.method = "POST",
		.path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
		.body = slice_of(body),
		.done = done,
		.arg = arg,
	};
	struct kube_call *call = kube_call_start(engine->kube, &opts, err);
	free(body);
	cJSON_Delete(review);
	return call;
}

bool engine_access_review_is_allowed(const cJSON *answer)
{
	return json_bool(answer, false, "status", "allowed", NULL);
}

/* ---- verdicts */

static void on_tell(void *arg)
{
	struct engine *engine = arg;
	if (engine->on_change != NULL)
		engine->on_change(engine->on_change_arg);
}

/* Whoever asks or reports may be drawing: told later. */
static void changed(struct engine *engine)
{
	engine->rights->revision++;
	net_loop_timer_arm(engine->rights->tell, 0);
}

static void settle(struct verdict *verdict, enum answer answer)
{
	bool differs = verdict->answer != answer;
	verdict->answer = answer;
	verdict->since_ms = clock_mono_ms();
	if (differs)
		changed(verdict->place->engine);
}

static void on_answer(void *arg, const struct err *err, const cJSON *object)
{
	struct verdict *verdict = arg;
	verdict->call = NULL;
	if (err == NULL) {
		settle(verdict,
			engine_access_review_is_allowed(object) ? ANSWER_YES : ANSWER_NO);
		return;
	}
	/* no answer changes nothing; a "no" is asked about again after as long as ever */
	if (err->code == ERR_KUBE_FORBIDDEN || err->code == ERR_KUBE_NOT_SERVED)
		verdict->place->engine->rights->is_unanswered = true;
}

static void ask(struct verdict *verdict)
{
	struct engine_place *place = verdict->place;
	struct engine *engine = place->engine;
	verdict->since_ms = clock_mono_ms();
	if (verdict->call == NULL && !engine->rights->is_unanswered)
		verdict->call = engine_access_review_ask(
			engine, place->namespace_, verdict->right, on_answer, verdict, NULL);
}

static struct engine_place *place_of(struct engine *engine, const char *namespace_)
{
	struct engine_access_reviews *rights = engine->rights;
	struct engine_place *place = rights->places;
	while (place != NULL && strcmp(place->namespace_, namespace_) != 0)
		place = place->next;
	if (place != NULL || rights->n_places == MAX_NAMESPACES)
		return place;
	place = x_calloc(1, sizeof *place);
	place->engine = engine;
	place->namespace_ = x_strdup(namespace_);
	for (int i = 0; i < RIGHT_COUNT; i++) {
		place->verdicts[i].place = place;
		place->verdicts[i].right = (enum engine_access_review_id)i;
	}
	place->next = rights->places;
	rights->places = place;
	rights->n_places++;
	return place;
}

static enum answer look(
	struct engine *engine, const char *namespace_, enum engine_access_review_id right)
{
	struct engine_place *place = place_of(engine, namespace_);
	if (place == NULL)
		return ANSWER_UNKNOWN;
	if (!place->is_asked) {
		place->is_asked = true;
		for (size_t i = 0; i < ASKED_COUNT; i++)
			ask(&place->verdicts[asked[i]]);
	}
	struct verdict *verdict = &place->verdicts[right];
	bool is_due = clock_mono_ms() - verdict->since_ms > RECHECK_MS;
	if (verdict->answer != ANSWER_YES && verdict->call == NULL && is_due) {
		ask(verdict);
		if (verdict->call == NULL) /* nobody to ask: learnt from a refusal, and old */
			settle(verdict, ANSWER_UNKNOWN);
	}
	return verdict->answer;
}

/* Who looks at all namespaces mostly has the same rights in all of them: one question for all comes first. */
bool engine_access_review_is_refused(
	struct engine *engine, const char *namespace_, enum engine_access_review_id right)
{
	if (engine->namespace_[0] == '\0') {
		enum answer everywhere = look(engine, "", right);
		if (namespace_[0] == '\0')
			return everywhere == ANSWER_NO;
		struct engine_place *place = place_of(engine, namespace_);
		bool is_learnt = place && place->verdicts[right].answer == ANSWER_NO;
		if (everywhere != ANSWER_NO && !is_learnt)
			return false;
	}
	return look(engine, namespace_, right) == ANSWER_NO;
}

void engine_access_review_learn(
	struct engine *engine, const char *namespace_, enum engine_access_review_id right)
{
	struct engine_place *place = place_of(engine, namespace_);
	if (place == NULL)
		return;
	kube_call_cancel(place->verdicts[right].call);
	place->verdicts[right].call = NULL;
	settle(&place->verdicts[right], ANSWER_NO);
}

/* ---- life */

uint64_t engine_access_reviews_revision(const struct engine *engine)
{
	return engine->rights->revision;
}

void engine_access_reviews_forget(struct engine *engine)
{
	struct engine_access_reviews *rights = engine->rights;
	while (rights->places != NULL) {
		struct engine_place *place = rights->places;
		rights->places = place->next;
		for (int i = 0; i < RIGHT_COUNT; i++)
			kube_call_cancel(place->verdicts[i].call);
		free(place->namespace_);
		free(place);
	}
	rights->n_places = 0;
	rights->is_unanswered = false;
	changed(engine);
}

void engine_access_reviews_init(struct engine *engine)
{
	engine->rights = x_calloc(1, sizeof *engine->rights);
	engine->rights->tell = net_loop_timer_new(engine->loop, on_tell, engine);
}

void engine_access_reviews_deinit(struct engine *engine)
{
	if (engine->rights == NULL)
		return;
	engine_access_reviews_forget(engine);
	net_loop_timer_free(engine->rights->tell);
	free(engine->rights);
	engine->rights = NULL;
}
