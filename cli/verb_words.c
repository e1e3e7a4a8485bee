// SPDX-License-Identifier: Apache-2.0
/* Which verb a word means, and what other words people bring along. */
#include "cli/verbs.h"

#include "engine/base/str.h"

#include <stddef.h>
#include <string.h>

static bool is_among(const char *words, const char *word)
{
	size_t n = strlen(word);
	for (const char *at = words; at != NULL && *at != '\0';) {
		size_t length = strcspn(at, " ");
		if (length == n && strncmp(at, word, n) == 0)
			return true;
		at += length + (at[length] == ' ');
	}
	return false;
}

const struct cli_verb *cli_verb_find(const struct cli_verb *const *verbs, const char *name)
{
	for (; *verbs != NULL; verbs++)
		if (strcmp((*verbs)->name, name) == 0 || is_among((*verbs)->aliases, name))
			return *verbs;
	return NULL;
}

/* Words of kubectl, docker and the client libraries, and what does that here. */
static const struct {
	const char *words, *answer;
} elsewhere[] = {
	{ "ssh shell bash console login enter", "a shell is: sandmux sh NAME" },
	{ "attach detach",
		"shells are tabs of the dashboard; one of its own is: sandmux sh NAME" },
	{ "ps", "what exists is: sandmux ls" },
	{ "pause stop hibernate", "that is: sandmux suspend NAME" },
	{ "start unpause wake", "that is: sandmux resume NAME" },
	{ "restart rollout", "there is none: sandmux suspend NAME, then sandmux resume NAME" },
	{ "kill terminate destroy close remove", "that is: sandmux rm NAME" },
	{ "new launch apply", "that is: sandmux create NAME --pool POOL, or create -f FILE" },
	{ "keepalive keep-alive renew set-timeout",
		"that is: sandmux extend NAME --timeout TIME" },
	{ "upload download push pull copy",
		"that is: sandmux cp SRC DST, with NAME:PATH for the sandbox" },
	{ "cat rm-file stat du find mkdir",
		"files are: sandmux files ls|cat|stat|rm NAME:PATH" },
	{ "port-forward",
		"sandmux makes its own connections; for a port of yours: kubectl port-forward pod/POD PORT" },
	{ "config contexts ctx use-context",
		"that is: sandmux context ls, sandmux context use NAME" },
	{ "namespaces", "that is: sandmux ls namespaces" },
	{ "dashboard ui tui", "that is: sandmux, without a verb" },
};

size_t cli_word_distance(const char *a, const char *b, size_t most)
{
	size_t before[32], now[32], n = strlen(b);
	if (n >= sizeof now / sizeof *now || strlen(a) >= sizeof now / sizeof *now)
		return most + 1;
	for (size_t j = 0; j <= n; j++)
		before[j] = j;
	for (size_t i = 0; a[i] != '\0'; i++) {
		now[0] = i + 1;
		for (size_t j = 0; j < n; j++) {
			size_t best = before[j] + (a[i] != b[j]);
			best = before[j + 1] + 1 < best ? before[j + 1] + 1 : best;
			now[j + 1] = now[j] + 1 < best ? now[j] + 1 : best;
		}
		memcpy(before, now, sizeof before);
	}
	return before[n];
}

bool cli_verb_suggest(const struct cli_verb *const *verbs, const char *word, struct str *out)
{
	const struct cli_verb *nearest = NULL;
	size_t least = 3; /* of a short word, two letters are half of it */
	for (size_t i = 0; i < sizeof elsewhere / sizeof *elsewhere; i++)
		if (is_among(elsewhere[i].words, word)) {
			str_add(out, elsewhere[i].answer);
			return true;
		}
	for (; *verbs != NULL; verbs++) {
		const char *name = (*verbs)->name;
		if (name[0] == '\0' || (*verbs)->is_hidden)
			continue;
		bool is_beginning = strlen(word) >= 2 && strncmp(name, word, strlen(word)) == 0;
		size_t edits = is_beginning ? 0 : cli_word_distance(word, name, 2);
		if (edits < least && edits * 2 <= strlen(name)) {
			least = edits;
			nearest = *verbs;
		}
	}
	if (nearest != NULL)
		str_addf(out, "did you mean '%s'?", nearest->name);
	return nearest != NULL;
}
