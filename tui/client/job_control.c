// SPDX-License-Identifier: Apache-2.0
// Job control and size of a program that owns its terminal. Each signal arrives as an event of the loop. Those that end it
// are the program's business: app_free() gives the terminal back, and engine/base/fatal_signal.h does when there is no time.
#include "engine/engine.h"
#include "tui/client/internal.h"

#include <signal.h>
#include <unistd.h>

static void on_winch(void *arg)
{
	client_resized(arg);
}

/* The terminal goes back to the shell, we stop, and begin here again after fg. SIGSTOP and not SIGTSTP: ours is
 * caught. A whole process group is stopped, as a shell would do it. */
void client_stop(struct client *client)
{
	if (!client->tty)
		return;
	draw_terminal_leave(client->tty);
	kill(0, SIGSTOP);
	client_terminal_take_back(client);
}

static void on_tstp(void *arg)
{
	client_stop(arg);
}

static void on_cont(void *arg)
{
	/* after a SIGSTOP from outside the shell has set its own modes: take the terminal again */
	client_terminal_take_back(arg);
}

bool client_handle_signals(struct client *client, struct err *err)
{
	static const struct {
		int number;
		void (*fn)(void *arg);
	} wanted[] = { { SIGWINCH, on_winch }, { SIGTSTP, on_tstp }, { SIGCONT, on_cont } };
	_Static_assert(sizeof wanted / sizeof wanted[0] ==
			       sizeof client->signals / sizeof client->signals[0],
		"room for each");
	for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
		client->signals[i] = net_watch_signal_new(
			client->loop, wanted[i].number, wanted[i].fn, client, err);
		if (!client->signals[i])
			return false;
	}
	return true;
}

void client_job_control_deinit(struct client *client)
{
	for (size_t i = 0; i < sizeof client->signals / sizeof client->signals[0]; i++) {
		if (client->signals[i])
			net_watch_signal_free(client->signals[i]);
		client->signals[i] = NULL;
	}
}
