/* SPDX-License-Identifier: BSD-3-Clause */
#include "dapl/ep/ep_ib.h"

#include <dat2/dat_ib_extensions.h>

#include "dapl/ep/dto.h"

/* Counted from the handle on, operation number included. */
static const struct dapl_dto_args fetch_args = {
	.iov = DAT_INVALID_ARG4,
	.remote = DAT_INVALID_ARG6,
	.flags = DAT_INVALID_ARG7,
};

static const struct dapl_dto_args swap_args = {
	.iov = DAT_INVALID_ARG5,
	.remote = DAT_INVALID_ARG7,
	.flags = DAT_INVALID_ARG8,
};

static const struct dapl_dto_args immed_args = {
	.segments = DAT_INVALID_ARG3,
	.iov = DAT_INVALID_ARG4,
	.remote = DAT_INVALID_ARG6,
	.flags = DAT_INVALID_ARG8,
};

/* Before the arguments are read: with a wrong handle there may be others. */
static DAT_RETURN
ep_ib_check(DAT_EP_HANDLE handle, bool atomic) DAPL_NO_LOCK
{
	struct dapl_ep *ep = dapl_object_lock_handle(handle, DAPL_KIND_EP);
	const struct dapl_ia *ia;
	bool able;

	if (!ep)
		return DAPL_EP_BAD_HANDLE;
	ia = dapl_ia_of(&ep->obj);
	able = atomic ? ia->device.atomic_cap != IBV_ATOMIC_NONE : !dapl_ia_is_iwarp(ia);
	dapl_object_unlock(&ep->obj);
	return able ? DAT_SUCCESS : DAT_ERROR(DAT_MODEL_NOT_SUPPORTED, DAT_NO_SUBTYPE);
}

DAT_RETURN
dapl_ep_ib_fetch_and_add(DAT_EP_HANDLE ep, va_list args)
{
	struct dapl_dto d = { .segments = 1, .operation = DAT_IB_DTO_FETCH_ADD };
	DAT_RETURN ret = ep_ib_check(ep, true);

	if (ret != DAT_SUCCESS)
		return ret;
	d.compare_add = va_arg(args, DAT_UINT64);
	d.iov = va_arg(args, DAT_LMR_TRIPLET *);
	d.cookie = va_arg(args, DAT_DTO_COOKIE);
	d.remote = va_arg(args, DAT_RMR_TRIPLET *);
	d.flags = (DAT_COMPLETION_FLAGS)va_arg(args, int);
	return dapl_dto_post_rdma(ep, &d, &fetch_args);
}

DAT_RETURN
dapl_ep_ib_cmp_and_swap(DAT_EP_HANDLE ep, va_list args)
{
	struct dapl_dto d = { .segments = 1, .operation = DAT_IB_DTO_CMP_SWAP };
	DAT_RETURN ret = ep_ib_check(ep, true);

	if (ret != DAT_SUCCESS)
		return ret;
	d.compare_add = va_arg(args, DAT_UINT64);
	d.swap = va_arg(args, DAT_UINT64);
	d.iov = va_arg(args, DAT_LMR_TRIPLET *);
	d.cookie = va_arg(args, DAT_DTO_COOKIE);
	d.remote = va_arg(args, DAT_RMR_TRIPLET *);
	d.flags = (DAT_COMPLETION_FLAGS)va_arg(args, int);
	return dapl_dto_post_rdma(ep, &d, &swap_args);
}

DAT_RETURN
dapl_ep_ib_rdma_write_immed(DAT_EP_HANDLE ep, va_list args)
{
	struct dapl_dto d = { .operation = DAT_IB_DTO_RDMA_WRITE_IMMED };
	DAT_RETURN ret = ep_ib_check(ep, false);

	if (ret != DAT_SUCCESS)
		return ret;
	d.segments = va_arg(args, DAT_COUNT);
	d.iov = va_arg(args, DAT_LMR_TRIPLET *);
	d.cookie = va_arg(args, DAT_DTO_COOKIE);
	d.remote = va_arg(args, DAT_RMR_TRIPLET *);
	d.immediate = va_arg(args, DAT_UINT32);
	d.flags = (DAT_COMPLETION_FLAGS)va_arg(args, int);
	return dapl_dto_post_rdma(ep, &d, &immed_args);
}

DAT_RETURN
dapl_ep_ib_ud_send(DAT_EP_HANDLE ep, va_list args)
{
	static const struct dapl_dto_args ud_args = {
		.segments = DAT_INVALID_ARG3,
		.iov = DAT_INVALID_ARG4,
		.ah = DAT_INVALID_ARG5,
		.flags = DAT_INVALID_ARG7,
	};
	struct dapl_dto d = { .operation = DAT_IB_DTO_SEND_UD };

	if (!dapl_handle_is(ep, DAPL_KIND_EP))
		return DAPL_EP_BAD_HANDLE;
	d.segments = va_arg(args, DAT_COUNT);
	d.iov = va_arg(args, DAT_LMR_TRIPLET *);
	d.to = va_arg(args, DAT_IB_ADDR_HANDLE *);
	d.cookie = va_arg(args, DAT_DTO_COOKIE);
	d.flags = (DAT_COMPLETION_FLAGS)va_arg(args, int);
	return dapl_dto_post_datagram(ep, &d, &ud_args);
}

/* The locked endpoint, if it is one for datagrams. */
static struct dapl_ep *
ep_ib_lock_datagram(DAT_EP_HANDLE handle, DAT_RETURN *ret)
    TRY_ACQUIRE(dapl_locks.object) DAPL_NO_OBJECT_LOCK
{
	struct dapl_ep *ep = dapl_object_lock_handle(handle, DAPL_KIND_EP);

	if (!ep) {
		*ret = DAPL_EP_BAD_HANDLE;
		return NULL;
	}
	if (dapl_ep_is_datagram(ep))
		return ep;
	*ret = DAT_ERROR(DAT_MODEL_NOT_SUPPORTED, DAT_NO_SUBTYPE);
	dapl_object_unlock(&ep->obj);
	return NULL;
}

/* What the connection manager needed for a lookup was released when its event was posted. */
DAT_RETURN
dapl_ep_ib_ud_cm_free(DAT_EP_HANDLE handle, va_list args)
{
	DAT_RETURN ret;
	struct dapl_ep *ep = ep_ib_lock_datagram(handle, &ret);

	if (!ep)
		return ret;
	dapl_object_unlock(&ep->obj);
	return va_arg(args, void *) ? DAT_SUCCESS :
				      DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3);
}

DAT_RETURN
dapl_ep_ib_ud_ah_free(DAT_EP_HANDLE handle, va_list args)
{
	DAT_RETURN ret;
	struct dapl_ep *ep = ep_ib_lock_datagram(handle, &ret);
	const DAT_IB_ADDR_HANDLE *public;
	struct dapl_ah *ah;

	if (!ep)
		return ret;
	public = va_arg(args, DAT_IB_ADDR_HANDLE *);
	ah = public ? dapl_ah_remove(&ep->ahs, public->ah) : NULL;
	dapl_object_unlock(&ep->obj);
	if (!ah)
		return DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3);
	dapl_ah_free(ah);
	return DAT_SUCCESS;
}
