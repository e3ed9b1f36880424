/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * held -- answers of other processes that do not arrive now, until they do
 *
 * An answer cannot be asked for again, so it is kept.  Meanwhile its requester hears nothing, and
 * gives up in its time; then the answer is one of an earlier epoch, and means nothing.
 */
#ifndef SOFT_HELD_H
#define SOFT_HELD_H

#include "softverbs/wire/link.h"

/* In the place of soft_remote_requester_response() while something does not arrive. */
bool soft_held_response(struct soft_link *link, const struct soft_frame *frame, const char *payload)
    REQUIRES(soft_locks.input) SOFT_NO_SEND_LOCK;

/* Those that arrive again do. */
void soft_held_release(void) SOFT_NO_INPUT_LOCK;

void soft_held_reset(void); /* in a forked child */

#endif
