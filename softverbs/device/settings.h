/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * settings -- how long the device waits for other processes, and whether it reports on them
 *
 * SOFTVERBS_TIME_FACTOR, SOFTVERBS_LISTENER_WAIT, SOFTVERBS_LISTENERS_RETURN, SOFTVERBS_RNR_TIMER,
 * SOFTVERBS_MEMLOCK, SOFTVERBS_SOCKETS, SOFTVERBS_NO_PULL and SOFTVERBS_DEBUG, read when the
 * runtime starts; see README.md.  That of memory is read earlier, when a context becomes active:
 * programs register memory before their first queue pair.
 */
#ifndef SOFT_SETTINGS_H
#define SOFT_SETTINGS_H

#include "soft.h"

/* How long the progress thread of another process may take to answer, in nanoseconds. */
#define SOFT_ANSWER_TIME 6000000000u

/*
 * A timer that runs later than this does not count against a peer: this process was stopped or had
 * no processor, and perhaps the peer was, too.
 */
#define SOFT_TIMER_LATE 1000000000u

/* 0, or -EINVAL after a message on standard error. */
int soft_settings_read(void);
void soft_settings_read_memlock(void);

/* Whether softverbs-ctl may command this process. */
bool soft_settings_read_control(void);

/* Multiplies a time by SOFTVERBS_TIME_FACTOR. */
uint64_t soft_settings_scale_time(uint64_t nanoseconds);

/*
 * How long a connection request waits for a listener that does not exist yet, in nanoseconds, after
 * scaling; 0: it does not wait.
 */
uint64_t soft_settings_listener_wait(void);

/* Whether a request also waits for a listener that this process has destroyed. */
bool soft_settings_listeners_return(void);

/* Whether registered memory counts against RLIMIT_MEMLOCK. */
bool soft_settings_memlock(void);

/* A message that found no receive waits for the timer of the NAK, as on an adapter. */
bool soft_settings_rnr_timer(void);

/* Whether memory is shared with other processes; else data goes over sockets. */
bool soft_settings_rings(void);

/*
 * Whether a process reads data from the memory of another, and lets it read; else data is copied
 * twice.
 */
bool soft_settings_pulls(void);

/* Prints a line on standard error if SOFTVERBS_DEBUG is set. */
void soft_debug(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
