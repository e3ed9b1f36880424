/* SPDX-License-Identifier: BSD-3-Clause */
#include "psp.h"

#include "actor.h"
#include "adapter.h"
#include "board.h"
#include "call.h"
#include "clock.h"
#include "ep.h"
#include "evd.h"
#include "report.h"

static struct psp psps[PSP_RECORDS];
static struct cr crs[CR_RECORDS];

void
psps_begin(void)
{
	life_pool(LIFE_PSP, psps, sizeof psps[0], PSP_RECORDS, NULL);
	life_pool(LIFE_CR, crs, sizeof crs[0], CR_RECORDS, NULL);
}

/* ---- service points ---- */

struct psp *
psp_make(struct adapter *adapter, struct evd *evd, bool tame)
{
	struct life *life = life_new(LIFE_PSP, &adapter->life, tame);
	struct psp *psp = (struct psp *)life;
	DAT_PSP_HANDLE handle;
	struct call call;

	if (!life)
		return NULL;
	psp->evd = evd;
	evd_hold(evd);
	call_begin(&call, CALL_PSP_CREATE, &adapter->life, &evd->life, 0);
	if (call_end(&call, dat_psp_create_any(adapter->ia, &psp->qual,
				atomic_load(&evd->life.handle), DAT_PSP_CONSUMER_FLAG, &handle)) !=
	    DAT_SUCCESS) {
		life_unhold(&evd->life);
		life_unborn(life);
		return NULL;
	}
	life_born(life, handle);
	board_add(atomic_load(&life->serial), &adapter->address, psp->qual);
	if (!adapter_add(adapter, life)) {
		if (life_may_be_ending(&adapter->life)) {
			(void)life_ended(life);
			psp_gone(psp);
		} else {
			(void)psp_free_rudely(psp);
		}
		life_unuse(life);
		return NULL;
	}
	return psp;
}

void
psp_gone(struct psp *psp)
{
	board_remove(atomic_load(&psp->life.serial));
	life_unhold(&psp->evd->life);
}

DAT_RETURN
psp_free_rudely(struct psp *psp)
{
	struct adapter *adapter = adapter_of(psp->life.home);
	struct call call;
	DAT_RETURN ret;

	board_remove(atomic_load(&psp->life.serial));
	life_end_begin(&psp->life);
	call_begin(&call, CALL_PSP_FREE, &psp->life, NULL, 0);
	ret = call_end(&call, dat_psp_free(atomic_load(&psp->life.handle)));
	if (ret != DAT_SUCCESS) {
		life_end_failed(&psp->life);
		return ret;
	}
	if (life_ended(&psp->life))
		psp_gone(psp);
	else if (!life_may_be_ending(&adapter->life))
		report_wrong(&psp->life, NULL, "dat_psp_free succeeded twice");
	adapter_drop(adapter, &psp->life);
	return ret;
}

bool
psp_end(struct life *life)
{
	if (!life_close_gate(life))
		return false;
	if (psp_free_rudely((struct psp *)life) != DAT_SUCCESS && !life_may_be_ending(life))
		report_wrong(life, NULL, "a service point could not be freed");
	return life_open_gate_unless_ended(life);
}

/* ---- requests ---- */

static void
reject_unknown(DAT_CR_HANDLE handle)
{
	(void)dat_cr_reject(handle, 0, NULL);
}

/* A request may be taken after its service point was freed, which then may have no record. */
static void
judge_sender(const struct taking *taking, const DAT_CR_ARRIVAL_EVENT_DATA *data)
{
	const struct psp *psp =
	    (struct psp *)life_find_handle(LIFE_PSP, data->sp_handle.psp_handle);

	if (!psp)
		return;
	if (psp->evd != taking->evd || psp->qual != data->conn_qual)
		report_wrong(&taking->evd->life, &psp->life,
		    "a request for %llu at %p, which listens for %llu on %s",
		    (unsigned long long)data->conn_qual, data->sp_handle.psp_handle,
		    (unsigned long long)psp->qual, life_name_text(life_name(&psp->evd->life)));
}

void
psp_judge_request(const struct taking *taking, const DAT_CR_ARRIVAL_EVENT_DATA *data)
{
	struct adapter *adapter = adapter_of(taking->evd->life.home);
	struct life *life, *known = life_find_handle(LIFE_CR, data->cr_handle);

	judge_sender(taking, data);
	if (known && !life_end(known) && !life_may_be_ending(known))
		report_wrong(&taking->evd->life, known, "the same request a second time");
	life = life_new(LIFE_CR, &adapter->life, chance(70));
	if (!life) {
		reject_unknown(data->cr_handle);
		return;
	}
	((struct cr *)life)->claimed = false;
	life_born(life, data->cr_handle);
	trace("(new CR)", life_name(life), life_name(&taking->evd->life), data->conn_qual);
	if (!adapter_add(adapter, life)) {
		(void)life_ended(life);
		reject_unknown(data->cr_handle);
	}
	life_unuse(life);
}

static void
answered(struct life *life, DAT_RETURN ret)
{
	struct adapter *adapter = adapter_of(life->home);

	if (ret != DAT_SUCCESS) {
		life_end_failed(life);
		return;
	}
	if (!life_ended(life) && !life_may_be_ending(&adapter->life))
		report_wrong(life, NULL, "a request was answered twice");
	adapter_drop(adapter, life);
}

static void
reject(struct life *life)
{
	struct call call;

	life_end_begin(life);
	call_begin(&call, CALL_CR_REJECT, life, NULL, 0);
	answered(life, call_end(&call, dat_cr_reject(atomic_load(&life->handle), 0, NULL)));
}

/*
 * The private data of a request is memory of the provider until the request is answered.  It is
 * read only from tame requests, which one thread at a time answers, and while no thread closes the
 * adapter.
 */
static bool
ask(struct life *life, struct mate *mate)
{
	struct adapter *adapter = adapter_of(life->home);
	DAT_CR_PARAM param;
	struct call call;
	bool known = false;

	*mate = (struct mate){ .known = false };
	if (!life->tame || !adapter_keep_open(adapter))
		return false;
	call_begin(&call, CALL_CR_QUERY, life, NULL, 0);
	if (call_end(&call, dat_cr_query(atomic_load(&life->handle), DAT_CR_FIELD_ALL, &param)) ==
	    DAT_SUCCESS)
		known = ep_read_hello(param.private_data, param.private_data_size, mate);
	adapter_let_close(adapter);
	return known;
}

/* If the other end is in this process, its record gets the mate before its ESTABLISHED comes. */
static void
introduce(const struct mate *mate, const struct ep *ep, uint32_t generation, bool known)
{
	struct life *life = mate->known && !mate->foreign ? life_find(LIFE_EP, mate->serial) : NULL;
	struct ep *other = ep_of(life);
	char hello[EP_HELLO_BYTES];
	struct mate us;

	if (!life || !life_use_stale(life, mate->serial))
		return;
	ep_hello(ep, hello);
	pthread_mutex_lock(&life->lock);
	if (other->generation == mate->generation && other->active &&
	    ep_read_hello(hello, EP_HELLO_BYTES, &us)) {
		us.generation = generation;
		us.known = known;
		other->mate = us;
	}
	pthread_mutex_unlock(&life->lock);
	life_unuse(life);
}

static void
accept_on(struct life *life, struct ep *ep, const struct mate *mate)
{
	char hello[EP_HELLO_BYTES];
	uint32_t generation;
	struct call call;
	DAT_RETURN ret;
	bool idle;

	pthread_mutex_lock(&ep->life.lock);
	idle = ep->phase == EP_IDLE;
	generation = ep->generation;
	if (idle)
		ep_attempt(ep, false, mate);
	ep_hello(ep, hello);
	pthread_mutex_unlock(&ep->life.lock);
	if (!idle)
		return;
	introduce(mate, ep, generation, true);
	life_end_begin(life);
	call_begin(&call, CALL_CR_ACCEPT, life, &ep->life, 0);
	ret = call_end(&call, dat_cr_accept(atomic_load(&life->handle),
				  atomic_load(&ep->life.handle), EP_HELLO_BYTES, hello));
	if (ret != DAT_SUCCESS) {
		pthread_mutex_lock(&ep->life.lock);
		if (dat_is(ret, DAT_INVALID_STATE) && !ep->fuzzy)
			report_wrong(&ep->life, life,
			    "dat_cr_accept on an idle endpoint returned %s", dat_name(ret));
		ep_attempt_failed(ep);
		pthread_mutex_unlock(&ep->life.lock);
		introduce(mate, ep, generation, false);
	}
	answered(life, ret);
}

/* One thread at a time answers a tame request. */
static bool
claim(struct life *life)
{
	struct cr *cr = (struct cr *)life;
	bool mine;

	pthread_mutex_lock(&life->lock);
	mine = !life->tame || !cr->claimed;
	cr->claimed = true;
	pthread_mutex_unlock(&life->lock);
	return mine;
}

static void
unclaim(struct life *life)
{
	pthread_mutex_lock(&life->lock);
	((struct cr *)life)->claimed = false;
	pthread_mutex_unlock(&life->lock);
}

void
cr_answer(struct life *life, struct ep *ep)
{
	struct mate mate;

	if (!claim(life))
		return;
	if (!ep) {
		reject(life);
	} else if (ep_enter(ep)) {
		(void)ask(life, &mate);
		accept_on(life, ep, &mate);
		ep_leave(ep);
	}
	unclaim(life);
}

bool
cr_end(struct life *life)
{
	if (!life_close_gate(life))
		return false;
	reject(life);
	return life_open_gate_unless_ended(life);
}
