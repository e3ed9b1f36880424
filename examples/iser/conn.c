/* SPDX-License-Identifier: BSD-3-Clause */
#include "conn.h"

#include "adapter.h"
#include "bell.h"
#include "say.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const char *const conn_states[] = {
	[CONN_IDLE] = "IDLE",
	[CONN_CONNECTING] = "CONNECTING",
	[CONN_LOGIN] = "LOGIN",
	[CONN_READY] = "READY",
	[CONN_LOGOUT] = "LOGOUT",
	[CONN_CLOSING] = "CLOSING",
	[CONN_CLOSED] = "CLOSED",
};

static const char *const conn_events[] = {
	[CONN_START] = "START",
	[CONN_ESTABLISHED] = "ESTABLISHED",
	[CONN_LOGGED_IN] = "LOGGED_IN",
	[CONN_LOGGING_OUT] = "LOGGING_OUT",
	[CONN_CLOSE] = "CLOSE",
	[CONN_GONE] = "GONE",
};

/* Short names, for the table to fit on the page. */
enum {
	IDLE = CONN_IDLE,
	CONNECTING = CONN_CONNECTING,
	LOGIN = CONN_LOGIN,
	READY = CONN_READY,
	LOGOUT = CONN_LOGOUT,
	CLOSING = CONN_CLOSING,
	CLOSED = CONN_CLOSED,
	NEVER = MACHINE_NEVER,
};

/* clang-format off */
static const signed char conn_table[CONN_STATES][CONN_EVENTS] = {
	/*               START       ESTABLISHED LOGGED_IN LOGGING_OUT CLOSE    GONE   */
	[IDLE] =       { CONNECTING, NEVER,      NEVER,    NEVER,      CLOSED,  NEVER  },
	[CONNECTING] = { NEVER,      LOGIN,      NEVER,    NEVER,      CLOSING, CLOSED },
	[LOGIN] =      { NEVER,      NEVER,      READY,    NEVER,      CLOSING, CLOSED },
	[READY] =      { NEVER,      NEVER,      NEVER,    LOGOUT,     CLOSING, CLOSED },
	[LOGOUT] =     { NEVER,      NEVER,      NEVER,    NEVER,      CLOSING, CLOSED },
	[CLOSING] =    { NEVER,      NEVER,      NEVER,    NEVER,      CLOSING, CLOSED },
	[CLOSED] =     { NEVER,      NEVER,      NEVER,    NEVER,      CLOSED,  NEVER  },
};
/* clang-format on */

const struct machine conn_machine = {
	.name = "connection",
	.states = CONN_STATES,
	.events = CONN_EVENTS,
	.state_names = conn_states,
	.event_names = conn_events,
	.next = conn_table[0],
};

/* The kind of work a completion ends, in the upper half of its cookie; the slot is below. */
enum conn_work {
	WORK_RECV = 1,
	WORK_SEND = 2,
	WORK_RDMA = 3,
};

static DAT_DTO_COOKIE
conn_cookie(enum conn_work work, unsigned int slot)
{
	DAT_DTO_COOKIE cookie;

	cookie.as_64 = (DAT_UINT64)work << 32 | slot;
	return cookie;
}

static void
conn_set_state(struct conn *conn, enum conn_state state)
{
	struct bell *bell = conn->adapter->bell; /* CLOSED may free *conn under our feet */

	atomic_store(&conn->state, state);
	bell_ring(bell);
}

static void conn_set_reason(struct conn *conn, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void
conn_set_reason(struct conn *conn, const char *format, ...)
{
	va_list args;

	if (conn->reason[0])
		return;
	va_start(args, format);
	vsnprintf(conn->reason, sizeof conn->reason, format, args);
	va_end(args);
}

/* Issues the disconnect that the step to CLOSING stands for. */
static void
conn_disconnect(struct conn *conn, DAT_CLOSE_FLAGS how)
{
	enum conn_state before = conn_state(conn);
	DAT_RETURN ret;

	if (!conn_step(conn, CONN_CLOSE))
		return;
	if (before == CONN_CLOSING || conn_state(conn) != CONN_CLOSING)
		return;
	ret = dat_ep_disconnect(conn->ep, how);
	if (ret != DAT_SUCCESS)
		say_dat("dat_ep_disconnect", ret, "connection %u cannot be ended", conn->index);
}

void
conn_close(struct conn *conn)
{
	conn->clean = true;
	conn_disconnect(conn, DAT_CLOSE_GRACEFUL_FLAG);
}

void
conn_fail(struct conn *conn, const char *format, ...)
{
	char reason[sizeof conn->reason];
	va_list args;

	va_start(args, format);
	vsnprintf(reason, sizeof reason, format, args);
	va_end(args);
	conn_set_reason(conn, "%s", reason);
	conn->clean = false;
	conn_disconnect(conn, DAT_CLOSE_ABRUPT_FLAG);
}

bool
conn_step(struct conn *conn, enum conn_event event)
{
	enum conn_state state = conn_state(conn);
	int next = machine_next(&conn_machine, state, event);

	if (next == MACHINE_NEVER) {
		conn_set_reason(conn, "%s cannot happen in state %s",
		    machine_event(&conn_machine, event), machine_state(&conn_machine, state));
		say("connection %u: %s", conn->index, conn->reason);
		conn->clean = false;
		return false;
	}
	if ((enum conn_state)next != state)
		conn_set_state(conn, (enum conn_state)next);
	return true;
}

/* What a failed post leads to. */
static bool
conn_posted(struct conn *conn, const char *call, DAT_RETURN ret)
{
	char error[128]; /* conn->reason holds no more */

	if (ret == DAT_SUCCESS)
		return true;
	atomic_fetch_sub(&conn->outstanding, 1);
	conn_fail(conn, "%s() says: %s", call, say_dat_error(ret, error, sizeof error));
	return false;
}

static DAT_RETURN
conn_post_recv_raw(struct conn *conn, unsigned int slot)
{
	DAT_LMR_TRIPLET segment = region_segment(&conn->pdus, (size_t)slot * PDU_BYTES, PDU_BYTES);

	/* Counted first: the completion may be here before the call returns. */
	atomic_fetch_add(&conn->outstanding, 1);
	return dat_ep_post_recv(
	    conn->ep, 1, &segment, conn_cookie(WORK_RECV, slot), DAT_COMPLETION_DEFAULT_FLAG);
}

bool
conn_post_recv(struct conn *conn, unsigned int slot)
{
	return conn_posted(conn, "dat_ep_post_recv", conn_post_recv_raw(conn, slot));
}

bool
conn_send(struct conn *conn, unsigned int slot, const struct pdu *pdu)
{
	size_t offset = ((size_t)conn->shape.recvs + slot) * PDU_BYTES;
	DAT_LMR_TRIPLET segment = region_segment(&conn->pdus, offset, PDU_BYTES);

	pdu_encode(pdu, conn->pdus.base + offset);
	atomic_fetch_add(&conn->outstanding, 1);
	return conn_posted(conn, "dat_ep_post_send",
	    dat_ep_post_send(
		conn->ep, 1, &segment, conn_cookie(WORK_SEND, slot), DAT_COMPLETION_DEFAULT_FLAG));
}

bool
conn_rdma(struct conn *conn, DAT_DTOS operation, unsigned int slot, const struct pdu *command)
{
	size_t offset = (size_t)slot * conn->shape.block_bytes;
	DAT_LMR_TRIPLET local = region_segment(&conn->data, offset, command->length);
	DAT_RMR_TRIPLET remote = {
		.virtual_address = command->remote_address,
		.segment_length = command->length,
		.rmr_context = command->remote_context,
	};

	atomic_fetch_add(&conn->outstanding, 1);
	if (operation == DAT_DTO_RDMA_READ)
		return conn_posted(conn, "dat_ep_post_rdma_read",
		    dat_ep_post_rdma_read(conn->ep, 1, &local, conn_cookie(WORK_RDMA, slot),
			&remote, DAT_COMPLETION_DEFAULT_FLAG));
	return conn_posted(conn, "dat_ep_post_rdma_write",
	    dat_ep_post_rdma_write(conn->ep, 1, &local, conn_cookie(WORK_RDMA, slot), &remote,
		DAT_COMPLETION_DEFAULT_FLAG));
}

void *
conn_buffer(struct conn *conn, unsigned int slot)
{
	return conn->data.base + (size_t)slot * conn->shape.block_bytes;
}

static void
conn_completion(struct conn *conn, const DAT_DTO_COMPLETION_EVENT_DATA *dto)
{
	enum conn_work work = (enum conn_work)(dto->user_cookie.as_64 >> 32);
	unsigned int slot = (unsigned int)(dto->user_cookie.as_64 & UINT32_MAX);
	enum pdu_status status;
	struct pdu pdu;

	if (dto->status != DAT_DTO_SUCCESS) {
		/* Flushed is how work ends with its connection; anything else is the reason. */
		if (dto->status != DAT_DTO_ERR_FLUSHED)
			conn_fail(conn, "a %s completed with %s",
			    work == WORK_RECV ? "receive" :
			    work == WORK_SEND ? "send" :
						"RDMA operation",
			    say_dto_status(dto->status));
	} else if (conn_state(conn) >= CONN_CLOSING) {
		/* Done before the end, of no use after it. */
	} else if (work == WORK_RECV) {
		status = pdu_decode(
		    &pdu, conn->pdus.base + (size_t)slot * PDU_BYTES, dto->transfered_length);
		conn->ops->received(conn, slot, status, &pdu);
	} else if (work == WORK_SEND) {
		conn->ops->sent(conn, slot);
	} else {
		conn->ops->moved(conn, slot);
	}
	/* Last: when it reads 0 and the state is CLOSED, the main thread may free everything. */
	if (atomic_fetch_sub(&conn->outstanding, 1) == 1)
		bell_ring(conn->adapter->bell);
}

static void
conn_gone(struct conn *conn, const DAT_EVENT *event)
{
	const DAT_CONNECTION_EVENT_DATA *data = &event->event_data.connect_event_data;
	enum conn_state state = conn_state(conn);
	struct hello hello;

	if (event->event_number == DAT_CONNECTION_EVENT_PEER_REJECTED &&
	    data->private_data_size > 0 &&
	    hello_decode(&hello, data->private_data, (size_t)data->private_data_size) == PDU_OK)
		conn_set_reason(conn, "refused by the target: %s", pdu_status_text(hello.status));
	else if (state == CONN_CONNECTING)
		conn_set_reason(conn, "no connection: %s", say_event_name(event->event_number));
	else if (!conn->clean)
		conn_set_reason(conn, "the peer ended the connection (%s) in state %s",
		    say_event_name(event->event_number), machine_state(&conn_machine, state));
	if (event->event_number != DAT_CONNECTION_EVENT_DISCONNECTED)
		conn->clean = false;
	if (machine_next(&conn_machine, state, CONN_GONE) != CONN_CLOSED) {
		conn_step(conn, CONN_GONE); /* reports that it cannot happen */
		return;
	}
	/* The side looks at it first: once the state is CLOSED the main thread may free it. */
	conn->ops->closed(conn);
	conn_step(conn, CONN_GONE);
}

/* The connection's upcall: one event. */
static void
conn_event(void *context, const DAT_EVENT *event)
{
	struct conn *conn = context;

	switch (event->event_number) {
	case DAT_DTO_COMPLETION_EVENT:
		conn_completion(conn, &event->event_data.dto_completion_event_data);
		break;
	case DAT_SOFTWARE_EVENT:
		conn->ops->ordered(conn, event->event_data.software_event_data.pointer);
		break;
	case DAT_CONNECTION_EVENT_ESTABLISHED:
		conn->was_established = true;
		if (conn_state(conn) == CONN_CLOSING)
			break; /* given up before it came about */
		if (conn_step(conn, CONN_ESTABLISHED))
			conn->ops->established(conn);
		break;
	case DAT_CONNECTION_EVENT_PEER_REJECTED:
	case DAT_CONNECTION_EVENT_NON_PEER_REJECTED:
	case DAT_CONNECTION_EVENT_ACCEPT_COMPLETION_ERROR:
	case DAT_CONNECTION_EVENT_DISCONNECTED:
	case DAT_CONNECTION_EVENT_BROKEN:
	case DAT_CONNECTION_EVENT_TIMED_OUT:
	case DAT_CONNECTION_EVENT_UNREACHABLE:
		conn_gone(conn, event);
		break;
	default:
		conn_fail(
		    conn, "event 0x%x is no connection event", (unsigned int)event->event_number);
	}
}

static DAT_COUNT
min_count(DAT_COUNT a, DAT_COUNT b)
{
	return a < b ? a : b;
}

static DAT_RETURN
conn_create_ep(struct conn *conn)
{
	const DAT_IA_ATTR *limits = &conn->adapter->attr;
	DAT_COUNT reads = (DAT_COUNT)conn->shape.sends;
	DAT_EP_ATTR attr = {
		.service_type = DAT_SERVICE_TYPE_RC,
		.max_message_size = PDU_BYTES,
		.max_rdma_size = conn->shape.block_bytes,
		.qos = DAT_QOS_BEST_EFFORT,
		.recv_completion_flags = DAT_COMPLETION_DEFAULT_FLAG,
		.request_completion_flags = DAT_COMPLETION_DEFAULT_FLAG,
		.max_recv_dtos = (DAT_COUNT)conn->shape.recvs,
		.max_request_dtos = (DAT_COUNT)conn->shape.requests,
		.max_recv_iov = 1,
		.max_request_iov = 1,
		.max_rdma_read_in = min_count(reads, limits->max_rdma_read_per_ep_in),
		.max_rdma_read_out = min_count(reads, limits->max_rdma_read_per_ep_out),
		.srq_soft_hw = DAT_HW_DEFAULT,
		.max_rdma_read_iov = 1,
		.max_rdma_write_iov = 1,
	};

	return dat_ep_create(conn->adapter->ia, conn->adapter->pz, conn->watch.evd, conn->watch.evd,
	    conn->watch.evd, &attr, &conn->ep);
}

DAT_RETURN
conn_create(struct conn *conn, struct adapter *adapter, const struct conn_ops *ops, void *owner,
    unsigned int index, const struct conn_shape *shape, const char **ret_call)
{
	size_t slots = (size_t)shape->recvs + shape->sends;
	/* All posted work may complete before one event is taken; orders and connection events
	 * come on top. */
	DAT_COUNT qlen = (DAT_COUNT)(shape->recvs + shape->requests) + 8;
	struct tally unused = { .upcalls = 0 };
	DAT_RETURN ret;

	memset(conn, 0, sizeof *conn);
	conn->adapter = adapter;
	conn->ops = ops;
	conn->owner = owner;
	conn->index = index;
	conn->shape = *shape;
	conn->ep = DAT_HANDLE_NULL;

	*ret_call = "dat_lmr_create";
	ret = region_create(&conn->pdus, adapter->ia, adapter->pz, slots * PDU_BYTES,
	    DAT_MEM_PRIV_LOCAL_READ_FLAG | DAT_MEM_PRIV_LOCAL_WRITE_FLAG);
	if (ret != DAT_SUCCESS)
		return ret;
	ret = region_create(&conn->data, adapter->ia, adapter->pz,
	    (size_t)shape->sends * shape->block_bytes, shape->data_privileges);
	if (ret != DAT_SUCCESS)
		goto free_pdus;
	*ret_call = "dat_evd_kcreate";
	ret = watch_open(&conn->watch, adapter->ia, qlen,
	    DAT_EVD_DTO_FLAG | DAT_EVD_CONNECTION_FLAG | DAT_EVD_SOFTWARE_FLAG, conn_event, conn);
	if (ret != DAT_SUCCESS)
		goto free_data;
	*ret_call = "dat_ep_create";
	ret = conn_create_ep(conn);
	if (ret != DAT_SUCCESS)
		goto close_watch;
	*ret_call = "dat_ep_post_recv";
	for (unsigned int slot = 0; slot < shape->recvs; slot++) {
		ret = conn_post_recv_raw(conn, slot);
		if (ret != DAT_SUCCESS)
			goto free_ep;
	}
	return DAT_SUCCESS;

free_ep:
	dat_ep_free(conn->ep);
close_watch:
	watch_close(&conn->watch, &unused);
free_data:
	region_free(&conn->data);
free_pdus:
	region_free(&conn->pdus);
	return ret;
}

static int
conn_freed(struct conn *conn, const char *call, DAT_RETURN ret)
{
	if (ret == DAT_SUCCESS)
		return 0;
	say_dat(call, ret, "connection %u was not freed", conn->index);
	return 1;
}

int
conn_free(struct conn *conn)
{
	int failures = 0;

	watch_stop(&conn->watch);
	failures += conn_freed(conn, "dat_ep_free", dat_ep_free(conn->ep));
	failures += watch_close(&conn->watch, &conn->adapter->tally);
	failures += conn_freed(conn, "dat_lmr_free", region_free(&conn->data));
	failures += conn_freed(conn, "dat_lmr_free", region_free(&conn->pdus));
	return failures;
}

DAT_RETURN
conn_connect(struct conn *conn, DAT_IA_ADDRESS_PTR address, DAT_CONN_QUAL qual, DAT_TIMEOUT timeout,
    const struct hello *hello)
{
	unsigned char wire[HELLO_BYTES];
	DAT_RETURN ret;

	hello_encode(hello, wire);
	conn_step(conn, CONN_START);
	ret = dat_ep_connect(conn->ep, address, qual, timeout, HELLO_BYTES, wire,
	    DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG);
	if (ret != DAT_SUCCESS)
		conn_set_state(conn, CONN_CLOSED);
	return ret;
}

DAT_RETURN
conn_accept(struct conn *conn, DAT_CR_HANDLE cr)
{
	DAT_RETURN ret;

	conn_step(conn, CONN_START);
	ret = dat_cr_accept(cr, conn->ep, 0, NULL);
	if (ret != DAT_SUCCESS)
		conn_set_state(conn, CONN_CLOSED);
	return ret;
}

int
conn_order(struct conn *conn, void *order)
{
	DAT_EVENT event = { .event_number = DAT_SOFTWARE_EVENT };
	DAT_RETURN ret;

	event.event_data.software_event_data.pointer = order;
	ret = dat_evd_post_se(conn->watch.evd, &event);
	if (ret != DAT_SUCCESS) {
		say_dat(
		    "dat_evd_post_se", ret, "connection %u does not take the order", conn->index);
		return -1;
	}
	return 0;
}

bool
conn_is_finished(struct conn *conn)
{
	enum conn_state state = conn_state(conn);

	if (state == CONN_IDLE)
		return true;
	if (state != CONN_CLOSED)
		return false;
	/* An endpoint that never was connected need not flush its receives. */
	return !conn->was_established || atomic_load(&conn->outstanding) == 0;
}
