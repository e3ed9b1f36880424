/* SPDX-License-Identifier: BSD-3-Clause */
#include "dapl/ia/ia.h"

/* The last reference went. */
static void
end(struct parent *parent)
{
	struct ia *ia = (struct ia *)((char *)parent - offsetof(struct ia, parent));

	ia_device_close(ia);
	ia_free(ia);
}

static void
prepare(void *slot)
{
	struct ia *ia = slot;

	object_prepare(slot, KIND_IA);
	os_mutex_init(&ia->cm_lock);
	ia->parent.lock = &ia->obj.lock;
	ia->parent.end = end;
}

static struct slab ia_slab = SLAB_INITIALIZER(struct ia, prepare);

struct ia *
ia_alloc(void)
{
	return slab_alloc(&ia_slab);
}

void
ia_free(struct ia *ia)
{
	slab_free(&ia_slab, ia);
}

/* All open IAs: a device tells the whole process of its end through one descriptor. */
static pthread_mutex_t list_lock = PTHREAD_MUTEX_INITIALIZER;
static struct ia *list;

void
ia_list(struct ia *ia)
{
	pthread_mutex_lock(&list_lock);
	ia->next = list;
	list = ia;
	pthread_mutex_unlock(&list_lock);
}

bool
ia_unlist(struct ia *ia)
{
	bool last;

	pthread_mutex_lock(&list_lock);
	for (struct ia **at = &list; *at; at = &(*at)->next)
		if (*at == ia) {
			*at = ia->next;
			break;
		}
	last = !list;
	pthread_mutex_unlock(&list_lock);
	return last;
}

struct ia *
ia_find(bool (*fn)(struct ia *ia, void *arg), void *arg)
{
	struct ia *ia;

	pthread_mutex_lock(&list_lock);
	for (ia = list; ia && !fn(ia, arg); ia = ia->next)
		;
	pthread_mutex_unlock(&list_lock);
	return ia;
}

void
ia_for_each_on(struct ibv_context *verbs, void (*fn)(struct ia *ia, void *arg), void *arg)
{
	pthread_mutex_lock(&list_lock);
	for (struct ia *ia = list; ia; ia = ia->next)
		if (ia->verbs == verbs)
			fn(ia, arg);
	pthread_mutex_unlock(&list_lock);
}

struct ia *
ia_borrow(DAT_IA_HANDLE handle)
{
	struct ia *ia = object_lock(handle, KIND_IA);

	if (!ia)
		return NULL;
	parent_get(&ia->parent);
	ia->parent.borrowers++;
	os_unlock(&ia->obj.lock);
	return ia;
}

void
ia_return(struct ia *ia)
{
	os_lock(&ia->obj.lock);
	ia->parent.borrowers--;
	parent_put_locked(&ia->parent);
}

struct ia *
ia_enter(DAT_IA_HANDLE handle)
{
	struct ia *ia = object_lock(handle, KIND_IA);

	if (!ia)
		return NULL;
	parent_get(&ia->parent);
	ia->parent.inside++;
	os_unlock(&ia->obj.lock);
	return ia;
}

void
ia_leave(struct ia *ia)
{
	os_lock(&ia->obj.lock);
	ia->parent.inside--;
	parent_put_locked(&ia->parent);
}
