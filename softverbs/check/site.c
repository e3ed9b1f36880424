/* SPDX-License-Identifier: BSD-3-Clause */
#include "site.h"

#include <execinfo.h>
#include <unistd.h>

static __thread pid_t own;

void
soft_site_prepare(void)
{
	void *frame;

	(void)backtrace(&frame, 1);
}

pid_t
soft_site_thread(void)
{
	if (!own)
		own = gettid();
	return own;
}

void
soft_site_reset(void)
{
	own = 0;
}

void
soft_site_mark(struct soft_site *site, const void *caller)
{
	const pid_t thread = soft_site_thread();

	if (!caller || site->caller != caller || site->thread != thread)
		site->depth = backtrace(site->frames, SOFT_SITE_FRAMES);
	site->thread = thread;
	site->caller = caller;
	site->when = soft_now();
}
