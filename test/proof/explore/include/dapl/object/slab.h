/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * slab -- type-stable slots, modelled
 *
 * Stands in for dapl/object/slab.h, with the same interface, in the schedule explorer. There are
 * few slots, which are fresh at the beginning of each run. A slot that was freed is the next one to
 * be used, so that a late call meets a successor at once.
 */
#ifndef REARM_DAPL_SLAB_H
#define REARM_DAPL_SLAB_H

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "evd/os.h"

#define SLAB_SLOTS 8

struct dapl_slab_slot {
	struct dapl_slab_slot *next;
	uint32_t index;
};

struct dapl_slab {
	size_t size;
	void (*prepare)(void *slot);
	unsigned int run; /* the run its slots are of */
	unsigned int used;
	struct dapl_slab_slot *first; /* of the free ones */
	char *slots;
};

#define DAPL_SLAB_INITIALIZER(type, prepare_fn) \
	{ \
		.size = sizeof(type), .prepare = (prepare_fn) \
	}

void *dapl_slab_alloc(struct dapl_slab *slab);
void dapl_slab_free(struct dapl_slab *slab, void *slot);
void *dapl_slab_at(struct dapl_slab *slab, uint32_t index);
#define dapl_slab_at_used(slab, index) dapl_slab_at(slab, index)
/* Its callers are for the slab of endpoints alone, whose "slots" are the slab itself. */
#define dapl_slab_slots(slab) ((_Atomic(void *) *)(void *)(slab))
#define dapl_slab_in(slots, index) dapl_slab_at((struct dapl_slab *)(void *)(slots), index)
bool dapl_slab_owns(struct dapl_slab *slab, const void *slot);

#endif
