/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * catalog -- the static registry: the libraries that the records of dat.conf name
 *
 * The first open through a record of a library loads it, the last close unloads it.
 */
#ifndef REARM_DAT_CATALOG_H
#define REARM_DAT_CATALOG_H

#include <stdbool.h>

#include <dat2/udat.h>

struct record;

/*
 * Takes a reference to a record with this key whose provider is loaded and registered.  Loads it if
 * necessary: records with one key are tried in the order of the file.  0 or -ENOENT.
 */
int catalog_acquire(const DAT_PROVIDER_INFO *key, struct record **out);

/*
 * Takes another reference if the provider of the record is loaded.  The caller holds registry_lock.
 * True for NULL.
 */
bool catalog_hold_locked(struct record *record);

/* Drops a reference; no effect on NULL.  The last one unloads the library. */
void catalog_release(struct record *record);

#endif
