/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * number -- a number in the environment; one that is wrong is refused with a line
 *
 * A variable that is not set, or empty, leaves the value as it is.  False after the line: the value
 * is as it was, too.  The locale does not matter.
 */
#ifndef SOFT_NUMBER_H
#define SOFT_NUMBER_H

#include <config.h>

#include <stdbool.h>
#include <stdint.h>

/* A whole number, as a seed. */
bool soft_number_read_whole(const char *variable, uint64_t *value);

/* Seconds from 0 to `most`, with a point or without, as nanoseconds. */
bool soft_number_read_seconds(const char *variable, unsigned int most, uint64_t *nanoseconds);

/* 0 or 1. */
bool soft_number_read_switch(const char *variable, bool *value);

#endif
