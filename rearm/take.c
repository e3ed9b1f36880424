/* SPDX-License-Identifier: BSD-3-Clause */
/* take -- completions and events that a call takes, at once or after a wait */
#include "rearm/internal.h"

/* The longest part of a wait, in microseconds. */
#define WAIT_MOST 3600000000u

static int
queue_take(struct rearm_queue *queue, struct evd_ref ref, int n, void *events)
{
	const int r = evd_dequeue_several(ref, (unsigned int)n, events);

	if (r == -EAGAIN)
		return atomic_load(&queue->lost) ? -EIO : 0;
	return r;
}

REARM_API int
rearm_queue_take(struct rearm_queue *queue, int n, struct ibv_wc *wc)
{
	return n < 1 || !wc || !queue->cq ? -EINVAL :
					    queue_take(queue, rearm_queue_ref(queue), n, wc);
}

REARM_API int
rearm_queue_take_event(struct rearm_queue *queue, union rearm_event *event)
{
	const struct evd_ref ref = rearm_queue_ref(queue);
	struct rearm_taken taken;
	int r;

	if (!event || queue->cq)
		return -EINVAL;
	do {
		r = queue_take(queue, ref, 1, &taken);
		if (r <= 0)
			return r;
		*event = taken.event;
		r = (int)taken.result.value;
	} while (r == 0);
	return r;
}

static int
queue_wait(struct evd_ref ref, int min, int64_t timeout, int n, void *events)
{
	int64_t part;
	int r;

	if (timeout < 0)
		return evd_wait_several(ref, EVD_FOREVER, min, (unsigned int)n, events);
	do {
		part = timeout < WAIT_MOST ? timeout : WAIT_MOST;
		timeout -= part;
		r = evd_wait_several(ref, (uint32_t)part, min, (unsigned int)n, events);
	} while (r == -ETIMEDOUT && timeout > 0);
	return r;
}

REARM_API int
rearm_queue_wait(struct rearm_queue *queue, int min, int64_t timeout, int n, struct ibv_wc *wc)
{
	if (n < 1 || !wc || timeout < -1 || !queue->cq)
		return -EINVAL;
	if (queue->unwaitable)
		return -EOPNOTSUPP;
	return queue_wait(rearm_queue_ref(queue), min, timeout, n, wc);
}

/* The time until `end`, in microseconds. */
static int64_t
us_left(uint64_t end)
{
	const uint64_t now = os_clock_ns();

	return end > now ? (int64_t)((end - now + OS_NS_PER_US - 1) / OS_NS_PER_US) : 0;
}

REARM_API int
rearm_queue_wait_event(struct rearm_queue *queue, int64_t timeout, union rearm_event *event)
{
	const struct evd_ref ref = rearm_queue_ref(queue);
	struct rearm_taken taken;
	const int64_t most = INT64_MAX / (int64_t)OS_NS_PER_US / 2;
	uint64_t end;
	int r;

	if (!event || timeout < -1 || queue->cq)
		return -EINVAL;
	if (timeout > most)
		timeout = most;
	end = os_clock_ns() + (uint64_t)timeout * OS_NS_PER_US;
	do {
		r = queue_wait(ref, 1, timeout < 0 ? -1 : us_left(end), 1, &taken);
		if (r <= 0)
			return r;
		*event = taken.event;
		r = (int)taken.result.value;
	} while (r == 0 && (timeout < 0 || us_left(end) > 0));
	return r ? r : -ETIMEDOUT;
}
