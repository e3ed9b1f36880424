/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * counter_name -- the counters of the InfiniBand extension by name, without the prefix DCNT_
 *
 * NULL for a number that is no counter.
 */
#ifndef REARM_DAPL_COUNTER_NAME_H
#define REARM_DAPL_COUNTER_NAME_H

#include <dat2/dat_ib_extensions.h>

const char *dapl_name_ia_counter(int which);
const char *dapl_name_ep_counter(int which);
const char *dapl_name_evd_counter(int which);

#endif
