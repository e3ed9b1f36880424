/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * stock -- the shared receive queue: its buffers, each of which is posted, taken by a message and
 * delivered, and the reports that an endpoint takes no more of them
 */
#include "play.h"

#define STOCK_EP EPS /* the cookies of buffers have it in the place of an endpoint */

bool
stock_is(uint64_t cookie)
{
	return cookie >> 40 == STOCK_EP;
}

static struct play_buffer *
buffer_of(uint64_t cookie)
{
	const uint64_t number = cookie & 0xffff;

	if (cookie != ((uint64_t)STOCK_EP << 40 | number) || number >= play.n_buffers)
		violation("a buffer that the consumer did not post");
	return &play.buffers[number];
}

/* ---- the consumer ---- */

void
stock_post(void)
{
	uint64_t *posting = &play.posting[play_self()];
	const uint64_t outer = *posting;
	const unsigned int number = play.n_buffers++;
	DAT_DTO_COOKIE cookie = { .as_64 = (uint64_t)STOCK_EP << 40 | number };
	DAT_LMR_TRIPLET segment = { .segment_length = judge_length(cookie.as_64) };
	DAT_RETURN ret;

	if (number == STOCK_MAX)
		violation("the scenario posts too much");
	*posting = cookie.as_64;
	ret = dapl_srq_post_recv(play.srq, 1, &segment, cookie);
	*posting = outer;
	sched_step(OP_EVENT);
	if (ret != DAT_SUCCESS && play.buffers[number].outcome != OUTCOME_NONE)
		violation("a buffer that could not be posted was posted");
	consumer_result("srq_post_recv", ret,
	    consumer_gone(ret, false, DO_IA_CLOSE, DO_IA_CLOSE) ||
		consumer_is(ret, DAT_INSUFFICIENT_RESOURCES));
}

void
stock_resize(int length)
{
	const DAT_RETURN ret = dapl_srq_resize(play.srq, length);

	sched_step(OP_EVENT);
	consumer_result("srq_resize", ret,
	    consumer_gone(ret, false, DO_IA_CLOSE, DO_IA_CLOSE) ||
		consumer_is(ret, DAT_INVALID_STATE));
}

void
stock_open(void)
{
	DAT_SRQ_ATTR attr = { play.scenario->stock > 1 ? play.scenario->stock : 1, 1, 0 };
	uint64_t number;

	if (dapl_srq_create(play.ia, play.pz, &attr, &play.srq) != DAT_SUCCESS)
		violation("srq_create failed");
	play.shared = dapl_handle_object(play.srq, DAPL_KIND_SRQ, &number);
	for (int i = 0; i < play.scenario->stock; i++)
		stock_post();
}

/* ---- the device ---- */

void
stock_posted(uint64_t cookie)
{
	struct play_buffer *buffer = buffer_of(cookie);

	if (buffer->outcome != OUTCOME_NONE)
		violation("a buffer is posted twice");
	buffer->outcome = OUTCOME_POSTED;
}

void
judge_taken(uint64_t cookie, const void *context, uint32_t generation)
{
	struct play_buffer *buffer = buffer_of(cookie);

	for (int i = 0; i < play.scenario->n_eps; i++)
		for (unsigned int l = 0; l <= play.eps[i].life; l++)
			if (play.eps[i].object == context &&
			    play.eps[i].lives[l].generation == generation) {
				buffer->ep = &play.eps[i];
				buffer->life = l;
				buffer->order = ++play.eps[i].lives[l].taken;
				return;
			}
	violation("a message takes a buffer for an endpoint that is not known");
}

void
stock_completed(uint64_t cookie, enum ibv_wc_status status)
{
	struct play_buffer *buffer = buffer_of(cookie);

	buffer->outcome = (uint8_t)(OUTCOME_DONE + status);
	if (status != IBV_WC_SUCCESS && status != IBV_WC_WR_FLUSH_ERR)
		buffer->ep->lives[buffer->life].causes |= CAUSE_FAILED;
}

/* ---- events ---- */

static void
check_order(const struct play_evd *evd, const struct play_buffer *buffer)
{
	struct play_life *life = &buffer->ep->lives[buffer->life];
	const char name = (char)('e' + buffer->ep->index);

	if (buffer->order <= life->came)
		violation("order: message %u of endpoint %c comes after %u", buffer->order, name,
		    life->came);
	life->came = buffer->order;
	if (evd->index != buffer->ep->spec->connect)
		return;
	if (!life->established && !life->ended)
		violation("order: a message of endpoint %c overtakes ESTABLISHED", name);
	/* A reset does not wait. */
	if (life->ended && life->established && !life->hastened &&
	    sched.now < life->ending_time + PATIENCE_NS)
		violation("order: a message of endpoint %c comes after the connection's end", name);
}

void
stock_transfer(const struct play_evd *evd, const DAT_DTO_COMPLETION_EVENT_DATA *data, bool ordered)
{
	struct play_buffer *buffer = buffer_of(data->user_cookie.as_64);
	const struct play_ep *ep = buffer->ep;

	if (buffer->outcome < OUTCOME_DONE)
		violation("a buffer has an event, and no message has taken it");
	if (buffer->delivered)
		violation("I2: a buffer is delivered twice");
	buffer->delivered = true;
	if (data->ep_handle != ep->lives[buffer->life].handle)
		violation("a message of endpoint %c names another one", 'e' + ep->index);
	if (evd->index != ep->spec->recv)
		violation("a message of endpoint %c is delivered by EVD %c", 'e' + ep->index,
		    'a' + evd->index);
	if (data->status != transfer_status(buffer->outcome))
		violation("a buffer has status %d, the device's is %d", data->status,
		    buffer->outcome - OUTCOME_DONE);
	judge_life(ep, buffer->life);
	if (ordered)
		check_order(evd, buffer);
}

/* ---- reports ---- */

/* The connections that the endpoint with that handle may have had, or has surely had and lost. */
static unsigned int
connections(const struct play_ep *ep, DAT_HANDLE handle, bool surely)
{
	unsigned int n = 0;

	for (unsigned int l = 0; l <= ep->life; l++) {
		const struct play_life *life = &ep->lives[l];

		if (life->handle == handle)
			n += surely ? life->established && life->ended :
				      (life->causes & (CAUSE_ACCEPTED | CAUSE_BROKE)) != 0 ||
					  (l == 0 && ep->spec->begin == EP_BEGINS_CONNECTED);
	}
	return n;
}

bool
stock_reported(DAT_HANDLE handle)
{
	for (int i = 0; i < play.scenario->n_eps; i++) {
		struct play_ep *ep = &play.eps[i];
		struct play_life *life = &ep->lives[0];

		while (life->handle != handle && life < play_life(ep))
			life++;
		if (!ep->spec || !ep->spec->shared || life->handle != handle)
			continue;
		if (++life->reports > connections(ep, handle, false))
			violation("endpoint %c is reported, and has not lost another connection",
			    'e' + i);
		return true;
	}
	return false;
}

static void
check_reports(const struct play_ep *ep)
{
	const struct play_life *life = &ep->lives[0];

	while (life->handle != play_life((struct play_ep *)ep)->handle)
		life++;
	if (life->reports < connections(ep, life->handle, true))
		violation("a lost connection of endpoint %c is not reported", 'e' + ep->index);
}

/* ---- the end: everything that was queued was taken ---- */

static bool
has_reports(void)
{
	for (int i = 0; i < play.scenario->n_evds; i++)
		if (play.evds[i].spec->async && !judge_evd_gone(i))
			return true;
	return false;
}

void
stock_end(void)
{
	unsigned int left = 0, undelivered = 0;
	DAT_SRQ_PARAM param;

	if (!play.srq || play.closed)
		return;
	for (unsigned int i = 0; i < play.n_buffers; i++) {
		const struct play_buffer *buffer = &play.buffers[i];
		const struct play_ep *ep = buffer->ep;

		left += buffer->outcome == OUTCOME_POSTED;
		if (buffer->outcome < OUTCOME_DONE || buffer->delivered)
			continue;
		if (ep->freed || buffer->life < ep->life)
			continue;
		undelivered++;
		if (!judge_evd_gone(ep->spec->recv) && !ep->lives[buffer->life].vague &&
		    (ep->lives[buffer->life].established || ep->lives[buffer->life].ended))
			violation("I2: message %u of endpoint %c is lost", buffer->order,
			    'e' + ep->index);
	}
	if (dapl_srq_query(play.srq, DAT_SRQ_FIELD_ALL, &param) != DAT_SUCCESS)
		violation("the shared receive queue cannot be queried");
	if (param.available_dto_count < (DAT_COUNT)left ||
	    param.outstanding_dto_count > (DAT_COUNT)(left + undelivered))
		violation("%u buffers are left and %u not delivered, the queue says %d and %d",
		    left, undelivered, param.available_dto_count, param.outstanding_dto_count);
	for (int i = 0; i < play.scenario->n_eps; i++)
		if (play.eps[i].spec->shared && !play.eps[i].freed && has_reports())
			check_reports(&play.eps[i]);
}
