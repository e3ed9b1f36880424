/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ah -- address handle: where the datagrams of a request go
 *
 * A handle with an address of no port leads nowhere; what is sent there is lost.
 */
#ifndef SOFT_AH_H
#define SOFT_AH_H

#include "softverbs/device/context.h"

#define SOFT_SL_MASK 0xf

struct soft_ah {
	struct ibv_ah ibv;
	bool here;		  /* leads to a port */
	bool global;		  /* datagrams have a routing header */
	uint16_t route;		  /* the number of that port, 0 in the plain topology */
	uint8_t from_gid, to_gid; /* indexes of the GIDs in that header, 0 there */
	uint8_t sl;		  /* in the completion of the receiver */
	uint32_t moves;		  /* of both ports, when it was made */
	const struct soft_device_port *from;
};

static inline struct soft_ah *
soft_ah_of(struct ibv_ah *ah)
{
	return soft_container_of(ah, struct soft_ah, ibv);
}

#endif
