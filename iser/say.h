/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * say -- messages to the user: one line each, on stderr, after the program's name
 *
 * Any thread; none waits for the reader of stderr.  A line for which there is no room is counted.
 */
#ifndef ISER_SAY_H
#define ISER_SAY_H

#include <dat2/udat.h>
#include <stddef.h>

/*
 * Names the program in every message; `name` must live on.  The program fails if standard output
 * cannot be written.
 */
void say_init(const char *name);

void say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The same for what a peer can cause at will: a few in a second are printed, and all counted. */
void say_of_peer(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Tells that a DAT call failed: the call, what it was for, and the error by name. */
void say_dat(const char *call, DAT_RETURN ret, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* "DAT_INVALID_STATE DAT_INVALID_STATE_EVD_WAITER" or whatever dat_strerror() has to say. */
const char *say_dat_error(DAT_RETURN ret, char *text, size_t size);

/* Names of what arrives in events, never NULL. */
const char *say_event_name(DAT_EVENT_NUMBER number);
const char *say_dto_status(DAT_DTO_COMPLETION_STATUS status);

#endif
