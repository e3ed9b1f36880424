/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * catalog -- the static registry: the records of dat.conf and the libraries they name
 *
 * The file is read once, at the first use.  A library is loaded by the first opening through one
 * of its records and unloaded after the last close.
 */
#ifndef REARM_DAT_CATALOG_H
#define REARM_DAT_CATALOG_H

#include <stdbool.h>

#include <dat2/udat.h>

struct catalog_record;

/*
 * Takes a reference on a record with this key whose provider is loaded and has registered, loading
 * it if need be: records with one key are tried in the order of the file.  Returns 0 or -ENOENT.
 */
int catalog_acquire(const DAT_PROVIDER_INFO *key, struct catalog_record **out);

/*
 * Takes a further reference if the record's provider is loaded; the caller holds registry_lock.
 * No record (NULL) is always there.
 */
bool catalog_hold_locked(struct catalog_record *record);

/* Gives it back; NULL is fine.  The last one unloads the library. */
void catalog_release(struct catalog_record *record);

/*
 * Copies up to `max` infos, one for each key, in the order of the file; returns how many keys
 * there are.
 */
int catalog_list(DAT_PROVIDER_INFO **out, int max);

/* Whether any record has this interface name. */
bool catalog_has_name(const char *name);

#endif
