/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * input -- who reads what other processes sent
 *
 * One thread at a time reads the rings of all links: it holds the input lock.  It may be
 *
 * - a thread of the program that polls a completion queue and finds it empty;
 * - a thread of the program that waits in ibv_get_cq_event(), at which other processes knock
 * (knock.h of the device),
 *   without a thread in between;
 * - the progress thread, which other processes notify by the socket of a link.
 *
 * The reader of a ring asks to be notified (it arms the ring), and the request is one-shot.  The
 * rule that no frame is stranded: a ring that is not empty is armed, or its writer has just
 * notified a thread that reads it, or a lease runs.
 *
 * While threads of the program poll or wait, the progress thread leaves the rings to them, and does
 * not arm them: it takes a lease of a millisecond.  At its end it looks whether the program was
 * active since.  If so it takes another; if not, it reads and arms the rings itself.  A thread of
 * the program that leaves rings unarmed, or has read a frame, makes sure that a lease runs: the
 * progress thread also notifies the other side of acknowledgements that no request followed.
 *
 *     the program                           the progress thread, at the end of a lease
 *     activity++                            leased = false
 *     if (!leased) start a lease            if (activity has changed) start a lease
 *                                           else arm, and read again
 *
 * Both sides store before they load, so one of the two sees the other.
 */
#ifndef SOFT_INPUT_H
#define SOFT_INPUT_H

#include "peer.h"

/* 0 or -errno; before the first link. */
int soft_input_open(void);
void soft_input_close(void);
void soft_input_reset(void); /* in a forked child */

void soft_input_lock(void) ACQUIRE(soft_locks.input) SOFT_NO_CM_LOCK;
void soft_input_unlock(void) RELEASE(soft_locks.input);

/*
 * The progress thread was notified, or has reason to look: reads all rings, and arms them or takes
 * a lease.
 */
void soft_input_attend(void) SOFT_NO_INPUT_LOCK;

/*
 * A thread of the program found nothing in a completion queue: reads, unless another thread does.
 */
void soft_input_poll(void) SOFT_NO_INPUT_LOCK;

/* A thread of the program asked for an event, and may now wait for a descriptor. */
void soft_input_arm(void) SOFT_NO_INPUT_LOCK;

/*
 * Waits until the descriptor may be readable, and reads meanwhile: 0, or -1 with errno EINTR, or
 * EAGAIN if the descriptor does not block.  A cancellation point.  Then the caller looks at the
 * list of events of the descriptor, and makes it readable if it leaves any there.
 */
int soft_input_wait(int fd) SOFT_NO_INPUT_LOCK;

/*
 * True in a thread that is in soft_input_wait() and reads: it does not make this descriptor
 * readable for itself.
 */
bool soft_input_reads_for(int fd);

/* soft_link_read_answers() for a thread that does not read. */
void soft_input_read_answers(unsigned int slot) SOFT_NO_INPUT_LOCK;

#endif
