/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * trouble -- faults that a test has the device inject, in the whole process
 *
 * Only a program that is linked with the objects of the device can call these; the shared
 * libraries hide them.
 */
#ifndef SOFT_TROUBLE_H
#define SOFT_TROUBLE_H

#include <stdbool.h>

/* Resizing a completion queue fails, as on devices without that operation. */
void soft_trouble_no_resize(bool on);

/* The next n completions find their queue full, whatever it holds: each overruns a queue. */
void soft_trouble_overrun(int n);

/* The next n requests for a notification fail. */
void soft_trouble_refuse_arms(int n);

/* Raises an event of the device or of its port in every context. */
void soft_trouble_raise(int event_type);

/* For the device: whether this call is to fail. */
bool soft_trouble_resize_fails(void);
bool soft_trouble_overruns(void);
bool soft_trouble_arm_fails(void);

#endif
