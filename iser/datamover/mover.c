/* SPDX-License-Identifier: BSD-3-Clause */
#include "iser/datamover/mover.h"

#include "iser/datamover/adapter.h"
#include "iser/datamover/bell.h"
#include "iser/say.h"

#include <dat2/dat_ib_extensions.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const mover_states[] = {
	[MOVER_IDLE] = "IDLE",
	[MOVER_CONNECTING] = "CONNECTING",
	[MOVER_UP] = "UP",
	[MOVER_CLOSING] = "CLOSING",
	[MOVER_CLOSED] = "CLOSED",
};

static const char *const mover_events[] = {
	[MOVER_START] = "START",
	[MOVER_ESTABLISHED] = "ESTABLISHED",
	[MOVER_CLOSE] = "CLOSE",
	[MOVER_GONE] = "GONE",
};

/* Short names, for the table to fit on the page. */
enum {
	IDLE = MOVER_IDLE,
	CONNECTING = MOVER_CONNECTING,
	UP = MOVER_UP,
	CLOSING = MOVER_CLOSING,
	CLOSED = MOVER_CLOSED,
	NEVER = MACHINE_NEVER,
};

/* clang-format off */
static const signed char mover_table[MOVER_STATES][MOVER_EVENTS] = {
	/*               START       ESTABLISHED CLOSE    GONE   */
	[IDLE] =       { CONNECTING, NEVER,      CLOSED,  NEVER  },
	[CONNECTING] = { NEVER,      UP,         CLOSING, CLOSED },
	[UP] =         { NEVER,      NEVER,      CLOSING, CLOSED },
	[CLOSING] =    { NEVER,      NEVER,      CLOSING, CLOSED },
	[CLOSED] =     { NEVER,      NEVER,      CLOSED,  NEVER  },
};
/* clang-format on */

const struct machine mover_machine = {
	.name = "connection",
	.states = MOVER_STATES,
	.events = MOVER_EVENTS,
	.state_names = mover_states,
	.event_names = mover_events,
	.next = mover_table[0],
};

static void
set_state(struct mover *mover, enum mover_state state)
{
	struct bell *bell = mover->adapter->bell; /* CLOSED may free *mover under our feet */

	atomic_store(&mover->state, state);
	bell_ring(bell);
}

static void set_reason(struct mover *mover, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void
set_reason(struct mover *mover, const char *format, ...)
{
	va_list args;

	if (mover->reason[0])
		return;
	va_start(args, format);
	vsnprintf(mover->reason, sizeof mover->reason, format, args);
	va_end(args);
}

static bool
step(struct mover *mover, enum mover_event event)
{
	enum mover_state state = mover_state(mover);
	int next = machine_next(&mover_machine, state, event);

	if (next == MACHINE_NEVER) {
		set_reason(mover, "%s cannot happen in state %s",
		    machine_event(&mover_machine, event), machine_state(&mover_machine, state));
		say("connection %u: %s", mover->index, mover->reason);
		mover->clean = false;
		return false;
	}
	if ((enum mover_state)next != state)
		set_state(mover, (enum mover_state)next);
	return true;
}

static void
disconnect(struct mover *mover, DAT_CLOSE_FLAGS how)
{
	enum mover_state before = mover_state(mover);
	DAT_RETURN ret;

	if (!step(mover, MOVER_CLOSE) || mover_state(mover) != MOVER_CLOSING)
		return;
	/* What is graceful may last as long as the peer likes: an abrupt one may follow. */
	if (before == MOVER_CLOSING && (mover->abrupt || how != DAT_CLOSE_ABRUPT_FLAG))
		return;
	mover->abrupt = how == DAT_CLOSE_ABRUPT_FLAG;
	ret = dat_ep_disconnect(mover->ep, how);
	if (ret != DAT_SUCCESS)
		say_dat("dat_ep_disconnect", ret, "connection %u cannot be ended", mover->index);
}

void
mover_close(struct mover *mover)
{
	mover->clean = true;
	disconnect(mover, DAT_CLOSE_GRACEFUL_FLAG);
}

void
mover_fail(struct mover *mover, const char *format, ...)
{
	char reason[sizeof mover->reason];
	va_list args;

	va_start(args, format);
	vsnprintf(reason, sizeof reason, format, args);
	va_end(args);
	set_reason(mover, "%s", reason);
	mover->clean = false;
	disconnect(mover, DAT_CLOSE_ABRUPT_FLAG);
}

void
mover_hold(struct mover *mover)
{
	atomic_fetch_add(&mover->outstanding, 1);
}

void
mover_release(struct mover *mover)
{
	struct bell *bell = mover->adapter->bell;

	/* Last: when it reads 0 and the state is CLOSED, the main thread may free everything. */
	if (atomic_fetch_sub(&mover->outstanding, 1) == 1)
		bell_ring(bell);
}

/* What a failed post leads to. */
static bool
posted(struct mover *mover, const char *call, DAT_RETURN ret)
{
	char error[128]; /* mover->reason holds no more */

	if (ret == DAT_SUCCESS)
		return true;
	atomic_fetch_sub(&mover->outstanding, 1);
	mover_fail(mover, "%s() says: %s", call, say_dat_error(ret, error, sizeof error));
	return false;
}

static DAT_DTO_COOKIE
cookie_of(struct mover_work *work)
{
	return (DAT_DTO_COOKIE){ .as_ptr = work };
}

/* ---- receives and sends ---- */

static size_t
recv_stride(const struct mover *mover)
{
	return ISER_HEADER_BYTES + ISCSI_BHS_BYTES + mover->shape.recv_bytes;
}

static size_t
send_offset(const struct mover *mover, unsigned int send)
{
	const struct mover_shape *shape = &mover->shape;
	const size_t heads = ISER_HEADER_BYTES + ISCSI_BHS_BYTES;
	size_t offset = shape->recvs * recv_stride(mover);

	if (send < shape->sends)
		return offset + send * (heads + shape->send_bytes);
	return offset + shape->sends * (heads + shape->send_bytes) +
	       (send - shape->sends) * (heads + shape->long_bytes);
}

static DAT_RETURN
post_recv(struct mover *mover, unsigned int slot)
{
	size_t bytes = recv_stride(mover);
	DAT_LMR_TRIPLET segment = region_segment(&mover->memory, slot * bytes, bytes);

	/* Counted first: the completion may be here before the call returns. */
	mover_hold(mover);
	return dat_ep_post_recv(
	    mover->ep, 1, &segment, cookie_of(&mover->works[slot]), DAT_COMPLETION_DEFAULT_FLAG);
}

bool
mover_post_recv(struct mover *mover, unsigned int slot)
{
	/* Every receive that is posted is to be flushed before the end. */
	if (mover_state(mover) >= MOVER_CLOSING)
		return false;
	return posted(mover, "dat_ep_post_recv", post_recv(mover, slot));
}

unsigned char *
mover_recv_pdu(struct mover *mover, unsigned int slot)
{
	return mover->memory.base + slot * recv_stride(mover) + ISER_HEADER_BYTES;
}

unsigned char *
mover_send_buffer(struct mover *mover, size_t data_bytes, unsigned int *ret_slot)
{
	const struct mover_shape *shape = &mover->shape;
	unsigned char *bhs;

	if (data_bytes <= shape->send_bytes && mover->free_count > 0)
		*ret_slot = mover->free_sends[--mover->free_count];
	else if (data_bytes > shape->send_bytes && data_bytes <= shape->long_bytes &&
		 mover->free_long_count > 0)
		*ret_slot = mover->free_long[--mover->free_long_count];
	else
		return NULL;
	bhs = mover->memory.base + send_offset(mover, *ret_slot) + ISER_HEADER_BYTES;
	memset(bhs, 0, ISCSI_BHS_BYTES);
	return bhs;
}

static void
send_put_back(struct mover *mover, unsigned int slot)
{
	if (slot < mover->shape.sends)
		mover->free_sends[mover->free_count++] = slot;
	else
		mover->free_long[mover->free_long_count++] = slot;
}

bool
mover_send(struct mover *mover, unsigned int slot, size_t data_bytes,
    const struct iser_header *header, void *owner)
{
	static const struct iser_header none;
	struct mover_work *work = &mover->works[mover->shape.recvs + slot];
	size_t offset = send_offset(mover, slot);
	DAT_LMR_TRIPLET segment = region_segment(
	    &mover->memory, offset, ISER_HEADER_BYTES + ISCSI_BHS_BYTES + data_bytes);

	/* Nothing can be sent, which is no error: what was sent before is still on its way. */
	if (mover_state(mover) >= MOVER_CLOSING) {
		send_put_back(mover, slot);
		return false;
	}
	iser_header_encode(header ? header : &none, mover->memory.base + offset);
	work->owner = owner;
	mover_hold(mover);
	return posted(mover, "dat_ep_post_send",
	    dat_ep_post_send(mover->ep, 1, &segment, cookie_of(work), DAT_COMPLETION_DEFAULT_FLAG));
}

/* ---- data ---- */

static DAT_RMR_TRIPLET
remote_segment(uint32_t bytes, uint32_t stag, uint64_t address)
{
	return (DAT_RMR_TRIPLET){
		.virtual_address = address,
		.segment_length = bytes,
		.rmr_context = stag,
	};
}

bool
mover_put(struct mover *mover, struct mover_work *work, const struct pool_piece *piece, uint32_t at,
    uint32_t bytes, uint32_t stag, uint64_t address)
{
	DAT_LMR_TRIPLET local = region_segment(&mover->pool->region, piece->offset + at, bytes);
	DAT_RMR_TRIPLET remote = remote_segment(bytes, stag, address);

	bool quiet = !work->owner;

	if (mover_state(mover) >= MOVER_CLOSING)
		return false;
	work->kind = quiet ? MOVER_QUIET : MOVER_MOVE;
	mover_hold(mover);
	if (!posted(mover, "dat_ep_post_rdma_write",
		dat_ep_post_rdma_write(mover->ep, 1, &local, cookie_of(work), &remote,
		    quiet ? DAT_COMPLETION_SUPPRESS_FLAG : DAT_COMPLETION_DEFAULT_FLAG)))
		return false;
	if (quiet)
		mover_release(mover);
	return true;
}

bool
mover_get(struct mover *mover, struct mover_work *work, const struct pool_piece *piece, uint32_t at,
    uint32_t bytes, uint32_t stag, uint64_t address)
{
	DAT_LMR_TRIPLET local = region_segment(&mover->pool->region, piece->offset + at, bytes);
	DAT_RMR_TRIPLET remote = remote_segment(bytes, stag, address);

	if (mover_state(mover) >= MOVER_CLOSING)
		return false;
	work->kind = MOVER_MOVE;
	mover_hold(mover);
	return posted(mover, "dat_ep_post_rdma_read",
	    dat_ep_post_rdma_read(
		mover->ep, 1, &local, cookie_of(work), &remote, DAT_COMPLETION_DEFAULT_FLAG));
}

/* ---- events ---- */

static void
arrived(struct mover *mover, unsigned int slot, size_t length)
{
	unsigned char *wire = mover->memory.base + slot * recv_stride(mover);
	struct iser_header header;

	if (!iser_header_decode(wire, length, &header)) {
		mover_fail(mover, "%zu bytes that arrived are no control-type PDU", length);
		return;
	}
	if (length < ISER_HEADER_BYTES + ISCSI_BHS_BYTES) {
		mover_fail(mover, "a PDU of %zu bytes is too short", length);
		return;
	}
	mover->ops->control(
	    mover, slot, &header, wire + ISER_HEADER_BYTES, length - ISER_HEADER_BYTES);
}

static void
completed(struct mover *mover, const DAT_DTO_COMPLETION_EVENT_DATA *dto)
{
	static const char *const kinds[] = { "receive", "send", "RDMA operation", "RDMA write" };
	struct mover_work *work = dto->user_cookie.as_ptr;

	if (work->kind == MOVER_SEND) {
		send_put_back(mover, work->slot);
		mover->sent++;
	}
	if (dto->status != DAT_DTO_SUCCESS) {
		/* Flushed is how work ends with its connection; anything else is the reason. */
		if (dto->status != DAT_DTO_ERR_FLUSHED)
			mover_fail(mover, "a %s completed with %s", kinds[work->kind],
			    say_dto_status(dto->status));
	} else if (mover_state(mover) >= MOVER_CLOSING) {
		/* Done before the end, of no use after it. */
	} else if (work->kind == MOVER_RECV) {
		arrived(mover, work->slot, dto->transfered_length);
	} else if (work->owner) {
		if (work->kind == MOVER_SEND)
			mover->ops->sent(mover, work->owner);
		else
			mover->ops->moved(mover, work->owner);
	}
	if (work->kind != MOVER_QUIET)
		mover_release(mover);
}

static void
gone(struct mover *mover, const DAT_EVENT *event)
{
	enum mover_state state = mover_state(mover);

	if (state == MOVER_CONNECTING)
		set_reason(mover, "no connection: %s", say_event_name(event->event_number));
	else if (!mover->clean)
		set_reason(mover, "the peer ended the connection (%s)",
		    say_event_name(event->event_number));
	if (event->event_number != DAT_CONNECTION_EVENT_DISCONNECTED)
		mover->clean = false;
	if (machine_next(&mover_machine, state, MOVER_GONE) != MOVER_CLOSED) {
		step(mover, MOVER_GONE); /* reports that it cannot happen */
		return;
	}
	/* The side looks at it first: once the state is CLOSED the main thread may free it. */
	mover->ops->closed(mover);
	step(mover, MOVER_GONE);
}

static void
take_orders(struct mover *mover)
{
	struct mover_order *order, *next;

	/* With the lock: a thread that posts has then left mover_post() before it may be freed. */
	pthread_mutex_lock(&mover->lock);
	order = mover->orders;
	mover->orders = NULL;
	mover->orders_end = &mover->orders;
	pthread_mutex_unlock(&mover->lock);
	for (; order; order = next) {
		next = order->next;
		mover->ops->ordered(mover, order);
		mover_release(mover);
	}
}

/* The connection's upcall: one event. */
static void
mover_event(void *context, const DAT_EVENT *event)
{
	struct mover *mover = context;

	switch (event->event_number) {
	case DAT_DTO_COMPLETION_EVENT:
		completed(mover, &event->event_data.dto_completion_event_data);
		break;
	case DAT_IB_DTO_EVENT:
		/* It has taken a receive, which is counted as any other. */
		mover_fail(mover, "the peer sends immediate data, which iSER has not");
		completed(mover, &event->event_data.dto_completion_event_data);
		break;
	case DAT_SOFTWARE_EVENT:
		take_orders(mover);
		break;
	case DAT_CONNECTION_EVENT_ESTABLISHED:
		mover->was_established = true;
		if (mover_state(mover) == MOVER_CLOSING)
			break; /* given up before it came about */
		if (step(mover, MOVER_ESTABLISHED))
			mover->ops->established(mover);
		break;
	case DAT_CONNECTION_EVENT_PEER_REJECTED:
	case DAT_CONNECTION_EVENT_NON_PEER_REJECTED:
	case DAT_CONNECTION_EVENT_ACCEPT_COMPLETION_ERROR:
	case DAT_CONNECTION_EVENT_DISCONNECTED:
	case DAT_CONNECTION_EVENT_BROKEN:
	case DAT_CONNECTION_EVENT_TIMED_OUT:
	case DAT_CONNECTION_EVENT_UNREACHABLE:
		gone(mover, event);
		break;
	default:
		mover_fail(
		    mover, "event 0x%x is no connection event", (unsigned int)event->event_number);
	}
}

void
mover_post(struct mover *mover, struct mover_order *order)
{
	DAT_EVENT event = { .event_number = DAT_SOFTWARE_EVENT };
	DAT_RETURN ret = DAT_SUCCESS;
	bool first;

	order->next = NULL;
	mover_hold(mover);
	pthread_mutex_lock(&mover->lock);
	first = !mover->orders;
	*mover->orders_end = order;
	mover->orders_end = &order->next;
	/* One event for all orders that are there when its upcall takes them. */
	if (first)
		ret = dat_evd_post_se(mover->watch.evd, &event);
	if (ret != DAT_SUCCESS)
		say_dat("dat_evd_post_se", ret, "connection %u takes no orders", mover->index);
	pthread_mutex_unlock(&mover->lock);
}

/* ---- life ---- */

static DAT_COUNT
min_count(DAT_COUNT a, DAT_COUNT b)
{
	return a < b ? a : b;
}

static DAT_RETURN
create_ep(struct mover *mover, unsigned int sends)
{
	const DAT_IA_ATTR *limits = &mover->adapter->attr;
	const struct mover_shape *shape = &mover->shape;
	DAT_COUNT reads = (DAT_COUNT)shape->moves;
	uint32_t longest =
	    shape->recv_bytes > shape->long_bytes ? shape->recv_bytes : shape->long_bytes;
	DAT_EP_ATTR attr = {
		.service_type = DAT_SERVICE_TYPE_RC,
		.max_message_size = ISER_HEADER_BYTES + ISCSI_BHS_BYTES + longest,
		.max_rdma_size = shape->move_bytes,
		.qos = DAT_QOS_BEST_EFFORT,
		.recv_completion_flags = DAT_COMPLETION_DEFAULT_FLAG,
		.request_completion_flags = DAT_COMPLETION_DEFAULT_FLAG,
		.max_recv_dtos = (DAT_COUNT)shape->recvs,
		.max_request_dtos = (DAT_COUNT)(sends + shape->moves),
		.max_recv_iov = 1,
		.max_request_iov = 1,
		.max_rdma_read_in = min_count(reads, limits->max_rdma_read_per_ep_in),
		.max_rdma_read_out = min_count(reads, limits->max_rdma_read_per_ep_out),
		.srq_soft_hw = DAT_HW_DEFAULT,
		.max_rdma_read_iov = 1,
		.max_rdma_write_iov = 1,
	};

	return dat_ep_create(mover->adapter->ia, mover->adapter->pz, mover->watch.evd,
	    mover->watch.evd, mover->watch.evd, &attr, &mover->ep);
}

static bool
alloc_works(struct mover *mover, unsigned int sends)
{
	const struct mover_shape *shape = &mover->shape;

	mover->works = calloc(shape->recvs + sends, sizeof *mover->works);
	mover->free_sends = calloc(sends, sizeof *mover->free_sends);
	if (!mover->works || !mover->free_sends)
		return false;
	mover->free_long = mover->free_sends + shape->sends;
	for (unsigned int i = 0; i < shape->recvs; i++)
		mover->works[i] = (struct mover_work){ .kind = MOVER_RECV, .slot = i };
	for (unsigned int i = sends; i-- > 0;) {
		mover->works[shape->recvs + i] =
		    (struct mover_work){ .kind = MOVER_SEND, .slot = i };
		send_put_back(mover, i);
	}
	return true;
}

DAT_RETURN
mover_create(struct mover *mover, struct adapter *adapter, struct pool *pool,
    const struct mover_ops *ops, unsigned int index, const struct mover_shape *shape,
    const char **ret_call)
{
	unsigned int sends = shape->sends + shape->long_sends;
	/* All posted work may complete before one event is taken; a few others come on top. */
	DAT_COUNT qlen = (DAT_COUNT)(shape->recvs + sends + shape->moves) + 8;
	struct tally unused = { .upcalls = 0 };
	DAT_RETURN ret = DAT_ERROR(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_MEMORY);

	memset(mover, 0, sizeof *mover);
	mover->adapter = adapter;
	mover->pool = pool;
	mover->ops = ops;
	mover->index = index;
	mover->shape = *shape;
	mover->ep = DAT_HANDLE_NULL;
	mover->orders_end = &mover->orders;

	*ret_call = "calloc";
	if (!alloc_works(mover, sends))
		goto free_works;
	*ret_call = "dat_lmr_create";
	ret = region_create(&mover->memory, adapter->ia, adapter->pz, send_offset(mover, sends),
	    DAT_MEM_PRIV_LOCAL_READ_FLAG | DAT_MEM_PRIV_LOCAL_WRITE_FLAG);
	if (ret != DAT_SUCCESS)
		goto free_works;
	pthread_mutex_init(&mover->lock, NULL);
	*ret_call = "dat_evd_kcreate";
	ret = watch_open(&mover->watch, adapter->ia, qlen,
	    DAT_EVD_DTO_FLAG | DAT_EVD_CONNECTION_FLAG | DAT_EVD_SOFTWARE_FLAG, mover_event, mover);
	if (ret != DAT_SUCCESS)
		goto free_memory;
	*ret_call = "dat_ep_create";
	ret = create_ep(mover, sends);
	if (ret != DAT_SUCCESS)
		goto close_watch;
	*ret_call = "dat_ep_post_recv";
	for (unsigned int slot = 0; slot < shape->recvs; slot++) {
		ret = post_recv(mover, slot);
		if (ret != DAT_SUCCESS)
			goto free_ep;
	}
	return DAT_SUCCESS;

free_ep:
	dat_ep_free(mover->ep);
close_watch:
	watch_close(&mover->watch, &unused);
free_memory:
	pthread_mutex_destroy(&mover->lock);
	region_free(&mover->memory);
free_works:
	free(mover->works);
	free(mover->free_sends);
	return ret;
}

static int
freed(struct mover *mover, const char *call, DAT_RETURN ret)
{
	if (ret == DAT_SUCCESS)
		return 0;
	say_dat(call, ret, "connection %u was not freed", mover->index);
	return 1;
}

int
mover_free(struct mover *mover)
{
	int failures = 0;

	watch_stop(&mover->watch);
	failures += freed(mover, "dat_ep_free", dat_ep_free(mover->ep));
	failures += watch_close(&mover->watch, &mover->adapter->tally);
	failures += freed(mover, "dat_lmr_free", region_free(&mover->memory));
	pthread_mutex_destroy(&mover->lock);
	free(mover->works);
	free(mover->free_sends);
	return failures;
}

bool
mover_is_sending(const struct mover *mover)
{
	return mover->free_count < mover->shape.sends ||
	       mover->free_long_count < mover->shape.long_sends;
}

DAT_RETURN
mover_connect(
    struct mover *mover, DAT_IA_ADDRESS_PTR address, DAT_CONN_QUAL qual, DAT_TIMEOUT timeout)
{
	unsigned char wire[ISER_CM_BYTES];
	DAT_RETURN ret;

	iser_cm_encode(wire);
	step(mover, MOVER_START);
	ret = dat_ep_connect(mover->ep, address, qual, timeout, ISER_CM_BYTES, wire,
	    DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG);
	if (ret != DAT_SUCCESS)
		set_state(mover, MOVER_CLOSED);
	return ret;
}

DAT_RETURN
mover_accept(struct mover *mover, DAT_CR_HANDLE cr)
{
	unsigned char wire[ISER_CM_BYTES];
	DAT_RETURN ret;

	iser_cm_encode(wire);
	step(mover, MOVER_START);
	ret = dat_cr_accept(cr, mover->ep, ISER_CM_BYTES, wire);
	if (ret != DAT_SUCCESS)
		set_state(mover, MOVER_CLOSED);
	return ret;
}

bool
mover_drain(struct mover *mover)
{
	const bool stuck = atomic_load(&mover->watch.drain.stuck);

	if (stuck)
		drain_by_hand(&mover->watch.drain, mover->watch.evd);
	return stuck;
}

bool
mover_is_finished(struct mover *mover)
{
	enum mover_state state = mover_state(mover);

	if (state == MOVER_IDLE)
		return true;
	if (state != MOVER_CLOSED)
		return false;
	/* An endpoint that never was connected need not flush its receives. */
	return !mover->was_established || atomic_load(&mover->outstanding) == 0;
}
