/* SPDX-License-Identifier: BSD-3-Clause */
#include <dat2/dat_version.h>
#include <stdio.h>

#if !REARM_VERSION_AT_LEAST(0, 2, 0)
#error "Rearm 0.2.0 is needed"
#endif

static void
print_version(void)
{
	printf("compiled with Rearm %s, running with %s\n", REARM_VERSION,
	    dat_rearm_version());
}
