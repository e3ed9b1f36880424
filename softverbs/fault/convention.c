/* SPDX-License-Identifier: BSD-3-Clause */
/* What the calls return that fail, by the table of device/calls.h. */
#include "errors.h"
#include "fault.h"

#include <string.h>

int
soft_fault_of_removal(enum soft_call call)
{
	const char *name = soft_call_name(call);

	switch (call) {
	case SOFT_CALL_ibv_get_cq_event: /* they give the events that there are, first */
	case SOFT_CALL_ibv_get_async_event:
	case SOFT_CALL_rdma_get_cm_event:
	case SOFT_CALL_rdma_get_request:
	case SOFT_CALL_ibv_poll_cq: /* no call of the kernel */
	case SOFT_CALL_ibv_start_poll:
	case SOFT_CALL_ibv_next_poll:
	case SOFT_CALL_ibv_post_send:
	case SOFT_CALL_ibv_post_recv:
	case SOFT_CALL_ibv_post_srq_recv:
	case SOFT_CALL_ibv_req_notify_cq:
	case SOFT_CALL_ibv_read_sysfs_file:
	case SOFT_CALL_ibv_get_device_list: /* without it */
	case SOFT_CALL_rdma_get_devices:
	case SOFT_CALL_rdma_create_id: /* of no device yet */
	case SOFT_CALL_rdma_create_event_channel:
	case SOFT_CALL_rdma_bind_addr:
		return 0;
	default:
		if (strstr(name, "_destroy_") || strstr(name, "_dealloc_") ||
		    strstr(name, "_dereg_") || strstr(name, "_close_"))
			return 0;
		return soft_error_is_allowed(call, EIO)	   ? EIO :
		       soft_error_is_allowed(call, ENODEV) ? ENODEV :
							     0;
	}
}

long
soft_fault_result(enum soft_call call, int error)
{
	switch (soft_calls[call].convention) {
	case SOFT_FAILS_ERROR:
		return error;
	case SOFT_FAILS_NEGATIVE:
		return -error;
	case SOFT_FAILS_REREG:
		return IBV_REREG_MR_ERR_CMD;
	case SOFT_FAILS_MINUS:
	case SOFT_FAILS_NULL:
		break;
	}
	return -1;
}

bool
soft_fault_succeeded(enum soft_call call, long result)
{
	switch (soft_calls[call].convention) {
	case SOFT_FAILS_NULL:
		return result != 0;
	case SOFT_FAILS_ERROR:
	case SOFT_FAILS_REREG:
		return result == 0;
	case SOFT_FAILS_MINUS:
	case SOFT_FAILS_NEGATIVE:
		break;
	}
	return result >= 0;
}
