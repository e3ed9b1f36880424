/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * outstanding -- the requests of a queue's queue pairs that will have a completion there
 */
#ifndef SOFT_CHECK_OUTSTANDING_H
#define SOFT_CHECK_OUTSTANDING_H

#include "view.h"

/*
 * Counts them in the views of queues that exist, where it can matter: the queue has nothing to
 * poll, no call was made with it since the last time, and it is not armed or a connection has
 * ended.
 */
void soft_check_count_outstanding(void) SOFT_NO_CHECK_LOCK SOFT_NO_CM_LOCK;

#endif
