/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * settings -- how patient the device is with other processes, and whether it reports on them
 *
 * SOFTVERBS_TIME_FACTOR and SOFTVERBS_DEBUG, read when the first context comes to life; see
 * README.md.
 */
#ifndef SOFT_SETTINGS_H
#define SOFT_SETTINGS_H

#include "soft.h"

/* How long the progress thread of another process may take to answer, in nanoseconds. */
#define SOFT_ANSWER_TIME 6000000000u

/*
 * A timer that runs later than this says nothing about others: we were stopped, or had no
 * processor, and so perhaps had they.
 */
#define SOFT_TIMER_LATE 1000000000u

/* 0, or -EINVAL after a message on standard error. */
int soft_settings_read(void);

/* The time that the factor makes of this one. */
uint64_t soft_stretched(uint64_t nanoseconds);

/* A line on standard error, if wanted. */
void soft_debug(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
