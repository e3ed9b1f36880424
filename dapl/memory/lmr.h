/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * lmr -- local memory region: memory the device may reach
 */
#ifndef REARM_DAPL_LMR_H
#define REARM_DAPL_LMR_H

#include <dat2/udat.h>

/* 0, -ENODEV for a bad handle, -EBUSY. */
int dapl_lmr_free_by_handle(DAT_HANDLE handle);

#endif
