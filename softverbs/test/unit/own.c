/* SPDX-License-Identifier: BSD-3-Clause */
#include "own.h"

#include "other.h"

struct side own;
struct own_card own_peer;

void
own_exchange(void)
{
	struct own_card card = { own.qp->qp_num, own.mr->rkey, (uintptr_t)own.bytes };

	other_tell(&card, sizeof card);
	other_hear(&own_peer, sizeof own_peer);
}

void
own_connect(const struct side_options *options)
{
	side_make(&own, options);
	own_exchange();
	side_to_init(&own, options);
	side_to_rtr(&own, own_peer.qpn);
	side_to_rts(&own, options);
	other_meet();
}

void
own_begin(void (*there)(void), const struct side_options *options)
{
	other_start(there);
	own_connect(options);
}

void
own_end(void)
{
	other_meet();
	side_free(&own);
}

void
own_rdma(enum ibv_wr_opcode opcode, uint64_t wr_id, size_t offset, size_t remote, uint32_t length)
{
	const uint64_t there = own_peer.address + remote;

	ck_assert_int_eq(
	    side_rdma_raw(&own, opcode, wr_id, offset, there, own_peer.rkey, length), 0);
}
