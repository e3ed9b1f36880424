/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * dequeue -- the calls that take events: dat_evd_dequeue() and dat_evd_wait()
 *
 * They are apart from the other calls of EVDs, because they know the records of completions: they
 * build the event of a plain one straight from its record, in the memory of the program.
 */
#include "evd/fast.h"

#include "dapl/api.h"
#include "dapl/object/cancel.h"
#include "dapl/ep/record.h"
#include "dapl/evd/evd_object.h"
#include "dapl/trace/err.h"

#define BAD_EVD DAT_ERROR(DAT_INVALID_HANDLE, DAT_NO_SUBTYPE)

/* For a caller that has the lock of the EVD. */
static __attribute__((noinline)) DAT_RETURN
dequeue_locked(struct dapl_evd *evd, uint64_t serial, DAT_EVENT *event) RELEASE(core_locks.trigger)
{
	const struct evd_ref ref = { &evd->core, serial };
	/* If the slot has another EVD by now, the result does not depend on this. */
	const bool on_cq = atomic_load_explicit(&evd->on_cq, memory_order_relaxed);

	return dapl_err_evd_dequeue(evd_dequeue_locked(ref, event), on_cq);
}

static __attribute__((noinline)) DAT_RETURN
dequeue_contended(struct dapl_evd *evd, uint64_t serial, DAT_EVENT *event)
{
	evd_lock(&evd->core);
	return dequeue_locked(evd, serial, event);
}

/* For a caller that has the lock of the EVD, which is direct, and empty. */
static __attribute__((noinline)) DAT_RETURN
dequeue_polled(struct dapl_evd *evd, uint64_t serial, DAT_EVENT *event) RELEASE(core_locks.trigger)
{
	const int n = evd_take_polled(&evd->core, event, 1);

	if (n < 0)
		return dequeue_locked(evd, serial, event);
	evd_unlock(&evd->core);
	/* It is one of completions, or the source could not build events. */
	return n ? (DAT_RETURN)DAT_SUCCESS : (DAT_RETURN)DAT_QUEUE_EMPTY;
}

DAT_RETURN
dapl_evd_dequeue(DAT_EVD_HANDLE handle, DAT_EVENT *event)
{
	struct evd_ref ref;
	struct dapl_evd *evd = dapl_handle_object(handle, DAPL_KIND_EVD, &ref.serial);

	if (!evd)
		return BAD_EVD;
	ref.evd = &evd->core;
	if (!event)
		return DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2);
	if (!evd_trylock(ref.evd))
		return dequeue_contended(evd, ref.serial, event);
	if (evd_is_direct(ref) && dapl_completion_is_plain(evd_first_direct(ref.evd))) {
		dapl_completion_convert_plain(evd_first_direct(ref.evd), event);
		event->evd_handle = handle;
		evd_take_direct(ref.evd);
	} else if (evd_is_direct_software(ref)) {
		evd_take_direct_software(ref.evd, event);
	} else if (evd_is_direct_last(ref) && dapl_completion_is_plain(evd_first_direct(ref.evd))) {
		dapl_completion_convert_plain(evd_first_direct(ref.evd), event);
		event->evd_handle = handle;
		evd_take_direct_last(ref.evd);
	} else if (evd_is_direct_empty(ref)) {
		return dequeue_polled(evd, ref.serial, event);
	} else {
		return dequeue_locked(evd, ref.serial, event);
	}
	evd_unlock(ref.evd);
	return DAT_SUCCESS;
}

/*
 * For a caller that has the lock of the EVD.  The event of a plain completion is built here;
 * everything else is done by the general function.
 */
static __attribute__((noinline)) DAT_RETURN
dequeue_wait_locked(struct dapl_evd *evd, uint64_t serial, DAT_TIMEOUT timeout, DAT_COUNT threshold,
    DAT_EVENT *event, DAT_COUNT *more) RELEASE(core_locks.trigger)
{
	const struct evd_ref ref = { &evd->core, serial };
	/* Read before the wait: the EVD may be freed when it ends. */
	const bool on_cq = atomic_load_explicit(&evd->on_cq, memory_order_relaxed);
	bool blocked;
	int r;

	r = evd_wait_begin(ref, timeout, threshold, &blocked);
	if (r || !evd_queue_has_only_completions(&ref.evd->queue) ||
	    !dapl_completion_is_plain(evd_first_direct(ref.evd))) {
		r = evd_wait_end(ref.evd, r, blocked, event, more);
		return dapl_err_evd_wait(r, on_cq);
	}
	dapl_completion_convert_plain(evd_first_direct(ref.evd), event);
	event->evd_handle = ref.evd->cfg.handle;
	*more = evd_wait_take(ref.evd, blocked);
	return DAT_SUCCESS;
}

static __attribute__((noinline)) DAT_RETURN
dequeue_n_any(DAT_EVD_HANDLE handle, DAT_COUNT max_events, DAT_EVENT *events, DAT_COUNT *n_events)
{
	struct evd_ref ref;
	struct dapl_evd *evd = dapl_handle_object(handle, DAPL_KIND_EVD, &ref.serial);
	bool on_cq;
	int r;

	if (!evd)
		return BAD_EVD;
	ref.evd = &evd->core;
	if (max_events < 1)
		return DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2);
	if (!events)
		return DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3);
	if (!n_events)
		return DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG4);
	on_cq = atomic_load_explicit(&evd->on_cq, memory_order_relaxed);
	r = evd_dequeue_several(ref, (unsigned int)max_events, events);
	*n_events = r > 0 ? r : 0;
	return r > 0 ? DAT_SUCCESS : dapl_err_evd_dequeue(r, on_cq);
}

/* The usual way: nothing is queued, and a poll is made. */
DAT_RETURN
dapl_evd_dequeue_n(
    DAT_EVD_HANDLE handle, DAT_COUNT max_events, DAT_EVENT *events, DAT_COUNT *n_events)
{
	struct evd_ref ref;
	struct dapl_evd *evd = dapl_handle_object(handle, DAPL_KIND_EVD, &ref.serial);
	int r;

	if (!evd || (unsigned int)max_events - 1 >= EVD_BATCH || !events || !n_events ||
	    !evd_trylock(&evd->core))
		return dequeue_n_any(handle, max_events, events, n_events);
	ref.evd = &evd->core;
	r = evd_is_direct_empty(ref) ? evd_take_polled(ref.evd, events, (unsigned int)max_events) :
				       -1;
	evd_unlock(ref.evd);
	if (r < 0)
		return dequeue_n_any(handle, max_events, events, n_events);
	*n_events = r;
	return r ? (DAT_RETURN)DAT_SUCCESS : (DAT_RETURN)DAT_QUEUE_EMPTY;
}

static __attribute__((noinline)) DAT_RETURN
dequeue_wait_any(DAT_EVD_HANDLE handle, DAT_TIMEOUT timeout, DAT_COUNT threshold, DAT_EVENT *event,
    DAT_COUNT *more)
{
	struct evd_ref ref;
	struct dapl_evd *evd = dapl_handle_object(handle, DAPL_KIND_EVD, &ref.serial);

	if (!evd)
		return BAD_EVD;
	ref.evd = &evd->core;
	if (!event)
		return DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG4);
	if (!more)
		return DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG5);
	if (threshold > 1 && atomic_load_explicit(&evd->one_at_a_time, memory_order_relaxed))
		return evd_is_alive(ref) ? DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3) :
					   BAD_EVD;
	evd_lock(&evd->core);
	return dequeue_wait_locked(evd, ref.serial, timeout, threshold, event, more);
}

DAT_RETURN
dapl_evd_wait(DAT_EVD_HANDLE handle, DAT_TIMEOUT timeout, DAT_COUNT threshold, DAT_EVENT *event,
    DAT_COUNT *more)
{
	DAPL_CANCEL_POINT;
	struct evd_ref ref;
	struct dapl_evd *evd = dapl_handle_object(handle, DAPL_KIND_EVD, &ref.serial);

	if (!evd || threshold != 1 || !event || !more || !evd_trylock(&evd->core))
		return dequeue_wait_any(handle, timeout, threshold, event, more);
	ref.evd = &evd->core;
	if (!evd_is_direct_for_wait(ref) || !dapl_completion_is_plain(evd_first_direct(ref.evd)))
		return dequeue_wait_locked(evd, ref.serial, timeout, 1, event, more);
	dapl_completion_convert_plain(evd_first_direct(ref.evd), event);
	event->evd_handle = handle;
	*more = evd_take_direct_for_wait(ref.evd);
	evd_unlock(ref.evd);
	return DAT_SUCCESS;
}
