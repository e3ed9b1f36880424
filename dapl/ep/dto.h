/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * dto -- one data transfer, as a call describes it, on its way to the queue pair
 */
#ifndef REARM_DAPL_DTO_H
#define REARM_DAPL_DTO_H

#include "dapl/ep/ep.h"

/* The subtypes for bad arguments: calls count theirs differently. */
struct dapl_dto_args {
	DAT_RETURN_SUBTYPE segments, iov, remote, flags, ah;
};

struct dapl_dto {
	DAT_COUNT segments;
	const DAT_LMR_TRIPLET *iov;
	DAT_DTO_COOKIE cookie;
	DAT_COMPLETION_FLAGS flags;
	int operation;		       /* DAT_DTOS, or DAT_IB_DTOS */
	const DAT_RMR_TRIPLET *remote; /* of the operations on remote memory */
	DAT_UINT32 immediate;	       /* of RDMA_WRITE_IMMED */
	bool invalidates;	       /* a send that invalidates the remote region `region` */
	DAT_RMR_CONTEXT region;
	DAT_UINT64 compare_add, swap; /* of the atomics */
	const DAT_IB_ADDR_HANDLE *to; /* of a datagram */
};

/* The locked endpoint, or NULL with the reason. */
struct dapl_ep *dapl_dto_lock(DAT_EP_HANDLE handle, enum dapl_ep_call call, DAT_RETURN *ret)
    TRY_ACQUIRE(dapl_locks.object) DAPL_NO_OBJECT_LOCK;

DAT_RETURN dapl_dto_check(
    const struct dapl_dto *d, DAT_COUNT max_segments, const struct dapl_dto_args *args);

/*
 * Posts a receive, or a request with at most `limit` bytes of the segments.  A queue pair
 * in the error state that has flushed everything is not used: the transfer is flushed here.
 */
DAT_RETURN dapl_dto_post_recv(struct dapl_ep *ep, const struct dapl_dto *d)
    REQUIRES(dapl_locks.object) NO_CORE_LOCK;
DAT_RETURN dapl_dto_post_request(struct dapl_ep *ep, const struct dapl_dto *d, uint64_t limit)
    REQUIRES(dapl_locks.object) NO_CORE_LOCK;

/*
 * Some devices ignore requests that are posted to a queue pair in the error state.  When such a
 * queue pair has flushed everything, new requests are flushed by the provider, with
 * dapl_dto_post_event(); before that they go to the device to keep their order.
 */
bool dapl_dto_flushes_here(struct dapl_ep *ep, struct dapl_wr_ring *ring, struct dapl_evd *evd)
    REQUIRES(dapl_locks.object) NO_CORE_LOCK;
/*
 * Queues an event of the endpoint at its EVD for requests, or for receives.  `unsignalled`: it
 * wakes no sink.
 */
DAT_RETURN dapl_dto_post_event(struct dapl_ep *ep, struct dapl_evd *evd, const DAT_EVENT *event,
    bool unsignalled) REQUIRES(dapl_locks.object) NO_CORE_LOCK;

/* Posts a datagram. */
DAT_RETURN dapl_dto_post_datagram(
    DAT_EP_HANDLE handle, const struct dapl_dto *d, const struct dapl_dto_args *args) DAPL_NO_LOCK;

/* Posts an operation on remote memory. */
DAT_RETURN dapl_dto_post_rdma(
    DAT_EP_HANDLE handle, const struct dapl_dto *d, const struct dapl_dto_args *args) DAPL_NO_LOCK;

#endif
