/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * dapl/evd/cno.h -- a CNO as a DAT object; the references count the EVDs attached to it
 */
#ifndef REARM_DAPL_CNO_H
#define REARM_DAPL_CNO_H

#include "cno/cno.h"

#include "dapl/object/object.h"

struct dapl_ia;

struct dapl_cno {
	struct dapl_object obj;
	struct cno core;
};

/* The name of the CNO in cno/.  The caller holds a reference, or the lock of the object. */
static inline struct cno_ref
dapl_cno_ref(struct dapl_cno *cno)
{
	return (struct cno_ref){ &cno->core, cno->obj.serial };
}

/*
 * Attaches an EVD to the CNO: takes a reference here and in cno/.  NULL for a bad handle, or a CNO
 * of another IA.
 */
struct dapl_cno *dapl_cno_attach(
    DAT_CNO_HANDLE handle, const struct dapl_ia *ia) DAPL_NO_ADAPTER_LOCK;
/* The IA is closing: cno_set_closing() for one of its children. */
void dapl_cno_set_closing(struct dapl_object *obj) DAPL_NO_OBJECT_LOCK;
/* For a CNO that was freed.  True if only threads that close an adapter are still in its agent. */
bool dapl_cno_is_left(const struct dapl_object *obj) DAPL_NO_OBJECT_LOCK;
/* Waits for other threads to leave the agent: cno_await_others(). */
bool dapl_cno_await_others(struct dapl_object *obj, uint64_t serial) DAPL_NO_LOCK;

/* Called after the CNO was removed from the EVD: drops both references. */
void dapl_cno_detach(struct dapl_cno *cno) DAPL_NO_ADAPTER_LOCK;

#endif
