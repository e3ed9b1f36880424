/* SPDX-License-Identifier: BSD-3-Clause */
#include "dapl/evd/slow.h"

#include "dapl/evd/evd_object.h"
#include "dapl/object/find.h"
#include "dapl/state/upcall.h"
#include "dapl/trace/callback.h"
#include "dapl/trace/debug.h"

/* An upcall in progress. */
struct slow_upcall {
	struct dapl_evd *evd; /* its slot gets no other EVD before the upcall has returned */
	DAT_EVD_HANDLE handle;
	uint64_t begun;
};

static struct slow_upcall
slow_begin(DAT_EVD_HANDLE handle)
{
	uint64_t serial;

	/* NULL: another thread frees the EVD. */
	return (struct slow_upcall){ .evd = dapl_handle_object(handle, DAPL_KIND_EVD, &serial),
		.handle = handle,
		.begun = os_clock_ns() };
}

static void
slow_end(const struct slow_upcall *upcall)
{
	const uint64_t took = os_clock_ns() - upcall->begun;
	struct dapl_evd *evd = upcall->evd;

	if (!evd || took <= evd->slow_ns || atomic_fetch_add(&evd->slow_upcalls, 1))
		return;
	dapl_debug_error(
	    "an upcall of EVD %p took %llu microseconds, and dat.conf has slow=%llu: its thread "
	    "makes no other upcall meanwhile; leave long work to another thread",
	    upcall->handle, (unsigned long long)(took / OS_NS_PER_US),
	    (unsigned long long)(evd->slow_ns / OS_NS_PER_US));
}

void
dapl_slow_make_upcall(void *instance, const void *event, int more, void (*function)(void))
{
	const struct slow_upcall slow = slow_begin(evd_upcall_handle());

	if (dapl_debug_wants(DAPL_DEBUG_CALLS | DAPL_DEBUG_RESULTS))
		dapl_trace_make_upcall(instance, event, more, function);
	else
		dapl_make_upcall(instance, event, more, function);
	slow_end(&slow);
}

void
dapl_slow_make_upcall_array(
    void *instance, const void *events, unsigned int n, int more, const struct evd_upcall *upcall)
{
	const struct slow_upcall slow = slow_begin(evd_upcall_handle());

	if (dapl_debug_wants(DAPL_DEBUG_CALLS | DAPL_DEBUG_RESULTS))
		dapl_trace_make_upcall_array(instance, events, n, more, upcall);
	else
		dapl_make_upcall_array(instance, events, n, more, upcall);
	slow_end(&slow);
}
