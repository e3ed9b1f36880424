/* SPDX-License-Identifier: BSD-3-Clause */
#include "evd/spin.h"

#include "evd/os.h"

void
spin_start(struct spin_run *run, const struct spin *spin, uint64_t deadline)
{
	const uint64_t end = os_clock_ns() + spin->most_ns;

	run->end = end < deadline ? end : deadline;
	run->polls = 0;
}

bool
spin_goes_on(struct spin_run *run)
{
	return ++run->polls < SPIN_POLLS && os_clock_ns() < run->end;
}

void
spin_pause(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ volatile("isb");
#endif
}

void
spin_ended(struct spin *spin, bool served)
{
	spin->spins++;
	spin->served += served;
	if (served)
		spin->rests = 0;
	else if (spin->rests < SPIN_RESTS)
		spin->rests = 2 * spin->rests + 1;
	spin->rest = spin->rests;
}
