/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * psp -- public service point: every request that arrives becomes an event
 */
#ifndef REARM_DAPL_PSP_H
#define REARM_DAPL_PSP_H

#include "dapl/sp.h"

struct psp {
	struct sp sp;
	DAT_PSP_FLAGS flags; /* constant while open */
};

#endif
