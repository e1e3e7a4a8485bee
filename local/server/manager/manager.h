// SPDX-License-Identifier: Apache-2.0
/* The controllers of the backend (local/server/controller), as one: a table of rows, fed by the store's changes and by
 * timers. */
#pragma once

#include <stdbool.h>

struct controller;
struct err;
struct server;

struct controller *manager_start(struct server *s, struct err *err);
/* Stops all daemons; done is called once when they have ended (or were killed). */
void manager_stop(struct controller *c, void (*done)(void *arg), void *arg);
void manager_free(struct controller *c); /* NULL is fine */
