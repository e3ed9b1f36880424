/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * record -- the records of dat.conf
 *
 * The file is read once, at the first use.  From then on records are fixed, but for what the
 * catalog and the registry keep in them.
 *
 * A record is a key with a library and parameters.  Records with the same key form a chain, which
 * is tried in the order of the file.  Records that say `k` or `nondefault` are in no chain: they
 * are kept for messages.
 */
#ifndef REARM_DAT_RECORD_H
#define REARM_DAT_RECORD_H

#include <pthread.h>
#include <stdbool.h>

#include <dat2/udat.h>

#include "dat/hash.h"
#include "dat/library.h"

struct registry_entry;

/* LOADING and UNLOADING belong to one thread, which works without the lock. */
enum record_state { RECORD_UNLOADED, RECORD_LOADING, RECORD_LOADED, RECORD_UNLOADING };

struct record {
	DAT_PROVIDER_INFO info;
	char *path;
	char *ia_params;
	unsigned int line;
	bool for_user_space;
	bool is_default;
	struct record *next;		/* in the file */
	struct record *first;		/* of the chain; NULL: in none */
	struct record *same_key;	/* the next one of the chain */
	struct record *same_name;	/* the next one with this name */

	/* Of the first record of a key or of a name. */
	struct record *last_same_key, *last_same_name;
	struct hash_node of_key, of_name;
	unsigned int loaded;		/* how many of the chain are LOADED; under registry_lock */

	/* The catalog's; under registry_lock. */
	struct library library;		/* of LOADED; else the working thread's */
	enum record_state state;
	unsigned int users;
	pthread_t worker;		/* of LOADING and UNLOADING */

	/* The registry's; under registry_lock. */
	struct registry_entry *registered;	/* by the record's library */
};

/* The chain of a key, or NULL. */
struct record *record_find(const DAT_PROVIDER_INFO *key);

/* Whether a record of any chain has this interface name. */
bool record_has_name(const char *name);

/* How many keys there are. */
int record_count(void);

/* Copies up to `max` infos, one for each key, in the order of the file; returns how many. */
int record_list(DAT_PROVIDER_INFO **out, int max);

/* Which file was read and what it has under this name or, if nothing, under others. */
void record_explain(const char *name, char *text, size_t size);

#endif
