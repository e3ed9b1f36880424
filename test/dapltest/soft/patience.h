/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * patience -- how long the device waits for another process
 *
 * A test shortens it when the other process has fallen silent: to 300 ms for what the connection
 * manager of a process owes, 200 ms for the answer to a request.  Until then it is as long as ever,
 * so that these tests can be run on a busy machine.
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
