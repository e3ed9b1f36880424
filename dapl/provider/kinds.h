/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * kinds -- what the provider does with each kind of object, as a table
 */
#ifndef REARM_DAPL_KINDS_H
#define REARM_DAPL_KINDS_H

#include "dapl/object/object.h"

/*
 * free() and await_others() are DAPL_NO_LOCK; closing() and is_left() run with the lock of the
 * adapter.
 */
struct dapl_kind_ops {
	enum dapl_kind kind;
	DAT_HANDLE_TYPE type;		/* what dat_get_handle_type() returns */
	int (*free)(DAT_HANDLE handle); /* see object/handle.h; NULL: the adapter itself */
	/*
	 * For kinds that have callbacks; see evd/evd.h.  Called when the adapter is being closed.
	 * Makes the threads that wait on the object return.
	 */
	void (*closing)(struct dapl_object *obj);
	/*
	 * For an object without a handle.  is_left(): true if the close does not wait for it.
	 * await_others(): waits for its callbacks on other threads.
	 */
	bool (*is_left)(const struct dapl_object *obj);
	bool (*await_others)(struct dapl_object *obj, uint64_t serial);
};

/*
 * In the order in which a close destroys the children: an object goes after the objects that use
 * it.  The last entry is the adapter, without free().
 */
extern const struct dapl_kind_ops dapl_kind_table[];

#endif
