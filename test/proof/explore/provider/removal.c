/* SPDX-License-Identifier: BSD-3-Clause */
/* removal -- the users of devices, of one run */
#include <pthread.h>

#include "evd/os.h"
#include "world.h"

static struct os_mutex users_mutex;

/* A real lock would stop every fiber. */
#define pthread_mutex_lock(m) ((void)(m), os_lock(&users_mutex))
#define pthread_mutex_unlock(m) ((void)(m), os_unlock(&users_mutex))

#include "dapl/ia/ia_removal.c"

#include "slots.h"

void
slots_forget_removals(void)
{
	removal_first = NULL;
	os_mutex_init(&users_mutex);
	world_mutex_name(&users_mutex, RANK_IA_LIST, "the list of users");
}
