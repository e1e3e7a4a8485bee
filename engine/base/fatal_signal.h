// SPDX-License-Identifier: Apache-2.0
/* Signals that end a process, and what is put right before one does.
 *
 * Two kinds. A crash (SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGSYS, SIGTRAP) puts right what can be put right in a signal
 * handler, and then does what it would have done. Every other signal whose default is to end the process (signal(7)) is
 * caught by whoever asks for it (fatal_signal_catch()), told to the program's loop, and ended in order; the next one ends the
 * process at once, as a crash does. What was ignored when the program began (nohup, a background job of a shell without job
 * control) stays ignored.
 *
 * One set for the process. Everything here is called from the main thread; the handlers may run in any. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct termios;

enum fatal_signal_kind { FATAL_SIGNAL_NOT, FATAL_SIGNAL_ORDERLY, FATAL_SIGNAL_CRASH };
enum fatal_signal_kind fatal_signal_kind(int number);

/* First thing in main(): remembers what is ignored, and ignores SIGPIPE, which a write reports anyway. */
void fatal_signal_init(void);
/* Crashes end the process as above from now on. Again is fine. */
void fatal_signal_guard_crashes(void);
/* Orderly signals write their number as one byte to fd (not blocking), as often as `patience` says; the next one ends the
 * process (patience 0: the first one does, and fd is not used). SIGHUP is never the impatient one: a closed window sends it
 * twice. System calls that were waiting fail with EINTR. SIGPIPE counts only if another process sent it. */
void fatal_signal_catch(int fd, int patience);
void fatal_signal_set_patience(int patience); /* from now */
void fatal_signal_release(void);              /* the old dispositions */
bool fatal_signal_is_caught(void);            /* between catch and release */
int fatal_signal_last(void);                  /* the last one that came; 0 none */

/* The terminal to give back: its modes (NULL: they were not changed) and the bytes that end what was begun, both copied.
 * fd -1: none (any more). */
enum { FATAL_SIGNAL_BYTES = 512 };
void fatal_signal_set_terminal(int fd, const struct termios *modes, const char *bytes);
/* Gives it back now; async-signal-safe. Its modes are left alone while another job has the terminal. */
void fatal_signal_restore_terminal(void);

/* A temporary file to remove: its name in an open folder (borrowed; stays open until the file is forgotten). Returns what
 * fatal_signal_forget_file() takes; -1, which it also takes, when too many are remembered. */
int fatal_signal_remember_file(int dir_fd, const char *name);
void fatal_signal_forget_file(int slot);
