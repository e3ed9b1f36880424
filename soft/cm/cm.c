/* SPDX-License-Identifier: BSD-3-Clause */
#include "cm.h"

pthread_mutex_t soft_cm_lock = PTHREAD_MUTEX_INITIALIZER;

int
soft_cm_result(int r)
{
	if (!r)
		return 0;
	errno = r < 0 ? -r : r;
	return -1;
}
