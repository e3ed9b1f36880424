/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The values and layouts of the public headers, asserted by the compiler
 */
#include <stddef.h>

#include <dat2/udat.h>
#include <dat2/dat_registry.h>
#include <dat2/dat_ib_extensions.h>
#include <dat2/dat_upcall.h>
#include <dat2/kdat.h>

#define VALUE(name, value) _Static_assert((name) == (value), #name);
#include "layout_values.h"

VALUE(DAT_UPCALL_TEARDOWN, -1)
VALUE(DAT_UPCALL_DISABLE, 0)
VALUE(DAT_UPCALL_SINGLE_INSTANCE, 1)
VALUE(DAT_UPCALL_NORIFY, 2)
VALUE(DAT_UPCALL_NOTIFY, 2)
VALUE(DAT_UPCALL_MANY, 100)
VALUE(DAT_UPCALL_INVOC_NEW, 0)
VALUE(DAT_UPCALL_INVOC_ANY, 1)
VALUE(DAT_REARM_EVD_KCREATE_OP, 0x100)
VALUE(DAT_REARM_EVD_MODIFY_UPCALL_OP, 0x101)
VALUE(DAT_REARM_EVD_COUNTERS_OP, 0x102)
VALUE(DAT_REARM_IA_STEP_OP, 0x103)
VALUE(DAT_REARM_EVD_DEQUEUE_N_OP, 0x104)
VALUE(DAT_REARM_EVD_MODIFY_UPCALL_ARRAY_OP, 0x105)
VALUE(DAT_REARM_CNO_TRYWAIT_OP, 0x106)

#if defined(__LP64__)
#define SIZE(type, size) _Static_assert(sizeof(type) == (size), #type);
#define AT(offset, type, member) \
	_Static_assert(offsetof(type, member) == (offset), #type "." #member);
#define SLOT(index, member) AT((index) * sizeof(void *), DAT_PROVIDER, member)
#include "layout_structs.h"

SIZE(DAT_UPCALL_OBJECT, 16)
AT(0, DAT_UPCALL_OBJECT, instance_data)
AT(8, DAT_UPCALL_OBJECT, upcall_func)
SIZE(struct dat_rearm_evd_counters, 14 * 8)
#endif
