/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * handle -- what a consumer holds
 *
 * A handle points to a small cell, not to the object.  The cell names the object by its slot and
 * its life, a number that no two objects of the process share; whoever acts on the object compares
 * the life under the object's lock.
 *
 * A handle has no room for the life itself.  A program that goes on using a handle after it freed
 * the object would therefore reach the next object that the cell names.  For this error of a
 * program alone cells are used again first-in first-out and not before 65,536 later ones died; the
 * library's own correctness does not depend on that number.
 *
 * The first word of a cell is a provider's table for ever, because registries follow it before we
 * see the call.  Cells live in one reserved range of addresses, which our registry gets to know
 * when we register: it and we tell a pointer from elsewhere by comparing, without looking at what
 * it points to.
 */
#ifndef REARM_DAPL_HANDLE_H
#define REARM_DAPL_HANDLE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <dat2/udat.h>
#include <dat2/dat_registry.h>

/* The kinds of objects below an adapter: the name of the kind, and of its functions. */
#define DAPL_KINDS(K) \
	K(PZ, pz) \
	K(LMR, lmr) \
	K(EVD, evd) \
	K(CNO, cno) \
	K(EP, ep) \
	K(PSP, psp) \
	K(RSP, rsp) \
	K(CSP, csp) \
	K(CR, cr)

#define DAPL_KIND_ENUM(name, stem) KIND_##name,
enum dapl_kind { KIND_NONE, KIND_IA, DAPL_KINDS(DAPL_KIND_ENUM) KINDS };

/*
 * Of each kind: frees an object as dat_ia_close() does, without waiting for upcalls or agents.  0,
 * -ENODEV for a handle that is not one or that another thread is freeing or answering, -EBUSY while
 * another object uses it.
 */
#define DAPL_KIND_FREE(name, stem) int dapl_##stem##_free_by_handle(DAT_HANDLE handle);
DAPL_KINDS(DAPL_KIND_FREE)

struct dapl_handle {
	_Atomic(const DAT_PROVIDER *) provider; /* must come first */
	_Atomic(void *) object;
	_Atomic(uint64_t) serial;
	_Atomic(uint32_t) tag;	  /* magic and kind, or 0 when dead */
	struct dapl_handle *next; /* among the dead ones */
} __attribute__((aligned(64)));	  /* a cache line, and a power of two to divide by */

/* Where all cells are and will be; false when the addresses cannot be had. */
bool dapl_handle_range(struct dat_handle_range *range);

/* A live cell, or NULL when none is to be had.  *life is the object's from here on. */
struct dapl_handle *dapl_handle_create(
    const DAT_PROVIDER *provider, enum dapl_kind kind, void *object, uint64_t *serial);

/* From here on dapl_handle_object() does not find it. */
void dapl_handle_free(struct dapl_handle *handle);

/*
 * The slot of a live handle's object of that kind (KIND_NONE: of any kind), or NULL.  The object
 * may die at once: the caller locks the slot and compares the life.
 */
void *dapl_handle_object(DAT_HANDLE handle, enum dapl_kind kind, uint64_t *serial);

/* Whether it names a live object of that kind now. */
static inline bool
dapl_handle_is(DAT_HANDLE handle, enum dapl_kind kind)
{
	uint64_t serial;

	return dapl_handle_object(handle, kind, &serial) != NULL;
}

#endif
