/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory that runs out: one allocation of the provider, or inside the device, fails. */
#include "fault.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "dapl/object/handle.h"
#include "dapl/object/object.h"

static _Thread_local int left; /* the allocation that fails, counted down; 0: none */

void
fault_memory_fail_at(int n)
{
	left = n;
}

bool
fault_memory_missed(void)
{
	const bool missed = left > 0;

	left = 0;
	return missed;
}

static bool
fails_now(void)
{
	if (left == 0 || --left > 0)
		return false;
	errno = ENOMEM;
	return true;
}

void *__real_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *
__wrap_calloc(size_t count, size_t size)
{
	return fails_now() ? NULL : __real_calloc(count, size);
}

void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);
void *
__wrap_malloc(size_t size)
{
	return fails_now() ? NULL : __real_malloc(size);
}

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
