/* SPDX-License-Identifier: BSD-3-Clause */
#include "dapl/trace/err.h"

#include <errno.h>

#include "dapl/state/device_errno.h"
#include "dapl/trace/shortage.h"

/*
 * Something of the process or the host that this error is about.  DAT has no name for descriptors.
 */
static DAT_RETURN
err_shortage(const char *call, int error)
{
	const bool descriptor = error == -EMFILE || error == -ENFILE;

	dapl_shortage_explain(call, error);
	return DAT_ERROR(
	    DAT_INSUFFICIENT_RESOURCES, descriptor ? DAT_NO_SUBTYPE : DAT_RESOURCE_MEMORY);
}

DAT_RETURN
dapl_err_resource(const char *call, int error, DAT_RETURN_SUBTYPE resource)
{
	switch (-error) {
	case ENOMEM:
	case EAGAIN:
	case EMFILE:
	case ENFILE:
		return err_shortage(call, error);
	case ENOSPC:
		return DAT_ERROR(DAT_INSUFFICIENT_RESOURCES, resource);
	case EPERM:
	case EACCES:
		return DAT_ERROR(DAT_PRIVILEGES_VIOLATION, DAT_NO_SUBTYPE);
	case ENODEV:
		return DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_IA);
	default:
		return DAT_ERROR(DAT_INTERNAL_ERROR, DAT_NO_SUBTYPE);
	}
}

DAT_RETURN
dapl_err_ia_open(int error)
{
	switch (-error) {
	case ENOENT: /* the name leads to no address */
	case EADDRNOTAVAIL:
	case EAFNOSUPPORT:
	case ENETDOWN:
	case ENODEV: /* no RDMA device has the address */
		return DAT_ERROR(DAT_INVALID_ADDRESS, DAT_INVALID_ADDRESS_UNSUPPORTED);
	case EINVAL: /* unreadable parameters */
		return DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG1);
	default:
		return dapl_err_resource(NULL, error, DAT_RESOURCE_DEVICE);
	}
}

DAT_RETURN
dapl_err_listen(const char *call, int error)
{
	switch (-error) {
	case EADDRINUSE:
	case EADDRNOTAVAIL: /* another program has the port, at the wildcard address */
		return DAT_ERROR(DAT_CONN_QUAL_IN_USE, DAT_NO_SUBTYPE);
	case EACCES:
	case EPERM:
		return DAT_ERROR(DAT_CONN_QUAL_UNAVAILABLE, DAT_NO_SUBTYPE);
	default:
		return dapl_err_resource(call, error, DAT_RESOURCE_MEMORY);
	}
}

DAT_RETURN
dapl_err_listen_any(int error)
{
	const DAT_RETURN ret = dapl_err_listen("dat_psp_create_any", error);

	return DAT_GET_TYPE(ret) == DAT_CONN_QUAL_IN_USE ?
		   DAT_ERROR(DAT_CONN_QUAL_UNAVAILABLE, DAT_NO_SUBTYPE) :
		   ret;
}

DAT_RETURN
dapl_err_listen_at(int error)
{
	const DAT_RETURN ret = dapl_err_listen("dat_csp_create", error);

	return DAT_GET_TYPE(ret) == DAT_CONN_QUAL_IN_USE ?
		   DAT_ERROR(DAT_PORT_IN_USE, DAT_NO_SUBTYPE) :
		   ret;
}

DAT_RETURN
dapl_err_register(int error)
{
	switch (-error) {
	case EFAULT:
		return DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3);
	default:
		return dapl_err_perhaps("dat_lmr_create", error, DAT_RESOURCE_MEMORY_REGION);
	}
}

DAT_RETURN
dapl_err_perhaps(const char *call, int error, DAT_RETURN_SUBTYPE resource)
{
	if (error == -EOPNOTSUPP)
		return DAT_ERROR(DAT_MODEL_NOT_SUPPORTED, DAT_NO_SUBTYPE);
	return dapl_err_resource(call, error, resource);
}

DAT_RETURN
dapl_err_query(bool known, const void *param)
{
	if (!known)
		return DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2);
	if (!param)
		return DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3);
	return DAT_SUCCESS;
}

DAT_RETURN
dapl_err_free(int error, DAT_RETURN_SUBTYPE in_use, DAT_RETURN_SUBTYPE handle)
{
	switch (error) {
	case 0:
		return DAT_SUCCESS;
	case -EBUSY:
		return DAT_ERROR(DAT_INVALID_STATE, in_use);
	default:
		return DAT_ERROR(DAT_INVALID_HANDLE, handle);
	}
}

DAT_RETURN
dapl_err_post(const char *device_call, int result)
{
	const int error = result < 0 ? errno : result;
	const struct dapl_device_errno *known = dapl_device_errno_find(device_call, error);

	switch (known ? known->meaning : 0) {
	case DAPL_MEANS_QUEUE_FULL:
		return DAT_ERROR(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_MEMORY);
	case EMSGSIZE:
		return DAT_ERROR(DAT_LENGTH_ERROR, DAT_NO_SUBTYPE);
	case DAPL_MEANS_WRONG_REQUEST:
		return DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3);
	default:
		(void)dapl_shortage_of_result(device_call, result);
		return DAT_ERROR(DAT_INTERNAL_ERROR, DAT_NO_SUBTYPE);
	}
}

DAT_RETURN
dapl_err_evd_wait(int error, bool on_cq)
{
	switch (-error) {
	case 0:
		return DAT_SUCCESS;
	case ETIMEDOUT:
		return on_cq ? (DAT_RETURN)DAT_TIMEOUT_EXPIRED :
			       DAT_ERROR(DAT_TIMEOUT_EXPIRED, DAT_NO_SUBTYPE);
	case EBUSY:
	case EACCES:
	case EOVERFLOW:
		return DAT_ERROR(DAT_INVALID_STATE, DAT_NO_SUBTYPE);
	case EPERM:
		return DAT_ERROR(DAT_INVALID_STATE, DAT_INVALID_STATE_EVD_UNWAITABLE);
	case ECANCELED:
		return DAT_ERROR(DAT_ABORT, DAT_NO_SUBTYPE);
	case EINTR:
		return DAT_ERROR(DAT_INTERRUPTED_CALL, DAT_NO_SUBTYPE);
	case ENODEV:
		return DAT_ERROR(DAT_INVALID_HANDLE, DAT_NO_SUBTYPE);
	case EINVAL:
		return DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3);
	case ENOMEM:
	case EMFILE:
	case ENFILE:
		return err_shortage("dat_evd_wait", error);
	default:
		return DAT_ERROR(DAT_INTERNAL_ERROR, DAT_NO_SUBTYPE);
	}
}

DAT_RETURN
dapl_err_evd_dequeue(int error, bool on_cq)
{
	switch (-error) {
	case 0:
		return DAT_SUCCESS;
	case EAGAIN:
		return on_cq ? (DAT_RETURN)DAT_QUEUE_EMPTY :
			       DAT_ERROR(DAT_QUEUE_EMPTY, DAT_NO_SUBTYPE);
	case EBUSY:
	case EOVERFLOW:
		return DAT_ERROR(DAT_INVALID_STATE, DAT_NO_SUBTYPE);
	case ENODEV:
		return DAT_ERROR(DAT_INVALID_HANDLE, DAT_NO_SUBTYPE);
	default:
		return DAT_ERROR(DAT_INTERNAL_ERROR, DAT_NO_SUBTYPE);
	}
}

DAT_RETURN
dapl_err_evd_resize(int error)
{
	switch (-error) {
	case 0:
		return DAT_SUCCESS;
	case EBUSY:
		return DAT_ERROR(DAT_INVALID_STATE, DAT_INVALID_STATE_EVD_WAITER);
	case EAGAIN:
	case EOVERFLOW:
		return DAT_ERROR(DAT_INVALID_STATE, DAT_NO_SUBTYPE);
	case ENODEV:
		return DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE1);
	default:
		return dapl_err_resource("dat_evd_resize", error, DAT_RESOURCE_MEMORY);
	}
}

DAT_RETURN
dapl_err_evd_modify_upcall(const char *call, int error)
{
	switch (-error) {
	case 0:
		return DAT_SUCCESS;
	case EAGAIN:
		return DAT_ERROR(DAT_INVALID_STATE, DAT_NO_SUBTYPE);
	case EBUSY:
		return DAT_ERROR(DAT_INVALID_STATE, DAT_INVALID_STATE_EVD_WAITER);
	case EINVAL:
		return DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2);
	case EFAULT:
		return DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3);
	case ERANGE:
		return DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG4);
	case ENODEV:
		return DAT_ERROR(DAT_INVALID_HANDLE, DAT_NO_SUBTYPE);
	case ENOMEM:
	case EMFILE:
	case ENFILE:
		return err_shortage(call, error);
	case EOVERFLOW: /* not INVALID_STATE: "dequeue and try again" would never end */
	default:
		return DAT_ERROR(DAT_INTERNAL_ERROR, DAT_NO_SUBTYPE);
	}
}

DAT_RETURN
dapl_err_cno_wait(int error)
{
	switch (-error) {
	case 0:
	case ECANCELED: /* the last EVD, or the CNO itself, went: a null EVD is the answer */
		return DAT_SUCCESS;
	case ETIMEDOUT:
		return (DAT_RETURN)DAT_QUEUE_EMPTY;
	case EINTR:
		return DAT_ERROR(DAT_INTERRUPTED_CALL, DAT_NO_SUBTYPE);
	case ENODEV:
		return DAT_ERROR(DAT_INVALID_STATE, DAT_INVALID_STATE_CNO_DEAD);
	case ENOMEM:
	case EMFILE:
	case ENFILE:
		return err_shortage("dat_cno_wait", error);
	default:
		return DAT_ERROR(DAT_INTERNAL_ERROR, DAT_NO_SUBTYPE);
	}
}

DAT_RETURN
dapl_err_cno_trigger(int error)
{
	switch (-error) {
	case 0:
		return DAT_SUCCESS;
	case EAGAIN:
		return (DAT_RETURN)DAT_QUEUE_EMPTY;
	case EINVAL: /* it was not made by dat_cno_fd_create() */
		return DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG1);
	default:
		return DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_CNO);
	}
}
