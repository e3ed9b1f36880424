/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fetch -- the thread that reads the memory of other processes
 *
 * A page of another process may never come: a userfaultfd or a file system that hangs is asked for
 * it, or a thread there holds the lock of its address space.  process_vm_readv(2) then sleeps, and
 * no signal but one that ends the process interrupts it.  So a thread calls it that holds no lock
 * and reads into memory of its own.  Who wants the bytes waits for a short time.  If they come
 * later, they are thrown away: nothing of the program is written to, and nothing waits for the
 * thread, which ends by itself when the call returns.
 *
 * What other processes can cost is bounded: so many threads in all, and so much time.  The time
 * that reads take beyond the usual is charged to the process that is read, and to all of them
 * together.
 */
#ifndef SOFT_FETCH_H
#define SOFT_FETCH_H

#include "wire.h"

#include <sys/types.h>
#include <sys/uio.h>

/* The most bytes of one read: the data of a frame, and the number of the grant. */
#define SOFT_FETCH_MAX (SOFT_WIRE_PAYLOAD + sizeof(uint64_t))
#define SOFT_FETCH_PIECES (SOFT_MAX_SGE + 1)

/* Threads that may be in reads that nothing waits for any more; then nothing is read. */
#define SOFT_FETCH_THREADS 4

/* How long a read is waited for. */
#define SOFT_FETCH_WAIT (100 * SOFT_MILLISECOND)

/* What reads have taken beyond the usual, in nanoseconds, less 1 % of the time since. */
struct soft_fetch_debt {
	uint64_t owed;
	uint64_t at; /* when it was owed */
};

/* A process that is read. */
struct soft_fetch_source {
	pid_t pid;
	bool late; /* once: it is never read again */
	struct soft_fetch_debt debt;
};

/* Held from before a read until its bytes were copied from. */
void soft_fetch_lock(void) ACQUIRE(soft_locks.fetch) SOFT_NO_KEYS_LOCK;
void soft_fetch_unlock(void) RELEASE(soft_locks.fetch);

/*
 * Reads all of these pieces of that process: 0 and the bytes, which stay until the next read, or
 * -errno.  -ETIMEDOUT: they did not come in time, or such a process is not read again.  Not a
 * cancellation point.
 */
int soft_fetch(struct soft_fetch_source *source, const struct iovec *pieces, int count,
    char **bytes) REQUIRES(soft_locks.fetch);

/* Ends the thread that waits for the next read, and for none that reads. */
void soft_fetch_stop(void) SOFT_NO_FETCH_LOCK;
void soft_fetch_reset(void); /* in a forked child */

#endif
