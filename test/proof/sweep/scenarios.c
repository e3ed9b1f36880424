/* SPDX-License-Identifier: BSD-3-Clause */
#include "story.h"

#include <stdatomic.h>
#include <string.h>

#include "inject.h"

/* ---- objects ---- */

static void
open_close(struct story *story)
{
	if (story_open(story, &story->a))
		(void)story_close(story, &story->a);
}

static void
open_twice(struct story *story)
{
	if (story_open(story, &story->a) && story_open(story, &story->b) &&
	    story_close(story, &story->a))
		(void)story_close(story, &story->b);
}

static void
memory(struct story *story)
{
	if (story_open(story, &story->a) && story_memory(story, &story->a))
		(void)story_free(story, &story->a);
}

static void
evds(struct story *story)
{
	static const DAT_EVD_FLAGS flags[] = {
		DAT_EVD_SOFTWARE_FLAG,
		DAT_EVD_DTO_FLAG,
		DAT_EVD_CONNECTION_FLAG,
		DAT_EVD_CR_FLAG,
		DAT_EVD_DTO_FLAG | DAT_EVD_CONNECTION_FLAG | DAT_EVD_SOFTWARE_FLAG,
	};
	enum { N = sizeof flags / sizeof flags[0] };
	DAT_EVD_HANDLE evd[2 * N];
	struct side *side = &story->a;

	if (!story_open(story, side) ||
	    !TRY(story, dat_cno_create(side->ia, DAT_OS_WAIT_PROXY_AGENT_NULL, &side->cno)))
		return;
	for (int i = 0; i < 2 * N; i++)
		if (!TRY(story, dat_evd_create(side->ia, 8, i < N ? DAT_HANDLE_NULL : side->cno,
				    flags[i % N], &evd[i])))
			return;
	for (int i = 0; i < 2 * N; i++)
		if (!TRY(story, dat_evd_free(evd[i])))
			return;
	(void)story_free(story, side);
}

static void
endpoint(struct story *story)
{
	if (story_open(story, &story->a) && story_memory(story, &story->a) &&
	    story_endpoint(story, &story->a) && story_listen(story, &story->a))
		(void)story_free(story, &story->a);
}

/* What has users is refused; what is left is closed with the adapter. */
static void
odd_order(struct story *story)
{
	struct side *side = &story->a;

	if (!story_open(story, side) || !story_memory(story, side) ||
	    !TRY(story, dat_cno_create(side->ia, DAT_OS_WAIT_PROXY_AGENT_NULL, &side->cno)) ||
	    !story_merged_endpoint(story, side) || !story_listen(story, side) ||
	    !story_post_recv(story, side, 1))
		return;
	if (DAT_GET_TYPE(dat_pz_free(side->pz)) != DAT_INVALID_STATE ||
	    DAT_GET_TYPE(dat_cno_free(side->cno)) != DAT_INVALID_STATE ||
	    DAT_GET_TYPE(dat_evd_free(side->cr)) != DAT_INVALID_STATE ||
	    DAT_GET_TYPE(dat_evd_free(side->recv)) != DAT_INVALID_STATE ||
	    DAT_GET_TYPE(dat_ia_close(side->ia, DAT_CLOSE_GRACEFUL_FLAG)) != DAT_INVALID_STATE)
		story_wrong("something in use was freed");
	if (!TRY(story, dat_lmr_free(side->lmr)) || !TRY(story, dat_psp_free(side->psp)))
		return;
	(void)story_close(story, side);
}

/* ---- connections ---- */

static void
connect_disconnect(struct story *story)
{
	if (!story_pair(story) || !story_connect(story) ||
	    !TRY(story, dat_ep_disconnect(story->a.ep, DAT_CLOSE_ABRUPT_FLAG)) ||
	    !story_ended(story))
		return;
	if (story_free(story, &story->a))
		(void)story_free(story, &story->b);
}

/*
 * What is posted to an endpoint after its connection ended completes at once, without the device.
 */
static void
flushed(struct story *story)
{
	struct side *a = &story->a;

	if (!story_pair(story) || !story_connect(story) ||
	    !TRY(story, dat_ep_disconnect(a->ep, DAT_CLOSE_ABRUPT_FLAG)) || !story_ended(story) ||
	    !story_post_recv(story, a, 1) || !story_flush(story, a, a->recv, 1) ||
	    !story_post_send(story, a, 2) || !story_flush(story, a, a->request, 2))
		return;
	if (story_free(story, a))
		(void)story_free(story, &story->b);
}

static void
refused(struct story *story)
{
	DAT_CR_HANDLE cr;
	DAT_EVENT event;

	if (!story_pair(story) || !story_request(story, &cr) ||
	    !TRY(story, dat_cr_reject(cr, 0, NULL)) || !story_next(story, story->a.connect, &event))
		return;
	if (event.event_number != DAT_CONNECTION_EVENT_PEER_REJECTED && !inject_met())
		story_wrong("event 0x%x in place of PEER_REJECTED", event.event_number);
	if (!TRY(story, dat_ep_reset(story->a.ep)))
		return;
	if (story_free(story, &story->b))
		(void)story_free(story, &story->a);
}

/* Endpoints that the provider makes: one goes with its request, one is given what it needs. */
static void
made(struct story *story)
{
	struct side *a = &story->a, *b = &story->b;
	DAT_EP_PARAM param;
	DAT_CR_HANDLE cr;
	DAT_EVENT event;

	if (!story_open(story, a) || !story_open(story, b) || !story_memory(story, a) ||
	    !story_memory(story, b) || !story_endpoint(story, a) || !story_endpoint(story, b) ||
	    !TRY(story, dat_ep_free(b->ep)))
		return;
	b->ep = DAT_HANDLE_NULL;
	if (!story_offer(story, b))
		return;
	/* Refused for want of an endpoint, the request leaves nothing that is in the way. */
	if (!story_request(story, &cr)) {
		(void)story_free(story, b);
		return;
	}
	if (!TRY(story, dat_cr_reject(cr, 0, NULL)) || !story_next(story, a->connect, &event) ||
	    !TRY(story, dat_ep_reset(a->ep)) || !story_request(story, &cr))
		return;
	param = (DAT_EP_PARAM){
		.pz_handle = b->pz,
		.recv_evd_handle = b->recv,
		.request_evd_handle = b->request,
		.connect_evd_handle = b->connect,
	};
	if (!story_made(story, cr, &b->ep) ||
	    !TRY(story, dat_ep_modify(b->ep,
			    DAT_EP_FIELD_PZ_HANDLE | DAT_EP_FIELD_RECV_EVD_HANDLE |
				DAT_EP_FIELD_REQUEST_EVD_HANDLE | DAT_EP_FIELD_CONNECT_EVD_HANDLE,
			    &param)) ||
	    !story_post_recv(story, b, 1) ||
	    !TRY(story, dat_cr_accept(cr, DAT_HANDLE_NULL, 0, NULL)) || !story_met(story) ||
	    !story_post_send(story, a, 2) || !story_completion(story, b, b->recv, 1))
		return;
	if (story_free(story, b))
		(void)story_free(story, a);
}

/* A request is handed to a service point that makes an endpoint for it, and comes from there. */
static void
handed(struct story *story)
{
	struct side *a = &story->a, *b = &story->b;
	DAT_PSP_HANDLE makes;
	DAT_CONN_QUAL qual;
	DAT_CR_HANDLE cr;
	DAT_EP_HANDLE ep;
	DAT_EVENT event;

	if (!story_pair(story) ||
	    !TRY_OR(story, DAT_CONN_QUAL_UNAVAILABLE,
		dat_psp_create_any(b->ia, &qual, b->cr, DAT_PSP_PROVIDER_FLAG, &makes)) ||
	    !story_request(story, &cr) || !TRY(story, dat_cr_handoff(cr, qual)) ||
	    !story_next(story, b->cr, &event))
		return;
	cr = event.event_data.cr_arrival_event_data.cr_handle;
	if (!story_made(story, cr, &ep) || !TRY(story, dat_cr_reject(cr, 0, NULL)) ||
	    !story_next(story, a->connect, &event) || !TRY(story, dat_psp_free(makes)))
		return;
	if (story_free(story, b))
		(void)story_free(story, a);
}

/* A common service point, which is created and freed. */
static void
common(struct story *story)
{
	struct side *side = &story->a;
	DAT_CSP_PARAM param;
	DAT_CSP_HANDLE csp;
	DAT_IA_ATTR attr;
	DAT_COMM comm;

	if (!story_open(story, side) ||
	    !TRY(story, dat_evd_create(side->ia, 8, DAT_HANDLE_NULL, DAT_EVD_CR_FLAG, &side->cr)) ||
	    !TRY(story, dat_ia_query(side->ia, NULL, DAT_IA_FIELD_IA_ADDRESS_PTR, &attr, 0, NULL)))
		return;
	comm = (DAT_COMM){ attr.ia_address_ptr->sa_family, SOCK_STREAM, 0 };
	if (TRY_OR(story, DAT_CONN_QUAL_UNAVAILABLE,
		dat_csp_create(side->ia, &comm, attr.ia_address_ptr, side->cr, &csp)) &&
	    TRY(story, dat_csp_query(csp, DAT_CSP_FIELD_ALL, &param)) &&
	    TRY(story, dat_csp_free(csp)))
		(void)story_free(story, side);
}

static void
unanswered(struct story *story)
{
	DAT_CR_HANDLE cr;

	/* The listener closes with a request that was not answered. */
	if (story_pair(story) && story_request(story, &cr) && story_close(story, &story->b))
		(void)story_close(story, &story->a);
}

static void
reuse(struct story *story)
{
	if (!story_pair(story) || !story_connect(story) ||
	    !TRY(story, dat_ep_disconnect(story->b.ep, DAT_CLOSE_GRACEFUL_FLAG)) ||
	    !story_ended(story))
		return;
	if (!TRY(story, dat_ep_reset(story->a.ep)) || !TRY(story, dat_ep_reset(story->b.ep)))
		return;
	if (story_connect(story) && story_close(story, &story->a))
		(void)story_close(story, &story->b);
}

static void
merged(struct story *story)
{
	DAT_EVENT event;

	if (!story_open(story, &story->a) || !story_open(story, &story->b) ||
	    !story_memory(story, &story->a) || !story_memory(story, &story->b) ||
	    !story_merged_endpoint(story, &story->a) || !story_merged_endpoint(story, &story->b) ||
	    !story_listen(story, &story->b) || !story_post_recv(story, &story->b, 7) ||
	    !story_connect(story) || !story_post_send(story, &story->a, 8) ||
	    !story_completion(story, &story->a, story->a.recv, 8) ||
	    !story_completion(story, &story->b, story->b.recv, 7) ||
	    !TRY(story, dat_ep_free(story->a.ep)))
		return;
	story->a.ep = DAT_HANDLE_NULL;
	if (story_next(story, story->b.recv, &event) && story_free(story, &story->a))
		(void)story_free(story, &story->b);
}

/* ---- data ---- */

static void
transfer(struct story *story)
{
	DAT_RMR_TRIPLET remote = { 0 };
	DAT_LMR_TRIPLET local = { 0 };
	const DAT_DTO_COOKIE cookie = { .as_64 = 9 };
	struct side *a = &story->a, *b = &story->b;

	if (!story_pair(story) || !story_post_recv(story, b, 1) || !story_connect(story))
		return;
	memset(a->buffer, 'x', 64);
	if (!story_post_send(story, a, 2) || !story_completion(story, a, a->request, 2) ||
	    !story_completion(story, b, b->recv, 1))
		return;
	if (memcmp(b->buffer, a->buffer, 64))
		story_wrong("the message arrived as something else");
	local.virtual_address = (DAT_VADDR)(uintptr_t)a->buffer;
	local.segment_length = 128;
	local.lmr_context = a->lmr_context;
	remote.virtual_address = (DAT_VADDR)(uintptr_t)b->buffer;
	remote.segment_length = 128;
	remote.rmr_context = b->rmr_context;
	if (!TRY(story, dat_ep_post_rdma_write(
			    a->ep, 1, &local, cookie, &remote, DAT_COMPLETION_DEFAULT_FLAG)) ||
	    !story_completion(story, a, a->request, 9) ||
	    !TRY(story, dat_ep_post_rdma_read(
			    a->ep, 1, &local, cookie, &remote, DAT_COMPLETION_DEFAULT_FLAG)) ||
	    !story_completion(story, a, a->request, 9))
		return;
	if (TRY(story, dat_ep_disconnect(b->ep, DAT_CLOSE_ABRUPT_FLAG)) && story_ended(story) &&
	    story_free(story, a))
		(void)story_free(story, b);
}

/* ---- waiting ---- */

static void
waiting(struct story *story)
{
	struct side *side = &story->a;
	DAT_EVD_HANDLE evd;
	DAT_EVENT event;
	DAT_COUNT more;
	DAT_RETURN ret;

	if (!story_open(story, side) ||
	    !TRY(story, dat_evd_create(side->ia, 8, DAT_HANDLE_NULL,
			    DAT_EVD_SOFTWARE_FLAG | DAT_EVD_DTO_FLAG, &evd)) ||
	    !story_post_se(story, evd, 1) || !story_post_se(story, evd, 2) ||
	    !TRY_OR(story, DAT_INTERRUPTED_CALL, dat_evd_wait(evd, 1000000, 2, &event, &more)) ||
	    !TRY_OR(story, DAT_INTERRUPTED_CALL, dat_evd_wait(evd, 1000000, 1, &event, &more)))
		return;
	ret = dat_evd_wait(evd, 2000, 1, &event, &more);
	if (DAT_GET_TYPE(ret) != DAT_TIMEOUT_EXPIRED &&
	    story_judge(story, "dat_evd_wait", ret, DAT_INTERRUPTED_CALL, false))
		story_wrong("an event came twice");
	if (TRY(story, dat_evd_free(evd)))
		(void)story_free(story, side);
}

static void
cno(struct story *story)
{
	struct side *side = &story->a;
	DAT_EVD_HANDLE evd[3], told;
	DAT_EVENT event;

	if (!story_open(story, side) ||
	    !TRY(story, dat_cno_create(side->ia, DAT_OS_WAIT_PROXY_AGENT_NULL, &side->cno)))
		return;
	for (int i = 0; i < 3; i++)
		if (!TRY(story,
			dat_evd_create(side->ia, 8, side->cno, DAT_EVD_SOFTWARE_FLAG, &evd[i])) ||
		    !story_post_se(story, evd[i], 1))
			return;
	for (int i = 0; i < 3; i++) {
		told = DAT_HANDLE_NULL;
		if (!TRY_OR(story, DAT_INTERRUPTED_CALL, dat_cno_wait(side->cno, 1000000, &told)))
			return;
		if (!told || !story_next(story, told, &event))
			story_wrong("the CNO named no EVD with an event");
	}
	for (int i = 0; i < 3; i++)
		if (!TRY(story, dat_evd_free(evd[i])))
			return;
	(void)story_free(story, side);
}

/* ---- upcalls ---- */

struct log {
	struct story *story;
	DAT_EVD_HANDLE evd;
	_Atomic(int) events, calls, nulls;
};

static void
counts(DAT_PVOID instance, const DAT_EVENT *event, DAT_BOOLEAN more)
{
	struct log *log = instance;

	(void)event;
	(void)more;
	log->events++;
	log->calls++;
}

/* The pattern of an iSER target: switch off, drain, switch on; what came meanwhile refuses that. */
static void
drains(DAT_PVOID instance, const DAT_EVENT *event, DAT_BOOLEAN more)
{
	struct log *log = instance;
	DAT_EVENT next;
	DAT_RETURN ret;

	(void)more;
	if (!TRY(log->story, dat_evd_modify_upcall(log->evd, DAT_UPCALL_DISABLE, DAT_UPCALL_SAME,
				 DAT_UPCALL_INVOC_NEW)))
		return;
	if (event)
		log->events++;
	do {
		for (;;) {
			ret = dat_evd_dequeue(log->evd, &next);
			if (ret == DAT_SUCCESS)
				log->events++;
			else if (DAT_GET_TYPE(ret) == DAT_QUEUE_EMPTY)
				break;
			else if (!story_dequeue_failed(log->story, ret))
				break;
			else if (log->story->for_ever)
				return;
		}
		ret = dat_evd_modify_upcall(
		    log->evd, DAT_UPCALL_SINGLE_INSTANCE, DAT_UPCALL_SAME, DAT_UPCALL_INVOC_NEW);
		if (ret != DAT_SUCCESS && DAT_GET_TYPE(ret) != DAT_INVALID_STATE &&
		    !story_judge(log->story, "dat_evd_modify_upcall", ret, 0, false) &&
		    log->story->for_ever)
			return;
	} while (ret != DAT_SUCCESS);
	log->calls++;
}

static struct log *
new_log(struct story *story)
{
	static struct log log;

	log = (struct log){ .story = story };
	return &log;
}

static bool
kcreate(struct story *story, struct side *side, DAT_UPCALL_POLICY policy, DAT_UPCALL_FUNC fn,
    DAT_EVD_FLAGS flags, struct log *log)
{
	DAT_UPCALL_OBJECT object = { log, fn };

	return TRY(story, dat_evd_kcreate(side->ia, 32, policy, &object, flags, &log->evd));
}

static void
upcalls(struct story *story)
{
	struct side *a = &story->a, *b = &story->b;
	struct log *log = new_log(story);

	if (!story_open(story, a) || !story_open(story, b) || !story_memory(story, a) ||
	    !story_memory(story, b) || !story_endpoint(story, a) || !story_endpoint(story, b) ||
	    !story_listen(story, b) || !TRY(story, dat_ep_free(b->ep)))
		return;
	b->ep = DAT_HANDLE_NULL;
	if (!kcreate(story, b, DAT_UPCALL_SINGLE_INSTANCE, drains,
		DAT_EVD_DTO_FLAG | DAT_EVD_SOFTWARE_FLAG, log) ||
	    !TRY(
		story, dat_ep_create(b->ia, b->pz, log->evd, b->request, b->connect, NULL, &b->ep)))
		return;
	for (uint64_t i = 0; i < 4; i++)
		if (!story_post_recv(story, b, i))
			return;
	if (!story_connect(story))
		return;
	for (uint64_t i = 0; i < 4; i++)
		if (!story_post_send(story, a, i) || !story_post_se(story, log->evd, 1) ||
		    !story_completion(story, a, a->request, i))
			return;
	if (!story_await(story, &log->events, 8))
		return;
	if (!TRY(story, dat_evd_modify_upcall(log->evd, DAT_UPCALL_TEARDOWN, DAT_UPCALL_SAME,
			    DAT_UPCALL_INVOC_ANY)) ||
	    !TRY(story, dat_ep_free(b->ep)) || !TRY(story, dat_evd_free(log->evd)))
		return;
	b->ep = DAT_HANDLE_NULL;
	if (story_free(story, a))
		(void)story_free(story, b);
}

static void
many(struct story *story)
{
	struct side *side = &story->a;
	struct log *log = new_log(story);

	if (!story_open(story, side) ||
	    !kcreate(story, side, DAT_UPCALL_MANY, counts, DAT_EVD_SOFTWARE_FLAG, log))
		return;
	for (uintptr_t i = 0; i < 4; i++)
		if (!story_post_se(story, log->evd, i))
			return;
	if (story_await(story, &log->events, 4) &&
	    TRY(story, dat_evd_modify_upcall(
			   log->evd, DAT_UPCALL_TEARDOWN, DAT_UPCALL_SAME, DAT_UPCALL_INVOC_ANY)) &&
	    TRY(story, dat_evd_free(log->evd)))
		(void)story_free(story, side);
}

const struct scenario scenarios[] = {
	{ "open", open_close, true },
	{ "open-twice", open_twice, false },
	{ "memory", memory, false },
	{ "evds", evds, false },
	{ "endpoint", endpoint, false },
	{ "odd-order", odd_order, false },
	{ "connect", connect_disconnect, true },
	{ "flushed", flushed, false },
	{ "refused", refused, false },
	{ "made", made, false },
	{ "handed", handed, false },
	{ "common", common, false },
	{ "unanswered", unanswered, false },
	{ "reuse", reuse, false },
	{ "merged", merged, false },
	{ "transfer", transfer, false },
	{ "waiting", waiting, false },
	{ "cno", cno, false },
	{ "upcalls", upcalls, true },
	{ "many", many, false },
	{ NULL, NULL, false },
};
