/* SPDX-License-Identifier: BSD-3-Clause */
/* ia -- dapl/ia/ia.c with the lock of the list of open adapters modelled like every other */
#include <pthread.h>

#include "evd/os.h"
#include "world.h"

static struct os_mutex list_mutex;

/* The list's lock is the only one that dapl/ia/ia.c takes so; a real one would stop every fiber. */
#define pthread_mutex_lock(m) ((void)(m), os_lock(&list_mutex))
#define pthread_mutex_unlock(m) ((void)(m), os_unlock(&list_mutex))

#include "dapl/ia/ia.c"

#include "slots.h"

void
slots_forget_ias(void)
{
	ia_first = NULL;
	os_mutex_init(&list_mutex);
	world_mutex_name(&list_mutex, RANK_IA_LIST, "the list of adapters");
}
