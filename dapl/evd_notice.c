/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * evd_notice -- which completions an EVD tells of, as its endpoints want it
 *
 * The endpoints of an EVD agree: the first to come decides.  What a device was asked to tell is not
 * taken back before it told, so an EVD that waits for solicited completions stays so for that long.
 */
#include "dapl/evd.h"

static enum evd_notice
notice_of(DAT_COMPLETION_FLAGS flags)
{
	if (flags & DAT_COMPLETION_SOLICITED_WAIT_FLAG)
		return EVD_NOTICE_SOLICITED;
	if (flags & DAT_COMPLETION_UNSIGNALLED_FLAG)
		return EVD_NOTICE_SIGNALLED;
	return EVD_NOTICE_ALL;
}

/* Locked.  The configuration in the way, or EVD_NOTICE_UNDECIDED. */
static enum evd_notice
decide(struct dapl_evd *evd, enum evd_notice notice)
{
	if (evd_set_solicited(&evd->core, notice == EVD_NOTICE_SOLICITED) == -EBUSY)
		return EVD_NOTICE_SOLICITED;
	evd->notice = notice;
	return EVD_NOTICE_UNDECIDED;
}

enum evd_notice
evd_notice_join(struct dapl_evd *evd, DAT_COMPLETION_FLAGS flags)
{
	const enum evd_notice notice = notice_of(flags);
	enum evd_notice other = EVD_NOTICE_UNDECIDED;

	os_lock(&evd->obj.lock);
	if (evd->deciders == 0)
		other = decide(evd, notice);
	else if (evd->notice != notice)
		other = evd->notice;
	if (other == EVD_NOTICE_UNDECIDED)
		evd->deciders++;
	os_unlock(&evd->obj.lock);
	return other;
}

void
evd_notice_leave(struct dapl_evd *evd)
{
	os_lock(&evd->obj.lock);
	if (--evd->deciders == 0)
		evd->notice = EVD_NOTICE_UNDECIDED;
	os_unlock(&evd->obj.lock);
}

void
evd_notice_rejoin(struct dapl_evd *evd, DAT_COMPLETION_FLAGS flags)
{
	os_lock(&evd->obj.lock);
	/* Who came meanwhile has decided: the endpoint that could not leave bears with it. */
	if (evd->deciders++ == 0)
		(void)decide(evd, notice_of(flags));
	os_unlock(&evd->obj.lock);
}
