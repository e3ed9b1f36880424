/* SPDX-License-Identifier: BSD-3-Clause */
/* stall -- requests that wait because the other end has posted no receive */
#ifndef REARM_DAPL_STALL_H
#define REARM_DAPL_STALL_H

#include "dapl/object/lock.h"

/* The queue pair has such a request, for two seconds now: prints a line. */
void dapl_stall_tell(unsigned int qp_num) DAPL_NO_LOCK;

#endif
