/* SPDX-License-Identifier: BSD-3-Clause */
#include <dat2/dat_upcall.h>
#include <stdio.h>

/* Runs on a thread of the adapter, for one event at a time. */
static void
on_event(DAT_PVOID instance_data, const DAT_EVENT *event,
    DAT_BOOLEAN more_events)
{
	(void)more_events;
	printf("%s: event 0x%x\n", (const char *)instance_data,
	    (unsigned int)event->event_number);
}

static DAT_RETURN
create_with_upcall(DAT_IA_HANDLE ia, char *name, DAT_EVD_HANDLE *evd)
{
	const DAT_UPCALL_OBJECT upcall = { name, on_event };

	return dat_evd_kcreate(ia, 64, DAT_UPCALL_SINGLE_INSTANCE, &upcall,
	    DAT_EVD_DTO_FLAG | DAT_EVD_SOFTWARE_FLAG, evd);
}

/* No upcall runs when this has returned.  Events are queued. */
static DAT_RETURN
pause_upcalls(DAT_EVD_HANDLE evd)
{
	return dat_evd_modify_upcall(evd, DAT_UPCALL_TEARDOWN,
	    DAT_UPCALL_SAME, DAT_UPCALL_INVOC_NEW);
}

/* Upcalls follow for the events that were queued, too. */
static DAT_RETURN
resume_upcalls(DAT_EVD_HANDLE evd)
{
	return dat_evd_modify_upcall(evd, DAT_UPCALL_SINGLE_INSTANCE,
	    DAT_UPCALL_SAME, DAT_UPCALL_INVOC_ANY);
}

static void
print_counters(DAT_EVD_HANDLE evd)
{
	struct dat_rearm_evd_counters counters;

	if (dat_evd_query_upcall_counters(evd, &counters) == DAT_SUCCESS)
		printf("%llu upcalls, %llu arms\n",
		    (unsigned long long)counters.upcalls,
		    (unsigned long long)counters.arms);
}
