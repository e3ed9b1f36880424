/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * handle -- the value that a consumer has for an object
 *
 * A handle points to a small cell, not to the object.  The cell has the slot of the object and its
 * serial number.  No two objects of the process have the same serial number.  Code that acts on the
 * object compares the serial number under the lock of the object.
 *
 * A handle has no room for the serial number.  A program that uses a handle after it freed the
 * object would therefore reach the next object of the cell.  To make that unlikely, cells are
 * reused in the order in which they were freed, and not before 65,536 others were freed.  The
 * library itself does not depend on that number.
 *
 * The first word of a cell always points to the table of a provider, because registries follow it
 * before the provider gets the call.  All cells are in one reserved range of addresses, which the
 * provider passes to the registry: both recognise any other pointer by its address, without reading
 * the memory.
 */
#ifndef REARM_DAPL_HANDLE_H
#define REARM_DAPL_HANDLE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <dat2/udat.h>
#include <dat2/dat_registry.h>

#include "dapl/object/lock.h"

/* The kinds of objects below an adapter: the name of the kind, and of its functions. */
#define DAPL_KINDS(K) \
	K(PZ, pz) \
	K(LMR, lmr) \
	K(RMR, rmr) \
	K(SRQ, srq) \
	K(EVD, evd) \
	K(CNO, cno) \
	K(EP, ep) \
	K(PSP, psp) \
	K(RSP, rsp) \
	K(CSP, csp) \
	K(CR, cr)

#define DAPL_KIND_ENUM(name, stem) DAPL_KIND_##name,
enum dapl_kind { DAPL_KIND_NONE, DAPL_KIND_IA, DAPL_KINDS(DAPL_KIND_ENUM) DAPL_KIND_COUNT };

/*
 * Of each kind: frees an object as dat_ia_close() does, without waiting for upcalls or agents.  0,
 * -ENODEV for a handle that is not one or that another thread is freeing or answering, -EBUSY while
 * another object uses it.
 */
#define DAPL_KIND_FREE(name, stem) int dapl_##stem##_free_by_handle(DAT_HANDLE handle) DAPL_NO_LOCK;
DAPL_KINDS(DAPL_KIND_FREE)

struct dapl_handle {
	_Atomic(const DAT_PROVIDER *) provider; /* must come first */
	_Atomic(void *) object;
	_Atomic(uint64_t) serial;
	_Atomic(uint32_t) tag;	  /* magic and kind, or 0 when dead */
	struct dapl_handle *next; /* among the dead ones */
} __attribute__((aligned(64)));	  /* a cache line, and a power of two to divide by */

/* The address range of all cells; false if it cannot be reserved. */
bool dapl_handle_range(struct dat_handle_range *range) EXCLUDES(dapl_locks.handles);

/* A new cell, or NULL. *serial is the serial number of the object. */
struct dapl_handle *dapl_handle_create(const DAT_PROVIDER *provider, enum dapl_kind kind,
    void *object, uint64_t *serial) EXCLUDES(dapl_locks.handles);

/* dapl_handle_object() does not find it afterwards. */
void dapl_handle_free(struct dapl_handle *handle) EXCLUDES(dapl_locks.handles);

#include "dapl/object/find.h"

/* True if the handle names a live object of that kind now. */
static inline bool
dapl_handle_is(DAT_HANDLE handle, enum dapl_kind kind)
{
	uint64_t serial;

	return dapl_handle_object(handle, kind, &serial) != NULL;
}

#endif
