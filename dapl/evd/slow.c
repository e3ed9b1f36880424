/* SPDX-License-Identifier: BSD-3-Clause */
#include "dapl/evd/slow.h"

#include "dapl/evd/evd_object.h"
#include "dapl/object/find.h"
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
dapl_slow_make_upcall(const DAT_UPCALL_OBJECT *object, DAT_EVD_HANDLE handle,
    const DAT_EVENT *event, DAT_BOOLEAN more)
{
	const struct slow_upcall upcall = slow_begin(handle);

	if (dapl_debug_wants(DAPL_DEBUG_CALLS | DAPL_DEBUG_RESULTS))
		dapl_trace_make_upcall(object, handle, event, more);
	else
		object->upcall_func(object->instance_data, event, more);
	slow_end(&upcall);
}

void
dapl_slow_make_upcall_array(const DAT_UPCALL_ARRAY_OBJECT *object, DAT_EVD_HANDLE handle,
    const DAT_EVENT *events, DAT_COUNT n, DAT_BOOLEAN more)
{
	const struct slow_upcall upcall = slow_begin(handle);

	if (dapl_debug_wants(DAPL_DEBUG_CALLS | DAPL_DEBUG_RESULTS))
		dapl_trace_make_upcall_array(object, handle, events, n, more);
	else
		object->upcall_func(object->instance_data, events, n, more);
	slow_end(&upcall);
}
