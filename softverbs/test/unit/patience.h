/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * patience -- how long the device waits for another process
 *
 * A test shortens the time when the other process has stopped answering: to 300 ms for the
 * connection manager, 200 ms for the answer to a request.  Before that the time is as long as
 * usual, so that these tests can be run on a busy machine.
 */
#ifndef SOFT_PATIENCE_H
#define SOFT_PATIENCE_H

/* The fixture: ends with the setting that it began with. */
void patience_begin(void);
void patience_end(void);

/* As SOFTVERBS_TIME_FACTOR, from now on; as it was at the beginning. */
void patience_set(const char *factor);
void patience_usual(void);

/* The other process is silent from here on. */
void patience_fall_silent(void);

#endif
