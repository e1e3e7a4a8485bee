// SPDX-License-Identifier: Apache-2.0
// What a person has typed for a new sandbox. It may hold secrets.
#include "tui/views/actions/internal.h"

#include "engine/base/mem.h"

void views_actions_wishes_deinit(struct views_wishes *wishes)
{
	for (int i = 0; i < CREATE_FIELDS; i++)
		x_free_secret(wishes->of[i]);
	x_free_secret(wishes->shell);
	*wishes = (struct views_wishes){ 0 };
}

void views_actions_wishes_copy(struct views_wishes *to, const struct views_wishes *from)
{
	for (int i = 0; i < CREATE_FIELDS; i++)
		to->of[i] = from ? x_strdup(from->of[i]) : NULL;
	to->shell = from ? x_strdup(from->shell) : NULL;
}
