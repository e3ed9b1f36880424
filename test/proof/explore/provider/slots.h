/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * slots -- what dapl/ stands on and this explorer does not explore: slots, handles, the registry,
 * addresses, the parts of dapl/ that are left out
 */
#ifndef REARM_EXPLORE_SLOTS_H
#define REARM_EXPLORE_SLOTS_H

/* Before each run. */
void slots_reset(void);
void slots_forget_ias(void);

#endif
