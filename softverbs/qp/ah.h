/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ah -- address handle: where the datagrams of a request go
 *
 * The device has one port.  A handle with another address leads to no port; what is sent there is
 * lost.
 */
#ifndef SOFT_AH_H
#define SOFT_AH_H

#include "softverbs/device/context.h"

struct soft_ah {
	struct ibv_ah ibv;
	bool here;	/* leads to the port of this device */
	bool global;	/* datagrams have a routing header */
	uint32_t moves; /* of the port, when it was made */
};

/* Whether the port has the GID now. */
bool soft_ah_is_gid_of_port(struct ibv_context *context, const union ibv_gid *gid);

static inline struct soft_ah *
soft_ah_of(struct ibv_ah *ah)
{
	return soft_container_of(ah, struct soft_ah, ibv);
}

#endif
