/* SPDX-License-Identifier: BSD-3-Clause */
/* verbs_post -- requests of a queue pair, and their completions */
#include "verbs_adapter.h"

#include "fail.h"

#include <string.h>

static inline struct ibv_sge
verbs_sge(const struct piece *piece)
{
	return (struct ibv_sge){ (uintptr_t)piece->bytes, piece->length, piece->key };
}

void
verbs_receive(void *arg, const struct piece *piece, uint64_t cookie)
{
	const struct verbs_wire *wire = arg;
	struct ibv_sge sge = verbs_sge(piece);
	struct ibv_recv_wr wr = { .wr_id = cookie, .sg_list = &sge, .num_sge = 1 }, *bad;
	const int r = ibv_post_recv(wire->id->qp, &wr, &bad);

	if (r)
		fail("ibv_post_recv: %s", strerror(r));
}

static inline void
verbs_post(const struct verbs_wire *wire, const struct piece *piece, enum ibv_wr_opcode opcode,
    const struct remote *remote, uint64_t cookie, bool silent)
{
	struct ibv_sge sge = verbs_sge(piece);
	struct ibv_send_wr wr = {
		.wr_id = cookie,
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = opcode,
		.send_flags = silent ? 0 : IBV_SEND_SIGNALED,
	};
	struct ibv_send_wr *bad;
	int r;

	if (remote) {
		wr.wr.rdma.remote_addr = remote->address;
		wr.wr.rdma.rkey = remote->key;
	}
	r = ibv_post_send(wire->id->qp, &wr, &bad);
	if (r)
		fail("ibv_post_send: %s", strerror(r));
}

void
verbs_send(void *wire, const struct piece *piece, uint64_t cookie, bool silent)
{
	verbs_post(wire, piece, IBV_WR_SEND, NULL, cookie, silent);
}

void
verbs_write(
    void *wire, const struct piece *piece, const struct remote *to, uint64_t cookie, bool silent)
{
	verbs_post(wire, piece, IBV_WR_RDMA_WRITE, to, cookie, silent);
}

void
verbs_read(void *wire, const struct piece *piece, const struct remote *from, uint64_t cookie)
{
	verbs_post(wire, piece, IBV_WR_RDMA_READ, from, cookie, false);
}

uint64_t
verbs_reap(void *arg)
{
	const struct verbs_wire *wire = arg;
	struct ibv_wc wc;
	const int n = ibv_poll_cq(wire->sends, 1, &wc);

	if (n < 0)
		fail("ibv_poll_cq has failed");
	if (n && wc.status != IBV_WC_SUCCESS)
		fail("a request failed: %s", ibv_wc_status_str(wc.status));
	return n ? wc.wr_id : 0;
}

bool
verbs_arrived(void *arg, struct completion *completion)
{
	const struct verbs_wire *wire = arg;
	struct ibv_wc wc;
	const int n = ibv_poll_cq(wire->receives, 1, &wc);

	if (n < 0)
		fail("ibv_poll_cq has failed");
	if (n)
		verbs_complete(&wc, completion);
	return n > 0;
}
