/* SPDX-License-Identifier: BSD-3-Clause */
#include "cpu.h"

#include "clock.h"
#include "fail.h"

void
cpu_init(struct cpu *cpu)
{
	*cpu = (struct cpu){ .lock = PTHREAD_MUTEX_INITIALIZER };
}

void
cpu_join(struct cpu *cpu)
{
	clockid_t id;

	if (pthread_getcpuclockid(pthread_self(), &id))
		fail("no clock of the processor time of a thread");
	pthread_mutex_lock(&cpu->lock);
	if (cpu->threads == CPU_THREADS_MAX)
		fail("more than %d threads handle events", CPU_THREADS_MAX);
	cpu->clock[cpu->threads] = id;
	cpu->at_begin[cpu->threads] = clock_read(id);
	cpu->threads++;
	pthread_mutex_unlock(&cpu->lock);
}

void
cpu_begin(struct cpu *cpu)
{
	pthread_mutex_lock(&cpu->lock);
	for (unsigned int i = 0; i < cpu->threads; i++)
		cpu->at_begin[i] = clock_read(cpu->clock[i]);
	cpu->process_at_begin = clock_read(CLOCK_PROCESS_CPUTIME_ID);
	pthread_mutex_unlock(&cpu->lock);
}

void
cpu_end(struct cpu *cpu)
{
	pthread_mutex_lock(&cpu->lock);
	cpu->used = 0;
	for (unsigned int i = 0; i < cpu->threads; i++)
		cpu->used += clock_read(cpu->clock[i]) - cpu->at_begin[i];
	cpu->process = clock_read(CLOCK_PROCESS_CPUTIME_ID) - cpu->process_at_begin;
	pthread_mutex_unlock(&cpu->lock);
}
