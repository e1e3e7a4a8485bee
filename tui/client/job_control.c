// SPDX-License-Identifier: Apache-2.0
// Job control and size of a program that owns its terminal. Each signal arrives as an event of the loop. Those that end it
// are the program's business: app_free() gives the terminal back, and engine/base/fatal_signal.h does when there is no time.
#include "engine/engine.h"
#include "tui/app/internal.h"

#include <signal.h>
#include <unistd.h>

static void on_winch(void *arg)
{
	app_resized(arg);
}

static void take_back(struct app *app)
{
	if (!app->tty)
		return;
	draw_terminal_enter(app->tty, draw_screen_begin_bytes(app->screen));
	if (app->is_mouse_on)
		draw_terminal_send(
			app->tty, slice_of(draw_screen_mouse_bytes(app->screen, true, false)));
	app->is_every_motion = false;
	draw_screen_repaint(app->screen);
	app_resized(app);
}

/* The terminal goes back to the shell, we stop, and begin here again after fg. SIGSTOP and not SIGTSTP: ours is
 * caught. A whole process group is stopped, as a shell would do it. */
void app_session_stop(struct app *app)
{
	if (!app->tty)
		return;
	draw_terminal_leave(app->tty);
	kill(0, SIGSTOP);
	take_back(app);
}

static void on_tstp(void *arg)
{
	app_session_stop(arg);
}

static void on_cont(void *arg)
{
	/* after a SIGSTOP from outside the shell has set its own modes: take the terminal again */
	take_back(arg);
}

bool app_handle_signals(struct app *app, struct err *err)
{
	static const struct {
		int number;
		void (*fn)(void *arg);
	} wanted[] = { { SIGWINCH, on_winch }, { SIGTSTP, on_tstp }, { SIGCONT, on_cont } };
	_Static_assert(sizeof wanted / sizeof wanted[0] ==
			       sizeof app->signals / sizeof app->signals[0],
		"room for each");
	for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
		app->signals[i] = net_watch_signal_new(
			app->loop, wanted[i].number, wanted[i].fn, app, err);
		if (!app->signals[i])
			return false;
	}
	return true;
}

void app_session_free(struct app *app)
{
	for (size_t i = 0; i < sizeof app->signals / sizeof app->signals[0]; i++) {
		if (app->signals[i])
			net_watch_signal_free(app->signals[i]);
		app->signals[i] = NULL;
	}
}
