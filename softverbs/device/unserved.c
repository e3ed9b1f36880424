/* SPDX-License-Identifier: BSD-3-Clause */
#include "unserved.h"
#include "cancel.h"
#include "complaint.h"

#include <errno.h>
#include <stdio.h>

void
soft_unserved(atomic_flag *printed, const char *name)
{
	SOFT_UNCANCELLED;

	if (!atomic_flag_test_and_set(printed) && soft_stderr_is_read())
		fprintf(stderr,
		    "softverbs: %s: the software device does not support this function\n", name);
	errno = EOPNOTSUPP;
}
