/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pin -- a processor for each of two threads that race
 *
 * Where other programs want the processors, too, the scheduler may run both threads on one of them,
 * in turns: then they never meet.
 */
#ifndef PROOF_PIN_H
#define PROOF_PIN_H

#include <sched.h>

/* Keeps the calling thread on the nth processor of all, from 0 on. */
static inline void
pin(const cpu_set_t *all, int nth)
{
	cpu_set_t one;

	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (!CPU_ISSET(cpu, all) || nth-- > 0)
			continue;
		CPU_ZERO(&one);
		CPU_SET(cpu, &one);
		(void)sched_setaffinity(0, sizeof one, &one);
		return;
	}
}

#endif
