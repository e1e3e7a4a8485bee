// SPDX-License-Identifier: Apache-2.0
/* The controllers of the backend: one work queue, fed by the store's changes and by timers, and one
 * reconcile function a kind. */
#pragma once

#include <stdbool.h>

struct controller;
struct err;
struct server;

struct controller *controller_start(struct server *s, struct err *err);
/* Stops all daemons; done is called once when they have ended (or were killed). */
void controller_stop(struct controller *c, void (*done)(void *arg), void *arg);
void controller_free(struct controller *c); /* NULL is fine */

/* Whether there are files of sandboxes below the state directory, before anything else is known. */
bool controller_volumes_are_there(const char *state_dir);
