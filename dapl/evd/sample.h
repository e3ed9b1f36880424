/* SPDX-License-Identifier: BSD-3-Clause */
/* sample -- what is to be seen of an EVD from outside, for statistics */
#ifndef REARM_DAPL_SAMPLE_H
#define REARM_DAPL_SAMPLE_H

#include "dapl/evd/evd_object.h"
#include "evd/stats/layout.h"

/*
 * The EVD in the slot with this index, counted from 0.  1: *row describes it; 0: the slot has none
 * now; -ENOENT: there is no such slot, and none after it.
 */
int dapl_evd_sample(uint32_t index, struct evd_stats_row *row) DAPL_NO_OBJECT_LOCK;

#endif
