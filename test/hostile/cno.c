/* SPDX-License-Identifier: BSD-3-Clause */
#include "cno.h"

#include <poll.h>
#include <string.h>

#include "actor.h"
#include "adapter.h"
#include "call.h"
#include "clock.h"
#include "evd.h"
#include "inside.h"
#include "report.h"
#include "take.h"

#define NUMBER_BITS 16

struct cno *
cno_of(struct life *life)
{
	return (struct cno *)life;
}

static void
lock(struct cno *cno)
{
	pthread_mutex_lock(&cno->life.lock);
}

static void
unlock(struct cno *cno)
{
	pthread_mutex_unlock(&cno->life.lock);
}

static DAT_PVOID
instance_of(const struct cno *cno, uint32_t number)
{
	return (DAT_PVOID)(uintptr_t)(atomic_load(&cno->life.serial) << NUMBER_BITS |
				      (number & ((1u << NUMBER_BITS) - 1)));
}

/* ---- the agent ---- */

/* The EVD that a wait returns must be attached, or must have been until a moment ago. */
static void
judge_hint(struct cno *cno, DAT_EVD_HANDLE hint, uint64_t begin)
{
	struct adapter *adapter = adapter_of(cno->life.home);
	uint64_t serials[ADAPTER_CHILDREN];
	unsigned int n = adapter_children(adapter, LIFE_EVD, serials);

	for (unsigned int i = 0; i < n && hint != DAT_HANDLE_NULL; i++) {
		struct life *life = life_find(LIFE_EVD, serials[i]);
		struct evd *evd = evd_of(life);
		bool wrong = false;

		if (!life || !life_use(life, serials[i]))
			continue;
		if (atomic_load(&life->handle) == hint) {
			pthread_mutex_lock(&life->lock);
			wrong = evd->cno.sure && evd->cno.since < begin &&
				evd->cno.value != atomic_load(&cno->life.serial);
			pthread_mutex_unlock(&life->lock);
		}
		if (wrong)
			report_wrong(
			    &cno->life, life, "the CNO returned an EVD that is not attached");
		life_unuse(life);
	}
}

static void
enter_agent(struct cno *cno, uint32_t number)
{
	const uint64_t end = life_end(&cno->life);

	lock(cno);
	if (end && !(cno->ended_inside && !life_home_end(&cno->life)))
		report_wrong(&cno->life, NULL, "an agent is called, but the CNO ended @%llu",
		    (unsigned long long)end);
	for (int i = 0; i < CNO_AGENTS; i++)
		if (cno->was_called[i] == number)
			report_wrong(&cno->life, NULL, "agent %u is called twice", number);
	cno->was_called[cno->called++ % CNO_AGENTS] = number;
	/* The agent that was called is not set any more. */
	if (cno->agent.sure && (cno->agent.value & 0xffff) == number)
		cno->agent.value = 0;
	cno->inside++;
	unlock(cno);
}

static void
agent(DAT_PVOID instance, DAT_EVD_HANDLE hint)
{
	const uint64_t serial = (uint64_t)(uintptr_t)instance >> NUMBER_BITS;
	struct actor *me = actor_self();
	struct cno *cno = cno_of(life_find(LIFE_CNO, serial));
	struct trace_line *line;
	struct adapter *adapter;
	struct frame frame;

	if (!cno || !life_use_stale(&cno->life, serial))
		report_wrong(NULL, NULL, "an agent of CNO#%llu, which ended long ago",
		    (unsigned long long)serial);
	adapter = adapter_of(cno->life.home);
	if (!life_use_stale(&adapter->life, cno->life.home_serial))
		report_wrong(&cno->life, NULL, "an agent, but the adapter ended long ago");
	atomic_fetch_add(&adapter->inside, 1);
	enter_agent(cno, (uint32_t)((uintptr_t)instance & ((1u << NUMBER_BITS) - 1)));
	frame = (struct frame){ .outer = me->frame, .adapter = adapter, .cno = cno };
	me->frame = &frame;
	line = trace("agent", life_name(&cno->life), 0, (uintptr_t)hint);

	inside_agent(cno);

	trace_done(line, DAT_SUCCESS);
	me->frame = frame.outer;
	lock(cno);
	cno->inside--;
	unlock(cno);
	atomic_fetch_sub(&adapter->inside, 1);
	life_unuse(&cno->life);
	life_unuse(&adapter->life);
}

static DAT_OS_WAIT_PROXY_AGENT
no_agent(void)
{
	return DAT_OS_WAIT_PROXY_AGENT_NULL;
}

DAT_RETURN
cno_set_agent(struct cno *cno, bool install)
{
	DAT_OS_WAIT_PROXY_AGENT new = no_agent();
	struct setting_change change;
	uint32_t number = 0;
	struct call call;
	DAT_RETURN ret;

	if (cno->fd >= 0)
		return DAT_SUCCESS; /* the CNO may have no agent */
	lock(cno);
	change = setting_begin(&cno->agent);
	if (install)
		number = ++cno->agents;
	unlock(cno);
	if (install)
		new = (DAT_OS_WAIT_PROXY_AGENT){ instance_of(cno, number), agent };
	call_begin(&call, CALL_CNO_MODIFY_AGENT, &cno->life, NULL, number);
	ret = call_end(&call, dat_cno_modify_agent(atomic_load(&cno->life.handle), new));
	lock(cno);
	/* It may have been called already. */
	for (int i = 0; i < CNO_AGENTS; i++)
		if (number && cno->was_called[i] == (number & 0xffff))
			number = 0;
	(void)setting_end(&cno->agent, &change, ret == DAT_SUCCESS, number, clock_stamp());
	unlock(cno);
	return ret;
}

/* ---- life ---- */

struct cno *
cno_make(struct adapter *adapter, bool tame, bool with_fd)
{
	struct life *life = life_new(LIFE_CNO, &adapter->life, tame);
	struct cno *cno = cno_of(life);
	DAT_CNO_HANDLE handle;
	struct call call;
	DAT_RETURN ret;

	if (!life)
		return NULL;
	memset((char *)cno + sizeof *life, 0, sizeof *cno - sizeof *life);
	cno->fd = -1;
	setting_init(&cno->agent, 0);
	call_begin(&call, with_fd ? CALL_CNO_FD_CREATE : CALL_CNO_CREATE, &adapter->life, NULL, 0);
	if (with_fd)
		ret = call_end(&call, dat_cno_fd_create(adapter->ia, &cno->fd, &handle));
	else
		ret = call_end(&call, dat_cno_create(adapter->ia, no_agent(), &handle));
	if (ret != DAT_SUCCESS) {
		life_unborn(life);
		return NULL;
	}
	life_born(life, handle);
	if (!adapter_add(adapter, life)) {
		if (!life_may_be_ending(&adapter->life))
			(void)cno_free_rudely(cno);
		else
			(void)life_ended(life);
		life_unuse(life);
		return NULL;
	}
	return cno;
}

static int
own_frames(const struct cno *cno)
{
	int n = 0;

	for (const struct frame *f = actor_self()->frame; f; f = f->outer)
		n += f->cno == cno;
	return n;
}

DAT_RETURN
cno_free_rudely(struct cno *cno)
{
	struct adapter *adapter = adapter_of(cno->life.home);
	struct call call;
	DAT_RETURN ret;

	life_end_begin(&cno->life);
	call_begin(&call, CALL_CNO_FREE, &cno->life, NULL, 0);
	ret = call_end(&call, dat_cno_free(atomic_load(&cno->life.handle)));
	if (ret != DAT_SUCCESS) {
		life_end_failed(&cno->life);
		return ret;
	}
	lock(cno);
	if (!own_frames(cno) && cno->inside)
		report_wrong(&cno->life, NULL, "dat_cno_free returned while the agent runs");
	cno->ended_inside = own_frames(cno) > 0;
	unlock(cno);
	if (cno->ended_inside)
		adapter_keep_ghost(adapter, &cno->life);
	if (!life_ended(&cno->life) && !life_may_be_ending(&adapter->life))
		report_wrong(&cno->life, NULL, "dat_cno_free succeeded twice");
	adapter_drop(adapter, &cno->life);
	return ret;
}

/* Whether an EVD of the adapter may be attached to the CNO. */
static bool
may_be_attached(struct cno *cno)
{
	struct adapter *adapter = adapter_of(cno->life.home);
	uint64_t serials[ADAPTER_CHILDREN];
	unsigned int n = adapter_children(adapter, LIFE_EVD, serials);
	bool may = false;

	for (unsigned int i = 0; i < n && !may; i++) {
		struct life *life = life_find(LIFE_EVD, serials[i]);

		if (!life || !life_use_stale(life, serials[i]))
			continue;
		pthread_mutex_lock(&life->lock);
		may = !evd_of(life)->cno.sure ||
		      evd_of(life)->cno.value == atomic_load(&cno->life.serial);
		pthread_mutex_unlock(&life->lock);
		life_unuse(life);
	}
	return may;
}

bool
cno_end(struct life *life)
{
	struct cno *cno = cno_of(life);
	DAT_RETURN ret = DAT_SUCCESS;

	if (!life_close_gate(life))
		return false;
	/* An EVD that its own upcall freed may end a little later. */
	for (int tries = 0; tries < 2000; tries++) {
		ret = cno_free_rudely(cno);
		if (ret == DAT_SUCCESS || life_end(life))
			return true;
		/* Its agent, or a close that will be refused, may be trying to end it now. */
		if (may_be_attached(cno) || life_may_be_ending(life)) {
			life_open_gate(life);
			return false;
		}
		clock_nap_us(2000);
	}
	report_wrong(life, NULL, "a CNO that no EVD and no thread uses could not be freed: %s",
	    dat_name(ret));
}

/* ---- waiting ---- */

void
cno_drain(struct cno *cno)
{
	struct adapter *adapter = adapter_of(cno->life.home);
	const uint64_t serial = atomic_load(&cno->life.serial);
	uint64_t serials[ADAPTER_CHILDREN];
	unsigned int n = adapter_children(adapter, LIFE_EVD, serials);

	for (unsigned int i = 0; i < n; i++) {
		struct life *life = life_find(LIFE_EVD, serials[i]);
		struct evd *evd = evd_of(life);
		bool attached;

		if (!life || !life_use(life, serials[i]))
			continue;
		pthread_mutex_lock(&life->lock);
		attached = !evd->cno.sure || evd->cno.value == serial;
		pthread_mutex_unlock(&life->lock);
		if (attached)
			take_all(evd);
		life_unuse(life);
	}
}

static DAT_RETURN
wait_on_fd(struct cno *cno, DAT_TIMEOUT timeout, DAT_EVD_HANDLE *hint, struct call *call)
{
	struct pollfd fd = { .fd = cno->fd, .events = POLLIN };
	struct actor *me = actor_self();

	/* A wild CNO may be freed meanwhile, and its descriptor reused: do not read from it. */
	atomic_store(&me->since, clock_tick());
	atomic_store(&me->doing_on, life_name(&cno->life));
	atomic_store(&me->manner, ACTOR_SLEEPS);
	atomic_store(&me->doing, "poll");
	(void)poll(&fd, 1, timeout == DAT_TIMEOUT_INFINITE ? -1 : (int)(timeout / 1000));
	atomic_store(&me->doing, NULL);
	call_begin(call, CALL_CNO_TRIGGER, &cno->life, NULL, timeout);
	return call_end(call, dat_cno_trigger(atomic_load(&cno->life.handle), hint));
}

DAT_RETURN
cno_wait(struct cno *cno, DAT_TIMEOUT timeout)
{
	DAT_EVD_HANDLE hint = DAT_HANDLE_NULL;
	struct call call;
	DAT_RETURN ret;
	double seconds;

	lock(cno);
	cno->waiters++;
	unlock(cno);
	atomic_store(&actor_self()->endless, timeout == DAT_TIMEOUT_INFINITE);
	if (cno->fd >= 0) {
		ret = wait_on_fd(cno, timeout, &hint, &call);
	} else {
		call_begin_wait(&call, CALL_CNO_WAIT, &cno->life, NULL, timeout);
		seconds = clock_seconds();
		ret = call_end(&call, dat_cno_wait(atomic_load(&cno->life.handle), timeout, &hint));
		seconds = clock_seconds() - seconds;
		if (dat_is(ret, DAT_QUEUE_EMPTY) &&
		    (timeout == DAT_TIMEOUT_INFINITE || seconds < timeout * 1e-6))
			report_wrong(&cno->life, NULL, "dat_cno_wait for %u us ended after %.0f us",
			    (unsigned int)timeout, seconds * 1e6);
		if (dat_is(ret, DAT_INVALID_STATE) && !life_may_be_ending(&cno->life))
			report_wrong(&cno->life, NULL,
			    "dat_cno_wait returned %s, but the CNO does not end", dat_name(ret));
	}
	atomic_store(&actor_self()->endless, false);
	if (ret == DAT_SUCCESS)
		judge_hint(cno, hint, call.begin);
	/* The rule for CNOs: empty the EVDs after each wake-up and after a timeout. */
	cno_drain(cno);
	lock(cno);
	cno->waiters--;
	unlock(cno);
	return ret;
}

void
cno_wait_stale(struct cno *cno)
{
	DAT_EVD_HANDLE hint;
	struct call call;

	call_begin(&call, CALL_CNO_WAIT, &cno->life, NULL, 0);
	(void)call_end(&call, dat_cno_wait(atomic_load(&cno->life.handle), 0, &hint));
}

/* ---- its EVDs ---- */

DAT_RETURN
evd_set_cno(struct evd *evd, struct cno *cno)
{
	struct setting_change change;
	struct call call;
	DAT_RETURN ret;

	if (cno) {
		lock(cno);
		cno->attaches++;
		unlock(cno);
	}
	pthread_mutex_lock(&evd->life.lock);
	change = setting_begin(&evd->cno);
	pthread_mutex_unlock(&evd->life.lock);
	call_begin(&call, CALL_EVD_MODIFY_CNO, &evd->life, cno ? &cno->life : NULL, 0);
	ret = call_end(&call, dat_evd_modify_cno(atomic_load(&evd->life.handle),
				  cno ? atomic_load(&cno->life.handle) : DAT_HANDLE_NULL));
	pthread_mutex_lock(&evd->life.lock);
	(void)setting_end(&evd->cno, &change, ret == DAT_SUCCESS,
	    cno ? atomic_load(&cno->life.serial) : 0, clock_stamp());
	pthread_mutex_unlock(&evd->life.lock);
	return ret;
}

DAT_RETURN
evd_set_enabled(struct evd *evd, bool enabled)
{
	const DAT_EVD_HANDLE handle = atomic_load(&evd->life.handle);
	struct setting_change change;
	struct call call;
	DAT_RETURN ret;

	pthread_mutex_lock(&evd->life.lock);
	change = setting_begin(&evd->enabled);
	pthread_mutex_unlock(&evd->life.lock);
	call_begin(&call, enabled ? CALL_EVD_ENABLE : CALL_EVD_DISABLE, &evd->life, NULL, 0);
	ret = call_end(&call, enabled ? dat_evd_enable(handle) : dat_evd_disable(handle));
	pthread_mutex_lock(&evd->life.lock);
	(void)setting_end(&evd->enabled, &change, ret == DAT_SUCCESS, enabled, clock_stamp());
	pthread_mutex_unlock(&evd->life.lock);
	return ret;
}

DAT_RETURN
evd_set_waitable(struct evd *evd, bool waitable)
{
	const DAT_EVD_HANDLE handle = atomic_load(&evd->life.handle);
	struct setting_change change;
	struct call call;
	DAT_RETURN ret;

	pthread_mutex_lock(&evd->life.lock);
	change = setting_begin(&evd->waitable);
	pthread_mutex_unlock(&evd->life.lock);
	call_begin(&call, waitable ? CALL_EVD_CLEAR_UNWAITABLE : CALL_EVD_SET_UNWAITABLE,
	    &evd->life, NULL, 0);
	ret = call_end(
	    &call, waitable ? dat_evd_clear_unwaitable(handle) : dat_evd_set_unwaitable(handle));
	pthread_mutex_lock(&evd->life.lock);
	(void)setting_end(&evd->waitable, &change, ret == DAT_SUCCESS, waitable, clock_stamp());
	pthread_mutex_unlock(&evd->life.lock);
	return ret;
}
