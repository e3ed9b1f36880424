/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ib_event -- the part of a completion event that the InfiniBand extension adds
 */
#ifndef REARM_DAPL_IB_EVENT_H
#define REARM_DAPL_IB_EVENT_H

#include <dat2/udat.h>
#include <dat2/dat_ib_extensions.h>

/*
 * Makes a DAT_IB_DTO_EVENT of the completion event of an extended operation (DAT_IB_DTOS).  Its
 * data transfer part is complete.  `immediate`: of a receive.
 */
void dapl_ib_event_extend(DAT_EVENT *event, DAT_UINT32 immediate);

static inline bool
dapl_ib_event_is_due(int operation)
{
	return operation >= DAT_DTO_EXTENSION_BASE;
}

#endif
