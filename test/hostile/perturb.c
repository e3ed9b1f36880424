/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Many windows are a few instructions wide, from a check to the lock before the use.  The libraries
 * find this pthread_mutex_lock() before that of the C library.  Locks of the program itself do not
 * sleep, which would only make it slow.
 */
#include "perturb.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#define ONE_IN 400
#define MOST_US 500

typedef int (*lock_function)(pthread_mutex_t *mutex);

/* A sanitizer in the program has a function with this name, which must be called. */
extern int __interceptor_pthread_mutex_lock(pthread_mutex_t *mutex) __attribute__((weak));

static _Atomic(lock_function) next_lock;
static atomic_bool on;
static uintptr_t program_begin, program_end;
static __thread uint64_t state;

static lock_function
find(void)
{
	lock_function found = __interceptor_pthread_mutex_lock;

	/* dlsym() returns a pointer to an object; POSIX guarantees the conversion. */
	if (!found)
		found = (lock_function)(uintptr_t)dlsym(RTLD_NEXT, "pthread_mutex_lock");
	atomic_store(&next_lock, found);
	return found;
}

/* The first object is the program. */
static int
note_program(struct dl_phdr_info *info, size_t size, void *unused)
{
	(void)size;
	(void)unused;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *header = &info->dlpi_phdr[i];

		if (header->p_type != PT_LOAD || !(header->p_flags & PF_X))
			continue;
		program_begin = info->dlpi_addr + header->p_vaddr;
		program_end = program_begin + header->p_memsz;
	}
	return 1;
}

void
perturb_start(void)
{
	dl_iterate_phdr(note_program, NULL);
	on = true;
}

/* Not the random source of the thread: its choices must depend on the seed only. */
static uint64_t
noise(void)
{
	struct timespec now;

	if (!state) {
		clock_gettime(CLOCK_MONOTONIC, &now);
		state = ((uint64_t)(uintptr_t)&state ^ (uint64_t)now.tv_nsec << 20) | 1;
	}
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state * UINT64_C(0x2545f4914f6cdd1d) >> 16;
}

int
pthread_mutex_lock(pthread_mutex_t *mutex)
{
	const uintptr_t caller = (uintptr_t)__builtin_return_address(0);
	lock_function lock = atomic_load_explicit(&next_lock, memory_order_relaxed);

	if (on && (caller < program_begin || caller >= program_end)) {
		const uint64_t x = noise();
		const struct timespec t = { 0, (long)(x / ONE_IN % MOST_US) * 1000 };

		if (x % ONE_IN == 0)
			nanosleep(&t, NULL);
	}
	return (lock ? lock : find())(mutex);
}
