/* SPDX-License-Identifier: BSD-3-Clause */
#include <dat2/dat_version.h>

const char *DAT_API
dat_rearm_version(void)
{
	return REARM_VERSION;
}
