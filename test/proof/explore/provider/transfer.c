/* SPDX-License-Identifier: BSD-3-Clause */
/* transfer -- each request: what the device did, and what its event contains */
#include "play.h"

#define OUTCOME_OF(status) ((uint8_t)(OUTCOME_DONE + (status)))

/* ---- what the device did ---- */

struct known {
	struct play_ep *ep;
	struct play_life *life;
	unsigned int n_life, direction, number;
};

static bool
find(uint64_t cookie, struct known *k)
{
	k->number = cookie & 0xffff;
	k->direction = cookie >> 16 & 0xffff;
	k->n_life = cookie >> 32 & 0xff;
	k->ep = &play.eps[(cookie >> 40) % EPS];
	k->life = &k->ep->lives[k->n_life % PLAY_LIVES];
	return cookie >> 40 < (uint64_t)play.scenario->n_eps && k->direction <= 1 &&
	       k->n_life <= k->ep->life && k->number < k->life->posted[k->direction];
}

uint64_t
judge_cookie(void)
{
	return play.posting[play_self()];
}

static uint8_t *
outcome_of(uint64_t cookie)
{
	struct known k;

	if (!find(cookie, &k))
		violation("a request is posted that the consumer did not post");
	return &k.life->outcomes[k.direction][k.number];
}

void
judge_posted(uint64_t cookie)
{
	uint8_t *outcome;

	if (binds_posted(cookie))
		return;
	if (stock_is(cookie)) {
		stock_posted(cookie);
		return;
	}
	outcome = outcome_of(cookie);
	if (*outcome != OUTCOME_NONE)
		violation("a request is posted twice");
	*outcome = OUTCOME_POSTED;
}

void
judge_completed(uint64_t cookie, enum ibv_wc_status status)
{
	struct known k;

	if (binds_completed(cookie, status))
		return;
	if (stock_is(cookie)) {
		stock_completed(cookie, status);
		return;
	}
	*outcome_of(cookie) = OUTCOME_OF(status);
	(void)find(cookie, &k);
	if (status == IBV_WC_SUCCESS || status == IBV_WC_WR_FLUSH_ERR)
		return;
	k.life->causes |= CAUSE_FAILED;
	if (k.direction == REQUESTS && k.ep->object->state == DAT_EP_STATE_DISCONNECT_PENDING)
		k.life->causes |= CAUSE_FAILED_LEAVING;
}

uint32_t
judge_length(uint64_t cookie)
{
	return 3 * (uint32_t)(cookie & 0xffff) + 1;
}

bool
judge_solicits(uint64_t cookie)
{
	return cookie & 1;
}

/* ---- the contents of the events ---- */

static const char *
name_of(enum direction direction)
{
	return direction == RECEIVES ? "receive" : "request";
}

DAT_DTO_COMPLETION_STATUS
transfer_status(uint8_t outcome)
{
	switch ((enum ibv_wc_status)(outcome - OUTCOME_DONE)) {
	case IBV_WC_SUCCESS:
		return DAT_DTO_SUCCESS;
	case IBV_WC_WR_FLUSH_ERR:
		return DAT_DTO_ERR_FLUSHED;
	case IBV_WC_LOC_LEN_ERR:
		return DAT_DTO_ERR_LOCAL_LENGTH;
	case IBV_WC_LOC_QP_OP_ERR:
		return DAT_DTO_ERR_LOCAL_EP;
	case IBV_WC_LOC_PROT_ERR:
	case IBV_WC_LOC_ACCESS_ERR:
		return DAT_DTO_ERR_LOCAL_PROTECTION;
	case IBV_WC_BAD_RESP_ERR:
		return DAT_DTO_ERR_BAD_RESPONSE;
	case IBV_WC_REM_ACCESS_ERR:
		return DAT_DTO_ERR_REMOTE_ACCESS;
	case IBV_WC_REM_INV_REQ_ERR:
	case IBV_WC_REM_OP_ERR:
	case IBV_WC_REM_ABORT_ERR:
		return DAT_DTO_ERR_REMOTE_RESPONDER;
	case IBV_WC_RNR_RETRY_EXC_ERR:
	case IBV_WC_RESP_TIMEOUT_ERR:
		return DAT_DTO_ERR_RECEIVER_NOT_READY;
	default:
		return DAT_DTO_ERR_TRANSPORT;
	}
}

/* The event agrees with what the device did. */
static void
check_contents(const struct known *k, const DAT_DTO_COMPLETION_EVENT_DATA *data)
{
	const uint8_t outcome = k->life->outcomes[k->direction][k->number];
	const char name = (char)('e' + k->ep->index);

	if (outcome == OUTCOME_POSTED)
		violation("%s %u of endpoint %c has an event, and is outstanding",
		    name_of(k->direction), k->number, name);
	/* What the device never had is flushed by the provider. */
	if (data->status !=
	    (outcome == OUTCOME_NONE ? DAT_DTO_ERR_FLUSHED : transfer_status(outcome)))
		violation("%s %u of endpoint %c: the event has status %d, the device's is %d",
		    name_of(k->direction), k->number, name, data->status, outcome - OUTCOME_DONE);
	if (data->operation != (k->direction == RECEIVES ? DAT_DTO_RECEIVE : DAT_DTO_SEND))
		violation("%s %u of endpoint %c is reported as another operation",
		    name_of(k->direction), k->number, name);
	if (data->status == DAT_DTO_SUCCESS &&
	    data->transfered_length != judge_length(data->user_cookie.as_64))
		violation("%s %u of endpoint %c: the event says %u bytes", name_of(k->direction),
		    k->number, name, (unsigned int)data->transfered_length);
}

static void
check_order(const struct play_evd *evd, const struct known *k)
{
	struct play_life *life = k->life;
	const char name = (char)('e' + k->ep->index);

	if ((int)k->number < life->last[k->direction])
		violation("order: %s %u of endpoint %c comes after %d", name_of(k->direction),
		    k->number, name, life->last[k->direction]);
	life->last[k->direction] = (int)k->number;
	if (evd->index != k->ep->spec->connect)
		return;
	/* An attempt that fails is reported after its receives: then there is no ESTABLISHED. */
	if (!life->established && !life->ended && k->direction == RECEIVES) {
		life->early = true;
		if (life->outcomes[RECEIVES][k->number] != OUTCOME_OF(IBV_WC_WR_FLUSH_ERR) &&
		    !life->ending_at && !(life->patience && sched.now >= life->patience))
			violation("order: a receive of endpoint %c overtakes ESTABLISHED", name);
	}
	/*
	 * What was posted when the connection was about to end is another matter.  When an attempt
	 * has ended is not known if its time was over, or a reset could fail.
	 */
	if (life->ended &&
	    (life->established || (k->direction == RECEIVES && !life->patience && !sched.faults)) &&
	    life->posted_at[k->direction][k->number] &&
	    life->posted_at[k->direction][k->number] < life->ending_at &&
	    sched.now < life->ending_time + PATIENCE_NS)
		violation("order: %s %u of endpoint %c comes after the connection's end",
		    name_of(k->direction), k->number, name);
}

void
judge_transfer(const struct play_evd *evd, const DAT_DTO_COMPLETION_EVENT_DATA *data, bool ordered)
{
	struct known k;

	if (stock_is(data->user_cookie.as_64)) {
		stock_transfer(evd, data, ordered);
		return;
	}
	if (!find(data->user_cookie.as_64, &k))
		violation("an event has a cookie that was not posted: %llx",
		    (unsigned long long)data->user_cookie.as_64);
	trace_note("%s %u of %c is delivered: %d", name_of(k.direction), k.number,
	    'e' + k.ep->index, data->status);
	if (data->ep_handle != k.life->handle)
		violation("an event of endpoint %c names another one", 'e' + k.ep->index);
	if (evd->index != (k.direction ? k.ep->spec->recv : k.ep->spec->request))
		violation("an event of endpoint %c is delivered by EVD %c", 'e' + k.ep->index,
		    'a' + evd->index);
	if (k.life->delivered[k.direction] >> k.number & 1)
		violation("I2: %s %u of endpoint %c is delivered twice", name_of(k.direction),
		    k.number, 'e' + k.ep->index);
	k.life->delivered[k.direction] |= 1u << k.number;
	judge_life(k.ep, k.n_life);
	if (k.direction == REQUESTS && k.life->mute >> k.number & 1 &&
	    data->status == DAT_DTO_SUCCESS)
		violation("a suppressed request of endpoint %c has an event", 'e' + k.ep->index);
	check_contents(&k, data);
	if (ordered)
		check_order(evd, &k);
}

/* ---- at rest ---- */

/* Whether its event is still to come; `loudly`: and is to wake the consumer. */
static bool
is_due(const struct play_ep *ep, unsigned int direction, unsigned int number, bool loudly)
{
	const struct play_life *life = &ep->lives[ep->life];
	const uint8_t outcome = life->outcomes[direction][number];
	const bool well = outcome == OUTCOME_OF(IBV_WC_SUCCESS);
	const uint32_t silent = life->mute | (loudly ? life->hushed : 0);

	if (life->delivered[direction] >> number & 1)
		return false;
	if (direction == REQUESTS && well && silent >> number & 1)
		return false;
	if (outcome >= OUTCOME_DONE)
		return true;
	/* The queue pair is in the error state, and flushes. */
	return ep->object->state == DAT_EP_STATE_DISCONNECTED;
}

static void
check_due(const struct play_ep *ep, unsigned int direction, bool loudly)
{
	const struct play_life *life = &ep->lives[ep->life];

	for (unsigned int n = 0; n < life->posted[direction]; n++)
		if (is_due(ep, direction, n, loudly))
			violation("I2: %s %u of endpoint %c is %s", name_of(direction), n,
			    'e' + ep->index, loudly ? "not handed to an upcall" : "lost");
}

/* No thread can run any more: the upcalls have taken every signalled completion. */
void
judge_transfers_rest(struct play_ep *ep)
{
	const struct play_life *life = play_life(ep);

	for (unsigned int d = 0; d < 2; d++) {
		const struct play_evd *evd = &play.evds[d ? ep->spec->recv : ep->spec->request];
		const struct play_evd_life *on = &evd->lives[evd->life];

		if (on->over || evd->lost || !evd_policy_calls(on->object->core.policy) ||
		    on->object->core.solicited_only)
			continue;
		/* Receives wait for ESTABLISHED where the connection's events come, too. */
		if (d == RECEIVES && !life->established && !life->ended)
			continue;
		check_due(ep, d, true);
	}
}

/* After everything that was still queued was taken. */
void
judge_transfers_end(struct play_ep *ep)
{
	const struct play_life *life = play_life(ep);

	for (unsigned int d = 0; d < 2; d++)
		if (!judge_evd_gone(d ? ep->spec->recv : ep->spec->request) &&
		    (d == REQUESTS || life->established || life->ended))
			check_due(ep, d, false);
}
