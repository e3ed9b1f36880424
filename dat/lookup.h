/* SPDX-License-Identifier: BSD-3-Clause */
/* lookup -- finds the provider that a program asks for */
#ifndef REARM_DAT_LOOKUP_H
#define REARM_DAT_LOOKUP_H

#include <dat2/udat.h>

struct registry_entry;

/*
 * The registered provider, with a reference, or NULL.  The versions must be equal.  The thread
 * safety must be equal too, or the provider thread-safe.  The name is shorter than
 * DAT_NAME_MAX_LENGTH.  Loads the library of the provider if necessary.  The caller drops the
 * reference with registry_release().
 */
struct registry_entry *lookup_provider(
    const char *name, DAT_UINT32 major, DAT_UINT32 minor, DAT_BOOLEAN thread_safe);

#endif
