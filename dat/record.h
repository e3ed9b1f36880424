/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * record -- the records of dat.conf
 *
 * The file is read once, at the first use.  After that records do not change, except for the
 * members of the catalog and the registry.
 *
 * One record needs no file: see builtin.h.  It is the last one, and has no line.
 *
 * A record is a key with a library and parameters.  Records with the same key form a chain, which
 * is tried in the order of the file.  Records with `k` or `nondefault` are in no chain; they are
 * kept for messages.
 */
#ifndef REARM_DAT_RECORD_H
#define REARM_DAT_RECORD_H

#include <pthread.h>
#include <stdbool.h>

#include <dat2/dat_registry.h>
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
	unsigned int line; /* 0: built in */
	bool for_user_space;
	bool is_default;
	struct record *next;	  /* order in the file */
	struct record *first;	  /* the chain; NULL: in none */
	struct record *same_key;  /* the next one of the chain */
	struct record *same_name; /* the next one with this name */

	/* Used in the first record of a key or a name. */
	struct record *last_same_key, *last_same_name;
	struct hash_node of_key, of_name;
	unsigned int loaded; /* number of LOADED records of the chain; under registry_lock */

	/* Members of the catalog; under registry_lock. */
	struct library library; /* valid if LOADED; else for the working thread only */
	enum record_state state;
	unsigned int users;
	pthread_t worker; /* the thread of LOADING and UNLOADING */

	/* Members of the registry; under registry_lock. */
	struct registry_entry *registered; /* registered by the library of the record */
};

/* The chain of a key, or NULL. */
struct record *record_find(const DAT_PROVIDER_INFO *key);

/* True if a record of any chain has this interface name. */
bool record_has_name(const char *name);

/* The number of keys. */
int record_count(void);

/* Copies up to `max` infos, one for each key, in the order of the file; returns how many. */
int record_list(DAT_PROVIDER_INFO **out, int max);

/*
 * Copies up to `max` records, all of them; returns how many there are, or -ENOMEM: they could not
 * be read.
 */
int record_describe(DAT_REARM_RECORD *out, int max);

/* Describes what the file has instead of a record with this key, and what to do. */
void record_explain(const DAT_PROVIDER_INFO *key, char *text, size_t size);

/* "FILE:LINE" of a record, or "built in". */
void record_where(const struct record *record, char *text, size_t size);

#endif
