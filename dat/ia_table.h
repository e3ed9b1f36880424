/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ia_table -- the numbers that programs have for IA handles
 *
 * A number is reused only after all others were used: after a close it is invalid for the next
 * 65,534 opens.  Every function may be called on any thread; no other lock is taken under the lock
 * of the table.
 */
#ifndef REARM_DAT_IA_TABLE_H
#define REARM_DAT_IA_TABLE_H

#include <dat2/udat.h>

struct registry_entry;

/* Every handle that is a pointer is above this: Linux maps nothing below. */
enum { IA_TABLE_LIMIT = 65536 };

/* Reserves a number for an IA that is being opened.  -EMFILE or -ENOMEM if there is none. */
int ia_table_reserve(DAT_IA_HANDLE *number);

/* Assigns the IA of the provider, which was opened through the entry, to the number. */
void ia_table_publish(DAT_IA_HANDLE number, DAT_IA_HANDLE own, struct registry_entry *entry);

/* Releases a reserved or closing number. */
void ia_table_drop(DAT_IA_HANDLE number);

/* The provider's IA for a number; NULL if there is none. */
DAT_IA_HANDLE ia_table_get(DAT_IA_HANDLE number);

/* The number for an IA of a provider; NULL if it has none. */
DAT_IA_HANDLE ia_table_find(DAT_IA_HANDLE own);

/*
 * Starts to close.  If two callers have one number the second gets -ENOENT.  Until the number is
 * released it still names the IA, because a graceful close may fail.
 */
int ia_table_begin_close(DAT_IA_HANDLE number, DAT_IA_HANDLE *own, struct registry_entry **entry);

/* The close failed. */
void ia_table_cancel_close(DAT_IA_HANDLE number);

#endif
