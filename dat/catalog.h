/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * catalog -- the static registry: the libraries that the records of dat.conf name
 *
 * A library is loaded by the first opening through one of its records and unloaded after the last
 * close.
 */
#ifndef REARM_DAT_CATALOG_H
#define REARM_DAT_CATALOG_H

#include <stdbool.h>

#include <dat2/udat.h>

struct record;

/*
 * Takes a reference on a record with this key whose provider is loaded and has registered, loading
 * it if need be: records with one key are tried in the order of the file.  Returns 0 or -ENOENT.
 */
int catalog_acquire(const DAT_PROVIDER_INFO *key, struct record **out);

/*
 * Takes a further reference if the record's provider is loaded; the caller holds registry_lock.
 * No record (NULL) is always there.
 */
bool catalog_hold_locked(struct record *record);

/* Gives it back; NULL is fine.  The last one unloads the library. */
void catalog_release(struct record *record);

#endif
