/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * evd_notice -- which completions wake the sink of an EVD, by the flags of its endpoints
 *
 * Endpoints of any completion flags, and the two directions of one endpoint, may share an EVD.
 * The device is armed for the widest need. A completion that was posted as unsignalled still
 * wakes no sink.
 */
#include "dapl/evd/evd_object.h"

static enum dapl_evd_notice
notice_of(DAT_COMPLETION_FLAGS flags)
{
	if (flags & DAT_COMPLETION_SOLICITED_WAIT_FLAG)
		return DAPL_NOTICE_SOLICITED;
	/* A threshold needs endpoints that ask for it. */
	if (flags & DAT_COMPLETION_UNSIGNALLED_FLAG || !(flags & DAT_COMPLETION_EVD_THRESHOLD_FLAG))
		return DAPL_NOTICE_SIGNALLED;
	return DAPL_NOTICE_ALL;
}

static void
notice_count(struct dapl_evd *evd, DAT_COMPLETION_FLAGS flags, int by)
    REQUIRES(dapl_locks.object) NO_CORE_LOCK
{
	enum dapl_evd_notice widest = DAPL_NOTICE_UNDECIDED;

	evd->wishes[notice_of(flags)] += (unsigned int)by;
	if (evd->wishes[DAPL_NOTICE_ALL])
		widest = DAPL_NOTICE_ALL;
	else if (evd->wishes[DAPL_NOTICE_SIGNALLED])
		widest = DAPL_NOTICE_SIGNALLED;
	else if (evd->wishes[DAPL_NOTICE_SOLICITED])
		widest = DAPL_NOTICE_SOLICITED;
	evd->notice = widest;
	/* Then an endpoint did not ask for thresholds, or only some of its completions wake. */
	atomic_store_explicit(&evd->one_at_a_time,
	    evd->wishes[DAPL_NOTICE_SIGNALLED] || evd->wishes[DAPL_NOTICE_SOLICITED],
	    memory_order_relaxed);
	(void)evd_set_solicited(dapl_evd_ref(evd), widest == DAPL_NOTICE_SOLICITED);
}

void
dapl_evd_notice_attach(struct dapl_evd *evd, DAT_COMPLETION_FLAGS flags)
{
	dapl_object_lock(&evd->obj);
	notice_count(evd, flags, 1);
	dapl_object_unlock(&evd->obj);
}

void
dapl_evd_notice_detach(struct dapl_evd *evd, DAT_COMPLETION_FLAGS flags)
{
	dapl_object_lock(&evd->obj);
	notice_count(evd, flags, -1);
	dapl_object_unlock(&evd->obj);
}
