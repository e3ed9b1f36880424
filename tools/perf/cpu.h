/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cpu -- the processor time of an end, while it is measured
 *
 * An end with a process of its own has the time of all threads.  Two ends of one process have that
 * of the threads that join: those that handle their events, or send.
 */
#ifndef PERF_CPU_H
#define PERF_CPU_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#define CPU_THREADS_MAX 64

struct cpu {
	pthread_mutex_t lock;
	unsigned int threads; /* all below: the lock */
	clockid_t clock[CPU_THREADS_MAX];
	uint64_t at_begin[CPU_THREADS_MAX];
	uint64_t process_at_begin;
	uint64_t used, process; /* at the end */
};

void cpu_init(struct cpu *cpu);

/* The calling thread works for this end, from now on.  It must be alive at cpu_end(). */
void cpu_join(struct cpu *cpu);

/* The same, for a thread that may have joined before. */
static inline void
cpu_join_once(struct cpu *cpu)
{
	static _Thread_local struct cpu *joined;

	if (joined == cpu)
		return;
	joined = cpu;
	cpu_join(cpu);
}

void cpu_begin(struct cpu *cpu);
void cpu_end(struct cpu *cpu);

#endif
