/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hash -- a hash table of members that embed a node
 *
 * The table grows with its members.  Without memory it stays small and gets slow; no function
 * fails.  The caller locks, and compares members with equal hashes.  An all-zero table is empty.
 */
#ifndef REARM_DAT_HASH_H
#define REARM_DAT_HASH_H

#include <stddef.h>
#include <stdint.h>

struct hash_node {
	struct hash_node *next;
	uint64_t hash;
};

struct hash {
	struct hash_node **buckets; /* NULL: `only` is the single bucket */
	struct hash_node *only;
	size_t size; /* number of buckets, a power of two */
	size_t count;
};

void hash_add(struct hash *table, struct hash_node *node, uint64_t hash);

/* The node must be in the table. */
void hash_remove(struct hash *table, struct hash_node *node);

/* The first node with this hash, and the one after a node; NULL at the end. */
struct hash_node *hash_first(struct hash *table, uint64_t hash);
struct hash_node *hash_next(const struct hash_node *node);

/* Removes all nodes, which stay valid. */
void hash_clear(struct hash *table);

#define HASH_MEMBER(node, type, member) ((type *)(void *)((char *)(node)-offsetof(type, member)))

#endif
