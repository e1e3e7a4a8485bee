// SPDX-License-Identifier: Apache-2.0
/* The whole program, main() apart, so that a test can run it in a process of its own making. */
#pragma once

/* The exit status. Call it once, with one thread. */
int daemon_main(int argc, char **argv);
