/* SPDX-License-Identifier: BSD-3-Clause */
#include "qp_ex.h"
#include "batch.h"
#include "post.h"
#include "softverbs/device/cancel.h"
#include "softverbs/device/unserved.h"

#include <string.h>

#define OPERATIONS_OF_DATAGRAMS (IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_IMM)
#define OPERATIONS_KNOWN \
	(OPERATIONS_OF_DATAGRAMS | IBV_QP_EX_WITH_RDMA_WRITE | \
	    IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM | IBV_QP_EX_WITH_RDMA_READ | \
	    IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP | IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD | \
	    IBV_QP_EX_WITH_LOCAL_INV | IBV_QP_EX_WITH_BIND_MW | IBV_QP_EX_WITH_SEND_WITH_INV)
#define MASK_KNOWN \
	(IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_CREATE_FLAGS | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS)

static struct soft_batch *
qp_ex_batch_of(struct ibv_qp_ex *ex)
{
	return soft_qp_of(&ex->qp_base)->batch;
}

/* The batch will not be posted. */
static void
qp_ex_batch_fail(struct ibv_qp_ex *ex, int error)
{
	struct soft_batch *batch = qp_ex_batch_of(ex);

	if (!batch->error)
		batch->error = error;
	batch->last = NULL;
}

/* A new request, or NULL after an error. */
static struct ibv_send_wr *
qp_ex_batch_add(struct ibv_qp_ex *ex, uint64_t operation, enum ibv_wr_opcode opcode)
{
	struct soft_batch *batch = qp_ex_batch_of(ex);

	if (!(batch->operations & operation))
		qp_ex_batch_fail(ex, EOPNOTSUPP);
	else if (batch->count == batch->size)
		qp_ex_batch_fail(ex, ENOMEM);
	if (batch->error)
		return NULL;
	batch->last = soft_batch_at(batch, batch->count++);
	batch->last->wr = (struct ibv_send_wr){
		.wr_id = ex->wr_id,
		.sg_list = batch->last->sge,
		.opcode = opcode,
		.send_flags = ex->wr_flags & ~(unsigned int)IBV_SEND_INLINE,
	};
	return &batch->last->wr;
}

/* ---- requests ---- */

static void
qp_ex_send(struct ibv_qp_ex *ex)
{
	(void)qp_ex_batch_add(ex, IBV_QP_EX_WITH_SEND, IBV_WR_SEND);
}

static void
qp_ex_send_imm(struct ibv_qp_ex *ex, __be32 imm_data)
{
	struct ibv_send_wr *wr =
	    qp_ex_batch_add(ex, IBV_QP_EX_WITH_SEND_WITH_IMM, IBV_WR_SEND_WITH_IMM);

	if (wr)
		wr->imm_data = imm_data;
}

static void
qp_ex_send_inv(struct ibv_qp_ex *ex, uint32_t key)
{
	struct ibv_send_wr *wr =
	    qp_ex_batch_add(ex, IBV_QP_EX_WITH_SEND_WITH_INV, IBV_WR_SEND_WITH_INV);

	if (wr)
		wr->invalidate_rkey = key;
}

static struct ibv_send_wr *
qp_ex_batch_add_rdma(struct ibv_qp_ex *ex, uint64_t operation, enum ibv_wr_opcode opcode,
    uint32_t rkey, uint64_t address)
{
	struct ibv_send_wr *wr = qp_ex_batch_add(ex, operation, opcode);

	if (wr) {
		wr->wr.rdma.remote_addr = address;
		wr->wr.rdma.rkey = rkey;
	}
	return wr;
}

static void
qp_ex_rdma_write(struct ibv_qp_ex *ex, uint32_t rkey, uint64_t address)
{
	(void)qp_ex_batch_add_rdma(ex, IBV_QP_EX_WITH_RDMA_WRITE, IBV_WR_RDMA_WRITE, rkey, address);
}

static void
qp_ex_rdma_write_imm(struct ibv_qp_ex *ex, uint32_t rkey, uint64_t address, __be32 imm_data)
{
	struct ibv_send_wr *wr = qp_ex_batch_add_rdma(
	    ex, IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM, IBV_WR_RDMA_WRITE_WITH_IMM, rkey, address);

	if (wr)
		wr->imm_data = imm_data;
}

static void
qp_ex_rdma_read(struct ibv_qp_ex *ex, uint32_t rkey, uint64_t address)
{
	(void)qp_ex_batch_add_rdma(ex, IBV_QP_EX_WITH_RDMA_READ, IBV_WR_RDMA_READ, rkey, address);
}

static void
qp_ex_batch_add_atomic(struct ibv_qp_ex *ex, uint64_t operation, enum ibv_wr_opcode opcode,
    uint32_t rkey, uint64_t address, uint64_t compare_add, uint64_t swap)
{
	struct ibv_send_wr *wr = qp_ex_batch_add(ex, operation, opcode);

	if (!wr)
		return;
	wr->wr.atomic.remote_addr = address;
	wr->wr.atomic.rkey = rkey;
	wr->wr.atomic.compare_add = compare_add;
	wr->wr.atomic.swap = swap;
}

static void
qp_ex_atomic_cmp_swp(
    struct ibv_qp_ex *ex, uint32_t rkey, uint64_t address, uint64_t compare, uint64_t swap)
{
	qp_ex_batch_add_atomic(ex, IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP, IBV_WR_ATOMIC_CMP_AND_SWP,
	    rkey, address, compare, swap);
}

static void
qp_ex_atomic_fetch_add(struct ibv_qp_ex *ex, uint32_t rkey, uint64_t address, uint64_t add)
{
	qp_ex_batch_add_atomic(ex, IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD, IBV_WR_ATOMIC_FETCH_AND_ADD,
	    rkey, address, add, 0);
}

static void
qp_ex_local_inv(struct ibv_qp_ex *ex, uint32_t key)
{
	struct ibv_send_wr *wr = qp_ex_batch_add(ex, IBV_QP_EX_WITH_LOCAL_INV, IBV_WR_LOCAL_INV);

	if (wr)
		wr->invalidate_rkey = key;
}

static void
qp_ex_bind_mw(
    struct ibv_qp_ex *ex, struct ibv_mw *mw, uint32_t rkey, const struct ibv_mw_bind_info *info)
{
	struct ibv_send_wr *wr = qp_ex_batch_add(ex, IBV_QP_EX_WITH_BIND_MW, IBV_WR_BIND_MW);

	if (!wr)
		return;
	wr->bind_mw.mw = mw;
	wr->bind_mw.rkey = rkey;
	wr->bind_mw.bind_info = *info;
}

static void
qp_ex_send_tso(struct ibv_qp_ex *ex, void *header, uint16_t size, uint16_t mss)
{
	(void)header, (void)size, (void)mss;
	SOFT_UNSERVED("ibv_wr_send_tso");
	qp_ex_batch_fail(ex, EOPNOTSUPP);
}

static void
qp_ex_atomic_write(struct ibv_qp_ex *ex, uint32_t rkey, uint64_t address, const void *value)
{
	(void)rkey, (void)address, (void)value;
	SOFT_UNSERVED("ibv_wr_atomic_write");
	qp_ex_batch_fail(ex, EOPNOTSUPP);
}

/* ---- members of the last request ---- */

static void
qp_ex_set_ud_addr(struct ibv_qp_ex *ex, struct ibv_ah *ah, uint32_t qpn, uint32_t qkey)
{
	struct soft_entry *last = qp_ex_batch_of(ex)->last;

	/* In a request of a connection the address of the data has this place. */
	if (!last || ex->qp_base.qp_type != IBV_QPT_UD) {
		qp_ex_batch_fail(ex, EINVAL);
		return;
	}
	last->wr.wr.ud.ah = ah;
	last->wr.wr.ud.remote_qpn = qpn;
	last->wr.wr.ud.remote_qkey = qkey;
}

static void
qp_ex_set_xrc_srqn(struct ibv_qp_ex *ex, uint32_t srqn)
{
	(void)srqn;
	SOFT_UNSERVED("ibv_wr_set_xrc_srqn");
	qp_ex_batch_fail(ex, EOPNOTSUPP);
}

static void
qp_ex_set_sge_list(struct ibv_qp_ex *ex, size_t n, const struct ibv_sge *list)
{
	struct soft_entry *last = qp_ex_batch_of(ex)->last;

	if (!last || n > soft_qp_of(&ex->qp_base)->sq.max_sge) {
		qp_ex_batch_fail(ex, EINVAL);
		return;
	}
	memcpy(last->sge, list, n * sizeof *list);
	last->wr.num_sge = (int)n;
}

static void
qp_ex_set_sge(struct ibv_qp_ex *ex, uint32_t lkey, uint64_t address, uint32_t length)
{
	const struct ibv_sge sge = { .addr = address, .length = length, .lkey = lkey };

	qp_ex_set_sge_list(ex, 1, &sge);
}

static void
qp_ex_set_inline_data_list(struct ibv_qp_ex *ex, size_t n, const struct ibv_data_buf *list)
{
	const uint32_t most = soft_qp_of(&ex->qp_base)->sq.max_inline;
	struct soft_entry *last = qp_ex_batch_of(ex)->last;
	size_t length = 0;

	if (n > SOFT_MAX_INLINE)
		last = NULL; /* so many have more bytes than any queue takes, or are empty */
	for (size_t i = 0; last && i < n; i++) {
		if (list[i].length > most - length) {
			last = NULL;
			break;
		}
		if (list[i].length)
			memcpy((char *)last->sge + length, list[i].addr, list[i].length);
		length += list[i].length;
	}
	if (!last) {
		qp_ex_batch_fail(ex, EINVAL);
		return;
	}
	last->copy = (struct ibv_sge){ .addr = (uintptr_t)last->sge, .length = (uint32_t)length };
	last->wr.sg_list = &last->copy;
	last->wr.num_sge = 1;
	last->wr.send_flags |= IBV_SEND_INLINE;
}

static void
qp_ex_set_inline_data(struct ibv_qp_ex *ex, void *address, size_t length)
{
	const struct ibv_data_buf buffer = { .addr = address, .length = length };

	qp_ex_set_inline_data_list(ex, 1, &buffer);
}

/* ---- a batch ---- */

static void
qp_ex_start(struct ibv_qp_ex *ex)
{
	struct soft_batch *batch = qp_ex_batch_of(ex);

	soft_mutex_lock(&batch->lock);
	batch->count = 0;
	batch->last = NULL;
	batch->error = soft_context_is_stale(soft_qp_of(&ex->qp_base)->context) ? EIO : 0;
}

static void
qp_ex_abort(struct ibv_qp_ex *ex)
{
	soft_mutex_unlock(&qp_ex_batch_of(ex)->lock);
}

static int
qp_ex_complete(struct ibv_qp_ex *ex) SOFT_NO_SEND_LOCK
{
	struct soft_batch *batch = qp_ex_batch_of(ex);
	int r = batch->error;

	/* Also of a batch that the parent had begun. */
	if (soft_context_is_stale(soft_qp_of(&ex->qp_base)->context))
		r = EIO;
	if (!r && batch->count) {
		for (uint32_t i = 1; i < batch->count; i++)
			soft_batch_at(batch, i - 1)->wr.next = &soft_batch_at(batch, i)->wr;
		r = soft_qp_post_whole(&ex->qp_base, &soft_batch_at(batch, 0)->wr);
		if (!r && soft_judge)
			soft_judge->posted(&ex->qp_base, &soft_batch_at(batch, 0)->wr);
	}
	soft_mutex_unlock(&batch->lock);
	return r;
}

/* ---- creation ---- */

static void
qp_ex_set_operations(struct ibv_qp_ex *ex)
{
	ex->wr_atomic_cmp_swp = qp_ex_atomic_cmp_swp;
	ex->wr_atomic_fetch_add = qp_ex_atomic_fetch_add;
	ex->wr_bind_mw = qp_ex_bind_mw;
	ex->wr_local_inv = qp_ex_local_inv;
	ex->wr_rdma_read = qp_ex_rdma_read;
	ex->wr_rdma_write = qp_ex_rdma_write;
	ex->wr_rdma_write_imm = qp_ex_rdma_write_imm;
	ex->wr_send = qp_ex_send;
	ex->wr_send_imm = qp_ex_send_imm;
	ex->wr_send_inv = qp_ex_send_inv;
	ex->wr_send_tso = qp_ex_send_tso;
	ex->wr_set_ud_addr = qp_ex_set_ud_addr;
	ex->wr_set_xrc_srqn = qp_ex_set_xrc_srqn;
	ex->wr_set_inline_data = qp_ex_set_inline_data;
	ex->wr_set_inline_data_list = qp_ex_set_inline_data_list;
	ex->wr_set_sge = qp_ex_set_sge;
	ex->wr_set_sge_list = qp_ex_set_sge_list;
	ex->wr_start = qp_ex_start;
	ex->wr_complete = qp_ex_complete;
	ex->wr_abort = qp_ex_abort;
	ex->wr_atomic_write = qp_ex_atomic_write;
}

static int
qp_ex_add_batch(struct soft_qp *qp, uint64_t operations)
{
	/* The room for inline data is room for the segments, too. */
	qp->batch = soft_batch_create(qp->sq.size, qp->sq.max_inline);
	if (!qp->batch)
		return -ENOMEM;
	qp->batch->operations = operations;
	qp_ex_set_operations(&qp->ex);
	return 0;
}

/* Names what the device does not have: true if there is something. */
static bool
qp_ex_is_unserved(const struct ibv_qp_init_attr_ex *init, uint64_t operations)
{
	bool unserved = init->comp_mask & ~(uint32_t)MASK_KNOWN;

	if (init->comp_mask & IBV_QP_INIT_ATTR_XRCD)
		SOFT_UNSERVED("ibv_create_qp_ex with IBV_QP_INIT_ATTR_XRCD");
	if (init->comp_mask & IBV_QP_INIT_ATTR_MAX_TSO_HEADER)
		SOFT_UNSERVED("ibv_create_qp_ex with IBV_QP_INIT_ATTR_MAX_TSO_HEADER");
	if (init->comp_mask & IBV_QP_INIT_ATTR_IND_TABLE)
		SOFT_UNSERVED("ibv_create_qp_ex with IBV_QP_INIT_ATTR_IND_TABLE");
	if (init->comp_mask & IBV_QP_INIT_ATTR_RX_HASH)
		SOFT_UNSERVED("ibv_create_qp_ex with IBV_QP_INIT_ATTR_RX_HASH");
	if (init->comp_mask & IBV_QP_INIT_ATTR_CREATE_FLAGS && init->create_flags) {
		SOFT_UNSERVED("ibv_create_qp_ex with IBV_QP_INIT_ATTR_CREATE_FLAGS");
		unserved = true;
	}
	if (operations & IBV_QP_EX_WITH_TSO)
		SOFT_UNSERVED("ibv_create_qp_ex with IBV_QP_EX_WITH_TSO");
	if (operations & IBV_QP_EX_WITH_ATOMIC_WRITE)
		SOFT_UNSERVED("ibv_create_qp_ex with IBV_QP_EX_WITH_ATOMIC_WRITE");
	return unserved || operations & ~(uint64_t)OPERATIONS_KNOWN ||
	       (init->qp_type == IBV_QPT_UD && operations & ~(uint64_t)OPERATIONS_OF_DATAGRAMS);
}

struct ibv_qp *
soft_qp_ex_create(struct ibv_context *context, struct ibv_qp_init_attr_ex *init)
{
	SOFT_UNCANCELLED;
	const bool built = init->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
	const uint64_t operations = built ? init->send_ops_flags : 0;
	struct ibv_qp *qp;

	if (qp_ex_is_unserved(init, operations)) {
		errno = EOPNOTSUPP;
		return NULL;
	}
	if (!(init->comp_mask & IBV_QP_INIT_ATTR_PD) || init->pd->context != context) {
		errno = EINVAL;
		return NULL;
	}
	/* The extended structure begins with the members of the plain one. */
	qp = soft_ibv_create_qp(init->pd, (struct ibv_qp_init_attr *)init);
	if (!qp || !built || !qp_ex_add_batch(soft_qp_of(qp), operations))
		return qp;
	soft_ibv_destroy_qp(qp);
	errno = ENOMEM;
	return NULL;
}

struct ibv_qp_ex *
ibv_qp_to_qp_ex(struct ibv_qp *ibv)
{
	struct soft_qp *qp = soft_qp_of(ibv);

	return qp->batch ? &qp->ex : NULL;
}
