/* SPDX-License-Identifier: BSD-3-Clause */
#include "target.h"

#include "bell.h"
#include "options.h"
#include "say.h"
#include "tconn.h"

#include <string.h>

#define CLOSE_TIMEOUT (10 * BELL_SECOND)
#define FIRST_PORT 3260 /* iSCSI's */
#define PORTS_TRIED 1000
#define CR_QLEN 256

static void
refuse(struct target *target, DAT_CR_HANDLE cr, enum pdu_status status)
{
	/* The 1s are what hello_decode() takes for sane. */
	const struct hello hello = {
		.status = (uint16_t)status,
		.queue_depth = 1,
		.block_bytes = 1,
	};
	unsigned char wire[HELLO_BYTES];
	DAT_RETURN ret;

	hello_encode(&hello, wire);
	say("a connection is refused: %s", pdu_status_text(status));
	pthread_mutex_lock(&target->lock);
	target->refused++;
	pthread_mutex_unlock(&target->lock);
	ret = dat_cr_reject(cr, HELLO_BYTES, wire);
	if (ret != DAT_SUCCESS)
		say_dat("dat_cr_reject", ret, "a connection cannot be refused");
}

static void
on_request(struct target *target, DAT_CR_HANDLE cr)
{
	enum pdu_status status;
	struct hello hello;
	unsigned int index;
	struct tconn *tc;
	DAT_CR_PARAM param;
	DAT_RETURN ret;

	ret = dat_cr_query(cr, DAT_CR_FIELD_ALL, &param);
	if (ret != DAT_SUCCESS) {
		say_dat("dat_cr_query", ret, "a connection request cannot be read");
		refuse(target, cr, PDU_MALFORMED);
		return;
	}
	status = hello_decode(&hello, param.private_data, (size_t)param.private_data_size);
	if (status != PDU_OK) {
		refuse(target, cr, status);
		return;
	}
	pthread_mutex_lock(&target->lock);
	index = target->accepted;
	pthread_mutex_unlock(&target->lock);
	tc = tconn_new(target, index, &hello);
	if (!tc) {
		refuse(target, cr, PDU_NO_RESOURCES);
		return;
	}
	pthread_mutex_lock(&target->lock);
	tc->next = target->conns;
	target->conns = tc;
	target->accepted++;
	pthread_mutex_unlock(&target->lock);
	/* When this fails the connection is CLOSED, and the main thread may free it at once. */
	ret = conn_accept(&tc->conn, cr);
	if (ret != DAT_SUCCESS)
		say_dat("dat_cr_accept", ret, "connection %u cannot be accepted", index);
}

/* Upcall of the listener's EVD. */
static void
listener_event(void *context, const DAT_EVENT *event)
{
	if (event->event_number == DAT_CONNECTION_REQUEST_EVENT)
		on_request(context, event->event_data.cr_arrival_event_data.cr_handle);
	else
		say("event 0x%x is no event of a listener", (unsigned int)event->event_number);
}

static int
target_listen(struct target *target, uint16_t port)
{
	uint16_t first = port ? port : FIRST_PORT;
	uint16_t last = port ? port : FIRST_PORT + PORTS_TRIED - 1;
	DAT_RETURN ret = DAT_SUCCESS;

	for (unsigned int p = first; p <= last; p++) {
		ret = dat_psp_create(target->adapter.ia, p, target->listener.evd,
		    DAT_PSP_CONSUMER_FLAG, &target->psp);
		if (ret == DAT_SUCCESS) {
			target->port = (uint16_t)p;
			return 0;
		}
		target->psp = DAT_HANDLE_NULL;
		if (DAT_GET_TYPE(ret) != DAT_CONN_QUAL_IN_USE)
			break;
	}
	say_dat("dat_psp_create", ret, "cannot listen on port %u", first);
	if (DAT_GET_TYPE(ret) == DAT_CONN_QUAL_IN_USE && port)
		say("another program uses the port: choose another --port, or stop it");
	return -1;
}

int
target_open(struct target *target, const struct options *options, struct bell *bell,
    struct backing *device, bool growable, uint16_t port)
{
	DAT_RETURN ret;

	*target = (struct target){ .options = options, .bell = bell };
	target->device = device;
	target->growable = growable;
	pthread_mutex_init(&target->lock, NULL);
	if (adapter_open(&target->adapter, options->ia, bell))
		return -1;
	ret = watch_open(&target->listener, target->adapter.ia, CR_QLEN, DAT_EVD_CR_FLAG,
	    listener_event, target);
	if (ret != DAT_SUCCESS) {
		say_dat("dat_evd_kcreate", ret, "no EVD for connection requests");
		return -1;
	}
	return target_listen(target, port);
}

void
target_reap(struct target *target)
{
	struct tconn **link, *tc, *ended = NULL;
	unsigned int lost = 0;

	pthread_mutex_lock(&target->lock);
	target->living = 0;
	for (link = &target->conns; (tc = *link);) {
		if (conn_is_finished(&tc->conn) && conn_state(&tc->conn) == CONN_CLOSED) {
			*link = tc->next;
			tc->next = ended;
			ended = tc;
		} else {
			target->living++;
			link = &tc->next;
		}
	}
	pthread_mutex_unlock(&target->lock);

	while ((tc = ended)) {
		ended = tc->next;
		/* The upcall that closed it may still run: freeing waits for it. */
		watch_stop(&tc->conn.watch);
		target->ended++;
		if (!tc->conn.clean) {
			/* An initiator that dies takes all its connections along. */
			if (lost++ == 0)
				say("connection %u: %s", tc->conn.index,
				    tc->conn.reason[0] ? tc->conn.reason :
							 "ended without a logout");
		}
		target->failures += tconn_free(tc);
	}
	if (lost > 1)
		say("and %u more connections like it", lost - 1);
	target->lost += lost;
}

static void
target_stop(struct target *target)
{
	struct tconn *tc;
	DAT_RETURN ret;

	if (target->psp != DAT_HANDLE_NULL) {
		ret = dat_psp_free(target->psp);
		if (ret != DAT_SUCCESS) {
			say_dat("dat_psp_free", ret, "the listener was not freed");
			target->failures++;
		}
		target->psp = DAT_HANDLE_NULL;
	}
	/* Before the list is walked: a request's upcall may be adding to it. */
	target->failures += watch_close(&target->listener, &target->adapter.tally);
	for (tc = target->conns; tc; tc = tc->next)
		if (conn_state(&tc->conn) != CONN_CLOSED)
			conn_order(&tc->conn, &tconn_abort);
}

bool
target_settle(struct target *target, uint64_t deadline)
{
	target_reap(target);
	while (target->living > 0 && bell_now() < deadline) {
		bell_wait(target->bell, bell_now() + BELL_SECOND / 10);
		target_reap(target);
	}
	return target->living == 0;
}

int
target_close(struct target *target)
{
	struct tconn *tc;

	if (target->adapter.ia != DAT_HANDLE_NULL) {
		target_stop(target);
		target_settle(target, bell_now() + CLOSE_TIMEOUT);
	}
	while ((tc = target->conns)) {
		target->conns = tc->next;
		watch_stop(&tc->conn.watch);
		say("connection %u did not end: state %s, %ld completions are missing",
		    tc->conn.index, machine_state(&conn_machine, conn_state(&tc->conn)),
		    atomic_load(&tc->conn.outstanding));
		target->failures += 1 + tconn_free(tc);
	}
	target->failures += adapter_close(&target->adapter);
	pthread_mutex_destroy(&target->lock);
	return target->failures;
}
