// SPDX-License-Identifier: Apache-2.0
/* Scripts (play.h) of what a person does with the interface and sees of it.
 *
 *   > key down          the step
 *    4| > name  Ready   row 4 is like this now
 *     |   kkkk  lllll   its roles, a letter each (picture.h); "b" the background's if another one, "a" attributes */
#include "tests/unit/tui/script/play.h"
#include "tests/unit/tui/script/steps.h"

static void run_step(void *self, const char *line, bool is_shown)
{
	struct stage *stage = self;
	char *copy = x_strdup(line), *args = strchr(copy, ' ');
	size_t n_steps = sizeof steps / sizeof steps[0], i = 0;
	args = args ? args : copy + strlen(copy);
	if (*args)
		*args++ = 0;
	while (i < n_steps && strcmp(steps[i].name, copy) != 0)
		i++;
	if (i == n_steps)
		fail_msg("there is no step '%s'", copy);
	stage->where = line;
	steps[i].run(stage, args);
	free(copy);
	if (stage->app && is_shown) {
		stage_compose(stage);
		picture_add(&stage->picture, stage->app->client->surface, stage->out);
	}
}

static void *begin(struct str *out)
{
	struct stage *stage = x_calloc(1, sizeof *stage);
	stage_init(stage, out);
	return stage;
}

static void end(void *stage)
{
	isolation_stage_deinit(stage);
	free(stage);
}

int main(int argc, char **argv)
{
	static const struct play is = { begin, run_step, end, picture_settle_names };
	return play_main(&is, argc, argv);
}
