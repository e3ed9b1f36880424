/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * key -- the keys of registered memory, and what each gives access to
 *
 * Keys are random 32-bit numbers, so that a wrong or an old one is caught.  The key of a region
 * stands for both its local and its remote key; that of a memory window is a remote key.  The upper
 * 24 bits of a key belong to one region or window for as long as it exists; a window changes the
 * others with each bind.  One table serves the process: a key found under another protection domain
 * is refused.
 */
#ifndef SOFT_KEY_H
#define SOFT_KEY_H

#include "softverbs/device/soft.h"

struct soft_qp;

/* Access that every region gives and no window: reading by the process itself. */
#define SOFT_ACCESS_LOCAL_READ (1u << 30)

/* The part of a region or window that the table holds. */
struct soft_key {
	struct soft_key *next; /* in its bucket */
	uint32_t serial;       /* never used again, as the value may be */
	uint32_t value GUARDED_BY(soft_locks.keys);
	unsigned int access GUARDED_BY(soft_locks.keys);
	/* The protection domain or, for a window of type 2, the queue pair that has access. */
	const void *owner GUARDED_BY(soft_locks.keys);
	char *bytes GUARDED_BY(soft_locks.keys);
	uint64_t address GUARDED_BY(soft_locks.keys); /* of the first byte in work requests */
	uint64_t length GUARDED_BY(soft_locks.keys);
};

/* Whether both values can be of one region or window. */
static inline bool
soft_key_is_alike(uint32_t a, uint32_t b)
{
	return !((a ^ b) >> 8);
}

/* Shared while memory is accessed; a thread that ends access waits for the last holder. */
void soft_keys_lock_shared(void) ACQUIRE_SHARED(soft_locks.keys) SOFT_NO_CQ_LOCK;
void soft_keys_unlock_shared(void) RELEASE_SHARED(soft_locks.keys);

/* To change what a key gives access to. */
void soft_keys_lock(void) ACQUIRE(soft_locks.keys) SOFT_NO_CQ_LOCK;
void soft_keys_unlock(void) RELEASE(soft_locks.keys);

void soft_keys_reset(void); /* in a forked child */

/* Assigns a value: 0, or -ENOMEM.  Removing needs no memory. */
int soft_key_add(struct soft_key *key) REQUIRES(soft_locks.keys);
void soft_key_remove(struct soft_key *key) REQUIRES(soft_locks.keys);

/* The one whose value is alike, or NULL. */
struct soft_key *soft_key_find(uint32_t value) REQUIRES_SHARED(soft_locks.keys);

/*
 * The address in this process of `length` bytes at `address`, or NULL if the key is unknown,
 * belongs neither to `pd` nor to `qp`, lacks one of the access flags, or does not cover the bytes.
 * What it returns is good until the lock is released.
 */
void *soft_key_translate(const struct ibv_pd *pd, const struct soft_qp *qp, uint32_t value,
    uint64_t address, uint64_t length, unsigned int access) REQUIRES_SHARED(soft_locks.keys);

#endif
