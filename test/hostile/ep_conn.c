/* SPDX-License-Identifier: BSD-3-Clause */
/* ep_conn -- connects and disconnects endpoints, and checks the events of their connections */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "actor.h"
#include "adapter.h"
#include "board.h"
#include "call.h"
#include "clock.h"
#include "ep.h"
#include "evd.h"
#include "owed.h"
#include "report.h"

#define MAGIC 0x48054713u

/* The private data of a request and of its acceptance.  Both ends are on one host. */
struct hello {
	uint32_t magic;
	uint32_t process;
	uint64_t serial;
	uint32_t generation;
	uint32_t context;
	uint64_t write_address, read_address;
};

_Static_assert(sizeof(struct hello) <= EP_HELLO_BYTES, "it fits into the private data");

void
ep_hello(const struct ep *ep, char *hello)
{
	const struct adapter *adapter = adapter_of(ep->life.home);
	const char *buffers = adapter->arena + EP_COMMON_BYTES + ep->place * EP_BUFFER_BYTES;
	struct hello own = {
		.magic = MAGIC,
		.process = (uint32_t)getpid(),
		.serial = atomic_load(&ep->life.serial),
		.generation = ep->generation,
		.context = adapter->rmr_context,
		.write_address = (uintptr_t)(buffers + 2 * STREAM_RING * EP_SLOT),
		.read_address = (uintptr_t)adapter->arena,
	};

	memset(hello, 0, EP_HELLO_BYTES);
	memcpy(hello, &own, sizeof own);
}

bool
ep_read_hello(const void *data, DAT_COUNT size, struct mate *mate)
{
	struct hello hello;

	if (!data || size < (DAT_COUNT)sizeof hello)
		return false;
	memcpy(&hello, data, sizeof hello);
	if (hello.magic != MAGIC)
		return false;
	*mate = (struct mate){
		.known = true,
		.foreign = hello.process != (uint32_t)getpid(),
		.process = hello.process,
		.serial = hello.serial,
		.generation = hello.generation,
		.write_address = hello.write_address,
		.read_address = hello.read_address,
		.context = hello.context,
	};
	return true;
}

void
ep_attempt(struct ep *ep, bool active, const struct mate *mate)
{
	ep->phase = EP_CONNECTING;
	ep->active = active;
	ep->attempts++;
	if (mate)
		ep->mate = *mate;
}

void
ep_attempt_failed(struct ep *ep)
{
	ep->attempts--;
	if (ep->phase == EP_CONNECTING)
		ep->phase = EP_IDLE;
	ep->mate.known = false;
}

static DAT_TIMEOUT
a_timeout(void)
{
	return chance(60) ? DAT_TIMEOUT_INFINITE :
	       chance(50) ? 1 + pick(3000) :
			    20000 + pick(300000);
}

void
ep_connect(struct ep *ep)
{
	const DAT_TIMEOUT timeout = a_timeout();
	struct sockaddr_storage address;
	char hello[EP_HELLO_BYTES];
	DAT_CONN_QUAL qual;
	struct call call;
	DAT_RETURN ret;
	bool idle;

	if (!board_choose(&address, &qual) || !ep_enter(ep))
		return;
	pthread_mutex_lock(&ep->life.lock);
	idle = ep->phase == EP_IDLE || ep->fuzzy;
	if (idle)
		ep_attempt(ep, true, NULL);
	ep_hello(ep, hello);
	pthread_mutex_unlock(&ep->life.lock);
	/* Sometimes also on an endpoint that is not idle: the call must be refused. */
	if (idle || chance(5)) {
		call_begin(&call, CALL_EP_CONNECT, &ep->life, NULL, qual << 32 | timeout);
		ret =
		    call_end(&call, dat_ep_connect(atomic_load(&ep->life.handle),
					(DAT_IA_ADDRESS_PTR)&address, qual, timeout, EP_HELLO_BYTES,
					hello, DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG));
		pthread_mutex_lock(&ep->life.lock);
		if (!idle && ret == DAT_SUCCESS)
			report_wrong(
			    &ep->life, NULL, "dat_ep_connect of a connected endpoint succeeded");
		if (idle && dat_is(ret, DAT_INVALID_STATE) && !ep->fuzzy)
			report_wrong(&ep->life, NULL,
			    "dat_ep_connect of an idle endpoint returned %s", dat_name(ret));
		if (idle && ret != DAT_SUCCESS)
			ep_attempt_failed(ep);
		pthread_mutex_unlock(&ep->life.lock);
	}
	ep_leave(ep);
}

DAT_RETURN
ep_disconnect(struct ep *ep, DAT_CLOSE_FLAGS flags)
{
	uint32_t generation;
	bool attempted;
	struct call call;
	DAT_RETURN ret;

	pthread_mutex_lock(&ep->life.lock);
	generation = ep->generation;
	/* While another thread connects it, this call may come first. */
	attempted = ep->phase != EP_IDLE && !ep->busy;
	ep->disconnecting++;
	pthread_mutex_unlock(&ep->life.lock);
	call_begin(&call, CALL_EP_DISCONNECT, &ep->life, NULL, flags);
	ret = call_end(&call, dat_ep_disconnect(atomic_load(&ep->life.handle), flags));
	pthread_mutex_lock(&ep->life.lock);
	ep->disconnecting--;
	if (ret == DAT_SUCCESS)
		ep->disconnect_succeeded = true;
	if (dat_is(ret, DAT_INVALID_PARAMETER) && flags == DAT_CLOSE_ABRUPT_FLAG)
		report_wrong(
		    &ep->life, NULL, "an abrupt dat_ep_disconnect returned %s", dat_name(ret));
	if (attempted && dat_is(ret, DAT_INVALID_STATE) && !ep->fuzzy &&
	    ep->generation == generation && !ep->busy)
		report_wrong(&ep->life, NULL, "dat_ep_disconnect returned %s, but it has connected",
		    dat_name(ret));
	if (ret == DAT_SUCCESS && flags == DAT_CLOSE_ABRUPT_FLAG && attempted &&
	    ep->generation == generation && !ep->disconnected)
		ep->disconnected = call.end;
	pthread_mutex_unlock(&ep->life.lock);
	return ret;
}

/* ---- the events ---- */

/*
 * Locked.  At the last reset another thread may have had the ESTABLISHED of the connection before.
 * True if this event must be that one.
 */
static bool
is_late(struct ep *ep, const struct taking *taking)
{
	if (!ep->late_established || taking->begin > ep->anew)
		return false;
	ep->late_established = false;
	if (ep->phase == EP_IDLE)
		return true;
	ep->fuzzy = true;
	return false;
}

/* Locked. */
static void
established(struct ep *ep, const struct taking *taking, const DAT_CONNECTION_EVENT_DATA *data,
    bool readable)
{
	const uint64_t now = clock_stamp();
	struct mate mate;

	ep->established++;
	if (is_late(ep, taking))
		return;
	if (ep->fuzzy) {
		if (ep->phase == EP_CONNECTING)
			ep->phase = EP_UP;
		if (ep->established > ep->attempts)
			report_wrong(&ep->life, &taking->evd->life,
			    "ESTABLISHED %u times after %u attempts", ep->established,
			    ep->attempts);
		return;
	}
	if (ep->phase == EP_IDLE || ep->established_taken)
		report_wrong(&ep->life, &taking->evd->life, "ESTABLISHED, %s",
		    ep->established_taken ? "a second time" : "but there was no attempt");
	if (ep->over_taken && ep->over_taken < taking->begin)
		report_wrong(&ep->life, &taking->evd->life,
		    "ESTABLISHED after the end of the connection, taken @%llu",
		    (unsigned long long)ep->over_taken);
	if (ep->first_receive && ep->first_receive < taking->begin)
		report_wrong(&ep->life, &taking->evd->life,
		    "ESTABLISHED after a successful receive of the connection, taken @%llu",
		    (unsigned long long)ep->first_receive);
	ep->established_taken = now;
	ep->late_established = false;
	if (ep->phase == EP_CONNECTING)
		ep->phase = EP_UP;
	if (ep->active && readable &&
	    ep_read_hello(data->private_data, data->private_data_size, &mate)) {
		if (ep->mate.known && ep->mate.serial != mate.serial)
			report_wrong(&ep->life, NULL,
			    "ESTABLISHED has the data of EP#%llu, but "
			    "EP#%llu accepted",
			    (unsigned long long)mate.serial, (unsigned long long)ep->mate.serial);
		ep->mate = mate;
	}
	if (ep->mate.known && ep->mate.foreign)
		owed_note_abroad();
}

/* Locked.  Whether this event can come to this side of a connection. */
static bool
fits_side(const struct ep *ep, DAT_EVENT_NUMBER number)
{
	switch (number) {
	case DAT_CONNECTION_EVENT_PEER_REJECTED:
	case DAT_CONNECTION_EVENT_NON_PEER_REJECTED:
	case DAT_CONNECTION_EVENT_UNREACHABLE:
	case DAT_CONNECTION_EVENT_TIMED_OUT:
		return ep->active && !ep->established_taken;
	case DAT_CONNECTION_EVENT_ACCEPT_COMPLETION_ERROR:
		return !ep->active && !ep->established_taken;
	default:
		return true;
	}
}

/* Locked. */
static void
over(struct ep *ep, const struct taking *taking, DAT_EVENT_NUMBER number)
{
	ep->endings++;
	if (ep->fuzzy) {
		ep->phase = EP_OVER;
		if (ep->endings > ep->attempts)
			report_wrong(&ep->life, &taking->evd->life, "%s: %u ends after %u attempts",
			    dat_event_str(number), ep->endings, ep->attempts);
		return;
	}
	if (ep->phase == EP_IDLE || ep->phase == EP_OVER)
		report_wrong(&ep->life, &taking->evd->life, "%s, %s", dat_event_str(number),
		    ep->phase == EP_OVER ? "but the connection had ended before" :
					   "but there was no attempt");
	if (!fits_side(ep, number))
		report_wrong(&ep->life, &taking->evd->life, "%s on the %s side%s",
		    dat_event_str(number), ep->active ? "active" : "passive",
		    ep->established_taken ? " of an established connection" : "");
	ep->phase = EP_OVER;
	ep->over_taken = clock_stamp();
	ep->late_established =
	    !ep->established_taken &&
	    (number == DAT_CONNECTION_EVENT_DISCONNECTED || number == DAT_CONNECTION_EVENT_BROKEN);
}

void
ep_judge_connection(
    const struct taking *taking, DAT_EVENT_NUMBER number, const DAT_CONNECTION_EVENT_DATA *data)
{
	struct life *life = life_find_handle(LIFE_EP, data->ep_handle);
	struct ep *ep = ep_of(life);
	const uint64_t end = life ? life_end(life) : 0;
	bool used;

	if (!life)
		report_wrong(&taking->evd->life, NULL, "%s of %p, which is not an endpoint",
		    dat_event_str(number), data->ep_handle);
	if (end && end < taking->begin)
		report_wrong(&taking->evd->life, life, "%s of an endpoint that had ended @%llu",
		    dat_event_str(number), (unsigned long long)end);
	if (ep->connect != taking->evd)
		report_wrong(&taking->evd->life, life, "%s of an endpoint that has another EVD",
		    dat_event_str(number));
	trace(dat_event_str(number), life_name(life), life_name(&taking->evd->life), 0);
	/* A tame endpoint does not end while it is used, so the private data may be read. */
	used = life_use(life, atomic_load(&life->serial));
	pthread_mutex_lock(&life->lock);
	if (number == DAT_CONNECTION_EVENT_ESTABLISHED)
		established(ep, taking, data, used && life->tame && life->home->tame);
	else
		over(ep, taking, number);
	pthread_mutex_unlock(&life->lock);
	if (used)
		life_unuse(life);
}
