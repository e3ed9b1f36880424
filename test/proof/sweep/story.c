/* SPDX-License-Identifier: BSD-3-Clause */
#include "story.h"

#include <string.h>
#include <time.h>

#include "inject.h"

#define PATIENCE_MS 4000

/* Types that a shortage explains. */
static bool
explained(DAT_RETURN ret, DAT_RETURN also)
{
	if (DAT_GET_TYPE(ret) == (also & DAT_TYPE_MASK) && also)
		return true;
	switch (DAT_GET_TYPE(ret)) {
	case DAT_INSUFFICIENT_RESOURCES:
	case DAT_INTERNAL_ERROR:
		return true;
	case DAT_INVALID_STATE: /* a queue that could not be polled has overflowed */
		return inject_shared->polls != 0;
	default:
		return false;
	}
}

bool
story_judge(struct story *story, const char *call, DAT_RETURN ret, DAT_RETURN also, bool again)
{
	const char *major = "no name", *minor = "";

	if (ret == DAT_SUCCESS)
		return true;
	if (story->ending && DAT_GET_TYPE(ret) == DAT_INVALID_HANDLE)
		return false;
	(void)dat_strerror(ret, &major, &minor);
	if (!inject_met())
		story_wrong("%s: 0x%x %s %s with nothing made to fail", call, ret, major, minor);
	if (again)
		story_wrong("%s: 0x%x %s %s when tried again", call, ret, major, minor);
	if (!explained(ret, also))
		story_wrong("%s: 0x%x %s %s is a wrong code", call, ret, major, minor);
	return false;
}

void
story_nap(void)
{
	const struct timespec ms = { .tv_nsec = 1000000 };

	nanosleep(&ms, NULL);
}

/* ---- open and close ---- */

bool
story_open(struct story *story, struct side *side)
{
	side->async = DAT_HANDLE_NULL;
	return TRY_OR(story, DAT_PROVIDER_NOT_FOUND,
	    dat_ia_open((DAT_NAME_PTR)(uintptr_t) "sweep", 8, &side->async, &side->ia));
}

bool
story_close(struct story *story, struct side *side)
{
	if (!TRY(story, dat_ia_close(side->ia, DAT_CLOSE_ABRUPT_FLAG)))
		return false;
	memset(side, 0, sizeof *side);
	return true;
}

static void
end_side(struct side *side)
{
	DAT_RETURN ret;

	if (side->ia == DAT_HANDLE_NULL)
		return;
	ret = dat_ia_close(side->ia, DAT_CLOSE_ABRUPT_FLAG);
	if (ret != DAT_SUCCESS)
		story_wrong("the adapter cannot be closed: 0x%x", ret);
	side->ia = DAT_HANDLE_NULL;
}

void
story_end(struct story *story)
{
	story->ending = true;
	rearm_story_end();
	end_side(&story->a);
	end_side(&story->b);
}

bool
story_memory(struct story *story, struct side *side)
{
	DAT_REGION_DESCRIPTION region = { .for_va = side->buffer };

	return TRY(story, dat_pz_create(side->ia, &side->pz)) &&
	       TRY(story, dat_lmr_create(side->ia, DAT_MEM_TYPE_VIRTUAL, region, STORY_BUFFER,
			      side->pz, DAT_MEM_PRIV_ALL_FLAG, DAT_VA_TYPE_VA, &side->lmr,
			      &side->lmr_context, &side->rmr_context, NULL, NULL));
}

static bool
create_ep(struct story *story, struct side *side)
{
	return TRY(story, dat_ep_create(side->ia, side->pz, side->recv, side->request,
			      side->connect, NULL, &side->ep));
}

bool
story_endpoint(struct story *story, struct side *side)
{
	return TRY(story, dat_evd_create(side->ia, 16, side->cno, DAT_EVD_DTO_FLAG, &side->recv)) &&
	       TRY(story,
		   dat_evd_create(side->ia, 16, side->cno, DAT_EVD_DTO_FLAG, &side->request)) &&
	       TRY(story, dat_evd_create(
			      side->ia, 16, side->cno, DAT_EVD_CONNECTION_FLAG, &side->connect)) &&
	       create_ep(story, side);
}

bool
story_merged_endpoint(struct story *story, struct side *side)
{
	if (!TRY(story, dat_evd_create(side->ia, 64, side->cno,
			    DAT_EVD_DTO_FLAG | DAT_EVD_CONNECTION_FLAG, &side->recv)))
		return false;
	side->request = side->connect = side->recv;
	return create_ep(story, side);
}

static bool
listen_with(struct story *story, struct side *side, DAT_PSP_FLAGS flags)
{
	return TRY(story, dat_evd_create(side->ia, 8, side->cno, DAT_EVD_CR_FLAG, &side->cr)) &&
	       TRY_OR(story, DAT_CONN_QUAL_UNAVAILABLE,
		   dat_psp_create_any(side->ia, &side->qual, side->cr, flags, &side->psp));
}

bool
story_listen(struct story *story, struct side *side)
{
	return listen_with(story, side, DAT_PSP_CONSUMER_FLAG);
}

bool
story_offer(struct story *story, struct side *side)
{
	return listen_with(story, side, DAT_PSP_PROVIDER_FLAG);
}

bool
story_made(struct story *story, DAT_CR_HANDLE cr, DAT_EP_HANDLE *ep)
{
	DAT_CR_PARAM param = { .local_ep_handle = DAT_HANDLE_NULL };

	if (!TRY(story, dat_cr_query(cr, DAT_CR_FIELD_ALL, &param)))
		return false;
	if (!param.local_ep_handle)
		story_wrong("a request came without an endpoint");
	*ep = param.local_ep_handle;
	return true;
}

/* From the users to what is used; the order of creating backwards. */
bool
story_free(struct story *story, struct side *side)
{
	bool merged = side->recv == side->connect;

	if (side->psp && !TRY(story, dat_psp_free(side->psp)))
		return false;
	if (side->ep && !TRY(story, dat_ep_free(side->ep)))
		return false;
	if (side->cr && !TRY(story, dat_evd_free(side->cr)))
		return false;
	if (side->connect && !merged && !TRY(story, dat_evd_free(side->connect)))
		return false;
	if (side->request && !merged && !TRY(story, dat_evd_free(side->request)))
		return false;
	if (side->recv && !TRY(story, dat_evd_free(side->recv)))
		return false;
	if (side->cno && !TRY(story, dat_cno_free(side->cno)))
		return false;
	if (side->lmr && !TRY(story, dat_lmr_free(side->lmr)))
		return false;
	if (side->pz && !TRY(story, dat_pz_free(side->pz)))
		return false;
	if (!TRY(story, dat_ia_close(side->ia, DAT_CLOSE_GRACEFUL_FLAG)))
		return false;
	memset(side, 0, sizeof *side);
	return true;
}

/* ---- events ---- */

bool
story_dequeue_failed(struct story *story, DAT_RETURN ret)
{
	/* Of one that has overflowed everything it has is delivered all the same. */
	(void)story_judge(story, "dat_evd_dequeue", ret, 0, false);
	return DAT_GET_TYPE(ret) != DAT_INVALID_STATE;
}

/* Dequeues once: 1 if there was an event, 0 if not, -1 if the story is over. */
static int
take_one(struct story *story, DAT_EVD_HANDLE evd, DAT_EVENT *event)
{
	DAT_RETURN ret = dat_evd_dequeue(evd, event);

	if (ret == DAT_SUCCESS)
		return 1;
	if (DAT_GET_TYPE(ret) == DAT_QUEUE_EMPTY)
		return 0;
	return story_dequeue_failed(story, ret) && story->for_ever ? -1 : 0;
}

bool
story_next(struct story *story, DAT_EVD_HANDLE evd, DAT_EVENT *event)
{
	int n;

	for (int i = 0; i < PATIENCE_MS; i++) {
		n = take_one(story, evd, event);
		if (n)
			return n > 0;
		if (story->for_ever && inject_met() && i > 200)
			return false;
		story_nap();
	}
	story_wrong("an event was lost");
}

bool
story_await(struct story *story, const _Atomic(int) *count, int n)
{
	for (int i = 0; i < PATIENCE_MS; i++) {
		if (*count >= n)
			return true;
		if (story->for_ever && inject_met() && i > 200)
			return false;
		story_nap();
	}
	story_wrong("%d of %d upcalls came", *count, n);
}

bool
story_post_se(struct story *story, DAT_EVD_HANDLE evd, uintptr_t value)
{
	DAT_EVENT event = { .event_number = DAT_SOFTWARE_EVENT };

	event.event_data.software_event_data.pointer = (DAT_PVOID)value;
	return TRY(story, dat_evd_post_se(evd, &event));
}

/* ---- connections ---- */

bool
story_pair(struct story *story)
{
	return story_open(story, &story->a) && story_open(story, &story->b) &&
	       story_memory(story, &story->a) && story_memory(story, &story->b) &&
	       story_endpoint(story, &story->a) && story_endpoint(story, &story->b) &&
	       story_listen(story, &story->b);
}

bool
story_request(struct story *story, DAT_CR_HANDLE *cr)
{
	DAT_IA_ATTR attr;
	DAT_EVENT event;
	int n;

	if (!TRY(story,
		dat_ia_query(story->b.ia, NULL, DAT_IA_FIELD_IA_ADDRESS_PTR, &attr, 0, NULL)) ||
	    !TRY(story, dat_ep_connect(story->a.ep, attr.ia_address_ptr, story->b.qual,
			    DAT_TIMEOUT_INFINITE, 5, (DAT_PVOID)(uintptr_t) "hello",
			    DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG)))
		return false;
	/* A request that cannot be kept is refused: then the end that connects gets an event. */
	for (int i = 0; i < PATIENCE_MS; i++) {
		n = take_one(story, story->b.cr, &event);
		if (n > 0) {
			*cr = event.event_data.cr_arrival_event_data.cr_handle;
			return true;
		}
		if (n == 0)
			n = take_one(story, story->a.connect, &event);
		if (n > 0 && !inject_met())
			story_wrong("event 0x%x in place of a request", event.event_number);
		if (n || (story->for_ever && inject_met() && i > 200))
			return false;
		story_nap();
	}
	story_wrong("neither a request nor a refusal came");
}

/* The outcome at one side: 1 established, 0 not, -1 the story is over. */
static int
outcome(struct story *story, struct side *side)
{
	DAT_EVENT event;

	if (!story_next(story, side->connect, &event))
		return -1;
	if (event.event_number == DAT_CONNECTION_EVENT_ESTABLISHED)
		return 1;
	if (!inject_met())
		story_wrong("event 0x%x in place of ESTABLISHED", event.event_number);
	return 0;
}

bool
story_met(struct story *story)
{
	int a = outcome(story, &story->a), b;

	if (a < 0)
		return false;
	b = outcome(story, &story->b);
	return a > 0 && b > 0;
}

bool
story_connect(struct story *story)
{
	DAT_CR_HANDLE cr;

	return story_request(story, &cr) && TRY(story, dat_cr_accept(cr, story->b.ep, 0, NULL)) &&
	       story_met(story);
}

bool
story_ended(struct story *story)
{
	DAT_EVENT event;

	return story_next(story, story->a.connect, &event) &&
	       story_next(story, story->b.connect, &event);
}

/* ---- data ---- */

static DAT_LMR_TRIPLET
triplet(const struct side *side)
{
	return (DAT_LMR_TRIPLET){
		.virtual_address = (DAT_VADDR)(uintptr_t)side->buffer,
		.segment_length = 64,
		.lmr_context = side->lmr_context,
	};
}

bool
story_post_recv(struct story *story, struct side *side, uint64_t cookie)
{
	DAT_LMR_TRIPLET iov = triplet(side);

	return TRY(story, dat_ep_post_recv(side->ep, 1, &iov, (DAT_DTO_COOKIE){ .as_64 = cookie },
			      DAT_COMPLETION_DEFAULT_FLAG));
}

bool
story_post_send(struct story *story, struct side *side, uint64_t cookie)
{
	DAT_LMR_TRIPLET iov = triplet(side);

	return TRY(story, dat_ep_post_send(side->ep, 1, &iov, (DAT_DTO_COOKIE){ .as_64 = cookie },
			      DAT_COMPLETION_DEFAULT_FLAG));
}

/* The next event is the completion of this request. */
static const DAT_DTO_COMPLETION_EVENT_DATA *
next_completion(
    struct story *story, struct side *side, DAT_EVD_HANDLE evd, uint64_t cookie, DAT_EVENT *event)
{
	const DAT_DTO_COMPLETION_EVENT_DATA *dto = &event->event_data.dto_completion_event_data;

	if (!story_next(story, evd, event))
		return NULL;
	if (event->event_number != DAT_DTO_COMPLETION_EVENT) {
		if (!inject_met())
			story_wrong("event 0x%x in place of a completion", event->event_number);
		return NULL;
	}
	if (dto->ep_handle != side->ep || dto->user_cookie.as_64 != cookie)
		story_wrong("a completion of something else");
	return dto;
}

bool
story_completion(struct story *story, struct side *side, DAT_EVD_HANDLE evd, uint64_t cookie)
{
	DAT_EVENT event;
	const DAT_DTO_COMPLETION_EVENT_DATA *dto =
	    next_completion(story, side, evd, cookie, &event);

	if (!dto)
		return false;
	if (dto->status != DAT_DTO_SUCCESS && !inject_met())
		story_wrong("completion with status %d", dto->status);
	return dto->status == DAT_DTO_SUCCESS;
}

bool
story_flush(struct story *story, struct side *side, DAT_EVD_HANDLE evd, uint64_t cookie)
{
	DAT_EVENT event;
	const DAT_DTO_COMPLETION_EVENT_DATA *dto =
	    next_completion(story, side, evd, cookie, &event);

	if (dto && dto->status != DAT_DTO_ERR_FLUSHED)
		story_wrong("completion with status %d of what was posted too late", dto->status);
	return dto != NULL;
}
