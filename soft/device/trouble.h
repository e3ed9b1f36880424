/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * trouble -- what a test may have the device do wrong, in the whole process
 *
 * Only a program linked with the device's objects reaches these: the libraries that programs load
 * keep them hidden.
 */
#ifndef SOFT_TROUBLE_H
#define SOFT_TROUBLE_H

#include <stdbool.h>

/* A completion queue cannot be resized any more, as on devices that never could. */
void soft_trouble_no_resize(bool on);

/* The next n completions find their queue full, whatever it holds: each overruns a queue. */
void soft_trouble_overrun(int n);

/* The next n requests for a notification fail. */
void soft_trouble_refuse_arms(int n);

/* Raises an event of the device or of its port in every context. */
void soft_trouble_raise(int event_type);

/* For the device: whether this is one of those. */
bool soft_trouble_resize_fails(void);
bool soft_trouble_overruns(void);
bool soft_trouble_arm_fails(void);

#endif
