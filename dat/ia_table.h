/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ia_table -- the small integers that programs have for IA handles
 *
 * A number is given out again only after all others were: a stale one names nothing for the next
 * 65,534 openings.  Every function may be called from any thread; the table's lock is a leaf.
 */
#ifndef REARM_DAT_IA_TABLE_H
#define REARM_DAT_IA_TABLE_H

#include <dat2/udat.h>

struct registry_entry;

/* No handle that is a pointer is below this: Linux maps nothing there. */
enum { IA_TABLE_LIMIT = 65536 };

/* Takes a number for an IA that is being opened.  -EMFILE or -ENOMEM if there is none. */
int ia_table_reserve(DAT_IA_HANDLE *number);

/* Makes the number name the provider's IA, opened through the entry. */
void ia_table_publish(DAT_IA_HANDLE number, DAT_IA_HANDLE own, struct registry_entry *entry);

/* Gives a reserved or closing number back. */
void ia_table_drop(DAT_IA_HANDLE number);

/* The provider's IA of a number; NULL if it names none. */
DAT_IA_HANDLE ia_table_get(DAT_IA_HANDLE number);

/* The number of a provider's IA; NULL if it has none. */
DAT_IA_HANDLE ia_table_find(DAT_IA_HANDLE own);

/*
 * Begins to close: of two callers with one number the second is refused (-ENOENT).  Until the
 * number is dropped it still names the IA, because a graceful close may fail.
 */
int ia_table_begin_close(DAT_IA_HANDLE number, DAT_IA_HANDLE *own, struct registry_entry **entry);

/* The close failed. */
void ia_table_cancel_close(DAT_IA_HANDLE number);

#endif
