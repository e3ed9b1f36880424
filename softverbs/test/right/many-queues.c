/* SPDX-License-Identifier: BSD-3-Clause */
/* origin: out33.C4 */
/*
 * Queues that are created and destroyed, a few at a time and many: what one costs does not depend
 * on how many there were.
 */
#include "softverbs/test/pair.h"

#include <time.h>

#define MANY 8000

static double
seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static double
create_and_destroy(unsigned int count, unsigned int at_a_time)
{
	static struct ibv_cq *queues[MANY];
	const double begin = seconds();

	for (unsigned int done = 0; done < count; done += at_a_time) {
		for (unsigned int i = 0; i < at_a_time; i++)
			queues[i] = queue_create(NULL);
		for (unsigned int i = 0; i < at_a_time; i++)
			must(!ibv_destroy_cq(queues[i]), "ibv_destroy_cq");
	}
	return seconds() - begin;
}

int
main(void)
{
	double few, more;

	device_open();
	few = create_and_destroy(MANY / 8, 1);
	more = create_and_destroy(MANY, 1) + create_and_destroy(MANY, MANY);
	/* 16 times as many: with a list that is gone through it would be more than 100 times. */
	must(more < 64 * few + 1, "the time is more than proportional to the number");
	return 0;
}
