/* SPDX-License-Identifier: BSD-3-Clause */
/* ep_dto -- posts transfers, and checks their completions */
#include <string.h>

#include "actor.h"
#include "adapter.h"
#include "call.h"
#include "clock.h"
#include "ep.h"
#include "evd.h"
#include "options.h"
#include "report.h"

#define SILENT_MOST \
	6 /* suppressed requests in a row: only a later completion shows that they are done */

/* A message, in the sender's slot and in the receiver's. */
struct message {
	uint64_t sender;
	uint32_t generation;
	uint32_t number; /* of the sends of this generation, from 1 */
	uint64_t check;
};

static struct transfers *
of_direction(struct ep *ep, unsigned int direction)
{
	return direction ? &ep->requests : &ep->receives;
}

static char *
slot(const struct ep *ep, unsigned int direction, uint32_t number)
{
	char *arena = adapter_of(ep->life.home)->arena;

	return arena + EP_COMMON_BYTES + ep->place * EP_BUFFER_BYTES +
	       (direction * STREAM_RING + number % STREAM_RING) * EP_SLOT;
}

static void
compose(struct message *message, const struct ep *ep, uint32_t number)
{
	*message = (struct message){
		.sender = atomic_load(&ep->life.serial),
		.generation = ep->generation,
		.number = number,
	};
	message->check = message->sender * 31 + message->generation * 7 + message->number;
}

static DAT_LMR_TRIPLET
segment(const struct ep *ep, const void *memory, DAT_SEG_LENGTH length)
{
	return (DAT_LMR_TRIPLET){
		.virtual_address = (uintptr_t)memory,
		.segment_length = length,
		.lmr_context = adapter_of(ep->life.home)->lmr_context,
	};
}

/* ---- posting ---- */

/* Locked.  A post returned.  It does not count if the endpoint was reset meanwhile. */
static void
posted(struct ep *ep, struct transfers *transfers, struct record *record, DAT_RETURN ret)
{
	const bool accepted = ret == DAT_SUCCESS;

	if (record->generation != ep->generation && record->state != RECORD_EXCUSED)
		record->state = RECORD_EXCUSED;
	if (!stream_end(&transfers->stream, record, accepted, clock_stamp()))
		report_wrong(&ep->life, NULL, "a transfer completed, but its post returned %s",
		    dat_name(ret));
	if (!accepted || record->generation != ep->generation)
		return;
	transfers->accepted++;
	transfers->sends += record->operation == DAT_DTO_SEND;
	transfers->silent = record->silent ? transfers->silent + 1 : 0;
}

/* Receives are released one by one, so there is room for `depth` of them. */
static void
judge_no_room(struct ep *ep, DAT_RETURN ret, unsigned int outstanding)
{
	if (DAT_GET_SUBTYPE(ret) == DAT_RESOURCE_MEMORY && outstanding < (unsigned int)ep->depth &&
	    !ep->fuzzy)
		report_wrong(&ep->life, &ep->recv->life,
		    "dat_ep_post_recv returned %s with %u receives outstanding of %d",
		    dat_name(ret), outstanding, (int)ep->depth);
}

DAT_RETURN
ep_post_receive(struct ep *ep)
{
	struct transfers *receives = &ep->receives;
	DAT_LMR_TRIPLET local;
	unsigned int outstanding;
	struct record *record;
	struct call call;
	DAT_RETURN ret;

	pthread_mutex_lock(&ep->life.lock);
	outstanding = stream_possible(&receives->stream);
	record = stream_begin(&receives->stream);
	if (!record) {
		pthread_mutex_unlock(&ep->life.lock);
		return DAT_ERROR(DAT_INSUFFICIENT_RESOURCES, DAT_NO_SUBTYPE);
	}
	record->generation = ep->generation;
	record->operation = DAT_DTO_RECEIVE;
	record->index = receives->accepted + 1;
	local = segment(ep, slot(ep, 0, record->number), EP_SLOT);
	pthread_mutex_unlock(&ep->life.lock);

	call_begin(&call, CALL_EP_POST_RECV, &ep->life, NULL, record->number);
	ret =
	    call_end(&call, dat_ep_post_recv(atomic_load(&ep->life.handle), 1, &local,
				take_mark_dto(ep, 0, record->number), DAT_COMPLETION_DEFAULT_FLAG));
	pthread_mutex_lock(&ep->life.lock);
	if (dat_is(ret, DAT_INVALID_STATE))
		report_wrong(&ep->life, NULL, "dat_ep_post_recv returned %s", dat_name(ret));
	if (dat_is(ret, DAT_INSUFFICIENT_RESOURCES))
		judge_no_room(ep, ret, outstanding);
	posted(ep, receives, record, ret);
	pthread_mutex_unlock(&ep->life.lock);
	return ret;
}

static DAT_COMPLETION_FLAGS
some_flags(const struct ep *ep)
{
	unsigned int flags = 0;

	if (chance(30) && ep->requests.silent < SILENT_MOST)
		flags |= DAT_COMPLETION_SUPPRESS_FLAG;
	if (chance(10))
		flags |= DAT_COMPLETION_BARRIER_FENCE_FLAG;
	if (options.group[GROUP_FLAGS] && chance(20))
		flags |= DAT_COMPLETION_UNSIGNALLED_FLAG;
	if (options.group[GROUP_FLAGS] && chance(30))
		flags |= DAT_COMPLETION_SOLICITED_WAIT_FLAG;
	return (DAT_COMPLETION_FLAGS)flags;
}

/* Locked.  Chooses the kind of the request and fills in its record. */
static DAT_COMPLETION_FLAGS
describe(struct ep *ep, struct record *record)
{
	const DAT_COMPLETION_FLAGS flags = some_flags(ep);

	record->generation = ep->generation;
	record->operation = DAT_DTO_SEND;
	/* The other end of a fuzzy endpoint is not known. */
	if (ep->mate.known && !ep->fuzzy && chance(30))
		record->operation = chance(50) ? DAT_DTO_RDMA_WRITE : DAT_DTO_RDMA_READ;
	record->index = record->operation == DAT_DTO_SEND ? ep->requests.sends + 1 : 0;
	record->silent = flags & DAT_COMPLETION_SUPPRESS_FLAG;
	record->unsignalled =
	    (flags & DAT_COMPLETION_UNSIGNALLED_FLAG) ||
	    ep->request_flags != adapter_of(ep->life.home)->ep_attr.request_completion_flags;
	record->solicited = flags & DAT_COMPLETION_SOLICITED_WAIT_FLAG;
	return flags;
}

DAT_RETURN
ep_post_request(struct ep *ep)
{
	const DAT_EP_HANDLE handle = atomic_load(&ep->life.handle);
	struct transfers *requests = &ep->requests;
	DAT_COMPLETION_FLAGS flags;
	struct record *record;
	DAT_LMR_TRIPLET local;
	DAT_RMR_TRIPLET remote;
	DAT_DTO_COOKIE cookie;
	struct call call;
	DAT_RETURN ret;

	pthread_mutex_lock(&ep->life.lock);
	record = stream_begin(&requests->stream);
	if (!record) {
		pthread_mutex_unlock(&ep->life.lock);
		return DAT_ERROR(DAT_INSUFFICIENT_RESOURCES, DAT_NO_SUBTYPE);
	}
	flags = describe(ep, record);
	compose((struct message *)slot(ep, 1, record->number), ep, record->index);
	local = segment(ep, slot(ep, 1, record->number), EP_SLOT);
	remote = (DAT_RMR_TRIPLET){
		.virtual_address = record->operation == DAT_DTO_RDMA_WRITE ?
				       ep->mate.write_address :
				       ep->mate.read_address,
		.segment_length = EP_SLOT,
		.rmr_context = ep->mate.context,
	};
	cookie = take_mark_dto(ep, 1, record->number);
	pthread_mutex_unlock(&ep->life.lock);

	if (record->operation == DAT_DTO_SEND) {
		call_begin(&call, CALL_EP_POST_SEND, &ep->life, NULL,
		    (uint64_t)flags << 32 | record->number);
		ret = call_end(&call, dat_ep_post_send(handle, 1, &local, cookie, flags));
	} else if (record->operation == DAT_DTO_RDMA_WRITE) {
		call_begin(&call, CALL_EP_POST_WRITE, &ep->life, NULL,
		    (uint64_t)flags << 32 | record->number);
		ret = call_end(
		    &call, dat_ep_post_rdma_write(handle, 1, &local, cookie, &remote, flags));
	} else {
		call_begin(&call, CALL_EP_POST_READ, &ep->life, NULL,
		    (uint64_t)flags << 32 | record->number);
		ret = call_end(
		    &call, dat_ep_post_rdma_read(handle, 1, &local, cookie, &remote, flags));
	}
	pthread_mutex_lock(&ep->life.lock);
	posted(ep, requests, record, ret);
	pthread_mutex_unlock(&ep->life.lock);
	return ret;
}

/* ---- reset ---- */

/* Locked.  Keeps other threads from posting. */
static bool
stop_posts(struct ep *ep)
{
	if (ep->receives.stream.busy || ep->requests.stream.busy)
		return false;
	ep->receives.stream.busy = ep->requests.stream.busy = true;
	return true;
}

/* Locked. */
static void
forget(struct transfers *transfers)
{
	stream_excuse(&transfers->stream);
	transfers->excused = transfers->stream.last;
	transfers->accepted = transfers->sends = transfers->silent = 0;
}

/* Locked. */
static void
begin_anew(struct ep *ep)
{
	if (ep->phase != EP_OVER)
		ep->fuzzy = true;
	ep->generation++;
	ep->anew = clock_stamp();
	forget(&ep->receives);
	forget(&ep->requests);
	ep->phase = EP_IDLE;
	ep->failed = ep->disconnect_succeeded = false;
	ep->first_receive = ep->established_taken = ep->over_taken = ep->disconnected = 0;
	ep->mate.known = false;
}

void
ep_reset(struct ep *ep)
{
	struct call call;
	DAT_RETURN ret;
	bool ready, rude, over;

	if (!ep_enter(ep))
		return;
	pthread_mutex_lock(&ep->life.lock);
	/* A wild endpoint also while its last event is outstanding, or without a connection. */
	rude = !ep->life.tame && ep->phase != EP_IDLE && chance(10);
	over = ep->phase == EP_OVER;
	ready = over && (!ep->life.tame || !ep_missing(ep));
	ready = (ready || rude) && stop_posts(ep);
	pthread_mutex_unlock(&ep->life.lock);
	if (ready) {
		call_begin(&call, CALL_EP_RESET, &ep->life, NULL, ep->generation);
		ret = call_end(&call, dat_ep_reset(atomic_load(&ep->life.handle)));
		pthread_mutex_lock(&ep->life.lock);
		ep->receives.stream.busy = ep->requests.stream.busy = false;
		if (ret == DAT_SUCCESS)
			begin_anew(ep);
		else if (dat_is(ret, DAT_INVALID_STATE) && over && !ep->fuzzy)
			report_wrong(&ep->life, NULL,
			    "dat_ep_reset returned %s after the end of the connection",
			    dat_name(ret));
		pthread_mutex_unlock(&ep->life.lock);
	}
	ep_leave(ep);
}

/* ---- completions ---- */

/* Locked. */
static void
judge_success(struct ep *ep, const struct taking *taking, const struct record *record,
    const DAT_DTO_COMPLETION_EVENT_DATA *data)
{
	const bool merged = ep->connect == taking->evd;

	if (record->silent)
		report_wrong(&ep->life, &taking->evd->life,
		    "a suppressed request succeeded but has a completion");
	if (data->transfered_length != EP_SLOT && record->operation != DAT_DTO_RECEIVE)
		report_wrong(&ep->life, &taking->evd->life, "a completion has a length of %u bytes",
		    (unsigned int)data->transfered_length);
	if (!merged || ep->fuzzy)
		return;
	if (record->operation == DAT_DTO_RECEIVE && !ep->first_receive)
		ep->first_receive = clock_stamp();
	if (ep->established_taken && ep->over_taken && ep->over_taken < taking->begin)
		report_wrong(&ep->life, &taking->evd->life,
		    "a transfer succeeded after the end of its connection was taken @%llu",
		    (unsigned long long)ep->over_taken);
}

/* Locked, and the endpoint cannot end: the message is in the buffer. */
static void
judge_message(struct ep *ep, const struct record *record)
{
	const struct message *got = (const struct message *)slot(ep, 0, record->number);
	const struct message message = *got;

	if (message.check != message.sender * 31 + message.generation * 7 + message.number)
		report_wrong(&ep->life, NULL, "a receive succeeded, but there is no message");
	if (message.number != record->index && !ep->fuzzy)
		report_wrong(&ep->life, NULL,
		    "receive %u of the connection has message %u of EP#%llu", record->index,
		    message.number, (unsigned long long)message.sender);
	if (ep->mate.known && !ep->fuzzy &&
	    (message.sender != ep->mate.serial || message.generation != ep->mate.generation))
		report_wrong(&ep->life, NULL,
		    "a message of EP#%llu (connection %u), but it is connected to EP#%llu (%u)",
		    (unsigned long long)message.sender, message.generation,
		    (unsigned long long)ep->mate.serial, ep->mate.generation);
}

/* Locked. */
static void
judge(struct ep *ep, const struct taking *taking, const DAT_DTO_COMPLETION_EVENT_DATA *data,
    unsigned int direction, uint32_t number, bool readable)
{
	struct transfers *transfers = of_direction(ep, direction);
	struct record *record = stream_at(&transfers->stream, number), was = { 0 };
	const char *wrong;

	if (record)
		was = *record;
	wrong = stream_deliver(&transfers->stream, number, taking->begin, clock_stamp());
	if (number <= transfers->excused)
		return; /* excused by a reset */
	if (wrong)
		report_wrong(&ep->life, &taking->evd->life, "%s %u: %s",
		    direction ? "request" : "receive", number, wrong);
	if (data->operation != (DAT_DTOS)was.operation)
		report_wrong(&ep->life, &taking->evd->life,
		    "the completion of %s %u has the operation "
		    "%d",
		    direction ? "request" : "receive", number, (int)data->operation);
	stream_excuse_silent(&transfers->stream, number);
	if (data->status == DAT_DTO_SUCCESS) {
		judge_success(ep, taking, &was, data);
		if (!direction && readable)
			judge_message(ep, &was);
	} else if (data->status != DAT_DTO_ERR_FLUSHED) {
		ep->failed = true;
	}
}

void
ep_judge_dto(struct ep *ep, const struct taking *taking, const DAT_DTO_COMPLETION_EVENT_DATA *data,
    unsigned int direction, uint64_t low, unsigned int bits)
{
	const struct evd *due = direction ? ep->request : ep->recv;
	const uint64_t end = life_end(&ep->life);
	struct life *life = &ep->life, *home = life->home;
	bool used = life_use_stale(life, atomic_load(&life->serial));
	bool home_used = life_use_stale(home, life->home_serial);

	trace(data->status == DAT_DTO_SUCCESS ? "(completion)" : "(completion with an error)",
	    life_name(life), life_name(&taking->evd->life), data->user_cookie.as_64);
	if (data->ep_handle != atomic_load(&life->handle))
		report_wrong(life, &taking->evd->life, "its completion has the endpoint %p",
		    data->ep_handle);
	if (due != taking->evd)
		report_wrong(life, &taking->evd->life, "its completion came on another EVD");
	if (end && end < taking->begin)
		report_wrong(life, &taking->evd->life,
		    "a completion of an endpoint that had ended @%llu", (unsigned long long)end);
	pthread_mutex_lock(&life->lock);
	/* When the endpoint has ended, another one may use its buffers. */
	judge(ep, taking, data, direction,
	    stream_whole(&of_direction(ep, direction)->stream, low, bits),
	    used && home_used && !life_may_be_ending(life));
	pthread_mutex_unlock(&life->lock);
	if (used)
		life_unuse(life);
	if (home_used)
		life_unuse(home);
}
