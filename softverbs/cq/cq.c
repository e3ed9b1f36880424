/* SPDX-License-Identifier: BSD-3-Clause */
#include "cq.h"
#include "made.h"
#include "softverbs/device/cancel.h"
#include "softverbs/device/device.h"
#include "softverbs/wire/input.h"
#include "softverbs/fault/fault.h"
#include "softverbs/soft_arm.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* Bytes from which on the memory of a queue does not come from the heap. */
#define FROM_THE_KERNEL (128u * 1024)

/* So many polls that find nothing count as spinning. */
#define SPINS 64u

static void
cq_timer_expired(struct soft_timer *timer) SOFT_NO_CQ_LOCK
{
	struct soft_cq *cq = soft_container_of(timer, struct soft_cq, timer);

	soft_cq_lock(cq);
	if (cq->personality->on_timer) /* it may have changed since the timer expired */
		cq->personality->on_timer(cq);
	soft_cq_unlock(cq);
}

/* Entries that were added before the overrun are valid; after them polling fails. */
static int
cq_poll_empty(struct soft_cq *cq) SOFT_NO_INPUT_LOCK
{
	uint32_t idle = soft_counter_load(&cq->idle) + 1; /* a lost count does no harm */
	int r;

	soft_counter_store(&cq->idle, idle);
	/*
	 * A caller that polls in a loop is waiting for another thread or process, which may need
	 * this processor.  A caller that polls once to see the queue empty does not get here.
	 */
	if (idle % SPINS == 0 && soft_peers_linked())
		sched_yield();
	if (!atomic_load_explicit(&cq->overrun, memory_order_relaxed))
		return 0;
	soft_cq_lock(cq);
	r = soft_counter_load(&cq->head) == cq->tail ? -EIO : 0;
	soft_cq_unlock(cq);
	return r;
}

/*
 * Zeroed memory for an entry of `size` bytes each.  That of large queues comes from the kernel page
 * by page, as it is used; the heap would clear what was used before.
 */
static void *
cq_alloc_entries(size_t entries, size_t size)
{
	void *memory;

	if (entries * size < FROM_THE_KERNEL)
		return calloc(entries, size);
	memory =
	    mmap(NULL, entries * size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return memory == MAP_FAILED ? NULL : memory;
}

static void
cq_free_entries(void *memory, size_t entries, size_t size)
{
	if (memory && entries * size >= FROM_THE_KERNEL)
		munmap(memory, entries * size);
	else
		free(memory);
}

/* Of a queue with this mask. */
static void
cq_free_ring(struct ibv_wc *ring, uint64_t *stamps, uint32_t mask)
{
	cq_free_entries(ring, (size_t)mask + 1, sizeof *ring);
	cq_free_entries(stamps, (size_t)mask + 1, sizeof *stamps);
}

/* A ring, and the stamps of its entries if `stamps` is given; NULL if there is no memory. */
static struct ibv_wc *
cq_create_ring(int cqe, uint32_t *mask, uint64_t **stamps)
{
	struct ibv_wc *ring;
	uint32_t size = 1;

	while (size < (uint32_t)cqe)
		size <<= 1;
	*mask = size - 1;
	ring = cq_alloc_entries(size, sizeof *ring);
	if (!ring || !stamps)
		return ring;
	*stamps = cq_alloc_entries(size, sizeof **stamps);
	if (*stamps)
		return ring;
	cq_free_ring(ring, NULL, *mask);
	return NULL;
}

void
soft_cq_show(struct soft_cq *cq)
{
	soft_cq_lock(cq);
	if (cq->personality->on_show)
		cq->personality->on_show(cq);
	soft_cq_unlock(cq);
}

/* The event is there before a call on the queue fails: who reads it then knows why. */
static void
cq_overrun(struct soft_cq *cq) REQUIRES(soft_locks.cq)
{
	soft_async_raise(soft_context_of(cq->ibv.context), &cq->async, IBV_EVENT_CQ_ERR);
	cq->overrun = true;
}

int
soft_cq_push(struct soft_cq *cq, const struct ibv_wc *wc, bool solicited)
{
	int r = 0;

	soft_cq_lock(cq);
	if (cq->overrun || cq->tail - soft_counter_load(&cq->head) == cq->size) {
		if (!cq->overrun && !cq->ignore_overrun)
			cq_overrun(cq);
		r = cq->overrun ? -EIO : 0;
	} else {
		if (cq->stamps)
			cq->stamps[cq->tail & cq->mask] = soft_now();
		cq->ring[cq->tail++ & cq->mask] = *wc;
		if (solicited)
			cq->solicited = cq->tail;
		cq->personality->on_entry(cq, solicited);
	}
	soft_cq_unlock(cq);
	return r;
}

void
soft_cq_fail(struct soft_cq *cq)
{
	soft_cq_lock(cq);
	if (!cq->overrun) {
		soft_cq_make(cq, SOFT_MADE_CQ_ERR);
		cq_overrun(cq);
	}
	soft_cq_unlock(cq);
}

static bool
cq_looks_empty(const struct soft_cq *cq)
{
	return soft_counter_load(&cq->shown) == soft_counter_load(&cq->head);
}

int
soft_cq_poll(struct ibv_cq *ibv, int n, struct ibv_wc *wc)
{
	struct soft_cq *cq = soft_cq_of(ibv);
	uint32_t head, there, at, first;

	if (n > 0 && cq_looks_empty(cq))
		soft_input_poll();
	if (cq_looks_empty(cq))
		return n > 0 ? cq_poll_empty(cq) : 0;
	soft_cq_lock(cq);
	head = soft_counter_load(&cq->head);
	there = soft_counter_load(&cq->shown) - head;
	soft_counter_store(&cq->idle, 0);
	if (n < (int)there)
		there = n > 0 ? (uint32_t)n : 0;
	at = head & cq->mask;
	first = cq->mask + 1 - at;
	if (first > there)
		first = there;
	memcpy(wc, &cq->ring[at], first * sizeof *wc);
	if (first < there)
		memcpy(wc + first, cq->ring, (there - first) * sizeof *wc);
	soft_counter_store(&cq->head, head + there);
	soft_cq_unlock(cq);
	return (int)there;
}

/* Whether an event is to come or to be read that was raised by an entry since the last request. */
static bool
cq_has_event(const struct soft_cq *cq) REQUIRES(soft_locks.cq)
{
	return cq->armed == SOFT_UNARMED && cq->channel && (cq->due || soft_cq_unread(cq) > 0);
}

int
soft_cq_take(struct soft_cq *cq, bool more, struct ibv_wc *wc, uint64_t *stamp)
{
	uint32_t head;
	bool there;

	if (cq_looks_empty(cq))
		soft_input_poll();
	if (cq_looks_empty(cq))
		return cq_poll_empty(cq);
	soft_cq_lock(cq);
	head = soft_counter_load(&cq->head);
	there = soft_counter_load(&cq->shown) != head; /* or another thread has polled it */
	if (there && more && (int32_t)(head - cq->armed_at) >= 0 && cq_has_event(cq))
		there = false;
	if (there) {
		*wc = cq->ring[head & cq->mask];
		*stamp = cq->stamps ? cq->stamps[head & cq->mask] : 0;
		soft_counter_store(&cq->head, head + 1);
		soft_counter_store(&cq->idle, 0);
	}
	soft_cq_unlock(cq);
	return there;
}

int
soft_cq_arm(struct ibv_cq *ibv, int solicited_only) SOFT_NO_INPUT_LOCK
{
	struct soft_cq *cq = soft_cq_of(ibv);
	enum soft_armed wanted = solicited_only ? SOFT_ARMED_SOLICITED : SOFT_ARMED_ANY;
	bool there;

	soft_cq_lock(cq);
	/*
	 * A queue that overran is armed, too: adapters accept the doorbell of any queue, and only
	 * polling fails.
	 */
	if (wanted > cq->armed)
		cq->armed = wanted;
	cq->armed_at = soft_counter_load(&cq->shown);
	there = cq->armed_at != soft_counter_load(&cq->head);
	if (cq->personality->on_arm)
		cq->personality->on_arm(cq, solicited_only, there);
	/* The personality may have shown entries now that raise no event. */
	there = soft_counter_load(&cq->shown) != soft_counter_load(&cq->head) || cq->overrun;
	soft_cq_unlock(cq);
	if (cq->channel)
		soft_input_arm(); /* an entry that this adds raises an event */
	return there;
}

int
soft_cq_request(struct ibv_cq *cq, int solicited_only)
{
	int r = soft_cq_arm(cq, solicited_only);

	return r < 0 ? -r : 0;
}

/* A CQ that no other thread knows: its memory alone. */
static struct soft_cq *
cq_alloc(int cqe, bool stamped) UNCHECKED
{
	struct soft_cq *cq = calloc(1, sizeof *cq);

	if (!cq)
		return NULL;
	cq->ring = cq_create_ring(cqe, &cq->mask, stamped ? &cq->stamps : NULL);
	if (!cq->ring) {
		free(cq);
		return NULL;
	}
	cq->size = (uint32_t)cqe;
	cq->tail = cq->solicited = cq->armed_at = SOFT_COUNT_FIRST;
	soft_counter_store(&cq->head, SOFT_COUNT_FIRST);
	soft_counter_store(&cq->shown, SOFT_COUNT_FIRST);
	cq->noise = soft_random32() | 1;
	return cq;
}

static void
cq_free(struct soft_cq *cq) UNCHECKED
{
	cq_free_ring(cq->ring, cq->stamps, cq->mask);
	if (!cq->judged)
		free(cq);
}

static void
cq_init(struct soft_cq *cq, struct ibv_context *context, const struct ibv_cq_init_attr_ex *init)
{
	cq->ibv.context = context;
	cq->ibv.channel = init->channel;
	cq->ibv.cq_context = init->cq_context;
	cq->ibv.cqe = (int)init->cqe;
	pthread_mutex_init(&cq->ibv.mutex, NULL);
	pthread_cond_init(&cq->ibv.cond, NULL);
	soft_mutex_init(&cq->lock);
	soft_mutex_init(&cq->polling);
	soft_personality_init_cq(cq, soft_context_of(context)->personality);
	soft_timer_init(&cq->timer, cq_timer_expired);
	soft_async_source_init(&cq->async, &cq->ibv);
	cq->made = soft_fault_made(SOFT_OBJECT_CQ);
	if (init->channel)
		cq->channel = soft_channel_of(init->channel);
}

struct soft_cq *
soft_cq_create(struct ibv_context *context, const struct ibv_cq_init_attr_ex *init, bool stamped)
{
	struct soft_context *ctx = soft_context_of(context);
	struct soft_cq *cq;
	int r;

	if (soft_context_is_stale(ctx))
		r = -EIO;
	else if (init->cqe < 1 || init->cqe > (unsigned int)soft_limits(context)->max_cqe ||
		 init->comp_vector >= SOFT_COMP_VECTORS ||
		 (init->channel && init->channel->context != context))
		r = -EINVAL;
	else
		r = soft_context_get(ctx);
	if (r)
		goto fail;
	r = soft_context_count(&ctx->cqs, soft_limits(context)->max_cq);
	if (r)
		goto put_context;
	cq = cq_alloc((int)init->cqe, stamped);
	if (!cq) {
		r = -ENOMEM;
		goto uncount;
	}
	cq_init(cq, context, init);
	if (soft_judge)
		r = soft_judge->created(cq);
	if (r)
		goto free_cq;
	if (cq->channel)
		soft_channel_attach(cq->channel);
	return cq;

free_cq:
	cq_free(cq);
uncount:
	ctx->cqs--;
put_context:
	soft_context_put(ctx);
fail:
	errno = -r;
	return NULL;
}

struct ibv_cq *
soft_ibv_create_cq(struct ibv_context *context, int cqe, void *cq_context,
    struct ibv_comp_channel *channel, int comp_vector)
{
	SOFT_UNCANCELLED;
	const struct ibv_cq_init_attr_ex init = {
		.cqe = (uint32_t)cqe,
		.cq_context = cq_context,
		.channel = channel,
		.comp_vector = (uint32_t)comp_vector,
	};
	struct soft_cq *cq = soft_cq_create(context, &init, false);

	return cq ? &cq->ibv : NULL;
}

/* It stays so for the life of the queue. */
static bool
cq_is_stamped(const struct soft_cq *cq) UNCHECKED
{
	return cq->stamps != NULL;
}

int
soft_ibv_resize_cq(struct ibv_cq *ibv, int cqe) SOFT_NO_CQ_LOCK
{
	SOFT_UNCANCELLED;
	struct soft_cq *cq = soft_cq_of(ibv);
	uint64_t *stamps = NULL, *old_stamps;
	struct ibv_wc *ring, *old;
	uint32_t mask, old_mask;

	if (soft_context_is_stale(soft_context_of(ibv->context)))
		return EIO;
	if (cqe < 1 || cqe > soft_limits(ibv->context)->max_cqe)
		return EINVAL;
	ring = cq_create_ring(cqe, &mask, cq_is_stamped(cq) ? &stamps : NULL);
	if (!ring)
		return ENOMEM;
	soft_cq_lock(cq);
	if (cq->overrun || cq->tail - soft_counter_load(&cq->head) > (uint32_t)cqe) {
		soft_cq_unlock(cq);
		cq_free_ring(ring, stamps, mask);
		return cq->overrun ? EIO : EINVAL;
	}
	for (uint32_t i = soft_counter_load(&cq->head); i != cq->tail; i++) {
		ring[i & mask] = cq->ring[i & cq->mask];
		if (cq->stamps)
			stamps[i & mask] = cq->stamps[i & cq->mask];
	}
	old = cq->ring;
	old_stamps = cq->stamps;
	old_mask = cq->mask;
	cq->ring = ring;
	cq->stamps = stamps;
	cq->mask = mask;
	cq->size = (uint32_t)cqe;
	ibv->cqe = cqe;
	soft_cq_unlock(cq);
	cq_free_ring(old, old_stamps, old_mask);
	return 0;
}

int
soft_ibv_destroy_cq(struct ibv_cq *ibv) SOFT_NO_LOCK
{
	SOFT_UNCANCELLED;
	struct soft_cq *cq = soft_cq_of(ibv);
	struct soft_context *ctx = soft_context_of(ibv->context);
	uint32_t completions = 0, asyncs;
	int state;

	if (soft_context_is_stale(ctx))
		return 0;
	if (cq->users)
		return EBUSY;
	if (cq->judged)
		soft_judge->destroying(cq);
	soft_timer_stop_and_wait(&cq->timer);
	if (cq->channel)
		completions = soft_channel_detach(cq->channel, cq);
	asyncs = soft_async_source_fini(ctx, &cq->async);

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	soft_completed_lock(&ibv->mutex);
	while (ibv->comp_events_completed != completions || ibv->async_events_completed != asyncs)
		pthread_cond_wait(&ibv->cond, &ibv->mutex);
	soft_completed_unlock(&ibv->mutex);
	pthread_setcancelstate(state, NULL);

	if (cq->judged)
		soft_judge->destroyed(cq);
	pthread_mutex_destroy(&ibv->mutex);
	pthread_cond_destroy(&ibv->cond);
	soft_mutex_destroy(&cq->lock);
	soft_mutex_destroy(&cq->polling);
	if (cq->domain)
		cq->domain->users--;
	cq_free(cq);
	ctx->cqs--;
	soft_context_put(ctx);
	return 0;
}

unsigned long long
soft_cq_stalls(const struct ibv_cq *cq)
{
	return atomic_load_explicit(
	    &soft_container_of(cq, const struct soft_cq, ibv)->stalls, memory_order_relaxed);
}
