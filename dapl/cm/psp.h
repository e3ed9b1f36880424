/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * psp -- public service point: every request that arrives becomes an event
 */
#ifndef REARM_DAPL_PSP_H
#define REARM_DAPL_PSP_H

#include "dapl/cm/sp.h"

struct psp {
	struct sp sp;
	DAT_PSP_FLAGS flags; /* constant while open */
};

/*
 * A request arrived from that address: 0, and the endpoint made for it if the service point makes
 * any, or -errno when it is to be refused.
 */
int psp_take(struct psp *psp, const struct conn *listener, uint32_t generation,
    const struct sockaddr *from, DAT_EP_HANDLE *ep);

#endif
