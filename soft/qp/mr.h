/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mr -- registered memory and the keys that name it
 *
 * Keys are random 32-bit numbers, so that a wrong or an old one is caught, and stand for
 * both the local and the remote key.  One table serves the process: a key found under
 * another protection domain is refused.
 */
#ifndef SOFT_MR_H
#define SOFT_MR_H

#include "pd.h"

/* Held while memory of a region is accessed; ibv_dereg_mr() waits for the last holder. */
void soft_mr_lock(void) ACQUIRE_SHARED(soft_locks.keys) SOFT_NO_CQ_LOCK;
void soft_mr_unlock(void) RELEASE_SHARED(soft_locks.keys);

/*
 * The address in this process of `length` bytes at `address` of the region `key`, or NULL if the
 * key is unknown in `pd`, lacks one of the access flags, or does not cover the bytes.  The address
 * is valid until the unlock.
 */
void *soft_mr_translate(const struct ibv_pd *pd, uint32_t key, uint64_t address, uint64_t length,
    unsigned int access) REQUIRES_SHARED(soft_locks.keys);

#endif
