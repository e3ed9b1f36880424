/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * starve -- calls of the C library that fail for the software device, and what the device holds
 *
 * The linker sends the calls of the device, and those of the tests, through here (--wrap).  What
 * the C library does by itself does not fail, and is not counted.
 */
#ifndef SOFT_STARVE_H
#define SOFT_STARVE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <sys/types.h>

/* The n-th call of this thread that may fail, fails; 0: none. */
extern _Thread_local int starve_countdown;
/* The errno of the one that did, and its name. */
extern _Thread_local int starve_failed;
extern const char *starve_failing;

/*
 * The same of the other threads, which are those of the device.  And ends that: whether one has
 * failed.
 */
void starve_others(int n);
int starve_others_end(void);

/* Called before another process, or this one, is read; it may take its time. */
extern void (*_Atomic starve_before_read)(pid_t pid);

/* The next sendmsg(2) of more bytes than this sends so many of them; 0: all. */
extern atomic_size_t starve_cut;

/* The next call that accepts a connection fails with that errno; 0: none. */
extern atomic_int starve_accept;

/* Threads that are started run before who has started them goes on. */
extern atomic_bool starve_creators;

/* So many descriptors are in the set of the thread of the device, which was closed or not. */
extern atomic_int starve_watched;

/*
 * Of the process: pieces of memory that tests and device allocated; files and locked bytes of
 * names.
 */
struct starve_held {
	int memory, descriptors, threads, files, locks;
};

/* The fixture: the process meets others in a folder of its own, and its memory is counted. */
void starve_begin(void);
void starve_end(void);

/* Waits a moment for threads to be no more than `threads`; not with -1. */
struct starve_held starve_held_now(int threads);
/* The same is held as before. */
void starve_expect_held(const struct starve_held *before, const char *when);

#endif
