/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * srq_entry -- the entries of a shared receive queue, the room that they need in EVDs, and its
 * depth
 */
#ifndef REARM_DAPL_SRQ_ENTRY_H
#define REARM_DAPL_SRQ_ENTRY_H

#include "dapl/srq/srq.h"

/*
 * -ENOMEM.  No other thread knows the queue.  Its completions have no entry until
 * dapl_srq_entries_name().
 */
int dapl_srq_entries_create(struct dapl_srq *srq, DAT_COUNT depth) EXCLUDES(dapl_locks.srq);
void dapl_srq_entries_name(struct dapl_srq *srq, uint64_t serial) EXCLUDES(dapl_locks.srq);
void dapl_srq_entries_free(struct dapl_srq *srq) EXCLUDES(dapl_locks.srq);
/* -ENOMEM, or -EBUSY while more entries are in use. */
int dapl_srq_entries_resize(struct dapl_srq *srq, DAT_COUNT depth) REQUIRES(dapl_locks.members)
    EXCLUDES(dapl_locks.srq);

/* Marks a free entry as posted; false if all that may be in use are. */
bool dapl_srq_entry_post(struct dapl_srq *srq, DAT_DTO_COOKIE cookie, uint32_t *place)
    REQUIRES(dapl_locks.srq);
/* The device refused it. */
void dapl_srq_entry_retract(struct dapl_srq *srq, uint32_t place) REQUIRES(dapl_locks.srq);

/* Makes room for n more completions in each EVD of the members. */
void dapl_srq_get_room(struct dapl_srq *srq, int n) REQUIRES(dapl_locks.members) DAPL_NO_LIST_LOCK;
/* Makes the hold of each member long enough for so many completions.  -ENOMEM. */
int dapl_srq_lengthen_holds(struct dapl_srq *srq, DAT_COUNT depth)
    REQUIRES(dapl_locks.members) DAPL_NO_LIST_LOCK;
/*
 * Polls the completion queue of each EVD of the members: afterwards `posted` is without the buffers
 * that are full.
 */
void dapl_srq_poll(struct dapl_srq *srq) REQUIRES(dapl_locks.members) DAPL_NO_LIST_LOCK;
/* Gives that room back. */
void dapl_srq_put_room(struct dapl_srq *srq, int n) REQUIRES(dapl_locks.members) DAPL_NO_LIST_LOCK;

/* ---- srq_depth.c ---- */

/* NULL for a bad handle.  Until the members are unlocked the queue is not destroyed. */
struct dapl_srq *dapl_srq_lock_members_of(DAT_SRQ_HANDLE handle)
    TRY_ACQUIRE(dapl_locks.members) DAPL_NO_LOCK;

/* Sets the watermark in the device; 0: none.  0 or -errno. */
int dapl_srq_set_limit(struct dapl_srq *srq, DAT_COUNT limit) DAPL_NO_OBJECT_LOCK;

/*
 * The watermark of the create would be passed at once: it is set in the device when as many buffers
 * are posted for the first time.  dapl_srq_must_arm(): they are.  If the device fails, the next
 * post tries again.
 */
bool dapl_srq_must_arm(const struct dapl_srq *srq) REQUIRES(dapl_locks.object, dapl_locks.srq);
void dapl_srq_arm(DAT_SRQ_HANDLE handle) DAPL_NO_LOCK;

#endif
