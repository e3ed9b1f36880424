/* SPDX-License-Identifier: BSD-3-Clause */
/* The connection manager: its events are replaced before the provider sees them. */
#include "call.h"
#include "fault.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "softverbs/cm/event.h"

#define CHANNELS 8
#define HOLD_LIMIT_MS 10000 /* a test that fails may not release it */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/* Guarded by lock: */
static struct rdma_event_channel *channels[CHANNELS]; /* of the open adapters, in order */
static struct rdma_cm_id *ids[CHANNELS];	      /* with which they found the device */
static struct fault_replacement replacement;
static bool replaces;
static int time_outs;
static int request_length = -1;
static int starved; /* the allocation after a request that fails; 0: none */

static atomic_int answer_length = -1;
static atomic_int channel_error;
static const void *_Atomic answer_data;
static atomic_bool hold_next, holds;
static void (*_Atomic on_listen)(uint16_t port);

void
fault_cm_replace(const struct fault_replacement *with)
{
	pthread_mutex_lock(&lock);
	replaces = with;
	if (with)
		replacement = *with;
	pthread_mutex_unlock(&lock);
}

void
fault_cm_request_length(int length)
{
	pthread_mutex_lock(&lock);
	request_length = length;
	pthread_mutex_unlock(&lock);
}

static atomic_int request_family;

void
fault_cm_request_family(int family)
{
	request_family = family;
}

void
fault_cm_starve_requests(int n)
{
	pthread_mutex_lock(&lock);
	starved = n;
	pthread_mutex_unlock(&lock);
}

/* A request to connect; the private data of both kinds are at the same place. */
static void
change_request(struct rdma_cm_event *event)
{
	pthread_mutex_lock(&lock);
	if (request_length >= 0)
		event->param.conn.private_data_len = (uint8_t)request_length;
	if (request_family)
		rdma_get_peer_addr(event->id)->sa_family = (sa_family_t)request_family;
	fault_memory_fail_at(starved);
	pthread_mutex_unlock(&lock);
}

void
fault_cm_time_out(int n)
{
	pthread_mutex_lock(&lock);
	time_outs = n;
	pthread_mutex_unlock(&lock);
}

int
fault_cm_time_outs_left(void)
{
	int n;

	pthread_mutex_lock(&lock);
	n = time_outs;
	pthread_mutex_unlock(&lock);
	return n;
}

int __real_rdma_resolve_addr(
    struct rdma_cm_id *id, struct sockaddr *from, struct sockaddr *to, int timeout_ms);
int __wrap_rdma_resolve_addr(
    struct rdma_cm_id *id, struct sockaddr *from, struct sockaddr *to, int timeout_ms);
int
__wrap_rdma_resolve_addr(
    struct rdma_cm_id *id, struct sockaddr *from, struct sockaddr *to, int timeout_ms)
{
	struct soft_event *event;
	bool late;

	pthread_mutex_lock(&lock);
	late = time_outs > 0;
	if (late)
		time_outs--;
	pthread_mutex_unlock(&lock);
	if (!late)
		return fault_error_of("rdma_resolve_addr") ?
			   -1 :
			   __real_rdma_resolve_addr(id, from, to, timeout_ms);
	event = soft_event_create();
	assert(event);
	soft_cm_lock();
	soft_event_post(soft_id_of(id), event, RDMA_CM_EVENT_ADDR_ERROR, -ETIMEDOUT);
	soft_cm_unlock();
	return 0;
}

void
fault_cm_answer_length(int length)
{
	answer_length = length;
}

void
fault_cm_answer_data(const void *data, int length)
{
	answer_length = data ? length : -1;
	answer_data = data;
}

void
fault_cm_hold_rejection(void)
{
	holds = true;
	hold_next = true;
}

void
fault_cm_release_rejection(void)
{
	hold_next = false;
	holds = false;
}

void
fault_cm_refuse_channels(int error)
{
	channel_error = error;
}

void
fault_cm_remove_device(int adapter)
{
	struct soft_event *event = soft_event_create();
	struct rdma_cm_id *id;

	pthread_mutex_lock(&lock);
	id = ids[adapter];
	pthread_mutex_unlock(&lock);
	assert(event && id);
	soft_cm_lock();
	soft_event_post(soft_id_of(id), event, RDMA_CM_EVENT_DEVICE_REMOVAL, 0);
	soft_cm_unlock();
}

int __real_rdma_create_id(struct rdma_event_channel *channel, struct rdma_cm_id **id, void *context,
    enum rdma_port_space space);
int __wrap_rdma_create_id(struct rdma_event_channel *channel, struct rdma_cm_id **id, void *context,
    enum rdma_port_space space);
int
__wrap_rdma_create_id(struct rdma_event_channel *channel, struct rdma_cm_id **id, void *context,
    enum rdma_port_space space)
{
	const int r = fault_error_of("rdma_create_id") ?
			  -1 :
			  __real_rdma_create_id(channel, id, context, space);

	if (r || context)
		return r;
	pthread_mutex_lock(&lock);
	for (int i = 0; i < CHANNELS; i++)
		if (channels[i] == channel)
			ids[i] = *id;
	pthread_mutex_unlock(&lock);
	return r;
}

struct rdma_event_channel *__real_rdma_create_event_channel(void);
struct rdma_event_channel *__wrap_rdma_create_event_channel(void);
struct rdma_event_channel *
__wrap_rdma_create_event_channel(void)
{
	const int error =
	    channel_error ? channel_error : fault_error_of("rdma_create_event_channel");
	struct rdma_event_channel *channel;

	if (error > 0)
		errno = error;
	if (error)
		return NULL;

	channel = __real_rdma_create_event_channel();

	pthread_mutex_lock(&lock);
	for (int i = 0; i < CHANNELS; i++)
		if (!channels[i]) {
			channels[i] = channel;
			break;
		}
	pthread_mutex_unlock(&lock);
	return channel;
}

void __real_rdma_destroy_event_channel(struct rdma_event_channel *channel);
void __wrap_rdma_destroy_event_channel(struct rdma_event_channel *channel);
void
__wrap_rdma_destroy_event_channel(struct rdma_event_channel *channel)
{
	pthread_mutex_lock(&lock);
	for (int i = 0; i < CHANNELS; i++)
		if (channels[i] == channel)
			channels[i] = NULL;
	pthread_mutex_unlock(&lock);
	__real_rdma_destroy_event_channel(channel);
}

static void
replace(struct rdma_event_channel *channel, struct rdma_cm_event *event)
{
	pthread_mutex_lock(&lock);
	if (replaces && channels[replacement.adapter] == channel &&
	    event->event == replacement.from) {
		replaces = false;
		event->event = replacement.to;
		event->status = replacement.status;
		if (replacement.without_data)
			event->param.conn.private_data_len = 0;
	}
	pthread_mutex_unlock(&lock);
}

static atomic_int read_error;
static atomic_uint failed_reads;

void
fault_cm_fail_reads(int error)
{
	read_error = error;
}

unsigned int
fault_cm_failed_reads(void)
{
	return failed_reads;
}

int __real_rdma_get_cm_event(struct rdma_event_channel *channel, struct rdma_cm_event **event);
int __wrap_rdma_get_cm_event(struct rdma_event_channel *channel, struct rdma_cm_event **event);
int
__wrap_rdma_get_cm_event(struct rdma_event_channel *channel, struct rdma_cm_event **event)
{
	const int error = read_error, length = answer_length;
	int r;

	if (error) {
		failed_reads++;
		errno = error;
		return -1;
	}
	r = __real_rdma_get_cm_event(channel, event);
	if (r)
		return r;
	if ((*event)->event == RDMA_CM_EVENT_CONNECT_REQUEST)
		change_request(*event);
	else
		(void)fault_memory_missed();
	if (length >= 0 && (*event)->event != RDMA_CM_EVENT_CONNECT_REQUEST &&
	    (*event)->param.conn.private_data) {
		(*event)->param.conn.private_data_len = (uint8_t)length;
		if (answer_data)
			(*event)->param.conn.private_data = answer_data;
	}
	replace(channel, *event);
	return 0;
}

void
fault_cm_on_listen(void (*call)(uint16_t port))
{
	on_listen = call;
}

int __real_rdma_listen(struct rdma_cm_id *id, int backlog);
int __wrap_rdma_listen(struct rdma_cm_id *id, int backlog);
int
__wrap_rdma_listen(struct rdma_cm_id *id, int backlog)
{
	const int r = fault_error_of("rdma_listen") ? -1 : __real_rdma_listen(id, backlog);
	void (*call)(uint16_t port) = on_listen;

	if (!r && call)
		call(ntohs(rdma_get_src_port(id)));
	return r;
}

int __real_rdma_reject(struct rdma_cm_id *id, const void *data, uint8_t size);
int __wrap_rdma_reject(struct rdma_cm_id *id, const void *data, uint8_t size);
int
__wrap_rdma_reject(struct rdma_cm_id *id, const void *data, uint8_t size)
{
	const struct timespec millisecond = { .tv_nsec = 1000000 };
	const bool held = atomic_exchange(&hold_next, false);
	int r = __real_rdma_reject(id, data, size);

	for (int ms = 0; held && holds && ms < HOLD_LIMIT_MS; ms++)
		nanosleep(&millisecond, NULL);
	return r;
}
