/* SPDX-License-Identifier: BSD-3-Clause */
#include "dapl/ia/ia.h"

/* Called when the last reference was dropped. */
static void
ia_close_and_free(struct dapl_parent *parent)
{
	struct dapl_ia *ia = (struct dapl_ia *)((char *)parent - offsetof(struct dapl_ia, parent));

	dapl_ia_device_close(ia);
	dapl_ia_free(ia);
}

static void
ia_prepare(void *slot)
{
	struct dapl_ia *ia = slot;

	dapl_object_prepare(slot, DAPL_KIND_IA);
	os_mutex_init(&ia->cm_lock);
	ia->parent.lock = &ia->obj.lock;
	ia->parent.free = ia_close_and_free;
}

static struct dapl_slab ia_slab = DAPL_SLAB_INITIALIZER(struct dapl_ia, ia_prepare);

struct dapl_ia *
dapl_ia_alloc(void)
{
	return dapl_slab_alloc(&ia_slab);
}

void
dapl_ia_free(struct dapl_ia *ia)
{
	dapl_slab_free(&ia_slab, ia);
}

/*
 * All open IAs. A device that fails reports the failure once per process, through one descriptor,
 * for all its IAs.
 */
static pthread_mutex_t ia_list_mutex = PTHREAD_MUTEX_INITIALIZER;
static struct dapl_ia *ia_first;

static void
ia_list_lock(void) ACQUIRE(dapl_locks.adapters) DAPL_NO_ADAPTER_LOCK UNCHECKED
{
	pthread_mutex_lock(&ia_list_mutex);
}

static void
ia_list_unlock(void) RELEASE(dapl_locks.adapters) UNCHECKED
{
	pthread_mutex_unlock(&ia_list_mutex);
}

void
dapl_ia_list_add(struct dapl_ia *ia)
{
	ia_list_lock();
	ia->next = ia_first;
	ia_first = ia;
	ia_list_unlock();
}

bool
dapl_ia_list_remove(struct dapl_ia *ia)
{
	bool last;

	ia_list_lock();
	for (struct dapl_ia **at = &ia_first; *at; at = &(*at)->next)
		if (*at == ia) {
			*at = ia->next;
			break;
		}
	last = !ia_first;
	ia_list_unlock();
	return last;
}

struct dapl_ia *
dapl_ia_find(bool (*fn)(struct dapl_ia *ia, void *arg), void *arg)
{
	struct dapl_ia *ia;

	ia_list_lock();
	for (ia = ia_first; ia && !fn(ia, arg); ia = ia->next)
		;
	ia_list_unlock();
	return ia;
}

void
dapl_ia_for_each_on(struct ibv_context *verbs, void (*fn)(struct dapl_ia *ia, void *arg), void *arg)
{
	ia_list_lock();
	for (struct dapl_ia *ia = ia_first; ia; ia = ia->next)
		if (ia->verbs == verbs)
			fn(ia, arg);
	ia_list_unlock();
}

struct dapl_ia *
dapl_ia_get(DAT_IA_HANDLE handle)
{
	struct dapl_ia *ia = dapl_ia_lock_handle(handle);

	if (!ia)
		return NULL;
	dapl_parent_get(&ia->parent);
	ia->parent.borrowers++;
	dapl_ia_unlock(ia);
	return ia;
}

void
dapl_ia_put(struct dapl_ia *ia)
{
	dapl_ia_lock(ia);
	ia->parent.borrowers--;
	dapl_parent_put_locked(&ia->parent);
}

struct dapl_ia *
dapl_ia_enter(DAT_IA_HANDLE handle)
{
	struct dapl_ia *ia = dapl_ia_lock_handle(handle);

	if (!ia)
		return NULL;
	dapl_parent_get(&ia->parent);
	ia->parent.inside++;
	dapl_ia_unlock(ia);
	return ia;
}

void
dapl_ia_leave(struct dapl_ia *ia)
{
	dapl_ia_lock(ia);
	ia->parent.inside--;
	dapl_parent_put_locked(&ia->parent);
}
