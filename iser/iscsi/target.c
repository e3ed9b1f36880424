/* SPDX-License-Identifier: BSD-3-Clause */
#include "iser/iscsi/target.h"

#include "iser/datamover/bell.h"
#include "iser/say.h"
#include "iser/iscsi/session.h"

#include <string.h>
#include <strings.h>

#define CLOSE_TIMEOUT (10 * BELL_SECOND)
#define CR_QLEN 256

static void
refuse(DAT_CR_HANDLE cr, const char *why)
{
	DAT_RETURN ret = dat_cr_reject(cr, 0, NULL);

	say_of_peer("a connection is refused: %s", why);
	if (ret != DAT_SUCCESS)
		say_dat("dat_cr_reject", ret, "a connection cannot be refused");
}

static void
on_request(struct target *target, DAT_CR_HANDLE cr)
{
	struct session *session;
	unsigned int index;
	DAT_RETURN ret;
	bool full;

	pthread_mutex_lock(&target->lock);
	index = target->accepted;
	full = target->living >= target->options->max_sessions;
	pthread_mutex_unlock(&target->lock);
	if (full) {
		target->listener_refused++;
		refuse(cr, "there are too many sessions");
		return;
	}
	session = session_new(target, index);
	if (!session) {
		target->listener_refused++;
		refuse(cr, "no resources");
		return;
	}
	pthread_mutex_lock(&target->lock);
	session->next = target->sessions;
	target->sessions = session;
	target->accepted++;
	target->living++;
	pthread_mutex_unlock(&target->lock);
	/* When this fails the connection is CLOSED, and the main thread may free it at once. */
	ret = mover_accept(&session->mover, cr);
	if (ret != DAT_SUCCESS)
		say_dat("dat_cr_accept", ret, "connection %u cannot be accepted", index);
	bell_ring(target->bell); /* it has a deadline */
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
listen_at(struct target *target, struct portal *portal)
{
	DAT_RETURN ret;

	for (const struct portal *other = target->portals; other < portal; other++)
		if (other->port == portal->port)
			return 0;
	ret = dat_psp_create(target->adapter.ia, portal->port, target->listener.evd,
	    DAT_PSP_CONSUMER_FLAG, &portal->psp);
	if (ret == DAT_SUCCESS)
		return 0;
	portal->psp = DAT_HANDLE_NULL;
	say_dat("dat_psp_create", ret, "cannot listen on port %u", portal->port);
	if (DAT_GET_TYPE(ret) == DAT_CONN_QUAL_IN_USE)
		say("another program uses the port: choose another --portal, or stop it");
	return -1;
}

int
itarget_open(struct target *target, const struct target_options *options, struct bell *bell,
    struct scsi_target *scsi)
{
	DAT_RETURN ret;

	memset(target, 0, sizeof *target);
	target->options = options;
	target->bell = bell;
	target->scsi = scsi;
	memcpy(target->portals, options->portals, sizeof target->portals);
	for (unsigned int i = 0; i < TARGET_PORTALS; i++)
		target->portals[i].psp = DAT_HANDLE_NULL;
	pthread_mutex_init(&target->lock, NULL);
	if (adapter_open(&target->adapter, options->ia, bell))
		return -1;
	ret = pool_create(&target->pool, target->adapter.ia, target->adapter.pz,
	    options->pool_bytes, scsi_target_max_transfer(scsi), options->max_sessions);
	if (ret != DAT_SUCCESS) {
		say_dat("dat_lmr_create", ret, "no memory for a pool of %llu MiB",
		    (unsigned long long)(options->pool_bytes >> 20));
		return -1;
	}
	ret = watch_open(&target->listener, target->adapter.ia, CR_QLEN, DAT_EVD_CR_FLAG,
	    listener_event, target);
	if (ret != DAT_SUCCESS) {
		say_dat("dat_evd_kcreate", ret, "no EVD for connection requests");
		return -1;
	}
	for (unsigned int i = 0; i < options->portal_count; i++)
		if (listen_at(target, &target->portals[i]))
			return -1;
	return 0;
}

uint16_t
itarget_login(struct target *target, struct session *session)
{
	const struct login *login = session->login;
	uint16_t tsih;

	pthread_mutex_lock(&target->lock);
	if (++target->last_tsih == 0)
		target->last_tsih = 1;
	tsih = target->last_tsih;
	for (struct session *s = target->sessions; s && !login->keys.discovery; s = s->next)
		if (s != session && atomic_load(&s->is_full) && !s->discovery &&
		    mover_state(&s->mover) == MOVER_UP &&
		    memcmp(s->isid, login->isid, sizeof s->isid) == 0 &&
		    strcasecmp(s->initiator, login->keys.initiator) == 0) {
			atomic_fetch_add(&target->counts.replaced, 1);
			session_call(s, &s->replace);
		}
	pthread_mutex_unlock(&target->lock);
	return tsih;
}

static void
free_ended(struct target *target, struct session *ended)
{
	struct session *session;

	while ((session = ended)) {
		struct mover *mover = &session->mover;

		ended = session->next;
		/* The upcall that closed it may still run: freeing waits for it. */
		watch_stop(&mover->watch);
		target->ended++;
		if (!mover->clean) {
			target->lost++;
			say_of_peer("connection %u: %s", mover->index,
			    mover->reason[0] ? mover->reason : "ended without a logout");
		}
		target->failures += session_free(session);
	}
}

/*
 * What a removed device has left to sessions without upcalls.  They take the target's lock; only
 * this thread removes sessions, and others add them in front.
 */
static bool
drain_stuck(struct target *target)
{
	struct session *session;
	bool some = false;

	pthread_mutex_lock(&target->lock);
	session = target->sessions;
	pthread_mutex_unlock(&target->lock);
	for (; session; session = session->next)
		some |= mover_drain(&session->mover);
	return some;
}

uint64_t
itarget_reap(struct target *target)
{
	uint64_t now = bell_now(), next = UINT64_MAX;
	struct session **link, *session, *ended = NULL;

	if (drain_stuck(target))
		next = now + BELL_SECOND / 100;
	pthread_mutex_lock(&target->lock);
	for (link = &target->sessions; (session = *link);) {
		unsigned long long deadline = atomic_load(&session->deadline);

		if (mover_is_finished(&session->mover) &&
		    mover_state(&session->mover) == MOVER_CLOSED) {
			*link = session->next;
			session->next = ended;
			ended = session;
			target->living--;
			continue;
		}
		link = &session->next;
		/* A session may have set another deadline meanwhile: that one stays. */
		if (deadline && deadline <= now) {
			if (atomic_compare_exchange_strong(&session->deadline, &deadline, 0))
				session_call(session, &session->tick);
		} else if (deadline && deadline < next) {
			next = deadline;
		}
	}
	if (target->living > target->most)
		target->most = target->living;
	pthread_mutex_unlock(&target->lock);
	free_ended(target, ended);
	return next;
}

static void
stop(struct target *target)
{
	DAT_RETURN ret;

	for (unsigned int i = 0; i < TARGET_PORTALS; i++) {
		if (target->portals[i].psp == DAT_HANDLE_NULL)
			continue;
		ret = dat_psp_free(target->portals[i].psp);
		if (ret != DAT_SUCCESS) {
			say_dat("dat_psp_free", ret, "the listener was not freed");
			target->failures++;
		}
		target->portals[i].psp = DAT_HANDLE_NULL;
	}
	/* Before the list is walked: a request's upcall may be adding to it. */
	target->failures += watch_close(&target->listener, &target->adapter.tally);
	for (struct session *session = target->sessions; session; session = session->next)
		if (mover_state(&session->mover) != MOVER_CLOSED)
			session_call(session, &session->stop);
}

int
itarget_close(struct target *target)
{
	const uint64_t deadline = bell_now() + CLOSE_TIMEOUT;
	struct session *session;
	DAT_RETURN ret;

	if (target->adapter.ia != DAT_HANDLE_NULL) {
		stop(target);
		for (itarget_reap(target); target->sessions && bell_now() < deadline;
		     itarget_reap(target))
			bell_wait(target->bell, bell_now() + BELL_SECOND / 10);
	}
	for (session = target->sessions; session; session = session->next) {
		say("connection %u did not end: state %s, %ld completions are missing",
		    session->mover.index,
		    machine_state(&mover_machine, mover_state(&session->mover)),
		    atomic_load(&session->mover.outstanding));
		target->failures++;
	}
	/*
	 * The device, the device server or the pool may still have a part of such a session: it
	 * stays, and what it uses, to the end of the process.
	 */
	if (target->sessions)
		return target->failures;
	ret = pool_free(&target->pool);
	if (ret != DAT_SUCCESS) {
		say_dat("dat_lmr_free", ret, "the pool was not freed");
		target->failures++;
	}
	target->failures += adapter_close(&target->adapter);
	pthread_mutex_destroy(&target->lock);
	return target->failures;
}
