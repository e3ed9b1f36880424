/* SPDX-License-Identifier: BSD-3-Clause */
/* connect -- the active side of a connection, and its end */
#include "dapl/cm/connect.h"

#include <string.h>

#include "dapl/api.h"
#include "dapl/object/cancel.h"
#include "dapl/ep/lookup.h"
#include "dapl/ia/ia_count.h"
#include "dapl/trace/err.h"

#define RESOLVE_MS 4000
#define RESOLVE_TRIES 15
#define RETRY_COUNT 7 /* the maximum; for "receiver not ready" it means no limit */

static uint8_t
connect_depth(DAT_COUNT ours, uint8_t theirs)
{
	if (ours > UINT8_MAX)
		ours = UINT8_MAX;
	return ours < theirs ? (uint8_t)ours : theirs;
}

void
dapl_connect_param(
    const struct dapl_ep *ep, uint8_t asked_in, uint8_t asked_out, struct rdma_conn_param *param)
{
	*param = (struct rdma_conn_param){
		.responder_resources = connect_depth(ep->attr.max_rdma_read_in, asked_in),
		.initiator_depth = connect_depth(ep->attr.max_rdma_read_out, asked_out),
		.flow_control = 1,
		.retry_count = RETRY_COUNT,
		.rnr_retry_count = RETRY_COUNT,
		.srq = ep->parts.srq != NULL,
	};
}

/* ---- steps, each after the CM's event for the one before ---- */

/* A pinned endpoint that still waits for `conn`, or false. */
static bool
connect_step_enter(struct dapl_ep *ep, const struct dapl_conn *conn) DAPL_NO_LOCK
{
	bool ok;

	dapl_object_lock(&ep->obj);
	ok = dapl_object_is_alive(&ep->obj) && ep->conn == conn &&
	     ep->state == DAT_EP_STATE_ACTIVE_CONNECTION_PENDING;
	if (ok)
		dapl_ep_get_pin(ep);
	dapl_object_unlock(&ep->obj);
	return ok;
}

static void
connect_step_leave(struct dapl_ep *ep, const struct dapl_conn *conn, int failed) DAPL_NO_LOCK
{
	if (failed)
		dapl_ep_happened(ep, conn, DAPL_EP_IS_UNREACHABLE, NULL, 0);
	dapl_ep_put_pin(ep);
}

static int
connect_resolve_address(struct dapl_ep *ep, struct dapl_conn *conn)
{
	struct sockaddr_storage from = dapl_ia_of(&ep->obj)->address;

	dapl_address_set_port(&from, 0);
	return rdma_resolve_addr(
	    conn->id, (struct sockaddr *)&from, (struct sockaddr *)&ep->remote, RESOLVE_MS);
}

void
dapl_connect_address_resolved(struct dapl_ep *ep, struct dapl_conn *conn)
{
	if (connect_step_enter(ep, conn))
		connect_step_leave(ep, conn, rdma_resolve_route(conn->id, RESOLVE_MS));
}

void
dapl_connect_route_resolved(struct dapl_ep *ep, struct dapl_conn *conn)
{
	struct rdma_conn_param param;
	int failed;

	if (!connect_step_enter(ep, conn))
		return;
	dapl_connect_param(ep, UINT8_MAX, UINT8_MAX, &param);
	param.private_data = ep->hello;
	param.private_data_len = ep->hello_size;
	conn->id->qp = ep->qp;
	failed = rdma_connect(conn->id, &param);
	if (!failed)
		dapl_ia_count(dapl_ia_of(&ep->obj), DCNT_IA_CM_REQ_TX);
	connect_step_leave(ep, conn, failed);
}

void
dapl_connect_unresolved(struct dapl_ep *ep, struct dapl_conn *conn, int error)
{
	bool again;

	if (!connect_step_enter(ep, conn))
		return;
	again = error == -ETIMEDOUT && ++ep->retries < RESOLVE_TRIES;
	connect_step_leave(ep, conn, again ? connect_resolve_address(ep, conn) : -1);
}

/* ---- the calls ---- */

/* The arguments of a connect call, checked. */
struct target {
	struct sockaddr_storage address;
	DAT_CONN_QUAL qual;
	DAT_TIMEOUT timeout;
	DAT_COUNT size;
	const void *data;
};

/* DAT_SUCCESS if the endpoint may connect, else the error of the call. */
static DAT_RETURN
connect_may_connect(const struct dapl_ep *ep) REQUIRES(dapl_locks.object)
{
	if (dapl_ep_is_datagram(ep))
		return dapl_lookup_may_start(ep);
	if (!dapl_ep_allows(ep, DAPL_EP_CONNECT))
		return dapl_ep_state_error(ep);
	if (!ep->parts.connect || !ep->qp)
		return DAT_ERROR(DAT_INVALID_STATE, DAT_INVALID_STATE_EP_NOTREADY);
	return DAT_SUCCESS;
}

static void
connect_begin(struct dapl_ep *ep, struct dapl_conn *conn, const struct target *to)
    REQUIRES(dapl_locks.object) NO_CORE_LOCK
{
	dapl_ep_advance(ep, DAPL_EP_CONNECT);
	dapl_counter_grow(&ep->counts.connects, 1);
	ep->conn = conn;
	ep->retries = 0;
	ep->remote = to->address;
	ep->remote_qual = to->qual;
	dapl_address_set_port(&ep->remote, dapl_conn_qual_port(to->qual));
	atomic_store_explicit(&ep->active, true, memory_order_release);
	ep->hello_size = (uint8_t)to->size;
	if (to->size)
		memcpy(ep->hello, to->data, (size_t)to->size);
	if (ep->rings.merged)
		evd_hold_begin(dapl_evd_ref(ep->parts.connect), &ep->rings.hold);
	ep->deadline = UINT64_MAX; /* so that a late timer of an earlier attempt does nothing */
	if (to->timeout != DAT_TIMEOUT_INFINITE) {
		uint64_t ns = (uint64_t)to->timeout * OS_NS_PER_US;

		ep->deadline = os_clock_ns() + ns;
		dapl_ep_set_timer(ep, ns);
	}
	dapl_ep_get_pin(ep);
}

static DAT_RETURN
connect_look_up(struct dapl_ep *ep, const struct target *to) DAPL_NO_LOCK
{
	struct sockaddr_storage address = to->address;
	const struct dapl_lookup_target target = {
		.address = &address,
		.timeout = to->timeout,
		.size = to->size,
		.data = to->data,
	};

	dapl_address_set_port(&address, dapl_conn_qual_port(to->qual));
	return dapl_lookup_start(ep, &target);
}

static DAT_RETURN
connect_to(DAT_EP_HANDLE handle, const struct target *to) DAPL_NO_LOCK
{
	struct dapl_conn *conn = NULL;
	bool datagram;
	DAT_RETURN ret;
	struct dapl_ia *ia;
	struct dapl_ep *ep;
	int r;

	ep = dapl_object_lock_handle(handle, DAPL_KIND_EP);
	if (!ep)
		return DAPL_EP_BAD_HANDLE;
	ret = connect_may_connect(ep);
	ia = dapl_ia_of(&ep->obj);
	datagram = dapl_ep_is_datagram(ep);
	if (ret == DAT_SUCCESS)
		dapl_ep_get_pin(ep);
	dapl_object_unlock(&ep->obj);
	if (ret != DAT_SUCCESS)
		return ret;
	if (datagram) {
		ret = connect_look_up(ep, to);
		dapl_ep_put_pin(ep);
		return ret;
	}

	r = dapl_conn_open(ia, &ep->obj, &conn);
	if (r) {
		dapl_ep_put_pin(ep);
		return dapl_err_resource("dat_ep_connect", r, DAT_RESOURCE_MEMORY);
	}
	dapl_object_lock(&ep->obj);
	ret = dapl_object_is_alive(&ep->obj) ?
		  connect_may_connect(ep) :
		  DAPL_EP_BAD_HANDLE; /* another thread may have been faster */
	if (ret == DAT_SUCCESS)
		connect_begin(ep, conn, to);
	dapl_object_unlock(&ep->obj);
	if (ret != DAT_SUCCESS)
		dapl_conn_close(conn);
	else
		/*
		 * If the attempt cannot even begin, the target is reported as one that does not
		 * answer.
		 */
		connect_step_leave(ep, conn, connect_resolve_address(ep, conn));
	dapl_ep_put_pin(ep);
	return ret;
}

static DAT_RETURN
connect_check_target(const struct target *to, DAT_QOS qos, int first_arg)
{
	const DAT_RETURN_SUBTYPE arg = (DAT_RETURN_SUBTYPE)(DAT_INVALID_ARG1 + first_arg - 1);

	if (to->timeout == 0)
		return DAT_ERROR(DAT_INVALID_PARAMETER, arg);
	if (to->size < 0 || to->size > DAPL_IA_MAX_PRIVATE_DATA)
		return DAT_ERROR(DAT_INVALID_PARAMETER, arg + 1);
	if (to->size > 0 && !to->data)
		return DAT_ERROR(DAT_INVALID_PARAMETER, arg + 2);
	if (qos != DAT_QOS_BEST_EFFORT)
		return DAT_ERROR(DAT_MODEL_NOT_SUPPORTED, DAT_NO_SUBTYPE);
	return DAT_SUCCESS;
}

/* Checks the address that an endpoint connects to, and fills in to->address. */
static DAT_RETURN
connect_check_address(DAT_EP_HANDLE handle, DAT_IA_ADDRESS_PTR address, struct target *to)
{
	if (!dapl_handle_is(handle, DAPL_KIND_EP))
		return DAPL_EP_BAD_HANDLE;
	if (!address)
		return DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2);
	if (dapl_address_copy(&to->address, address) || !dapl_address_is_of_one(&to->address))
		return DAT_ERROR(DAT_INVALID_ADDRESS, DAT_INVALID_ADDRESS_UNSUPPORTED);
	return DAT_SUCCESS;
}

DAT_RETURN
dapl_ep_connect(DAT_EP_HANDLE handle, DAT_IA_ADDRESS_PTR address, DAT_CONN_QUAL qual,
    DAT_TIMEOUT timeout, DAT_COUNT size, const DAT_PVOID data, DAT_QOS qos, DAT_CONNECT_FLAGS flags)
{
	DAPL_UNCANCELLED;
	struct target to = { .qual = qual, .timeout = timeout, .size = size, .data = data };
	DAT_RETURN ret = connect_check_address(handle, address, &to);

	if (ret != DAT_SUCCESS)
		return ret;
	ret = connect_check_target(&to, qos, 4);
	if (ret != DAT_SUCCESS)
		return ret;
	if (flags & DAT_CONNECT_MULTIPATH_REQUIRED_FLAG)
		return DAT_ERROR(DAT_MODEL_NOT_SUPPORTED, DAT_NO_SUBTYPE);
	if (flags & ~(DAT_CONNECT_MULTIPATH_FLAG | DAT_CONNECT_MULTIPATH_REQUIRED_FLAG))
		return DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG8);
	return connect_to(handle, &to);
}

DAT_RETURN
dapl_ep_common_connect(DAT_EP_HANDLE handle, DAT_IA_ADDRESS_PTR address, DAT_TIMEOUT timeout,
    DAT_COUNT size, const DAT_PVOID data)
{
	DAPL_UNCANCELLED;
	struct target to = { .timeout = timeout, .size = size, .data = data };
	DAT_RETURN ret = connect_check_address(handle, address, &to);

	if (ret != DAT_SUCCESS)
		return ret;
	to.qual = dapl_address_port(&to.address);
	if (to.qual == 0)
		return DAT_ERROR(DAT_INVALID_ADDRESS, DAT_INVALID_ADDRESS_MALFORMED);
	ret = connect_check_target(&to, DAT_QOS_BEST_EFFORT, 3);
	return ret == DAT_SUCCESS ? connect_to(handle, &to) : ret;
}

DAT_RETURN
dapl_ep_dup_connect(DAT_EP_HANDLE handle, DAT_EP_HANDLE dup_handle, DAT_TIMEOUT timeout,
    DAT_COUNT size, const DAT_PVOID data, DAT_QOS qos)
{
	DAPL_UNCANCELLED;
	struct target to = { .timeout = timeout, .size = size, .data = data };
	DAT_RETURN ret = DAT_SUCCESS;
	struct dapl_ep *dup;

	if (!dapl_handle_is(handle, DAPL_KIND_EP))
		return DAPL_EP_BAD_HANDLE;
	dup = dapl_object_lock_handle(dup_handle, DAPL_KIND_EP);
	if (!dup)
		return DAPL_EP_BAD_HANDLE;
	if (!dapl_ep_allows(dup, DAPL_EP_MODEL))
		ret = dapl_ep_state_error(dup);
	to.address = dup->remote;
	to.qual = dup->remote_qual;
	dapl_object_unlock(&dup->obj);
	if (ret == DAT_SUCCESS)
		ret = connect_check_target(&to, qos, 3);
	return ret == DAT_SUCCESS ? connect_to(handle, &to) : ret;
}

DAT_RETURN
dapl_ep_disconnect(DAT_EP_HANDLE handle, DAT_CLOSE_FLAGS flags)
{
	DAPL_UNCANCELLED;
	const bool graceful = flags == DAT_CLOSE_GRACEFUL_FLAG;
	struct dapl_ep *ep = dapl_object_lock_handle(handle, DAPL_KIND_EP);
	const struct dapl_ep_answer *answer;
	struct dapl_lookup *ended;
	DAT_RETURN ret = DAT_SUCCESS;

	if (!ep)
		return DAPL_EP_BAD_HANDLE;
	answer = dapl_ep_answer(
	    ep->state, graceful ? DAPL_EP_DISCONNECT_GRACEFUL : DAPL_EP_DISCONNECT_ABRUPT);
	if ((!graceful && flags != DAT_CLOSE_ABRUPT_FLAG) || answer->verdict == DAPL_EP_BAD_FLAG)
		ret = DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2);
	else if (answer->verdict == DAPL_EP_REFUSED)
		ret = dapl_ep_state_error(ep);
	if (ret != DAT_SUCCESS || answer->verdict == DAPL_EP_NOTHING) {
		dapl_object_unlock(&ep->obj);
		return ret;
	}
	dapl_counter_grow(&ep->counts.disconnects, 1);
	ended = dapl_lookups_end(ep);
	if (answer->next == DAT_EP_STATE_DISCONNECT_PENDING &&
	    !dapl_wr_ring_idle(&ep->rings.requests)) {
		/* The timer polls until the posted requests are complete. */
		ep->state = answer->next;
		ep->deadline = UINT64_MAX;
		dapl_ep_set_timer(ep, 0);
		dapl_object_unlock(&ep->obj);
	} else {
		dapl_ep_settle(ep, DAPL_EP_DISCONNECTS, NULL, 0);
	}
	dapl_lookups_close(ended);
	return DAT_SUCCESS;
}
