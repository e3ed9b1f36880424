/* SPDX-License-Identifier: BSD-3-Clause */
#include "pending.h"
#include "report.h"
#include "sentry.h"
#include "suspicion.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/queue.h>

/* Of the thread that waits; it is freed by it. */
struct pending {
	LIST_ENTRY(pending) link;
	struct soft_judged_wait *wait;
	struct soft_site site;
	struct soft_lasting lasting;
	bool reported;
};

/*
 * Held while a report is printed, so that its call does not end meanwhile.  A leaf, but for the
 * lock of reports.
 */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static LIST_HEAD(, pending) pending = LIST_HEAD_INITIALIZER(pending);

void
soft_pending_begin(struct soft_judged_wait *wait)
{
	struct pending *new = calloc(1, sizeof *new);

	if (!new)
		return;
	new->wait = wait;
	soft_site_mark(&new->site, NULL);
	wait->judged = new;
	pthread_mutex_lock(&lock);
	LIST_INSERT_HEAD(&pending, new, link);
	pthread_mutex_unlock(&lock);
	(void)soft_sentry_start(); /* a program may have no completion queue */
}

void
soft_pending_progress(struct soft_judged_wait *wait, uint32_t acknowledged)
{
	struct pending *one = wait->judged;

	pthread_mutex_lock(&lock);
	if (wait->acknowledged != acknowledged)
		one->lasting = (struct soft_lasting){ 0 };
	wait->acknowledged = acknowledged;
	pthread_mutex_unlock(&lock);
}

void
soft_pending_end(struct soft_judged_wait *wait)
{
	struct pending *old = wait->judged;

	pthread_mutex_lock(&lock);
	LIST_REMOVE(old, link);
	pthread_mutex_unlock(&lock);
	free(old);
	atomic_fetch_add_explicit(&soft_check_progress, 1, memory_order_relaxed);
}

bool
soft_pending_any(void)
{
	bool any;

	pthread_mutex_lock(&lock);
	any = !LIST_EMPTY(&pending);
	pthread_mutex_unlock(&lock);
	return any;
}

static void
pending_report(const struct pending *one) UNCHECKED
{
	const struct soft_judged_wait *wait = one->wait;
	char name[64];

	if (wait->number)
		snprintf(name, sizeof name, "%s %u", wait->object, wait->number);
	else
		snprintf(name, sizeof name, "%s", wait->object);
	soft_report_object(SOFT_NEVER_ACKNOWLEDGED, name, &one->site,
	    "%s still waits: %u events of the %s were read, %u acknowledged.", wait->call,
	    wait->read, wait->object, wait->acknowledged);
}

void
soft_pending_look(const struct soft_sleepers *sleepers, uint64_t passed)
{
	struct pending *one;

	pthread_mutex_lock(&lock);
	LIST_FOREACH (one, &pending, link) {
		if (one->reported ||
		    !soft_suspicion_lasts(
			&one->lasting, soft_suspicion_of_call(sleepers, one->site.thread), passed))
			continue;
		one->reported = true;
		pending_report(one);
	}
	pthread_mutex_unlock(&lock);
}

void
soft_pending_reset(void)
{
	pthread_mutex_init(&lock, NULL);
	LIST_INIT(&pending);
}
