/* SPDX-License-Identifier: BSD-3-Clause */
/* ep_dto -- the calls of DAT that post data transfers */
#include "dapl/api.h"
#include "dapl/ep/dto.h"
#include "dapl/ep/rmr.h"

static const struct dapl_dto_args message_args = {
	.segments = DAT_INVALID_ARG2,
	.iov = DAT_INVALID_ARG3,
	.flags = DAT_INVALID_ARG5,
};

static const struct dapl_dto_args rdma_args = {
	.segments = DAT_INVALID_ARG2,
	.iov = DAT_INVALID_ARG3,
	.remote = DAT_INVALID_ARG5,
	.flags = DAT_INVALID_ARG6,
};

DAT_RETURN
dapl_ep_post_recv(DAT_EP_HANDLE handle, DAT_COUNT segments, DAT_LMR_TRIPLET *iov,
    DAT_DTO_COOKIE cookie, DAT_COMPLETION_FLAGS flags)
{
	const struct dapl_dto d = {
		.segments = segments,
		.iov = iov,
		.cookie = cookie,
		.flags = flags,
		.operation = DAT_DTO_RECEIVE,
	};
	struct dapl_ep *ep;
	DAT_RETURN ret;

	ep = dapl_dto_lock(handle, DAPL_EP_RECV, &ret);
	if (!ep)
		return ret;
	ret = dapl_dto_check(&d, ep->attr.max_recv_iov, &message_args);
	if (ret == DAT_SUCCESS)
		ret = dapl_dto_post_recv(ep, &d);
	dapl_object_unlock(&ep->obj);
	return ret;
}

DAT_RETURN
dapl_ep_post_send(DAT_EP_HANDLE handle, DAT_COUNT segments, DAT_LMR_TRIPLET *iov,
    DAT_DTO_COOKIE cookie, DAT_COMPLETION_FLAGS flags)
{
	const struct dapl_dto d = {
		.segments = segments,
		.iov = iov,
		.cookie = cookie,
		.flags = flags,
		.operation = DAT_DTO_SEND,
	};
	struct dapl_ep *ep;
	DAT_RETURN ret;

	ep = dapl_dto_lock(handle, DAPL_EP_REQUEST, &ret);
	if (!ep)
		return ret;
	ret = dapl_dto_check(&d, ep->attr.max_request_iov, &message_args);
	if (ret == DAT_SUCCESS)
		ret = dapl_dto_post_request(ep, &d, UINT64_MAX);
	dapl_object_unlock(&ep->obj);
	return ret;
}

DAT_RETURN
dapl_ep_post_rdma_write(DAT_EP_HANDLE handle, DAT_COUNT segments, DAT_LMR_TRIPLET *iov,
    DAT_DTO_COOKIE cookie, const DAT_RMR_TRIPLET *remote, DAT_COMPLETION_FLAGS flags)
{
	const struct dapl_dto d = {
		.segments = segments,
		.iov = iov,
		.cookie = cookie,
		.flags = flags,
		.operation = DAT_DTO_RDMA_WRITE,
		.remote = remote,
	};

	return dapl_dto_post_rdma(handle, &d, &rdma_args);
}

DAT_RETURN
dapl_ep_post_rdma_read(DAT_EP_HANDLE handle, DAT_COUNT segments, DAT_LMR_TRIPLET *iov,
    DAT_DTO_COOKIE cookie, const DAT_RMR_TRIPLET *remote, DAT_COMPLETION_FLAGS flags)
{
	const struct dapl_dto d = {
		.segments = segments,
		.iov = iov,
		.cookie = cookie,
		.flags = flags,
		.operation = DAT_DTO_RDMA_READ,
		.remote = remote,
	};

	return dapl_dto_post_rdma(handle, &d, &rdma_args);
}

/* The device invalidates the region only after the message has arrived. */
DAT_RETURN
dapl_ep_post_send_with_invalidate(DAT_EP_HANDLE handle, DAT_COUNT segments, DAT_LMR_TRIPLET *iov,
    DAT_DTO_COOKIE cookie, DAT_COMPLETION_FLAGS flags, DAT_BOOLEAN invalidate,
    DAT_RMR_CONTEXT context)
{
	const struct dapl_dto d = {
		.segments = segments,
		.iov = iov,
		.cookie = cookie,
		.flags = flags,
		.operation = DAT_DTO_SEND,
		.invalidates = invalidate != DAT_FALSE,
		.region = context,
	};
	struct dapl_ep *ep;
	DAT_RETURN ret;

	ep = dapl_dto_lock(handle, DAPL_EP_REQUEST, &ret);
	if (!ep)
		return ret;
	ret = dapl_dto_check(&d, ep->attr.max_request_iov, &message_args);
	if (ret == DAT_SUCCESS && d.invalidates && !dapl_ia_can_invalidate(dapl_ia_of(&ep->obj)))
		ret = DAT_ERROR(DAT_MODEL_NOT_SUPPORTED, DAT_NO_SUBTYPE);
	if (ret == DAT_SUCCESS)
		ret = dapl_dto_post_request(ep, &d, UINT64_MAX);
	dapl_object_unlock(&ep->obj);
	return ret;
}

/*
 * InfiniBand reads into local regions only.  The memory under a bound region is one: the read is
 * posted with the context of the region below.
 */
DAT_RETURN
dapl_ep_post_rdma_read_to_rmr(DAT_EP_HANDLE handle, const DAT_RMR_TRIPLET *local,
    DAT_DTO_COOKIE cookie, const DAT_RMR_TRIPLET *remote, DAT_COMPLETION_FLAGS flags)
{
	static const struct dapl_dto_args args = {
		.iov = DAT_INVALID_ARG2,
		.remote = DAT_INVALID_ARG4,
		.flags = DAT_INVALID_ARG5,
	};
	DAT_LMR_TRIPLET iov;
	const struct dapl_dto d = {
		.segments = 1,
		.iov = local ? &iov : NULL,
		.cookie = cookie,
		.flags = flags,
		.operation = DAT_DTO_RDMA_READ,
		.remote = remote,
	};
	struct dapl_rmr_user user;
	struct dapl_ep *ep;
	struct dapl_ia *ia;
	DAT_RETURN ret;

	ep = dapl_dto_lock(handle, DAPL_EP_REQUEST, &ret);
	if (!ep)
		return ret;
	ia = dapl_ia_of(&ep->obj);
	user = (struct dapl_rmr_user){
		.pz = ep->parts.pz, .slot = ep->obj.slot.index, .generation = dapl_ep_generation(ep)
	};
	dapl_parent_get(&ia->parent); /* the endpoint may be freed meanwhile, but not its adapter */
	dapl_object_unlock(&ep->obj);
	if (local)
		ret = dapl_rmr_resolve(ia, &user, local, &iov);
	else
		ret = DAT_SUCCESS;
	dapl_parent_put(&ia->parent);
	if (ret != DAT_SUCCESS)
		return ret;
	return dapl_dto_post_rdma(handle, &d, &args);
}
