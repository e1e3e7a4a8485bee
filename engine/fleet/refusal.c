// SPDX-License-Identifier: Apache-2.0
/* Refusals in the words of the API server (k8s.io/apiserver admission, plugin/pkg/admission), as they come in the
 * messages of conditions and events. */
#include "engine/base/str.h"
#include "engine/fleet/sentence.h"

#include <stdio.h>
#include <string.h>

enum { NAME_SHOWN = 128, TEMPLATE_BYTES = 256 };

/* The text between quotes after `before`. False if it is not there. */
static bool quoted(const char *message, const char *before, char quote, char out[NAME_SHOWN],
	const char **rest)
{
	const char *at = strstr(message, before);
	if (at == NULL)
		return false;
	at += strlen(before);
	const char *end = strchr(at, quote);
	if (end == NULL || end == at || end - at >= NAME_SHOWN)
		return false;
	snprintf(out, NAME_SHOWN, "%.*s", (int)(end - at), at);
	*rest = end + 1;
	return true;
}

static const char *after(const char *text, const char *words)
{
	const char *at = strstr(text, words);
	return at ? at + strlen(words) : text;
}

/* exceeded quota: q, requested: pods=1, used: pods=3, limited: pods=3 */
static bool say_quota(struct fleet_sentence *s, const char *message)
{
	char name[NAME_SHOWN];
	const char *rest;
	if (!quoted(message, "exceeded quota: ", ',', name, &rest))
		return false;
	str_addf(s->out, "quota %s is used up:", name);
	if (*rest != ' ')
		str_add(s->out, " ");
	fleet_sentence_add_message(s, rest);
	fleet_sentence_advise(s,
		"delete what is not needed, or have ResourceQuota %s raised: it goes on by itself",
		name);
	return true;
}

/* The quota names a resource, and the pod asks for none of it. */
static bool say_unquoted(struct fleet_sentence *s, const char *message)
{
	char name[NAME_SHOWN], template_[TEMPLATE_BYTES];
	const char *rest;
	if (!quoted(message, "failed quota: ", ':', name, &rest))
		return false;
	str_addf(s->out, "quota %s refuses it:", name);
	fleet_sentence_add_message(s, rest);
	fleet_sentence_template(s, template_, sizeof template_);
	fleet_sentence_advise(s, "give its containers these resources in %s", template_);
	return true;
}

static bool say_webhook(struct fleet_sentence *s, const char *message)
{
	char name[NAME_SHOWN], template_[TEMPLATE_BYTES];
	const char *rest;
	fleet_sentence_template(s, template_, sizeof template_);
	if (quoted(message, "admission webhook \"", '"', name, &rest)) {
		str_addf(s->out, "admission webhook %s refuses it: ", name);
		fleet_sentence_add_message(s, after(rest, "denied the request: "));
		fleet_sentence_advise(s,
			"change what it names in %s, or ask who runs the webhook", template_);
		return true;
	}
	if (quoted(message, "failed calling webhook \"", '"', name, &rest)) {
		str_addf(s->out, "admission webhook %s does not answer: ", name);
		fleet_sentence_add_message(s, after(rest, "failed to call webhook: "));
		fleet_sentence_advise(
			s, "bring the webhook back: writes wait for it until then");
		return true;
	}
	return false;
}

static bool say_policy(struct fleet_sentence *s, const char *message)
{
	char name[NAME_SHOWN], template_[TEMPLATE_BYTES];
	const char *rest, *at;
	fleet_sentence_template(s, template_, sizeof template_);
	if (quoted(message, "ValidatingAdmissionPolicy '", '\'', name, &rest)) {
		str_addf(s->out, "policy %s refuses it: ", name);
		fleet_sentence_add_message(s, after(rest, "denied request: "));
		fleet_sentence_advise(
			s, "change what it names in %s, or the policy", template_);
		return true;
	}
	if ((at = strstr(message, "violates PodSecurity")) != NULL) {
		str_add(s->out, "pod security refuses it: ");
		fleet_sentence_add_message(s, at);
		fleet_sentence_advise(s,
			"correct the securityContext in %s, or the namespace's pod-security label",
			template_);
		return true;
	}
	static const char *const limits[] = { "maximum ", "minimum " };
	for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
		at = strstr(message, limits[i]);
		if (at == NULL || strstr(at, " usage per ") == NULL)
			continue;
		str_add(s->out, "the namespace's LimitRange refuses it: ");
		fleet_sentence_add_message(s, at);
		fleet_sentence_advise(s, "ask for what it allows in %s", template_);
		return true;
	}
	return false;
}

/* The controller itself may not. */
static bool say_forbidden(struct fleet_sentence *s, const char *message)
{
	const char *user = strstr(message, "User \"system:serviceaccount:");
	if (user == NULL || strstr(user, " cannot ") == NULL)
		return false;
	str_add(s->out, "the controller may not: ");
	fleet_sentence_add_message(s, user);
	fleet_sentence_advise(
		s, "give the controller's service account this right: it goes on by itself");
	return true;
}

bool fleet_refusal_say(struct fleet_sentence *s, const char *message)
{
	return message != NULL &&
	       (say_quota(s, message) || say_unquoted(s, message) || say_webhook(s, message) ||
		       say_policy(s, message) || say_forbidden(s, message));
}
