/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * lookup -- from what a program asks for to the provider that serves it
 */
#ifndef REARM_DAT_LOOKUP_H
#define REARM_DAT_LOOKUP_H

#include <dat2/udat.h>

struct registry_entry;

/*
 * The registered provider, in use, or NULL: with exactly these versions, and with this thread
 * safety or, if less was asked for, thread-safe.  The name is shorter than DAT_NAME_MAX_LENGTH.
 * Loads the provider's library if need be.  Give it back with registry_release().
 */
struct registry_entry *lookup_provider(const char *name, DAT_UINT32 major, DAT_UINT32 minor,
				       DAT_BOOLEAN thread_safe);

#endif
