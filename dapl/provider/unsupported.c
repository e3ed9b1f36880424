/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * unsupported -- the calls of DAT 2.0 that this provider does not have
 *
 * They check the handle first. If this provider has no handles of that kind, every handle is
 * invalid.
 */
#include "dapl/api.h"
#include "dapl/object/handle.h"

static DAT_RETURN
unsupported_call(DAT_HANDLE handle, enum dapl_kind kind, DAT_RETURN_SUBTYPE bad)
{
	return dapl_handle_is(handle, kind) ? DAT_ERROR(DAT_NOT_IMPLEMENTED, DAT_NO_SUBTYPE) :
					      DAT_ERROR(DAT_INVALID_HANDLE, bad);
}

#define NO_SUCH_HANDLE(subtype) DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_##subtype)

DAT_RETURN
dapl_cr_handoff(DAT_CR_HANDLE cr, DAT_CONN_QUAL qual)
{
	(void)qual;
	return unsupported_call(cr, DAPL_KIND_CR, DAT_INVALID_HANDLE_CR);
}

DAT_RETURN
dapl_ep_create_with_srq(DAT_IA_HANDLE ia, DAT_PZ_HANDLE pz, DAT_EVD_HANDLE recv_evd,
    DAT_EVD_HANDLE request_evd, DAT_EVD_HANDLE connect_evd, DAT_SRQ_HANDLE srq,
    const DAT_EP_ATTR *attr, DAT_EP_HANDLE *ep)
{
	(void)pz;
	(void)recv_evd;
	(void)request_evd;
	(void)connect_evd;
	(void)srq;
	(void)attr;
	(void)ep;
	return unsupported_call(ia, DAPL_KIND_IA, DAT_INVALID_HANDLE_IA);
}

DAT_RETURN
dapl_ep_recv_query(DAT_EP_HANDLE ep, DAT_COUNT *allocated, DAT_COUNT *span)
{
	(void)allocated;
	(void)span;
	return unsupported_call(ep, DAPL_KIND_EP, DAT_INVALID_HANDLE_EP);
}

DAT_RETURN
dapl_ep_set_watermark(DAT_EP_HANDLE ep, DAT_COUNT soft, DAT_COUNT hard)
{
	(void)soft;
	(void)hard;
	return unsupported_call(ep, DAPL_KIND_EP, DAT_INVALID_HANDLE_EP);
}

DAT_RETURN
dapl_ep_post_send_with_invalidate(DAT_EP_HANDLE ep, DAT_COUNT segments, DAT_LMR_TRIPLET *iov,
    DAT_DTO_COOKIE cookie, DAT_COMPLETION_FLAGS flags, DAT_BOOLEAN invalidate,
    DAT_RMR_CONTEXT context)
{
	(void)segments;
	(void)iov;
	(void)cookie;
	(void)flags;
	(void)invalidate;
	(void)context;
	return unsupported_call(ep, DAPL_KIND_EP, DAT_INVALID_HANDLE_EP);
}

DAT_RETURN
dapl_ep_post_rdma_read_to_rmr(DAT_EP_HANDLE ep, const DAT_RMR_TRIPLET *local, DAT_DTO_COOKIE cookie,
    const DAT_RMR_TRIPLET *remote, DAT_COMPLETION_FLAGS flags)
{
	(void)local;
	(void)cookie;
	(void)remote;
	(void)flags;
	return unsupported_call(ep, DAPL_KIND_EP, DAT_INVALID_HANDLE_EP);
}

DAT_RETURN
dapl_rmr_create(DAT_PZ_HANDLE pz, DAT_RMR_HANDLE *rmr)
{
	(void)rmr;
	return unsupported_call(pz, DAPL_KIND_PZ, DAT_INVALID_HANDLE_PZ);
}

DAT_RETURN
dapl_rmr_create_for_ep(DAT_PZ_HANDLE pz, DAT_RMR_HANDLE *rmr)
{
	(void)rmr;
	return unsupported_call(pz, DAPL_KIND_PZ, DAT_INVALID_HANDLE_PZ);
}

DAT_RETURN
dapl_rmr_query(DAT_RMR_HANDLE rmr, DAT_RMR_PARAM_MASK mask, DAT_RMR_PARAM *param)
{
	(void)rmr;
	(void)mask;
	(void)param;
	return NO_SUCH_HANDLE(RMR);
}

DAT_RETURN
dapl_rmr_bind(DAT_RMR_HANDLE rmr, DAT_LMR_HANDLE lmr, const DAT_LMR_TRIPLET *range,
    DAT_MEM_PRIV_FLAGS privileges, DAT_VA_TYPE va_type, DAT_EP_HANDLE ep, DAT_RMR_COOKIE cookie,
    DAT_COMPLETION_FLAGS flags, DAT_RMR_CONTEXT *context)
{
	(void)rmr;
	(void)lmr;
	(void)range;
	(void)privileges;
	(void)va_type;
	(void)ep;
	(void)cookie;
	(void)flags;
	(void)context;
	return NO_SUCH_HANDLE(RMR);
}

DAT_RETURN
dapl_rmr_free(DAT_RMR_HANDLE rmr)
{
	(void)rmr;
	return NO_SUCH_HANDLE(RMR);
}

DAT_RETURN
dapl_srq_create(DAT_IA_HANDLE ia, DAT_PZ_HANDLE pz, DAT_SRQ_ATTR *attr, DAT_SRQ_HANDLE *srq)
{
	(void)pz;
	(void)attr;
	(void)srq;
	return unsupported_call(ia, DAPL_KIND_IA, DAT_INVALID_HANDLE_IA);
}

DAT_RETURN
dapl_srq_free(DAT_SRQ_HANDLE srq)
{
	(void)srq;
	return NO_SUCH_HANDLE(SRQ);
}

DAT_RETURN
dapl_srq_post_recv(
    DAT_SRQ_HANDLE srq, DAT_COUNT segments, DAT_LMR_TRIPLET *iov, DAT_DTO_COOKIE cookie)
{
	(void)srq;
	(void)segments;
	(void)iov;
	(void)cookie;
	return NO_SUCH_HANDLE(SRQ);
}

DAT_RETURN
dapl_srq_query(DAT_SRQ_HANDLE srq, DAT_SRQ_PARAM_MASK mask, DAT_SRQ_PARAM *param)
{
	(void)srq;
	(void)mask;
	(void)param;
	return NO_SUCH_HANDLE(SRQ);
}

DAT_RETURN
dapl_srq_resize(DAT_SRQ_HANDLE srq, DAT_COUNT max_recv_dtos)
{
	(void)srq;
	(void)max_recv_dtos;
	return NO_SUCH_HANDLE(SRQ);
}

DAT_RETURN
dapl_srq_set_lw(DAT_SRQ_HANDLE srq, DAT_COUNT low_watermark)
{
	(void)srq;
	(void)low_watermark;
	return NO_SUCH_HANDLE(SRQ);
}

DAT_RETURN
dapl_ia_ha_related(DAT_IA_HANDLE ia, const DAT_NAME_PTR name, DAT_BOOLEAN *answer)
{
	(void)name;
	(void)answer;
	return unsupported_call(ia, DAPL_KIND_IA, DAT_INVALID_HANDLE_IA);
}
