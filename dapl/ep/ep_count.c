/* SPDX-License-Identifier: BSD-3-Clause */
#include "dapl/ep/ep_count.h"

#define NO_BYTES DCNT_EP_ALL_COUNTERS

/* The counters of an operation, in which some share one. */
struct ep_counter {
	int operation;
	DAT_EP_COUNTERS times, bytes;
};

static const struct ep_counter ep_count_posted[] = {
	{ DAT_DTO_SEND, DCNT_EP_POST_SEND, DCNT_EP_POST_SEND_DATA },
	{ DAT_IB_DTO_SEND_UD, DCNT_EP_POST_SEND_UD, DCNT_EP_POST_SEND_UD_DATA },
	{ DAT_DTO_RECEIVE, DCNT_EP_POST_RECV, DCNT_EP_POST_RECV_DATA },
	{ DAT_DTO_RDMA_WRITE, DCNT_EP_POST_WRITE, DCNT_EP_POST_WRITE_DATA },
	{ DAT_IB_DTO_RDMA_WRITE_IMMED, DCNT_EP_POST_WRITE_IMM, DCNT_EP_POST_WRITE_IMM_DATA },
	{ DAT_DTO_RDMA_READ, DCNT_EP_POST_READ, DCNT_EP_POST_READ_DATA },
	{ DAT_IB_DTO_CMP_SWAP, DCNT_EP_POST_CMP_SWAP, NO_BYTES },
	{ DAT_IB_DTO_FETCH_ADD, DCNT_EP_POST_FETCH_ADD, NO_BYTES },
};

static const struct ep_counter ep_count_received[] = {
	{ DAT_DTO_RECEIVE, DCNT_EP_RECV, DCNT_EP_RECV_DATA },
	{ DAT_DTO_RECEIVE_WITH_INVALIDATE, DCNT_EP_RECV, DCNT_EP_RECV_DATA },
	{ DAT_IB_DTO_RECV_UD, DCNT_EP_RECV_UD, DCNT_EP_RECV_UD_DATA },
	{ DAT_IB_DTO_RECV_UD_IMMED, DCNT_EP_RECV_UD, DCNT_EP_RECV_UD_DATA },
	{ DAT_IB_DTO_RECV_MSG_IMMED, DCNT_EP_RECV_IMM, DCNT_EP_RECV_IMM_DATA },
	{ DAT_IB_DTO_RECV_IMMED, DCNT_EP_RECV_RDMA_IMM, DCNT_EP_RECV_RDMA_IMM_DATA },
};

static void
ep_count_sum(
    const struct dapl_ep_tally *tallies, const struct ep_counter *counters, size_t n, uint64_t *now)
{
	for (size_t i = 0; i < n; i++) {
		const struct dapl_ep_tally *tally = &tallies[counters[i].operation];

		now[counters[i].times] += tally->times;
		if (counters[i].bytes != NO_BYTES)
			now[counters[i].bytes] += tally->bytes;
	}
}

void
dapl_ep_counts_copy(struct dapl_ep_counts *counts, const struct dapl_ep_tally *received, int which,
    DAT_UINT64 *out, bool reset)
{
	uint64_t now[DCNT_EP_ALL_COUNTERS] = { 0 };

	now[DCNT_EP_CONNECT] = dapl_counter_get(&counts->connects);
	now[DCNT_EP_DISCONNECT] = dapl_counter_get(&counts->disconnects);
	ep_count_sum(counts->posted, ep_count_posted,
	    sizeof ep_count_posted / sizeof ep_count_posted[0], now);
	ep_count_sum(received, ep_count_received,
	    sizeof ep_count_received / sizeof ep_count_received[0], now);
	dapl_counter_copy(now, counts->base, DCNT_EP_ALL_COUNTERS, which, out, reset);
}
