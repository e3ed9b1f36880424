/* SPDX-License-Identifier: BSD-3-Clause */
#include "iser/datamover/watch.h"

#include "iser/say.h"

DAT_RETURN
watch_open(struct watch *watch, DAT_IA_HANDLE ia, DAT_COUNT qlen, DAT_EVD_FLAGS flags,
    void (*handle)(void *context, const DAT_EVENT *event), void *context)
{
	DAT_UPCALL_OBJECT object = drain_object(&watch->drain);

	watch->drain = (struct drain){ .handle = handle, .context = context };
	return dat_evd_kcreate(ia, qlen, DAT_UPCALL_SINGLE_INSTANCE, &object, flags, &watch->evd);
}

DAT_RETURN
watch_adopt(struct watch *watch, DAT_EVD_HANDLE evd,
    void (*handle)(void *context, const DAT_EVENT *event), void *context)
{
	DAT_UPCALL_OBJECT object = drain_object(&watch->drain);
	DAT_RETURN ret;

	watch->drain = (struct drain){ .handle = handle, .context = context };
	/* INVOC_ANY: what was queued before we came is for us as well. */
	ret = dat_evd_modify_upcall(evd, DAT_UPCALL_SINGLE_INSTANCE, &object, DAT_UPCALL_INVOC_ANY);
	if (ret == DAT_SUCCESS)
		watch->evd = evd;
	return ret;
}

void
watch_stop(struct watch *watch)
{
	DAT_RETURN ret;

	if (watch->evd == DAT_HANDLE_NULL)
		return;
	ret = dat_evd_modify_upcall(
	    watch->evd, DAT_UPCALL_TEARDOWN, DAT_UPCALL_SAME, DAT_UPCALL_INVOC_NEW);
	if (ret != DAT_SUCCESS)
		say_dat("dat_evd_modify_upcall", ret, "TEARDOWN of the upcalls failed");
}

int
watch_release(struct watch *watch, struct tally *tally)
{
	const struct drain *drain = &watch->drain;
	struct tally mine = { .upcalls = 0 };
	int failures = 0;
	DAT_RETURN ret;

	if (watch->evd == DAT_HANDLE_NULL)
		return 0;
	watch_stop(watch);
	if (drain->error != DAT_SUCCESS) {
		say_dat(drain->error_call, drain->error, "draining an EVD failed");
		failures++;
	}
	ret = dat_evd_query_upcall_counters(watch->evd, &mine.evd);
	if (ret != DAT_SUCCESS) {
		say_dat(
		    "dat_evd_query_upcall_counters", ret, "the counters of an EVD cannot be read");
		failures++;
	}
	mine.upcalls = drain->upcalls;
	mine.events = drain->events;
	mine.refusals = drain->refusals;
	mine.largest = drain->largest;
	tally_add(tally, &mine);
	watch->evd = DAT_HANDLE_NULL;
	return failures;
}

int
watch_close(struct watch *watch, struct tally *tally)
{
	DAT_EVD_HANDLE evd = watch->evd;
	int failures = watch_release(watch, tally);
	DAT_RETURN ret;

	if (evd == DAT_HANDLE_NULL)
		return 0;
	ret = dat_evd_free(evd);
	if (ret != DAT_SUCCESS) {
		say_dat("dat_evd_free", ret, "an EVD was not freed");
		failures++;
	}
	return failures;
}

void
tally_add(struct tally *into, const struct tally *from)
{
	into->evd.dto_events += from->evd.dto_events;
	into->evd.connection_events += from->evd.connection_events;
	into->evd.cr_events += from->evd.cr_events;
	into->evd.software_events += from->evd.software_events;
	into->evd.async_events += from->evd.async_events;
	into->evd.upcalls += from->evd.upcalls;
	into->evd.notifications += from->evd.notifications;
	into->evd.spurious_notifications += from->evd.spurious_notifications;
	into->evd.arms += from->evd.arms;
	into->evd.arm_failures += from->evd.arm_failures;
	into->evd.races_closed += from->evd.races_closed;
	into->evd.busy_skips += from->evd.busy_skips;
	into->evd.overflows += from->evd.overflows;
	if (from->evd.max_depth > into->evd.max_depth)
		into->evd.max_depth = from->evd.max_depth;
	into->upcalls += from->upcalls;
	into->events += from->events;
	into->refusals += from->refusals;
	if (from->largest > into->largest)
		into->largest = from->largest;
}
