/* SPDX-License-Identifier: BSD-3-Clause */
#include "call.h"
#include "deliver.h"
#include "message.h"
#include "port.h"
#include "service.h"
#include "wait.h"
#include "softverbs/device/settings.h"
#include "softverbs/device/slot.h"
#include "softverbs/device/timer.h"

#include <stdlib.h>
#include <string.h>

/*
 * A request is sent again after this time, whether it is held or the other process could not
 * accept more connections.
 */
#define RETRY_TIME 5000000u

static void call_retry(struct soft_timer *timer);

static TAILQ_HEAD(retrying, soft_id) retrying = TAILQ_HEAD_INITIALIZER(retrying);
static struct soft_timer timer = { .fn = call_retry };

/* How many requests are held: for each port of each port space, and in all. */
static uint16_t held[SOFT_PORT_SPACES][1 << 16];
static uint32_t held_in_all;

static uint16_t *
call_held(const struct soft_cm_message *request)
{
	return &held[soft_port_space(request->port_space)][request->port];
}

static void
call_start_timer(void)
{
	const struct soft_id *first = TAILQ_FIRST(&retrying);

	if (first)
		soft_timer_start(&timer, first->retry_at);
}

/* The list is ordered by time. */
static void
call_send_at(struct soft_id *id, uint64_t when) REQUIRES(soft_locks.cm)
{
	struct soft_id *before = TAILQ_LAST(&retrying, retrying);

	id->retry_at = when;
	while (before && before->retry_at > when)
		before = TAILQ_PREV(before, retrying, retry_link);
	if (before)
		TAILQ_INSERT_AFTER(&retrying, before, id, retry_link);
	else
		TAILQ_INSERT_HEAD(&retrying, id, retry_link);
	call_start_timer();
}

static void
call_remove(struct soft_id *id) REQUIRES(soft_locks.cm)
{
	if (id->retry_at)
		TAILQ_REMOVE(&retrying, id, retry_link);
	id->retry_at = 0;
}

static int
call_carry(struct soft_id *id, const struct soft_cm_message *request)
    REQUIRES(soft_locks.cm) SOFT_NO_PEERS_LOCK
{
	id->peer_slot = soft_slot_number();
	if (!soft_service_here(request->port_space, request->port))
		id->peer_slot = soft_port_owner(request->port_space, request->port);
	return id->peer_slot ? soft_cm_carry(id->peer_slot, false, request) : -ECONNREFUSED;
}

static void
call_send(struct soft_id *id) REQUIRES(soft_locks.cm) SOFT_NO_PEERS_LOCK
{
	/* The answer may come inside of the call, and then the id has no request any more. */
	const struct soft_cm_message request = *id->request;

	switch (call_carry(id, &request)) {
	case 0:
		break;
	case -EAGAIN:
	case -EMFILE:
	case -ENFILE:
		call_send_at(id, soft_now() + RETRY_TIME);
		break;
	case -ECONNREFUSED:
	case -ENOENT:
		soft_call_absent(id);
		break;
	default:
		soft_cm_reject_request(id);
	}
}

static void
call_retry(struct soft_timer *unused) SOFT_NO_CM_LOCK
{
	const uint64_t now = soft_now();
	struct soft_id *id;

	(void)unused;
	soft_cm_lock();
	while ((id = TAILQ_FIRST(&retrying)) && id->retry_at <= now) {
		call_remove(id);
		call_send(id);
	}
	call_start_timer();
	soft_cm_unlock();
}

/* Whether the request waits for its listener.  The first time decides until when. */
static bool
call_hold(struct soft_id *id, uint64_t now) REQUIRES(soft_locks.cm)
{
	const uint64_t time = soft_settings_listener_wait();
	uint16_t *count = call_held(id->request);

	if (!id->held_until) {
		if (!time || *count == SOFT_CALL_HELD_MAX)
			return false;
		++*count;
		held_in_all++;
		id->held_until = now + time;
	}
	return now < id->held_until;
}

int
soft_call_start(struct soft_id *id, const struct soft_cm_message *request)
{
	id->request = malloc(sizeof *id->request);
	if (!id->request)
		return -ENOMEM;
	*id->request = *request;
	call_send(id);
	return 0;
}

void
soft_call_absent(struct soft_id *id)
{
	const uint64_t now = soft_now();
	uint64_t next = now + RETRY_TIME;

	if (!id->request || id->retry_at)
		return; /* this answers nothing */
	if (!call_hold(id, now)) {
		soft_cm_reject_request(id);
		return;
	}
	/* No process owes an answer: none can be lost. */
	id->peer_slot = 0;
	soft_wait_renew(id);
	call_send_at(id, next < id->held_until ? next : id->held_until);
}

void
soft_call_stop(struct soft_id *id)
{
	if (!id->request)
		return;
	call_remove(id);
	if (id->held_until) {
		--*call_held(id->request);
		held_in_all--;
	}
	id->held_until = 0;
	free(id->request);
	id->request = NULL;
}

void
soft_call_reset(void)
{
	TAILQ_INIT(&retrying);
	soft_timer_init(&timer, call_retry);
	if (held_in_all)
		memset(held, 0, sizeof held);
	held_in_all = 0;
}
