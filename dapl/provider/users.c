/* SPDX-License-Identifier: BSD-3-Clause */
#include "dapl/provider/users.h"

#include <stdio.h>

#include "dapl/cm/sp.h"
#include "dapl/ep/ep.h"
#include "dapl/ep/rmr.h"
#include "dapl/evd/cno.h"
#include "dapl/memory/lmr.h"
#include "dapl/trace/hint.h"

#define SHOWN 4

struct list {
	char text[200];
	size_t used;
	int count;
};

static bool
users_of_endpoint(const struct dapl_ep *ep, const void *object) REQUIRES(dapl_locks.object)
{
	const struct dapl_ep_parts *parts = &ep->parts;

	return parts->recv == object || parts->request == object || parts->connect == object ||
	       parts->srq == object || parts->pz == object;
}

/* Whether `o`, which is locked, needs the object. */
static bool
users_is_one(const struct dapl_object *o, const void *object) REQUIRES(dapl_locks.object)
{
	const void *user = o;

	switch ((int)o->kind) {
	case DAPL_KIND_EP:
		return users_of_endpoint(user, object);
	case DAPL_KIND_PSP:
	case DAPL_KIND_RSP:
	case DAPL_KIND_CSP:
		return ((const struct dapl_sp *)user)->evd == object;
	case DAPL_KIND_EVD:
		return ((const struct dapl_evd *)user)->cno == object;
	case DAPL_KIND_LMR:
		return ((const struct dapl_lmr *)user)->pz == object;
	case DAPL_KIND_SRQ:
		return ((const struct dapl_srq *)user)->pz == object;
	case DAPL_KIND_RMR:
		return ((const struct dapl_rmr *)user)->pz == object ||
		       ((const struct dapl_rmr *)user)->lmr == object;
	default:
		return false;
	}
}

static void
users_add(struct list *list, const char *kind, const struct dapl_object *o)
{
	if (list->count++ >= SHOWN)
		return;
	list->used += (size_t)snprintf(list->text + list->used, sizeof list->text - list->used,
	    "%s%s %p", list->used ? ", " : "", kind, (void *)o->handle);
}

#define KIND_NAME(name, stem) [DAPL_KIND_##name] = #name,
static const char *const kind_names[DAPL_KIND_COUNT] = { DAPL_KINDS(KIND_NAME) };

static void
users_list(struct dapl_parent *parent, const void *object, struct list *list) DAPL_NO_LOCK
{
	dapl_parent_lock(parent);
	for (int kind = 0; kind < DAPL_KIND_COUNT; kind++)
		for (struct dapl_object *o = parent->children[kind]; o; o = o->next) {
			dapl_object_lock(o);
			if (dapl_object_is_alive(o) && users_is_one(o, object))
				users_add(list, kind_names[kind], o);
			dapl_object_unlock(o);
		}
	dapl_parent_unlock(parent);
}

void
dapl_users_hint(DAT_HANDLE handle)
{
	struct dapl_object *object = dapl_object_lock_handle(handle, DAPL_KIND_NONE);
	struct list list = { .used = 0 };
	struct dapl_parent *parent;

	if (!object)
		return;
	parent = object->parent;
	if (parent)
		dapl_parent_get(parent);
	dapl_object_unlock(object);
	if (!parent)
		return;
	users_list(parent, object, &list);
	dapl_parent_put(parent);
	if (list.count > SHOWN)
		dapl_hint("used by %s and %d more", list.text, list.count - SHOWN);
	else if (list.count)
		dapl_hint("used by %s", list.text);
}
