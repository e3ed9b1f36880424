/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SOFT_INQUIRY_H
#define SOFT_INQUIRY_H

#include "cm.h"

/*
 * Finds the process that listens at the port of the request; soft_cm_located() is called
 * later.  -errno, and no call, if nobody is there.  The CM lock is held.
 */
int soft_inquire(const struct soft_cm_message *request);

/* After the progress thread has ended. */
void soft_inquiries_stop(void);
void soft_inquiries_reset(void); /* in a forked child */

/* cm_message.c: the answer, 0 for nobody; the CM lock is held */
void soft_cm_located(const struct soft_cm_message *request, unsigned int slot);

#endif
