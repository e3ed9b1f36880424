/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * name -- values by the names that a reader of the headers knows
 *
 * For debug lines and printed tables.  A value without a name gives NULL.
 */
#ifndef REARM_DAPL_NAME_H
#define REARM_DAPL_NAME_H

#include "dapl/state/cm_event.h"

/* Without the prefix DAT_EP_STATE_. */
const char *dapl_name_ep_state(DAT_EP_STATE state);

/* As an end of the sentence "the connection ...". */
const char *dapl_name_ep_happening(enum dapl_ep_happening what);

/* Without the prefix RDMA_CM_EVENT_. */
const char *dapl_name_cm_event(enum rdma_cm_event_type type);

/* With their prefixes. */
const char *dapl_name_return_type(DAT_RETURN ret);
const char *dapl_name_return_subtype(DAT_RETURN ret); /* "" for none */

#endif
