/* SPDX-License-Identifier: BSD-3-Clause */
#include "cq_ex.h"
#include "softverbs/device/cancel.h"
#include "softverbs/device/unserved.h"

#include <time.h>

#define STAMPS \
	((uint64_t)(IBV_WC_EX_WITH_COMPLETION_TIMESTAMP | \
		    IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK))
#define FIELDS_KNOWN (IBV_WC_STANDARD_FLAGS | STAMPS)
#define FLAGS_KNOWN (IBV_CREATE_CQ_ATTR_SINGLE_THREADED | IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN)
#define MASK_KNOWN (IBV_CQ_INIT_ATTR_MASK_FLAGS | IBV_CQ_INIT_ATTR_MASK_PD)

static struct soft_cq *
cq_ex_of(struct ibv_cq_ex *cq)
{
	return soft_container_of(cq, struct soft_cq, ex);
}

/* ---- polling ---- */

/* What each call of a poll begins with: 0, or the error of a queue of which nothing is used. */
static int
cq_ex_check_poll(struct soft_cq *cq, const char *call) SOFT_NO_CQ_LOCK
{
	if (cq->judged)
		return soft_judge->polling(cq, call);
	return soft_context_is_stale(soft_context_of(cq->ibv.context)) ? EIO : 0;
}

static int
cq_ex_take(struct soft_cq *cq, bool more) SOFT_NO_CQ_LOCK
{
	const int n = soft_cq_take(cq, more, &cq->current, &cq->current_stamp);

	if (cq->judged)
		soft_judge->polled(cq, n, &cq->current);
	if (n <= 0)
		return n ? -n : ENOENT;
	cq->ex.status = cq->current.status;
	cq->ex.wr_id = cq->current.wr_id;
	return 0;
}

static void
cq_ex_leave(struct soft_cq *cq)
{
	if (!cq->single_threaded)
		soft_mutex_unlock(&cq->polling);
}

static void
cq_ex_end_poll(struct ibv_cq_ex *ex)
{
	struct soft_cq *cq = cq_ex_of(ex);

	if (!cq->judged || !soft_judge->poll_ending(cq))
		cq_ex_leave(cq);
}

static int
cq_ex_start_poll(struct ibv_cq_ex *ex, struct ibv_poll_cq_attr *attr) SOFT_NO_CQ_LOCK
{
	struct soft_cq *cq = cq_ex_of(ex);
	int r;

	if (attr->comp_mask)
		return EINVAL;
	r = cq_ex_check_poll(cq, "ibv_start_poll()");
	if (r)
		return r;
	if (!cq->single_threaded)
		soft_mutex_lock(&cq->polling);
	r = cq_ex_take(cq, false);
	if (r)
		cq_ex_leave(cq); /* the program does not end a poll that did not start */
	return r;
}

static int
cq_ex_next_poll(struct ibv_cq_ex *ex) SOFT_NO_CQ_LOCK
{
	struct soft_cq *cq = cq_ex_of(ex);
	const int r = cq_ex_check_poll(cq, "ibv_next_poll()");

	return r ? r : cq_ex_take(cq, true);
}

/* ---- the fields of the entry that the poll has come to ---- */

#define READ(type, field, member) \
	static type cq_ex_read_##field(struct ibv_cq_ex *ex) \
	{ \
		return (type)cq_ex_of(ex)->current.member; \
	}

READ(enum ibv_wc_opcode, opcode, opcode)
READ(uint32_t, vendor_err, vendor_err)
READ(uint32_t, byte_len, byte_len)
READ(__be32, imm_data, imm_data)
READ(uint32_t, qp_num, qp_num)
READ(uint32_t, src_qp, src_qp)
READ(unsigned int, wc_flags, wc_flags)
READ(uint32_t, slid, slid)
READ(uint8_t, sl, sl)
READ(uint8_t, dlid_path_bits, dlid_path_bits)

static uint64_t
cq_ex_read_completion_ts(struct ibv_cq_ex *ex)
{
	return cq_ex_of(ex)->current_stamp;
}

/* The stamp on the wall clock as it goes now: a completion is read soon after it was added. */
static uint64_t
cq_ex_read_completion_wallclock_ns(struct ibv_cq_ex *ex)
{
	const uint64_t ago = soft_now() - cq_ex_of(ex)->current_stamp;
	struct timespec wall;

	clock_gettime(CLOCK_REALTIME, &wall);
	return (uint64_t)wall.tv_sec * SOFT_SECOND + (uint64_t)wall.tv_nsec - ago;
}

/* No queue has these, but a program may read them without asking first. */
static uint16_t
cq_ex_read_cvlan(struct ibv_cq_ex *ex)
{
	(void)ex;
	SOFT_UNSERVED("ibv_wc_read_cvlan");
	return 0;
}

static uint32_t
cq_ex_read_flow_tag(struct ibv_cq_ex *ex)
{
	(void)ex;
	SOFT_UNSERVED("ibv_wc_read_flow_tag");
	return 0;
}

static void
cq_ex_read_tm_info(struct ibv_cq_ex *ex, struct ibv_wc_tm_info *info)
{
	(void)ex;
	SOFT_UNSERVED("ibv_wc_read_tm_info");
	*info = (struct ibv_wc_tm_info){ .tag = 0 };
}

static void
cq_ex_set_operations(struct ibv_cq_ex *ex)
{
	ex->start_poll = cq_ex_start_poll;
	ex->next_poll = cq_ex_next_poll;
	ex->end_poll = cq_ex_end_poll;
	ex->read_opcode = cq_ex_read_opcode;
	ex->read_vendor_err = cq_ex_read_vendor_err;
	ex->read_byte_len = cq_ex_read_byte_len;
	ex->read_imm_data = cq_ex_read_imm_data;
	ex->read_qp_num = cq_ex_read_qp_num;
	ex->read_src_qp = cq_ex_read_src_qp;
	ex->read_wc_flags = cq_ex_read_wc_flags;
	ex->read_slid = cq_ex_read_slid;
	ex->read_sl = cq_ex_read_sl;
	ex->read_dlid_path_bits = cq_ex_read_dlid_path_bits;
	ex->read_completion_ts = cq_ex_read_completion_ts;
	ex->read_completion_wallclock_ns = cq_ex_read_completion_wallclock_ns;
	ex->read_cvlan = cq_ex_read_cvlan;
	ex->read_flow_tag = cq_ex_read_flow_tag;
	ex->read_tm_info = cq_ex_read_tm_info;
}

/* ---- creation ---- */

/* 0 or an error; what the device does not have is named. */
static int
cq_ex_check(const struct ibv_cq_init_attr_ex *init, uint32_t flags)
{
	if (init->wc_flags & ~(uint64_t)FIELDS_KNOWN) {
		if (init->wc_flags & IBV_WC_EX_WITH_CVLAN)
			SOFT_UNSERVED("ibv_create_cq_ex with IBV_WC_EX_WITH_CVLAN");
		if (init->wc_flags & IBV_WC_EX_WITH_FLOW_TAG)
			SOFT_UNSERVED("ibv_create_cq_ex with IBV_WC_EX_WITH_FLOW_TAG");
		if (init->wc_flags & IBV_WC_EX_WITH_TM_INFO)
			SOFT_UNSERVED("ibv_create_cq_ex with IBV_WC_EX_WITH_TM_INFO");
		return EOPNOTSUPP;
	}
	if (init->comp_mask & ~(uint32_t)MASK_KNOWN || flags & ~(uint32_t)FLAGS_KNOWN)
		return EOPNOTSUPP;
	/* The domain is there for its threads and allocators, which a plain one does not have. */
	if (init->comp_mask & IBV_CQ_INIT_ATTR_MASK_PD &&
	    (!init->parent_domain || !soft_pd_of(init->parent_domain)->parent))
		return EINVAL;
	return 0;
}

struct ibv_cq_ex *
soft_cq_ex_create(struct ibv_context *context, struct ibv_cq_init_attr_ex *init)
{
	SOFT_UNCANCELLED;
	const uint32_t flags = init->comp_mask & IBV_CQ_INIT_ATTR_MASK_FLAGS ? init->flags : 0;
	const int r = cq_ex_check(init, flags);
	struct soft_cq *cq;

	if (r) {
		errno = r;
		return NULL;
	}
	cq = soft_cq_create(context, init, init->wc_flags & STAMPS);
	if (!cq)
		return NULL;
	cq->single_threaded = flags & IBV_CREATE_CQ_ATTR_SINGLE_THREADED;
	cq->ignore_overrun = flags & IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN;
	if (init->comp_mask & IBV_CQ_INIT_ATTR_MASK_PD) {
		cq->domain = soft_pd_of(init->parent_domain);
		cq->domain->users++;
	}
	cq_ex_set_operations(&cq->ex);
	return &cq->ex;
}

int
soft_cq_modify(struct ibv_cq *ibv, struct ibv_modify_cq_attr *attr)
{
	SOFT_UNCANCELLED;

	if (soft_context_is_stale(soft_context_of(ibv->context)))
		return EIO;
	if (!attr->attr_mask)
		return EINVAL;
	if (attr->attr_mask & ~(uint32_t)IBV_CQ_ATTR_MODERATE)
		return EOPNOTSUPP;
	soft_personality_moderate(soft_cq_of(ibv), attr->moderate.cq_count,
	    (uint64_t)attr->moderate.cq_period * SOFT_MICROSECOND);
	return 0;
}
