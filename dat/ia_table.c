/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "dat/ia_table.h"

struct slot {
	bool taken;
	bool closing;
	DAT_IA_HANDLE own; /* NULL: reserved, the IA is not open yet */
	struct registry_entry *entry;
};

static pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;
static struct slot *table; /* slot 0 is not used */
static size_t table_size;
static size_t table_next = 1; /* where the search for a free slot begins */

static size_t
ia_to_index(DAT_IA_HANDLE number)
{
	return (size_t)(uintptr_t)number;
}

static DAT_IA_HANDLE
ia_to_number(size_t index)
{
	return (DAT_IA_HANDLE)(uintptr_t)index;
}

/* The slot of a number of an IA, or NULL.  Lock held. */
static struct slot *
ia_slot_locked(DAT_IA_HANDLE number)
{
	size_t i = ia_to_index(number);

	return i < table_size && table[i].taken && table[i].own != NULL ? &table[i] : NULL;
}

/* Grows the table to hold the index.  Lock held. */
static int
ia_grow_locked(size_t index)
{
	size_t size = table_size == 0 ? 64 : table_size * 2;
	struct slot *bigger;

	if (index < table_size)
		return 0;
	bigger = realloc(table, size * sizeof *bigger);
	if (bigger == NULL)
		return -ENOMEM;
	memset(bigger + table_size, 0, (size - table_size) * sizeof *bigger);
	table = bigger;
	table_size = size;
	return 0;
}

int
ia_table_reserve(DAT_IA_HANDLE *number)
{
	size_t tries, i = 0;
	int r = -EMFILE;

	pthread_mutex_lock(&table_lock);
	for (tries = 1; tries < IA_TABLE_LIMIT; tries++) {
		i = table_next;
		table_next = i + 1 < IA_TABLE_LIMIT ? i + 1 : 1;
		if (i >= table_size || !table[i].taken) {
			r = ia_grow_locked(i);
			break;
		}
	}
	if (r == 0) {
		table[i] = (struct slot){ .taken = true };
		*number = ia_to_number(i);
	}
	pthread_mutex_unlock(&table_lock);
	return r;
}

void
ia_table_publish(DAT_IA_HANDLE number, DAT_IA_HANDLE own, struct registry_entry *entry)
{
	pthread_mutex_lock(&table_lock);
	table[ia_to_index(number)].own = own;
	table[ia_to_index(number)].entry = entry;
	pthread_mutex_unlock(&table_lock);
}

void
ia_table_drop(DAT_IA_HANDLE number)
{
	pthread_mutex_lock(&table_lock);
	table[ia_to_index(number)] = (struct slot){ 0 };
	pthread_mutex_unlock(&table_lock);
}

DAT_IA_HANDLE
ia_table_get(DAT_IA_HANDLE number)
{
	DAT_IA_HANDLE own = NULL;
	struct slot *slot;

	pthread_mutex_lock(&table_lock);
	slot = ia_slot_locked(number);
	if (slot != NULL)
		own = slot->own;
	pthread_mutex_unlock(&table_lock);
	return own;
}

/*
 * An IA that is being closed is the last choice: after its provider has closed it, a new IA may
 * have the same address.
 */
DAT_IA_HANDLE
ia_table_find(DAT_IA_HANDLE own)
{
	size_t i, found = 0;

	pthread_mutex_lock(&table_lock);
	for (i = 1; own != NULL && i < table_size; i++)
		if (table[i].own == own && (found == 0 || table[found].closing))
			found = i;
	pthread_mutex_unlock(&table_lock);
	return ia_to_number(found);
}

int
ia_table_begin_close(DAT_IA_HANDLE number, DAT_IA_HANDLE *own, struct registry_entry **entry)
{
	struct slot *slot;
	int r = -ENOENT;

	pthread_mutex_lock(&table_lock);
	slot = ia_slot_locked(number);
	if (slot != NULL && !slot->closing) {
		slot->closing = true;
		*own = slot->own;
		*entry = slot->entry;
		r = 0;
	}
	pthread_mutex_unlock(&table_lock);
	return r;
}

void
ia_table_cancel_close(DAT_IA_HANDLE number)
{
	pthread_mutex_lock(&table_lock);
	table[ia_to_index(number)].closing = false;
	pthread_mutex_unlock(&table_lock);
}
