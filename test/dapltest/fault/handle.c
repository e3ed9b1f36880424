/* SPDX-License-Identifier: BSD-3-Clause */
/* The last steps of making an object: it gets its handle, and is attached to its adapter. */
#include "fault.h"

#include <errno.h>
#include <stdatomic.h>

#include "dapl/object/handle.h"
#include "dapl/object/object.h"

static atomic_bool no_handles, no_attach;
static _Thread_local struct dapl_handle *last;

void
fault_handles_refuse(bool on)
{
	no_handles = on;
}

struct dapl_handle *__real_dapl_handle_create(
    const DAT_PROVIDER *provider, enum dapl_kind kind, void *object, uint64_t *serial);
struct dapl_handle *__wrap_dapl_handle_create(
    const DAT_PROVIDER *provider, enum dapl_kind kind, void *object, uint64_t *serial);
struct dapl_handle *
__wrap_dapl_handle_create(
    const DAT_PROVIDER *provider, enum dapl_kind kind, void *object, uint64_t *serial)
{
	if (no_handles)
		return NULL;
	last = __real_dapl_handle_create(provider, kind, object, serial);
	return last;
}

void
fault_attach_refuse(bool on)
{
	no_attach = on;
}

bool
fault_handle_lives(void)
{
	return last && atomic_load(&last->tag);
}

int __real_dapl_object_attach(struct dapl_object *obj);
int __wrap_dapl_object_attach(struct dapl_object *obj);
int
__wrap_dapl_object_attach(struct dapl_object *obj)
{
	return no_attach ? -ENODEV : __real_dapl_object_attach(obj);
}
