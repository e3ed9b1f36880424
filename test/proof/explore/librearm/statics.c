/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * statics -- what librearm keeps as long as the process lives, of one run: slots, descriptors,
 * shared channels
 *
 * Real locks would stop every fiber, so theirs are modelled like all others.
 */
#include "evd/stats/publisher.h"
#include "world.h"

#define pthread_mutex_t struct os_mutex
#undef PTHREAD_MUTEX_INITIALIZER
#define PTHREAD_MUTEX_INITIALIZER \
	{ \
		0 \
	}
#define pthread_mutex_lock(m) os_lock(m)
#define pthread_mutex_unlock(m) os_unlock(m)
#define evd_slot_init(evd) (evd_slot_init(evd), world_mutex_name(&(evd)->lock, RANK_EVD, "a queue"))
#undef os_mutex_init
#define os_mutex_init(m) (world_mutex_init(m), world_mutex_name((m), RANK_IA_LIST, "a pin"))

#include "rearm/channel.c"
#include "rearm/slot.c"

#undef os_mutex_init
#define os_mutex_init(m) \
	(world_mutex_init(m), world_mutex_name((m), RANK_BINDS, "a shared channel"))

#define BUCKETS 2 /* so that queues meet */

#include "rearm/shared.c"

#include "program.h"

/* No page of statistics is written: that is a thread, and files. */
int
evd_stats_interval(const char *text, unsigned int least, unsigned int most)
{
	(void)text;
	(void)least;
	(void)most;
	return 0;
}

int
evd_stats_start(unsigned int interval_ms, evd_stats_sample *sample)
{
	(void)interval_ms;
	(void)sample;
	return -ENOSYS;
}

void
evd_stats_stop(void)
{
}

void
evd_stats_name(struct evd_stats_row *row, const char *name)
{
	(void)row;
	(void)name;
}

int
evd_stats_fill(struct evd_ref ref, struct evd_stats_row *row)
{
	struct evd_status status;
	struct evd_counters counters;

	if (evd_query(ref, &status) || evd_query_counters(ref, &counters))
		return -ENODEV;
	*row = (struct evd_stats_row){ .depth = (uint64_t)status.queued,
		.dto_events = counters.completions,
		.upcalls = counters.upcalls,
		.notifications = counters.notifications,
		.spurious = counters.spurious_notifications,
		.arms = counters.arms };
	return 0;
}

void
statics_begin(void)
{
	slots = slots_free = NULL;
	slots_serial = serials = 0;
	list = NULL;
	free(table);
	table = NULL;
	table_size = 0;
	world_mutex_init(&table_lock);
	world_mutex_name(&table_lock, RANK_SRQ, "the descriptors");
	world_mutex_init(&slots_lock);
	world_mutex_name(&slots_lock, RANK_BINDS, "the slots");
	world_mutex_init(&list_lock);
	world_mutex_name(&list_lock, RANK_MEMBERS, "the list of channels");
}

/* All was freed: no slot is in use, no channel is shared.  Their memory goes with the run. */
void
statics_end(void)
{
	unsigned int all = 0, unused = 0;
	struct rearm_shared *next;

	for (struct rearm_queue *q = slots; q; q = q->next_slot)
		all++;
	for (struct rearm_queue *q = slots_free; q; q = q->next)
		unused++;
	if (all != unused)
		violation("%u queues are not released, or are released twice", all - unused);
	for (struct rearm_queue *q = slots, *after; q; q = after) {
		after = q->next_slot;
		os_free(q);
	}
	for (struct rearm_shared *shared = list; shared; shared = next) {
		next = shared->next;
		for (int i = 0; i < BUCKETS; i++)
			if (shared->serial || shared->queues[i])
				violation("a channel is still shared");
		os_free(shared);
	}
}
